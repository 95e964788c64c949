"""Where batches stand on PostgreSQL: today's in `aggregation_batch`, those of earlier days in its
child `aggregation_settledbatch`. A statement on the first reads, changes and deletes rows of both.

A row tells which transaction wrote it, and so when in its day a batch was sealed. Each night moves
those of the day before in one transaction, sorted by Plan and number, and writes the first table
anew with what is left in it: the work is that of one day, whatever was sealed before. SQLite has
one table, whose rows tell nothing of the kind.
"""

import datetime

from django.db import connection, transaction

from surveys.erasing import hold, write_anew

TODAY, EARLIER = "aggregation_batch", "aggregation_settledbatch"


def swept(before: datetime.date) -> set[int]:
    """Return the ids of the Plans whose batches of earlier days no night has moved yet."""
    if connection.vendor != "postgresql":
        return set()
    query = f"SELECT DISTINCT plan_id FROM ONLY {TODAY} WHERE sealed_on < %s"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(query, [before])
        return {plan_id for (plan_id,) in cursor.fetchall()}


@transaction.atomic
def settle(before: datetime.date) -> None:
    """Move batches of earlier days to where they stay; on PostgreSQL. May raise InUse."""
    hold(TODAY)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {EARLIER} SELECT * FROM ONLY {TODAY} WHERE sealed_on < %s "  # noqa: S608
            "ORDER BY plan_id, number",
            [before],
        )
        cursor.execute(f"DELETE FROM ONLY {TODAY} WHERE sealed_on < %s", [before])  # noqa: S608
    write_anew(TODAY)
