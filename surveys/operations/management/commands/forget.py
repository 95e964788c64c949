"""Empty what the database wrote down on its way: SQLite's journal, PostgreSQL's write-ahead log and
old samples.

What was erased is out of the tables' files already. This takes it out of what a server keeps beside
them, and says what no command can reach.
"""

import datetime
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, ProgrammingError, connection

from surveys.erasing import checkpoint
from surveys.operations import services
from surveys.operations.models import Event

SETTINGS = {
    "wal_recycle": ("off", "old files of the log are used again with what stands in them"),
    "archive_mode": ("off", "the archive holds the log"),
    "wal_keep_size": ("0", "old files of the log are kept"),
}
LOST_FILES = """
WITH own AS (
  SELECT 'base/' || oid || '/' AS folder FROM pg_database WHERE datname = current_database()
)
SELECT folder || name FROM own, pg_ls_dir(folder) AS name WHERE name ~ '^[0-9]+$'
AND pg_filenode_relation(0, name::oid) IS NULL
AND (pg_stat_file(folder || name, true)).size > 0 ORDER BY 1"""
WRITERS_BEFORE = "SELECT pg_snapshot_xmin(pg_current_snapshot()) < %s::xid8"
READERS = """
SELECT virtualtransaction FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'virtualxid' AND pid <> pg_backend_pid() AND datname = current_database()"""
PATIENCE, PAUSE = 30.0, 0.1  # seconds for older transactions to end, as on SQLite; between looks
MAY_NOT = "42501"  # insufficient_privilege
DONE_BUT = "Done, but for what is named above."
NOT_DONE = "Not done: the write-ahead log can still hold what was erased."
BEYOND = "Not reached: backups, replicas, archives of the log, and free blocks of the disk."


class Command(BaseCommand):
    help = (
        "Takes what was erased out of the database's journal or write-ahead log, and says what "
        "it cannot reach."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        done = "Done."
        if connection.vendor == "sqlite":
            forget_journal()
        else:
            for text in noted(forget_log):
                self.stderr.write(text)
                done = DONE_BUT
        self.stdout.write(f"{done} {BEYOND}")


def noted(act: Callable[[], None]) -> list[str]:
    """Do it, note for `/health/` how it went, and return which files are kept anyway; CommandError
    names what keeps the log with what was erased.
    """

    def note(said: str, *, went_well: bool) -> None:
        now = datetime.datetime.now(datetime.UTC)
        services.note(
            kind=Event.Kind.FORGETTING, went_well=went_well, said=said, size=None, now=now
        )

    try:
        act()
        if remains := list(log_kept()):
            raise CommandError(" ".join((NOT_DONE, *remains)))
    except (CommandError, DatabaseError) as error:  # what a database says may hold a row
        said = str(error) if isinstance(error, CommandError) else type(error).__name__
        note(said, went_well=False)
        raise
    kept = list(files_kept())
    note(" ".join(kept), went_well=True)
    return kept


@contextmanager
def permitted(otherwise: str) -> Iterator[None]:
    """Say what it takes where the database's user may not do what is done here."""
    try:
        yield
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", "") != MAY_NOT:
            raise
        raise CommandError(otherwise) from None


def forget_journal() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    if not checkpoint(connection):
        raise CommandError(
            "Another process reads the journal: expected none, got one. Run it again when it has "
            "ended."
        )


def forget_log() -> None:
    """Begin a new file of the log and let a checkpoint remove those before it."""
    otherwise = (
        "The database's user may not do this: expected its owner, with GRANT pg_checkpoint and "
        "GRANT EXECUTE ON FUNCTION pg_switch_wal; got a user without. Nothing was done, or "
        "run it as a superuser."
    )
    wait_for_older_transactions()
    with permitted(otherwise), connection.cursor() as cursor:
        cursor.execute("VACUUM FULL pg_statistic")  # what ANALYZE sampled before it was told not to
        cursor.execute("SELECT pg_switch_wal()")
        cursor.execute("CHECKPOINT")


def wait_for_older_transactions() -> None:
    """Wait until nobody may see what was deleted before now: a table written anew keeps it so long.

    First for who writes, in any database of the server, for snapshots taken meanwhile reach back to
    the oldest of them; then for who has a snapshot of that time in this one.
    """
    deadline = time.monotonic() + PATIENCE
    with connection.cursor() as cursor:

        def asked(query: str, *values: str) -> set[Any]:
            cursor.execute(query, values)
            return set(cursor.fetchall())

        def wait_while(there: Callable[[], Any]) -> None:
            while there():
                if time.monotonic() > deadline:
                    raise CommandError(
                        "Another transaction may still see what was erased: expected none that "
                        "began earlier, got one. Nothing was done. Run it again when it has ended."
                    )
                time.sleep(PAUSE)

        ((now,),) = asked("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
        wait_while(lambda: asked(WRITERS_BEFORE, now) == {(True,)})
        readers = asked(READERS)
        wait_while(lambda: readers & asked(READERS))


def log_kept() -> Iterator[str]:
    """Say which settings and replicas keep the log longer, with what was erased in it."""
    with connection.cursor() as cursor:
        for name, (expected, why) in SETTINGS.items():
            cursor.execute("SELECT current_setting(%s)", [name])
            (present,) = cursor.fetchone() or ("",)
            if present != expected:
                yield f"{name}: expected {expected}, got {present}: {why}."
        cursor.execute("SELECT count(*) FROM pg_replication_slots")
        (slots,) = cursor.fetchone() or (0,)
        if slots:
            yield (
                f"Replication slots: expected none, got {slots}: each keeps the log until its "
                f"replica has read it."
            )


def files_kept() -> Iterator[str]:
    """Say which files are of no table."""
    needed = "pg_ls_dir(text), pg_stat_file(text, boolean)"
    otherwise = f"Files of no table: not looked for; that takes GRANT EXECUTE ON FUNCTION {needed}."
    try:
        with permitted(otherwise), connection.cursor() as cursor:
            cursor.execute(LOST_FILES)
            lost = ", ".join(name for (name,) in cursor.fetchall())
    except CommandError as refusal:
        yield str(refusal)
        return
    if lost:  # half of a table: the server ended while it was written anew
        yield (
            f"Files of no table: expected none, got {lost}. A crash of the server leaves them, "
            "with what a table held then, unless one is being made just now. Remove them while the "
            "server is stopped, or restore a new backup into a new one."
        )
