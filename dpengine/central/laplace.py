"""Discrete Laplace noise on integer counts.

    Pr[Z = z] = (1 − p)/(1 + p) · p^|z|,   p = e^(−1/scale)

Privacy    ε = sensitivity / scale, for any two neighbours whose counts differ by at most
           `sensitivity` in L1; δ = 0. Unit and neighbours are whatever the sensitivity was
           stated for. The adversary sees every published count and may know all other people's.
Cost       pure ε, so ρ = ε²/2.
Error      Var Z = 2p/(1 − p)², E|Z| = 2p/(1 − p²), P(|Z| ≥ m) = 2p^m/(1 + p); each count on its
           own.
By hand    scale 1/ln 3: p = 1/3, Pr[Z = 0] = 1/2, variance 3/2, E|Z| = 3/4.
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

import numpy as np
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_laplace
from opendp.metrics import l1_distance
from opendp.mod import enable_features

from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.privacy import Cost

enable_features("contrib")

LARGEST_COUNT = 2**62  # either way; beyond it the 64-bit integers of the sampler could wrap
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
        return Cost.pure(self.epsilon)

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
        measurement = make_laplace(
            vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=self.scale
        )
        return [int(count) for count in measurement(held(counts))]


def float_above(exact: Fraction) -> float:
    """Return the least float that is not below a number."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def held(counts: Sequence[int]) -> list[int]:
    """Return the counts as plain integers within ±2⁶²."""
    return [min(max(int(count), -LARGEST_COUNT), LARGEST_COUNT) for count in counts]
