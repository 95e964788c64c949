"""Who posts reports, as fast as they are answered: a process of its own, on raw sockets that are
kept open.

    python -m tests.bench.posting < job.json > found.json

A job names port, path, connections, and either `bodies` or `plan` with `posts`, of which each is a
new report of the tests' study. A post whose connection breaks, or that is answered 503, is sent
again until it is answered otherwise. Bodies go out in two pieces where `slowly` seconds lie between.
The last `held` posts wait `until` there is a file of that name.
"""

import asyncio
import json
import os
import random
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

PAUSE = 0.05  # seconds before a post goes out again


@dataclass
class Found:
    seconds: float = 0.0
    statuses: dict[str, int] = field(default_factory=dict)  # of all answers
    last: dict[str, int] = field(default_factory=dict)  # of each post, the one that ended it
    broken: int = 0  # connections that ended before an answer
    longest_gap: float = 0.0  # seconds between two answers
    milliseconds: list[float] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def new_report(plan: str, chance: random.Random) -> bytes:
    answers = {
        "copied": chance.randrange(2),
        "fair": [chance.randrange(5)],
        "often": [chance.randrange(3)],
    }
    return json.dumps(
        {"plan": plan, "report_id": os.urandom(16).hex(), "answers": answers}
    ).encode()


class Run:
    """Posts that are still to send, and what came back."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.found = job, Found()
        chance = random.Random(job.get("seed"))
        bodies = job.get("bodies")
        texts = (
            [text.encode() for text in bodies]
            if bodies
            else [new_report(job["plan"], chance) for _ in range(job["posts"])]
        )
        head = f"{job.get('method', 'POST')} {job['path']} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        self.left = [
            f"{head}Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode()
            + text
            for text in reversed(texts)
        ]
        self.statuses: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.latest = 0.0

    async def go(self) -> Found:
        began = self.latest = time.perf_counter()
        await asyncio.gather(*(self.worker() for _ in range(self.job["connections"])))
        self.found.seconds = time.perf_counter() - began
        self.found.statuses, self.found.last = dict(self.statuses), dict(self.ended)
        return self.found

    async def worker(self) -> None:
        line: Line | None = None
        held = self.job.get("held", 0)
        while self.left:
            if len(self.left) <= held and not os.path.exists(self.job["until"]):
                await asyncio.sleep(PAUSE)
                continue
            post = self.left.pop()
            while True:
                try:
                    if line is None or line.is_lost:
                        line = await self.connect()
                    sent = time.perf_counter()
                    status = await line.ask(post)
                except OSError:
                    self.found.broken += 1
                    line = None
                    await asyncio.sleep(PAUSE)
                    continue
                now = time.perf_counter()
                self.found.milliseconds.append(1000 * (now - sent))
                self.found.longest_gap = max(self.found.longest_gap, now - self.latest)
                self.latest = now
                self.statuses[status] += 1
                if status != "503":
                    self.ended[status] += 1
                    break
                await asyncio.sleep(PAUSE)

    async def connect(self) -> "Line":
        loop = asyncio.get_running_loop()
        _, line = await loop.create_connection(Line, "127.0.0.1", self.job["port"])
        return line


class Line(asyncio.Protocol):
    """A connection that asks one thing at a time."""

    def __init__(self) -> None:
        self.is_lost, self.came = False, b""
        self.answer: asyncio.Future[str] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def ask(self, post: bytes) -> "asyncio.Future[str]":
        self.answer = asyncio.get_running_loop().create_future()
        if self.is_lost:
            self.answer.set_exception(ConnectionResetError())
        self.transport.write(post)
        return self.answer

    def data_received(self, data: bytes) -> None:
        self.came += data
        head, found, rest = self.came.partition(b"\r\n\r\n")
        at = head.lower().find(b"content-length: ")
        if not found or len(rest) < int(head[at + 16 :].partition(b"\r")[0]):
            return
        self.came = b""
        if self.answer and not self.answer.done():
            self.answer.set_result(head[9:12].decode())

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        if self.answer and not self.answer.done():
            self.answer.set_exception(ConnectionResetError())


if __name__ == "__main__":
    json.dump(asdict(asyncio.run(Run(json.load(sys.stdin)).go())), sys.stdout)
