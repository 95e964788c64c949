"""What a ticket costs the door: reports with and without one, in turn, of the same run.

    python -m tests.bench.tickets [--posts 4000] [--rounds 3] [--engine postgres]

Beside it, what one fetch costs the issuer: the private operation alone.
"""

import argparse
import json
import os
import time
from statistics import median
from typing import Any

from surveys.issuer import signing
from tests import tickets
from tests.bench.door import CONNECTIONS, Place, a_place, begun, database_seconds
from tests.bench.posting import Found
from tests.bench.report import save, table
from tests.doors import DOOR, Served, served

ANSWERS = {"copied": 1, "fair": [3], "often": [0]}
OPEN = """
import datetime, json
from msgspec import convert
from tests import tickets
from tests.conftest import STUDY, QUESTIONS
from surveys.design import services
from surveys.plan.content import Invited
part, now = convert(tickets.invited({moduli}), Invited), datetime.datetime.now(datetime.UTC)
listed = {{**STUDY, "slug": "listed", "is_invited": True}}
study = services.draft_study(study=listed, questions=QUESTIONS)
plan = services.open_study(why="A test.", study_id=study.pk, who="ada", now=now, invited=part)
print(json.dumps(plan.digest))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engine", default="postgres")
    wanted = parser.parse_args()
    (key,) = tickets.keys()
    with a_place(wanted.engine) as place:
        plan = place.site.python(OPEN.format(moduli=[key.modulus]))
        with served(place.site.environment, place.site.log, *DOOR) as door:
            measured(door, place, "load", [without(place.plan) for _ in range(500)])
            measured(door, place, "listed", [with_ticket(key, plan) for _ in range(500)])
            rows = []
            for _ in range(wanted.rounds):
                bodies = [without(place.plan) for _ in range(wanted.posts)]
                rows.append({"ticket": "none"} | measured(door, place, "load", bodies))
                bodies = [with_ticket(key, plan) for _ in range(wanted.posts)]
                rows.append({"ticket": "one"} | measured(door, place, "listed", bodies))
    table(f"Reports at the door, {wanted.engine}; {CONNECTIONS} connections", rows)
    for name in ("a second", "CPU ms, Python", "CPU ms, PostgreSQL"):
        each = [median(row[name] for row in rows if row["ticket"] == kind) for kind in KINDS]
        print(f"{name}: {each[0]:.3f} without, {each[1]:.3f} with, × {each[1] / each[0]:.2f}")
    print(f"a signature of the issuer: {signing_takes(key):.1f} ms")
    save("tickets", rows)


KINDS = ("none", "one")


def without(plan: str) -> str:
    return json.dumps({"plan": plan, "report_id": os.urandom(16).hex(), "answers": ANSWERS})


def with_ticket(key: tickets.Key, plan: str) -> str:
    return json.dumps({"plan": plan, "answers": ANSWERS, **tickets.made(key, plan)})


def measured(door: Served, place: Place, slug: str, bodies: list[str]) -> dict[str, Any]:
    before, base = door.seconds(), database_seconds(place)
    path, each = f"/api/v1/studies/{slug}/reports", 1000 / len(bodies)
    with begun(door.port, "", 0, CONNECTIONS, path=path, bodies=bodies) as process:
        found = Found(**json.loads(process.stdout.read()))
    if found.statuses != {"201": len(bodies)}:
        raise SystemExit(f"expected all of them taken, got {found.statuses}")
    return {
        "a second": len(bodies) / found.seconds,
        "p99 ms": found.quantile(0.99),
        "CPU ms, Python": (door.seconds() - before) * each,
        "CPU ms, PostgreSQL": (database_seconds(place) - base) * each,
    }


def signing_takes(key: tickets.Key, times: int = 50) -> float:
    """Return the milliseconds of processor time of one blind signature."""
    exponent = key.d.to_bytes(len(key.modulus) // 2)
    own = tickets.blind(key.modulus, "ab" * 32)
    began = time.process_time()
    for _ in range(times):
        signing.sign(key.modulus, exponent, own.blinded)
    return 1000 * (time.process_time() - began) / times


if __name__ == "__main__":
    main()
