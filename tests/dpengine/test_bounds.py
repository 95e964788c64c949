from decimal import Context, Decimal
from fractions import Fraction

import pytest

from dpengine.bounds import exp_above, exp_below, ln_above, ln_below


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(-1, 4), Fraction(-40), Fraction(7, 3)])
def test_exponentials_lie_between_their_bounds(exponent):
    fine = Context(prec=80)
    exact = fine.exp(fine.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))
    below, above = exp_below(exponent), exp_above(exponent)
    assert below < Fraction(exact) < above
    assert above - below < above / 10**48


@pytest.mark.parametrize("amount", [Fraction(3), Fraction(1, 3), Fraction(10**20 + 1, 10**20)])
def test_logarithms_lie_between_their_bounds(amount):
    below, above = ln_below(amount), ln_above(amount)
    assert below < above
    assert exp_below(below) < amount < exp_above(above)
