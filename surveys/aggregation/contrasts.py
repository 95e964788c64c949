"""Two shares against each other, from counts that were published: differences between groups, and shares of a part.

All of it is post-processing of one release's noisy counts N[i, j] (crosstabs.py), so it costs nothing. What is
compared is made of sums L = x·N·y / n, with x and y taken from the inverses of the two channels. Two such sums of one
release share their people, their devices' chance and their publication noise, so they have a covariance:

    Cov(L, L') = (Σ p[s, t]·E[(x·f)(x'·f) | s]·E[(y·g)(y'·g) | t] − μμ')/n + Var Z·(x·x')(y·y')/n²

where f and g are the features of one report: one for a table, w for a subset, whose pairs
P(i and j held | t) follow from its size and its chance to hold the true answer.

Difference  of a within b₁ and a within b₂. Each is a ratio with Fieller's interval (crosstabs.Within); their
            correlation ρ is that of the linearised ratios, (x_a − θ_b·1)⊗y_b / whole_b. The two intervals are put
            together with it (MOVER, Zou and Donner 2008):
            d − √((θ₁ − l₁)² + (u₂ − θ₂)² − 2ρ(θ₁ − l₁)(u₂ − θ₂)), and the like above.
Among       the share of an answer among those who were asked: p[a] / (1 − p[not asked]), by Fieller.
Waves       two releases of different waves have separate noise. The same people may have answered both; where their
            answers mostly stay the same, the interval for ρ = 0 is wider than it need be, and safe.
By hand     Nothing changed by chance, no noise: 30 of 50 against 20 of 50 is 20 points, ρ = 0 but for the people.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpengine.estimates import CONFIDENCE, Estimate, Noise
from surveys.aggregation.crosstabs import Side, Table, Within, quantile

Floats = npt.NDArray[np.float64]
Sum = tuple[Floats, Floats]  # x and y
Limits = tuple[float, float, float]  # a value, and the ends of its interval
ALONE = Side(("all",), 1, np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), (np.ones(1), np.ones(1)), is_open=True)


@dataclass(frozen=True, slots=True)
class Difference:
    """One share less another, with its interval. None where one of them cannot be told."""

    value: float | None
    low: float
    high: float
    one: Within
    other: Within

    @property
    def is_told_apart(self) -> bool:
        """Tell whether the interval leaves 0 out."""
        return self.value is not None and (self.low > 0 or self.high < 0)


def pairs(side: Side) -> Floats:
    """Return G[t, i, j], the chance that a report of true answer t holds features i and j."""
    answers, features = side.chances.shape
    found = np.zeros((answers, features, features))
    for true in range(answers):
        found[true] = np.diag(side.chances[true])
        if side.held > 1:
            found[true] += _both_held(side, true)
    return found


def _both_held(side: Side, true: int) -> Floats:
    """Return the chances of pairs of different choices in a subset: the true one among them, or not."""
    k, w, own = side.features, side.held, float(side.chances[true, true])
    with_true = own * (w - 1) / (k - 1)
    others = (own * (w - 1) * (w - 2) + (1 - own) * w * (w - 1)) / ((k - 1) * (k - 2)) if k > 2 else 0.0
    chances = np.full((k, k), others)
    chances[true, :] = chances[:, true] = with_true
    np.fill_diagonal(chances, 0.0)
    return chances


@dataclass(frozen=True)
class Sums:
    """Sums x·N·y / n of one table, and how they move together."""

    table: Table

    def covariance(self, one: Sum, other: Sum) -> float:
        table, true = self.table, self.table.nearest
        left = np.einsum("tij,i,j->t", pairs(table.left), one[0], other[0])
        right = np.einsum("tij,i,j->t", pairs(table.right), one[1], other[1])
        answers = float(left @ true @ right) - self._mean(one) * self._mean(other)
        added = table.noise.variance * float(one[0] @ other[0]) * float(one[1] @ other[1])
        return answers / table.n + added / table.n**2

    def correlation(self, one: Sum, other: Sum) -> float:
        errors = math.sqrt(max(self.covariance(one, one), 0.0) * max(self.covariance(other, other), 0.0))
        return self.covariance(one, other) / errors if errors else 0.0

    def _mean(self, of: Sum) -> float:
        table = self.table
        return float((table.left.chances @ of[0]) @ table.nearest @ (table.right.chances @ of[1]))

    def value(self, of: Sum) -> float:
        return float(of[0] @ self.table.noisy @ of[1]) / self.table.n

    def ratio(self, part: Sum, whole: Sum, z: float) -> Within:
        both = self.covariance(part, whole)
        return Within.of(
            self.value(part), self.value(whole), self.covariance(part, part), self.covariance(whole, whole), both, z
        )


def difference(table: Table, answer: int, groups: tuple[int, int], confidence: float = CONFIDENCE) -> Difference:
    """Return the share of an answer to the left question in one group of the right one, less that in another."""
    one, other = (table.within(answer, group, confidence) for group in groups)
    if one.value is None or other.value is None:
        return Difference(None, -1.0, 1.0, one, other)
    shared = Sums(table).correlation(*(_linearised(table, answer, group) for group in groups))
    low, high = put_together((one.value, one.low, one.high), (other.value, other.low, other.high), shared)
    return Difference(one.value - other.value, low, high, one, other)


def _linearised(table: Table, answer: int, group: int) -> Sum:
    """Return x and y of (part − θ·whole) / whole, whose error is that of the ratio θ."""
    true = table.nearest
    whole = float(true[:, group].sum())
    theta = float(true[answer, group]) / whole if whole else 0.0
    return (table.left.first[answer] - theta * table.left.one) / max(whole, 1e-12), table.right.first[group]


def put_together(one: Limits, other: Limits, shared: float = 0.0) -> tuple[float, float]:
    """Return the interval of one value less another, whose errors have this correlation (MOVER)."""
    (a, low_a, high_a), (b, low_b, high_b) = one, other
    shared = min(max(shared, -1.0), 1.0)
    below = _side(a - low_a, high_b - b, shared)
    above = _side(high_a - a, b - low_b, shared)
    return a - b - below, a - b + above


def _side(one: float, other: float, shared: float) -> float:
    return math.sqrt(max(one**2 + other**2 - 2 * shared * one * other, 0.0))


def between(one: Estimate, other: Estimate) -> tuple[float, float, float]:
    """Return one share less another of an independent release, with its interval."""
    low, high = put_together((one.value, one.low, one.high), (other.value, other.low, other.high))
    return one.value - other.value, low, high


def among(counts: list[int], side: Side, noise: Noise, n: int, confidence: float = CONFIDENCE) -> list[Within]:
    """Return the share of each answer but the last among those who did not give the last: who were asked."""
    table = Table.of([[count] for count in counts], side, ALONE, noise, n)
    sums, one = Sums(table), np.ones(1)
    whole = side.first[:-1].sum(axis=0), one
    z = quantile(confidence)
    return [sums.ratio((side.first[answer], one), whole, z) for answer in range(len(side.labels) - 1)]
