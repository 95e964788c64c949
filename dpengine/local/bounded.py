"""A lower confidence limit for the mean of values that cannot be less than the least of them.

Give every report, and one imagined report of the least value, an exponential weight of its own; the
limit c is the α-quantile of the weighted mean, the number for which

    P(Σ_r G_r·(a_r − c) ≤ 0) = α,   G_r ~ Gamma(counts[r]), the least value counted once more.

Nothing is assumed of the values' law. That it holds for every n is Gaffke's conjecture, true in all
that was tried since (Learned-Miller and Thomas 2019); for large n it is the normal limit, skewness
counted. A publication's noise joins as a normal with its variance, and counts that it made negative
keep their part of the mean, as a shift.

Computed   by a saddlepoint, r* = w + ln(u/w)/w (Barndorff-Nielsen 1986).
By hand    n reports, all of the least value: the limit is that value.
Sources    Gaffke 2005; Learned-Miller and Thomas 2019; Lugannani and Rice 1980.
"""

import math

import numpy as np
import scipy

from dpengine.estimates import Floats

NEAR = 1e-9
NEWTON_STEPS = 80


def lower_limit(values: Floats, counts: Floats, variance: float, z: float, least: float) -> float:
    """Return the limit at normal deviate z, or `least` where that cannot be ruled out.

    `variance` is that of the noise on every count; `least` is at or above the least value.
    """
    imagined = int(values.argmin())
    seen = counts + (np.arange(len(values)) == imagined)
    total, floor = float(seen.sum()), max(least, float(values[imagined]) + NEAR)
    if total <= 0:
        return least
    mean = float(seen @ values) / total
    if mean <= floor or _root(values - floor, seen, variance) > -z:
        return least
    return float(
        scipy.optimize.brentq(
            lambda c: _root(values - c, seen, variance) + z, floor, mean, xtol=1e-9
        )
    )


def _root(gaps: Floats, seen: Floats, variance: float) -> float:
    """Return the normal deviate of P(Σ G·gap ≤ 0), 0 where the mean of the sum is not above 0."""
    counts, noise = np.maximum(seen, 0.0), variance * float(gaps @ gaps)
    shift = float((seen - counts) @ gaps)
    if float(seen @ gaps) <= NEAR:
        return 0.0
    t = _saddle(gaps, counts, noise, shift)
    ratios = gaps / (1 - t * gaps)
    height = float(counts @ np.log1p(-t * gaps)) - shift * t - noise * t**2 / 2
    w, u = -math.sqrt(max(2 * height, 0.0)), t * math.sqrt(float(counts @ ratios**2) + noise)
    return w + math.log(u / w) / w if w < -NEAR else 0.0


def _saddle(gaps: Floats, counts: Floats, noise: float, shift: float) -> float:
    """Return the t < 0 where the tilted sum has mean 0.

    Newton's steps, halved where they leave the bracket.
    """
    below, above = 1 / float(gaps.min()), 0.0
    t = below / 2
    for _ in range(NEWTON_STEPS):
        ratios = gaps / (1 - t * gaps)
        mean = float(counts @ ratios) + shift + noise * t
        below, above = (below, t) if mean > 0 else (t, above)
        step = t - mean / (float(counts @ ratios**2) + noise)
        step = step if below < step < above else (below + above) / 2
        if abs(step - t) <= 1e-12 * abs(t):
            return step
        t = step
    return t
