"""A budget, and charges to it, for the tests of this room."""

import contextlib
import datetime
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from django.db import connection, transaction

from dpengine.privacy import Cost
from surveys.ledger import services
from surveys.ledger.models import Budget, Entry

NOW = datetime.datetime(2026, 5, 11, 12, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)
OWNER: dict[str, Any] = {"who": "ada", "now": NOW}


def open_budget(name: str = "study:x", **terms: Any) -> Budget:
    caps = {} if "rho" in terms else {"epsilon": Fraction("1.8")}
    usual = {"unit": "respondent-in-study", "neighbours": "change-one", **caps, **OWNER}
    return services.open_budget(name=name, **{**usual, **terms})


def pure(epsilon: str) -> Cost:
    return Cost.pure(Fraction(epsilon))


def pay(
    budget: Budget, cost: str | Cost = "0.45", statistic: str | None = None, **more: Any
) -> Entry:
    """Charge one budget; each call is another statistic unless one is named."""
    asked = statistic or f"{Entry.objects.count():064x}"
    usual = {
        "reason": "shares",
        "mechanism": "discrete Laplace",
        "sensitivity": "1 answer",
        **OWNER,
    }
    paid = pure(cost) if isinstance(cost, str) else cost
    [entry] = services.charge(
        budget_ids=[budget.pk], cost=paid, statistic=asked, **{**usual, **more}
    )
    return entry


def rows(budget_id: int) -> list[Entry]:
    """Return every row about a budget, oldest first."""
    return list(Entry.objects.filter(budget=budget_id))


@contextlib.contextmanager
def tampering(*statements: tuple[str, list[Any]]) -> Iterator[None]:
    """Run statements as someone who owns the database can: no triggers, no constraints. Undone
    afterwards.
    """
    with transaction.atomic():
        with connection.cursor() as cursor, connection.constraint_checks_disabled():
            for statement in without_guards():
                cursor.execute(statement)
            for statement, values in statements:
                cursor.execute(statement, values)
        yield
        transaction.set_rollback(True)
    if connection.vendor == "sqlite":
        connection.cursor().execute("PRAGMA ignore_check_constraints = OFF")


def without_guards() -> list[str]:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            return [
                "PRAGMA ignore_check_constraints = ON",
                *(f"DROP TRIGGER {name}" for (name,) in cursor.fetchall()),
            ]
        cursor.execute(
            "SELECT c.conrelid::regclass, c.conname FROM pg_constraint c "
            "WHERE contype = 'c' AND conrelid::regclass::text ~ '^(ledger|releases)'"
        )
        constraints = [
            f"ALTER TABLE {table} DROP CONSTRAINT {name}" for table, name in cursor.fetchall()
        ]
        return [
            "SET CONSTRAINTS ALL IMMEDIATE",
            "SET LOCAL session_replication_role = replica",
            *constraints,
        ]
