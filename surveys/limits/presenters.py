"""A study's account, and rows of the ledger, as pages show them."""

import datetime
from dataclasses import dataclass
from fractions import Fraction

from django.utils.translation import gettext as _, ngettext

from dpengine.privacy import round_up
from surveys.design.models import Study
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import LedgerRow, Statement


class Spending:
    """What a study has spent of its cap, how fast, and how long the rest lasts."""

    def __init__(self, study: Study, budget_id: int) -> None:
        now = datetime.datetime.now(datetime.UTC)
        account = ledger.account(budget_id)
        burn = account.burn(now)
        plan = study.plan
        self.statement = Statement(account)
        self.is_collecting = plan is not None and plan.is_open and not study.is_retired
        self.per_week = round_up(burn.per_week, self.statement.places)
        self.this_week = round_up(Fraction(burn.weeks[-1].amount), self.statement.places)
        self.days_left = account.days_left(now) if self.is_collecting else None
        retires_on = study.retires_on
        self.days_to_retirement = (retires_on - now.date()).days if retires_on else None
        self.alerts = account.alerts(now, retires_on if self.is_collecting else None)

    @property
    def lasts(self) -> str:
        """Return how long the rest lasts at the present rate."""
        if self.days_left is not None:
            return ngettext("%(count)s day", "%(count)s days", self.days_left) % {
                "count": self.days_left
            }
        if self.is_collecting:
            return _("no budget is being used")
        return _("closed: only what is asked for costs")


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One row of the chain; its own texts are translated by the template."""

    row: LedgerRow

    @property
    def is_charge(self) -> bool:
        return self.row.document.get("kind") == "charge"

    @property
    def what(self) -> str:
        """Return why it was charged, or what was done."""
        return str(self.row.document.get("reason" if self.is_charge else "what", ""))

    @property
    def cost(self) -> str:
        """Return the ε of a charge, or its ρ where it has none."""
        for sign, name in (("ε", "epsilon"), ("ρ", "rho")):
            if amount := self.row.document.get(name):
                return f"{sign} {amount}"
        return "–"

    @property
    def whole_cost(self) -> str:
        """Return all that a charge was recorded with."""
        signs = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
        amounts = {name: self.row.document.get(name) for name in signs}
        return ", ".join(
            f"{signs[name]} {amount}"
            for name, amount in amounts.items()
            if amount not in (None, "", "0")
        )
