"""Why the ledger says no. Nothing was written; the text is for people, and comes from public values only."""

from fractions import Fraction

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.accounting.filters import Left
from dpengine.privacy import Cost, round_down, round_up
from surveys.ledger.fields import written
from surveys.ledger.models import Budget, DeltaField, EpsilonField, RhoField, Side

OUTCOMES = {
    Side.CENTRAL: gettext_lazy("Nothing was published."),
    Side.LOCAL: gettext_lazy("Nothing was opened."),
}


class Refused(Exception):
    """The ledger does not do this, for a reason that can be told to anyone."""


class BadAmount(Refused):
    """An amount that cannot be one: zero, negative, not a number, a δ too large, no ε where one is needed."""


class Mismatch(Refused):
    """The budgets count different things: a cost holds for one unit and one kind of neighbours."""


class Retired(Refused):
    """The budget is closed for good."""

    def __init__(self, budget: Budget) -> None:
        day = date_format(budget.retired_on, "DATE_FORMAT") if budget.retired_on else ""
        text = _("“%(budget)s” was retired on %(day)s: nothing is charged to it any more.")
        super().__init__(f"{text % {'budget': budget, 'day': day}} {_end(budget)}")


class Overspent(Refused):
    """The charge does not fit under the cap."""

    def __init__(self, budget: Budget, cost: Cost, left: Left) -> None:
        text = _("“%(budget)s”: this costs %(cost)s; %(left)s is left.")
        told = text % {"budget": budget, "cost": said(budget, cost), "left": said(budget, left)}
        super().__init__(f"{told} {_end(budget)}")
        self.budget, self.cost, self.left = budget, cost, left


class TooFast(Refused):
    """The charge fits under the cap, but not under the owner's limit for a week."""

    def __init__(self, budget: Budget, cost: Cost, left: Left) -> None:
        text = _(
            "“%(budget)s” may spend %(sign)s %(weekly)s in any seven days. This costs %(cost)s; "
            "%(left)s is left of that this week."
        )
        amounts = {"sign": budget.measure, "weekly": written(budget.weekly), "cost": said(budget, cost)}
        told = text % {**amounts, "budget": budget, "left": said(budget, left)}
        super().__init__(f"{told} {_end(budget)}")
        self.budget, self.cost, self.left = budget, cost, left


def said(budget: Budget, amount: Cost | Left) -> str:
    """Return an amount in a budget's measure: what was charged rounded up, what is left rounded down."""
    rounded = round_up if isinstance(amount, Cost) else round_down
    if budget.is_pure:
        return f"ε {written(rounded(amount.epsilon or Fraction(0), EpsilonField.places))}"
    rho = written(rounded(amount.rho or Fraction(0), RhoField.places))
    delta = written(rounded(amount.delta, DeltaField.places))
    return _("ρ %(rho)s and δ %(delta)s") % {"rho": rho, "delta": delta} if budget.delta or amount.delta else f"ρ {rho}"


def _end(budget: Budget) -> str:
    return str(OUTCOMES[Side(budget.side)])
