"""The door with a log against the door without, in one run on PostgreSQL: reports a second, from the
same posts over the same connections, and how fast one consumer stores what the log has.

    python -m tests.bench.logged [--posts 5000]

The log is librdkafka's own cluster in this process (`tests/brokers.py`): it keeps records in memory,
so a broker's disks and network come on top.
"""

import argparse
import subprocess
import sys
import time
from typing import Any

from tests.bench.door import CONNECTIONS, HOUSE, Place, a_place, post
from tests.bench.report import save, table
from tests.brokers import cluster
from tests.doors import DOOR, served
from tests.patience import became


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=5_000)
    posts = parser.parse_args().posts
    with a_place("postgres") as place, cluster() as servers:
        log = {"REPORTS_LOG": f"kafka://{servers}/reports"}
        rows = [row for _ in range(2) for row in (one(place, {}, posts), one(place, log, posts))]
        rows.append(consumed(place, log, 2 * (posts + 200)))
    table(f"Reports by way of a log, and without; {CONNECTIONS} connections", rows)
    save("logged", rows)


def one(place: Place, more: dict[str, str], posts: int) -> dict[str, Any]:
    with served({**place.site.environment, **more}, place.site.log, *DOOR) as door:
        post(door, place, 200)
        found = post(door, place, posts)
    return {
        "what": "appended (202)" if more else "committed (201)",
        "a second": round(posts / found.seconds),
        "p50 ms": round(found.quantile(0.5), 1),
        "p99 ms": round(found.quantile(0.99), 1),
        "answers": found.statuses,
    }


def consumed(place: Place, log: dict[str, str], reports: int) -> dict[str, Any]:
    before = place.stored()[0]
    command = [sys.executable, "manage.py", "take_from_log"]
    process = subprocess.Popen(command, cwd=HOUSE, env={**place.site.environment, **log})
    became(lambda: place.stored()[0] > before)
    first, began = place.stored()[0], time.perf_counter()
    became(lambda: place.stored()[0] == before + reports)
    seconds, left = time.perf_counter() - began, before + reports - first
    process.terminate()
    process.wait()
    rate = round(left / seconds) if left else 0
    return {
        "what": "stored by one consumer",
        "a second": rate,
        "p50 ms": "",
        "p99 ms": "",
        "answers": place.stored(),
    }


if __name__ == "__main__":
    main()
