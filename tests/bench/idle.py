"""What the site does by itself when there is nothing to do: milliseconds of the processor, and
queries, of each task (SQLite works in the same process).

    python -m tests.bench.idle [studies rows]

10,000 studies, half of them closed, and 1,000,000 rows of the ledger unless told otherwise. Tasks
have been done before: the copies of the one study that is whole are noted as it was when it was
asked, and the ledger is read to its end.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

from tests.bench.report import save, table
from tests.bench.site import fresh_site

TIMES = 5


def main() -> None:
    studies, rows = map(int, sys.argv[1:] or (10_000, 1_000_000))
    with fresh_site():
        from tests.bench.large import build

        build(studies=studies, asked=3, rows=rows)
        note_all()
        measured = [measure(name, every, task) for name, (every, task) in tasks().items()]
    table(f"Nothing to do: {studies:,} studies, {rows:,} rows of the ledger", measured)
    save(f"idle {studies} {rows}", measured)


def note_all() -> None:
    """Note every Plan as not due, which takes the first look some milliseconds each."""
    from surveys.design.models import LedgerReader, Plan
    from surveys.ledger.models import Head
    from surveys.releases.models import NotDue

    end = Head.objects.get().length
    for name in ("caps", "rules"):
        LedgerReader.objects.create(name=name, position=end)
    plans = Plan.objects.exclude(study__slug="study-0").values_list("pk", "closed_on")
    NotDue.objects.bulk_create(
        NotDue(plan_id=pk, sealed=5, published=0, was_open=day is None, until=None)
        for pk, day in plans
    )


def tasks() -> dict[str, tuple[int, Callable[[], object]]]:
    """Return each task by name, and the seconds after which it is done again."""
    from surveys.aggregation import services as aggregation
    from surveys.design import services as design
    from surveys.intake import services as intake
    from surveys.operations import services as operations
    from surveys.releases import services as releases
    from tests.bench.large import NOW

    def asked() -> None:
        releases.publish_asked(now=NOW)
        releases.step_due(now=NOW)

    return {
        "publish what is due": (10, lambda: releases.publish_due(now=NOW)),
        "publish what was asked for": (10, asked),
        "say that tasks are done": (30, lambda: operations.live(now=NOW, sent=NOW)),
        "close": (60, lambda: design.close_due(now=NOW)),
        "retire": (60, lambda: design.retire_due(now=NOW)),
        "retire whose cap is reached": (60, lambda: releases.retire_spent(now=NOW)),
        "erase open reports": (60, intake.erase_retired),
        "drop empty tables": (60, intake.drop_closed),
        "erase batches and counts": (60, aggregation.erase_retired),
        "erase what series remembered": (60, releases.erase_over),
    }


def measure(name: str, every: int, task: Callable[[], object]) -> dict[str, Any]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    times = []
    for _ in range(TIMES + 1):
        start = time.process_time()
        task()
        times.append(1000 * (time.process_time() - start))
    with CaptureQueriesContext(connection) as captured:
        task()
    first, *others = times
    return {
        "task": name,
        "every, s": every,
        "queries": len(captured),
        "ms": round(min(others), 1),
        "median": round(sorted(others)[len(others) // 2], 1),
        "first time": round(first),
    }


if __name__ == "__main__":
    main()
