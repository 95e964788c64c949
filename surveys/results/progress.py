"""How a wave stands: what has come, what was published, and what the next publication waits for.

From public quantities only: the Plan, how many answered (as far as it is told), the releases and
the ledger.
"""

import datetime
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dpengine.privacy import Cost, round_up
from surveys.design.models import Plan, Rule
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import SHOWN_PLACES, Account, Statement, in_measure
from surveys.plan.content import PublicationTerms
from surveys.releases import selectors as releases
from surveys.releases.models import Release, Step
from surveys.releases.selectors import TooWide

OVER = {"on-request", "retired", "finished", "too-few", "too-few-new", "spent"}  # stages


@dataclass(frozen=True)
class WaveProgress:
    """One wave, as it stands."""

    plan: Plan
    told: int | None  # how many answered; None where that is protected and not counted yet
    account: Account
    last: Release | Step | None  # by the rule of this wave

    @classmethod
    def of(cls, plan: Plan) -> "WaveProgress":
        account = ledger.account(plan.study.budget_id)  # type: ignore[arg-type]  # it has opened
        return cls(plan, releases.answers_so_far(plan), account, releases.last_by_rule(plan))

    @property
    def answers(self) -> int:
        return self.told or 0

    @property
    def terms(self) -> PublicationTerms:
        return self.plan.content.publication

    @property
    def statement(self) -> Statement:
        return Statement(self.account)

    @property
    def left_either_way(self) -> str:
        """Return what is left, of a cap on either in both measures that can still pay."""
        return f"{self.statement.left} {self.statement.or_left}".strip()

    @property
    def cost(self) -> str:
        """Return the next cost, with its sign where what is spent is said in the other one."""
        sign = self.account.measure_after(self.next_cost)
        amount = round_up(Fraction(in_measure(sign, self.next_cost)), SHOWN_PLACES[sign])
        return f"{amount}" if sign == self.account.measure else f"{sign} {amount}"

    @property
    def further(self) -> int:
        """Return how many more publications of the next cost the cap pays for."""
        return self.account.pays_for(self.next_cost)

    @cached_property
    def next_cost(self) -> Cost:
        """Return what the rule's next publication costs, at most."""
        says_more = self.account.budget.is_either or self.costs_less_each_time
        if says_more and releases.publishes_by_rule(self.plan):
            return releases.by_rule(self.plan).cost
        if self.terms.rho:
            return Cost.concentrated(Fraction(self.terms.rho))
        return Cost.pure(Fraction(self.terms.epsilon))

    @property
    def is_paid(self) -> bool:
        """Tell whether all refreshes were paid for with the first."""
        return self.terms.rule == Rule.CONTINUAL and self.last is not None

    @property
    def refreshes_left(self) -> int:
        """Return how many refreshes are paid for and to come."""
        return self.terms.horizon - self.last.number if isinstance(self.last, Step) else 0

    @cached_property
    def can_go_on(self) -> bool:
        if self.is_paid:
            return self.refreshes_left > 0
        if not releases.publishes_by_rule(self.plan):
            return self.further > 0
        if self.costs_less_each_time or not self.plan.content.n_is_public:
            return self.account.can_pay(releases.next_by_rule(self.plan).cost)
        return self.further > 0

    @property
    def costs_less_each_time(self) -> bool:
        """Tell whether charges are what answers lose: nothing is lost twice."""
        return self.account.budget.counts_answers

    @cached_property
    def too_wide(self) -> TooWide | None:
        """Return which question holds up what is due, for its interval would say too little."""
        return None if self.last else releases.waits(self.plan)

    @property
    def pays_again(self) -> bool:
        """Tell whether each publication to come is paid for on its own."""
        return not self.is_paid and self.stage not in OVER

    @property
    def least_new(self) -> int:
        """Return how many new answers the next numbers wait for: one, where they are paid for."""
        return 1 if self.is_paid else self.terms.smallest_batch

    @property
    def new_answers(self) -> int:
        return self.answers - (self.last.content.n if self.last else 0)

    @property
    def next_at(self) -> datetime.datetime | None:
        return (
            self.last.published_at + datetime.timedelta(hours=self.terms.hours)
            if self.last
            else None
        )

    @cached_property
    def stage(self) -> str:
        """Name what the rule waits for: the word picks the sentence in results/stage.html."""
        if self.plan.study.is_retired:
            return "retired"
        if self.told is None:
            return "uncounted"
        if self.terms.rule == Rule.ON_REQUEST and self.answers >= self.terms.smallest_batch:
            return "on-request"
        if not self.plan.is_open:
            return self._stage_after_closing()
        if not self.can_go_on:
            return "spent"
        if self.answers < self.terms.smallest_batch:
            return "few"
        if not self.terms.hours:
            return "until-closed"
        if self.last is None:
            return "wide" if self.too_wide else "soon"
        return "few-new" if self.new_answers < self.least_new else "next"

    def _stage_after_closing(self) -> str:
        if self.answers < self.terms.smallest_batch:
            return "too-few"
        if self.new_answers < 1:
            return "finished"
        if self.new_answers < self.least_new:
            return "too-few-new"
        if self.too_wide:
            return "wide"
        return "soon" if self.can_go_on else "spent"
