"""Linear regression from noisy sufficient statistics.

Every person is a row v = (L, z₁, …, z_d, z_y): predictors and outcome, clamped to public bounds and
measured from their middle, z = round(L·(2x − least − most)/(most − least)), so |z| ≤ L = 2¹².
Released is the upper triangle of G = Σ v·vᵀ with noise on each entry; under change-one without its
first, n·L², which is public. All else is post-processing.

With p = d + 2 columns and one row changed to any other, in units of L²:
    L1   2⌊p²/4⌋ + d + 1   products of different columns: Σ|vᵢvⱼ − v′ᵢv′ⱼ| is convex in every
                           coordinate, so it is largest where all are ±1; then a pair differs, by 2,
                           if just one of its signs changed: at most ⌊p²/4⌋ pairs. Squares: each of
                           d + 1 by at most 1.
    L2²  4⌊p²/4⌋ + d + 1   in the same way
Add-remove: |entry| ≤ 1 for all p(p + 1)/2 entries, n among them: L1 and L2² are p(p + 1)/2.

Privacy    discrete Laplace: pure ε = L1/scale. Discrete Gaussian: ρ = L2²/(2σ²).
Cost       that; one row is one person.
Estimate   β = A⁻¹b, A and b the noisy blocks of G for (1, z) and y. Where A is not safely positive
           definite, least eigenvalue under 2s, s = τ·√(2(d + 1)·ln(40(d + 1))) for noise of
           variance τ² (a bound of its norm), ridge: A + (2s − least)·I.
Error      to first order β moves by A⁻¹(N_b − N_A·β), N the noise; the covariance of that bracket
           is R_ii = τ²(1 + Σⱼβⱼ²), R_ik = τ²βᵢβₖ (without the noise of n under change-one), and
           that of β is A⁻¹RA⁻¹.
Interval   95 %: ± 2.12 standard errors (what one Laplace needs; a normal 1.96) of noise and of
           sampling: σ²·A⁻¹, equal variances assumed, σ² from the noisy residual sum wᵀGw, w = (−β,
           1), at its upper limit. If ridge was needed: none.
By hand    d = 1, p = 3: L1 = 2·2 + 2 = 6, instead of 2·3 + 2 = 8 entry by entry.
Sources    Vu and Slavković 2009; Wang 2018 (sufficient statistics); Sheffet 2019 (ridge).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.numeric import Bounds, Measured
from dpengine.checks import require
from dpengine.privacy import Cost, Neighbours

Matrix = npt.NDArray[np.float64]
LEVELS = 2**12  # L
MAX_PREDICTORS = 20
REACH = 2.12  # standard errors on each side of 95 of 100
AT_ONCE = 2**16  # rows


@dataclass(frozen=True, slots=True)
class Fit:
    """A released regression.

    Slopes in the units of outcome per predictor, and the outcome at all their middles.
    """

    middle: Measured
    slopes: list[Measured]
    ridge: float  # added to every scaled sum of squares, people; 0 where none was needed
    residual: float  # standard deviation around the line, upper limit


@dataclass(frozen=True, slots=True)
class Regression:
    predictors: tuple[Bounds, ...]
    outcome: Bounds
    neighbours: Neighbours
    noise: DiscreteLaplace | DiscreteGaussian

    def __post_init__(self) -> None:
        require(
            1 <= len(self.predictors) <= MAX_PREDICTORS,
            "predictors must be 1 to {}, got {}",
            MAX_PREDICTORS,
            len(self.predictors),
        )

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Fraction,
        predictors: Sequence[Bounds],
        outcome: Bounds,
        neighbours: Neighbours,
    ) -> "Regression":
        """Return the regression with the least Laplace noise that costs at most ε."""
        sensitivity = moved(len(predictors), neighbours)[0] * LEVELS**2
        return cls(
            tuple(predictors),
            outcome,
            neighbours,
            DiscreteLaplace.for_epsilon(epsilon, sensitivity),
        )

    @classmethod
    def for_rho(
        cls, rho: Fraction, predictors: Sequence[Bounds], outcome: Bounds, neighbours: Neighbours
    ) -> "Regression":
        """Return the regression with the least Gaussian noise that costs at most ρ."""
        squared = moved(len(predictors), neighbours)[1] * LEVELS**4
        return cls(tuple(predictors), outcome, neighbours, DiscreteGaussian.for_rho(rho, squared))

    @property
    def cost(self) -> Cost:
        return self.noise.cost

    @property
    def deviation(self) -> float:
        """Return τ: the noise of one entry, in people."""
        return math.sqrt(self.noise.variance) / LEVELS**2

    def expected_slope_error(self, place: int, n: int) -> float:
        """Return a slope's standard error from noise alone, for predictors spread evenly."""
        per_unit = self.outcome.width / self.predictors[place].width
        return per_unit * self.deviation / (n / 3)

    def release(self, rows: Sequence[Sequence[int]]) -> Fit:
        """Return the fit of rows (predictors…, outcome).

        Publish once; nobody is refused only where n is public.
        """
        require(
            self.neighbours is not Neighbours.CHANGE_ONE or len(rows) != 0,
            "n must be 1 or more, got 0",
        )
        return self._solve(self.noisy_products(rows), len(rows))

    def noisy_products(self, rows: Sequence[Sequence[int]]) -> Matrix:
        """Return the noisy G, in people: the one draw."""
        exact = self.products(rows)
        size = len(exact)
        places = [
            (i, j)
            for i in range(size)
            for j in range(i, size)
            if (i, j) != (0, 0) or not self._n_is_public
        ]
        noisy = self.noise.release([exact[i][j] for i, j in places])
        products = np.zeros((size, size))
        products[0, 0] = len(rows) if self._n_is_public else 0
        for (i, j), entry in zip(places, noisy, strict=True):
            products[i, j] = products[j, i] = entry / LEVELS**2
        return products

    def products(self, rows: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return G exactly, in whole numbers."""
        columns = [*self.predictors, self.outcome]
        size = len(columns) + 1
        total = [[0] * size for _ in range(size)]
        for start in range(0, len(rows), AT_ONCE):  # 2²⁴·2¹⁶ stays far inside 64 bits
            block = np.array(
                [[LEVELS, *_levels(row, columns)] for row in rows[start : start + AT_ONCE]],
                dtype=np.int64,
            )
            part = (block.T @ block).tolist()
            total = [
                [a + b for a, b in zip(*pair, strict=True)]
                for pair in zip(total, part, strict=True)
            ]
        return total

    @property
    def _n_is_public(self) -> bool:
        return self.neighbours is Neighbours.CHANGE_ONE

    def _solve(self, products: Matrix, n: int) -> Fit:
        """Return all that follows from the noisy G, and from n only where that is public."""
        people = float(n) if self._n_is_public else max(float(products[0, 0]), 1.0)
        square, cross = products[:-1, :-1], products[:-1, -1]
        least = float(np.linalg.eigvalsh(square)[0])
        safe = 2 * self.deviation * math.sqrt(2 * len(square) * math.log(40 * len(square)))
        ridge = max(safe - least, 0.0)
        inverse = np.linalg.inv(square + ridge * np.eye(len(square)))
        beta = inverse @ cross
        variance = self._residual_variance(products, beta, people)
        spread = inverse @ self._noise_of_bracket(beta) @ inverse + variance * inverse
        return self._fit(beta, np.sqrt(np.diag(spread)), ridge, math.sqrt(variance))

    def _residual_variance(self, products: Matrix, beta: Matrix, people: float) -> float:
        """Return an upper limit of σ², at most 1 in scaled units.

        No values within −1 to 1 are more spread.
        """
        weights = np.append(-beta, 1.0)
        total = float(weights @ products @ weights)
        noise = self.deviation * math.sqrt(2) * float(weights @ weights)
        return min((max(total, 0.0) + REACH * noise) / max(people - len(beta), 1.0), 1.0)

    def _noise_of_bracket(self, beta: Matrix) -> Matrix:
        square = float(beta @ beta)
        covariance = np.outer(beta, beta) + np.eye(len(beta)) * (1 + square)
        covariance[np.diag_indices(len(beta))] -= beta**2  # R_ii is 1 + Σβ², not twice βᵢ²
        if self._n_is_public:
            covariance[0, 0] -= beta[0] ** 2
        return np.asarray(self.deviation**2 * covariance)

    def _fit(self, beta: Matrix, errors: Matrix, ridge: float, residual: float) -> Fit:
        half = self.outcome.width / 2
        middle = _measured(self.outcome.middle + half * beta[0], half * errors[0], ridge)
        per_unit = [self.outcome.width / bounds.width for bounds in self.predictors]
        slopes = [
            _measured(per * slope, per * error, ridge)
            for per, slope, error in zip(per_unit, beta[1:], errors[1:], strict=True)
        ]
        return Fit(middle, slopes, ridge, half * residual)


def moved(predictors: int, neighbours: Neighbours) -> tuple[int, int]:
    """Return the largest L1 and squared L2 distances of two neighbours' G, in L² and in L⁴."""
    columns = predictors + 2
    if neighbours is Neighbours.ADD_REMOVE:
        return (columns * (columns + 1) // 2,) * 2
    pairs, squares = columns**2 // 4, predictors + 1
    return 2 * pairs + squares, 4 * pairs + squares


def _levels(row: Sequence[int], columns: Sequence[Bounds]) -> list[int]:
    return [
        (2 * LEVELS * (2 * bounds.clamp(value) - bounds.least - bounds.most) + bounds.width)
        // (2 * bounds.width)
        for value, bounds in zip(row, columns, strict=True)
    ]


def _measured(value: float, error: float, ridge: float) -> Measured:
    """Return a coefficient; with ridge in it, nothing is known of how far off it is."""
    half = math.inf if ridge > 0 else REACH * error
    return Measured(
        float(value),
        float(value) - half,
        float(value) + half,
        math.inf if ridge > 0 else float(error),
    )
