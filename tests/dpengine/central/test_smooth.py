"""Reached on the ask page, where it is the more precise: “Median, or another quantile, of a number”,
method smooth sensitivity.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpengine.central.numeric import Bounds
from dpengine.central.smooth import (
    SmoothMedian,
    delta_of,
    largest_step,
    median,
    sensitivities,
)
from dpengine.privacy import Neighbours

CHANGE, ADD = Neighbours.CHANGE_ONE, Neighbours.ADD_REMOVE
FOUR = Bounds(0, 4)
SMALL = Fraction(1, 10**6)


def data_sets(most):
    for n in range(most + 1):
        yield from (list(values) for values in itertools.combinations_with_replacement(range(5), n))


def neighbours_of(values, neighbours):
    """Every neighbour; under add-remove those with one person less, the others being their
    mirror image.
    """
    for place in range(len(values)):
        rest = values[:place] + values[place + 1 :]
        yield from [rest] if neighbours is ADD else (sorted([*rest, value]) for value in range(5))


@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_bound_is_smooth_and_covers_what_the_median_moves(neighbours):
    """Enumerated: F(D) ≤ (1 + r)·F(D′), exactly, and |f(D) − f(D′)| ≤ A₀ of both."""
    mechanism = SmoothMedian.for_epsilon_delta(Fraction(2), Fraction(1, 100), FOUR, neighbours)
    for values in data_sets(5):
        for beside in neighbours_of(values, neighbours):
            one, other = mechanism.smooth_bound(values), mechanism.smooth_bound(beside)
            assert max(one, other) <= (1 + mechanism.step) * min(one, other)
            moved = abs(median(values, FOUR) - median(beside, FOUR))
            assert mechanism.parts * moved <= mechanism.first * min(one, other)
            assert moved <= min(
                sensitivities(data, FOUR, neighbours, 1)[0] for data in (values, beside)
            )


def test_sensitivities_are_the_largest_local_ones_at_each_distance():
    """Change-one, by brute force: the median's largest move from any data set at most k changes
    away.
    """
    for values in ([0, 0, 1, 3], [2, 2, 2], [0, 1, 4, 4, 4]):
        everyone = [
            list(data) for data in itertools.combinations_with_replacement(range(5), len(values))
        ]
        found = sensitivities(values, FOUR, CHANGE, len(values))
        for k in range(len(values)):
            near = [data for data in everyone if changes(values, data) <= k]
            moves = [
                abs(median(d, FOUR) - median(e, FOUR))
                for d in near
                for e in everyone
                if changes(d, e) <= 1
            ]
            assert found[k] == max(moves)


def changes(one, other):
    """Return how many people must answer differently: those not matched by an equal value."""
    left = list(other)
    for value in one:
        if value in left:
            left.remove(value)
    return len(left)


def test_the_case_by_hand():
    assert sensitivities([1, 1, 1, 1, 1, 9, 9], Bounds(0, 10), CHANGE, 2).tolist() == [0, 8]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("delta", [Fraction(1, 20), SMALL])
def test_the_laws_of_neighbouring_rungs_are_as_close_as_claimed(epsilon, delta):
    """Summed over whole numbers: δ(ε) between every two neighbouring scales, at the farthest
    medians allowed.
    """
    mechanism = SmoothMedian.for_epsilon_delta(epsilon, delta, Bounds(0, 300), CHANGE)
    for low in range(min(len(mechanism.scales) - 1, 40)):
        for one, other in ((low, low + 1), (low + 1, low), (low, low)):
            b, c = mechanism.scales[one], mechanism.scales[other]
            away = mechanism.reaches[min(one, other)]
            z = np.arange(-int(80 * b), int(80 * b) + 1)
            first = np.log(np.tanh(1 / (2 * b))) - np.abs(z) / b
            second = np.log(np.tanh(1 / (2 * c))) - np.abs(z + away) / c
            distance = float(np.sum(np.maximum(np.exp(first) - np.exp(float(epsilon) + second), 0)))
            assert distance <= float(delta)


def test_the_step_is_the_largest_that_keeps_delta_and_beats_the_textbook():
    step = largest_step(Fraction(1), Fraction(1, 2), SMALL)
    kept, passed = (
        delta_of(Fraction(1), Fraction(1, 2), at) for at in (step, step * Fraction(101, 100))
    )
    assert kept <= SMALL < passed
    assert step > 1.3 / (2 * math.log(2 / SMALL))


def test_a_delta_that_no_double_can_hold_is_still_a_bound_from_above():
    assert 0 < delta_of(Fraction(1), Fraction(1, 2), Fraction(1, 10**6)) < Fraction(1, 10**399)


def distance(one, other, epsilon):
    """Return the least δ with which a law is (ε, δ)-close to another: exact but for floats."""
    return float(np.sum(np.maximum(one - np.exp(float(epsilon)) * other, 0)))


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(Fraction(2), Fraction(1, 100)), (Fraction(1, 2), Fraction(1, 10)), (Fraction(1), SMALL)],
    ids=str,
)
def test_what_is_published_is_as_private_as_claimed(epsilon, delta, neighbours):
    """Enumerated: the exact law of what is published, rounded and clamped, of every data set of up
    to five people on five points, against that of every neighbour, either way.
    """
    mechanism = SmoothMedian.for_epsilon_delta(epsilon, delta, FOUR, neighbours)
    worst = 0.0
    for values in data_sets(5):
        law = mechanism.law(values)
        assert law.sum() == pytest.approx(1, abs=1e-12)
        for beside in neighbours_of(values, neighbours):
            other = mechanism.law(beside)
            worst = max(worst, distance(law, other, epsilon), distance(other, law, epsilon))
    assert worst <= float(delta)
    assert mechanism.parts == math.ceil(32 / epsilon)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_neighbouring_medians_on_neighbouring_rungs_stay_as_close_on_the_lattice(neighbours):
    """Many answers, so that the noise is small, and the median where one person moves it: summed
    over the lattice and after rounding.
    """
    mechanism = SmoothMedian.for_epsilon_delta(
        Fraction(2), Fraction(1, 100), Bounds(0, 40), neighbours
    )
    for people in (9, 21, 41):
        values = sorted(place * 40 // people for place in range(people))
        for place in range(people):
            rest = values[:place] + values[place + 1 :]
            others = [rest] if neighbours is ADD else [sorted([*rest, end]) for end in (0, 40)]
            for beside in others:
                one, other = mechanism.law(values), mechanism.law(beside)
                assert distance(one, other, 2) <= 0.01
                assert distance(other, one, 2) <= 0.01


def test_the_law_is_that_of_what_is_drawn():
    """4,000 draws; a false alarm once in ten million runs (5.3 standard deviations)."""
    mechanism = SmoothMedian.for_epsilon_delta(Fraction(2), Fraction(1, 100), FOUR, CHANGE)
    values = [1] * 9 + [2] * 8
    law = mechanism.law(values)
    drawn = np.bincount([mechanism.release(values) for _ in range(4000)], minlength=5)
    assert 0.02 < law[2] < 0.98
    assert np.all(np.abs(drawn - 4000 * law) <= 5.3 * np.sqrt(4000 * law * (1 - law)) + 1e-9)


def test_a_close_median_is_all_but_exact_on_the_fine_lattice_and_never_was_on_the_coarse():
    """Vectors of error: mean absolute, in units, of 1,000 people at one value, ε = 1, δ = 10⁻⁶."""
    ends, close = Bounds(0, 100), [42] * 1000
    of_lattice = {
        parts: SmoothMedian.for_epsilon_delta(Fraction(1), SMALL, ends, CHANGE, parts)
        for parts in (None, 1)
    }
    fine, coarse = of_lattice[None], of_lattice[1]
    assert (fine.parts, fine.scales[0], coarse.scales[0]) == (32, 2.0, 2.0)
    assert error(fine, close) == pytest.approx(0.000335, abs=1e-6)
    assert error(coarse, close) == pytest.approx(1.919, abs=0.001)
    p = math.exp(-1 / 2)
    assert error(fine, close) == pytest.approx((p**16 + p**17) / ((1 + p) * (1 - p**32)))


def error(mechanism, values):
    """Return the mean absolute error of what is published, by its exact law."""
    off = np.abs(np.arange(mechanism.bounds.width + 1) + mechanism.bounds.least - values[0])
    return float(mechanism.law(values) @ off)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_ladder_holds_every_sensitivity(neighbours):
    mechanism = SmoothMedian.for_epsilon_delta(Fraction(1), SMALL, Bounds(0, 10**9), neighbours)
    assert mechanism.first * Fraction(mechanism.scales[-1]) >= mechanism.parts * 10**9
    assert mechanism.rung([0, 10**9]) < len(mechanism.scales)
    ratios = [Fraction(b) / Fraction(a) for a, b in itertools.pairwise(mechanism.scales)]
    assert max(ratios) <= 1 + mechanism.step


@pytest.mark.parametrize("neighbours", Neighbours)
def test_noise_falls_with_people_and_stays_away_for_close_answers(neighbours):
    mechanism = SmoothMedian.for_epsilon_delta(Fraction(1), SMALL, Bounds(0, 10_000), neighbours)
    few, many = ([place * 10_000 // n for place in range(n)] for n in (200, 20_000))
    assert mechanism.standard_error(many) < mechanism.standard_error(few) / 20
    assert mechanism.standard_error([500] * 1000) < 0.1
    assert mechanism.rung([500] * 1000) == 0


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("values", [[], [9], [4] * 9], ids=["nobody", "one", "all equal"])
def test_hard_data_are_answered_within_the_bounds(neighbours, values):
    mechanism = SmoothMedian.for_epsilon_delta(
        Fraction(1), SMALL, Bounds(2**62 - 9, 2**62), neighbours
    )
    assert 2**62 - 9 <= mechanism.release(values) <= 2**62


def test_it_costs_what_was_asked():
    cost = SmoothMedian.for_epsilon_delta(Fraction(1), SMALL, FOUR, CHANGE).cost
    assert (cost.epsilon, cost.delta, cost.rho) == (1, SMALL, Fraction(1, 2))


@pytest.mark.parametrize(
    ("epsilon", "delta", "bounds", "said"),
    [
        (Fraction(0), SMALL, FOUR, "epsilon must be above 0"),
        (Fraction(1), Fraction(0), FOUR, "delta must be above 0"),
        (Fraction(1), Fraction(1), FOUR, "delta must be above 0 and below 1"),
        (Fraction(1), SMALL, Bounds(-(2**63), 2**63), "bounds must be at most"),
        (Fraction(1, 10**6), SMALL, FOUR, "delta must be larger"),
        (Fraction(1, 1000), Fraction(1, 10**3), Bounds(0, 10**9), "epsilon must be larger"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_cannot_be_is_refused_from_public_values(epsilon, delta, bounds, said):
    with pytest.raises(ValueError, match=said):
        SmoothMedian.for_epsilon_delta(epsilon, delta, bounds, CHANGE)
