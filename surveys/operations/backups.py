"""Make a backup of the database: a file that only its owner may read, whole or not there at all.

SQLite is copied by VACUUM INTO: as of one moment, while the site goes on, and without the free
pages in which erased rows could stand. pg_dump writes the rows that are there, not those that were.
Either way a backup holds what is erased later, the sealed keys of receipts and today's receipts in
their order too, so only the newest few are kept. What opens sealed things is not in it:
publication.key, or PUBLICATION_KEYS, must be kept apart.
"""

import contextlib
import datetime
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import DatabaseError, connection

from surveys.operations import services
from surveys.operations.models import Event

PREFIX = "candor-"
MAX_SECONDS = 3600  # seconds
# by what erases: a snapshot of before would find all of it empty, what others hold there too
WRITTEN_ANEW = (
    "intake_openreport",
    "intake_receipt",
    "intake_news",
    "intake_digestkey",
    "intake_sealed",
    "aggregation_batch",
    "aggregation_tally",
    "releases_series",
    "issuer_code",
    "issuer_invitation",
    "issuer_key",
    "issuer_mark",
    "invited_delivery",
    "invited_key",
    "invited_person",
)


class Failed(Exception):
    """Say why there is no new backup."""


def make(*, folder: Path, keep: int, now: datetime.datetime) -> Path:
    """Make a backup, note it, and remove all but the newest `keep`, and halves that were left."""
    try:
        _clear_halves(folder, now)
        made = _make(folder, now)
    except (OSError, DatabaseError, Failed) as error:
        services.note(
            kind=Event.Kind.BACKUP, went_well=False, said=type(error).__name__, size=None, now=now
        )
        raise Failed(str(error)) from error
    services.note(
        kind=Event.Kind.BACKUP, went_well=True, said=made.name, size=made.stat().st_size, now=now
    )
    backups = [path for path in folder.glob(f"{PREFIX}*") if path.suffix in (".sqlite3", ".dump")]
    # one that is named for a day to come was made by a wrong clock, and would outlive all others
    for old in sorted(backups, key=lambda at: (at <= made, at), reverse=True)[keep:]:
        old.unlink()
    return made


def _clear_halves(folder: Path, now: datetime.datetime) -> None:
    """Remove what backups have left that were cut off; what is being written stays."""
    for half in folder.glob(f"{PREFIX}*.half"):
        with contextlib.suppress(OSError):  # another one did it, or it became whole
            if now.timestamp() - half.stat().st_mtime > 2 * MAX_SECONDS:
                half.unlink()


def _make(folder: Path, now: datetime.datetime) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    suffix = "sqlite3" if connection.vendor == "sqlite" else "dump"
    final = folder / f"{PREFIX}{now:%Y%m%dT%H%M%SZ}.{suffix}"
    half = final.with_suffix(".half")
    os.close(os.open(half, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        (_copy_sqlite if connection.vendor == "sqlite" else _dump_postgres)(half)
        with half.open("rb") as file:
            os.fsync(file.fileno())
        half.rename(final)
    finally:
        half.unlink(missing_ok=True)
    return final


def _copy_sqlite(path: Path) -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(path)])


def _dump_postgres(path: Path) -> None:
    """Run pg_dump. The password goes by its environment, where other users do not see it."""
    program = shutil.which("pg_dump")
    if program is None:
        raise Failed("pg_dump is not installed.")
    chosen = connection.settings_dict
    known = {
        "PGHOST": "HOST",
        "PGPORT": "PORT",
        "PGUSER": "USER",
        "PGPASSWORD": "PASSWORD",
        "PGDATABASE": "NAME",
    }
    environment = {name: str(chosen[key]) for name, key in known.items() if chosen.get(key)}
    command = [program, "--format=custom", "--no-owner", "--no-privileges", f"--file={path}"]
    try:
        with _moment() as moment:
            done = subprocess.run(
                [*command, f"--snapshot={moment}"],
                env={**os.environ, **environment},
                capture_output=True,
                check=False,
                timeout=MAX_SECONDS,
                text=True,
            )
    except subprocess.TimeoutExpired:
        raise Failed(f"pg_dump did not end within {MAX_SECONDS} seconds.") from None
    if done.returncode:
        raise Failed(
            f"pg_dump ended with {done.returncode}."
        )  # its words may hold what a row holds


@contextlib.contextmanager
def _moment() -> Iterator[str]:
    """Yield a moment of the database at which nothing is between two files: each report is open or
    sealed, say.

    Sweeps, nights and retirements give a table a new file, which a snapshot of before finds empty.
    So what they write anew is held first: they wait until pg_dump is done, and doors do not.
    """
    other: Any = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            cursor.execute(f"LOCK TABLE {', '.join(WRITTEN_ANEW)} IN ACCESS SHARE MODE")
            cursor.execute("SELECT pg_export_snapshot()")
            yield cursor.fetchone()[0]
    finally:
        other.close()
