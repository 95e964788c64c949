"""From counts of two questions' reports together to a table of people: everything around the draw
but the draw.

Each question turns a report into features: the one thing it says (a table's report, an answer as it
was given) or the w choices it holds (a subset). What is counted, and gets noise, is how often two
features come together, N[i, j].

Estimate   p[a, b] = U₁·N·U₂ᵀ / n, the Kronecker product of the two inverses: u = U·feature is 1 on
           average for the true answer and 0 for the others. A table: U = P⁻¹. A subset: u = (held −
           b)/(a − b), which Σ held = w makes linear. An answer as given: U = 1. Unbiased,
           unprojected. Σ u = 1 for every report.
Variance   (Σ p·E[u₁²]·E[u₂²] − p²)/n at the nearest true shares (sampling and devices), plus Var
           Z·Σ U₁²U₂²/n².
Interval   sampling and devices as of a mean of bounded values (inference.intervals), the noise by
           its standard error, put together side by side (Zou and Donner 2008): m ± √(d² +
           (1.96·σ)²). Two questions as given: exact (estimates.share). 95 %.
Within     the share of a among those who answered b: p[a, b] / Σₐ p[a, b], interval by Fieller
           (1954); everything where so few gave b that their number is not told from 0. Free: it
           follows from the same numbers.
n          public under change-one; under add-remove the noisy N's total over features a report, its
           error counted in.
By hand    Two coins of 3 in 4, all 100 reports (yes, yes): p(yes, yes) = 9/4, (no, no) 1/4, the
           other two −3/4.
Sources    Chaudhuri and Mukerjee 1988, ch. 3.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from dpengine.estimates import CONFIDENCE, Interval, Noise, share, simplex
from dpengine.inference.intervals import mean_intervals
from dpengine.local.channel import Features
from dpengine.local.cleartext import CERTAIN

Floats = npt.NDArray[np.float64]
Side = Features  # of one question of the table
Sum = tuple[Floats, Floats]  # x and y


def together(counts: Counter[tuple[Any, ...]], left: Side, right: Side) -> list[list[int]]:
    """Return how often two features come together: N, exact and never shown."""
    table = [[0] * right.features for _ in range(left.features)]
    for (one, other), count in counts.items():
        for i in _features(one):
            for j in _features(other):
                table[i][j] += count
    return table


def _features(value: Any) -> Sequence[int]:
    return value if isinstance(value, tuple | list) else (value,)


@dataclass(frozen=True)
class Table:
    """People by two answers, estimated from noisy counts."""

    left: Side
    right: Side
    noisy: Floats  # N with noise
    n: int  # public, or estimated
    known: bool  # whether n is public
    noise: Noise

    @classmethod
    def of(
        cls,
        noisy: Sequence[Sequence[int]],
        left: Side,
        right: Side,
        noise: Noise,
        n: int | None = None,
    ) -> "Table":
        """Read a table; without n, which is then not public, n is what the noisy counts add up
        to.
        """
        counts = np.array(noisy, dtype=np.float64)
        if n is not None and n < 1:
            raise ValueError(f"n must be 1 or more, got {n}")
        people = n or max(round(float(counts.sum()) / (left.held * right.held)), 1)
        return cls(left, right, counts, people, n is not None, noise)

    @property
    def shares(self) -> Floats:
        """Return p[a, b], as estimated."""
        return np.asarray(self.left.first @ self.noisy @ self.right.first.T / self.n)

    @cached_property
    def nearest(self) -> Floats:
        """Return the nearest shares that are 0 or more and add up to 1."""
        return np.array(simplex(self.shares.ravel().tolist())).reshape(self.shares.shape)

    @property
    def variances(self) -> tuple[Floats, Floats]:
        """Return variances of p: from sampling and devices, and from publication."""
        return self._variances(self.nearest)

    def _variances(self, true: Floats) -> tuple[Floats, Floats]:
        expected = self.left.chances.T @ true @ self.right.chances  # N / n on average
        squares = self.left.second @ expected @ self.right.second.T
        answers = np.maximum(squares - true**2, 0.0) / self.n
        sizes = np.outer((self.left.first**2).sum(axis=1), (self.right.first**2).sum(axis=1))
        if not self.known:  # p·n̂ moves with the noise too: U₁U₂ − p/held
            sums = np.outer(self.left.first.sum(axis=1), self.right.first.sum(axis=1))
            part = true / (self.left.held * self.right.held)
            sizes = sizes - 2 * part * sums + part**2 * self.noisy.size
        return answers, self.noise.variance * sizes / self.n**2

    @property
    def standard_errors(self) -> Floats:
        answers, publication = self.variances
        return np.sqrt(answers + publication)

    def even_error(self) -> float:
        """Return the largest standard error if all answers were equally common: from public
        values only.
        """
        answers, publication = self._variances(np.full(self.shares.shape, 1 / self.shares.size))
        return float(np.sqrt((answers + publication).max()))

    def intervals(self, confidence: float = CONFIDENCE) -> list[list[Interval]]:
        """Return the interval of every p."""
        if self.left.is_exact and self.right.is_exact:
            return self._exact(confidence)
        answers, publication = self.variances
        shares = self.shares
        # The least and the greatest product of the two sides' u.
        corners = [
            np.multiply.outer(one, other) for one in self.left.ends for other in self.right.ends
        ]
        lows, highs = np.minimum.reduce(corners), np.maximum.reduce(corners)
        low, high = mean_intervals(shares, answers, float(self.n), lows, highs, confidence)
        added = quantile(confidence) * np.sqrt(publication)
        below, above = np.hypot(shares - low, added), np.hypot(high - shares, added)
        # Far outside by chance: the interval around the nearest edge, since a point would promise
        # certainty.
        middle = np.where(
            (shares + above <= 0) | (shares - below >= 1), np.clip(shares, 0, 1), shares
        )
        limits = np.stack([np.clip(middle - below, 0, 1), np.clip(middle + above, 0, 1)], axis=-1)
        return [[(float(one), float(other)) for one, other in row] for row in limits]

    def _exact(self, confidence: float) -> list[list[Interval]]:
        cells = [
            [share(int(count), self.n, CERTAIN, self.noise, confidence) for count in row]
            for row in self.noisy
        ]
        return [[(max(cell.low, 0.0), min(cell.high, 1.0)) for cell in row] for row in cells]

    def within(self, a: int, b: int, confidence: float = CONFIDENCE) -> "Within":
        """Return the share of answer a of the left question among people with answer b of the
        right one.
        """
        group = self.right.first[b]
        part, whole = (self.left.first[a], group), (self.left.one, group)
        return self.ratio(part, whole, confidence)

    # Sums x·N·y / n, and how they move together

    def sum(self, of: Sum) -> float:
        return float(of[0] @ self.noisy @ of[1]) / self.n

    def covariance(self, one: Sum, other: Sum) -> float:
        """Return Cov(L, L') of two sums, by the formula in contrasts.py."""
        true = self.nearest
        left = np.einsum("tij,i,j->t", self.left.pairs, one[0], other[0])
        right = np.einsum("tij,i,j->t", self.right.pairs, one[1], other[1])
        mean, other_mean = (
            float((self.left.chances @ x) @ true @ (self.right.chances @ y))
            for x, y in (one, other)
        )
        answers = float(left @ true @ right) - mean * other_mean
        added = self.noise.variance * float(one[0] @ other[0]) * float(one[1] @ other[1])
        return answers / self.n + added / self.n**2

    def correlation(self, one: Sum, other: Sum) -> float:
        own, others = self.covariance(one, one), self.covariance(other, other)
        errors = math.sqrt(max(own, 0.0) * max(others, 0.0))
        return self.covariance(one, other) / errors if errors else 0.0

    def ratio(self, part: Sum, whole: Sum, confidence: float = CONFIDENCE) -> "Within":
        return Within.of(
            self.sum(part),
            self.sum(whole),
            self.covariance(part, part),
            self.covariance(whole, whole),
            self.covariance(part, whole),
            quantile(confidence),
        )


@dataclass(frozen=True)
class Within:
    """A share of a subgroup. None where so few are in it that nothing can be said."""

    value: float | None
    low: float
    high: float
    standard_error: float | None

    @classmethod
    def of(
        cls, part: float, whole: float, v_part: float, v_whole: float, both: float, z: float
    ) -> "Within":
        """Return {θ: (part − θ·whole)² ≤ z²·Var(part − θ·whole)}, within 0 and 1."""
        leading = whole**2 - z**2 * v_whole
        if whole <= 0 or leading <= 0:
            return cls(None, 0.0, 1.0, None)
        middle = (part * whole - z**2 * both) / leading
        reach = math.sqrt(max(middle**2 - (part**2 - z**2 * v_part) / leading, 0.0))
        # Outside by chance: a point at the edge would promise certainty.
        if middle + reach <= 0 or middle - reach >= 1:
            middle = min(max(middle, 0.0), 1.0)
        value = part / whole
        error = math.sqrt(max(v_part - 2 * value * both + value**2 * v_whole, 0.0)) / whole
        low, high = (min(max(limit, 0.0), 1.0) for limit in (middle - reach, middle + reach))
        inside = min(max(value, 0.0), 1.0)
        return cls(inside, min(low, inside), max(high, inside), error)


def quantile(confidence: float) -> float:
    return float(special.ndtri((1 + confidence) / 2))
