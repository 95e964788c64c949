"""What sweeps, nights and doors cost on PostgreSQL, and how it grows.

Reports are the same few hundred messages of a study of three questions, written by SQL: what is
measured begins where a door has done its work. Memory is the most that this process had, beside
what it had before. CPU is that of this process and of its part of the server, which tells more than
seconds on a busy machine. Growth is the exponent of it between the smallest and the largest size.

    python -m tests.bench.sweep            # a machine that others use too
    python -m tests.bench.sweep --full     # the sizes of the promise: 10⁶ reports, 1,000 studies
    python -m tests.bench.sweep 10000000   # one study of so many, and as many receipts
"""

import datetime
import json
import math
import os
import resource
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.report import save, table
from tests.services import postgres

FULL = "--full" in sys.argv
ONE = next((int(given) for given in sys.argv[1:] if given.isdigit()), 0)  # study's reports
SIZES = (10_000, 100_000, 1_000_000) if FULL else (10_000, 31_623, 100_000)
REPORTS = (ONE // 10, ONE) if ONE else SIZES  # of one study
STUDIES, EACH = (10, 100, 1000) if FULL else (5, 15, 50), 500
STANDING = (2000, 10_000) if FULL else (100, 1000, 10_000)  # studies
PLACES = 10_000 if FULL else 1000  # of them, at most, have reports that wait
RECEIPTS = ONE or (1_000_000 if FULL else 200_000)
TODAY = datetime.date(2026, 5, 11)
GROUP, GROUPS, DOORS = 100, 100, 4  # reports of a group, groups of a door, doors


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder, postgres() as url:
        os.environ.update(
            CANDOR_DATA=folder, DATABASE_URL=url, DJANGO_SETTINGS_MODULE="surveys.settings"
        )
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        plan = opened()
        show("sweep_one", "A backlog of one study, swept", one_study(plan))
        show("sweep_night", "A night, while a door goes on", [night(plan)])
        if ONE:
            return
        show("sweep_many", f"{EACH} reports in each of many studies, swept", many_studies(plan))
        show("sweep_idle", "Studies of which three reports wait, and nothing to do", idle(plan))
        show("sweep_lanes", f"{DOORS} doors, groups of {GROUP}", lanes(plan))


def show(name: str, title: str, rows: list[dict[str, Any]]) -> None:
    table(title, rows)
    save(name, rows)


def opened() -> Any:
    from surveys.design import services as design
    from tests.conftest import NOW, QUESTIONS, STUDY

    study = design.draft_study(study=STUDY, questions=QUESTIONS)
    return design.open_study(why="A bench.", study_id=study.pk, who="ada", now=NOW)


def sql(query: str, *values: Any) -> list[Any]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall() if cursor.description else []


def fill(plan_ids: list[int], plan: Any, reports: int) -> None:
    """Let so many reports of each Plan wait."""
    from surveys.intake import report_tables

    people = ({"copied": i % 2, "fair": i % 5, "often": i % 4} for i in range(300))
    sent = (plan.content.randomised(person) for person in people)
    messages = [json.dumps(list(each.values()), separators=(",", ":")) for each in sent]
    for plan_id in plan_ids:
        report_tables.make_place(plan_id)
        sql(
            'INSERT INTO intake_openreport (plan_id, "values", given) '
            "SELECT %s, (%s::text[])[1 + n %% 300], '' FROM generate_series(1, %s) AS n",
            plan_id,
            messages,
            reports,
        )


def cloned(plan: Any, number: int) -> list[int]:
    """Return the ids of so many more studies with the same Plan, written by SQL."""
    for name, own in (("study", "slug"), ("plan", "digest")):
        columns = [
            column
            for (column,) in sql(
                "SELECT column_name FROM information_schema.columns WHERE table_name = %s "
                "AND column_name <> 'id' ORDER BY ordinal_position",
                f"design_{name}",
            )
        ]
        taken = {own: "md5(n::text || clock_timestamp()::text || random()::text)"}
        if name == "study":
            taken["budget_id"] = "NULL"
        else:
            taken["study_id"] = f"currval('design_study_id_seq') - {number} + n"
        chosen = ", ".join(taken.get(column, f'old."{column}"') for column in columns)
        sql(
            f"INSERT INTO design_{name} ({', '.join(columns)}) SELECT {chosen} "  # noqa: S608
            f"FROM design_{name} AS old, generate_series(1, %s) AS n WHERE old.id = %s",
            number,
            plan.study_id if name == "study" else plan.pk,
        )
    return [pk for (pk,) in sql("SELECT id FROM design_plan ORDER BY id DESC LIMIT %s", number)]


def swept(wanted: int = 0) -> tuple[float, float, int, int]:
    """Return seconds, those of CPU, reports and queries of a sweep of all that has news, or of so many
    reports: where a table is in use, by the server's own vacuum say, a sweep waits for the next one.
    """
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from surveys.aggregation import services

    connection.queries_log = deque(maxlen=100_000)
    with CaptureQueriesContext(connection) as queries:
        begun, own, reports = time.perf_counter(), cpu(), 0
        while (more := services.sweep_all(today=TODAY)) or reports < wanted:  # a portion at a time
            reports += more
            time.sleep(0 if more else 1)
        return time.perf_counter() - begun, cpu() - own, reports, len(queries)


def cpu() -> float:
    """Return the seconds of CPU that this process and its part of the server have used."""
    ((pid,),) = sql("SELECT pg_backend_pid()")
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def one_study(plan: Any) -> list[dict[str, Any]]:
    rows = []
    for reports in REPORTS:
        fill([plan.pk], plan, reports)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        seconds, own, sealed, queries = swept(reports)
        if sealed != reports:
            raise AssertionError(f"{sealed} of {reports} were sealed")
        more = grown(before)
        ((size,),) = sql("SELECT sum(pg_column_size(columns)) FROM aggregation_batch")
        ((all_sealed,),) = sql("SELECT sum(size) FROM aggregation_batch")
        rows.append(
            {
                "reports": reports,
                "seconds": seconds,
                "reports/s": round(reports / seconds),
                "CPU, s": own,
                "CPU, µs a report": 1e6 * own / reports,
                "queries": queries,
                "more memory, MB": more,
                "bytes a report in batches": float(size) / float(all_sealed),
                "recount, s": recounted(plan),
                "cross-table, s": crossed(plan),
                "more memory with both, MB": grown(before),
            }
        )
    rows[-1]["CPU grows with"] = exponent(rows, "reports")
    return [{**row, "CPU grows with": row.get("CPU grows with", "")} for row in rows]


def recounted(plan: Any) -> float:
    from surveys.aggregation import selectors

    begun = time.perf_counter()
    found = selectors.recount(plan, selectors.sealed(plan), plan.content.reports)
    if found != selectors.totals(plan):
        raise AssertionError("a recount differs from the tally")
    return time.perf_counter() - begun


def crossed(plan: Any) -> float:
    """Count the pairs of answers of two questions."""
    from surveys.aggregation import selectors

    begun = time.perf_counter()
    found = selectors.joint(plan, ["copied", "fair"])
    if found.total() != selectors.sealed_reports(plan):
        raise AssertionError("a table of two questions misses reports")
    return time.perf_counter() - begun


def grown(before: int) -> float:
    """Return how many MB more this process had at most than before (kB)."""
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def many_studies(plan: Any) -> list[dict[str, Any]]:
    rows = []
    for studies in STUDIES:
        fill(cloned(plan, studies), plan, EACH)
        seconds, own, sealed, queries = swept()
        if sealed != studies * EACH:
            raise AssertionError(f"{sealed} of {studies * EACH} were sealed")
        rows.append(
            {
                "studies": studies,
                "seconds": seconds,
                "reports/s": round(sealed / seconds),
                "CPU, s": own,
                "CPU, ms a study": 1000 * own / studies,
                "queries a study": queries / studies,
            }
        )
    rows[-1]["CPU grows with"] = exponent(rows, "studies")
    return [{**row, "CPU grows with": row.get("CPU grows with", "")} for row in rows]


def exponent(rows: list[dict[str, Any]], size: str) -> float:
    first, last = rows[0], rows[-1]
    return math.log(last["CPU, s"] / first["CPU, s"]) / math.log(last[size] / first[size])


def idle(plan: Any) -> list[dict[str, Any]]:
    from surveys.aggregation import tasks
    from surveys.intake import selectors as intake

    rows = []
    for studies in STANDING:
        ((there,),) = sql("SELECT count(*) FROM design_plan")
        fill(cloned(plan, studies - there)[: max(PLACES - there, 0)], plan, 3)
        swept()
        row = {
            "studies": studies,
            "with a place": min(studies, PLACES),
            "our task, ms": 1000 * fastest(tasks.sweep_all),
        }
        row["counting all, ms"] = 1000 * fastest(intake.open_counts, 1)
        rows.append(row)
    if rows[-1]["our task, ms"] > 50:
        raise AssertionError("a sweep that finds nothing takes more than 50 ms")
    return rows


def fastest(act: Callable[[], Any], rounds: int = 5) -> float:
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def night(plan: Any) -> dict[str, Any]:
    """Settle a day's receipts; tell how long the slowest report of a door took meanwhile."""
    from surveys.intake import services

    give = (
        "INSERT INTO intake_receipt (id_digest, content_digest, plan_id, day) "
        "SELECT sha256((n || %s)::text::bytea), sha256(n::text::bytea), %s, %s "
        "FROM generate_series(1, %s) AS n ON CONFLICT (id_digest) DO NOTHING"
    )
    sql(give, "night", plan.pk, TODAY, RECEIPTS)
    ended, slow = threading.Event(), [0.0]

    def door() -> None:
        with connected() as own:
            number = 0
            while not ended.is_set():
                begun, number = time.perf_counter(), number + 1
                own.execute(give, (f"door {number}", plan.pk, TODAY + DAY, 10))
                slow[0] = max(slow[0], time.perf_counter() - begun)

    beside = threading.Thread(target=door)
    beside.start()
    begun = time.perf_counter()
    moved = services.settle(today=TODAY + DAY)
    seconds = time.perf_counter() - begun
    ended.set()
    beside.join()
    if moved != RECEIPTS:
        raise AssertionError(f"{moved} of {RECEIPTS} receipts were moved")
    size = "sum(pg_{}(inhrelid)) FROM pg_inherits WHERE inhparent = 'intake_settled'::regclass"
    heap, index = (
        int(sql(f"SELECT {size.format(of)}")[0][0]) for of in ("table_size", "indexes_size")
    )
    return {
        "receipts": RECEIPTS,
        "seconds": seconds,
        "slowest group of a door, s": slow[0],
        "bytes a receipt": (heap + index) / RECEIPTS,
        "of them index": index / RECEIPTS,
    }


DAY = datetime.timedelta(days=1)


def connected() -> Any:
    import psycopg
    from django.db import connection

    chosen = connection.settings_dict
    return psycopg.connect(
        host=chosen["HOST"], user=chosen["USER"], dbname=chosen["NAME"], autocommit=True
    )


def lanes(plan: Any) -> list[dict[str, Any]]:
    """Compare ways to store the same groups: where reports wait, and where receipts stand."""
    reports = (
        'INSERT INTO {} (plan_id, "values", given) '
        "SELECT %s, repeat('x', 60), '' FROM generate_series(1, %s) AS n"
    )
    receipts = (
        "INSERT INTO {} (id_digest, content_digest, plan_id, day) "
        "SELECT sha256(gen_random_uuid()::text::bytea), sha256('x'), %s, '2026-05-12' "
        "FROM generate_series(1, %s) AS n ORDER BY 1 ON CONFLICT (id_digest) DO NOTHING"
    )
    (plan_id,) = cloned(plan, 1)
    fill([plan_id], plan, 0)
    like = "(LIKE intake_openreport INCLUDING DEFAULTS"
    sql(f"CREATE TABLE bare {like} INCLUDING INDEXES)")
    sql(f"CREATE TABLE laned {like}, lane int DEFAULT random() * 3) PARTITION BY LIST (lane)")
    for lane in range(4):
        sql(f"CREATE TABLE laned_{lane} PARTITION OF laned FOR VALUES IN ({lane})")
        sql(f"ALTER TABLE laned_{lane} ADD PRIMARY KEY (plan_id, id)")
    sql("CREATE TABLE whole (LIKE intake_receipt, PRIMARY KEY (id_digest))")
    ways = {
        "reports, as they wait": (reports, "intake_openreport"),
        "reports, no marks and one table": (reports, "bare"),
        "reports, no marks and four lanes": (reports, "laned"),
        "receipts, in 16 parts": (receipts, "intake_receipt"),
        "receipts, in one table": (receipts, "whole"),
    }
    rates = {way: [] for way in ways}
    for _ in range(3):
        for way, (query, name) in ways.items():
            rates[way].append(DOORS * GROUPS * GROUP / stored(query.format(name), plan_id))
    return [{"way": way, "rows/s, the best of three": round(max(rates[way]))} for way in ways]


def stored(query: str, plan_id: int) -> float:
    """Return how many seconds doors take to store their groups side by side."""

    def door() -> None:
        with connected() as own:
            for _ in range(GROUPS):
                own.execute(query, (plan_id, GROUP))

    doors = [threading.Thread(target=door) for _ in range(DOORS)]
    begun = time.perf_counter()
    for one in doors:
        one.start()
    for one in doors:
        one.join()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
