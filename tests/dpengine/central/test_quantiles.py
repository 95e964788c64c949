"""Reached on the ask page: “Median, or another quantile, of a number”."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.numeric import Bounds
from dpengine.central.quantiles import (
    ERROR,
    MAX_POINTS,
    PEOPLE_ERROR,
    Grid,
    Limits,
    Quantile,
    QuantilesWithIntervals,
    critical,
)
from dpengine.privacy import Neighbours
from tests.dpengine.central.test_noise_sums import NOISES, law_of

CHANGE, ADD = Neighbours.CHANGE_ONE, Neighbours.ADD_REMOVE
HALF = Fraction(1, 2)
BOUNDS = Bounds(0, 366)
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


def made(unit, neighbours, at=HALF, bounds=BOUNDS):
    """At ε = 1, or at what that costs in ρ."""
    of = Grid(bounds), at if isinstance(at, tuple) else (at,), neighbours
    if unit == "rho":
        return QuantilesWithIntervals.for_rho(HALF, *of)
    return QuantilesWithIntervals.for_epsilon(Fraction(1), *of)


def half_widths(mechanism, people, n, runs, at=HALF):
    """Return half of each interval, and how many hold the population's quantile."""
    true = np.sort(people(400_001))[math.ceil(at * 400_001) - 1]
    found = [mechanism.release(people(n).tolist())[0] for _ in range(runs)]
    assert all(each.low <= each.value <= each.high for each in found)
    halves = [(each.high - each.low) / 2 for each in found]
    return halves, sum(each.low <= true <= each.high for each in found)


@pytest.mark.parametrize("n", [40, 100, 400])
@pytest.mark.parametrize("unit", ["epsilon", "rho"])
@pytest.mark.parametrize(
    ("neighbours", "at"), [(CHANGE, HALF), (CHANGE, Fraction(1, 10)), (ADD, HALF)], ids=str
)
def test_intervals_hold_at_least_as_often_as_they_say(neighbours, at, unit, n):
    """250 samples: fewer than 220 hits of 95 % is rarer than once in 100,000 runs."""
    people = np.random.default_rng(n)
    mechanism = made(unit, neighbours, at)

    def answers(many):
        return np.minimum(np.floor(people.lognormal(4, 0.7, many)), 366).astype(int)

    assert half_widths(mechanism, answers, n, 250, at)[1] >= 220


@pytest.mark.parametrize(("n", "before", "most"), [(100, 183, 95), (200, 146, 62), (400, 79, 38)])
def test_intervals_are_as_narrow_as_they_were_measured(n, before, most):
    """Days of a year, ε = 1; before, two limits were drawn at ranks that left room for noise."""
    people = np.random.default_rng(n)
    halves, _ = half_widths(
        made("epsilon", CHANGE), lambda many: people.integers(0, 367, many), n, 60
    )
    assert np.mean(halves) < most < before


def test_limits_tighten_with_where_people_are_and_not_with_how_wide_the_bounds_are():
    people = np.random.default_rng(4)
    halves, _ = half_widths(
        made("epsilon", CHANGE, bounds=Bounds(0, 1000)),
        lambda many: np.rint(people.normal(60, 12, many)).astype(int),
        400,
        40,
    )
    assert np.mean(halves) < 6


@pytest.mark.parametrize("centre", [0, 1, 5, 60, 183, 365, 366])
def test_edges_are_close_where_the_centre_is_and_always_as_many(centre):
    limits = made("epsilon", CHANGE).limits
    edges = limits.edges(centre)
    assert len(edges) + 1 == limits.cells == 29
    assert edges == sorted(set(edges))
    assert 0 <= min(edges) <= max(edges) < 366
    assert {edge for edge in (centre - 2, centre - 1, centre, centre + 1) if 0 <= edge < 366} <= {
        *edges
    }


def test_the_edges_by_hand():
    edges = made("epsilon", CHANGE).limits.edges(100)
    assert {85, 90, 93, *range(95, 105), 106, 109, 114} == {e for e in edges if 80 < e < 120}


def test_every_point_of_a_short_scale_is_an_edge():
    limits = made("epsilon", CHANGE, bounds=Bounds(1, 5)).limits
    assert {tuple(limits.edges(centre)) for centre in range(1, 6)} == {(1, 2, 3, 4)}


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("at", [HALF, Fraction(1, 10)], ids=str)
def test_a_limit_fails_no_oftener_than_it_says_whichever_edge_is_looked_at(noise, neighbours, at):
    """E max_j P(noise ≤ l_j − N + qn), by drawing the noise of every edge 200,000 times."""
    n, cells = 30, 5
    one, chance = law_of(noise, 60), np.random.default_rng(8)
    drawn = chance.choice(np.arange(-60, 61), size=(cells, 200_000), p=one / one.sum())
    low, high = critical(n, at, noise, cells, neighbours)
    parts = cells if neighbours is CHANGE else at.denominator
    origin = math.floor(parts * n * at)
    people = np.arange(n + 1)
    law = special.bdtr(people, n, float(at)) - special.bdtr(people - 1.0, n, float(at))
    law[0] = special.bdtr(0, n, float(at))
    below, above = np.zeros(n + 1), np.zeros(n + 1)
    for j in range(1, cells):
        mine, others = (
            (cells - j, j)
            if neighbours is CHANGE
            else (at.denominator - at.numerator, at.numerator)
        )
        sums = np.sort(mine * drawn[:j].sum(axis=0) - others * drawn[j:].sum(axis=0))
        room = low[j - 1] - (parts * people - origin)
        below = np.maximum(below, np.searchsorted(sums, room, "right") / sums.size)
        room = high[j - 1] - (parts * people - origin)
        above = np.maximum(above, 1 - np.searchsorted(sums, room, "left") / sums.size)
    allowed = ERROR - (0 if neighbours is CHANGE else PEOPLE_ERROR / 2)
    for side in (below, above):
        assert 0.6 * allowed < law @ side < 1.03 * allowed


def test_a_coarse_lattice_gives_limits_no_closer_than_a_fine_one():
    """Noise of hundreds of people, where sums are normal: within a hundredth, and outside."""
    noise = DiscreteGaussian.for_rho(Fraction(1, 10**6), 2)
    low, _ = critical(10**5, HALF, noise, 9, CHANGE)
    deviation = math.sqrt(10**5 / 4 + noise.variance * 4 * 5 / 9)
    assert 1.0 < low[3] / 9 / (-1.959964 * deviation) < 1.2


QUARTILES = (Fraction(1, 4), HALF, Fraction(3, 4))


@pytest.mark.parametrize(("neighbours", "unit"), [(CHANGE, "epsilon"), (ADD, "rho")], ids=str)
def test_each_of_several_intervals_holds_as_often_as_it_says(neighbours, unit):
    """60 samples: fewer than 49 hits of 95 % is rarer than once in 20,000 runs."""
    chance = np.random.default_rng(77)
    mechanism = made(unit, neighbours, QUARTILES)

    def answers(many):
        return np.minimum(np.floor(chance.lognormal(4, 0.7, many)), 366).astype(int)

    truths = np.quantile(answers(400_001), [0.25, 0.5, 0.75])
    held = np.zeros(3)
    for _ in range(60):
        found = mechanism.release(answers(120).tolist())
        values = [each.value for each in found]
        assert values == sorted(values)
        held += [e.low <= true <= e.high for e, true in zip(found, truths, strict=True)]
    assert held.min() >= 49


def test_several_cost_what_one_does_and_their_limits_are_closer_than_of_draws_apart():
    together = made("epsilon", CHANGE, QUARTILES)
    assert 1 - Fraction(1, 2**40) < together.cost.epsilon <= 1
    points = sum(point.cost.epsilon for point in together.points)
    assert together.limits.cost.epsilon == pytest.approx(2 * points)
    for point in together.points:
        apart = QuantilesWithIntervals.for_epsilon(
            Fraction(1, 3), Grid(BOUNDS), [point.quantile], CHANGE
        ).limits.ranks(1000)
        low, high = together.limits_of(point).ranks(1000)
        assert high - low < 0.75 * (apart[1] - apart[0])


@pytest.mark.parametrize("centres", [(0, 0, 0), (3, 183, 184), (60, 200, 366)], ids=str)
def test_edges_are_close_to_every_centre_and_always_as_many(centres):
    limits = made("epsilon", CHANGE, QUARTILES).limits
    edges = limits.edges(*centres)
    assert edges == sorted(set(edges))
    assert len(edges) + 1 == limits.cells == 85
    near = {edge for at in centres for edge in (at - 2, at - 1, at, at + 1)}
    assert {edge for edge in near if 0 <= edge < 366} <= {*edges}


@pytest.mark.parametrize("wrong", [[], [HALF, HALF], [HALF, Fraction(1, 4)]], ids=str)
def test_quantiles_come_in_rising_order(wrong):
    with pytest.raises(ValueError, match="quantiles must be one or more in rising order"):
        QuantilesWithIntervals.for_epsilon(Fraction(1), GRID, wrong, CHANGE)


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("unit", ["epsilon", "rho"])
def test_a_third_pays_for_the_quantile_and_two_for_its_limits(unit, neighbours):
    mechanism = made(unit, neighbours)
    point, limits = mechanism.points[0].cost, mechanism.limits.cost
    whole = mechanism.cost
    if unit == "rho":
        assert whole.epsilon is None
        assert HALF * (1 - Fraction(1, 2**40)) < whole.rho <= HALF
        assert limits.rho == pytest.approx(2 * point.rho)
    else:
        assert 1 - Fraction(1, 2**40) < whole.epsilon <= 1
        assert limits.epsilon == pytest.approx(2 * point.epsilon)


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("bounds", [Bounds(-(2**63), 2**63), Bounds(2**63 - 9, 2**63)], ids=str)
@pytest.mark.parametrize("at", [Fraction(0), Fraction(1, 3), Fraction(1)], ids=str)
@pytest.mark.parametrize("values", [[2**63], [7] * 30], ids=["one", "all equal"])
def test_hard_data_are_answered(neighbours, bounds, at, values):
    (found,) = QuantilesWithIntervals.for_epsilon(
        Fraction(1), Grid(bounds), [at], neighbours
    ).release(values)
    assert bounds.least <= found.low <= found.value <= found.high <= bounds.most


def test_nobody_is_an_error_only_where_n_is_public():
    (found,) = QuantilesWithIntervals.for_epsilon(Fraction(1), GRID, [HALF], ADD).release([])
    assert 0 <= found.value <= 4
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        QuantilesWithIntervals.for_epsilon(Fraction(1), GRID, [HALF], CHANGE).release([])


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
        Limits.for_epsilon(Fraction(0), GRID, HALF, CHANGE)
