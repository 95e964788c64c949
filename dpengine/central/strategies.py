"""Which counts to publish so that given linear queries can be worked out of them with the least
error.

A strategy is a matrix A of whole numbers, a row a published count, a column a cell of the domain.
Noise is put on A x; the queries W x are worked out as W A⁺ (A x + noise): matrix mechanism (Li,
Miklau, Hay, McGregor and Rastogi 2015).

Sensitivity   Exact, in integers, with p = 1 (Laplace noise) or p = 2 (Gaussian noise), the p-th
              power of the distance:
                  add-remove   max_j Σ_i |A_ij|^p           one person more in cell j
                  change-one   max_jk Σ_i |A_ij − A_ik|^p   one person moves from cell j to k
Error         Var Z · ‖W A⁺‖², the variance being about 2·sensitivity²/ε² (p = 1), sensitivity/(2ρ)
              (p = 2). Under change-one n is known, so all is taken within the vectors whose entries
              sum to 0.
Candidates    the cells one by one (identity), the queries themselves, and
              p = 1   A = [I; Θ] D, columns of length 1, Θ ≥ 0 of few rows (McKenna, Miklau, Hay and
                      Machanavajjhala 2018, OPT₀), by quasi-Newton steps from fixed starts: no
                      chance, the same at every call.
              p = 2   the optimum of the convex problem min tr(V X⁻¹), X = AᵀA, diag X ≤ 1, V = WᵀW.
                      Its dual has one number a cell, v, and the fixed point v = diag((√v V √v)^½)
                      (Denisov, McMahan, Rush, Smith and Thakurta 2022, Thm 3.2). Under change-one
                      also with W moved to sums of 0.
              Rounded to whole numbers of 2⁻¹² of the longest column. The best by the error formula
              is taken, so none is ever worse than the identity or the queries themselves.
By hand       W = four cells and their sum, add-remove, p = 1, in units of 2/ε²: cell by cell,
              sensitivity 1, ‖W‖² = 8: error 8; the queries themselves, sensitivity 2, ‖W W⁺‖² =
              rank W = 4: 4 · 4 = 16, and 4 · 5 = 20 without least squares.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.estimates import Floats, Ints
from dpengine.privacy import Neighbours

UNIT = 2**12  # the length of the longest column of a strategy that was optimised
ROUNDS = 60  # of the fixed point; 20 reach 1e-3 of the optimum
STEPS = 200  # quasi-Newton, a start
CLOSE = 1e-6  # how exactly a strategy must give back the queries


@dataclass(frozen=True, slots=True, eq=False)
class Strategy:
    name: str
    matrix: Ints  # a row a count to publish, a column a cell
    sensitivity: int  # p-th power of the Lp distance between two neighbours' counts
    solution: Floats  # W A⁺: the queries from the counts


def best(
    queries: Ints, neighbours: Neighbours, power: int, variance: Callable[[int], float]
) -> Strategy:
    """Return the strategy of least total squared error; `variance` is noise's at a sensitivity."""
    strategies = _found(queries.astype(np.int64).tobytes(), queries.shape, neighbours, power)
    return min(
        strategies,
        key=lambda strategy: variance(strategy.sensitivity) * float(np.sum(strategy.solution**2)),
    )


@lru_cache(maxsize=8)
def _found(
    packed: bytes, shape: tuple[int, ...], neighbours: Neighbours, power: int
) -> tuple[Strategy, ...]:
    """Return all candidates from which the queries follow. Cached: it takes seconds, no budget."""
    queries = np.frombuffer(packed, dtype=np.int64).reshape(shape)
    strategies = (
        _strategy(name, matrix, queries, neighbours, power)
        for name, matrix in _candidates(queries, neighbours, power)
    )
    return tuple(strategy for strategy in strategies if strategy is not None)


def sensitivity(matrix: Ints, neighbours: Neighbours, power: int) -> int:
    """Return the exact p-th power of the largest Lp distance of two neighbours' counts."""
    if neighbours is Neighbours.ADD_REMOVE:
        return int(np.max(np.sum(np.abs(matrix) ** power, axis=0)))
    return max(
        int(np.max(np.sum(np.abs(matrix - column[:, None]) ** power, axis=0)))
        for column in matrix.T
    )


def centred(matrix: npt.NDArray[np.float64] | Ints, neighbours: Neighbours) -> Floats:
    """Return what a matrix does to what is not public: all, or what sums to 0 (change-one)."""
    if neighbours is Neighbours.ADD_REMOVE:
        return np.asarray(matrix, dtype=np.float64)
    return np.asarray(matrix - np.mean(matrix, axis=1, keepdims=True), dtype=np.float64)


def _strategy(
    name: str, matrix: Ints, queries: Ints, neighbours: Neighbours, power: int
) -> Strategy | None:
    """Return a strategy with its solution, or None if the queries cannot be worked out of it."""
    told = centred(matrix, neighbours)
    wanted = centred(queries, neighbours)
    solution = wanted @ np.linalg.pinv(told, rcond=1e-9)
    if np.max(np.abs(solution @ told - wanted)) > CLOSE * np.max(np.abs(queries)):
        return None
    return Strategy(name, matrix, sensitivity(matrix, neighbours, power), solution)


def _candidates(queries: Ints, neighbours: Neighbours, power: int) -> Iterator[tuple[str, Ints]]:
    cells = queries.shape[1]
    yield "cell by cell", np.eye(cells, dtype=np.int64)
    yield "the queries themselves", queries
    if neighbours is Neighbours.CHANGE_ONE:  # the rest of a public n needs no count
        largest = int(np.argmax(np.sum(queries**2, axis=0)))
        yield "all cells but one", np.delete(np.eye(cells, dtype=np.int64), largest, axis=0)
    gram = _gram(queries.astype(np.float64))
    if power == 1:
        for start in _starts(cells):
            yield "optimised for Laplace noise", _whole(_weighted(gram, start))
        return
    yield "optimised for Gaussian noise", _whole(_convex(gram))
    if neighbours is Neighbours.CHANGE_ONE:
        yield (
            "optimised for Gaussian noise, n known",
            _whole(_convex(_gram(centred(queries, neighbours)))),
        )


def _gram(queries: Floats) -> Floats:
    gram = queries.T @ queries
    return np.asarray(gram / np.max(np.abs(gram)), dtype=np.float64)


def _whole(matrix: Floats) -> Ints:
    """Return a strategy in whole numbers, without rows of zeros."""
    longest = np.sqrt(np.max(np.sum(matrix**2, axis=0)))
    rounded = np.rint(matrix / longest * UNIT).astype(np.int64)
    return np.asarray(rounded[np.any(rounded != 0, axis=1)], dtype=np.int64)


def _convex(gram: Floats) -> Floats:
    """Return A with AᵀA = X of least tr(V X⁻¹) and diagonal 1: the module's fixed point."""
    weights = np.diag(gram).copy()
    used = weights > 0
    gram, weights = gram[np.ix_(used, used)], weights[used]
    for _ in range(ROUNDS):
        weights = np.diag(_root(gram, weights))
    values, vectors = np.linalg.eigh(gram * np.sqrt(np.outer(weights, weights)))
    strategy = (np.maximum(values, 0) ** 0.25 * vectors).T / np.sqrt(weights)
    whole = np.zeros((len(strategy), len(used)))
    whole[:, used] = strategy
    return whole


def _root(gram: Floats, weights: Floats) -> Floats:
    """Return (√v V √v)^½."""
    values, vectors = np.linalg.eigh(gram * np.sqrt(np.outer(weights, weights)))
    return np.asarray((np.sqrt(np.maximum(values, 0)) * vectors) @ vectors.T, dtype=np.float64)


def _starts(cells: int) -> Iterator[Floats]:
    """Yield first guesses of Θ: blocks of neighbouring cells, and rows without order."""
    for rows in sorted({max(1, cells // 16), max(1, round(cells**0.5))}):
        place = np.arange(cells) * rows // cells
        yield np.where(place == np.arange(rows)[:, None], 0.5, 0.05)
        spread = np.outer(np.arange(1, rows + 1), np.arange(1, cells + 1)) * 0.6180339887498949
        yield np.asarray(spread % 1.0, dtype=np.float64)


def _weighted(gram: Floats, start: Floats) -> Floats:
    """Return [I; Θ] D of least tr(V (AᵀA)⁻¹) near a start."""
    shape = start.shape

    def loss(flat: Floats) -> tuple[float, Floats]:
        return _loss_of_weights(flat.reshape(shape), gram)

    best = scipy.optimize.minimize(
        loss,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * start.size,
        options={"maxiter": STEPS},
    )
    theta = best.x.reshape(shape)
    return np.asarray(
        np.vstack([np.eye(shape[1]), theta]) / (1 + theta.sum(axis=0)), dtype=np.float64
    )


def _loss_of_weights(theta: Floats, gram: Floats) -> tuple[float, Floats]:
    """Return tr(M U) and its slope: M = (I + ΘᵀΘ)⁻¹, U = s V s, s the lengths of [I; Θ]'s columns.

    Woodbury: Θ M = Q = (I + ΘΘᵀ)⁻¹ Θ and M = I − ΘᵀQ, so a step takes rows × cells² instead of
    cells³.
    """
    lengths = 1 + theta.sum(axis=0)
    scaled = gram * np.outer(lengths, lengths)
    q = np.linalg.solve(np.eye(len(theta)) + theta @ theta.T, theta)
    m = np.eye(len(lengths)) - theta.T @ q
    qu = q @ scaled
    slope = -2 * (qu - (qu @ theta.T) @ q) + 2 * ((gram * m) @ lengths)
    return float(np.sum(m * scaled)), slope.ravel()
