"""How a wave stands: what has come, what was published, and what the next publication waits for.

From public quantities only: the Plan, how many answered, the releases and the ledger.
"""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpengine.privacy import round_up
from surveys.design.models import Plan, Rule
from surveys.ledger import queries as ledger
from surveys.ledger.queries import Account, Statement
from surveys.releases import queries as releases
from surveys.releases.models import Release, Step


@dataclass(frozen=True, slots=True)
class Spending(Statement):
    """What was spent, and what the next publication would cost."""

    next_cost: Decimal

    @property
    def cost(self) -> Decimal:
        return round_up(Fraction(self.next_cost), self.places)

    @property
    def further(self) -> int:
        """Return how many more publications of this cost the cap pays for."""
        return int(self.account.amount_left // self.next_cost)


@dataclass(frozen=True, slots=True)
class Progress:
    """One wave, as it stands."""

    plan: Plan
    answers: int
    spending: Spending
    last: Release | Step | None  # by the rule of this wave
    is_retired: bool = False

    @property
    def smallest_batch(self) -> int:
        return int(self.plan.content["publication"]["smallest_batch"])

    @property
    def hours(self) -> int:
        return int(self.plan.content["publication"].get("hours", 0))

    @property
    def rule(self) -> str:
        return str(self.plan.content["publication"]["rule"])

    @property
    def is_paid(self) -> bool:
        """Tell whether all refreshes were paid for with the first."""
        return self.rule == Rule.CONTINUAL and self.last is not None

    @property
    def refreshes_left(self) -> int:
        """Return how many refreshes are paid for and to come."""
        return int(self.plan.content["publication"]["horizon"]) - self.last.number if isinstance(self.last, Step) else 0

    @property
    def can_go_on(self) -> bool:
        return self.refreshes_left > 0 if self.is_paid else self.spending.further > 0

    @property
    def least_new(self) -> int:
        """Return how many new answers the next numbers wait for: a refresh that is paid for, for one."""
        return 1 if self.is_paid else self.smallest_batch

    @property
    def new_answers(self) -> int:
        return self.answers - (self.last.numbers["n"] if self.last else 0)

    @property
    def next_at(self) -> datetime.datetime | None:
        return self.last.published_at + datetime.timedelta(hours=self.hours) if self.last else None

    @property
    def stage(self) -> str:
        """Name what the rule waits for: the word picks the sentence in dashboard/stage.html."""
        if self.is_retired:
            return "retired"
        if self.rule == Rule.ON_REQUEST and self.answers >= self.smallest_batch:
            return "on-request"
        if not self.plan.is_open:
            return self._stage_after_closing()
        if not self.can_go_on:
            return "spent"
        if self.answers < self.smallest_batch:
            return "few"
        if not self.hours:
            return "until-closed"
        if self.last is None:
            return "soon"
        return "few-new" if self.new_answers < self.least_new else "next"

    def _stage_after_closing(self) -> str:
        if self.answers < self.smallest_batch:
            return "too-few"
        if self.new_answers < 1:
            return "finished"
        if self.new_answers < self.least_new:
            return "too-few-new"
        return "soon" if self.can_go_on else "spent"


def progress_of(plan: Plan, *, answers: int, account: Account, last: Release | Step | None) -> Progress:
    rule = plan.content["publication"]
    cost = Decimal(rule["epsilon"] if account.budget.is_pure else rule["rho"])
    return Progress(
        plan=plan,
        answers=answers,
        spending=Spending(account, cost),
        last=last,
        is_retired=plan.study.retired_on is not None,
    )


def standing_of(plan: Plan) -> Progress:
    """Return how a wave stands now."""
    if plan.study.budget_id is None:
        raise ValueError(f"{plan} has no budget")
    last = releases.latest_releases([plan]).get(plan.pk)
    account = ledger.account(plan.study.budget_id)
    return progress_of(plan, answers=releases.answers_so_far(plan), account=account, last=last)
