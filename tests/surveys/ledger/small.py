"""A budget, and charges to it, for the tests of this room."""

import datetime
from fractions import Fraction
from typing import Any

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


def pay(budget: Budget, cost: str | Cost = "0.45", statistic: str | None = None, **more: Any) -> Entry:
    """Charge one budget; each call is another statistic unless one is named."""
    asked = statistic or f"{Entry.objects.count():064x}"
    usual = {"reason": "shares", "mechanism": "discrete Laplace", "sensitivity": "1 answer", **OWNER}
    paid = pure(cost) if isinstance(cost, str) else cost
    [entry] = services.charge(budget_ids=[budget.pk], cost=paid, statistic=asked, **{**usual, **more})
    return entry
