import numpy as np
import pytest

from dpengine.central import strategies
from dpengine.central.strategies import centred, sensitivity
from dpengine.privacy import Neighbours

PREFIXES = np.tril(np.ones((32, 32), dtype=np.int64))
CHANCE = np.random.default_rng(20261121)  # of workloads, not of noise


def test_sensitivity_is_the_largest_distance_of_any_two_neighbours():
    matrix = CHANCE.integers(-3, 4, (5, 7))
    for power in (1, 2):
        pairs = [np.sum(np.abs(a - b) ** power) for a in matrix.T for b in matrix.T]
        assert sensitivity(matrix, Neighbours.CHANGE_ONE, power) == max(pairs)
        assert sensitivity(matrix, Neighbours.ADD_REMOVE, power) == max(
            np.sum(np.abs(matrix) ** power, axis=0)
        )


def test_the_slope_is_that_of_the_loss():
    theta, gram = CHANCE.random((3, 6)), strategies._gram(CHANCE.random((8, 6)))
    _, slope = strategies._loss_of_weights(theta, gram)
    for place in range(theta.size):
        step = np.zeros(theta.size)
        step[place] = 1e-6
        above, below = (
            strategies._loss_of_weights(theta + side * step.reshape(3, 6), gram)[0]
            for side in (1, -1)
        )
        assert slope[place] == pytest.approx((above - below) / 2e-6, rel=1e-4, abs=1e-6)


def test_gaussian_strategies_reach_the_bound_that_no_strategy_passes():
    """Weak duality: for any v ≥ 0, tr(V X⁻¹) ≥ 2 tr((√v V √v)^½) − Σ v for all X with diag X ≤
    1.
    """
    gram = strategies._gram(PREFIXES.astype(float))
    matrix = strategies._convex(gram)
    x = matrix.T @ matrix
    assert np.diag(x) == pytest.approx(1, abs=1e-3)
    reached = np.trace(gram @ np.linalg.inv(x)) * np.max(np.diag(x))
    weights = np.diag(np.linalg.inv(x) @ gram @ np.linalg.inv(x))
    bound = 2 * np.trace(strategies._root(gram, weights)) - np.sum(weights)
    assert bound <= reached <= bound * 1.001


def test_cells_that_no_query_uses_are_left_at_no_weight():
    queries = np.array([[1, 1, 0], [0, 1, 0]])
    matrix = strategies._convex(strategies._gram(queries.astype(float)))
    assert np.all(matrix[:, 2] == 0)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("neighbours", Neighbours)
def test_a_solution_gives_back_the_queries(neighbours, power):
    found = strategies.best(PREFIXES, neighbours, power, float)
    assert found.name.startswith("optimised")
    told = centred(found.matrix, neighbours)
    assert found.solution @ told == pytest.approx(centred(PREFIXES, neighbours), abs=1e-6)


def test_a_strategy_that_cannot_give_the_queries_is_none():
    total = np.array([[1, 1]])
    assert (
        strategies._strategy("total", total, np.eye(2, dtype=np.int64), Neighbours.ADD_REMOVE, 1)
        is None
    )
