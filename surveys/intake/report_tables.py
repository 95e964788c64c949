"""Where accepted reports wait for a sweep: on PostgreSQL in a table a Plan, a partition of
`intake_openreport`.

So a sweep holds and empties one Plan's table, and no other Plan's door waits for it. TRUNCATE gives
a table a new file and cuts the old one, with its index and its long values, to nothing when the
sweep commits. What must stay goes back in an order that tells nothing. The table is made by the
first report, and dropped when the Plan has closed and nothing waits. On SQLite there is one table,
and deleted rows are written over with zeros.
"""

import re
from collections.abc import Sequence

from django.db import DatabaseError, IntegrityError, connection, transaction

from surveys.design.models import Plan
from surveys.erasing import hold
from surveys.intake import bulk
from surveys.intake.models import OpenReport

TABLE = "intake_openreport"
COLUMNS = ("plan_id", '"values"', "given")
LISTED = ", ".join(COLUMNS)
NO_PARTITION = "23514"  # check_violation: the only check there is
Row = tuple[int, str, bytes]  # id, values, given


class NoPlace(DatabaseError):
    """The first report of a Plan has come, and there is no table for it yet."""


def put(reports: Sequence[tuple[int, str, bytes]]) -> None:
    """Let reports wait, each with its Plan's id, in this order; or raise NoPlace."""
    try:
        bulk.insert(TABLE, COLUMNS, reports)
    except IntegrityError as error:
        if getattr(error.__cause__, "sqlstate", "") != NO_PARTITION:
            raise
        raise NoPlace from None


@transaction.atomic
def make_place(plan_id: int) -> None:
    """Make a Plan's table, unless another first report has. It keeps no door waiting, and no
    statistics of values.

    ANALYZE writes samples of a column into a catalog, where no sweep erases.
    """
    table = _table(plan_id)
    with connection.cursor() as cursor:
        # which ATTACH takes anyway
        cursor.execute(f"LOCK TABLE ONLY {TABLE} IN SHARE UPDATE EXCLUSIVE MODE")
        if _exists(plan_id):
            return
        cursor.execute(
            f"CREATE TABLE {table} (LIKE {TABLE} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)"
        )
        cursor.execute(
            f"ALTER TABLE {table} ALTER values SET STATISTICS 0, ALTER given SET STATISTICS 0"
        )
        cursor.execute(
            f"ALTER TABLE {TABLE} ATTACH PARTITION {table} FOR VALUES IN ({int(plan_id)})"
        )


def hold_all(plan: Plan) -> int:
    """Return how many reports of a Plan wait; none is added or taken until this transaction
    ends. May raise InUse.
    """
    if connection.vendor == "postgresql":
        if not _exists(plan.pk):
            return 0
        hold(_table(plan.pk))
    return OpenReport.objects.filter(plan=plan).count()


def rows(plan: Plan, limit: int | None = None) -> list[Row]:
    """Return reports that wait: whichever are visible, never from a mark on."""
    reports = (
        OpenReport.objects.filter(plan=plan)
        .order_by("pk")
        .values_list("pk", "values", "given")[:limit]
    )
    return [(pk, values, bytes(given)) for pk, values, given in reports]


def remove(plan: Plan, ids: list[int]) -> int:
    """Take reports out of the files, while they are held; return how many there were."""
    if connection.vendor != "postgresql":
        chunks = (ids[start : start + 500] for start in range(0, len(ids), 500))
        return sum(OpenReport.objects.filter(pk__in=chunk).delete()[0] for chunk in chunks)
    table = _table(plan.pk)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FILTER (WHERE id = ANY(%s)), count(*) FROM {table}", [ids])  # noqa: S608
        swept, waiting = cursor.fetchone() or (0, 0)
        if waiting > swept:  # what stays is set apart, in an order that tells nothing: random
            cursor.execute(
                f"CREATE TEMPORARY TABLE rest ON COMMIT DROP AS SELECT {LISTED} FROM {table} "  # noqa: S608
                "WHERE NOT id = ANY(%s) ORDER BY gen_random_uuid()",
                [ids],
            )
        cursor.execute(f"TRUNCATE {table}")
        if waiting > swept:
            cursor.execute(f"INSERT INTO {TABLE} ({LISTED}) SELECT {LISTED} FROM pg_temp.rest")  # noqa: S608
            cursor.execute("DROP TABLE pg_temp.rest")
    return int(swept)


@transaction.atomic
def empty(plan: Plan) -> int:
    """Erase all reports of a Plan that wait; return how many there were. May raise InUse."""
    waiting = hold_all(plan)
    return remove(plan, [pk for pk, _, _ in rows(plan)]) if waiting else 0


@transaction.atomic
def drop(plan: Plan) -> bool:
    """Drop the table of a Plan that has closed, if nothing waits in it; tell whether it did. May
    raise InUse.
    """
    hold(TABLE, _table(plan.pk))
    if OpenReport.objects.filter(plan=plan).exists():
        return False
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {_table(plan.pk)}")
    return True


def plans_with_a_place() -> list[int]:
    """Return the ids of the Plans that have a table of their own."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass",
            [TABLE],
        )
        return [
            int(found[1]) for (name,) in cursor.fetchall() if (found := re.search(r"_(\d+)$", name))
        ]


def _exists(plan_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [_table(plan_id)])
        return bool((cursor.fetchone() or [False])[0])


def _table(plan_id: int) -> str:
    return f"{TABLE}_{int(plan_id)}"
