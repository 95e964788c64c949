"""Schedules of faults, thousands of them, on SQLite and on PostgreSQL (`tests/simulator/`); and how
many it takes to find bugs that are planted in a copy of the tree.

    python -m tests.bench.simulator [SCHEDULES] [FIRST]       on both engines, and then the bugs
    python -m tests.bench.simulator here SCHEDULES FIRST      on the engine of the environment
    python -m tests.bench.simulator until SCHEDULES FIRST     there, to the first that breaks
    python -m tests.bench.simulator again SEED                one there, looked at after every step
"""

import contextlib
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench import report
from tests.bench.budget_races import engine
from tests.bench.planted_faults import HOUSE, copy_with
from tests.simulator.planted import BUGS, ONE_WRITER

SCHEDULES, FIRST, TO_FIND = 10_000, 1, 1_000
PROCESSES = 2
COUNTED = (
    "schedules",
    "acts",
    "side by side",
    "of one budget",
    "drawn",
    "retired",
    "faults",
    "broken",
)
ENGINES = ("SQLite", "PostgreSQL")


def play_here(
    schedules: int, first: int, *, until_broken: bool = False, closely: bool = False
) -> dict[str, Any]:
    """Play schedules on the database of this process; return what was found."""
    import django

    django.setup()
    logging.disable(logging.CRITICAL)
    from tests.simulator import acts, databases, schedule, world

    acts.prepare()
    database = databases.begin(world.prepare)
    found: dict[str, Any] = dict.fromkeys(COUNTED, 0)
    began = time.perf_counter()
    with contextlib.closing(database):
        for seed in range(first, first + schedules):
            outcome = schedule.run(seed, database, closely=closely)
            found["schedules"] += 1
            found["acts"] += outcome.acts
            found["side by side"] += outcome.together
            found["of one budget"] += outcome.rivals
            found["drawn"] += outcome.drawn
            found["retired"] += outcome.retired
            found["faults"] += outcome.faults
            found["broken"] += bool(outcome.broken)
            if closely:
                print("\n".join(outcome.said), file=sys.stderr)
            if outcome.broken:
                print(f"seed {seed}: {'; '.join(outcome.broken[:3])}", file=sys.stderr)
                if until_broken:
                    break
    return {**found, "seconds": time.perf_counter() - began}


def command(how: str, schedules: int, first: int) -> list[str]:
    return [sys.executable, "-m", "tests.bench.simulator", how, str(schedules), str(first)]


def begin(
    words: Sequence[str], environment: dict[str, str], house: Path = HOUSE
) -> "subprocess.Popen[str]":
    settings = {**os.environ, "DJANGO_SETTINGS_MODULE": "surveys.settings", **environment}
    return subprocess.Popen(words, env=settings, stdout=subprocess.PIPE, text=True, cwd=house)


def said(process: "subprocess.Popen[str]") -> dict[str, Any]:
    printed, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a process of the simulator ended with {process.returncode}")
    return dict(json.loads(printed.splitlines()[-1]))


def play_on(name: str, schedules: int, first: int) -> dict[str, Any]:
    """Play schedules in processes of their own, each with its share of the seeds."""
    share = -(-schedules // PROCESSES)
    began = time.perf_counter()
    with engine(name) as environment:
        running = [
            begin(command("here", min(share, first + schedules - start), start), environment)
            for start in range(first, first + schedules, share)
        ]
        parts = [said(process) for process in running]
    seconds = time.perf_counter() - began
    sums = {key: sum(part[key] for part in parts) for key in parts[0] if key != "seconds"}
    return {"engine": name, "seeds": f"{first} to {first + schedules - 1}", **sums, "s": seconds}


def find(name: str) -> list[dict[str, Any]]:
    """Return after how many schedules each planted bug is found on an engine."""
    rows = []
    for bug in BUGS:
        if name == "SQLite" and bug.name in ONE_WRITER:
            continue
        with engine(name) as environment, copy_with(bug) as house:
            found = said(begin(command("until", TO_FIND, FIRST), environment, house))
        after = found["schedules"] if found["broken"] else f"not in {TO_FIND}"
        rows.append({"bug": bug.name, "engine": name, "found after": after})
        print(rows[-1], file=sys.stderr)
    return rows


def main(schedules: int, first: int) -> None:
    rows = [play_on(name, schedules // len(ENGINES), first) for name in ENGINES]
    report.table("Schedules of faults", rows)
    bugs = [row for name in ENGINES for row in find(name)]
    report.table("Bugs that were planted: found after how many schedules", bugs)
    report.save("simulator", [*rows, *bugs])
    if any(row["broken"] for row in rows):
        sys.exit("something does not hold: play its seed again")


if __name__ == "__main__":
    how = next((word for word in sys.argv[1:] if not word.isdigit()), "")
    given = [int(word) for word in sys.argv[1:] if word.isdigit()]
    if how == "again":
        print(json.dumps(play_here(1, given[0], closely=True)))
    elif how:
        print(json.dumps(play_here(*given, until_broken=how == "until")))
    else:
        main(*given, *(SCHEDULES, FIRST)[len(given) :])
