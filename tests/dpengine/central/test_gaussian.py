import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpengine.central import gaussian
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.estimates import Margin, share
from dpengine.privacy import Cost

DRAWS = 20_000
OPEN = Margin(Fraction(1), Fraction(0))

SMALL = Fraction(1, 10**6)


def exact_law(scale):
    """Return whole numbers and chances, summed plainly."""
    at = np.arange(-math.ceil(30 * scale) - 2, math.ceil(30 * scale) + 3)
    weights = np.exp(-(at.astype(float) ** 2) / (2 * scale**2))
    return at, weights / weights.sum()


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(1, 3), Fraction(7, 10**6), Fraction(3)])
@pytest.mark.parametrize("sensitivity_squared", [1, 2, 26])
def test_it_never_costs_more_than_was_asked_for(rho, sensitivity_squared):
    mechanism = DiscreteGaussian.for_rho(rho, sensitivity_squared)
    assert rho * (1 - Fraction(1, 2**50)) < mechanism.rho <= rho
    assert mechanism.cost == Cost.concentrated(mechanism.rho)


@pytest.mark.parametrize("part", range(1, 200))
def test_a_root_is_the_least_float_that_is_not_too_small(part):
    square = Fraction(10, 7 * part)
    root = gaussian.root_above(square)
    assert Fraction(root) ** 2 >= square > Fraction(math.nextafter(root, 0.0)) ** 2


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.9, 4.0, 50.0, 256.0, 300.0])
def test_its_moments_and_tails_are_those_of_its_law(scale):
    mechanism = DiscreteGaussian(scale, 1)
    at, chances = exact_law(scale)
    assert mechanism.variance == pytest.approx(float(chances @ at**2.0), rel=1e-9)
    assert mechanism.mean_absolute_error == pytest.approx(float(chances @ np.abs(at)), rel=1e-8)
    reach = int(5 * scale) + 3
    least = np.arange(-reach, reach + 1, max(1, reach // 20))
    expected = [float(chances[at >= edge].sum()) for edge in least]
    assert mechanism.tail(least) == pytest.approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("scale", [0.7, 4.0, 300.0])
def test_what_is_drawn_follows_the_law_that_intervals_count_on(scale):
    """Chi-square of 20,000 draws against the tail formula; a false alarm once in a million runs."""
    mechanism = DiscreteGaussian(scale, 1)
    drawn = np.array(mechanism.release([1000] * DRAWS)) - 1000
    reach = max(1, int(2 * scale))
    edges = np.unique(np.linspace(-reach, reach, 21).astype(int))
    tails = np.concatenate([[1.0], mechanism.tail(edges), [0.0]])
    seen = np.histogram(drawn, np.concatenate([[-np.inf], edges - 0.5, [np.inf]]))[0]
    assert stats.chisquare(seen, -np.diff(tails) * DRAWS).pvalue > 1e-6


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 4.0])
def test_delta_of_one_count_is_the_largest_excess_over_all_events(scale, epsilon):
    """By enumeration: Σ (P(z) − e^ε·P(z − 1))₊."""
    _, chances = exact_law(scale)
    beside = np.append(chances[1:], 0.0)
    excess = float(np.maximum(chances - math.exp(epsilon) * beside, 0).sum())
    assert DiscreteGaussian(scale, 1).delta(epsilon) == pytest.approx(excess, rel=1e-6, abs=1e-14)


@pytest.mark.parametrize("scale", [0.6, 1.5, 3.9, 4.5])
def test_delta_of_a_histogram_is_the_largest_excess_over_all_pairs_of_counts(scale):
    _, chances = exact_law(scale)
    beside = np.append(chances[1:], 0.0)
    for epsilon in (0.2, 1.0):
        excess = np.maximum(
            np.outer(chances, chances) - math.exp(epsilon) * np.outer(beside, beside), 0
        ).sum()
        assert DiscreteGaussian(scale, 2).delta(epsilon) == pytest.approx(float(excess), rel=1e-6)


def test_delta_of_one_number_that_moves_far_is_not_that_of_many_counts():
    _, chances = exact_law(1.0)
    beside = np.append(chances[3:], [0.0] * 3)
    excess = float(np.maximum(chances - math.e * beside, 0).sum())
    assert DiscreteGaussian(1.0, 9).delta(1.0, alone=True) == pytest.approx(excess, rel=1e-6)
    with pytest.raises(ValueError, match="must be a square"):
        DiscreteGaussian(1.0, 2).delta(1.0, alone=True)


@pytest.mark.parametrize("places", [1, 3])
def test_delta_of_wide_noise_is_the_sum_and_never_below_it(monkeypatch, places):
    wide = DiscreteGaussian(5000.0, places)
    summed = wide.delta(0.002)
    monkeypatch.setattr(gaussian, "TERMS", 2**10)
    assert summed * (1 - 1e-9) <= wide.delta(0.002) <= summed * (1 + 1e-6)


def test_the_case_by_hand():
    mechanism = DiscreteGaussian(1.0, 1)
    assert mechanism.rho == Fraction(1, 2)
    assert mechanism.tail(np.array([1, 2])) == pytest.approx([0.30053, 0.05856], abs=1e-5)
    assert mechanism.delta(1.0) == pytest.approx(0.14135, abs=1e-5)


def test_an_interval_of_a_share_counts_it():
    noise = DiscreteGaussian(20.0, 1)
    with_noise, without = (
        share(300, 1000, OPEN, noise),
        share(300, 1000, OPEN, DiscreteGaussian(0.02, 1)),
    )
    assert with_noise.low < without.low < 0.3 < without.high < with_noise.high
    assert with_noise.variance.publication == pytest.approx(400 / 1000**2)


@pytest.mark.parametrize("count", [2**63, 10**30, -(10**30)])
def test_counts_that_64_bits_cannot_hold_are_held_at_the_edge(count):
    (noisy,) = DiscreteGaussian(1.0, 1).release([count])
    assert abs(noisy - math.copysign(2**62, count)) < 40  # beyond: a chance of e^−800
    assert DiscreteGaussian(1.0, 1).release([]) == []


@pytest.mark.parametrize(
    ("scale", "square"), [(0.0, 1), (0.01, 1), (math.inf, 1), (math.nan, 1), (2.0**51, 1), (1.0, 0)]
)
def test_a_mechanism_without_protection_is_refused(scale, square):
    with pytest.raises(ValueError, match="must be"):
        DiscreteGaussian(scale, square)


def test_costs_and_losses_that_are_none_are_refused():
    with pytest.raises(ValueError, match="rho must be above 0, got 0"):
        DiscreteGaussian.for_rho(Fraction(0), 1)
    with pytest.raises(ValueError, match="epsilon must be 0 or more, got -1"):
        DiscreteGaussian(1.0, 1).delta(-1.0)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(8)])
@pytest.mark.parametrize("square", [1, 2, 40])
def test_it_spends_at_most_delta_and_a_little_less_noise_would_spend_more(epsilon, square):
    mechanism = DiscreteGaussian.for_epsilon_delta(epsilon, SMALL, square)
    assert mechanism.delta(float(epsilon)) <= SMALL
    assert DiscreteGaussian(mechanism.scale * (1 - 1e-5), square).delta(float(epsilon)) > SMALL


def test_exact_noise_is_that_of_the_analytic_mechanism_when_it_is_wide():
    """Balle and Wang 2018, Thm 8, of continuous noise."""
    found = DiscreteGaussian.for_epsilon_delta(Fraction(1), SMALL, 10**12, alone=True)
    assert gaussian.delta_of_continuous(found.scale / 10**6, 1.0) == pytest.approx(
        float(SMALL), rel=1e-5
    )


def test_a_delta_so_large_that_hardly_any_noise_is_needed_is_met():
    found = DiscreteGaussian.for_epsilon_delta(Fraction(20), Fraction(99, 100), 1)
    assert found.delta(20.0) <= 0.99


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0, SMALL), (-1, SMALL), (Fraction(1, 2), 0), (Fraction(1, 2), 1)]
)
def test_losses_that_are_none_are_refused(epsilon, delta):
    with pytest.raises(ValueError, match="must be"):
        DiscreteGaussian.for_epsilon_delta(Fraction(epsilon), Fraction(delta), 1)


def test_noise_for_a_delta_that_64_bits_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="so small that noise"):
        DiscreteGaussian.for_epsilon_delta(Fraction(1, 10**17), Fraction(1, 10**18), 1)
