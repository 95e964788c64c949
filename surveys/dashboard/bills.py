"""What a request would cost, before it is confirmed: budgets before and after, and what the cost means for one person.

From public values only: the Plan, the ledger, how many answered, and what is asked.
"""

import datetime
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.utils.translation import gettext as _

from dpengine.privacy import Cost, guess_within, plain, round_down, round_up
from surveys.design import wording
from surveys.design.models import Plan
from surveys.design.queries import at_most_of_hundred
from surveys.ledger import queries as ledger
from surveys.ledger.queries import Account, Statement, in_measure
from surveys.releases import queries as releases
from surveys.releases.queries import Asked

SIGNIFICANT = Fraction(1, 20)  # of an amount, that rounding may add to it
MOST_PLACES = 9
CROWDED = Fraction(1, 2)  # published numbers for each person, from which on a page warns
MANY_TIMES = 100  # from here on without decimals
HALVES = 2  # choices, where nothing was known before


@dataclass(frozen=True, slots=True)
class Line(Statement):
    """One budget, before and after: in as many decimals as the cost needs."""

    whose: str
    cost: Cost
    can_pay: bool

    @property
    def _exact(self) -> Decimal:
        return in_measure(self.account.budget, self.cost)

    @property
    def places(self) -> int:
        return max(places_for(Fraction(self._exact)), Statement(self.account).places)

    @property
    def amount(self) -> Decimal:
        """Return what it costs, rounded up."""
        return round_up(Fraction(self._exact), self.places)

    @property
    def left_after(self) -> Decimal:
        return round_down(Fraction(self.account.amount_left) - Fraction(self._exact), self.places)

    @property
    def is_short_of_delta(self) -> bool:
        """Tell whether it is the δ of the budget, and not its ε or ρ, that cannot pay."""
        return self.account.budget.measure != "ε" and self.cost.delta > self.account.left.delta

    @property
    def amount_width(self) -> str:
        """Return what it costs, of the cap, in percent; what is left at most."""
        return f"{100 * min(self._exact, self.account.amount_left) / self.account.cap:.2f}%"


@dataclass(frozen=True, slots=True)
class Bill:
    """All budgets that a request is charged to, and what its cost means."""

    lines: tuple[Line, ...]
    epsilon: Decimal  # for people to compare
    delta: Decimal  # at which that ε holds; 0 where it always does

    @property
    def own(self) -> Line:
        """Return the line of the study itself."""
        return self.lines[0]

    @property
    def can_pay(self) -> bool:
        return all(line.can_pay for line in self.lines)

    @property
    def short(self) -> Line | None:
        """Return the first line that cannot pay."""
        return next((line for line in self.lines if not line.can_pay), None)

    @property
    def use(self) -> str:
        """Return what the button says."""
        sign = "" if self.own.measure == "ε" else f"{self.own.measure} "
        return f"{sign}{self.own.amount}"

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
        return f"{math.ceil(100 * times) / 100:.2f}" if times < MANY_TIMES else f"{math.ceil(times):,}"

    @property
    def sure(self) -> str:
        """Return how sure, of 100, somebody can become who thought it was 50."""
        return at_most_of_hundred(guess_within(self.epsilon) if self.epsilon else Fraction(1, HALVES))


def places_for(amount: Fraction) -> int:
    """Return how many decimals say an amount well enough: two, or more if it is small."""
    for places in range(2, MOST_PLACES):
        if Fraction(round_up(amount, places)) <= amount * (1 + SIGNIFICANT):
            return places
    return MOST_PLACES


def bill_of(plan: Plan, asked: Asked, *, who: str, now: datetime.datetime) -> Bill:
    """Return what asking would cost, with every budget that pays."""
    part, cost = releases.part_of(plan), asked.cost
    accounts = [ledger.account(budget_id) for budget_id in releases.budgets_of(plan, who)]
    accounts.sort(key=lambda account: account.budget.pk != plan.study.budget_id)
    lines = tuple(
        Line(account, _whose(account, plan), cost, account.can_pay(cost, part=part, now=now)) for account in accounts
    )
    delta = Fraction(plan.content["caps"].get("central_delta", "0")) / 2
    pure = cost.epsilon is not None
    return Bill(
        lines=lines,
        epsilon=ledger.epsilon_for_people(cost, delta),
        delta=plain(round_up(cost.delta if pure else delta + cost.delta, 18)),
    )


def _whose(account: Account, plan: Plan) -> str:
    if account.budget.pk == plan.study.budget_id:
        return _("this study")
    return _("its panel") if plan.study.panel_id and account.budget.name.startswith("panel") else _("your share of it")


@dataclass(frozen=True, slots=True)
class Crowd:
    """How many numbers are published about how few people: the two that reconstruction compares."""

    published: int
    asked: int
    people: int

    @property
    def total(self) -> int:
        return self.published + self.asked

    @property
    def root(self) -> int:
        """Return √n: errors of this size are what reconstruction cannot get over."""
        return math.isqrt(self.people)

    @property
    def is_near(self) -> bool:
        return self.total >= CROWDED * self.people

    @property
    def is_over(self) -> bool:
        return self.total >= self.people


def crowd_of(plan: Plan, asked: Asked, people: int) -> Crowd:
    """Return how near a study's numbers come to its people, this request counted in."""
    return Crowd(releases.counts_published(plan.study), numbers_in(plan, asked), people)


def numbers_in(plan: Plan, asked: Asked) -> int:
    """Return about how many numbers a request publishes: its cells, where it counts answers."""
    questions: dict[str, dict[str, Any]] = {question["name"]: question for question in plan.content["questions"]}
    cells = [max(1, len(questions[name]["choices"])) for name in asked.questions]
    return sum(cells) if asked.kind in ("shares", "most_common", "watch") else math.prod(cells)
