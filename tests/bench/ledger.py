"""What a long ledger costs: a charge, the registry's pages, the ledger's documents and a check of
it, at 10,000 and 100,000 rows and more, on PostgreSQL, and how each grows with the rows.

Rows have the digests that services give them, and are put in together: a tenth are of one panel,
the others of 1,000 studies. Times are the least of some tries in one process, those of checks
the processor's; a check's memory is what it adds to the process's peak, each check in a process of
its own.

    python -m tests.bench.ledger [rows ...]      10000 100000
    python -m tests.bench.ledger here <rows> <more rows>   on the database of the environment
"""

import datetime
import itertools
import json
import math
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.bench import report

SIZES = (10_000, 100_000)
STUDIES, EVERY = 1_000, 10  # of so many rows one is the panel's
PAGES = (
    "/registry/",
    "/registry/small/",
    "/registry/ledger/index.json",
    "/registry/ledger/1.json",
    "/ledger/",
)
BEGAN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def measure_here(sizes: list[int]) -> list[dict[str, Any]]:
    """Let the ledger of this process's database grow from size to size, and measure at each."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    budgets = opened()
    found = []
    for size in sizes:
        began = time.perf_counter()
        grow(budgets, size)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        found.append({"rows": size, "building, s": time.perf_counter() - began, **measured()})
    return found


def opened() -> list[Any]:
    """Open a study that has a page, a panel's budget and those of many studies."""
    from tests.surveys.ledger.small import open_budget
    from tests.surveys.results import kinds

    kinds.unpublished()
    names = ["panel:big", *(f"study:made-{number}" for number in range(STUDIES))]
    return [open_budget(name, epsilon=900) for name in names]


def grow(budgets: list[Any], size: int) -> None:
    """Put charges in until there are so many rows, each with its digest, and count them."""
    from django.db import connection, transaction

    from surveys.ledger import chain
    from surveys.ledger.fields import moment_of
    from surveys.ledger.models import Head, Total
    from surveys.ledger.totals import Running

    head = Head.objects.get()
    made = {total.budget_id: Running.of(total.columns) for total in Total.objects.all()}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # no triggers
        columns = ", ".join(chain.COLUMNS)
        with cursor.cursor.copy(f"COPY ledger_entry ({columns}) FROM STDIN") as copy:
            for row in made_rows(budgets, made, head, size):
                copy.write_row([row[name] for name in chain.COLUMNS])
        for budget_id, running in made.items():
            values = {**running.columns, "first_at": moment_of(running.first_at)}
            Total.objects.update_or_create(budget_id=budget_id, defaults=values)
        cursor.execute(
            "UPDATE ledger_head SET length = %s, digest = %s", [head.length, head.digest]
        )


def made_rows(
    budgets: list[Any], made: dict[int, Any], head: Any, size: int
) -> Iterator[dict[str, Any]]:
    """Yield the columns of charges that follow the end of the chain, and move it."""
    from surveys.ledger import chain
    from surveys.ledger.fields import MomentField
    from surveys.ledger.totals import Running

    at = MomentField().get_prep_value(BEGAN)
    empty = dict.fromkeys(("what", "old", "new", "why", "part"), "")
    studies = itertools.cycle(budgets[1:])
    for position in range(head.length + 1, size + 1):
        budget = budgets[0] if position % EVERY == 0 else next(studies)
        running = made.setdefault(budget.pk, Running())
        row = {
            **empty,
            "position": position,
            "kind": "charge",
            "budget_id": budget.pk,
            "number": max(running.number, 1) + 1,
            "epsilon": 1000,
            "rho": 1,
            "delta": 0,
            "statistic": f"{position:064x}",
            "reason": "shares",
            "reads": None,
            "mechanism": "discrete Laplace",
            "sensitivity": "1 answer",
            "who": "ada",
            "published": f"{position:064x}",
            "at": at + 20_000_000 * position,
            "previous": head.digest,
        }
        row["digest"] = chain.digest_of(chain.document(row, budget.name))
        running.add(row, counts_answers=False)
        head.length, head.digest = position, row["digest"]
        yield row


def measured() -> dict[str, Any]:
    return {**charges(), **pages(), **whole(), **checks()}


def charges() -> dict[str, float]:
    from surveys.ledger.models import Budget
    from tests.surveys.ledger.small import pay, pure

    found, number = {}, itertools.count(time.time_ns())
    for name in ("panel:big", "study:made-7"):
        budget = Budget.objects.get(name=name)

        def charge(budget: Budget = budget) -> None:
            pay(budget, pure("0.000001"), statistic=f"{next(number):064x}")

        found[f"a charge to {name}, ms"] = least(charge, 30)
    return found


def pages() -> dict[str, float]:
    from django.test import Client

    client = Client(headers={"host": "localhost"})

    def ask(address: str) -> None:
        answer = client.get(address)
        if answer.status_code != 200:
            raise ValueError(f"{address}: expected 200, got {answer.status_code}")

    return {f"{each}, ms": least(lambda each=each: ask(each), 8) for each in PAGES}


def whole() -> dict[str, float]:
    """Read the whole ledger as a stranger does."""
    from django.test import Client

    began = time.perf_counter()
    parts = iter(Client(headers={"host": "localhost"}).get("/registry/ledger.json"))
    size = len(next(parts))
    first = time.perf_counter() - began
    size += sum(map(len, parts))
    return {
        "ledger.json, first byte, ms": 1000 * first,
        "ledger.json, s": time.perf_counter() - began,
        "ledger.json, MB": size / 1e6,
    }


def checks() -> dict[str, float]:
    """Check all rows, in a process of its own."""
    from surveys.ledger.models import Head
    from surveys.ledger.services import faults

    rows = Head.objects.get().length
    seconds, megabytes = apart(lambda: expect_none(faults()))
    return {"a check, rows a second of the processor": rows / seconds, "a check, MB": megabytes}


def expect_none(faults: list[Any]) -> None:
    if faults:
        raise ValueError(f"expected a ledger that holds, got {faults[:3]}")


def apart(task: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds of the processor that a task takes in a process of its own, and by how
    many MB its peak grows.
    """
    from django.db import connections

    def run(said: Any) -> None:
        connections.close_all()
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        task()
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        said.put((time.process_time() - began, (after - before) / 1024))

    connections.close_all()
    context = multiprocessing.get_context("fork")
    said = context.Queue()
    process = context.Process(target=run, args=(said,))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"expected a check to end with 0, got {process.exitcode}")
    seconds, megabytes = said.get()
    return float(seconds), float(megabytes)


def least(task: Callable[[], None], tries: int) -> float:
    """Return the least milliseconds of some tries, of which the first warms up."""
    times = []
    for _ in range(tries + 1):
        began = time.perf_counter()
        task()
        times.append(1000 * (time.perf_counter() - began))
    return min(times[1:])


def exponent(one: dict[str, Any], other: dict[str, Any], name: str) -> str:
    """Return by which power of the rows a figure grows."""
    rows = math.log(other["rows"] / one["rows"])
    return f"{math.log(max(other[name], 1e-3) / max(one[name], 1e-3)) / rows:.2f}"


def main(sizes: list[int]) -> None:
    from tests.services import postgres

    with tempfile.TemporaryDirectory(prefix="candor-") as folder, postgres() as url:
        command = [sys.executable, "-m", "tests.bench.ledger", "here", *map(str, sizes)]
        place = {"CANDOR_DATA": folder, "DATABASE_URL": url, "CANDOR_HOSTS": "localhost"}
        settings = {**os.environ, "DJANGO_SETTINGS_MODULE": "surveys.settings", **place}
        done = subprocess.run(command, env=settings, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    rows = [
        {
            "": name,
            **{f"{one['rows']:,} rows": f"{one[name]:.4g}" for one in found},
            "exponent": exponent(found[0], found[-1], name),
        }
        for name in found[0]
        if name != "rows"
    ]
    report.table("A long ledger, PostgreSQL", rows)
    report.save("ledger", found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["here"]:
        print(json.dumps(measure_here([int(size) for size in sys.argv[2:]])))
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
