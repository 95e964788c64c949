"""Where accepted reports wait for a sweep: on PostgreSQL in a table a Plan, a partition of
`intake_openreport`.

So a sweep holds and empties one Plan's table, and no other Plan's door waits for it. TRUNCATE gives
a table a new file and cuts the old one, with its index and its long values too, to nothing when the
sweep commits. The table is made as a wave opens, or by its first report, and dropped when the Plan
has closed and nothing waits. On SQLite there is one table, and deleted rows are written over with
zeros.

Triggers mark a Plan as news when a report comes or it closes (`intake_news`), whoever writes it, so
that a sweep is told where to look, and asks neither all Plans nor all tables. A mark is a row of
its own, never one that others wait for or that is there already: it comes to be with its report,
and who takes marks away looks after that.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter

from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import F

from surveys.design.models import Plan
from surveys.erasing import hold
from surveys.intake import bulk
from surveys.intake.models import News, OpenReport, Unswept

TABLE = "intake_openreport"
COLUMNS = ("plan_id", '"values"', "given", "stratum")
NO_PARTITION = "23514"  # check_violation: the only check there is
Row = tuple[str, bytes, int | None]  # values, given, stratum


class NoPlace(DatabaseError):
    """The first report of a Plan has come, and there is no table for it yet."""


def put(reports: Sequence[tuple[int, str, bytes, int | None]]) -> None:
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


def waiting(plan_id: int, most: int | None = None) -> int:
    """Return how many reports of a Plan wait; no more than `most` are counted."""
    if not _exists(plan_id):
        return 0
    limit = "" if most is None else f"LIMIT {int(most)}"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {_table(plan_id)} WHERE plan_id = %s {limit}) w",  # noqa: S608
            [plan_id],
        )
        return int((cursor.fetchone() or [0])[0])


def size(plan_id: int) -> int:
    """Return how many bytes the reports of a Plan that wait take."""
    query = (
        f"SELECT pg_total_relation_size(to_regclass('{_table(plan_id)}'))"
        if connection.vendor == "postgresql"
        else f'SELECT sum(length("values") + length(given)) FROM {TABLE} WHERE plan_id={plan_id:d}'  # noqa: S608
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        (found,) = cursor.fetchone() or (0,)
        return int(found or 0)


def accepted(plan_id: int) -> dict[int, int]:
    """Return how many reports of each stratum of a Plan were accepted, waiting or taken by a sweep,
    where these are noted; one statement, so that none is counted twice. 0 where there is none.
    """
    waiting = (
        f"SELECT stratum, count(*) AS reports FROM {_table(plan_id)} WHERE plan_id = {plan_id:d} "  # noqa: S608
        "GROUP BY stratum UNION ALL "
        if _exists(plan_id)
        else ""
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COALESCE(stratum, 0), sum(reports) FROM "  # noqa: S608
            f"({waiting}SELECT stratum, reports FROM intake_sealed WHERE plan_id = {plan_id:d}) c "
            "GROUP BY COALESCE(stratum, 0)"
        )
        return {stratum: int(reports) for stratum, reports in cursor.fetchall()}


def waiting_of_strata(plan_id: int) -> dict[int | None, int]:
    """Return how many reports of each stratum of a Plan wait; None where it has none."""
    if not _exists(plan_id):
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT stratum, count(*) FROM {_table(plan_id)} WHERE plan_id = %s GROUP BY stratum",  # noqa: S608
            [plan_id],
        )
        return dict(cursor.fetchall())


def taken(plan: Plan, *, least: int, smallest: int, most: int, portion: int) -> Iterator[list[Row]]:
    """Take reports out of the files, `most` at a time; the last with those who would be fewer than
    `smallest` after them. None if fewer than `least` wait. May raise InUse.

    PostgreSQL: all that wait, in this transaction. They are deleted as they are read, so that doors
    go on meanwhile and what comes late is found; doors wait while the last are taken and the file
    is cut. Where a `portion` was taken and `most` and `smallest` still wait, those are left to the
    next transaction, and so is the cut. SQLite: `most` once, because one lock is for all. A mark
    says that more wait.
    """
    edge, last, server = most + smallest, 0, connection.vendor == "postgresql"
    ids = _first(plan, last, edge)
    if len(ids) < least:
        return
    if server and len(ids) == edge:
        _is_free(plan)
    is_held, taken = not server, 0
    while ids:
        if len(ids) < edge and not is_held:
            hold(_table(plan.pk))
            is_held, last, ids = True, 0, _first(plan, 0, edge)  # those too that came late
            continue
        size = len(ids) if len(ids) < edge else most
        yield _take(plan, last, ids[size - 1])
        taken += size
        last, ids = ids[size - 1], _first(plan, ids[size - 1], edge)
        if not server or (taken >= portion and len(ids) == edge):
            if ids:
                mark(plan.pk)
            return
    _cut(plan)


def _is_free(plan: Plan) -> None:
    """Raise InUse if a Plan's table cannot be held alone, by a backup say, which would make a long
    sweep vain; else let go of it at once.
    """
    with transaction.atomic():
        hold(_table(plan.pk))
        transaction.set_rollback(True)


def _first(plan: Plan, last: int, most: int) -> list[int]:
    """Return the first ids after one, `most` of them."""
    if not _exists(plan.pk):
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id FROM {_table(plan.pk)} WHERE plan_id = %s AND id > %s ORDER BY id LIMIT %s",  # noqa: S608
            [plan.pk, last, most],
        )
        return [pk for (pk,) in cursor.fetchall()]


def _take(plan: Plan, last: int, end: int) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM {_table(plan.pk)} WHERE plan_id = %s AND id > %s AND id <= %s "  # noqa: S608
            'RETURNING "values", given, stratum',
            [plan.pk, last, end],
        )
        return [(values, bytes(given), stratum) for values, given, stratum in cursor.fetchall()]


def _cut(plan: Plan) -> None:
    """Cut a table, which is held alone and of which all was taken, to nothing."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {_table(plan.pk)}")  # noqa: S608
        ((left,),) = cursor.fetchall()
        if left:
            raise RuntimeError(f"expected to cut a table of which all was taken, found {left} left")
        cursor.execute(f"TRUNCATE {_table(plan.pk)}")


@transaction.atomic
def empty(plan: Plan) -> int:
    """Erase all reports of a Plan that wait; return how many there were, which is kept. May raise
    InUse.
    """
    erased = _erase_all(plan)
    if erased:
        Unswept.objects.get_or_create(plan=plan)
        Unswept.objects.filter(plan=plan).update(reports=F("reports") + erased)
    return erased


@transaction.atomic
def write_anew(plan: Plan, anew: Callable[[Row], Row]) -> None:
    """Write all reports of a Plan that wait anew, in the order of what they hold, which tells
    nothing more. May raise InUse.
    """
    if connection.vendor == "postgresql" and _exists(plan.pk):
        hold(_table(plan.pk))
    stored = OpenReport.objects.filter(plan=plan).values_list("values", "given", "stratum")
    rows = [anew((values, bytes(given), stratum)) for values, given, stratum in stored]
    _erase_all(plan)
    rows.sort(key=itemgetter(1, 0))
    if rows:
        put([(plan.pk, *row) for row in rows])


def _erase_all(plan: Plan) -> int:
    if not _exists(plan.pk):
        return 0
    if connection.vendor != "postgresql":
        return OpenReport.objects.filter(plan=plan).delete()[0]
    hold(_table(plan.pk))
    number = waiting(plan.pk)
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {_table(plan.pk)}")
    return number


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


def plans_that_may_wait() -> list[int]:
    """Return the ids of the Plans of which reports can wait: on PostgreSQL, those with a table."""
    if connection.vendor != "postgresql":
        return list(OpenReport.objects.order_by().values_list("plan_id", flat=True).distinct())
    return plans_with_a_place()


def plans_with_a_place() -> list[int]:
    """Return the ids of the Plans that have a table of their own."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
            "WHERE inhparent = %s::regclass",
            [TABLE],
        )
        return [
            int(found[1]) for (name,) in cursor.fetchall() if (found := re.search(r"_(\d+)$", name))
        ]


def mark(plan_id: int) -> None:
    """Say that a sweep has to look at a Plan, as triggers do for each report and each closing."""
    News.objects.create(plan_id=plan_id)


def marked() -> list[int]:
    """Return the ids of the Plans that a sweep has to look at, in an order of chance, so that none
    always comes last.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT plan_id FROM intake_news GROUP BY plan_id ORDER BY random()")
        return [plan_id for (plan_id,) in cursor.fetchall()]


def unmark(plan: Plan) -> None:
    """Take a Plan's marks away, before it is looked at: one that comes later stays."""
    News.objects.filter(plan_id=plan.pk).delete()


def _exists(plan_id: int) -> bool:
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [_table(plan_id)])
        return bool((cursor.fetchone() or [False])[0])


def _table(plan_id: int) -> str:
    return f"{TABLE}_{int(plan_id)}" if connection.vendor == "postgresql" else TABLE
