"""Tables that keep no order: each night they are written anew, in the order of random numbers.

So the place of a row, the transaction that wrote it and the shape of an index tell what its random
number does, which is nothing. What came today stands in the order in which it came until then.
"""

import datetime

from django.db import connection, transaction

from surveys.erasing import empty_journal, hold
from surveys.issuer.models import Settling

TABLES = {
    "issuer_code": "digest",
    "issuer_invitation": "reference",
    "issuer_mark": "invitation_id",
}  # and what each is put in order by


def settle(today: datetime.date) -> bool:
    """Put all tables in order, once a day; tell whether they were. May raise InUse: then some are,
    and the next try begins again.
    """
    if Settling.objects.filter(day=today).exists():
        return False  # a later day was noted by a clock that has been set right since
    for table, column in TABLES.items():
        _put_in_order(table, column)
    Settling.objects.update_or_create(pk=1, defaults={"day": today})
    return True


@transaction.atomic
def _put_in_order(table: str, column: str) -> None:
    hold(table)
    empty = "TRUNCATE" if connection.vendor == "postgresql" else "DELETE FROM"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE in_order AS SELECT * FROM {table}")  # noqa: S608
        if table == "issuer_mark":
            cursor.execute("UPDATE in_order SET is_settled = TRUE")
        cursor.execute(f"{empty} {table}")
        cursor.execute(f"INSERT INTO {table} SELECT * FROM in_order ORDER BY {column}")  # noqa: S608
        cursor.execute("DROP TABLE in_order")
    empty_journal()


def hold_marks(*, alone: bool) -> None:
    """Keep marks from being put in order until this transaction ends; and from being made, if held
    alone. On SQLite each transaction that writes is alone.
    """
    if connection.vendor == "postgresql":
        mode = "SHARE ROW EXCLUSIVE" if alone else "ROW EXCLUSIVE"
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE issuer_mark IN {mode} MODE")
