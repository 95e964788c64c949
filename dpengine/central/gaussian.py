"""Discrete Gaussian noise on integer counts.

    Pr[Z = z] = e^(−z²/(2σ²)) / Σ_k e^(−k²/(2σ²)),   σ = scale

Privacy    ρ = Δ²/(2σ²) concentrated (zCDP), Δ² the largest squared L2 distance between the integer
           vectors of two neighbours: `sensitivity_squared`. Every count has noise of its own. No
           finite ε holds with δ = 0. Unit and neighbours are whatever the sensitivity was stated
           for.
(ε, δ)     exactly, for neighbours that differ by the vector d: the loss at output x + Z is
           L = (2⟨d, Z⟩ + |d|²)/(2σ²), and
               δ(ε) = E[(1 − e^(ε − L))₊] = P(L > ε) − e^ε·P(L > ε + |d|²/σ²)
           summed over the whole numbers that ⟨d, Z⟩ takes. Here d moves `sensitivity_squared`
           counts by 1 each, as histograms do, or one number by its root (`alone`), as a sum does.
           The least σ for (ε, δ) is found by this sum: less than the classical √(2 ln(1.25/δ))·Δ/ε
           (Dwork and Roth 2014, Thm A.1), which is proved for ε < 1 only.
Error      Var Z ≤ σ², and equal to it within 1e-30 from σ = 2 on; E|Z| ≈ σ·√(2/π).
By hand    σ = 1, Δ = 1: ρ = 1/2; Pr[Z = 0] = 1/2.50663 = 0.39894; ε = 1: thresholds 1/2 and 3/2 on
           Z, so δ = P(Z ≥ 1) − e·P(Z ≥ 2) = 0.30053 − e·0.05856 = 0.14135. ε = 0.5, δ = 1e-6: σ =
           8.052, classical 10.598.
Numbers    Counts beyond ±2⁶² are taken as ±2⁶², as in laplace.py. No counts: no numbers.
Sources    Canonne, Kamath and Steinke 2020, Thm 14 (ρ of vectors), Thm 7 (δ), Alg. 3, drawn exactly
           by OpenDP. A binary float is a rational: `scale` is the one that is used, and ρ is
           computed from it as a fraction.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import scipy

from dpengine.central.laplace import LARGEST_SCALE, held
from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.privacy import Cost

FINE = 1e-7  # of σ: how close to the least
SAFE = 1 - 1e-9  # of δ: more than the sums can be off
# below it the noise is 0 but for a chance of e^(−2048): no mechanism, whatever is paid
SMALLEST_SCALE = 1 / 64
REACH = 38.0  # standard deviations: beyond lies less than the smallest float
# σ up to which a law is summed term by term; from here the Euler-Maclaurin series has 1e-12 or less
# left
SUMMED = 256.0
MIXED = 4.0  # σ from which sums of several Z are a discrete Gaussian, to 1e-30 (theta functions)
TERMS = 2**22  # of one sum


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    scale: float  # σ, a binary float, taken exactly
    sensitivity_squared: int  # L2², counts²

    def __post_init__(self) -> None:
        require(
            math.isfinite(self.scale) and SMALLEST_SCALE <= self.scale <= LARGEST_SCALE,
            "scale must be from 1/64 to 2**50, got {}",
            self.scale,
        )
        require(
            self.sensitivity_squared >= 1,
            "sensitivity_squared must be 1 or more, got {}",
            self.sensitivity_squared,
        )

    @classmethod
    def for_rho(cls, rho: Fraction, sensitivity_squared: int) -> "DiscreteGaussian":
        """Return the mechanism with the least noise that costs at most ρ."""
        require(rho > 0, "rho must be above 0, got {}", rho)
        least = sensitivity_squared / (2 * Fraction(rho))  # of σ²
        return cls(root_above(least), sensitivity_squared)

    @classmethod
    def for_epsilon_delta(
        cls, epsilon: Fraction, delta: Fraction, sensitivity_squared: int, alone: bool = False
    ) -> "DiscreteGaussian":
        """Return the mechanism with the least noise, within FINE, that is (ε, δ)-private."""
        require(epsilon > 0, "epsilon must be above 0, got {}", epsilon)
        require(0 < delta < 1, "delta must be between 0 and 1, got {}", delta)

        def is_enough(scale: float) -> bool:
            spent = cls(scale, sensitivity_squared).delta(float(epsilon), alone)
            return spent <= float(delta) * SAFE

        high = max(math.sqrt(sensitivity_squared), SMALLEST_SCALE)
        while not is_enough(high):
            high *= 2
            require(
                high <= LARGEST_SCALE,
                "epsilon and delta are so small that noise would be more than 2**50",
            )
        low = high / 2
        while low >= SMALLEST_SCALE and is_enough(low):
            low, high = low / 2, low
        low = max(low, SMALLEST_SCALE)
        while high - low > FINE * high:
            middle = (low + high) / 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return cls(high, sensitivity_squared)

    @property
    def rho(self) -> Fraction:
        """Return the exact concentrated loss of releasing once."""
        return self.sensitivity_squared / (2 * Fraction(self.scale) ** 2)

    @property
    def cost(self) -> Cost:
        return Cost.concentrated(self.rho)

    @property
    def variance(self) -> float:
        if self.scale >= MIXED:
            return self.scale**2
        at, chances = _law(self.scale)
        return float(chances @ (at * at))

    @property
    def mean_absolute_error(self) -> float:
        """Return E|Z|, in counts.

        For wide noise the sum of |z| falls short of the integral by 1/12 of the middle.
        """
        if self.scale > SUMMED:
            middle = 1 / (6 * self.scale * math.sqrt(2 * math.pi))
            return self.scale * math.sqrt(2 / math.pi) - middle
        at, chances = _law(self.scale)
        return float(chances @ np.abs(at))

    def tail(self, least: Ints) -> Floats:
        """Return P(Z ≥ least), from above for positive ones, one minus its mirror image below."""
        away = np.where(least >= 1, least, 1 - least).astype(np.float64)
        above = _upper(self.scale, away)
        return np.where(least >= 1, above, 1 - above)

    def delta(self, epsilon: float, alone: bool = False) -> float:
        """Return the least δ with which ε holds, exact but for rounding; never below it."""
        step = math.isqrt(self.sensitivity_squared) if alone else 1
        require(
            not alone or step**2 == self.sensitivity_squared,
            "one number alone moves by a whole number: sensitivity_squared must be a square",
        )
        places = 1 if alone else self.sensitivity_squared
        return _delta(self.scale, epsilon, places, step)

    def release(self, counts: Sequence[int]) -> list[int]:
        """Return the counts with noise. Publish once: a second draw is a second release."""
        if len(counts) == 0:
            return []
        from dpengine.central.samplers import gaussian  # here, for it loads OpenDP

        return [int(count) for count in gaussian(self.scale)(held(counts))]


def root_above(square: Fraction) -> float:
    """Return the least float whose square is not below this; `sqrt` errs by less than a step."""
    root = math.sqrt(square)
    return root if Fraction(root) ** 2 >= square else math.nextafter(root, math.inf)


@lru_cache(maxsize=16)
def _law(scale: float) -> tuple[Floats, Floats]:
    """Return whole numbers and their chances, summed term by term."""
    reach = math.ceil(REACH * scale)
    at = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-((at / scale) ** 2) / 2)
    return at, weights / weights.sum()


def _upper(scale: float, least: Floats) -> Floats:
    """Return P(Z ≥ least) for least ≥ 1."""
    if scale > SUMMED:
        return _upper_by_series(scale, least)
    at, chances = _law(scale)
    above = np.append(np.cumsum(chances[::-1])[::-1], 0.0)
    return np.asarray(above[np.minimum(least - at[0], len(at)).astype(np.int64)], dtype=np.float64)


def _upper_by_series(scale: float, least: Floats) -> Floats:
    """Return the sum as an integral from half a step before, corrected twice (Euler, Maclaurin).

    Σ f(z) = ∫ f + f'/24 − 7f'''/5760 at that point, with f the normal density: f' = −t·f/σ,
    f''' = (3t − t³)·f/σ³.
    """
    t = (least - 0.5) / scale
    density = np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi) / scale
    slope, third = -t * density / scale, (3 * t - t**3) * density / scale**3
    return np.asarray(scipy.special.ndtr(-t) + slope / 24 - 7 * third / 5760, dtype=np.float64)


def _delta(scale: float, epsilon: float, places: int, step: int) -> float:
    """Return δ(ε) where `places` counts move by `step` each: a sum over w = Σ Z."""
    require(math.isfinite(epsilon) and epsilon >= 0, "epsilon must be 0 or more, got {}", epsilon)
    spread = scale * math.sqrt(places)
    least = (epsilon * scale**2 - places * step**2 / 2) / step  # of w, for a loss above ε
    if spread > TERMS / (2 * REACH):
        density = math.exp(-((least / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))
        # a sum over whole numbers passes the integral by a step² × the bend of the integrand / 8
        kink = density * (step / scale**2) / 8
        return delta_of_continuous(scale / (step * math.sqrt(places)), epsilon) + kink
    at, chances = _law_of_sum(scale, places)
    lost = at > least
    kept = -np.expm1(step * (least - at[lost]) / scale**2)
    return float(chances[lost] @ kept)


def _law_of_sum(scale: float, places: int) -> tuple[Floats, Floats]:
    """Return the law of the sum of `places` independent Z.

    Pr[Σ Z = w] ∝ e^(−w²/(2·places·σ²))·θ(w mod places), where θ is constant to 1e-30 from σ = MIXED
    on.
    """
    if places == 1 or scale >= MIXED:
        return _law(scale * math.sqrt(places))
    one = _law(scale)[1]
    chances = one
    for _ in range(places - 1):
        chances = np.convolve(chances, one)
    reach = len(chances) // 2
    return np.arange(-reach, reach + 1, dtype=np.float64), chances


def delta_of_continuous(ratio: float, epsilon: float) -> float:
    """Return δ of continuous noise (Balle and Wang 2018, Thm 8), σ being `ratio` sensitivities."""
    half = 1 / (2 * ratio)
    return float(
        scipy.special.ndtr(half - epsilon * ratio)
        - math.exp(epsilon + scipy.special.log_ndtr(-half - epsilon * ratio))
    )
