"""A count that is published again and again while it grows, paid for once: continual counting.

Model      At step t = 1 … T some people join: x_t of them (for several counts at once, a vector).
           Wanted after each step is s_t = x_1 + … + x_t, that is s = A x with A all ones below the
           diagonal. A person joins in one step.
Mechanism  F is Toeplitz, zero above the diagonal, of whole numbers:
               F_j = the nearest integer to u·f_j,   f_j = binom(2j, j) / 4^j
           D holds whole weights of steps of joining, d_i, and a_t whole weights of steps of
           publishing. Exact discrete Gaussian noise is put on integers:
               y = F D x + z,   z_t of scale σ_t ≥ σ·r/a_t,   r the unit of a_t
           Published is round(A (F D)⁻¹ y). A strategy says which weights:
               square root   d = a = 1, u = 2¹⁶: unrounded, both factors would be the root of A
                             (Fichtenberger, Henzinger and Upadhyay 2023). For series begun with it.
               weighted      u = 2¹², r = 2¹², a_t ∝ (T + 24t)^(1/4)·(T + 1 − t)^(7/16), and d_i
                             so that all columns are as long as the shortest: with a = 1 that is
                             Henzinger, Kalinin and Upadhyay 2025. a_t was fitted to the optimum.
Privacy    One person moves `moves` entries of one x_t by one each: change-one 2 (1 where a single
           count is kept, for the rest of a public n is known), add-remove 1; of a report that holds
           w of k choices 2·min(w, k − w), w. Given all that was published before, y_t is a fresh
           discrete Gaussian on an integer that this person moves by F_{t−i} d_i, i the step of
           joining; zCDP adds up, adaptively, also if x_t depends on what was published:
               ρ = moves · max_i Σ_{t≥i} (F_{t−i} d_i)² / (2σ_t²) ≤ moves · S / (2σ²)
               S = ⌈max_i d_i² Σ_{t≥i} (a_t F_{t−i})² / r²⌉
           for all T steps together. It is charged on day one. S is an exact integer of the very
           weights that are used, and each is a whole root of whole numbers: the same on every
           machine, so that what was charged is what is drawn however long it takes. How well they
           are chosen changes the error and the proof not at all. What follows y is free; y itself
           could be published.
Error      A (F D)⁻¹ y = s + M z up to float rounding (1e-13 of the count), M_ts = Σ_{i=s…t}
           (F⁻¹)_{i−s}/d_i, so the noise of step t is round(G), G with mean 0 and v_t = Σ_s (M_ts
           σ_s)²; Var round(G) = v_t + 1/12 (to 1e-30 from v = 4), E|G| = √(2 v_t/π). G is a sum
           over a lattice finer than 2⁻¹⁶ people; its law is the normal one moved by no more.
Optimum    Of all factorisations of A, the least Σ v_t (Denisov, McMahan, Rush, Smith and Thakurta
           2022, Thm 3.2) is a convex problem; its mean absolute error at T = 7, 52, 365 and ρ = 0.1
           is 2.598, 3.632, 4.698. Weighted: 2.599, 3.634, 4.703; square root: 2.749, 3.850, 4.953.
           What is left, 0.1 %, would cost T² floats that differ between machines.
By hand    T = 1: one count with variance 1/(2ρ), either way. T = 2, square root: Σ R² = 1.25,
           variances 1.25/(2ρ) and 1.5625/(2ρ). T = 365, ρ = 0.1, one count: mean absolute error
           4.70 people, at the last step 5.14 (4.95 and 5.25 by the square root).
State      What joined and what y was, by step: integers. The first is secret. A stored state goes
           on where it stopped, with the strategy it was begun with.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import TypedDict

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import float_above
from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.privacy import Cost

UNIT = 2**16  # of the square root's coefficients
COEFFICIENTS, ROWS, COLUMNS = 2**12, 2**12, 2**16  # units of a weighted strategy's whole numbers
MAX_STEPS = 10_000  # steps
MAX_TOTAL = 2**33  # people: 2²⁸ times as many still fit the sampler
LARGE = 4.0  # a variance from which rounding adds 1/12, to 1e-30


class Strategy(StrEnum):
    SQUARE_ROOT = "square root"
    WEIGHTED = "weighted"


class State(TypedDict):
    """What is remembered: a list of integers a step."""

    joined: list[list[int]]  # secret
    noisy: list[list[int]]


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """F, D and the weights of steps, for one horizon: three arrays of T whole numbers."""

    coefficients: Ints  # F_0 … F_{T−1}
    columns: Ints  # d_1 … d_T
    rows: Ints  # a_1 … a_T
    unit: int  # r, of the rows
    inverse: Floats  # the first column of F⁻¹

    @classmethod
    def of(cls, coefficients: Ints, columns: Ints, rows: Ints, unit: int) -> "Factor":
        inverse = np.zeros(len(coefficients))
        for t in range(len(inverse)):
            above = inverse[:t] @ coefficients[t:0:-1]
            inverse[t] = ((t == 0) - above) / coefficients[0]
        return cls(coefficients, columns, rows, unit, inverse)

    @property
    def squares(self) -> int:
        """Return S: the squared length of the longest column, rounded up."""
        lengths = _lengths(self.coefficients, self.rows)
        longest = max(
            length * int(weight) ** 2 for length, weight in zip(lengths, self.columns, strict=True)
        )
        return int(-(-longest // self.unit**2))

    def solution(self, step: int) -> Floats:
        """Return M_t1 … M_tt: the count after `step` steps from what was drawn by then."""
        shares = 1 / self.columns[:step].astype(np.float64)
        product = np.convolve(shares[::-1], self.inverse[:step])
        return np.asarray(product[:step][::-1], dtype=np.float64)

    def variances(self) -> Floats:
        """Return v_1 … v_T at σ = 1: Σ_s (M_ts r/a_s)². From step to step M gains one term."""
        found, solution = np.empty(len(self.rows)), np.zeros(len(self.rows))
        for step, column in enumerate(self.columns, start=1):
            solution[:step] += self.inverse[:step][::-1] / column
            found[step - 1] = np.sum((solution[:step] * self.unit / self.rows[:step]) ** 2)
        return found


@lru_cache(maxsize=16)
def factor(strategy: Strategy, horizon: int) -> Factor:
    if strategy is Strategy.SQUARE_ROOT:
        ones = np.ones(horizon, dtype=np.int64)
        return Factor.of(coefficients(horizon, UNIT), ones, ones, 1)
    powers = [
        (horizon + 24 * step) ** 4 * (horizon + 1 - step) ** 7 for step in range(1, horizon + 1)
    ]
    greatest = max(powers)
    rows = np.array([_root(power, greatest, 16, ROWS) for power in powers], dtype=np.int64)
    found = coefficients(horizon, COEFFICIENTS)
    lengths = _lengths(found, rows)
    shortest = min(lengths)
    columns = [_root(shortest, length, 2, COLUMNS) for length in lengths]
    return Factor.of(found, np.array(columns, dtype=np.int64), rows, ROWS)


def coefficients(horizon: int, unit: int = UNIT) -> Ints:
    """Return F_0 … F_{T−1}: binom(2j, j)/4^j in these units, rounded to the nearest."""
    weights, ways = [], 1  # ways: binom(2j, j)
    for j in range(horizon):
        weights.append((2 * ways * unit + 4**j) // (2 * 4**j))
        ways = ways * 2 * (2 * j + 1) // (j + 1)
    return np.array(weights, dtype=np.int64)


@lru_cache(maxsize=16)
def _variances(strategy: Strategy, horizon: int) -> Floats:
    variances = factor(strategy, horizon).variances()
    variances.flags.writeable = False  # it is shared
    return variances


def _lengths(coefficients: Ints, rows: Ints) -> list[int]:
    """Return Σ_{t≥i} (a_t F_{t−i})² for every i: exact, below 2⁶²."""
    products = np.convolve(rows[::-1] ** 2, coefficients**2)[: len(rows)][::-1]
    return [int(length) for length in products]


def _root(numerator: int, denominator: int, degree: int, unit: int) -> int:
    """Return the root of a fraction, in these units, rounded down; the degree is a power of 2."""
    root = int(unit**degree) * numerator // denominator
    for _ in range(degree.bit_length() - 1):
        root = math.isqrt(root)  # ⌊√⌊x⌋⌋ = ⌊√x⌋
    return root


@dataclass(frozen=True, slots=True)
class RoundedNormal:
    """The law of normal noise that is rounded to whole people."""

    normal: float  # variance before rounding, people²

    @property
    def variance(self) -> float:
        if self.normal >= LARGE:
            return self.normal + 1 / 12
        above = np.arange(1, 60)
        return float(2 * (2 * above - 1) @ self.tail(above))

    @property
    def mean_absolute_error(self) -> float:
        """Return E|Z| = 2 Σ P(Z ≥ m), by the midpoint rule, corrected once.

        Where that is exact to 1e-4; else summed.
        """
        if self.normal >= LARGE:
            return math.sqrt(2 * self.normal / math.pi) - 1 / (
                12 * math.sqrt(2 * math.pi * self.normal)
            )
        return float(2 * np.sum(self.tail(np.arange(1, 60))))

    def tail(self, least: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return P(Z ≥ least): it is rounded up to `least` from half a person below."""
        return np.asarray(
            scipy.special.ndtr((0.5 - least) / math.sqrt(self.normal)), dtype=np.float64
        )


@dataclass(frozen=True, slots=True)
class ContinualCounter:
    horizon: int  # T: how many times the counts are published, at most
    counts: int  # how many are kept at once
    moves: int  # how many of them one person moves, by one each: the L2 distance, squared
    gaussian: DiscreteGaussian  # of scale σ, where a_t is r
    signed: bool = False  # differences of counts are kept, which may fall
    strategy: Strategy = Strategy.WEIGHTED

    @classmethod
    def for_rho(
        cls,
        rho: Fraction,
        *,
        horizon: int,
        counts: int,
        moves: int,
        signed: bool = False,
        strategy: Strategy = Strategy.WEIGHTED,
    ) -> "ContinualCounter":
        """Return the counter with the least noise that costs at most ρ for its whole horizon."""
        require(
            1 <= horizon <= MAX_STEPS, "horizon must be 1 to {} steps, got {}", MAX_STEPS, horizon
        )
        # of a difference of two counts, one person can move 2
        most = 4 * counts if signed else counts
        require(
            1 <= moves <= most, "moves must be 1 to {} for {} counts, got {}", most, counts, moves
        )
        squared = moves * factor(strategy, horizon).squares
        gaussian = DiscreteGaussian.for_rho(rho, squared)
        return cls(horizon, counts, moves, gaussian, signed, strategy)

    @property
    def cost(self) -> Cost:
        """Return what all steps together cost: charged before the first."""
        return self.gaussian.cost

    @property
    def people(self) -> float:
        """Return σ in people: that of one count alone at the same cost, where columns are one."""
        squared = self.gaussian.sensitivity_squared // self.moves
        unit = UNIT if self.strategy is Strategy.SQUARE_ROOT else math.sqrt(squared)
        return self.gaussian.scale / unit

    def noise(self, step: int) -> RoundedNormal:
        """Return the law of the noise in each count after so many steps, from 1."""
        self._require_step(step)
        variances = _variances(self.strategy, self.horizon)
        return RoundedNormal(self.gaussian.scale**2 * float(variances[step - 1]))

    @property
    def mean_absolute_error(self) -> float:
        """Return how many people off a published count is on average, over all steps."""
        return float(
            np.mean([self.noise(step + 1).mean_absolute_error for step in range(self.horizon)])
        )

    def noise_drawn(self, step: int) -> DiscreteGaussian:
        """Return what draws z_t: σ_t is the least float that is not below σ·r/a_t."""
        chosen = factor(self.strategy, self.horizon)
        share = Fraction(chosen.unit, int(chosen.rows[step - 1]))
        scale = float_above(Fraction(self.gaussian.scale) * share)
        return DiscreteGaussian(scale, self.gaussian.sensitivity_squared)

    def start(self) -> State:
        return {"joined": [], "noisy": []}

    def step(self, state: State, totals: Sequence[int]) -> tuple[State, list[int]]:
        """Return the state after one more step, and the published counts of all joined by now.

        Drawn anew at every call: keep the returned state, and never take the same step twice.
        """
        joined, noisy = [*state["joined"]], [*state["noisy"]]
        self._require_step(len(joined) + 1)
        require(
            len(totals) == self.counts,
            "totals must be {} counts, got {}",
            self.counts,
            len(totals),
        )
        before = np.sum(np.array(joined, dtype=np.int64).reshape(-1, self.counts), axis=0).tolist()
        new = [int(total) - old for total, old in zip(totals, before, strict=True)]
        require(
            (min(new) >= 0 or self.signed) and max(map(abs, totals)) <= MAX_TOTAL,
            "totals must be whole numbers up to {} that never fall",
            MAX_TOTAL,
        )
        joined.append(new)
        chosen, taken = factor(self.strategy, self.horizon), len(joined)
        weights = chosen.coefficients[:taken][::-1] * chosen.columns[:taken]
        exact = weights @ np.array(joined, dtype=np.int64)
        noisy.append(self.noise_drawn(taken).release(exact.tolist()))
        published = np.rint(chosen.solution(taken) @ np.array(noisy, dtype=np.float64))
        return {"joined": joined, "noisy": noisy}, [int(count) for count in published]

    def _require_step(self, step: int) -> None:
        require(
            1 <= step <= self.horizon,
            "step must be 1 to the horizon of {}, got {}",
            self.horizon,
            step,
        )
