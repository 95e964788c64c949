"""The door's own process, as a stranger meets it: slow, rude, in a crowd, and when it ends."""

import json
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from tests.bench.posting import Found
from tests.doors import DOOR, HOUSE, served
from tests.journeys.site import Site, own_environment
from tests.journeys.test_load import COUNT, MAKE
from tests.patience import PATIENCE, became

PATH = "/api/v1/studies/load/reports"
HEAD = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
SOCKET = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory, bare):
    """A site of which only the door runs, and its one Plan."""
    folder = tmp_path_factory.mktemp("door")
    environment = {**own_environment(folder, like=bare), "CANDOR_REPORTS_AT_ONCE": "1000000"}
    site = Site("", environment, folder / "log")
    yield site, site.python(MAKE)
    site.end()


@pytest.fixture(scope="module")
def door(place):
    site, _ = place
    with served(site.environment, site.log, *DOOR) as found:
        yield found


def begin_posts(port, plan, posts, connections=16, **more):
    """Start a process that posts new reports."""
    job = {"port": port, "path": PATH, "plan": plan, "posts": posts, "connections": connections}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.posting"],
        cwd=HOUSE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdin.write(json.dumps(job | more))
    process.stdin.close()
    return process


def ended(process):
    with process:
        return Found(**json.loads(process.stdout.read()))


def stored(place):
    """Return how many reports are stored, when none comes any more."""
    receipts, reports = place[0].python(COUNT)
    assert receipts == reports
    return receipts


def begun(place, before):
    """Tell whether reports have come in since."""
    return place[0].python(COUNT)[0] > before + 50


def answer(line):
    """Return the status of what comes back, 0 if the line is closed without a word."""
    line.settimeout(PATIENCE)
    head = line.recv(4096)
    return int(head[9:12]) if head else 0


def test_slow_bodies_hold_nobody_up_and_end_at_their_deadline(door, place):
    before, began = stored(place), time.monotonic()
    with ExitStack() as stack:
        slow = [stack.enter_context(door.connect()) for _ in range(200)]
        for line in slow:
            line.sendall(f"{HEAD}Content-Length: 300\r\n\r\n{{".encode())
        found = ended(begin_posts(door.port, place[1], 300))
        assert found.last == {"201": 300}
        assert {answer(line) for line in slow} == {408}
    assert time.monotonic() - began >= 10  # none of them was cut off before its time
    assert stored(place) == before + 300


def test_half_a_head_and_rubbish_are_no_report_and_no_error_of_ours(door, place):
    before = stored(place)
    rude = {
        b"POST / HT": None,  # waits for the rest
        b"\x00\xff\x16\x03\r\n\r\n": 400,
        f"{HEAD}Content-Length: nine\r\n\r\n".encode(): 400,
        f"{HEAD}Content-Length: 2\r\n\r\n{{}}GET GET GET\r\n\r\n".encode(): 422,
        f"{HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n".encode(): 411,
        f"{HEAD}Content-Length: 99999999999\r\n\r\n".encode(): 413,
        f"{HEAD}Content-Length: {'0' * 5_000}2\r\n\r\n{{}}".encode(): 413,
        f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n{SOCKET}".encode(): 403,
        f"{HEAD}X-Odd: \x80\xff\r\nContent-Length: 2\r\n\r\n{{}}".encode("latin-1"): 422,
    }
    for sent, expected in rude.items():
        with door.connect() as line:
            line.sendall(sent)
            if expected:
                assert answer(line) == expected, sent
    with door.connect() as line:  # who asks and leaves
        line.sendall(f"{HEAD}Content-Length: 300\r\n\r\n{{".encode())
    assert ended(begin_posts(door.port, place[1], 10)).last == {"201": 10}
    assert stored(place) == before + 10
    assert "Traceback" not in place[0].log.read_text()


def test_many_idle_connections_leave_room(door, place):
    with ExitStack() as stack:
        for _ in range(500):
            stack.enter_context(door.connect())
        assert ended(begin_posts(door.port, place[1], 50)).last == {"201": 50}


def test_nothing_that_was_accepted_goes_unanswered_when_it_is_asked_to_end(place, tmp_path):
    before, site, rest = stored(place), place[0], tmp_path / "rest"
    with served(site.environment, site.log, *DOOR) as going:
        posts = begin_posts(going.port, place[1], 3_000, held=500, until=str(rest))
        assert became(lambda: begun(place, before))
        going.process.send_signal(signal.SIGTERM)
        rest.touch()
        going.process.wait(PATIENCE)
        before_the_next = stored(place)
        with served(site.environment, site.log, *DOOR, port=going.port):
            found = ended(posts)
    # a post is answered 200 only where an earlier answer to it was lost
    assert found.last == {"201": 3_000}
    assert before + 50 < before_the_next < before + 3_000
    assert stored(place) == before + 3_000


def test_a_killed_worker_loses_and_doubles_nothing(door, place, tmp_path):
    before, rest = stored(place), tmp_path / "rest"
    posts = begin_posts(door.port, place[1], 3_000, held=500, until=str(rest))
    assert became(lambda: begun(place, before))
    door.kill_worker()
    rest.touch()
    found = ended(posts)
    assert set(found.statuses) <= {"201", "200", "503"}
    assert sum(found.last.values()) == 3_000
    assert found.broken > 0
    assert stored(place) == before + 3_000
