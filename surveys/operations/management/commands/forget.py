"""Empty what the database wrote down on its way: SQLite's journal, PostgreSQL's write-ahead log and old samples.

What was erased is out of the tables' files already. This takes it out of what a server keeps beside them, and says what
no command can reach.
"""

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import ProgrammingError, connection

from surveys.erasing import cut

SETTINGS = {
    "wal_recycle": ("off", "old files of the log are used again with what stands in them"),
    "archive_mode": ("off", "the archive holds the log"),
    "wal_keep_size": ("0", "old files of the log are kept"),
}
BEYOND = "Not reached: backups, replicas, archives of the log, and free blocks of the disk."


class Command(BaseCommand):
    help = "Takes what was erased out of the database's journal or write-ahead log, and says what it cannot reach."

    def handle(self, *args: Any, **options: Any) -> None:
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("VACUUM")
            cut(connection)
        else:
            _forget_log()
            for said in _kept_anyway():
                self.stderr.write(said)
        self.stdout.write(f"Done. {BEYOND}")


def _forget_log() -> None:
    """Begin a new file of the log and let a checkpoint remove those before it."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM FULL pg_statistic")  # what ANALYZE sampled before it was told not to
            cursor.execute("SELECT pg_switch_wal()")
            cursor.execute("CHECKPOINT")
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", "") != "42501":  # insufficient_privilege
            raise
        raise CommandError(
            "The database's user may not do this: expected its owner, with GRANT pg_checkpoint and "
            "GRANT EXECUTE ON FUNCTION pg_switch_wal; got a user without. Nothing was done, or run it as a superuser."
        ) from None


def _kept_anyway() -> Iterator[str]:
    """Say which settings and replicas keep the log longer."""
    with connection.cursor() as cursor:
        for name, (expected, why) in SETTINGS.items():
            cursor.execute("SELECT current_setting(%s)", [name])
            (found,) = cursor.fetchone() or ("",)
            if found != expected:
                yield f"{name}: expected {expected}, got {found}: {why}."
        cursor.execute("SELECT count(*) FROM pg_replication_slots")
        (slots,) = cursor.fetchone() or (0,)
        if slots:
            yield f"Replication slots: expected none, got {slots}: each keeps the log until its replica has read it."
