"""Whether the database is there, takes writes and has the tables of this version."""

import datetime
import functools
import time
from collections.abc import Iterator
from pathlib import Path

from django.db import DatabaseError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from surveys.checks import is_loopback
from surveys.operations.check import Check, State, line
from surveys.operations.models import Sign
from surveys.tables import OLDER, is_older

EVERY = 10  # seconds at least between two tries to write: a probe comes every few
tried = {"at": float("-inf"), "well": True}
GONE, READ_ONLY, MIGRATIONS = "database", "database (read only)", "migrations"


def checks() -> Iterator[Check]:
    try:
        read_only, lacking = is_read_only(), unapplied()
    except DatabaseError as error:  # whose text may hold a password
        todo = (
            "Check that it runs, and DATABASE_URL: name, host, user, password. PostgreSQL "
            "stops when its disk is full: make room, and start it."
        )
        yield line(
            "database", State.ALARM, f"It does not answer ({type(error).__name__}).", todo, GONE
        )
        return
    read_only = read_only or not (lacking or takes_writes())
    if read_only:
        todo = (
            "Is its disk full? Make room, and start it if it has stopped. Otherwise wait until it "
            "has recovered, promote it, or name the one that takes writes."
        )
        yield line(
            "database", State.ALARM, "It takes no writes: no response is accepted.", todo, READ_ONLY
        )
    if lacking:
        said = f"{len(lacking)} migrations are missing, {min(lacking)[0]} {min(lacking)[1]} first."
        todo = "Make a backup, then: manage.py migrate (docs/upgrade.md)."
        if is_older(connection.alias):
            todo = f"It is {OLDER}"
        yield line("migrations", State.ALARM, said, todo, MIGRATIONS)
    if not read_only and not lacking:
        said = f"{connection.vendor}, of this version."
        yield line("database", State.GOOD, said)


def is_read_only() -> bool:
    """Tell whether the database takes no writes: a server in recovery, say, or a user's setting."""
    if connection.vendor == "sqlite":
        query = "PRAGMA query_only"
    else:
        query = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'"
    with connection.cursor() as cursor:
        cursor.execute(query)
        return bool((cursor.fetchone() or (0,))[0])


def takes_writes() -> bool:
    """Tell whether the database stores a row, of a table that is in its log."""
    if time.monotonic() - tried["at"] > EVERY:
        tried["at"], now = time.monotonic(), datetime.datetime.now(datetime.UTC)
        try:
            with transaction.atomic():
                Sign.objects.update_or_create(name="written", defaults={"at": now})
            tried["well"] = True
        except DatabaseError:
            tried["well"] = False
    return bool(tried["well"])


def is_here() -> bool:
    """Tell whether the database is on this machine."""
    host = connection.settings_dict["HOST"]
    return host[:1] in ("", "/") or is_loopback(host)


def folder() -> Path | None:
    """Return where PostgreSQL stores, if that is this machine and its user may know."""
    if connection.vendor != "postgresql" or not is_here():
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT setting FROM pg_settings WHERE name = 'data_directory'")
        found = cursor.fetchone()
    return Path(found[0]) if found else None


def unapplied() -> frozenset[tuple[str, str]]:
    """Return the migrations of this code that the database has not had."""
    return on_disk() - set(MigrationRecorder(connection).applied_migrations())


@functools.cache
def on_disk() -> frozenset[tuple[str, str]]:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    return frozenset(loader.disk_migrations)
