"""One share against another: difference, ratio and odds ratio, from an estimate and an interval of
each.

    interval   of g(π₁) − g(π₂), with g the share itself, its logarithm, or its log odds, by the
               distances of each estimate to its own limits (MOVER: Newcombe 1998, Zou and Donner
               2008), ρ being how the two errors correlate, 0 for two groups:

                   d − √((θ₁ − l₁)² + (u₂ − θ₂)² − 2ρ(θ₁ − l₁)(u₂ − θ₂)), and the like above

               Ratios are carried back by exp. Nothing but the two intervals is used, so that it
               serves every design, weights included, and holds as well as they do.
    the edge   A likeliest share of 0 or 1 has no log odds, and MOVER no distances from it: the
               ratio's own side ends at 0 or ∞, and the other where the two intervals' far ends put
               it. Each end is wrong in 2.5 %, so that this side is in 5 % at most, the other never.
               None where both shares are 0 (odds: or both 1): the ratio is anything.
    farthest   of all points s with (s − ŝ)ᵀC⁻¹(s − ŝ) ≤ z², the one where g is largest. There s − ŝ
               = z·C∇g/√(∇gᵀC∇g) (Lagrange), a fixed point that is found by going there from ŝ, as
               far as g is finite. Every point on the way is one of them: an end that is not
               reached in time is too near, never too far.

By hand    Direct answers, 20 of 100 against 10 of 100, with Clopper and Pearson's .127 to .292 and
           .049 to .176: difference .10, ratio 2, odds ratio 2.25; the difference's lower end is
           .10 − √(.073² + .076²) = −.006.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpengine.estimates import Floats, Interval

Limits = tuple[float, float, float]  # a value, and the ends of its interval
Scale = Callable[[float], float]
STEPS, WHOLE, NEAR = 60, 20, 1e-9  # of the way to the farthest point; first ones go all the way


@dataclass(frozen=True, slots=True)
class Contrast:
    """A share against another. Ratios are None where both shares are at one edge."""

    difference: float
    difference_interval: Interval
    ratio: float | None
    ratio_interval: Interval
    odds_ratio: float | None
    odds_ratio_interval: Interval


def contrast(one: Limits, other: Limits, shared: float = 0.0) -> Contrast:
    """Return one share against another: likeliest values with their limits, all from 0 to 1.

    `shared` is the correlation of the two errors.
    """
    one, other = _around(one), _around(other)
    value, low, high = put_together(one, other, shared)
    ratio, odds_ratio = (_ratio(one, other, scale, shared) for scale in (_log, _log_odds))
    return Contrast(value, (max(low, -1.0), min(high, 1.0)), *ratio, *odds_ratio)


def put_together(one: Limits, other: Limits, shared: float = 0.0) -> Limits:
    """Return one value less another, with its interval (MOVER); `shared`: the errors correlate."""
    (a, low_a, high_a), (b, low_b, high_b) = one, other
    shared = min(max(shared, -1.0), 1.0)
    below = _side(a - low_a, high_b - b, shared)
    above = _side(high_a - a, b - low_b, shared)
    return a - b, a - b - below, a - b + above


def farthest(
    at: Floats, covariance: Floats, gradient: Callable[[Floats], Floats], z: float
) -> Floats:
    """Return the point that is within z of its errors and farthest up a gradient."""
    moved = np.zeros(len(at))
    for step in range(STEPS):
        up = gradient(at + moved)
        if not np.isfinite(up).all():
            break
        pull = covariance @ up
        there = z * pull / math.sqrt(max(float(up @ pull), sys.float_info.min))
        moved, before = there if step < WHOLE else (there + moved) / 2, moved
        if np.abs(moved - before).max() < NEAR:
            break
    return at + moved


def _side(one: float, other: float, shared: float) -> float:
    return math.sqrt(max(one**2 + other**2 - 2 * shared * one * other, 0.0))


def _ratio(
    one: Limits, other: Limits, scale: Scale, shared: float
) -> tuple[float | None, Interval]:
    """Return a ratio and its interval: exp of a difference on a scale that may be infinite."""
    (a, low_a, high_a), (b, low_b, high_b) = (map(scale, each) for each in (one, other))
    if math.isinf(a) and a == b:
        return None, (0.0, math.inf)
    if math.isinf(a - b):
        ends = (0.0, exp(high_a - low_b)) if a < b else (exp(low_a - high_b), math.inf)
        return exp(a - b), ends
    below = math.inf if math.isinf(low_a - high_b) else _side(a - low_a, high_b - b, shared)
    above = math.inf if math.isinf(high_a - low_b) else _side(high_a - a, b - low_b, shared)
    return exp(a - b), (exp(a - b - below), exp(a - b + above))


def _around(limits: Limits) -> Limits:
    """Return limits that hold their value: exact ones need not hold the likeliest."""
    value, low, high = limits
    return value, min(low, value), max(high, value)


def _log(share: float) -> float:
    return math.log(share) if share > 0 else -math.inf


def _log_odds(share: float) -> float:
    if 0 < share < 1:
        return math.log(share) - math.log1p(-share)
    return math.copysign(math.inf, share - 0.5)


def exp(log: float) -> float:
    return math.exp(log) if log < 700 else math.inf
