"""Rows that the database itself refuses to change: triggers on both engines, as migration
operations.
"""

from collections.abc import Sequence
from typing import Any

from django.db import migrations


def forbid(
    table: str,
    *,
    verb: str,
    message: str,
    columns: Sequence[str] = (),
    when: str = "",
    unless: str = "",
    name: str = "",
) -> migrations.RunPython:
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
    return _operation(
        {"postgresql": postgresql, "sqlite": sqlite},
        {"postgresql": [f"DROP FUNCTION {name}() CASCADE"], "sqlite": [f"DROP TRIGGER {name}"]},
    )


def lift(forbidden: migrations.RunPython) -> migrations.RunPython:
    """Return an operation that takes back what another forbade."""
    back: Any = forbidden.reverse_code
    return migrations.RunPython(back, forbidden.code)


def unsampled(table: str, **kinds: str) -> migrations.RunPython:
    """Return an operation that keeps ANALYZE from copying samples of columns, given with their
    types, into a catalog.

    PostgreSQL erases nothing there. The table is written anew as well: what an older version
    deleted leaves its file.
    """
    changes = [
        f"ALTER {name} SET STATISTICS 0, ALTER {name} TYPE {kind} USING COALESCE({name}, {name})"
        for name, kind in kinds.items()
    ]
    back = [f"ALTER {name} SET STATISTICS -1" for name in kinds]
    return _operation(
        {"postgresql": [f"ALTER TABLE {table} {', '.join(changes)}"]},
        {"postgresql": [f"ALTER TABLE {table} {', '.join(back)}"]},
    )


def forbid_replace(
    table: str, *, message: str, keys: Sequence[Sequence[str]]
) -> migrations.RunPython:
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
    return _operation({"sqlite": [create]}, {"sqlite": [f"DROP TRIGGER {name}"]})


def both(name: str, *, postgresql: list[str], sqlite: list[str]) -> migrations.RunPython:
    """Return an operation that makes a trigger as each engine says it, its function of that name
    on PostgreSQL too.
    """
    return _operation(
        {"postgresql": postgresql, "sqlite": sqlite},
        {"postgresql": [f"DROP FUNCTION {name}() CASCADE"], "sqlite": [f"DROP TRIGGER {name}"]},
    )


def _operation(
    forwards: dict[str, list[str]], backwards: dict[str, list[str]]
) -> migrations.RunPython:
    def run(statements: dict[str, list[str]]) -> Any:
        def execute(apps: Any, schema_editor: Any) -> None:
            for statement in statements.get(schema_editor.connection.vendor, []):
                schema_editor.execute(statement)

        return execute

    return migrations.RunPython(run(forwards), run(backwards))
