"""Many rows in one statement, which goes without what it stores (`surveys/apart.py`)."""

import datetime
from collections.abc import Sequence
from typing import Any

from django.db import connection

from surveys.apart import values_apart

KINDS = {  # of the columns, as PostgreSQL calls them
    "id_digest": "bytea",
    "content_digest": "bytea",
    "plan_id": "bigint",
    "day": "date",
    '"values"': "text",
    "given": "bytea",
    "stratum": "smallint",
}


def insert(table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
    """Insert rows in their order, but for those whose place is taken; return how many."""
    named = f"INSERT INTO {table} ({', '.join(columns)})"
    with values_apart() as cursor:
        if connection.vendor == "postgresql":
            arrays = ", ".join(f"%s::{KINDS[column]}[]" for column in columns)
            query = f"{named} SELECT * FROM unnest({arrays}) ON CONFLICT DO NOTHING"  # noqa: S608
            cursor.execute(query, [list(column) for column in zip(*rows, strict=True)])
        else:
            places = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"{named} VALUES ({places}) ON CONFLICT DO NOTHING", rows)
        return int(cursor.rowcount)


def find(query: str, wanted: Sequence[bytes]) -> list[Any]:
    """Return the rows of a query in which `IN wanted` stands for one of these, wherever it does."""
    times = query.count("IN wanted")
    with values_apart() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(query.replace("IN wanted", "= ANY(%s::bytea[])"), [list(wanted)] * times)
        else:
            places = f"IN ({', '.join(['%s'] * len(wanted))})"
            cursor.execute(query.replace("IN wanted", places), [*wanted] * times)
        return list(cursor.fetchall())


def as_day(stored: datetime.date | str) -> datetime.date:
    """Return a day, which SQLite keeps as text."""
    return datetime.date.fromisoformat(stored) if isinstance(stored, str) else stored
