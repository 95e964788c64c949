"""Reached on the ask page: “A statistic that you write, group by group”."""

import math
import mmap
import os
import signal
import socket
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from surveys.releases import sandbox
from surveys.releases.sandbox import NUMBER, READY, NotStarted, budget, compute

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
    process, inward = sandbox._begun(Leak(does), ["x"], 1, NUMBER.pack(5.0))
    ended = os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return sandbox._ended(process, inward), ended.si_status


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
    """`_ended` does not wait for it: a test that does would last for an hour."""
    process, inward = sandbox._begun(Leak(lambda: time.sleep(3600)), ["x"], 1, bytes(8))
    assert math.isnan(sandbox._ended(process, inward))


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


@pytest.mark.parametrize("came", [READY, READY + bytes(8 * 3), READY + bytes(8 * 5)])
def test_a_program_that_ends_early_has_no_number_for_anybody(monkeypatch, came):
    monkeypatch.setattr(sandbox, "_run", lambda data, seconds: came)
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
