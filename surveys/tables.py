"""What migrations are made of, and which databases they open."""

from typing import Any

from django.core.management import CommandError
from django.db import connections, models
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

FIRST = "0001_release_0_9"
LAST_BEFORE = "3a51e7fdf58e"  # a commit with all the migrations that FIRST replaces
OF_PYTHON = {  # what says nothing of a column
    *("auto_created", "blank", "choices", "editable", "error_messages", "help_text"),
    *("serialize", "validators", "verbose_name"),
}


class Changes(MigrationAutodetector):
    """Those of tables: a sentence about a field, or a choice, is changed in one file."""

    def deep_deconstruct(self, obj: Any) -> Any:
        found = super().deep_deconstruct(obj)
        if not isinstance(obj, models.Field):
            return found
        path, positional, named = found
        return path, positional, {name: named[name] for name in named.keys() - OF_PYTHON}


def refuse_older(alias: str) -> None:
    """Refuse a database that has an app's tables, and not yet those of its first migration."""
    applied = set(MigrationRecorder(connections[alias]).applied_migrations())
    begun = {app for app, _name in applied}
    for key, first in MigrationLoader(None).disk_migrations.items():
        if key[1] == FIRST and key[0] in begun and applied.isdisjoint((key, *first.replaces)):
            raise CommandError(
                "This database is of a version before 0.9, and 0.9 opens only what commit "
                f"{LAST_BEFORE} has migrated. Nothing was changed. Check out that commit, install "
                "its requirements, run its migrate, and come back (docs/upgrade.md)."
            )
