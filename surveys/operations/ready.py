"""Whether all that the site needs to do its work is there: for a machine that watches it.

Without a worker or a scheduler reports are still taken, and nothing is lost: so what decides where
to send visitors asks `/health/live`, and what wakes somebody up asks `/health/ready`.
"""

import datetime
import functools
from collections.abc import Iterator

import structlog
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from surveys.operations import backlog, services
from surveys.operations.models import Sign

LATE = datetime.timedelta(minutes=2)  # of what is seen every half minute
DATABASE, READ_ONLY, MIGRATIONS = "database", "database (read only)", "migrations"
BROKER, WORKER, SCHEDULER = "broker", "worker", "scheduler"
log = structlog.get_logger(__name__)
logged: set[tuple[str, ...]] = {()}  # what was said last: a probe comes every few seconds


def missing(now: datetime.datetime) -> list[str]:
    """Return what is not there, in few words; say it in the log when it changes."""
    found = list(_missing(now))
    if tuple(found) not in logged:
        logged.clear()
        logged.add(tuple(found))
        (log.error if found else log.info)("not ready" if found else "ready again", missing=found)
    return found


def _missing(now: datetime.datetime) -> Iterator[str]:
    queue = backlog.look()
    if not queue.answers:
        yield BROKER
    try:
        if is_read_only():
            yield READ_ONLY
        if unapplied():
            yield MIGRATIONS
            return  # the tables of signs may not be there yet
        seen = {sign.name: sign.at for sign in Sign.objects.all()}
    except DatabaseError:
        yield DATABASE
        return
    sent = max(filter(None, (seen.get(services.SCHEDULER), queue.newest)), default=None)
    for name, at in ((WORKER, seen.get(services.WORKER)), (SCHEDULER, sent)):
        if at is None or now - at > LATE:
            yield name


def is_read_only() -> bool:
    """Tell whether the database takes no writes: a server in recovery, say, or a user's setting."""
    if connection.vendor == "sqlite":
        query = "PRAGMA query_only"
    else:
        query = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'"
    with connection.cursor() as cursor:
        cursor.execute(query)
        return bool((cursor.fetchone() or (0,))[0])


def unapplied() -> frozenset[tuple[str, str]]:
    """Return the migrations of this code that the database has not had."""
    return on_disk() - set(MigrationRecorder(connection).applied_migrations())


@functools.cache
def on_disk() -> frozenset[tuple[str, str]]:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    return frozenset(loader.disk_migrations)
