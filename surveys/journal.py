"""The journal of a SQLite database: what was deleted from the file stands there in full until it is written over."""

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper


def empty_journal() -> None:
    """Empty it once what was erased is committed. PostgreSQL has its own housekeeping (autovacuum, recycled WAL)."""
    if connection.vendor == "sqlite":
        transaction.on_commit(lambda: cut(connection))


def cut(database: BaseDatabaseWrapper) -> None:
    """Move the journal into the file, where `secure_delete` has written zeros over what is gone, and cut it to nothing.

    It waits for readers as long as any writer does; if they stay, the journal goes with the next one that finds none.
    """
    with database.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
