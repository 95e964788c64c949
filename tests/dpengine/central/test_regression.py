"""Reached on the ask page: “Linear regression”."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpengine.central.numeric import Bounds
from dpengine.central.regression import LEVELS, Regression, moved
from dpengine.privacy import Neighbours

CHANGE, ADD = Neighbours.CHANGE_ONE, Neighbours.ADD_REMOVE
TEN = Bounds(0, 10)


def regression(neighbours=CHANGE, epsilon=Fraction(1), predictors=(TEN,), gaussian=False):
    make = Regression.for_rho if gaussian else Regression.for_epsilon
    return make(epsilon, list(predictors), TEN, neighbours)


def upper(mechanism, rows):
    found = np.array(mechanism.products(rows), dtype=np.float64)[
        np.triu_indices(len(mechanism.predictors) + 2)
    ]
    return found / LEVELS**2


@pytest.mark.parametrize("predictors", [1, 2])
@pytest.mark.parametrize("neighbours", Neighbours)
def test_one_person_moves_the_products_by_no_more_than_is_stated(neighbours, predictors):
    """Every two rows of a grid of five, corners among them."""
    mechanism = regression(neighbours, predictors=[TEN] * predictors)
    points = (0, 3, 5, 10) if predictors == 2 else (0, 2, 4, 5, 8, 10)
    rows = list(itertools.product(points, repeat=predictors + 1))
    each = np.array([upper(mechanism, [row]) for row in rows])
    away = each if neighbours is ADD else (each[:, None] - each[None]).reshape(-1, each.shape[1])
    assert np.abs(away).sum(axis=1).max() <= moved(predictors, neighbours)[0] + 1e-9
    assert (away**2).sum(axis=1).max() <= moved(predictors, neighbours)[1] + 1e-9
    assert np.abs(away).sum(axis=1).max() >= 0.6 * moved(predictors, neighbours)[0]


def test_the_case_by_hand():
    assert moved(1, CHANGE)[0] == 6


@pytest.mark.parametrize("gaussian", [False, True], ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("neighbours", Neighbours)
def test_it_costs_what_was_asked_and_no_more(neighbours, gaussian):
    cost = regression(neighbours, Fraction(7, 10), gaussian=gaussian).cost
    amount = cost.rho if gaussian else cost.epsilon
    assert Fraction(7, 10) * (1 - Fraction(1, 10**12)) < amount <= Fraction(7, 10)
    assert cost.is_pure is not gaussian


@pytest.mark.parametrize("neighbours", Neighbours)
def test_at_a_very_large_epsilon_it_is_least_squares(neighbours):
    people = np.random.default_rng(3)
    predictors = people.integers(0, 11, size=(400, 2))
    outcome = np.clip(2 + predictors[:, 0] // 2 + people.integers(-1, 2, size=400), 0, 10)
    rows = np.column_stack([predictors, outcome]).tolist()
    fit = regression(neighbours, Fraction(10**6), [TEN, TEN]).release(rows)
    design = np.column_stack([np.ones(400), predictors - 5])
    exact, *_ = np.linalg.lstsq(design, outcome, rcond=None)
    assert [fit.middle.value, *(slope.value for slope in fit.slopes)] == pytest.approx(
        exact.tolist(), abs=2e-3
    )
    residual = outcome - design @ exact
    assert fit.residual == pytest.approx(math.sqrt(float(residual @ residual) / 397), rel=1e-2)
    assert fit.ridge == 0


@pytest.mark.parametrize("gaussian", [False, True], ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("neighbours", Neighbours)
def test_intervals_hold_at_least_as_often_as_they_say(neighbours, gaussian):
    """120 samples of 3,000: fewer than 104 hits of 95 % is rarer than once in 800,000 runs."""
    people = np.random.default_rng(40)
    mechanism = regression(neighbours, Fraction(1) / (2 if gaussian else 1), gaussian=gaussian)
    hits = 0
    for _ in range(120):
        predictor = people.integers(0, 11, size=3000)
        outcome = people.binomial(10, 0.2 + 0.05 * predictor)
        (slope,) = mechanism.release(np.column_stack([predictor, outcome]).tolist()).slopes
        hits += slope.low <= 0.5 <= slope.high
    assert hits >= 104


@pytest.mark.parametrize("gaussian", [False, True], ids=["Laplace", "Gaussian"])
def test_the_error_it_states_is_the_error_it_makes(gaussian):
    """150 draws on the same people: the spread is within a third of what is said (4.5 standard
    deviations).
    """
    rows = [(place % 11, (place * 7) % 11) for place in range(2200)]
    fits = [regression(gaussian=gaussian).release(rows).slopes[0].value for _ in range(150)]
    # of 11 points Σz² is 0.4n
    said = regression(gaussian=gaussian).expected_slope_error(0, 2200) * (1 / 3) / 0.4
    assert float(np.std(fits)) == pytest.approx(said, rel=1 / 3)


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize(
    "rows",
    [[(3, 4)], [(5, 5)] * 50, [(2**63, -(2**63))] * 3],
    ids=["one", "all the same", "far out"],
)
def test_data_that_determine_nothing_are_answered_without_an_interval(neighbours, rows):
    fit = regression(neighbours).release(rows)
    assert fit.ridge > 0
    assert (fit.slopes[0].low, fit.slopes[0].high) == (-math.inf, math.inf)
    assert math.isfinite(fit.slopes[0].value)


def test_nobody_is_an_error_only_where_n_is_public():
    assert math.isfinite(regression(ADD).release([]).middle.value)
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        regression().release([])


@pytest.mark.parametrize("many", [0, 21])
def test_too_many_predictors_or_none_are_refused(many):
    with pytest.raises(ValueError, match=f"predictors must be 1 to 20, got {many}"):
        regression(predictors=[TEN] * many)


def test_how_many_answered_is_known_through_noise_only_under_add_remove():
    """Exactly n comes out once in 10⁸ runs."""
    rows = [(5, 5)] * 50
    assert regression(CHANGE).noisy_products(rows)[0, 0] == 50
    assert regression(ADD).noisy_products(rows)[0, 0] != 50
