"""How a wave stands: what has come, what was published, and what the next publication waits for.

From public quantities only: the Plan, how many answered, the releases and the ledger.
"""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpengine.privacy import round_up
from surveys.design.models import Plan
from surveys.ledger.queries import Account, Statement
from surveys.releases.models import Release


@dataclass(frozen=True, slots=True)
class Spending(Statement):
    """What was spent, and what the next publication would cost."""

    next_cost: Decimal

    @property
    def cost(self) -> Decimal:
        return round_up(Fraction(self.next_cost), 2)

    @property
    def further(self) -> int:
        """Return how many more publications of this cost the cap pays for."""
        return int(self.account.left // self.next_cost)


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
        if self.new_answers < self.smallest_batch:
            return "too-few-new"
        return "soon" if self.spending.further else "spent"


def progress_of(plan: Plan, *, answers: int, account: Account, last: Release | None) -> Progress:
    cost = Decimal(plan.content["publication"]["epsilon"])
    return Progress(plan=plan, answers=answers, spending=Spending(account, cost), last=last)
