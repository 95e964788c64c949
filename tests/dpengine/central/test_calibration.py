from fractions import Fraction

import pytest

from dpengine.central.calibration import analytic, by_rho, classical, for_epsilon_delta
from dpengine.central.gaussian import DiscreteGaussian

SMALL = Fraction(1, 10**6)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(8)])
@pytest.mark.parametrize("square", [1, 2, 40])
def test_it_spends_at_most_delta_and_a_little_less_noise_would_spend_more(epsilon, square):
    mechanism = for_epsilon_delta(epsilon, SMALL, square)
    assert mechanism.delta(float(epsilon)) <= SMALL
    assert DiscreteGaussian(mechanism.scale * (1 - 1e-5), square).delta(float(epsilon)) > SMALL


def test_the_case_by_hand():
    half = Fraction(1, 2)
    assert for_epsilon_delta(half, SMALL, 1).scale == pytest.approx(8.052, abs=1e-3)
    assert analytic(half, SMALL, 1) == pytest.approx(8.058, abs=1e-3)
    assert classical(half, SMALL, 1) == pytest.approx(10.598, abs=1e-3)
    assert by_rho(half, SMALL, 1) == pytest.approx(10.607, abs=1e-3)


def test_exact_noise_is_that_of_the_analytic_mechanism_when_it_is_wide():
    assert for_epsilon_delta(Fraction(1), SMALL, 10**12, alone=True).scale == pytest.approx(
        analytic(Fraction(1), SMALL, 10**12), rel=1e-6
    )


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(9, 10)])
def test_the_classical_calibration_is_private_but_takes_more_noise_than_it_needs(epsilon):
    scale = classical(epsilon, SMALL, 2)
    assert DiscreteGaussian(scale, 2).delta(float(epsilon)) < SMALL
    assert scale > 1.2 * for_epsilon_delta(epsilon, SMALL, 2).scale


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(3)])
def test_the_classical_calibration_is_refused_where_it_is_not_proved(epsilon):
    with pytest.raises(ValueError, match=f"epsilon must be below 1 for the classical calibration, got {epsilon}"):
        classical(epsilon, SMALL, 1)


def test_a_delta_so_large_that_hardly_any_noise_is_needed_is_met():
    assert for_epsilon_delta(Fraction(20), Fraction(99, 100), 1).delta(20.0) <= 0.99


@pytest.mark.parametrize("calibrate", [for_epsilon_delta, analytic, classical, by_rho])
@pytest.mark.parametrize(("epsilon", "delta"), [(0, SMALL), (-1, SMALL), (Fraction(1, 2), 0), (Fraction(1, 2), 1)])
def test_losses_that_are_none_are_refused(calibrate, epsilon, delta):
    with pytest.raises(ValueError, match="must be"):
        calibrate(Fraction(epsilon), Fraction(delta), 1)


def test_noise_that_64_bits_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="so small that noise"):
        for_epsilon_delta(Fraction(1, 10**17), Fraction(1, 10**18), 1)
