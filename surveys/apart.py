"""Statements that go without what they store or look for: PostgreSQL writes statements that fail,
or that are slow, into its own log, beside the time.
"""

from typing import Any, cast

from django.db import connection


def values_apart() -> Any:
    """Return a cursor that sends values beside a statement, not in it."""
    if connection.vendor != "postgresql":
        return connection.cursor()
    from django.db.backends.postgresql import base

    database, kind = cast(Any, connection), cast(Any, base.ServerBindingCursor)
    database.ensure_connection()
    return database.make_cursor(kind(database.connection))
