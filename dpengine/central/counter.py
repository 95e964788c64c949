"""A count that is published again and again while it grows, paid for once: continual counting.

Model      At step t = 1 … T some people join: x_t of them (for several counts at once, a vector).
           Wanted after each step is s_t = x_1 + … + x_t, that is s = A x with A all ones below the
           diagonal. A person joins in one step.
Mechanism  R and L are Toeplitz matrices, zero above the diagonal, with L R = A. R holds whole
           numbers:
               R_j = the nearest integer to 2¹⁶ f_j,   f_j = binom(2j, j) / 4^j
           Exact discrete Gaussian noise z is put on the integers: y = R x + z. Published is round(L
           y). With f_j not rounded both factors would be the root of A (Fichtenberger, Henzinger
           and Upadhyay 2023).
Privacy    One person moves `moves` entries of one x_t by one each: change-one 2 (1 where a single
           count is kept, for the rest of a public n is known), add-remove 1; of a report that holds
           w of k choices 2·min(w, k − w), w. Given all that was published before, y_t is a fresh
           discrete Gaussian on an integer that this person moves by R_{t−i}, i the step of joining;
           zCDP adds up, adaptively: ρ = moves · Σ_{j<T} R_j² / (2σ²) for all T steps together, also
           if x_t depends on what was published. It is charged on day one. The sum is an exact
           integer of the very R that is used: rounding f_j changes the error a little and the proof
           not at all. L, floats and rounding come after y, so they are free; y itself could be
           published.
Error      L y = s + L z up to float rounding (1e-13 of the count), so the noise of step t is
           round(G), G with mean 0 and v_t = σ² Σ_{j<t} L_j² people²; Var round(G) = v_t + 1/12 (to
           1e-30 from v = 4), E|G| = √(2 v_t/π). G is a sum over a lattice of steps of 2⁻¹⁶ people;
           its law is the normal one moved by at most 2⁻¹⁷ people.
By hand    T = 1: R = 2¹⁶, L = 2⁻¹⁶: one count with variance 1/(2ρ). T = 2: L = (1, 1/2)/2¹⁶, Σ R² =
           1.25 · 2³², variances 1.25/(2ρ) and 1.5625/(2ρ). T = 365, ρ = 0.1, one count: mean
           absolute error 4.95 people.
State      What joined and what y was, by step: integers. The first is secret. A stored state goes
           on where it stopped.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypedDict

import numpy as np
import numpy.typing as npt
from scipy import special

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.checks import require
from dpengine.privacy import Cost

UNIT = 2**16  # one person, in the integers that get noise
MAX_STEPS = 10_000  # steps
MAX_TOTAL = 2**36  # people: 2¹⁶ times as many still fit the sampler, and a float, exactly
LARGE = 4.0  # a variance from which rounding adds 1/12, to 1e-30


class State(TypedDict):
    """What is remembered: a list of integers a step."""

    joined: list[list[int]]  # secret
    noisy: list[list[int]]


@lru_cache(maxsize=16)
def coefficients(horizon: int) -> tuple[int, ...]:
    """Return R_0 … R_{T−1}: binom(2j, j)/4^j in units of 2⁻¹⁶, rounded to the nearest."""
    weights, ways = [], 1  # ways: binom(2j, j)
    for j in range(horizon):
        weights.append((2 * ways * UNIT + 4**j) // (2 * 4**j))
        ways = ways * 2 * (2 * j + 1) // (j + 1)
    return tuple(weights)


@lru_cache(maxsize=16)
def inverse(horizon: int) -> npt.NDArray[np.float64]:
    """Return L_0 … L_{T−1} with L R = A: Σ_j L_j R_{t−j} = 1 for every t."""
    right = np.array(coefficients(horizon), dtype=np.float64)
    left = np.empty(horizon)
    for t in range(horizon):
        left[t] = (1 - left[:t] @ right[t:0:-1]) / right[0]
    left.flags.writeable = False  # it is shared
    return left


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
        return np.asarray(special.ndtr((0.5 - least) / math.sqrt(self.normal)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class ContinualCounter:
    horizon: int  # T: how many times the counts are published, at most
    counts: int  # how many are kept at once
    moves: int  # how many of them one person moves, by one each: the L2 distance, squared
    gaussian: DiscreteGaussian  # noise on R x
    signed: bool = False  # differences of counts are kept, which may fall

    @classmethod
    def for_rho(
        cls, rho: Fraction, *, horizon: int, counts: int, moves: int, signed: bool = False
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
        squared = moves * sum(weight**2 for weight in coefficients(horizon))
        return cls(horizon, counts, moves, DiscreteGaussian.for_rho(rho, squared), signed)

    @property
    def cost(self) -> Cost:
        """Return what all steps together cost: charged before the first."""
        return self.gaussian.cost

    def noise(self, step: int) -> RoundedNormal:
        """Return the law of the noise in each count after so many steps, from 1."""
        self._require_step(step)
        return RoundedNormal(
            self.gaussian.scale**2 * float(np.sum(inverse(self.horizon)[:step] ** 2))
        )

    @property
    def mean_absolute_error(self) -> float:
        """Return how many people off a published count is on average, over all steps."""
        variances = self.gaussian.scale**2 * np.cumsum(inverse(self.horizon) ** 2)
        return float(
            np.mean([RoundedNormal(float(variance)).mean_absolute_error for variance in variances])
        )

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
        weights = np.array(coefficients(self.horizon)[: len(joined)], dtype=np.int64)[::-1]
        exact = weights @ np.array(joined, dtype=np.int64)
        noisy.append(self.gaussian.release(exact.tolist()))
        published = np.rint(
            inverse(self.horizon)[: len(noisy)][::-1] @ np.array(noisy, dtype=np.float64)
        )
        return {"joined": joined, "noisy": noisy}, [int(count) for count in published]

    def _require_step(self, step: int) -> None:
        require(
            1 <= step <= self.horizon,
            "step must be 1 to the horizon of {}, got {}",
            self.horizon,
            step,
        )
