"""Rows that the database itself refuses to change: triggers on both engines, as one migration operation."""

from collections.abc import Sequence
from typing import Any

from django.db import migrations


def forbid(table: str, *, verb: str, message: str, columns: Sequence[str] = ()) -> migrations.RunPython:
    """Return an operation that makes the database refuse UPDATE (of some columns, or any) or DELETE on a table."""
    name = f"{table}_no_{verb.lower()}"
    event = f"{verb} OF {', '.join(columns)}" if columns else verb

    def add(apps: Any, schema_editor: Any) -> None:
        for statement in _statements(schema_editor.connection.vendor, table, name, event, message):
            schema_editor.execute(statement)

    def remove(apps: Any, schema_editor: Any) -> None:
        postgresql = schema_editor.connection.vendor == "postgresql"
        schema_editor.execute(f"DROP FUNCTION {name}() CASCADE" if postgresql else f"DROP TRIGGER {name}")

    return migrations.RunPython(add, remove)


def _statements(vendor: str, table: str, name: str, event: str, message: str) -> list[str]:
    if vendor == "postgresql":
        return [
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation'; END $$",
            f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()",
            *([] if "UPDATE" in event else _no_truncate(table, name, message)),
        ]
    return [f"CREATE TRIGGER {name} BEFORE {event} ON {table} BEGIN SELECT RAISE(ABORT, '{message}'); END"]


def _no_truncate(table: str, name: str, message: str) -> list[str]:
    """TRUNCATE fires no row trigger on PostgreSQL."""
    return [f"CREATE TRIGGER {name}_truncate BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION {name}()"]
