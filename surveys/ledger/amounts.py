"""Exact amounts in the places of their column: charges rounded up, caps rounded down."""

from decimal import Decimal
from fractions import Fraction

from django.utils.translation import gettext as _

from dpengine.privacy import Cost, plain, round_down, round_up
from surveys.ledger.fields import written
from surveys.ledger.models import AmountField, DeltaField, EpsilonField, RhoField
from surveys.ledger.refusals import BadAmount

Amount = Fraction | Decimal | int


def charged(cost: Cost) -> Cost:
    """Return a cost as it is charged."""
    given = [amount for amount in (cost.rho, cost.delta, cost.epsilon) if amount is not None]
    if not all(isinstance(amount, Fraction | int) for amount in given):
        raise BadAmount(
            _("A charge must be exact: a fraction, not a float. Nothing was published.")
        )
    if not cost.rho:
        raise BadAmount(_("A charge must be above 0. Nothing was published."))
    epsilon = (
        None if cost.epsilon is None else round_up(Fraction(cost.epsilon), EpsilonField.places)
    )
    return Cost(
        rho=Fraction(round_up(Fraction(cost.rho), RhoField.places)),
        delta=Fraction(round_up(Fraction(cost.delta), DeltaField.places)),
        epsilon=None if epsilon is None else Fraction(epsilon),
    )


def capped(name: str, amount: Amount, field: type[AmountField]) -> Decimal:
    """Return a cap as it is kept: above 0."""
    cap = exact_amount(name, amount, field)
    if cap <= 0:
        raise BadAmount(
            _("%(name)s must be above 0; it is %(amount)s.") % {"name": name, "amount": amount}
        )
    return cap


def exact_amount(name: str, amount: Amount, field: type[AmountField]) -> Decimal:
    if not isinstance(amount, Fraction | Decimal | int) or (
        isinstance(amount, Decimal) and not amount.is_finite()
    ):
        text = _("%(name)s must be an exact, finite amount; it is %(amount)s.")
        raise BadAmount(text % {"name": name, "amount": amount})
    if abs(amount) >= (most := 10**field.digits_before):
        raise BadAmount(
            _("%(name)s must be below %(most)s; it is not.") % {"name": name, "most": most}
        )
    return round_down(Fraction(amount), field.places)


def lowered(
    name: str, amount: Amount | None, present: Decimal, field: type[AmountField]
) -> Decimal:
    """Return a new cap, the present one if none was asked for. Only that of δ may be 0."""
    if amount is None:
        return present
    cap = (exact_amount if field is DeltaField else capped)(name, amount, field)
    if not 0 <= cap <= present:
        text = _("A cap can only fall: that of %(name)s is %(cap)s; %(asked)s was asked for.")
        raise BadAmount(text % {"name": name, "cap": written(present), "asked": written(cap)})
    return cap


def in_measure(measure: str, cost: Cost | None) -> Decimal:
    """Return costs in ε, or in ρ. Those of charges need no rounding."""
    if cost is None:
        return Decimal(0)
    amount, field = (cost.epsilon, EpsilonField) if measure == "ε" else (cost.rho, RhoField)
    return plain(round_up(amount or Fraction(0), field.places))
