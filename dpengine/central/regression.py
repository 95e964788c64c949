"""Linear regression from noisy sufficient statistics.

Every person is a row v = (L, z₁, …, z_d, z_y): predictors and outcome, clamped to public bounds and
measured from their middle, z = round(L·(2x − least − most)/(most − least)), so |z| ≤ L = 2¹².
Released is the upper triangle of G = Σ v·vᵀ with noise on each entry; under change-one without its
first, n·L², which is public. All else is post-processing.

With p = d + 2 columns and one row changed to any other, in units of L² and L⁴:
    L1   (p² − 1)(p + 1)/2p        L2²  4⌊p²/4⌋        (add-remove: p(p + 1)/2 both, of |entry| ≤ 1)
Rows reach both, so no smaller number would do. Proof, L = 1: of the rows v and w let a = (v + w)/2,
b = (v − w)/2, so that |aᵢ| + |bᵢ| ≤ 1, b₁ = 0, and vᵢvⱼ − wᵢwⱼ = 2(aᵢbⱼ + aⱼbᵢ). With tᵢ = |aᵢ|,
t₁ = 1, |bᵢ| ≤ 1 − tᵢ let T = Σtᵢ, sᵢ = tᵢ(1 − tᵢ) ≤ ¼, Q = Σsᵢ ≤ (p − 1)/4.
    L1   = 2Σ_{i<j}|aᵢbⱼ + aⱼbᵢ| + 4Σ|aᵢbᵢ| ≤ 2(T(p − T) − Q) + 4Q. For one T concave Q is largest
           where t₂ = … = t_p: (T − 1)(p − T)/(p − 1). In all 2(p − T)(pT − 1)/(p − 1), which is
           largest, the bound, at T = (p² + 1)/2p. v all 1, w (1, 2t₂ − 1, …) has it.
    L2²  = 4(|a|²|b|² + (a·b)² + 2Σaᵢ²bᵢ²) ≤ 4((T − Q)(p − T − Q) + Q² + 2Σsᵢ²), where Σsᵢ² ≤ Q/4:
           ≤ 4(T(p − T) − Q(p − 2Q − ½)) ≤ 4(T(p − T) − Qp/2) ≤ p², so for an even p it is done.
           For an odd one let δ be T less its whole part: (T − p/2)² ≥ (δ − ½)², so T(p − T) is at
           most (p² − 1)/4 + δ(1 − δ); and Qp/2 ≥ Q ≥ δ(1 − δ), as Q is least where all t but one
           are 0 or 1. v all 1, w 1 on ⌊p/2⌋ places and −1 on the others, has it.

Privacy    discrete Laplace: pure ε = L1/scale. Discrete Gaussian: ρ = L2²/(2σ²).
Cost       that; one row is one person.
Estimate   β = A⁻¹b, A and b the noisy blocks of G for (1, z) and y. Where A is not positive
           definite, ridge: A + (2s − least eigenvalue)·I, s = τ·√(2(d + 1)·ln(40(d + 1))) for noise
           of variance τ² (a bound of its norm).
Error      β̂ − β = A⁻¹(e + N_b − N_A·β), N the noise, e = Σ(1, z)·residual: no approximation, A the
           noisy one. N_b − N_A·β has the covariance R_ii = τ²(1 + Σⱼβⱼ²), R_ik = τ²βᵢβₖ (without
           the noise of n under change-one): a·R·a for a, a row of A⁻¹, held.
           Sampling: Σ(a·(1, z))²·residual², at most (Σ|aₖ|)²·nσ², as |z| ≤ 1, and at most a·A·a, as
           no spread of |y| ≤ 1 is above 1: wherever the spread is, as where it grows with a
           predictor. σ² from the noisy residual sum wᵀGw, w = (−β, 1), at its upper limit. A tenth
           of ε for a noisy sum of the squares instead makes intervals at ε = 1 up to 20 % wider
           for 200 and 800 people, narrower by a third at most for 6,000 and one predictor.
Interval   95 %: of one coefficient all x within 2.12 standard errors of β̂ (what one Laplace needs;
           a normal 1.96), these at β = x, the others at their estimates: Fieller's set. a·R·a has
           τ²|a|²·x², so it is bounded where 2.12·τ·|a| < 1; where not, or ridge was needed, no
           interval. The norm of N is about 2√(d + 1)·τ (Wigner 1958): with so much as the least
           eigenvalue before noise, and 4.2·τ at least, about 9 in 10 have one.
By hand    d = 1, p = 3: L1 = 8·4/6 = 5⅓, instead of 2·3 + 2 = 8 entry by entry: (1, 1, 1) and
           (1, −⅓, −⅓) differ by 2·4/3 + 3·8/9. L2² = 8: (1, 1, 1) and (1, −1, −1).
Sources    Vu and Slavković 2009; Wang 2018 (sufficient statistics); Sheffet 2019 (ridge); Fieller
           1954.
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
EVEN = 1 / 3  # mean square of z spread evenly
AT_ONCE = 2**16  # rows
Limits = tuple[float, float, float]  # low, high, standard error
UNKNOWN = (-math.inf, math.inf, math.inf)


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
        sensitivity = math.floor(moved(len(predictors), neighbours)[0] * LEVELS**2)
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
        return per_unit * self.deviation / (n * EVEN)

    @property
    def needed(self) -> float:
        """Return the least eigenvalue of A without noise, in people, at which an interval can be
        expected to say something: to be there, and to hold at most half of the slopes that a line
        between the corners of the bounds can have.
        """
        return self.deviation * max(2 * math.sqrt(len(self.predictors) + 1), 2 * REACH)

    @property
    def enough(self) -> int:
        """Return n at which that is so for predictors spread evenly, each by itself."""
        return math.ceil(self.needed / EVEN)

    def least_spread(self, n: int) -> float:
        """Return the predictors' standard deviation, in widths of their bounds, that it takes."""
        return math.sqrt(self.needed / max(n, 1)) / 2

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
        ridge = safe - least if least <= 0 else 0.0
        inverse = np.linalg.inv(square + ridge * np.eye(len(square)))
        beta = inverse @ cross
        variance = self._residual_variance(products, beta, people)
        if ridge > 0:
            return self._fit(beta, [UNKNOWN] * len(beta), ridge, math.sqrt(variance))
        farthest = np.abs(inverse).sum(axis=1) ** 2
        sampling = np.minimum(farthest * people * variance, np.diag(inverse))
        limits = [
            self._limits(place, inverse[place], beta, float(sampling[place]))
            for place in range(len(beta))
        ]
        return self._fit(beta, limits, ridge, math.sqrt(variance))

    def _limits(self, place: int, row: Matrix, beta: Matrix, sampling: float) -> Limits:
        """Return Fieller's limits of one coefficient, and its standard error."""
        others = beta.copy()
        others[place] = 0.0
        still = float(row @ self._noise_of_bracket(others) @ row) + sampling
        linear = self.deviation**2 * 2 * float(row[place] * (row @ others))
        square = self.deviation**2 * float(row @ row)
        if place == 0 and self._n_is_public:
            square -= self.deviation**2 * float(row[0] ** 2)
        at = float(beta[place])
        left = 1 - REACH**2 * square
        if left <= 0:
            return UNKNOWN
        middle = at + REACH**2 * linear / 2
        root = math.sqrt(max(middle**2 - left * (at**2 - REACH**2 * still), 0.0))
        error = math.sqrt(square * at**2 + linear * at + still)
        return (middle - root) / left, (middle + root) / left, error

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

    def _fit(self, beta: Matrix, limits: Sequence[Limits], ridge: float, residual: float) -> Fit:
        units = [self.outcome.width / bounds.width for bounds in self.predictors]
        middle, *slopes = (
            Measured(zero + unit * float(at), zero + unit * low, zero + unit * high, unit * error)
            for zero, unit, at, (low, high, error) in zip(
                [float(self.outcome.middle), *[0.0] * len(units)],
                [self.outcome.width / 2, *units],
                beta,
                limits,
                strict=True,
            )
        )
        return Fit(middle, slopes, ridge, self.outcome.width / 2 * residual)


def moved(predictors: int, neighbours: Neighbours) -> tuple[Fraction, int]:
    """Return the largest L1 and squared L2 distances of two neighbours' G, in L² and in L⁴."""
    p = predictors + 2
    if neighbours is Neighbours.ADD_REMOVE:
        return Fraction(p * (p + 1), 2), p * (p + 1) // 2
    return Fraction((p**2 - 1) * (p + 1), 2 * p), 4 * (p**2 // 4)


def _levels(row: Sequence[int], columns: Sequence[Bounds]) -> list[int]:
    return [
        (2 * LEVELS * (2 * bounds.clamp(value) - bounds.least - bounds.most) + bounds.width)
        // (2 * bounds.width)
        for value, bounds in zip(row, columns, strict=True)
    ]
