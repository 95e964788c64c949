"""Why the ledger says no. Nothing was written; the text is for people, and comes from public values only."""

from fractions import Fraction

from dpengine.accounting.filters import Left
from dpengine.privacy import Cost, round_down, round_up
from surveys.ledger.fields import written
from surveys.ledger.models import Budget, DeltaField, EpsilonField, RhoField, Side

OUTCOMES = {Side.CENTRAL: "Nothing was published.", Side.LOCAL: "Nothing was opened."}


class Refused(Exception):
    """The ledger does not do this, for a reason that can be told to anyone."""


class BadAmount(Refused):
    """An amount that cannot be one: zero, negative, not a number, a δ too large, no ε where one is needed."""


class Mismatch(Refused):
    """The budgets count different things: a cost holds for one unit and one kind of neighbours."""


class Retired(Refused):
    """The budget is closed for good."""

    def __init__(self, budget: Budget) -> None:
        day = f"{budget.retired_on:%-d %B %Y}"
        super().__init__(f"“{budget}” was retired on {day}: nothing is charged to it any more. {_end(budget)}")


class Overspent(Refused):
    """The charge does not fit under the cap."""

    def __init__(self, budget: Budget, cost: Cost, left: Left) -> None:
        super().__init__(f"“{budget}”: this costs {said(budget, cost)}; {said(budget, left)} is left. {_end(budget)}")
        self.budget, self.cost, self.left = budget, cost, left


class TooFast(Refused):
    """The charge fits under the cap, but not under the owner's limit for a week."""

    def __init__(self, budget: Budget, cost: Cost, left: Left) -> None:
        super().__init__(
            f"“{budget}” may spend {budget.measure} {written(budget.weekly)} in any seven days. This costs "
            f"{said(budget, cost)}; {said(budget, left)} is left of that this week. {_end(budget)}"
        )
        self.budget, self.cost, self.left = budget, cost, left


def said(budget: Budget, amount: Cost | Left) -> str:
    """Return an amount in a budget's measure: what was charged rounded up, what is left rounded down."""
    rounded = round_up if isinstance(amount, Cost) else round_down
    if budget.is_pure:
        return f"ε {written(rounded(amount.epsilon or Fraction(0), EpsilonField.places))}"
    rho = written(rounded(amount.rho or Fraction(0), RhoField.places))
    delta = written(rounded(amount.delta, DeltaField.places))
    return f"ρ {rho} and δ {delta}" if budget.delta or amount.delta else f"ρ {rho}"


def _end(budget: Budget) -> str:
    return OUTCOMES[Side(budget.side)]
