"""Exponentials, logarithms and roots that err on a known side.

Decimal's exp, ln and sqrt are correctly rounded to DIGITS digits, so that one unit more or less is
a bound. Sums and products of bounds stay exact as fractions; what is shown is rounded last, by
`privacy.round_up` and `round_down`.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from dpengine.checks import require

DIGITS = 50  # of working precision
NEAREST = Context(prec=DIGITS)
UP = Context(prec=DIGITS, rounding=ROUND_CEILING)
DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR)


def above(amount: Fraction) -> Decimal:
    return UP.divide(Decimal(amount.numerator), Decimal(amount.denominator))


def below(amount: Fraction) -> Decimal:
    return DOWN.divide(Decimal(amount.numerator), Decimal(amount.denominator))


def exp_above(amount: Fraction) -> Fraction:
    return Fraction(NEAREST.next_plus(NEAREST.exp(above(amount))))


def exp_below(amount: Fraction) -> Fraction:
    return Fraction(NEAREST.next_minus(NEAREST.exp(below(amount))))


def ln_above(amount: Fraction) -> Fraction:
    return Fraction(NEAREST.next_plus(NEAREST.ln(above(amount))))


def ln_below(amount: Fraction) -> Fraction:
    return Fraction(NEAREST.next_minus(NEAREST.ln(below(amount))))


def sqrt_above(amount: Fraction) -> Fraction:
    return Fraction(NEAREST.next_plus(NEAREST.sqrt(above(amount))))


def check_delta(delta: Fraction) -> None:
    """Refuse a δ that is no chance, or one at which everything may be lost."""
    require(0 < delta < 1, "delta must be above 0 and below 1, got {}", delta)
