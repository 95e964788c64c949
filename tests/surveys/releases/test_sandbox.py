"""Reached on the ask page: “A statistic that you write, group by group”."""

import contextlib
import math
import mmap
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from surveys.releases import sandbox
from surveys.releases.sandbox import NUMBER, READY, NotStarted, budget, compute
from tests.patience import PATIENCE

GROUPS = [[(0, 3), (4, 1), (5, 9)], [], [(2, 2)], [(9, 1), (1, 0)]]
NAN = math.nan


@dataclass
class Leak:
    """What a formula could do if the language let it."""

    does: Any
    cells: int = 1
    rows: list[int] = field(default_factory=list)

    def of_all(self, columns: Any, rows: int) -> float:
        return float(self.does())


def left(does: Any) -> tuple[float, int]:
    """Return what comes of it when it has ended by itself, and which signal ended it."""
    process, inward = sandbox._start(Leak(does), ["x"], 1, NUMBER.pack(5.0))
    ended = os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return sandbox._end(process, inward), ended.si_status


def endless() -> float:
    while True:
        pass


def opened() -> float:
    with open("/dev/zero", "rb"):
        return 1.0


def connected() -> float:
    socket.socket()
    return 1.0


def nested() -> float:
    return nested() + 1


def failing(failure: type[BaseException]) -> Any:
    def does() -> float:
        raise failure("person 7")

    return does


@pytest.mark.parametrize(
    "does",
    [
        opened,
        connected,
        lambda: os.pipe()[0],
        lambda: len(mmap.mmap(-1, 2 * sandbox.MEMORY)),
        lambda: len(os.read(0, 1)),
        lambda: os.write(1, b"7"),
        lambda: os._exit(3),
        lambda: os.kill(os.getpid(), signal.SIGSEGV),
        nested,
        lambda: "text",
        *map(failing, (ZeroDivisionError, SystemExit, KeyboardInterrupt, MemoryError)),
    ],
)
def test_whatever_goes_wrong_in_a_group_is_no_number(does):
    assert math.isnan(left(does)[0])


def test_what_hangs_is_ended_by_its_own_clock():
    number, ended_by = left(endless)
    assert math.isnan(number)
    assert ended_by == signal.SIGPROF


def test_what_sleeps_is_ended_when_its_time_is_up():
    """`_end` does not wait for it: a test that does would last for an hour."""
    process, inward = sandbox._start(Leak(lambda: time.sleep(3600)), ["x"], 1, bytes(8))
    assert math.isnan(sandbox._end(process, inward))


def forked(does: Any) -> int:
    process = os.fork()
    if process == 0:
        try:
            does()
        finally:
            os._exit(0)
    return process


def alive_below(process: int) -> set[int]:
    """Return the processes that it started, and theirs, which have not ended."""
    below: set[int] = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == process:
                own = int(entry.parent.name)
                below |= alive_below(own) | ({own} if state != "Z" else set())
    return below


def has_ended(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def within(seconds: float, holds: Any) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def starts_a_group_that_sleeps() -> None:
    sandbox._start(Leak(lambda: time.sleep(3600)), ["x"], 1, bytes(8))
    time.sleep(3600)


@pytest.mark.skipif(sys.platform != "linux", reason="a fork outlives its parent elsewhere")
@pytest.mark.parametrize(
    "does",
    [starts_a_group_that_sleeps, lambda: compute("mean(x)", ["x"], [[(1,)]] * int(PATIENCE * 300))],
    ids=["a group", "the program"],
)
def test_nothing_outlives_whoever_is_killed(does):
    """By itself the program would take minutes, and a group an hour."""
    asker = forked(does)
    try:
        assert within(PATIENCE, lambda: alive_below(asker))
        time.sleep(0.5)  # it has begun what it does
        below = alive_below(asker)
    finally:
        os.kill(asker, signal.SIGKILL)
        os.waitpid(asker, 0)
    assert within(PATIENCE, lambda: all(map(has_ended, below)))


def test_a_program_whose_parent_is_gone_ends_at_once():
    """It ends before it says that it can be sent data."""
    asked = [sys.executable, "-I", sandbox.__file__, str(os.getppid())]
    done = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_what_goes_right_is_a_number():
    assert left(lambda: 2.5) == (2.5, 0)


def test_no_more_than_one_number_comes_out():
    """Even if a group's process finds its pipe."""

    def tells() -> float:
        for descriptor in range(3, 99):
            try:
                os.write(descriptor, b"all there is")
            except OSError:
                continue
        return 1.0

    assert math.isnan(left(tells)[0])


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("sum(y/x)", [NAN, 0, 1, 1 / 9]),
        ("median(x) if count(x > 1) else quantile(y, 0.5)", [4, NAN, 2, 5]),
    ],
)
def test_each_group_has_its_own_number_or_none(formula, expected):
    assert compute(formula, ["x", "y"], GROUPS) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("written", [READY, READY + bytes(8 * 3), READY + bytes(8 * 5)])
def test_a_program_that_ends_early_has_no_number_for_anybody(monkeypatch, written):
    monkeypatch.setattr(sandbox, "_run", lambda data, seconds: written)
    monkeypatch.setattr(sandbox, "START", 0.0)
    monkeypatch.setattr(sandbox, "LATE", 0)
    assert [math.isnan(number) for number in compute("mean(x)", ["x", "y"], GROUPS)] == [True] * 4


def test_one_that_does_not_start_is_an_error_which_nothing_hangs_on(monkeypatch):
    monkeypatch.setattr(sandbox.sys, "executable", "/bin/false")
    with pytest.raises(NotStarted, match="did not start"):
        compute("mean(x)", ["x", "y"], GROUPS)


def test_one_that_never_ends_is_given_up(monkeypatch, tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nprintf 'ready\\n'\nexec sleep 3600\n")
    program.chmod(0o700)
    monkeypatch.setattr(sandbox.sys, "executable", str(program))
    assert sandbox._run(b"", 1.0) == READY


@pytest.mark.parametrize("soon", [0.0, 1.5])
def test_it_ends_at_the_same_moment_however_soon_it_is_done(monkeypatch, soon):
    now = [100.0]

    def run(data, seconds):
        now[0] += soon
        return READY + bytes(8 * len(GROUPS))

    monkeypatch.setattr(sandbox, "_run", run)
    monkeypatch.setattr(sandbox.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sandbox.time, "sleep", lambda rest: now.__setitem__(0, now[0] + rest))
    compute("mean(x)", ["x", "y"], GROUPS)
    assert now[0] == pytest.approx(100 + budget(4))


def test_a_group_that_could_take_too_much_is_not_begun():
    sums = Leak(lambda: 1.0, cells=sandbox.STEPS)
    assert sandbox._value(sums, ["x"], 1, bytes(8)) == 1
    assert math.isnan(sandbox._value(sums, ["x"], 2, bytes(16)))
