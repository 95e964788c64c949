"""Many linear queries of one data set at once, answered so that they agree with each other.

Model      x_j people are in cell j; query i asks for Σ_j W_ij x_j, W whole numbers. Cells that no
           query tells apart are one, so a number with a million values and three ranges has seven
           cells at most.
Mechanism  The counts A x of a strategy (strategies.py) get noise: y = A x + Z, exact discrete
           Laplace for a pure ε, discrete Gaussian for ρ. The answers are W x̂, x̂ of least squares:
           x̂ = A⁺ y; under change-one among those x̂ with Σ x̂ = n, which is public. So a range is
           the sum of its parts, to the last digit.
Privacy    ε = L1 / scale or ρ = L2² / (2σ²), with the exact integer distance of A x under the
           neighbours named.
Error      Cov = Var Z · B Bᵀ, B = W A⁺; unbiased. Total squared error Var Z · ‖B‖², never above
           that of asking cell by cell, nor of the queries themselves with a joint budget, nor
           (entries 0 or 1) of one query after another with equal parts of it: the strategy with the
           least is taken, before any data is seen.
Interval   Half-width s·(q + (q³ − 3q)·κ/24), s the standard error, q the normal quantile, and κ the
           excess kurtosis of the sum of noises (Cornish and Fisher 1938): Z's own, (1 + 4p +
           p²)/(2p) for Laplace, 0 for Gaussian noise, times Σ_j B_ij⁴ / (Σ_j B_ij²)². Moved
           outwards to whole people. It is for the count among those who answered.
By hand    Yes or no, change-one, ε = 1: one count, sensitivity 1, scale 1; both answers have
           variance 1.84, and add up to n.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpengine.central import strategies
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.strategies import Strategy, centred
from dpengine.checks import require
from dpengine.estimates import CONFIDENCE, Floats, Interval, Ints, normal_quantile
from dpengine.privacy import Cost, Neighbours

Queries = Sequence[Sequence[int]]
LAPLACE, GAUSSIAN = 1, 2  # the power of the distance that each noise is calibrated to
MAX_CELLS = 400  # that queries tell apart: a strategy for them takes seconds
MAX_QUERIES = 100_000
MAX_WEIGHT = 1000  # of a cell in a query


@dataclass(frozen=True, slots=True, eq=False)
class LinearQueries:
    """Queries, the strategy for them, and the noise of its counts."""

    queries: Ints  # a row a query, a column a cell that queries tell apart
    places: npt.NDArray[np.intp]  # of the cells of the domain, in these columns; −1: in none
    neighbours: Neighbours
    strategy: Strategy
    noise: DiscreteLaplace | DiscreteGaussian

    @classmethod
    def for_epsilon(
        cls, epsilon: Fraction, queries: Queries, neighbours: Neighbours
    ) -> "LinearQueries":
        """Return the best strategy with Laplace noise that costs at most ε."""
        return cls._best(
            queries, neighbours, LAPLACE, lambda moved: DiscreteLaplace.for_epsilon(epsilon, moved)
        )

    @classmethod
    def for_rho(cls, rho: Fraction, queries: Queries, neighbours: Neighbours) -> "LinearQueries":
        """Return the best strategy with Gaussian noise that costs at most ρ."""
        return cls._best(
            queries, neighbours, GAUSSIAN, lambda moved: DiscreteGaussian.for_rho(rho, moved)
        )

    @classmethod
    def _best(
        cls,
        queries: Queries,
        neighbours: Neighbours,
        power: int,
        noise: Callable[[int], DiscreteLaplace | DiscreteGaussian],
    ) -> "LinearQueries":
        require(
            1 <= len(queries) <= MAX_QUERIES,
            "queries must be 1 to {}, got {}",
            MAX_QUERIES,
            len(queries),
        )
        matrix = np.array(queries, dtype=np.int64)
        require(
            matrix.ndim == 2 and matrix.shape[1] >= 1,
            "queries must have the same cells, one or more",
        )
        require(
            np.max(np.abs(matrix)) <= MAX_WEIGHT,
            "queries must weigh a cell by at most {} either way",
            MAX_WEIGHT,
        )
        merged, places = merge(matrix, neighbours)
        require(
            merged.shape[1] <= MAX_CELLS,
            "queries must tell at most {} parts of the domain apart, got {}",
            MAX_CELLS,
            merged.shape[1],
        )
        require(
            np.any(centred(merged, neighbours)),
            "queries must ask for something that is not public already",
        )
        strategy = strategies.best(merged, neighbours, power, lambda moved: noise(moved).variance)
        return cls(merged, places, neighbours, strategy, noise(strategy.sensitivity))

    @property
    def cost(self) -> Cost:
        return self.noise.cost

    @property
    def standard_errors(self) -> Floats:
        """Return those of the answers, in people."""
        return np.asarray(
            np.sqrt(self.noise.variance * np.sum(self.strategy.solution**2, axis=1)),
            dtype=np.float64,
        )

    @property
    def half_widths(self) -> Floats:
        """Return how far an answer lies from the truth at most, in 95 of 100 draws."""
        solution = self.strategy.solution
        fourths, squares = np.sum(solution**4, axis=1), np.sum(solution**2, axis=1) ** 2
        kurtosis = 0.0
        if isinstance(self.noise, DiscreteLaplace):
            p = math.exp(-1 / self.noise.scale)
            kurtosis = (1 + 4 * p + p**2) / (2 * p)
        inside = squares > 0  # elsewhere the answer is public
        shape = kurtosis * np.divide(fourths, squares, out=np.zeros_like(squares), where=inside)
        q = normal_quantile(CONFIDENCE)
        return np.asarray(
            self.standard_errors * (q + (q**3 - 3 * q) * shape / 24), dtype=np.float64
        )

    def release(self, counts: Sequence[int]) -> list[float]:
        """Return the answers, in people. Publish once: a second draw is a second release."""
        require(
            len(counts) == len(self.places),
            "counts must be {}, one a cell, got {}",
            len(self.places),
            len(counts),
        )
        cells, inside = np.zeros(self.queries.shape[1], dtype=np.int64), self.places >= 0
        np.add.at(cells, self.places[inside], np.array(counts, dtype=np.int64)[inside])
        exact = self.strategy.matrix @ cells
        noisy = np.array(self.noise.release(exact.tolist()), dtype=np.float64)
        if self.neighbours is Neighbours.ADD_REMOVE:
            return [float(answer) for answer in self.strategy.solution @ noisy]
        # n is public, and spread evenly it is a start
        even = np.full(len(cells), sum(counts) / len(cells))
        known = self.queries @ even + self.strategy.solution @ (noisy - self.strategy.matrix @ even)
        return [float(answer) for answer in known]

    def intervals(self, answers: Sequence[float]) -> list[Interval]:
        """Return whole numbers of people around each true answer, in 95 of 100 draws each."""
        slack = 1e-6  # of a person: floats that stand for whole numbers are not moved by one
        return [
            (float(math.floor(answer - width + slack)), float(math.ceil(answer + width - slack)))
            for answer, width in zip(answers, self.half_widths, strict=True)
        ]


def merge(queries: Ints, neighbours: Neighbours) -> tuple[Ints, npt.NDArray[np.intp]]:
    """Return the queries over cells that they tell apart, and where each cell has gone, in order.

    Under add-remove a cell in no query is left out; under change-one it is where the rest of n
    is.
    """
    columns, first, where = np.unique(queries, axis=1, return_index=True, return_inverse=True)
    kept = np.argsort(first)
    if neighbours is Neighbours.ADD_REMOVE:
        kept = kept[np.any(columns[:, kept] != 0, axis=0)]
    new = np.full(len(first), -1, dtype=np.intp)
    new[kept] = np.arange(len(kept))
    return np.asarray(columns[:, kept], dtype=np.int64), new[where.ravel()]
