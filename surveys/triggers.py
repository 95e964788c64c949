"""Rows that the database itself refuses to change: triggers on both engines, as migration
operations.
"""

from collections.abc import Sequence
from typing import Any

from django.db import router
from django.db.migrations.operations.base import Operation


class Statements(Operation):
    """Run statements of one engine. They need no models, for which Django's RunPython has all of
    them made anew: a fifth of a second each time.
    """

    reversible = False

    def __init__(self, **statements: Sequence[str]) -> None:
        self.statements = statements

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Change nothing that models know of."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        if router.allow_migrate(schema_editor.connection.alias, app_label):
            for statement in self.statements.get(schema_editor.connection.vendor, ()):
                schema_editor.execute(statement)

    def describe(self) -> str:
        return "Statements of one engine"


def forbid(
    table: str,
    *,
    verb: str,
    message: str,
    columns: Sequence[str] = (),
    when: str = "",
    unless: str = "",
    name: str = "",
) -> Statements:
    """Return an operation that makes the database refuse INSERT, UPDATE (of some columns, or any)
    or DELETE on a table.

    `when` narrows it, in terms of OLD and NEW; `unless` lets a row pass, and may look into other
    tables, which PostgreSQL allows only inside the function. TRUNCATE, which fires no row trigger
    there, goes with DELETE, always.
    """
    name = f"{table}_{name or 'no_' + verb.lower()}"
    event = f"{verb} OF {', '.join(columns)}" if columns else verb
    condition = f"WHEN ({when}) " if when else ""
    row = "OLD" if verb == "DELETE" else "NEW"  # what a function gives back for it to go on
    passing = (
        f"IF TG_OP <> 'TRUNCATE' THEN IF {unless} THEN RETURN {row}; END IF; END IF; "
        if unless
        else ""
    )
    postgresql = [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN {passing}RAISE EXCEPTION '{message}' USING ERRCODE = "
        f"'integrity_constraint_violation'; END $$",
        f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW {condition}EXECUTE "
        f"FUNCTION {name}()",
    ]
    if verb == "DELETE":
        postgresql.append(
            f"CREATE TRIGGER {name}_truncate BEFORE TRUNCATE ON {table} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION {name}()"
        )
    both = " AND ".join(f"({part})" for part in (when, unless and f"NOT ({unless})") if part)
    condition = f"WHEN {both} " if both else ""
    sqlite = [
        f"CREATE TRIGGER {name} BEFORE {event} ON {table} {condition}BEGIN SELECT RAISE(ABORT, "
        f"'{message}'); END"
    ]
    return Statements(postgresql=postgresql, sqlite=sqlite)


def only(engine: str, made: Statements) -> Statements:
    """Return what an operation does on one engine."""
    return Statements(**{engine: made.statements[engine]})


def unsampled(table: str, *columns: str) -> Statements:
    """Return an operation that keeps ANALYZE from copying samples of columns into a catalog, where
    PostgreSQL erases nothing.
    """
    changes = ", ".join(f"ALTER {column} SET STATISTICS 0" for column in columns)
    return Statements(postgresql=[f"ALTER TABLE {table} {changes}"])


def forbid_replace(table: str, *, message: str, keys: Sequence[Sequence[str]]) -> Statements:
    """Return an operation against SQLite's REPLACE, which deletes the rows in its way without
    firing their triggers.
    """
    name = f"{table}_no_replace"
    same = " OR ".join(
        "(" + " AND ".join(f"{column} = NEW.{column}" for column in key) + ")" for key in keys
    )
    create = (
        f"CREATE TRIGGER {name} BEFORE INSERT ON {table} "  # noqa: S608
        f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {same}) "
        f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
    )
    return Statements(sqlite=[create])
