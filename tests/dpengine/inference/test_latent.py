import numpy as np
import pytest

from dpengine.inference.latent import Basis, Latent
from tests.dpengine.inference.people import kary, randomised

RNG = np.random.default_rng(310)
N = 40
COLUMNS = np.column_stack([np.ones(N), RNG.normal(size=N)])
WEIGHTS = RNG.uniform(0.5, 2, N)
LIKELIHOODS = kary(3, 1.0).T[randomised(RNG.integers(0, 3, N), kary(3, 1.0), RNG)]
HILL, SIZE = Latent(LIKELIHOODS, COLUMNS, WEIGHTS), 4


def slope_by_differences(function, at, step=1e-5):
    steps = np.eye(len(at)) * step
    return np.array([(function(at + each) - function(at - each)) / (2 * step) for each in steps])


def test_slopes_are_those_of_the_height():
    at = RNG.normal(0, 0.5, SIZE)
    height, gradient, hessian = HILL.slopes(at)
    assert height == pytest.approx(HILL.height(at), abs=1e-10)
    assert gradient == pytest.approx(slope_by_differences(HILL.height, at), abs=1e-6)
    assert hessian == pytest.approx(
        slope_by_differences(lambda there: HILL.slopes(there)[1], at), abs=1e-6
    )


def test_the_height_is_the_weighted_sum_over_the_answers_that_may_be_true():
    at = RNG.normal(0, 0.5, SIZE)
    whole = np.exp(HILL.log_chances(at) + HILL.logs)
    assert HILL.height(at) == pytest.approx(float(WEIGHTS @ np.log(whole.sum(axis=0))))


def test_the_sandwich_is_filled_with_weighted_scores():
    at, unit = RNG.normal(0, 0.5, SIZE), np.ones(1)
    each = [slice(i, i + 1) for i in range(N)]
    rows = [Latent(LIKELIHOODS[i], COLUMNS[i], unit) for i in each]
    scores = [weight * row.slopes(at)[1] for weight, row in zip(WEIGHTS, rows, strict=True)]
    assert HILL.meat(at) == pytest.approx(sum(np.outer(score, score) for score in scores))


def test_a_basis_has_orthogonal_columns_and_knows_the_way_back():
    design = np.column_stack([np.ones(50), RNG.normal(2000, 3, 50), RNG.normal(size=50)])
    basis = Basis.of(design, ["one", "year", "x"])
    assert basis.columns.T @ basis.columns / 50 == pytest.approx(np.eye(3), abs=1e-9)
    assert design @ basis.back == pytest.approx(basis.columns, abs=1e-6)
    assert basis.spread == pytest.approx([1, design[:, 1].std(), design[:, 2].std()])


def test_a_column_that_follows_from_others_is_named():
    x = RNG.normal(size=20)
    with pytest.raises(
        ValueError, match="column twice of the design follows from the columns before it"
    ):
        Basis.of(np.column_stack([np.ones(20), x, 2 * x + 1]), ["Intercept", "x", "twice"])
    with pytest.raises(ValueError, match="column nil of the design is 0 in every row"):
        Basis.of(np.column_stack([np.ones(20), np.zeros(20)]), ["Intercept", "nil"])
