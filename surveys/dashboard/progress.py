"""How a wave stands: what has come, what was published, and what the next publication waits for.

From public quantities only: the Plan, how many answered, the releases and the ledger.
"""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpengine.privacy import round_down, round_up
from surveys.design.models import Plan
from surveys.ledger.queries import Account
from surveys.releases.models import Release


@dataclass(frozen=True, slots=True)
class Spending:
    """A budget for people to read: charges rounded up, the cap and what is left rounded down."""

    account: Account
    next_cost: Decimal

    @property
    def spent(self) -> Decimal:
        return round_up(Fraction(self.account.spent), 2)

    @property
    def cap(self) -> Decimal:
        return round_down(Fraction(self.account.cap), 2)

    @property
    def left(self) -> Decimal:
        return round_down(Fraction(self.account.left), 2)

    @property
    def cost(self) -> Decimal:
        return round_up(Fraction(self.next_cost), 2)

    @property
    def width(self) -> str:
        return f"{100 * self.account.spent / self.account.cap:.2f}%"

    @property
    def further(self) -> int:
        """Return how many more publications of this cost the cap pays for."""
        return int(self.account.left // self.next_cost)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Return the charges with the total after each, newest first."""
        total, rows = Decimal(0), []
        for entry in self.account.entries:
            total += entry.epsilon
            shown = {"epsilon": round_up(Fraction(entry.epsilon), 2), "total": round_up(Fraction(total), 2)}
            rows.append({"entry": entry, **shown})
        return rows[::-1]


@dataclass(frozen=True, slots=True)
class Progress:
    """One wave, as it stands."""

    plan: Plan
    answers: int
    spending: Spending
    last: Release | None  # of this wave

    @property
    def smallest_batch(self) -> int:
        return int(self.plan.content["publication"]["smallest_batch"])

    @property
    def hours(self) -> int:
        return int(self.plan.content["publication"].get("hours", 0))

    @property
    def new_answers(self) -> int:
        return self.answers - (self.last.numbers["n"] if self.last else 0)

    @property
    def next_at(self) -> datetime.datetime | None:
        return self.last.published_at + datetime.timedelta(hours=self.hours) if self.last else None

    @property
    def stage(self) -> str:
        """Name what the rule waits for: the word picks the sentence in dashboard/stage.html."""
        if not self.plan.is_open:
            return self._stage_after_closing()
        if not self.spending.further:
            return "spent"
        if self.answers < self.smallest_batch:
            return "few"
        if not self.hours:
            return "until-closed"
        if self.last is None:
            return "soon"
        return "few-new" if self.new_answers < self.smallest_batch else "next"

    def _stage_after_closing(self) -> str:
        if self.answers < self.smallest_batch:
            return "too-few"
        if self.new_answers < 1:
            return "finished"
        return "soon" if self.spending.further else "spent"


def progress_of(plan: Plan, *, answers: int, account: Account, last: Release | None) -> Progress:
    cost = Decimal(plan.content["publication"]["epsilon"])
    return Progress(plan=plan, answers=answers, spending=Spending(account, cost), last=last)
