"""Shares of groups against one another: a randomised question by an open one.

Each group's share comes from its own reports, with constants of each row. The first group is the base of

    difference of likeliest shares π₁ − π₂; interval by squares of distances to the exact limits l, u of each
               (Newcombe 1998): π₁ − π₂ − sqrt((π₁ − l₁)² + (u₂ − π₂)²) and + sqrt((u₁ − π₁)² + (π₂ − l₂)²)
    ratio and odds ratio; intervals by profile likelihood over both shares: 0 and ∞ where the reports cannot tell
    test       G² = 2(Σ ln L of each group − ln L of one share for all), df = groups − 1

Weights enter as in shares.py, with a design effect of each group's own.
By hand    Direct answers, 10 of 100 and 20 of 100: difference .10, ratio 2, odds ratio 2.25, G² 3.99.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from dpengine.estimates import CONFIDENCE, Interval
from dpengine.inference.fit import Fit
from dpengine.inference.intervals import Groups, grouped, likeliest_share
from dpengine.inference.odds import FARTHEST, HAIR, log_limits, quotient
from dpengine.inference.shares import Respondents, Share, binary_share, errors_of

Pair = Callable[[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Contrast:
    """A group's share against the base group's."""

    group: object
    base: object
    difference: float
    difference_interval: Interval
    ratio: float | None
    ratio_interval: Interval
    odds_ratio: float | None
    odds_ratio_interval: Interval


@dataclass(frozen=True, slots=True)
class Comparison:
    """The shares of all groups, and each against the first."""

    groups: tuple[object, ...]
    shares: tuple[Share, ...]
    contrasts: tuple[Contrast, ...]
    test: Fit
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One group's reports; effective numbers, where there are weights."""

    name: object
    share: Share
    groups: Groups


def by_group(
    yes: npt.ArrayLike,
    group: Sequence[object] | npt.NDArray[Any],
    c0: npt.ArrayLike,
    c1: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Return the share of yes in every group of an open column, and each against the first (in sorted order)."""
    rows = Respondents.of(yes, c0, c1, weights)
    labels = np.asarray(group)
    if len(labels) != len(rows.used):
        raise ValueError(f"group must have as many rows as there are reports, {len(rows.used)}, got {len(labels)}")
    names, place = np.unique(labels[rows.used], return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"group must have two values or more to compare, got {len(names)}")
    parts = [_part(name, rows, place == index, confidence) for index, name in enumerate(names.tolist())]
    return Comparison(
        groups=tuple(part.name for part in parts),
        shares=tuple(part.share for part in parts),
        contrasts=tuple(_contrast(part, parts[0], confidence) for part in parts[1:]),
        test=_equality([part.groups for part in parts]),
        warnings=tuple(f"{part.name}: {warning}" for part in parts for warning in part.share.warnings),
    )


def _part(name: object, rows: Respondents, here: npt.NDArray[np.bool_], confidence: float) -> Part:
    columns = (rows.yes[here], rows.c0[here], rows.c1[here], rows.weights[here])
    share = binary_share(*columns, confidence=confidence)
    part = Respondents.of(*columns)
    _, effect = errors_of(part, share.maximum_likelihood, share.moment)
    return Part(name, share, part.groups.scaled(1 / effect))


def _contrast(part: Part, base: Part, confidence: float) -> Contrast:
    share, other = part.share.maximum_likelihood, base.share.maximum_likelihood
    ratio, odds = quotient(share, other), quotient(share * (1 - other), other * (1 - share))
    return Contrast(
        group=part.name,
        base=base.name,
        difference=share - other,
        difference_interval=_newcombe(part.share, base.share),
        ratio=ratio,
        ratio_interval=_profile(part, base, _shares_of_ratio, ratio, confidence),
        odds_ratio=odds,
        odds_ratio_interval=_profile(part, base, _shares_of_odds_ratio, odds, confidence),
    )


def _newcombe(one: Share, other: Share) -> Interval:
    down = np.hypot(_reach(one, 0), _reach(other, 1))
    up = np.hypot(_reach(one, 1), _reach(other, 0))
    difference = one.maximum_likelihood - other.maximum_likelihood
    return max(difference - float(down), -1.0), min(difference + float(up), 1.0)


def _reach(share: Share, side: int) -> float:
    """Return how far the exact limit on a side is from the likeliest share, which lies inside."""
    return max((share.interval[side] - share.maximum_likelihood) * (1 if side else -1), 0.0)


def _shares_of_ratio(log_ratio: float, at: float) -> tuple[float, float]:
    """Return two shares with this ratio, the larger one `at`."""
    ratio = float(np.exp(-abs(log_ratio)))
    return (at, at * ratio) if log_ratio >= 0 else (at * ratio, at)


def _shares_of_odds_ratio(log_ratio: float, at: float) -> tuple[float, float]:
    """Return two shares with this odds ratio: `at` moves the mean of their logits over the line."""
    middle = FARTHEST * (2 * at - 1)
    return float(special.expit(middle + log_ratio / 2)), float(special.expit(middle - log_ratio / 2))


def _profile(part: Part, base: Part, pair: Pair, estimate: float | None, confidence: float) -> Interval:
    """Return the ratios that a likelihood ratio test does not reject, whatever the shares."""

    def height(log_ratio: float) -> float:
        def depth(at: float) -> float:
            share, other = pair(log_ratio, at)
            return -part.groups.log_likelihood(share) - base.groups.log_likelihood(other)

        found = optimize.minimize_scalar(depth, bounds=(HAIR, 1 - HAIR), method="bounded", options={"xatol": 1e-10})
        return -float(found.fun)

    best = sum(here.groups.log_likelihood(here.share.maximum_likelihood) for here in (part, base))
    return log_limits(height, best, estimate, confidence)


def _equality(parts: list[Groups]) -> Fit:
    """Return G² of one share for all groups."""
    columns = [np.concatenate([getattr(part, name) for part in parts]) for name in ("c0", "c1", "n", "yes")]
    pooled = grouped(*columns)
    apart = sum(part.log_likelihood(likeliest_share(part)) for part in parts)
    return Fit(g2=max(2 * (apart - pooled.log_likelihood(likeliest_share(pooled))), 0.0), df=len(parts) - 1)
