"""What is erased leaves the files of the database, not only its tables.

SQLite      writes zeros over what is deleted (`secure_delete`); its journal holds the row in full
            until it is cut.
PostgreSQL  keeps a deleted or changed row in the table's file, in the order in which it came, until
            something is written over it. So the table is written anew, in the transaction that
            erases: what stays goes to a new file; the old one, its index and its long values too,
            is cut to nothing when that transaction commits. Not by VACUUM FULL: it is no part of a
            transaction, and keeps what an older transaction could still see.
Both        hold it in copies that no table knows of: docs/promises.md names them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

PATIENCE = "500ms"  # for who reads a table; everybody who comes later waits behind us
NOT_FREE = "55P03"  # lock_not_available


class InUse(Exception):
    """Somebody, a backup say, reads what must be held alone. Nothing was done; a later try finds
    it free.
    """


@contextmanager
def erasing(**columns: str) -> Iterator[None]:
    """Hold tables alone while rows are deleted or changed, then write what stays into new files, or
    do nothing at all.

    Give each table with one of its columns that no trigger is bound to: changing that column's
    type, to what it is, is how PostgreSQL is told to write a table anew without asking its
    triggers.
    """
    with transaction.atomic():
        hold(*columns, whole=True)
        yield
        if connection.vendor == "postgresql":
            for table, column in columns.items():
                _rewrite(table, column)
        empty_journal()


def hold(*tables: str, whole: bool = False) -> None:
    """Hold tables alone until this transaction ends, with their parts and children if `whole`, or
    raise InUse. On SQLite it does, from its beginning.
    """
    if connection.vendor != "postgresql":
        return
    only = "" if whole else "ONLY "
    names = ", ".join(only + connection.ops.quote_name(table) for table in tables)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
            cursor.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
            cursor.execute("SET LOCAL lock_timeout = DEFAULT")
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != NOT_FREE:
            raise
        raise InUse(
            f"{', '.join(tables)}: expected free within {PATIENCE}, got another transaction there"
        ) from None


def _rewrite(table: str, column: str) -> None:
    named, kept = connection.ops.quote_name(table), connection.ops.quote_name(column)
    with connection.cursor() as cursor:
        cursor.execute(
            "SET CONSTRAINTS ALL IMMEDIATE"
        )  # a check that waits for the commit would forbid the change
        query = (
            "SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = %s::regclass AND "
            "attname = %s"
        )
        cursor.execute(query, [table, column])
        (kind,) = cursor.fetchone() or [""]
        cursor.execute(
            f"ALTER TABLE {named} ALTER {kept} TYPE {kind} USING COALESCE({kept}, {kept})"
        )


def write_anew(table: str) -> None:
    """Write a table that is held alone anew, without asking its triggers; on PostgreSQL.

    Of a part of a table no column's type can be changed; that it is logged can, there and back.
    """
    named = connection.ops.quote_name(table)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE {named} SET UNLOGGED")
        cursor.execute(f"ALTER TABLE {named} SET LOGGED")


def empty_journal() -> None:
    """Empty SQLite's journal once what was erased is committed."""
    if connection.vendor == "sqlite":
        transaction.on_commit(lambda: checkpoint(connection))


def checkpoint(database: BaseDatabaseWrapper) -> bool:
    """Move the journal into the file, where `secure_delete` has written zeros over what is gone,
    and cut it to nothing.

    It waits for readers as long as any writer does. Tell whether they left: if not, it is tried
    again every minute.
    """
    with database.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (is_read, *_) = cursor.fetchone() or (0,)
    return not is_read
