import math
from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.accounting import concentrated, renyi
from dpengine.privacy import Cost

DELTA = Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("epsilon", "rho"),
    [("1", "0.0244"), ("2", "0.0882"), ("3", "0.185"), ("4", "0.311"), ("8", "1.052")],
)
def test_the_rho_of_an_epsilon_is_that_of_canonne_kamath_and_steinke(epsilon, rho):
    found = concentrated.rho_of(Fraction(epsilon), DELTA)
    assert round(found, len(rho) - 2) == Decimal(rho)
    assert concentrated.epsilon_of(Fraction(found), DELTA) <= Decimal(epsilon)
    assert concentrated.epsilon_of(Fraction(found) + Fraction(1, 10**8), DELTA) > Decimal(epsilon)


def test_a_thousand_small_releases():
    rho = 1000 * Cost.pure(Fraction("0.05")).rho
    assert math.isclose(concentrated.epsilon_of(rho, DELTA), 8.8459, abs_tol=1e-4)


@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "1e-2", "0.5"])
@pytest.mark.parametrize("rho", ["1e-7", "0.01", "0.5", "20"])
def test_the_exact_loss_of_gaussian_noise_is_below_the_conversion(rho, delta):
    """Balle and Wang 2018, Thm 8: δ(ε) of Gaussian noise, exactly."""
    epsilon = float(concentrated.epsilon_of(Fraction(rho), Fraction(delta)))
    mu = math.sqrt(2 * float(rho))
    exact = tail(epsilon / mu - mu / 2) - math.exp(min(epsilon, 700)) * tail(epsilon / mu + mu / 2)
    assert exact <= float(delta) * (1 + 1e-9)


def tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


def test_any_order_bounds_and_the_best_one_is_found():
    orders = [Fraction(step, 100) for step in range(101, 4000, 7)]
    grid = min(concentrated.converted(Fraction("0.1") * order, order, DELTA) for order in orders)
    assert concentrated.epsilon_of(Fraction("0.1"), DELTA) <= grid


def test_a_large_delta_needs_no_epsilon_and_a_large_epsilon_has_a_rho():
    assert concentrated.epsilon_of(Fraction(1, 10**9), Fraction(1, 10)) == 0
    assert concentrated.rho_of(Fraction(20), DELTA) > 4


@pytest.mark.parametrize(
    "call",
    [
        lambda: concentrated.epsilon_of(Fraction(0), DELTA),
        lambda: concentrated.rho_of(Fraction(0), DELTA),
        lambda: concentrated.epsilon_of(Fraction(1), Fraction(0)),
        lambda: concentrated.rho_of(Fraction(1), Fraction(1)),
        lambda: concentrated.converted(Fraction(1), Fraction(1), DELTA),
        lambda: renyi.epsilon_of([], DELTA),
        lambda: renyi.randomised_response(Fraction(0), Fraction(2)),
        lambda: renyi.divergence(Cost.pure(Fraction(1)), Fraction(1)),
    ],
)
def test_what_is_no_amount_is_refused_by_name(call):
    with pytest.raises(ValueError, match=r"must be above|must hold one"):
        call()
