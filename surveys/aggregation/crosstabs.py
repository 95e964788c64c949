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
Known sum  With public n all N[i, j] add up to n times the features of a report, and are made to
           (estimates.KnownSum): of m counts, Var Z·(Σ U₁²U₂² − (Σ U₁U₂)²/m)/n² is left.
Interval   the wider, on each side, of two. Sampling and devices as of a mean of bounded values
           (inference.intervals), the noise by its standard error, put together side by side (Zou
           and Donner 2008): m ± √(d² + (1.96·σ)²). And all p that are within 1.96 of their own
           errors, those under p (Wilson 1927). The first is for few people, the second for pairs
           that came out rarer than they are, whose errors did too: the first alone held .09 of 40
           people in 93.5 %. Two questions as given: exact (estimates.share). 95 %.
Within     θ = p[a, b] / Σₐ p[a, b], the share of a among those who answered b. Interval: all θ for
           which x·N·y/n, x = U₁[a] − θ and y = U₂[b], is within 1.96 of its errors of 0 (Fieller
           1954), errors being those under θ (Wilson 1927), of the nearest table with θ in it and
           as many of each answer to the left question: Σ p_θ·E[(x·f)²]·E[(y·g)²]/n + Var
           Z·Σ x²·Σ y²/n², a cubic in θ. (With the errors at the estimate, groups of 20 held a
           share of .1 in 92.5 %. With people outside the group as they came, those who answer a
           looked the rarer there the more seemed to here: lower limits failed 33 times in 1,000.)
           Everything where so few gave b that their number is not told from 0. Free: it follows
           from the same numbers.
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
import scipy

from dpengine.estimates import CONFIDENCE, Interval, KnownSum, Noise, share, simplex
from dpengine.inference.contrasts import Limits
from dpengine.inference.intervals import mean_intervals
from dpengine.local.channel import Features
from dpengine.local.cleartext import CERTAIN

Floats = npt.NDArray[np.float64]
Side = Features  # of one question of the table
Sum = tuple[Floats, Floats]  # x and y
REAL = 1e-9  # of a root's imaginary part: rounding


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
    noisy: Floats  # N with noise, of the known sum if there is one
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
        to. Noise of a known sum needs n.
        """
        counts = np.array(noisy, dtype=np.float64)
        if n is not None and n < 1:
            raise ValueError(f"n must be 1 or more, got {n}")
        held = left.held * right.held
        people = n or max(round(float(counts.sum()) / held), 1)
        if isinstance(noise, KnownSum):
            together = noise.counted(counts.ravel().tolist(), people * held)
            counts = np.array(together).reshape(counts.shape)
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
        sums = np.outer(self.left.first.sum(axis=1), self.right.first.sum(axis=1))
        if not self.known:  # p·n̂ moves with the noise too: U₁U₂ − p/held
            part = true / (self.left.held * self.right.held)
            sizes = sizes - 2 * part * sums + part**2 * self.noisy.size
        return answers, self._added(sizes, sums**2) / self.n**2

    def _added(self, products: Floats, sums: Floats) -> Floats:
        """Return how noise moves two sums of counts together: of variance, or of covariance.

        From Σ cc' of what a count is worth in either, and Σ c·Σ c'.
        """
        both = self.noise.covariance if isinstance(self.noise, KnownSum) else 0.0
        return np.asarray((self.noise.variance - both) * products + both * sums)

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
        least, most = self._not_rejected(middle, quantile(confidence))
        low, high = np.minimum(middle - below, least), np.maximum(middle + above, most)
        limits = np.stack([np.clip(low, 0, 1), np.clip(high, 0, 1)], axis=-1)
        return [[(float(one), float(other)) for one, other in row] for row in limits]

    def _not_rejected(self, shares: Floats, z: float) -> tuple[Floats, Floats]:
        """Return both ends of {p: (share − p)² ≤ z²·Var p}, a quadratic, of every p.

        Under p the pair's people vary by `own`, all others by `rest`, as the nearest table has it.
        """
        true, (_, publication) = self.nearest, self.variances
        each = [side.second @ side.chances.T for side in (self.left, self.right)]
        squares, own = each[0] @ true @ each[1].T, np.outer(*map(np.diagonal, each))
        even = (np.outer(*(one.sum(axis=1) for one in each)) - own) / (own.size - 1)
        rest = (squares - true * own + REAL * even) / (1 - true + REAL)
        leading = 1 + z**2 / self.n
        middle = (shares + z**2 * (own - rest) / (2 * self.n)) / leading
        last = (shares**2 - z**2 * (rest / self.n + publication)) / leading
        reach = np.sqrt(np.maximum(middle**2 - last, 0.0))
        return middle - reach, middle + reach

    def _exact(self, confidence: float) -> list[list[Interval]]:
        cells = [
            [share(count, self.n, CERTAIN, self.noise, confidence) for count in row]
            for row in self.noisy.tolist()
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

    def expected(self, of: Sum) -> float:
        """Return a sum of the nearest shares."""
        return float((self.nearest * self._means(of)).sum())

    def covariance(self, one: Sum, other: Sum) -> float:
        return float(self.covariances([one, other])[0, 1])

    def covariances(self, sums: Sequence[Sum]) -> Floats:
        """Return Cov(L, L') of every two of some sums, by the formula in contrasts.py."""
        x, y = (np.array(each) for each in zip(*sums, strict=True))
        left, right = x @ self.left.pairs @ x.T, y @ self.right.pairs @ y.T
        products = (left * np.tensordot(self.nearest, right, 1)).sum(axis=0)
        means = np.array([self.expected(each) for each in sums])
        worth = x.sum(axis=1) * y.sum(axis=1)
        added = self._added((x @ x.T) * (y @ y.T), np.outer(worth, worth))
        return np.asarray((products - np.outer(means, means) + added / self.n) / self.n)

    def _means(self, one: Sum) -> Floats:
        """Return what a report adds to a sum on average, of every pair of answers."""
        return np.outer(self.left.chances @ one[0], self.right.chances @ one[1])

    def _products(self, one: Sum, other: Sum) -> tuple[Floats, float]:
        """Return the mean product of what a report adds to two sums, and what noise adds to all."""
        left = self.left.pairs @ other[0] @ one[0]
        right = self.right.pairs @ other[1] @ one[1]
        products = (one[0] @ other[0]) * (one[1] @ other[1])
        sums = one[0].sum() * one[1].sum() * other[0].sum() * other[1].sum()
        return np.outer(left, right), float(self._added(products, sums))

    def over_groups(self, own: Floats) -> tuple[Floats, Floats]:
        """Return the sums own⊗u of every answer to the right question, and their covariance if
        answers to the left one do not depend on it: at independence with the same margins.
        """
        answers, sizes = (self.nearest.sum(axis=axis) for axis in (1, 0))
        every = self.right.first
        left = answers @ (self.left.pairs @ own @ own)
        right = every @ np.tensordot(sizes, self.right.pairs, 1) @ every.T
        means = (answers @ self.left.chances @ own) * (every @ self.right.chances.T @ sizes)
        sums = every.sum(axis=1)
        added = self._added(own @ own * (every @ every.T), own.sum() ** 2 * np.outer(sums, sums))
        covariance = (left * right - np.outer(means, means) + added / self.n) / self.n
        return own @ self.noisy @ every.T / self.n, np.asarray(covariance)

    def correlation(self, one: Sum, other: Sum) -> float:
        (own, both), (_, others) = self.covariances([one, other]).tolist()
        errors = math.sqrt(max(own, 0.0) * max(others, 0.0))
        return float(both / errors) if errors else 0.0

    def mean(self, part: Sum, whole: Sum, confidence: float = CONFIDENCE) -> "Within":
        """Return a part in a whole where the part is a sum of scores from 0 to 1: by the variances
        of the table as it came, and of two more people, one at either end.
        """
        (own, both), (_, size) = self.covariances([part, whole]).tolist()
        under = np.array([own + 0.5 / self.n**2, -2 * both, size, 0.0])
        return Within.of(self.sum(part), self.sum(whole), size, under, quantile(confidence))

    def ratio(self, part: Sum, whole: Sum, confidence: float = CONFIDENCE) -> "Within":
        """Return the share of a part in a whole: sums u of some pairs of answers, among others."""
        return Within.of(
            self.sum(part),
            self.sum(whole),
            self.covariance(whole, whole),
            self._variance_under(part, whole),
            quantile(confidence),
        )

    def _variance_under(self, part: Sum, whole: Sum) -> Floats:
        """Return Var(part − θ·whole) where the part is θ of the whole, from θ⁰ to θ³."""
        own, inside = (self._means(each).round() for each in (part, whole))
        still, last = (self._with(cells, inside) for cells in (inside - own, own))
        moved = last - still
        variance: Floats = np.zeros(4)
        for power, times, other in (
            (0, 1, (part, part)),
            (1, -2, (part, whole)),
            (2, 1, (whole, whole)),
        ):
            products, added = self._products(*other)
            variance[power] += times * (float((still * products).sum()) + added / self.n)
            variance[power + 1] += times * float((moved * products).sum())
        return variance / self.n

    def _with(self, cells: Floats, inside: Floats) -> Floats:
        """Return the nearest table as it would be if everybody inside were in some of its cells.

        Outside, answers to the left question make up for it: in all, as many give each.
        """
        size = float((self.nearest * inside).sum())
        within = size * _spread(self.nearest, cells)
        left = np.maximum(self.nearest.sum(axis=1) - within.sum(axis=1), 0.0)
        outside = np.array(
            [
                own * _spread(row, free)
                for own, row, free in zip(left, self.nearest, 1 - inside, strict=True)
            ]
        )
        total = float(outside.sum())
        return within + (outside * (1 - size) / total if total else self.nearest * (1 - inside))


def _spread(true: Floats, cells: Floats) -> Floats:
    """Return shares that add up to 1 over some cells, as they are to each other."""
    own = true * cells
    return np.asarray(own / own.sum() if own.any() else cells / max(float(cells.sum()), 1.0))


@dataclass(frozen=True)
class Within:
    """A share of a subgroup. None where so few are in it that nothing can be said."""

    value: float | None
    low: float
    high: float
    standard_error: float | None
    came_out: Limits = (0.0, 0.0, 1.0)  # value and limits, also where no share can be

    @classmethod
    def of(cls, part: float, whole: float, v_whole: float, under: Floats, z: float) -> "Within":
        """Return {θ: (part − θ·whole)² ≤ z²·Var(part − θ·whole)}, within 0 and 1.

        `under` is that variance, from θ⁰ to θ³.
        """
        if whole <= 0 or whole**2 <= z**2 * v_whole:
            return cls(None, 0.0, 1.0, None)
        value = part / whole
        inside = min(max(value, 0.0), 1.0)
        limits = _around(value, whole, under, z)
        # Outside by chance: a point at the edge would promise certainty.
        if limits is None or limits[0] >= 1 or limits[1] <= 0:
            limits = _around(inside, whole, under, z) or (inside, inside)
        low, high = (min(max(limit, 0.0), 1.0) for limit in limits)
        error = math.sqrt(max(float(np.polyval(under[::-1], inside)), 0.0)) / whole
        return cls(inside, min(low, inside), max(high, inside), error, (value, *limits))


def _around(value: float, whole: float, under: Floats, z: float) -> Interval | None:
    """Return the θ around a value that are not rejected; None where the value is."""
    beyond = whole**2 * np.array([value**2, -2 * value, 1.0, 0.0]) - z**2 * under
    if np.polyval(beyond[::-1], value) > 0:
        return None
    roots = np.roots(np.trim_zeros(beyond[::-1], "f"))
    real = roots.real[np.abs(roots.imag) < REAL]
    below, above = real[real <= value], real[real >= value]
    return (
        float(below.max()) if len(below) else min(value, 0.0),
        float(above.min()) if len(above) else max(value, 1.0),
    )


def quantile(confidence: float) -> float:
    return float(scipy.special.ndtri((1 + confidence) / 2))
