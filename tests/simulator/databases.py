"""A database that is as new before each schedule: a file that is copied, or rows that are put back."""

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import connection, connections, transaction

MEMORY = Path("/dev/shm")
FILES = itertools.count()
TABLES = """
SELECT relname FROM pg_class
WHERE relkind = 'r' AND relname NOT LIKE 'intake_openreport%' AND relnamespace = 'public'::regnamespace
ORDER BY relname"""
PARTITIONS = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'intake_openreport'::regclass"
SEQUENCES = "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'public'"


class SQLite:
    """A file in memory, copied."""

    def __init__(self) -> None:
        memory = MEMORY if MEMORY.is_dir() else None
        self.folder = Path(tempfile.mkdtemp(prefix="candor-", dir=memory))
        self.settings = connections.settings["default"]
        # Who connects waits; then who waits gives way at once (`faults.Line`). What a crash of the
        # machine takes is not tried.
        self.settings["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,
            "init_command": "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; "
            "PRAGMA busy_timeout = 0; PRAGMA secure_delete = ON;",
        }
        self._use(self.folder / "template")

    def keep(self) -> None:
        """Keep what is there now as what every schedule begins with."""
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def renew(self) -> None:
        self._use(self.folder / f"world-{next(FILES)}")
        shutil.copy(self.folder / "template", self.settings["NAME"])

    def _use(self, path: Path) -> None:
        connection.close()
        old = Path(self.settings["NAME"])
        if old.name.startswith("world"):
            for each in (old, Path(f"{old}-wal"), Path(f"{old}-shm")):
                each.unlink(missing_ok=True)
        self.settings["NAME"] = str(path)
        del connections["default"]

    def close(self) -> None:
        connection.close()
        shutil.rmtree(self.folder)


class PostgreSQL:
    """A database of its own on the server that the site is told of, whose rows are put back."""

    def __init__(self) -> None:
        settings = connections.settings["default"]
        self.name = f"simulator_{os.getpid()}"
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {self.name}")
        connection.close()
        self.outer, settings["NAME"] = settings["NAME"], self.name
        settings["CONN_HEALTH_CHECKS"] = False
        del connections["default"]
        self.tables: dict[str, bytes] = {}
        self.sequences: list[Any] = []

    def keep(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(TABLES)
            for (table,) in cursor.fetchall():
                with cursor.copy(f'COPY "{table}" TO STDOUT') as copy:
                    self.tables[table] = b"".join(bytes(part) for part in copy)
            cursor.execute(SEQUENCES)
            self.sequences = cursor.fetchall()

    def renew(self) -> None:
        """Put every row back. Triggers and keys are left out: they would forbid it."""
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(PARTITIONS)
            for (partition,) in cursor.fetchall():
                cursor.execute(f"DROP TABLE {partition}")
            cursor.execute("; ".join(f'DELETE FROM "{table}"' for table in self.tables))  # noqa: S608
            for table, rows in self.tables.items():
                if rows:
                    with cursor.copy(f'COPY "{table}" FROM STDIN') as copy:
                        copy.write(rows)
            for name, last in self.sequences:
                cursor.execute("SELECT setval(%s, %s, %s)", [name, last or 1, last is not None])

    def close(self) -> None:
        connection.close()
        connections.settings["default"]["NAME"] = self.outer
        del connections["default"]
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {self.name} WITH (FORCE)")
        connection.close()


Database = SQLite | PostgreSQL


def begin(prepare: Callable[[], None]) -> Database:
    """Migrate and prepare what every schedule begins with."""
    from django.core.management import call_command

    database = SQLite() if connection.vendor == "sqlite" else PostgreSQL()
    call_command("migrate", verbosity=0)
    prepare()
    database.keep()
    return database
