"""What migrations are made of, and which databases they open."""

from pathlib import Path
from typing import Any

from django.core.management import CommandError
from django.db import connections, models
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

FIRST = "0001_release_0_9"
LAST_BEFORE = "3a51e7fdf58e"  # a commit with all the migrations that FIRST replaces
OLDER = (
    "of a version before 0.9, and 0.9 opens only what commit "
    f"{LAST_BEFORE} has migrated. Check out that commit, install its requirements, run its "
    "migrate, and come back (docs/upgrade.md)."
)
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


def is_older(alias: str) -> bool:
    """Tell whether a database has tables of an app of ours, and not those of its first migration:
    also of apps that an issuer by itself does not install.
    """
    applied = set(MigrationRecorder(connections[alias]).applied_migrations())
    begun = {app for app, _name in applied}
    disk = MigrationLoader(None).disk_migrations
    for path in Path(__file__).parent.glob(f"*/migrations/{FIRST}.py"):
        key = (path.parts[-3], FIRST)
        replaced = disk[key].replaces if key in disk else ()
        if key[0] in begun and applied.isdisjoint((key, *replaced)):
            return True
    return False


def refuse_older(alias: str) -> None:
    """Refuse a database of a version before 0.9 that has not come as far as it must."""
    if is_older(alias):
        raise CommandError(f"Nothing was changed. This database is {OLDER}")


def exit_if_older() -> None:
    """End a command that such a database has stopped with the reason, in place of a traceback."""
    connections["default"].close()  # a transaction may be broken
    if is_older("default"):
        raise SystemExit(f"This database is {OLDER}")
