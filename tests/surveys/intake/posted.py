"""Posts of every kind, good and bad, from a seed; and a door without a server around it."""

import asyncio
import datetime
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from surveys.intake.rsgi import Door

PATH = "/api/v1/studies/{}/reports"
JSON = "application/json"
Chance = random.Random


@dataclass
class Sent:
    """A request as it comes over the wire."""

    slug: str
    body: bytes
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    says_length: bool = True
    seconds: float = 0.0  # until its body is here


@dataclass
class Answer:
    status: int
    body: bytes
    retries: bool
    allow: str = ""
    headers: dict[str, str] = field(default_factory=dict, compare=False)


class Headers:
    """What granian gives of a request's headers."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self.pairs = list(pairs)

    def get(self, name: str, default: Any = None) -> Any:
        return next((value for key, value in self.pairs if key == name), default)

    def items(self) -> list[tuple[str, str]]:
        return self.pairs

    def __contains__(self, name: str) -> bool:
        return any(key == name for key, _ in self.pairs)


class Scope:
    proto, scheme = "http", "http"
    server, authority, query_string, client = "testserver", None, "", "192.0.2.1:5"

    def __init__(self, sent: Sent) -> None:
        self.method, self.path = sent.method, PATH.format(sent.slug)
        pairs = {"host": "testserver", "content-type": JSON, **sent.headers}
        if sent.says_length:
            pairs["content-length"] = str(len(sent.body))
        self.headers = Headers([(name, value) for name, value in pairs.items() if value != "-"])


class Protocol:
    def __init__(self, sent: Sent) -> None:
        self.sent = sent
        self.answer: Answer | None = None

    async def __call__(self) -> bytes:
        await asyncio.sleep(self.sent.seconds)  # so that many are under way
        return self.sent.body

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        said = {name.lower(): value for name, value in headers}
        self.answer = Answer(status, body, "retry-after" in said, said.get("allow", ""), said)

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.response_bytes(status, headers, b"")


def post_all(door: Door, posts: Sequence[Sent], at_once: int) -> list[Answer]:
    """Send posts to a door, so many at once, and return its answers."""

    async def one(sent: Sent) -> Answer:
        protocol = Protocol(sent)
        await door.__rsgi__(Scope(sent), protocol)
        assert protocol.answer is not None
        return protocol.answer

    async def all_of_them() -> list[Answer]:
        loop = asyncio.get_running_loop()
        door.__rsgi_init__(loop)
        try:
            answers: list[Answer] = []
            for start in range(0, len(posts), at_once):
                answers += await asyncio.gather(*map(one, posts[start : start + at_once]))
            return answers
        finally:
            door.__rsgi_del__(loop)

    return asyncio.run(all_of_them())


# Mutations

Plans = dict[str, dict[str, Any]]  # digest and answers that pass, by slug


def mutated(plans: Plans, chance: Chance, count: int) -> list[Sent]:
    """Return posts of every kind, of which about half are good ones."""
    earlier: list[tuple[str, dict[str, Any]]] = []
    return [_one(plans, chance, earlier) for _ in range(count)]


def _one(plans: Plans, chance: Chance, earlier: list[tuple[str, dict[str, Any]]]) -> Sent:
    slug = chance.choice(list(plans))
    report = {
        "plan": plans[slug]["plan"],
        "report_id": f"{chance.getrandbits(128):032x}",
        "answers": plans[slug]["answers"](chance),
    }
    if earlier and chance.random() < 0.25:  # an id again: the same, with other content, elsewhere
        slug, kept = chance.choice(earlier[-40:])
        report = {**kept, "answers": chance.choice([kept["answers"], report["answers"]])}
    if chance.random() < 0.4:
        earlier.append((slug, report))
        return Sent(slug, json.dumps(report).encode())
    change = chance.choice(CHANGES)
    sent = Sent(slug, b"")
    changed = change(sent, json.loads(json.dumps(report)), chance, plans)
    if not sent.body and changed is not None:
        sent.body = json.dumps(changed).encode()
    return sent


def _text(change: Callable[[str, Chance], bytes]) -> Any:
    def apply(sent: Sent, report: Any, chance: Chance, plans: Plans) -> None:
        sent.body = change(json.dumps(report), chance)

    return apply


def _header(name: str, *values: str) -> Any:
    def apply(sent: Sent, report: Any, chance: Chance, plans: Plans) -> Any:
        sent.headers[name] = chance.choice(values)
        return report

    return apply


def _flip(text: str, chance: Chance) -> bytes:
    changed = bytearray(text.encode())
    for _ in range(chance.randint(1, 3)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _part(sent: Sent, report: Any, chance: Chance, plans: Plans) -> Any:
    name = chance.choice([*report, "more"])
    report[name] = chance.choice(ODD)
    return report


def _answer(sent: Sent, report: Any, chance: Chance, plans: Plans) -> Any:
    name = chance.choice([*report["answers"], "more", "", "x" * 60, "0\u0000"])
    report["answers"][name] = chance.choice([*ODD, 0, 1, 2, [0], [1], [4]])
    return report


def _left_out(sent: Sent, report: Any, chance: Chance, plans: Plans) -> Any:
    held = chance.choice([report, report["answers"]])
    if held:
        del held[chance.choice(list(held))]
    return report


def _other_plan(sent: Sent, report: Any, chance: Chance, plans: Plans) -> Any:
    report["plan"] = chance.choice([*(each["plan"] for each in plans.values()), "ab" * 32])
    return report


def _other_study(sent: Sent, report: Any, chance: Chance, plans: Plans) -> Any:
    sent.slug = chance.choice([*plans, "nowhere", "a-draft", "x" * 200])
    return report


def _method(sent: Sent, report: Any, chance: Chance, plans: Plans) -> Any:
    sent.method = chance.choice(["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
    return report


def _no_length(sent: Sent, report: Any, chance: Chance, plans: Plans) -> None:
    sent.says_length = False


def _empty(sent: Sent, report: Any, chance: Chance, plans: Plans) -> None:
    sent.body = b""


ODD: list[Any] = [
    None, True, -1, 10**30, 1.0, 0.5, "", "1", [], {}, [[]], {"a": 1}, [1, 1], [0, 1, 2], "\u0000",
    "ab" * 16, "AB" * 16, "ab" * 32, "é", "x" * 70_000, [1.0], [True], [None], 7,
]  # fmt: skip
CHANGES = [
    _part,
    _answer,
    _answer,
    _left_out,
    _other_plan,
    _other_study,
    _method,
    _no_length,
    _empty,
    _text(_flip),
    _text(lambda text, chance: text[: chance.randrange(len(text))].encode()),
    _text(lambda text, chance: text.replace('"answers"', '"plan"', 1).encode()),
    _text(lambda text, chance: text.replace('{"', '{"report_id": "1", "', 1).encode()),
    _text(lambda text, chance: text.replace('s": {', 's": {"copied": 1, ', 1).encode()),
    _text(lambda text, chance: text.encode(chance.choice(["utf-16", "utf-8-sig", "utf-32"]))),
    _text(lambda text, chance: (text + chance.choice(["}", " ", "\n", "\0", "x"])).encode()),
    _text(lambda text, chance: b"[" * chance.choice([10, 5_000])),
    _text(lambda text, chance: text.encode() + b" " * chance.choice([65_000, 65_536, 200_000])),
    _header("content-type", "text/plain", "", "-", "application/json; charset=utf-8",
            "Application/JSON", "application/json;x", "application/x-www-form-urlencoded",
            " application/json", "application/jsonx"),
    _header("sec-fetch-site", "cross-site", "same-site", "same-origin", "none", "", "x"),
    _header("origin", "http://testserver", "HTTP://TESTSERVER", "null", "https://testserver", ""),
    _header("host", "evil.example", "testserver:81", "testserver.", "[::1", "a_b", ""),
    _header("x-forwarded-for", "1.2.3.4", "x", "1.2.3.4, 5.6.7.8"),
    _header("x-forwarded-proto", "https", "http"),
]  # fmt: skip


def stop_clock(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
    """Let no midnight come between two answers: it stays the moment that it is for these modules."""
    moment = datetime.datetime.now(datetime.UTC)

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return moment

    stopped = SimpleNamespace(datetime=Clock, date=datetime.date, UTC=datetime.UTC)
    for module in modules:
        monkeypatch.setattr(module, "datetime", stopped)
