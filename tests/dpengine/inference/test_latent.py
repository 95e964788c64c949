import numpy as np
import pytest

from dpengine.inference.latent import Basis, Latent
from dpengine.inference.outcomes import LatentPredictor, Linear, Logistic
from tests.dpengine.inference.people import kary, randomised

RNG = np.random.default_rng(310)
N = 40
COLUMNS = np.column_stack([np.ones(N), RNG.normal(size=N)])
WEIGHTS = RNG.uniform(0.5, 2, N)
LIKELIHOODS = kary(3, 1.0).T[randomised(RNG.integers(0, 3, N), kary(3, 1.0), RNG)]
HILLS = {
    "reports": (Latent(LIKELIHOODS, COLUMNS, WEIGHTS), 4),
    "linear": (LatentPredictor(LIKELIHOODS, COLUMNS, WEIGHTS, Linear(RNG.normal(size=N)), COLUMNS), 9),
    "logistic": (LatentPredictor(LIKELIHOODS, COLUMNS, WEIGHTS, Logistic(RNG.integers(0, 2, N)), COLUMNS[:, 1:]), 7),
}


def slope_by_differences(function, at, step=1e-5):
    steps = np.eye(len(at)) * step
    return np.array([(function(at + each) - function(at - each)) / (2 * step) for each in steps])


@pytest.mark.parametrize("kind", HILLS)
def test_slopes_are_those_of_the_height(kind):
    hill, size = HILLS[kind]
    at = RNG.normal(0, 0.5, size)
    height, gradient, hessian = hill.slopes(at)
    assert height == pytest.approx(hill.height(at), abs=1e-10)
    assert gradient == pytest.approx(slope_by_differences(hill.height, at), abs=1e-6)
    assert hessian == pytest.approx(slope_by_differences(lambda there: hill.slopes(there)[1], at), abs=1e-6)


@pytest.mark.parametrize("kind", HILLS)
def test_the_height_is_the_weighted_sum_over_the_answers_that_may_be_true(kind):
    hill, size = HILLS[kind]
    at = RNG.normal(0, 0.5, size)
    whole = np.exp(hill.log_chances(at) + hill.evidence(at))
    assert hill.height(at) == pytest.approx(float(WEIGHTS @ np.log(whole.sum(axis=0))))
    assert hill.posteriors(at) == pytest.approx(whole / whole.sum(axis=0))


def test_the_sandwich_is_filled_with_weighted_scores():
    hill, size = HILLS["linear"]
    at, unit = RNG.normal(0, 0.5, size), np.ones(1)
    outcome = hill.outcome.values
    each = [slice(i, i + 1) for i in range(N)]
    rows = [LatentPredictor(LIKELIHOODS[i], COLUMNS[i], unit, Linear(outcome[i]), COLUMNS[i]) for i in each]
    scores = [weight * row.slopes(at)[1] for weight, row in zip(WEIGHTS, rows, strict=True)]
    assert hill.meat(at) == pytest.approx(sum(np.outer(score, score) for score in scores))


def test_a_basis_has_orthogonal_columns_and_knows_the_way_back():
    design = np.column_stack([np.ones(50), RNG.normal(2000, 3, 50), RNG.normal(size=50)])
    basis = Basis.of(design, ["one", "year", "x"])
    assert basis.columns.T @ basis.columns / 50 == pytest.approx(np.eye(3), abs=1e-9)
    assert design @ basis.back == pytest.approx(basis.columns, abs=1e-6)
    assert basis.spread == pytest.approx([1, design[:, 1].std(), design[:, 2].std()])


def test_a_column_that_follows_from_others_is_named():
    x = RNG.normal(size=20)
    with pytest.raises(ValueError, match="column twice of the design follows from the columns before it"):
        Basis.of(np.column_stack([np.ones(20), x, 2 * x + 1]), ["Intercept", "x", "twice"])
    with pytest.raises(ValueError, match="column nil of the design is 0 in every row"):
        Basis.of(np.column_stack([np.ones(20), np.zeros(20)]), ["Intercept", "nil"])
