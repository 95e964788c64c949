"""Formulas that an analyst wrote, computed on groups of people: each group in a process of its own.

Adversary  an analyst who chooses the formula, sees what is published and when, and knows all
           answers but one person's, who is in one group.
Promise    a group's number depends on that group only, and so does not change with a person of
           another. Whatever goes wrong in it, and however, it is NaN. Nothing else depends on
           anybody's answers: no error, no line of a log, and not the time that all takes.
Language   A formula is read before any data is. It has no loops and can do nothing but arithmetic
           (dpengine.expressions), so it ends by itself. A group on which it could take more than
           STEPS is NaN, and not computed.
Walls      Should the language leak: each group's process is given that group and no descriptor
           but the pipe for eight bytes. It can open none (so no file and no socket), make no
           process unless it is root's, use MEMORY at most, PROCESSOR seconds at most, and is
           killed at its end. What earlier groups left in freed memory is not wiped. On Linux all
           of them are killed with whoever asked, however that ended.
Time       Group i is begun at tick i and killed at tick i + LATE, whatever happened to the others:
           its time is its own. PROCESSOR keeps those that hang from starving the rest. All groups
           together take at least m + LATE ticks, and `budget` in all, however soon they are done.
Machine    A machine too busy to give a group its turn in LATE ticks loses that group's number.
           What makes it busy is not the answers, by the lines above. That a machine's caches
           remember is not hidden.
Sources    Mohan, Thakurta, Shi, Song and Culler 2012 (GUPT): attacks by state, by budget and by
           timing, and against them a chamber of fixed time with a neutral answer.

This file is also the program that runs: alone, without the site, its secrets or its connections.
"""

import json
import math
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from array import array
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TICK = 0.01  # seconds
LATE = 200  # ticks
START = 2.0  # seconds: Python and numpy are loaded before any data is read
GRACE = 10.0  # seconds beyond all time that is fixed, until it is given up
STEPS = 10**6  # cells computed in one group
MEMORY = 2**30  # bytes, numpy and all
PROCESSOR = 0.25  # seconds of one group
READY = b"ready\n"
PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>; a fork does not inherit it
# what numpy loads late is loaded by this, while files can be opened
EVERYTHING = (
    "mean(c) + sum(c) + count(c) + min(c) + max(c) + median(c) + quantile(c, 0.5) + "
    "correlation(c, c) + sum(log(c) ^ 2 if c > 0 and not c <= 1 else sqrt(abs(exp(-c / 2))))"
)
NUMBER, SIZE = struct.Struct("d"), struct.Struct("q")
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

Row = tuple[int, ...]
Block = Sequence[Row]


class NotStarted(Exception):
    """The program did not start: no data was read, and nothing depends on any."""


def budget(groups: int) -> float:
    """Return how many seconds it takes, whatever the answers are."""
    return START + TICK * (groups + LATE)


def compute(formula: str, columns: Sequence[str], groups: Sequence[Block]) -> list[float]:
    """Return a formula's value for each group; NaN where it has none."""
    end = time.monotonic() + budget(len(groups))
    head = json.dumps({"formula": formula, "columns": list(columns), "groups": len(groups)})
    parts = [SIZE.pack(len(head.encode())), head.encode(), *map(_pack, groups)]
    written = _run(b"".join(parts), budget(len(groups)) + GRACE)
    if not written.startswith(READY):
        raise NotStarted("the program that computes expressions did not start")
    time.sleep(max(0.0, end - time.monotonic()))
    numbers = written.removeprefix(READY)
    if len(numbers) != NUMBER.size * len(groups):
        return [math.nan] * len(groups)
    return [number for (number,) in NUMBER.iter_unpack(numbers)]


def _run(data: bytes, seconds: float) -> bytes:
    """Return what the program wrote until it ended, or until it was given up."""
    try:
        return subprocess.run(
            [sys.executable, "-I", __file__, str(os.getpid())],
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            cwd="/",
            timeout=seconds,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired as late:
        return late.output or b""


def _pack(group: Block) -> bytes:
    """Return a group as bytes: how many rows, and the numbers of each."""
    numbers = array("d", [float(number) for row in group for number in row])
    return SIZE.pack(len(group)) + numbers.tobytes()


# The program


def main() -> None:
    """Read a formula; only then groups, one a tick; and write their numbers when time is up."""
    _end_with(int(sys.argv[1]))
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    import numpy as np

    from dpengine.expressions import read

    head = json.loads(_read_exactly(_size()))
    columns, groups = head["columns"], head["groups"]
    formula = read(head["formula"], dict.fromkeys(columns), of_all=True)
    read(EVERYTHING, {"c": None}, of_all=True).of_all({"c": np.arange(3.0)}, 3)
    os.write(1, READY)
    running, begun = deque[tuple[int, int]](), time.monotonic()
    for tick in range(groups + LATE):
        time.sleep(max(0.0, begun + tick * TICK - time.monotonic()))
        if tick >= LATE:
            os.write(1, NUMBER.pack(_end(*running.popleft())))  # and not kept here
        if tick < groups:
            rows = _size()
            running.append(_start(formula, columns, rows, _read_exactly(rows * len(columns) * 8)))


def _size() -> int:
    return int(SIZE.unpack(_read_exactly(SIZE.size))[0])


def _read_exactly(size: int) -> bytes:
    """Return exactly so many bytes of what is sent, and take in none beyond."""
    data = bytearray()
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            raise EOFError("the data end too early")
        data += more
    return bytes(data)


def _start(formula: Any, columns: Sequence[str], rows: int, group: bytes) -> tuple[int, int]:
    """Return a process that computes a formula of a group, and where its number will come."""
    program = os.getpid()
    inward, outward = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            _end_with(program)
            _confine(outward)
            os.write(outward, NUMBER.pack(_value(formula, columns, rows, group)))
        finally:
            os._exit(0)
    os.close(outward)
    return process, inward


def _end_with(parent: int) -> None:
    """Have this process killed as soon as its parent ends, on Linux; end it if that is over."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)


def _confine(outward: int) -> None:
    """Leave this process nothing but a pipe out of it."""
    os.closerange(0, outward)
    os.closerange(outward + 1, LATE + 64)
    for limit, most in {"AS": MEMORY, "CORE": 0, "FSIZE": 0, "NOFILE": 0, "NPROC": 0}.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{limit}"), (most, most))
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR)  # whose signal ends it


def _value(formula: Any, columns: Sequence[str], rows: int, group: bytes) -> float:
    import numpy as np

    if formula.cells * rows > STEPS:
        return math.nan
    table = np.frombuffer(group).reshape(rows, len(columns))
    return float(formula.of_all(dict(zip(columns, table.T, strict=True)), rows))


def _end(process: int, inward: int) -> float:
    """End a process, whatever it does, and return the number that came; NaN if none did."""
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    written = os.read(inward, NUMBER.size + 1)  # nobody writes any more: it does not wait
    os.close(inward)
    return float(NUMBER.unpack(written)[0]) if len(written) == NUMBER.size else math.nan


if __name__ == "__main__":
    main()
