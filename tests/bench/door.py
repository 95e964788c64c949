"""The door's own process: reports a second, beside the pages' view and the machine's ceilings of the
same run; with slow clients and busy readers; and through kills.

    python -m tests.bench.door [--posts 20000] [--kills 60000] [--rows 100000] [--engines postgres,sqlite]

Each database commits to the disk. A report is answered when it is committed. Readers ask for the
registry of 1,000 studies and as many rows of the ledger as told; pages give way, as where they are
deployed. Loops that give way more than any page show what the machine itself takes. The last lines compare 20,000 mutated posts (`tests/surveys/intake/test_rsgi.py`).
"""

import argparse
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import psycopg

from tests import services
from tests.bench.posting import Found
from tests.bench.report import save, table
from tests.doors import DOOR, HOUSE, PAGES, Served, served
from tests.journeys.site import Site, prepared, running_site
from tests.journeys.test_load import COUNT, MAKE
from tests.patience import became

CONNECTIONS, SLOW, READERS = 64, 200, 8
VICTIMS = {  # what runs, and a word of its command
    "PostgreSQL": "",
    "worker": "--concurrency",
    "valkey": "valkey",
    "pages": "surveys.operations.web:application",
}
BUILD = """
from tests.bench.large import build
build(studies=1000, asked=5, rows={rows})
print("true")
"""
LEFT = 100  # reports, less than a batch, that may wait for others
PATH = "/api/v1/studies/load/reports"
TABLES = (
    "CREATE TABLE receipts (id {0} PRIMARY KEY, content {0}, plan bigint, day date)",
    "CREATE TABLE reports (plan bigint, answers text, given {0})",
)
WAITING = """
from django.db import connection
connection.close()
from surveys.intake.selectors import open_counts
print(sum(open_counts().values()))
"""
FRESH = "from django.db import connection; connection.close()\n"  # the last one may be dead
HELLO = """
async def app(scope, protocol):
    await protocol()
    protocol.response_bytes(200, [], b"{}")
"""
Rows = list[dict[str, Any]]


@dataclass
class Place:
    """A site of one engine, of which nothing runs yet."""

    engine: str
    site: Site
    plan: str

    def stored(self) -> list[int]:
        """Return how many receipts there are, and how many reports wait or are counted."""
        return list(became(self._counted))

    def _counted(self) -> list[int]:
        with contextlib.suppress(AssertionError):  # the database begins anew just now
            return list(self.site.python(f"{FRESH}{COUNT}"))
        return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=60_000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--mutated", type=int, default=20_000)
    parser.add_argument("--engines", default="postgres,sqlite")
    wanted = parser.parse_args()
    speeds, kills = [], []
    for engine in wanted.engines.split(","):
        with a_place(engine) as place:
            place.site.python(BUILD.format(rows=wanted.rows))
            speeds += speed(place, wanted.posts)
            if wanted.kills:
                kills.append(killed(place, wanted.kills))
    title = f"Reports, each answered once committed; {CONNECTIONS} connections"
    table(title, speeds)
    if kills:
        table("Through kills of every process of a site, and crashes of PostgreSQL", kills)
    save("door", speeds + kills)
    if wanted.mutated:
        compare(wanted.mutated)
    if any(row["500s"] or row["posts"] != row["receipts"] for row in kills):
        raise SystemExit("a report was lost, counted twice, or answered 500")


@contextlib.contextmanager
def a_place(engine: str) -> Iterator[Place]:
    with contextlib.ExitStack() as stack:
        server = ""
        if engine == "postgres":
            server = stack.enter_context(services.postgres(durable=True))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="candor-bench-")))
        bare = prepared(folder, server=server)
        more = {"CANDOR_REPORTS_AT_ONCE": "10000000", "ALLOWED_HOSTS": "127.0.0.1"}
        site = Site("", {**bare.environment, **more}, folder / "log")
        stack.callback(site.end)
        yield Place(engine, site, site.python(MAKE))


def speed(place: Place, posts: int) -> Rows:
    """Measure what is served one after the other, in one place."""
    rows = [ceiling(place, 1), ceiling(place, 100)]
    with hello() as server:
        rows.append(measured(place, "hello, nothing stored", server, posts))
    with served(place.site.environment, place.site.log, *PAGES, light=True) as pages:
        few = max(200, posts // 20)
        rows.append(measured(place, "the pages' view", pages, few))
        with served(place.site.environment, place.site.log, *DOOR) as door:
            post(door, place, 500)
            rows.append(measured(place, "the door", door, posts))
            with slow_bodies(door):
                rows.append(measured(place, f"the door, {SLOW} slow bodies", door, posts // 2))
            with readers(pages):
                rows.append(measured(place, f"the door, {READERS} readers", door, posts // 2))
            for loops in (1, 2):
                with giving_way(loops):
                    what = f"the door, {loops} loops that only give way"
                    rows.append(measured(place, what, door, posts // 2))
    return rows


def ceiling(place: Place, batch: int) -> dict[str, Any]:
    """Return how many receipts and reports a plain loop stores a second, so many at a commit."""
    began, stored = time.perf_counter(), 0
    with bare_tables(place) as (execute, commit):
        while time.perf_counter() - began < 2:
            for _ in range(batch):
                execute("receipts", (os.urandom(32), os.urandom(32), 1, "2026-05-11"))
                execute("reports", (1, "[1,[3],[0]]", b""))
            commit()
            stored += batch
    rate = stored / (time.perf_counter() - began)
    return row(place, f"two INSERTs in a loop, {batch} a commit", rate)


@contextlib.contextmanager
def bare_tables(place: Place) -> Iterator[Any]:
    if place.engine == "postgres":
        line: Any = psycopg.connect(dsn(place))
        kind, mark = "bytea", "%s"
    else:
        line = sqlite3.connect(Path(place.site.environment["CANDOR_DATA"]) / "bare.sqlite3")
        line.execute("PRAGMA journal_mode = WAL")
        line.execute("PRAGMA synchronous = FULL")
        kind, mark = "blob", "?"
    for statement in TABLES:
        line.execute(statement.format(kind))
    line.commit()

    def execute(name: str, values: tuple[Any, ...]) -> None:
        marks = ", ".join([mark] * len(values))
        line.execute(f"INSERT INTO {name} VALUES ({marks})", values)  # noqa: S608

    yield execute, line.commit
    for name in ("receipts", "reports"):
        line.execute(f"DROP TABLE {name}")
    line.commit()
    line.close()


def dsn(place: Place) -> str:
    folder, _, name = place.site.environment["DATABASE_URL"].partition("@/")[2].rpartition("/")
    return f"host=/{folder} user=postgres dbname={name}"


@contextlib.contextmanager
def hello() -> Iterator[Served]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hello.py").write_text(HELLO)
        what = ("--interface", "rsgi", "hello:app")
        with served(dict(os.environ), folder / "log", *what, folder=folder) as server:
            yield server


def measured(place: Place, what: str, server: Served, posts: int) -> dict[str, Any]:
    before, base = server.seconds(), database_seconds(place)
    found = post(server, place, posts)
    each = 1000 / posts
    own, other = server.seconds() - before, database_seconds(place) - base
    return row(place, what, posts / found.seconds, found, own * each, other * each, server)


def row(
    place: Place,
    what: str,
    rate: float,
    found: Found | None = None,
    own: float = 0.0,
    other: float = 0.0,
    server: Served | None = None,
) -> dict[str, Any]:
    print(f"  {place.engine}: {what}: {rate:.0f} a second", flush=True)
    return {
        "engine": place.engine,
        "what": what,
        "a second": round(rate),
        "p50 ms": round(found.quantile(0.5), 1) if found else "",
        "p99 ms": round(found.quantile(0.99), 1) if found else "",
        "CPU ms, Python": round(own, 3) if found else "",
        "CPU ms, PostgreSQL": round(other, 3) if other else "",
        "MB": server.megabytes() if server else "",
        "answers": found.statuses if found else "",
    }


def post(server: Served, place: Place, posts: int, connections: int = CONNECTIONS) -> Found:
    with begun(server.port, place.plan, posts, connections) as process:
        assert process.stdout
        return Found(**json.loads(process.stdout.read()))


def begun(port: int, plan: str, posts: int, connections: int, **more: Any) -> Any:
    """Start a process that posts new reports."""
    job = {"port": port, "path": PATH, "plan": plan, "posts": posts, "connections": connections}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.posting"],
        cwd=HOUSE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    process.stdin.write(json.dumps(job | more))
    process.stdin.close()
    return process


@contextlib.contextmanager
def slow_bodies(server: Served) -> Iterator[None]:
    """Hold bodies open that never come whole; each that is cut off is opened again."""
    code = f"""
import asyncio
async def one():
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", {server.port})
        writer.write(b"POST {PATH} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n"
            b"Content-Type: application/json\\r\\nContent-Length: 300\\r\\n\\r\\n{{")
        await reader.read()
async def all_of_them():
    await asyncio.gather(*(one() for _ in range({SLOW})))
asyncio.run(all_of_them())
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    became(lambda: connections_to(server.port) >= SLOW)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def connections_to(port: int) -> int:
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(
        line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "01" for line in lines
    )


@contextlib.contextmanager
def readers(pages: Served) -> Iterator[None]:
    job = {"method": "GET", "path": "/registry/", "bodies": ["{}"] * 100_000}
    process = begun(pages.port, "", 0, READERS, **job)
    time.sleep(1)  # they have begun; what is measured does not depend on when
    try:
        yield
    finally:
        with process:
            process.kill()


@contextlib.contextmanager
def giving_way(loops: int) -> Iterator[None]:
    """Keep so many processors busy with what has hardly any weight: what is lost beside it, no
    weight of pages could save.
    """
    code = "import os; os.nice(19); open('/proc/self/autogroup', 'w').write('19')\nwhile True: pass"
    with contextlib.ExitStack() as stack:
        for _ in range(loops):
            process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
            stack.enter_context(process)
            stack.callback(process.kill)
        time.sleep(1)
        yield


def database_seconds(place: Place) -> float:
    """Return the processor time of PostgreSQL's processes."""
    if place.engine != "postgres":
        return 0.0
    data = Path(dsn(place).split()[0].partition("=")[2]) / "data"
    main_pid = (data / "postmaster.pid").read_text().split()[0]
    children = Path(f"/proc/{main_pid}/task/{main_pid}/children").read_text().split()
    total = 0
    for pid in [main_pid, *children]:
        with contextlib.suppress(OSError):
            ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            # the main one's own and that of its children that have ended, the others' own
            total += sum(map(int, ticks[11:15] if pid == main_pid else ticks[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


def killed(place: Place, posts: int) -> dict[str, Any]:
    """Post to a whole site of `manage.py up` while its processes are killed in turn, a process of
    PostgreSQL among them, all of which then begin anew from its log.
    """
    before, _ = place.stored()
    deaths: Counter[str] = Counter()
    victims = [name for name in VICTIMS if name != "PostgreSQL" or place.engine == "postgres"]
    folder = Path(place.site.environment["CANDOR_DATA"])
    settings = {**place.site.environment, "CANDOR_SWEEP_SECONDS": "1"}
    with running_site(folder, **settings) as site:
        port = int(site.base.rpartition(":")[2])
        process = begun(port, place.plan, posts, CONNECTIONS)
        done = before
        for victim in cycle(victims):
            if done - before >= posts * 0.95 or process.poll() is not None:
                break
            if crash(place) if victim == "PostgreSQL" else kill(victim):
                deaths[victim] += 1
            mark = min(done + posts // 24, before + posts - 1)
            became(lambda m=mark: process.poll() is not None or place.stored()[0] > m)
            done = place.stored()[0]
        with process:
            found = Found(**json.loads(process.stdout.read()))
        receipts, reports = place.stored()
        site.wait_for(lambda: place.site.python(WAITING) < LEFT, "reports still wait to be sealed")
    return {
        "engine": place.engine,
        "posts": posts,
        "kills": dict(deaths),
        "receipts": receipts - before,
        "tally": reports - before,
        "answers": found.statuses,
        "last": found.last,
        "broken": found.broken,
        "500s": sum(number for status, number in found.statuses.items() if status == "500"),
        "longest gap s": round(found.longest_gap, 2),
    }


def kill(victim: str) -> bool:
    """Kill all processes of a site's service, known by a word of its command."""
    found = [pid for pid in descendants(os.getpid()) if VICTIMS[victim] in command_of(pid)]
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return bool(found)


def descendants(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, path.read_text().split()):
                yield child
                yield from descendants(child)


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return ""


def crash(place: Place) -> bool:
    """Kill a process of PostgreSQL that serves the door: all end at once, and it recovers."""
    with contextlib.suppress(psycopg.OperationalError), psycopg.connect(dsn(place)) as line:
        query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        found = line.execute(query).fetchall()
        for (pid,) in found[:1]:
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def compare(count: int) -> None:
    print(f"\n{count} mutated posts, to the door and to the pages:", flush=True)
    test = "tests/surveys/intake/test_rsgi.py::test_door_and_pages_answer_every_post_alike"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", test],
        cwd=HOUSE,
        env={**os.environ, "CANDOR_MUTATED_POSTS": str(count)},
        check=True,
    )


if __name__ == "__main__":
    main()
