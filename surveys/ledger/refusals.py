"""Why the ledger says no, from public values only. Nothing was written."""

from fractions import Fraction

from django.utils.formats import date_format

from dpengine.accounting.filters import Left
from dpengine.privacy import Cost, round_down, round_up
from surveys.ledger.fields import written
from surveys.ledger.models import Budget, DeltaField, EpsilonField, RhoField, Side
from surveys.messages import message

OUTCOMES = {
    Side.CENTRAL: message("Nothing was published.", is_ending=True),
    Side.LOCAL: message("Nothing was opened.", is_ending=True),
}
RETIRED = message("“%(budget)s” was retired on %(day)s: nothing is charged to it any more.")
OVERSPENT = message("“%(budget)s”: this costs %(cost)s; %(left)s is left.")
TOO_FAST = message(
    "“%(budget)s” may spend %(sign)s %(weekly)s in any seven days. This costs %(cost)s; "
    "%(left)s is left of that this week."
)
PURE_ONLY = message(
    "“%(budget)s” has a cap on ε alone: it pays for pure ε only, not for a mechanism with a δ or "
    "a ρ."
)
READS_UNKNOWN = message(
    "“%(budget)s” counts what answers lose: expected which reports are read, and none are named."
)
RHO = message("ρ %(rho)s")
RHO_AND_DELTA = message("ρ %(rho)s and δ %(delta)s")
EPSILON_OR_RHO = message("ε %(epsilon)s, or %(other)s")


class Refused(Exception):
    """The ledger does not do this, for a reason that can be told to anyone."""


class BadAmount(Refused):
    """An impossible amount: not a positive number, a δ too large, no ε where one is needed."""


class Mismatch(Refused):
    """The budgets count different things: a cost holds for one unit and one kind of neighbours."""


class OfBudget(Refused):
    """A budget refuses a charge; the text ends in what did not happen."""

    def __init__(self, budget: Budget, text: str) -> None:
        super().__init__(f"{text} {OUTCOMES[Side(budget.side)]}")


class Retired(OfBudget):
    """The budget is closed for good."""

    def __init__(self, budget: Budget) -> None:
        day = date_format(budget.retired_on, "DATE_FORMAT") if budget.retired_on else ""
        super().__init__(budget, RETIRED.said(budget=budget, day=day))


class Overspent(OfBudget):
    """The charge does not fit under the cap."""

    def __init__(self, budget: Budget, cost: Cost, left: Left) -> None:
        amounts = {"cost": shown(budget, cost), "left": shown(budget, left)}
        super().__init__(budget, OVERSPENT.said(budget=budget, **amounts))


class TooFast(OfBudget):
    """The charge fits under the cap, but not under the owner's limit for a week."""

    def __init__(self, budget: Budget, cost: Cost, left: Left) -> None:
        limit = {"sign": budget.measure, "weekly": written(budget.weekly)}
        amounts = {"cost": shown(budget, cost), "left": shown(budget, left)}
        super().__init__(budget, TOO_FAST.said(budget=budget, **limit, **amounts))


def shown(budget: Budget, amount: Cost | Left) -> str:
    """Return an amount in a budget's measure: charges rounded up, what is left rounded down. Under
    a cap on either both, but what has ended or is passed.
    """
    is_charge = isinstance(amount, Cost)
    rounded = round_up if is_charge else round_down
    epsilon = written(rounded(amount.epsilon or Fraction(0), EpsilonField.places))
    if budget.is_pure:
        return f"ε {epsilon}"
    rho = written(rounded(amount.rho or Fraction(0), RhoField.places))
    delta = written(rounded(amount.delta, DeltaField.places))
    other = RHO_AND_DELTA.said(rho=rho, delta=delta)
    if not amount.delta and (is_charge or not budget.delta):
        other = RHO.said(rho=rho)
    has_ended = amount.epsilon is None or amount.epsilon < 0 or (is_charge and amount.delta)
    if not budget.is_either or has_ended:
        return other
    if (amount.rho or 0) < 0:
        return f"ε {epsilon}"
    return EPSILON_OR_RHO.said(epsilon=epsilon, other=other)
