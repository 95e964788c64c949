"""Two shares against each other, from counts that were published: differences between groups, and
shares of a part.

All of it is post-processing of one release's noisy counts N[i, j] (crosstabs.py), so it costs
nothing. What is compared is made of sums L = x·N·y / n, with x and y taken from the inverses of the
two channels. Two such sums of one release share their people, their devices' chance and their
publication noise, so they have a covariance:

    Cov(L, L') = (Σ p[s, t]·E[(x·f)(x'·f) | s]·E[(y·g)(y'·g) | t] − μμ')/n + Var Z·(x·x')(y·y')/n²

where f and g are the features of one report: one for a table, w for a subset, whose pairs
P(i and j held | t) follow from its size and its chance to hold the true answer. Where m counts have
a known sum, Var Z·Σx·Σy·Σx'·Σy'/(m·n²) less.

Difference  of a within b₁ and a within b₂. Each is a ratio with Fieller's interval
            (crosstabs.Within); their correlation ρ is that of the linearised ratios, (x_a −
            θ_b·1)⊗y_b / whole_b. The two intervals are put together with it (MOVER, Zou and Donner
            2008): d − √((θ₁ − l₁)² + (u₂ − θ₂)² − 2ρ(θ₁ − l₁)(u₂ − θ₂)), and the like above; from
            shares and limits as they came out, below 0 or above 1 too. (What is cut off at an edge
            says nothing of an error's size: so cut, a share of 0 and one of a half differed in 91
            to 94 %.) Or, where it is wider on a side, the least and the greatest difference A₁/B₁ −
            A₂/B₂ of all sums (A₁, A₂, B₁, B₂) that are within 1.96 of their errors, all four
            together: MOVER takes ρ for the same everywhere. (MOVER alone held two equal shares of
            50 people each at ε = 1 in 93.8 to 94.3 %.)
Odds ratio  of the same two shares, each within 0 and 1, with the same ρ, on the scale of log odds
            (dpengine.inference.contrasts), or of all those sums likewise, unless it reaches 0 or ∞.
Among       the share of an answer among those who were asked: p[a] / (1 − p[not asked]), by
            Fieller.
All groups  the shares of a in every b, drawn towards their mean (dpengine.inference.shrinkage).
            Their errors' covariances are those of the linearised ratios as if all groups were
            alike, p[a]·p[b] by the two margins: errors at each group's own estimate would be small
            where it came out rare by chance. Groups whose number is not told from 0 are left out.
Waves       two releases of different waves have separate noise. The same people may have answered
            both; where their answers mostly stay the same, the interval for ρ = 0 is wider than it
            need be, and safe.
By hand     Nothing changed by chance, no noise: 30 of 50 against 20 of 50 is 20 points, ρ = 0 but
            for the people.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpengine.estimates import CONFIDENCE, Estimate, Floats, Interval, Noise
from dpengine.inference import shrinkage
from dpengine.inference.contrasts import Limits, contrast, exp, farthest, put_together
from dpengine.local.cleartext import Cleartext
from surveys.aggregation.crosstabs import Side, Sum, Table, Within, quantile

Shrunk = shrinkage.Shrunk
ALONE = Cleartext.of_choices(1).features()  # the other side of a table of one question


@dataclass(frozen=True, slots=True)
class Difference:
    """One share less another, with its interval. None where one of them cannot be told."""

    value: float | None
    low: float
    high: float
    one: Within
    other: Within
    odds_ratio: Limits | None = None  # None where neither share has odds

    @property
    def is_told_apart(self) -> bool:
        """Tell whether the interval leaves 0 out."""
        return self.value is not None and (self.low > 0 or self.high < 0)


def difference(
    table: Table, answer: int, groups: tuple[int, int], confidence: float = CONFIDENCE
) -> Difference:
    """Return the share of an answer to the left question in one group of the right one, less
    that in another.
    """
    one, other = (table.within(answer, group, confidence) for group in groups)
    if one.value is None or other.value is None:
        return Difference(None, -1.0, 1.0, one, other)
    own = table.left.first[answer], table.left.one
    shared = table.correlation(*(linearised(table, *own, group) for group in groups))
    value = one.value - other.value
    _, *ends = put_together(one.came_out, other.came_out, shared)
    sums = [(each, table.right.first[group]) for each in own for group in groups]
    low, high = (min(max(end, -1.0), 1.0) for end in _wider(table, sums, _apart, ends, confidence))
    limits = (one.value, one.low, one.high), (other.value, other.low, other.high)
    odds = odds_ratio(*limits, shared)
    if odds and odds[1] > 0 and odds[2] < math.inf:
        logs = [math.log(end) for end in odds[1:]]
        below, above = _wider(table, sums, _log_odds_apart, logs, confidence)
        odds = odds[0], exp(below), exp(above)
    return Difference(value, min(low, value), max(high, value), one, other, odds)


Apart = Callable[[Floats], tuple[float, Floats]]  # of sums A₁, A₂, B₁, B₂: a contrast, its gradient


def _apart(sums: Floats) -> tuple[float, Floats]:
    """Return A₁/B₁ − A₂/B₂."""
    one, other = sums[:2] / sums[2:]
    return one - other, np.array([1.0, -1.0, -one, other]) / sums[[2, 3, 2, 3]]


def _log_odds_apart(sums: Floats) -> tuple[float, Floats]:
    """Return log A₁/(B₁ − A₁) − log A₂/(B₂ − A₂): infinite from an edge on."""
    part, rest = (np.maximum(each, 0.0) for each in (sums[:2], sums[2:] - sums[:2]))
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = np.log(part / rest)
        own, others = 1 / part + 1 / rest, 1 / rest
        return one - other, np.array([own[0], -own[1], -others[0], others[1]])


def _wider(
    table: Table, sums: Sequence[Sum], apart: Apart, ends: Sequence[float], confidence: float
) -> Interval:
    """Return ends of a contrast, or those of all sums that are not rejected, if they are wider."""
    at, covariance = np.array([table.sum(each) for each in sums]), table.covariances(sums)

    def end(sign: int) -> float:
        point = farthest(at, covariance, lambda of: sign * apart(of)[1], quantile(confidence))
        return apart(point)[0]

    return min(ends[0], end(-1)), max(ends[1], end(1))


def linearised(table: Table, part: Floats, whole: Floats, group: int) -> Sum:
    """Return x and y of (part − θ·whole) / whole in one group, whose error is that of the ratio
    θ.
    """
    inside = table.right.first[group]
    top, size = table.expected((part, inside)), table.expected((whole, inside))
    theta = top / size if size else 0.0
    return (part - theta * whole) / max(size, 1e-12), inside


def towards_mean(table: Table, answer: int, confidence: float = CONFIDENCE) -> dict[int, Shrunk]:
    """Return the share of an answer to the left question, drawn towards the mean of all groups, by
    group of the right one. Empty where too few groups can be told.
    """
    wholes, moving = table.over_groups(table.left.one)
    told = wholes > quantile(confidence) * np.sqrt(np.diagonal(moving))
    if np.count_nonzero(told) < shrinkage.FEWEST:
        return {}
    mean = float(table.nearest[answer].sum())
    apart, covariance = table.over_groups(table.left.first[answer] - mean * table.left.one)
    wholes, within = wholes[told], covariance[np.ix_(told, told)]
    shares, errors = mean + apart[told] / wholes, within / np.outer(wholes, wholes)
    try:
        shrunk = shrinkage.shrink(shares, errors, confidence, (0.0, 1.0))
    except ValueError:  # nobody, or everybody, gave this answer, and nothing was left to chance
        return {}
    return dict(zip(np.flatnonzero(told).tolist(), shrunk.groups, strict=True))


def odds_ratio(one: Limits, other: Limits, shared: float = 0.0) -> Limits | None:
    """Return the odds of one share over those of another, with the interval; both from 0 to 1."""
    found = contrast(_inside(one), _inside(other), shared)
    return None if found.odds_ratio is None else (found.odds_ratio, *found.odds_ratio_interval)


def _inside(limits: Limits) -> Limits:
    value, low, high = (min(max(end, 0.0), 1.0) for end in limits)
    return value, low, high


def between(one: Estimate, other: Estimate) -> Limits:
    """Return one share less another of an independent release, with its interval."""
    return put_together((one.value, one.low, one.high), (other.value, other.low, other.high))


def among(
    counts: list[int], side: Side, noise: Noise, n: int, confidence: float = CONFIDENCE
) -> list[Within]:
    """Return the share of each answer but the last among those who did not give the last: who
    were asked.
    """
    table, one = Table.of([[count] for count in counts], side, ALONE, noise, n), np.ones(1)
    whole = side.first[:-1].sum(axis=0), one
    return [table.ratio((own, one), whole, confidence) for own in side.first[:-1]]
