"""What a request would cost: budgets before and after, and what it means for one person.

From public values only: the Plan, the ledger, how many answered, and what is asked.
"""

import datetime
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from django.utils.formats import localize
from django.utils.translation import gettext as _

from dpengine.privacy import Cost, plain, round_down, round_up
from surveys.design import wording
from surveys.design.models import Plan
from surveys.design.terms import WIDEST
from surveys.guesses import even_guess_within
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import SHOWN_PLACES, Account, Statement, in_measure, places_for
from surveys.ledger.services import BadAmount, Refused
from surveys.releases import selectors as releases
from surveys.releases.models import Request
from surveys.releases.numbers import Document
from surveys.releases.queries.base import Query
from surveys.releases.queries.parameters import WrongParameter, percent_of
from surveys.releases.reconstruction import Crowding, crowding_of

MANY_TIMES = 100  # from here on without decimals


@dataclass(frozen=True, slots=True)
class BudgetLine(Statement):
    """One budget, before and after: in as many decimals as the cost needs."""

    whose: str
    in_rho: bool  # whether it was asked for in an ε that stands for so much ρ
    cost: Cost
    can_pay: bool

    @property
    def measure(self) -> str:
        """Return the sign of what it is paid in: in ρ, as it is asked for, where that can pay."""
        left = self.account.left
        is_enough = left.rho is not None and self.cost.rho <= left.rho
        if self.in_rho and is_enough and self.cost.delta <= left.delta:
            return "ρ"
        return self.account.measure_after(self.cost)

    @property
    def share(self) -> str:
        """Return how much of the cap it uses, in percent, rounded up: shares add up."""
        return percent_of(Fraction(self._exact) / Fraction(self.exact_cap))

    @property
    def times(self) -> int:
        """Return how many such requests what is left pays for, in the measure it is paid in."""
        return int(Fraction(self.exact_left) / Fraction(self._exact)) if self._exact else 0

    @property
    def _exact(self) -> Decimal:
        return in_measure(self.measure, self.cost)

    @property
    def places(self) -> int:
        return max(places_for(Fraction(self._exact)), SHOWN_PLACES[self.measure])

    @property
    def amount(self) -> Decimal:
        """Return what it costs, rounded up."""
        return round_up(Fraction(self._exact), self.places)

    @property
    def signed_amount(self) -> str:
        """Say what it costs with its sign; where either counts, in the other one too if it does."""
        said, other = f"{self.measure} {self.amount}", "ρ" if self.measure == "ε" else "ε"
        if not self.account.budget.is_either or not (self.cost.is_pure and self.cost.rho):
            return said
        exact = Fraction(in_measure(other, self.cost))
        amount = round_up(exact, max(places_for(exact), SHOWN_PLACES[other]))
        return f"{said} ({other} {amount})"

    @property
    def left_after(self) -> Decimal:
        return round_down(Fraction(self.exact_left) - Fraction(self._exact), self.places)

    @property
    def is_short_of_delta(self) -> bool:
        """Tell whether it is the δ of the budget, and not its ε or ρ, that cannot pay."""
        return not self.account.budget.is_pure and self.cost.delta > self.account.left.delta

    @property
    def picture_text(self) -> str:
        """Say what the picture of this budget shows."""
        text = _("Of a cap of %(cap)s, %(spent)s is spent; this would use %(amount)s")
        if self.can_pay:
            text = _(
                "Of a cap of %(cap)s, %(spent)s is spent; this would use %(amount)s and leave "
                "%(left)s"
            )
        amounts = {"cap": self.cap, "spent": self.spent, "amount": self.amount}
        amounts["left"] = self.left_after
        return text % {name: localize(amount) for name, amount in amounts.items()}

    @property
    def amount_width(self) -> str:
        """Return what it costs, of the cap, in percent; what is left at most."""
        return f"{100 * min(self._exact, self.exact_left) / self.exact_cap:.2f}%"


@dataclass(frozen=True, slots=True)
class Preview:
    """What confirming a request would do: what it costs, and what that means for one person."""

    query: Query
    title: str
    lines: list[BudgetLine]  # of every budget that pays, the study's own first
    epsilon: Decimal  # for people to compare
    delta: Decimal  # at which that ε holds; 0 where it always does
    expected: list[str]
    covers: float  # of all that is possible, which the widest interval is expected to cover
    crowding: Crowding  # as if these numbers had been published
    # names the statistic: if more answers are counted before it is confirmed, it is another one
    seen: str
    same: Request | None  # that was asked before

    @property
    def short(self) -> BudgetLine | None:
        """Return the first line that cannot pay."""
        return next((line for line in self.lines if not line.can_pay), None)

    @property
    def tells_little(self) -> bool:
        """Tell whether it would say next to nothing: as a rule would not publish by itself."""
        return 100 * self.covers > WIDEST

    @property
    def is_free(self) -> bool:
        """Tell whether answers lost all that this tells, by what was published before."""
        return not any(line.cost.rho for line in self.lines)

    @property
    def use(self) -> str:
        """Return what the button says."""
        own = self.lines[0]
        is_plain = own.measure == "ε" and not own.account.budget.is_either
        return str(own.amount) if is_plain else f"{own.measure} {own.amount}"

    @property
    def shown_epsilon(self) -> Decimal:
        return plain(round_up(Fraction(self.epsilon), places_for(Fraction(self.epsilon))))

    @property
    def chance(self) -> str:
        """Return how rarely odds grow beyond twice that factor, for people: 2δ at most."""
        return wording.twice(Fraction(self.delta)) if self.delta else ""

    @property
    def factor(self) -> str:
        """Return how many times likelier the numbers can make a guess about one person, at most."""
        times = math.exp(self.epsilon)
        return (
            f"{math.ceil(100 * times) / 100:.2f}" if times < MANY_TIMES else f"{math.ceil(times):,}"
        )

    @property
    def sure(self) -> str:
        """Return how sure, of 100, somebody can become who thought it was 50."""
        return even_guess_within(self.epsilon)


def preview_of(
    plan: Plan, kind: str, parameters: Document, *, asker: str, now: datetime.datetime
) -> Preview:
    query = releases.asked(plan, kind, parameters)
    if problem := releases.too_dear(plan, query):
        raise WrongParameter("epsilon", problem)
    cost, part = query.cost, releases.part_of(plan)
    accounts = [ledger.account(budget_id) for budget_id in releases.budgets_of(plan, asker)]
    accounts.sort(key=lambda account: account.budget.pk != plan.study.budget_id)
    delta = Fraction(plan.content.caps.central_delta or 0) / 2
    people = releases.people_counted(plan)
    in_rho = query.alone and plan.content.is_concentrated
    own_delta = cost.delta if cost.epsilon is not None else delta + cost.delta
    if in_rho:  # what was typed is what it lets out at most, whatever its noise is
        own_delta = Fraction(0) if cost.is_pure else delta + cost.delta
    return Preview(
        query=query,
        title=releases.heading(plan, query),
        lines=[
            BudgetLine(account, _whose(account, plan), in_rho, *_added(account, cost, part, now))
            for account in accounts
        ],
        epsilon=query.asked_epsilon if in_rho else ledger.epsilon_for_people(cost, delta),
        delta=plain(round_up(own_delta, 18)),
        expected=query.expected(query.people_expected(people)),
        covers=query.covers(query.people_expected(people)),
        crowding=crowding_of(plan, query.published),
        seen=releases.digest_now(plan, query),
        same=releases.same_request(plan, query),
    )


def _added(account: Account, cost: Cost, part: str, now: datetime.datetime) -> tuple[Cost, bool]:
    """Return what a cost adds to a budget, and whether that can pay it; all of it, if it never
    can.
    """
    try:
        return account.admitted(cost, part, now), True
    except BadAmount:
        return cost, False
    except Refused:
        return account.added(cost) if account.budget.retired_on is None else cost, False


def _whose(account: Account, plan: Plan) -> str:
    if account.budget.pk == plan.study.budget_id:
        return _("this study")
    if plan.study.panel_id and account.budget.name.startswith("panel"):
        return _("its panel")
    return _("your share of it")
