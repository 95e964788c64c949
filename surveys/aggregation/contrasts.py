"""Two shares against each other, from counts that were published: differences between groups, and
shares of a part.

All of it is post-processing of one release's noisy counts N[i, j] (crosstabs.py), so it costs
nothing. What is compared is made of sums L = x·N·y / n, with x and y taken from the inverses of the
two channels. Two such sums of one release share their people, their devices' chance and their
publication noise, so they have a covariance:

    Cov(L, L') = (Σ p[s, t]·E[(x·f)(x'·f) | s]·E[(y·g)(y'·g) | t] − μμ')/n + Var Z·(x·x')(y·y')/n²

where f and g are the features of one report: one for a table, w for a subset, whose pairs
P(i and j held | t) follow from its size and its chance to hold the true answer.

Difference  of a within b₁ and a within b₂. Each is a ratio with Fieller's interval
            (crosstabs.Within); their correlation ρ is that of the linearised ratios, (x_a −
            θ_b·1)⊗y_b / whole_b. The two intervals are put together with it (MOVER, Zou and Donner
            2008): d − √((θ₁ − l₁)² + (u₂ − θ₂)² − 2ρ(θ₁ − l₁)(u₂ − θ₂)), and the like above.
Odds ratio  of the same two shares, each within 0 and 1, with the same ρ, on the scale of log odds
            (dpengine.inference.contrasts).
Among       the share of an answer among those who were asked: p[a] / (1 − p[not asked]), by
            Fieller.
Waves       two releases of different waves have separate noise. The same people may have answered
            both; where their answers mostly stay the same, the interval for ρ = 0 is wider than it
            need be, and safe.
By hand     Nothing changed by chance, no noise: 30 of 50 against 20 of 50 is 20 points, ρ = 0 but
            for the people.
"""

from dataclasses import dataclass

import numpy as np

from dpengine.estimates import CONFIDENCE, Estimate, Noise
from dpengine.inference.contrasts import Limits, contrast, put_together
from dpengine.local.cleartext import Cleartext
from surveys.aggregation.crosstabs import Side, Sum, Table, Within

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
    shared = table.correlation(*(_linearised(table, answer, group) for group in groups))
    limits = (one.value, one.low, one.high), (other.value, other.low, other.high)
    return Difference(
        *put_together(*limits, shared), one, other, odds_ratio=odds_ratio(*limits, shared)
    )


def _linearised(table: Table, answer: int, group: int) -> Sum:
    """Return x and y of (part − θ·whole) / whole, whose error is that of the ratio θ."""
    true = table.nearest
    whole = float(true[:, group].sum())
    theta = float(true[answer, group]) / whole if whole else 0.0
    part = table.left.first[answer] - theta * table.left.one
    return part / max(whole, 1e-12), table.right.first[group]


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
