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
            cursor.execute(query, [_array(column) for column in zip(*rows, strict=True)])
        else:
            places = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"{named} VALUES ({places}) ON CONFLICT DO NOTHING", rows)
        return int(cursor.rowcount)


def find(tables: Sequence[str], columns: Sequence[str], wanted: Sequence[bytes]) -> list[Any]:
    """Return the rows of these tables whose first column is one of these, none of which is in a
    table twice; of one that is in several tables a row of either.

    PostgreSQL looks for each in the one part that may have it: a list of all would be looked for in
    every part, and the parts read whole as long as they are small.
    """
    server = connection.vendor == "postgresql"
    places = "= wanted.one" if server else f"IN ({', '.join(['%s'] * len(wanted))})"
    each = f"SELECT {', '.join(columns)} FROM {{}} WHERE {columns[0]} {places}"  # noqa: S608
    query = " UNION ALL ".join(map(each.format, tables))
    with values_apart() as cursor:
        if server:
            list_of_all = "SELECT found.* FROM unnest(%s::bytea[]) AS wanted (one)"
            cursor.execute(f"{list_of_all}, LATERAL ({query} LIMIT 1) AS found", [_array(wanted)])
        else:
            cursor.execute(query, [*wanted] * len(tables))
        return list(cursor.fetchall())


def _array(values: Sequence[Any]) -> str:
    """Return an array as PostgreSQL reads it; psycopg escapes by regular expressions."""
    return f"{{{','.join(map(_element, values))}}}"


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


def as_day(stored: datetime.date | str) -> datetime.date:
    """Return a day, which SQLite keeps as text."""
    return datetime.date.fromisoformat(stored) if isinstance(stored, str) else stored
