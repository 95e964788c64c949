"""Schedules of faults, thousands of them, on SQLite and on PostgreSQL (`tests/simulator/`).

    python -m tests.bench.simulator [SCHEDULES] [FIRST SEED]     both engines, two processes each
    python -m tests.bench.simulator here SCHEDULES FIRST         on the database of the environment
    python -m tests.bench.simulator again SEED                   one there, closely, step by step
"""

import json
import logging
import sys
import time
from typing import Any

SCHEDULES, FIRST = 10_000, 1


def play_here(schedules: int, first: int, *, closely: bool = False) -> dict[str, Any]:
    """Play schedules on the database of this process; return what was found."""
    import django

    django.setup()
    logging.disable(logging.CRITICAL)
    from tests.simulator import acts, databases, schedule, world

    acts.prepare()
    database = databases.begin(world.prepare)
    found: dict[str, Any] = {"schedules": 0, "acts": 0, "side by side": 0, "faults": 0}
    broken: dict[int, Any] = {}
    began = time.perf_counter()
    try:
        for seed in range(first, first + schedules):
            outcome = schedule.run(seed, database, closely=closely)
            found["schedules"] += 1
            found["acts"] += outcome.acts
            found["side by side"] += outcome.together
            found["faults"] += outcome.faults
            if closely:
                print("\n".join(outcome.said))
            if outcome.broken:
                broken[seed] = outcome.broken
                print(f"seed {seed}: {outcome.broken[:3]}", file=sys.stderr)
    finally:
        database.remove()
    seconds = time.perf_counter() - began
    return {**found, "broken": broken, "schedules/s": schedules / seconds}


if __name__ == "__main__":
    if sys.argv[1:2] == ["again"]:
        print(json.dumps(play_here(1, int(sys.argv[2]), closely=True), indent=1))
    elif sys.argv[1:2] == ["here"]:
        print(json.dumps(play_here(int(sys.argv[2]), int(sys.argv[3]))))
