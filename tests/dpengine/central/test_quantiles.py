"""Reached on the ask page: “Median, or another quantile, of a number”."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpengine.central.numeric import Bounds
from dpengine.central.quantiles import (
    MAX_POINTS,
    Grid,
    Limits,
    Quantile,
    QuantileWithInterval,
    order_statistics,
)
from dpengine.privacy import Neighbours

CHANGE, ADD = Neighbours.CHANGE_ONE, Neighbours.ADD_REMOVE
HALF = Fraction(1, 2)
GRID = Grid(Bounds(0, 4))


def data_sets(most):
    for n in range(most + 1):
        yield from (list(values) for values in itertools.combinations_with_replacement(range(5), n))


def neighbours_of(values, neighbours):
    for place in range(len(values)):
        rest = values[:place] + values[place + 1 :]
        yield from [rest] if neighbours is ADD else ([*rest, value] for value in range(5))


@pytest.mark.parametrize(
    "at", [Fraction(0), Fraction(1, 4), HALF, Fraction(9, 10), Fraction(1)], ids=str
)
@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_spread_of_scores_is_never_passed_and_is_reached(neighbours, at):
    """Enumerated: every data set of up to four people on five points, and every neighbour."""
    quantile = Quantile.for_epsilon(Fraction(1), GRID, at, neighbours)
    worst = 0
    for values in data_sets(4):
        scores = quantile._scores(values, at * len(values))
        for beside in neighbours_of(values, neighbours):
            moved = [
                b - a
                for a, b in zip(scores, quantile._scores(beside, at * len(beside)), strict=True)
            ]
            worst = max(worst, max(moved) - min(moved))
    assert worst <= quantile.selection.spread
    assert worst >= quantile.selection.spread / 2


@pytest.mark.parametrize("neighbours", Neighbours)
def test_no_neighbour_makes_a_value_likelier_than_the_loss(neighbours):
    """The exact law, enumerated."""
    quantile = Quantile.for_epsilon(Fraction(1), GRID, HALF, neighbours)
    for values in data_sets(3):
        law = np.array(quantile.law(values))
        for beside in neighbours_of(values, neighbours):
            assert (
                np.abs(np.log(law / np.array(quantile.law(beside)))).max()
                <= float(quantile.cost.epsilon) + 1e-9
            )


def test_the_case_by_hand():
    quantile = Quantile.for_epsilon(Fraction(1), Grid(Bounds(0, 9)), HALF, CHANGE)
    assert quantile._scores([0, 0, 5, 9, 9], Fraction(5, 2)) == [
        -1,
        -1,
        -1,
        -1,
        -1,
        0,
        -1,
        -1,
        -1,
        -1,
    ]


def test_one_point_always_fits_exactly():
    for values in data_sets(4):
        for at in (Fraction(0), Fraction(1, 3), HALF, Fraction(1)):
            assert (
                max(
                    Quantile.for_epsilon(Fraction(1), GRID, at, CHANGE)._scores(
                        values, at * len(values)
                    )
                )
                == 0
            )


@pytest.mark.parametrize("at", [Fraction(0), Fraction(1, 4), HALF, Fraction(1)], ids=str)
@pytest.mark.parametrize("neighbours", Neighbours)
def test_at_a_very_large_epsilon_it_is_the_quantile(neighbours, at):
    values = [-5, 1, 2, 2, 7, 11, 12, 13, 400]
    found = Quantile.for_epsilon(Fraction(10**4), Grid(Bounds(0, 20)), at, neighbours).release(
        values
    )
    clamped = sorted(min(max(value, 0), 20) for value in values)
    assert (
        sum(value < found for value in clamped)
        <= at * 9
        <= sum(value <= found for value in clamped)
    )


def test_it_is_off_by_more_than_it_says_no_oftener_than_it_says():
    quantile = Quantile.for_epsilon(Fraction(1), Grid(Bounds(0, 100)), HALF, CHANGE)
    values = [place % 101 for place in range(1010)]
    law, scores = quantile.law(values), quantile._scores(values, Fraction(505))
    far = sum(
        chance
        for chance, score in zip(law, scores, strict=True)
        if -score / 2 > quantile.off_by(0.05)
    )
    assert far <= 0.05


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("at", [HALF, Fraction(1, 10)], ids=str)
def test_intervals_hold_at_least_as_often_as_they_say(neighbours, at):
    """200 samples of 500: fewer than 180 hits of 95 % is rarer than once in 300,000 runs."""
    people = np.random.default_rng(30)
    quantile = QuantileWithInterval.for_epsilon(
        Fraction(4), Grid(Bounds(0, 60), step=3), at, neighbours
    )
    answers = 30 + np.floor(29 * people.beta(2, 2, size=(200, 500)) - 14)
    true = 30 + float(np.quantile(np.floor(29 * people.beta(2, 2, size=400_000) - 14), float(at)))
    hits = 0
    for sample in answers.astype(int).tolist():
        found = quantile.release(sample)
        assert found.low <= found.value <= found.high
        hits += found.low <= true <= found.high
    assert hits >= 180


def test_order_statistics_are_those_of_the_tables():
    assert order_statistics(100, HALF, 0.025) == (40, 61)
    assert order_statistics(5, HALF, 0.015) == (0, 6)
    assert order_statistics(7, Fraction(0), 0.015) == (0, 1)
    assert order_statistics(7, Fraction(1), 0.015) == (7, 8)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_limits_cost_what_their_draws_cost_together(neighbours):
    limits = Limits(GRID, HALF, neighbours, Fraction(1))
    parts = limits.people.epsilon if limits.people else 0
    assert parts + 2 * limits.each <= limits.cost.epsilon == 1


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("bounds", [Bounds(-(2**63), 2**63), Bounds(2**63 - 9, 2**63)], ids=str)
@pytest.mark.parametrize("at", [Fraction(0), Fraction(1, 3), Fraction(1)], ids=str)
@pytest.mark.parametrize("values", [[2**63], [7] * 30], ids=["one", "all equal"])
def test_hard_data_are_answered(neighbours, bounds, at, values):
    found = QuantileWithInterval.for_epsilon(Fraction(1), Grid(bounds), at, neighbours).release(
        values
    )
    assert bounds.least <= found.low <= found.value <= found.high <= bounds.most


def test_nobody_is_an_error_only_where_n_is_public():
    assert (
        0 <= QuantileWithInterval.for_epsilon(Fraction(1), GRID, HALF, ADD).release([]).value <= 4
    )
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        QuantileWithInterval.for_epsilon(Fraction(1), GRID, HALF, CHANGE).release([])


@pytest.mark.parametrize("at", [Fraction(-1, 10), Fraction(11, 10), Fraction(1, 10**7)], ids=str)
def test_a_quantile_that_is_none_is_refused(at):
    with pytest.raises(ValueError, match="quantile must be"):
        Quantile.for_epsilon(Fraction(1), GRID, at, CHANGE)


def test_a_grid_too_fine_or_without_a_step_is_refused():
    assert Grid(Bounds(0, 10**9)).size <= MAX_POINTS
    with pytest.raises(ValueError, match="step must leave at most"):
        Grid(Bounds(0, 10**9), step=1)
    with pytest.raises(ValueError, match="step must be 1 or more"):
        Grid(Bounds(0, 9), step=-1)


def test_an_epsilon_of_nothing_is_refused():
    with pytest.raises(ValueError, match="epsilon must be above 0"):
        Limits(GRID, HALF, CHANGE, Fraction(0))
