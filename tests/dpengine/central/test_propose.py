"""Reached on the ask page: “Median, or another quantile, of a number”, method propose, test,
release.
"""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpengine.central.numeric import Bounds
from dpengine.central.propose import ProposedMedian
from dpengine.central.smooth import median
from dpengine.privacy import Neighbours

CHANGE, ADD = Neighbours.CHANGE_ONE, Neighbours.ADD_REMOVE
SMALL = Fraction(1, 10**6)
TEN = Bounds(0, 10)


def mechanism(neighbours=CHANGE, epsilon=Fraction(1), delta=SMALL, bounds=TEN, proposed=4):
    return ProposedMedian.for_epsilon_delta(epsilon, delta, bounds, neighbours, proposed)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_distance_moves_by_one_and_zero_means_unsafe(neighbours):
    """Enumerated: every data set of up to four people on five points; who is at 1 or more moves
    by at most s.
    """
    tested = mechanism(
        neighbours, epsilon=Fraction(4), delta=Fraction(1, 100), bounds=Bounds(0, 4), proposed=2
    )
    distance = cache(lambda *values: tested.distance(values))
    for n in range(5):
        for chosen in itertools.combinations_with_replacement(range(5), n):
            values = list(chosen)
            for place, value in itertools.product(range(n), range(5)):
                rest = values[:place] + values[place + 1 :]
                beside = rest if neighbours is ADD else [*rest, value]
                assert abs(distance(*values) - distance(*sorted(beside))) <= 1
                if max(distance(*values), distance(*sorted(beside))) >= 1:
                    assert abs(median(values, tested.bounds) - median(beside, tested.bounds)) <= 2


def test_the_case_by_hand():
    assert mechanism().distance([1, 1, 1, 1, 1, 9, 9]) == 1


@pytest.mark.parametrize("delta", [Fraction(1, 10), SMALL, Fraction(1, 10**12)], ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(1), Fraction(5)], ids=str)
def test_an_unsafe_median_passes_the_test_with_chance_delta_at_most(epsilon, delta):
    tested = mechanism(epsilon=epsilon, delta=delta)
    passes = float(tested.test.tail(np.array([tested.threshold]))[0])
    assert passes <= delta
    assert float(tested.test.tail(np.array([tested.threshold - 2]))[0]) > float(delta) / 3


def test_close_answers_are_answered_and_scattered_ones_are_not():
    stable, scattered = [5] * 500, [0] * 15 + [10] * 15
    assert mechanism().chance_of_answer(stable) > 0.999
    assert mechanism().release(stable) is not None
    assert mechanism().chance_of_answer(scattered) < 1e-5
    assert mechanism().release(scattered) is None


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("proposed", [0, 1, 2])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(4)], ids=str)
def test_what_is_published_is_as_private_as_claimed(epsilon, proposed, neighbours):
    """Enumerated: the exact chance of no answer and of every answer, of every data set of up to six
    people on four points, against that of every neighbour, either way.
    """
    delta = Fraction(1, 100)
    tested = mechanism(neighbours, epsilon, delta, Bounds(0, 3), proposed)
    law = cache(lambda *values: np.array([tested.law(values)[0], *tested.law(values)[1]]))
    worst, odds = 0.0, np.exp(float(epsilon))
    for n in range(7):
        for chosen in itertools.combinations_with_replacement(range(4), n):
            values = list(chosen)
            assert law(*values).sum() == pytest.approx(1, abs=1e-12)
            for place, value in itertools.product(range(n), range(4)):
                rest = values[:place] + values[place + 1 :]
                beside = rest if neighbours is ADD else sorted([*rest, value])
                one, other = law(*values), law(*beside)
                for each, against in ((one, other), (other, one)):
                    worst = max(worst, float(np.maximum(each - odds * against, 0).sum()))
    assert 0 < worst <= delta


def test_step_nought_gives_the_median_as_it_is_for_half_the_threshold():
    nought, one = mechanism(proposed=0), mechanism(proposed=1)
    assert (nought.threshold, one.threshold) == (14, 28)
    assert nought.noise is None
    assert (nought.standard_error, nought.cost.epsilon) == (0.0, 1)
    assert nought.release([5] * 500) == 5
    # 41 people at one value, 20 changes to move it: by hand γ = 20
    assert nought.distance([5] * 41) == 20
    # what it takes for 95 %: γ = 17, or one less
    enough, short = [5] * 33, [5] * 31
    assert nought.chance_of_answer(enough) > 0.95 > nought.chance_of_answer(short)


def test_it_answers_as_often_as_its_formula_says():
    """1,000 draws; a false alarm once in a million runs (4.9 standard deviations)."""
    tested = mechanism(epsilon=Fraction(2), delta=Fraction(1, 100))
    values = [5] * 9
    chance = tested.chance_of_answer(values)
    answers = sum(tested.release(values) is not None for _ in range(1000))
    assert 0.1 < chance < 0.9
    assert abs(answers - 1000 * chance) < 4.9 * (1000 * chance * (1 - chance)) ** 0.5


def test_it_costs_what_was_asked_and_no_more():
    cost = mechanism(epsilon=Fraction(7, 10), proposed=3).cost
    assert Fraction(7, 10) * (1 - Fraction(1, 10**12)) < cost.epsilon <= Fraction(7, 10)
    assert cost.delta == SMALL


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("values", [[], [3], [2**70]], ids=["nobody", "one", "far out"])
def test_hard_data_are_an_outcome_not_an_error(neighbours, values):
    assert mechanism(neighbours).release(values) is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"proposed": -1}, "proposed must be 0"),
        ({"proposed": 10}, "proposed must be 0 to 9, got 10"),
        ({"delta": Fraction(0)}, "delta must be above 0"),
        ({"epsilon": Fraction(0)}, "epsilon must be above 0"),
        ({"bounds": Bounds(-(2**63), 2**63)}, "bounds must be at most"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_from_public_values(changed, said):
    with pytest.raises(ValueError, match=said):
        mechanism(**changed)
