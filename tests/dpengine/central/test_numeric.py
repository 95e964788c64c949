"""Reached on the ask page: “Mean of a number or of scored choices”."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.numeric import (
    LEVELS,
    SQUARES,
    Bounds,
    Mean,
    Spread,
    half_width,
)
from dpengine.privacy import Neighbours

CHANGE, ADD = Neighbours.CHANGE_ONE, Neighbours.ADD_REMOVE
FAR = [Bounds(-(2**63), 2**63), Bounds(2**63 - 10, 2**63), Bounds(0, 2**33 + 1)]


@pytest.mark.parametrize("bounds", [Bounds(0, 1), Bounds(-7, 4), *FAR], ids=str)
def test_no_value_weighs_more_than_its_sensitivity(bounds):
    values = [
        bounds.least - 5,
        bounds.least,
        0,
        bounds.least + bounds.width // 3,
        bounds.most,
        bounds.most + 2**70,
    ]
    assert all(abs(bounds.centred(value)) <= bounds.half_units <= LEVELS for value in values)
    assert all(0 <= bounds.squared(value) <= SQUARES for value in values)
    assert bounds.centred(bounds.most) - bounds.centred(bounds.least) <= 2 * bounds.half_units


@pytest.mark.parametrize("neighbours", Neighbours)
def test_neighbours_sums_differ_by_no_more_than_the_sensitivity(neighbours):
    """Enumerated: every data set of two or three people within −2 to 3, and every neighbour."""
    bounds = Bounds(-2, 3)
    mean = Mean.for_epsilon(Fraction(1), bounds, neighbours)
    for one, other in itertools.product(range(-2, 4), repeat=2):
        away = [] if neighbours is ADD else [other]
        centred = bounds.centred(one) - sum(map(bounds.centred, away))
        assert abs(centred) <= mean.total.sensitivity


@pytest.mark.parametrize("spread", Spread)
@pytest.mark.parametrize("neighbours", Neighbours)
def test_a_mean_costs_what_was_asked_and_no_more(neighbours, spread):
    epsilon = Fraction(7, 10)
    cost = Mean.for_epsilon(epsilon, Bounds(0, 10), neighbours, spread).cost
    assert epsilon * (1 - Fraction(1, 10**12)) < cost.epsilon <= epsilon
    assert cost.is_pure


def test_the_case_by_hand():
    mean = Mean.for_epsilon(Fraction(1), Bounds(0, 10), CHANGE)
    assert mean.total.scale == 20
    assert mean.standard_error(100) == pytest.approx(0.1414, abs=1e-4)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_at_a_very_large_epsilon_the_mean_is_exact(neighbours):
    values, bounds = [-4, -2, 7, 1, 99], Bounds(-3, 9)
    mean = Mean.for_epsilon(Fraction(10**4), bounds, neighbours, Spread.RELEASED).release(values)
    assert mean.value == pytest.approx(12 / 5)


@pytest.mark.parametrize("spread", Spread)
@pytest.mark.parametrize("neighbours", Neighbours)
def test_intervals_hold_at_least_as_often_as_they_say(neighbours, spread):
    """200 samples of 400: fewer than 180 hits of 95 % is rarer than once in 300,000 runs."""
    people = np.random.default_rng(20)
    mean = Mean.for_epsilon(Fraction(1), Bounds(0, 20), neighbours, spread)
    hits = 0
    for _ in range(200):
        found = mean.release(people.binomial(20, 0.3, size=400).tolist())
        hits += found.low <= 6 <= found.high
    assert hits >= 180


def test_a_released_spread_makes_narrower_intervals_for_answers_close_together():
    values = [50] * 2000 + [51] * 2000
    wide, narrow = (
        Mean.for_epsilon(Fraction(1), Bounds(0, 100), CHANGE, spread).release(values)
        for spread in Spread
    )
    assert (narrow.high - narrow.low) < (wide.high - wide.low) / 2


@pytest.mark.parametrize("error", [0.05, 1e-4])
@pytest.mark.parametrize(
    ("scale", "deviation"), [(3.0, 0.0), (3.0, 0.2), (3.0, 4.0), (1.0, 900.0), (1.0, 5000.0)]
)
def test_the_half_width_leaves_out_no_more_than_the_error(scale, deviation, error):
    """Against a sum over the discrete noise."""
    h = half_width(scale, deviation, error)
    reach = int(40 * scale)
    z = np.arange(-reach, reach + 1)
    p = math.exp(-1 / scale)
    law = (1 - p) / (1 + p) * p ** np.abs(z)
    if deviation == 0:
        outside = float(law[np.abs(z) > h].sum())
    else:
        tails = [math.erfc((h - noise) / deviation / math.sqrt(2)) / 2 for noise in z]
        outside = 2 * float(law @ np.array(tails))
    assert outside <= error * 1.0001
    assert outside >= error / 2 or deviation == 0


@pytest.mark.parametrize("bounds", FAR, ids=str)
@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("values", [[2**63], [2**63 - 1] * 5, [-(2**70), 2**70]], ids=str)
def test_numbers_near_the_end_of_64_bits_are_answered(bounds, neighbours, values):
    found = Mean.for_epsilon(Fraction(1), bounds, neighbours).release(values)
    assert found.low <= found.value <= found.high


def test_far_numbers_keep_their_place():
    """Noise of one part in a thousand of the bounds: the sum of the highest stays high."""
    found = Mean.for_epsilon(Fraction(1), FAR[0], CHANGE).release([2**63] * 20_000)
    assert found.value > 0.99 * 2**63


@pytest.mark.parametrize("spread", Spread)
@pytest.mark.parametrize("neighbours", [CHANGE, ADD])
@pytest.mark.parametrize("scales", [-8, 8])
def test_a_sum_that_noise_took_far_beyond_the_bounds_leaves_more_than_one_mean(
    monkeypatch, neighbours, spread, scales
):
    mean = Mean.for_epsilon(Fraction(1, 5), Bounds(0, 10), neighbours, spread)

    def far(noise, counts):
        off = round(scales * noise.scale) if noise is mean.total else 0
        return [count + off for count in counts]

    monkeypatch.setattr(DiscreteLaplace, "release", far)
    found = mean.release([5] * 60)
    assert found.value == (0 if scales < 0 else 10)
    assert found.low <= found.value <= found.high
    assert found.high - found.low > 1


def test_nobody_is_an_error_only_where_n_is_public():
    assert 0 <= Mean.for_epsilon(Fraction(1), Bounds(0, 10), ADD).release([]).value <= 10
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        Mean.for_epsilon(Fraction(1), Bounds(0, 10), CHANGE).release([])


@pytest.mark.parametrize(("least", "most"), [(1, 1), (2, 1)])
def test_bounds_the_wrong_way_round_are_refused(least, most):
    with pytest.raises(ValueError, match=f"least must be below most, got {least} and {most}"):
        Bounds(least, most)


@pytest.mark.parametrize("spread", Spread)
@pytest.mark.parametrize("expected", [0.1, 0.2, 0.5, 1, 2, 3, 5])
def test_an_interval_holds_where_a_few_of_many_are_far_from_all_others(expected, spread):
    """So many of 500 at the top on average, the others at the bottom, with noise of a tenth of a
    person: exactly.
    """
    n, bounds = 500, Bounds(0, 1000)
    mechanism = Mean.for_epsilon(Fraction(20), bounds, Neighbours.CHANGE_ONE, spread)
    holds = 0.0
    for far in range(25):
        total = sum(map(bounds.centred, [0] * (n - far) + [1000] * far))
        most = bounds.width**2 / 4
        if spread is Spread.RELEASED:  # as it comes out without noise in the second moment
            most = mechanism._variance_at_most(SQUARES * n, total, n)
        low, high = mechanism._interval(total, n, most)
        chance = math.comb(n, far) * (expected / n) ** far * (1 - expected / n) ** (n - far)
        holds += chance * (low <= 1000 * expected / n <= high)
    assert holds > 0.94
