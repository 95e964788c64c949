"""Discrete Laplace noise on integer counts.

    Pr[Z = z] = (1 − p)/(1 + p) · p^|z|,   p = e^(−1/scale)

Privacy    ε = sensitivity / scale, for any two neighbours whose counts differ by at most
           `sensitivity` in L1; δ = 0. Unit and neighbours are whatever the sensitivity was
           stated for. The adversary sees every published count and may know all other people's.
Cost       pure ε, and with t = 1/scale, Δ the sensitivity
               ρ = ε − (1 − e^(−ε))·t/sinh t,   ε = Δt,
           exactly, if one count can move by Δ. Proof. Let one count move by d, a = dt/2, τ = t/2.
           Summing the geometric series, Σ P^α·Q^(1−α) is, with y = 2α − 1 > 1,
               M = e^(−a)·(cosh(ay) + c·sinh(ay)),   c = tanh τ·coth(τy),
           and ln M = (α − 1)·D_α is to be at most α(α − 1)ρ = ¼(y² − 1)·ρ. Both are 0 at a = 0. By
           a, with ρ = 2a − 2κ(1 − e^(−2a)), κ = τ/sinh 2τ, their difference changes by
               ½(y² + 1) − κ(y² − 1)e^(−2a) − y·u,
               u = (sinh ay + c·cosh ay)/(cosh ay + c·sinh ay),
           which is y·(B − u) for B = (y² + 1 − w)/(2y), w = 2κ(y² − 1)e^(−2a). Now u solves
           u′ = y(1 − u²), and B′ − y(1 − B²) = (y² − 1 − w)²/(4y) ≥ 0, so that u ≤ B for every a
           if it is at a = 0: there c·y = tanh τ·y·coth(τy) ≤ ½(y² + 1) − κ(y² − 1), which is its
           tangent at y² = 1, and √s·coth √s = 1 + Σ 2s/(s + k²π²) is concave in s. Equal as α → 1:
           ρ is the Kullback-Leibler divergence. Several counts, d₁ + d₂ + … ≤ Δ, each with noise of
           its own, lose the sum of theirs, and 1 − e^(−dt) is concave, 0 at 0: at most the ρ of one
           that moves by Δ. □
           As t → 0: ε + e^(−ε) − 1, of continuous noise (Harrison and Manurangsi 2025); Δ = 1:
           ε·tanh(ε/2), randomised response. Rounded up.
Error      Var Z = 2p/(1 − p)², E|Z| = 2p/(1 − p²), P(|Z| ≥ m) = 2p^m/(1 + p); each count on its
           own.
By hand    scale 1/ln 3: p = 1/3, Pr[Z = 0] = 1/2, variance 3/2, E|Z| = 3/4. Scale 2, Δ = 2:
           ρ = 1 − (1 − 1/e)/(2·sinh ½) = 0.39347, where ε²/2 is 0.5.
Numbers    Counts may be any whole numbers; beyond ±2⁶² one is taken as ±2⁶². That moves no two
           neighbours further apart, and it is no error: an error would tell.
Sources    Ghosh, Roughgarden and Sundararajan 2009; drawn exactly, over rationals, by OpenDP
           (Canonne, Kamath and Steinke 2020, Alg. 2). A binary float is a rational: `scale` is the
           one that is used, and ε is computed from it as a fraction.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpengine.bounds import exp_above, exp_below
from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.privacy import Cost

LARGEST_COUNT = 2**62  # either way; beyond it the 64-bit integers of the sampler could wrap
LARGEST_STEP = 100  # beyond it ρ is ε but for 10⁻⁴⁰
LARGEST_SCALE = 2.0**50  # so that count and noise together stay inside 64 bits


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    scale: float  # a binary float, taken exactly
    sensitivity: int  # L1, counts

    def __post_init__(self) -> None:
        require(
            math.isfinite(self.scale) and self.scale > 0,
            "scale must be above 0, got {}",
            self.scale,
        )
        require(self.scale <= LARGEST_SCALE, "scale must be at most 2**50, got {}", self.scale)
        require(self.sensitivity >= 1, "sensitivity must be 1 or more, got {}", self.sensitivity)

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, sensitivity: int) -> "DiscreteLaplace":
        """Return the mechanism with the least noise that costs at most ε."""
        require(epsilon > 0, "epsilon must be above 0, got {}", epsilon)
        return cls(float_above(sensitivity / epsilon), sensitivity)

    @property
    def epsilon(self) -> Fraction:
        """Return the exact privacy loss, in nats, of releasing once."""
        return self.sensitivity / Fraction(self.scale)

    @property
    def cost(self) -> Cost:
        return Cost(rho=self.rho, epsilon=self.epsilon)

    @property
    def rho(self) -> Fraction:
        """Return the ρ of releasing once, from above."""
        return _rho(self.scale, self.sensitivity)

    @property
    def variance(self) -> float:
        p = math.exp(-1 / self.scale)
        return 2 * p / math.expm1(-1 / self.scale) ** 2

    @property
    def mean_absolute_error(self) -> float:
        """Return E|Z|, in counts."""
        return -2 * math.exp(-1 / self.scale) / math.expm1(-2 / self.scale)

    def tail(self, least: Ints) -> Floats:
        """Return P(Z ≥ least): p^m/(1 + p) for m ≥ 1, and one minus its mirror image below."""
        p = math.exp(-1 / self.scale)
        above = np.exp(-np.abs(np.where(least >= 1, least, 1 - least)) / self.scale) / (1 + p)
        return np.where(least >= 1, above, 1 - above)

    def release(self, counts: Sequence[int]) -> list[int]:
        """Return the counts with noise. Publish once: a second draw is a second release."""
        if len(counts) == 0:
            return []
        from dpengine.central.samplers import laplace  # here, for it loads OpenDP

        return [int(count) for count in laplace(self.scale)(held(counts))]


@lru_cache(maxsize=256)  # a study has one law for many questions
def _rho(scale: float, sensitivity: int) -> Fraction:
    step = 1 / Fraction(scale)
    epsilon = sensitivity * step
    most = min(epsilon, epsilon**2 / 2)
    if step > LARGEST_STEP:
        return most
    sinh = (exp_above(step) - exp_below(-step)) / 2
    return min(most, epsilon - (1 - exp_above(-epsilon)) * step / sinh)


def float_above(exact: Fraction) -> float:
    """Return the least float that is not below a number."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def held(counts: Sequence[int]) -> list[int]:
    """Return the counts as plain integers within ±2⁶²."""
    return [min(max(int(count), -LARGEST_COUNT), LARGEST_COUNT) for count in counts]
