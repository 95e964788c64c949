"""From counts of two questions' reports together to a table of people: everything around the draw but the draw.

Each question turns a report into features: the one thing it says (a table's report, an answer as it was given) or the
w choices it holds (a subset). What is counted, and gets noise, is how often two features come together, N[i, j].

Estimate   p[a, b] = U₁·N·U₂ᵀ / n, the Kronecker product of the two inverses: u = U·feature is 1 on average for the
           true answer and 0 for the others. A table: U = P⁻¹. A subset: u = (held − b)/(a − b),
           which Σ held = w makes linear. An answer as given: U = 1. Unbiased, unprojected. Σ u = 1 for every report.
Variance   (Σ p·E[u₁²]·E[u₂²] − p²)/n at the nearest true shares (sampling and devices), plus Var Z·Σ U₁²U₂²/n².
Interval   sampling and devices as of a mean of bounded values (inference.intervals), the noise by its standard error,
           put together side by side (Zou and Donner 2008): m ± √(d² + (1.96·σ)²). Two questions as given: exact
           (estimates.share). 95 %.
Within     the share of a among those who answered b: p[a, b] / Σₐ p[a, b], interval by Fieller (1954); everything where
           so few gave b that their number is not told from 0. Free: it follows from the same numbers.
n          public under change-one; under add-remove the noisy N's total over features a report, its error counted in.
By hand    Two coins of 3 in 4, all 100 reports (yes, yes): p(yes, yes) = 9/4, (no, no) 1/4, the other two −3/4.
Sources    Chaudhuri and Mukerjee 1988, ch. 3; dpengine/inference/joint.py, which has single reports and no noise.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from dpengine.estimates import CONFIDENCE, Interval, Margin, Noise, share, simplex
from dpengine.inference.intervals import mean_intervals
from dpengine.local.channels import Channel
from dpengine.local.subset import Subset
from surveys.design import documents
from surveys.design.documents import Given

Floats = npt.NDArray[np.float64]
AS_GIVEN = Margin(Fraction(1), Fraction(0))


@dataclass(frozen=True)
class Side:
    """One question: its features, and how its answers are estimated from them."""

    labels: tuple[str, ...]
    held: int  # features a report has
    first: Floats  # U[answer, feature]
    second: Floats  # the same for u²
    chances: Floats  # of a feature after an answer
    ends: tuple[Floats, Floats]  # the least and the greatest u of each answer
    is_open: bool  # whether the answers were sent as given

    @property
    def features(self) -> int:
        return int(self.first.shape[1])

    @property
    def one(self) -> Floats:
        """Return 1 as a sum of features."""
        return np.full(self.features, 1 / self.held)


def sides(content: Mapping[str, Any], names: Sequence[str]) -> list[Side]:
    """Return these questions of a Plan as sides of a table."""
    questions = {question["name"]: question for question in content["questions"]}
    return [side_of(_reader(questions[name]), tuple(questions[name]["choices"])) for name in names]


def _reader(question: dict[str, Any]) -> Channel | Given:
    if question["protection"] == documents.PUBLICATION:
        return Given.from_question(question)
    return documents.choice_channel(question)


def side_of(reader: Channel | Given, labels: tuple[str, ...]) -> Side:
    if isinstance(reader, Subset):
        return _side_of_subset(reader, labels)
    if isinstance(reader, Given):
        inverse = chances = np.eye(len(labels))
    else:
        decoder = reader.inverse()
        inverse = np.array([[float(value) for value in decoder.values(row)] for row in range(len(labels))])
        chances = np.array(reader.weights, dtype=np.float64) / reader.total
    ends = inverse.min(axis=1), inverse.max(axis=1)
    return Side(labels, 1, inverse, inverse**2, chances, ends, isinstance(reader, Given))


def _side_of_subset(channel: Subset, labels: tuple[str, ...]) -> Side:
    """Return u and u² of held choices: u² = (held·(1 − 2b) + b²)/(a − b)², held being 0 or 1."""
    margin, w = channel.margins()[0], channel.size
    truth, lie = float(margin.truth), float(margin.lie)
    own, all_of_them = np.eye(channel.choices), np.ones((channel.choices, channel.choices)) / w
    first = (own - lie * all_of_them) / margin.contrast
    second = (own * (1 - 2 * lie) + lie**2 * all_of_them) / margin.contrast**2
    ends = np.full(channel.choices, -lie / margin.contrast), np.full(channel.choices, (1 - lie) / margin.contrast)
    return Side(labels, w, first, second, lie + (truth - lie) * own, ends, is_open=False)


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
    def of(cls, noisy: Sequence[Sequence[int]], left: Side, right: Side, noise: Noise, n: int | None = None) -> "Table":
        """Read a table; without n, which is then not public, n is what the noisy counts add up to."""
        counts = np.array(noisy, dtype=np.float64)
        found = max(round(float(counts.sum()) / (left.held * right.held)), 1) if n is None else n
        if found < 1:
            raise ValueError(f"n must be 1 or more, got {found}")
        return cls(left, right, counts, found, n is not None, noise)

    @property
    def shares(self) -> Floats:
        """Return p[a, b], as estimated."""
        return np.asarray(self.left.first @ self.noisy @ self.right.first.T / self.n)

    @property
    def nearest(self) -> Floats:
        """Return the nearest shares that are 0 or more and add up to 1."""
        return np.array(simplex(self.shares.ravel().tolist())).reshape(self.shares.shape)

    @property
    def variances(self) -> tuple[Floats, Floats]:
        """Return variances of p: from sampling and devices, and from publication."""
        return self._variances(self.nearest)

    def _variances(self, true: Floats) -> tuple[Floats, Floats]:
        squares = self.left.second @ self._expected(true) @ self.right.second.T
        answers = np.maximum(squares - true**2, 0.0) / self.n
        sizes = np.outer((self.left.first**2).sum(axis=1), (self.right.first**2).sum(axis=1))
        if not self.known:  # p·n̂ moves with the noise too: U₁U₂ − p/held
            sums = np.outer(self.left.first.sum(axis=1), self.right.first.sum(axis=1))
            each = true / (self.left.held * self.right.held)
            sizes = sizes - 2 * each * sums + each**2 * self.noisy.size
        return answers, self.noise.variance * sizes / self.n**2

    def _expected(self, true: Floats) -> Floats:
        """Return N / n on average, for these true shares."""
        return np.asarray(self.left.chances.T @ true @ self.right.chances)

    @property
    def standard_errors(self) -> Floats:
        answers, publication = self.variances
        return np.sqrt(answers + publication)

    def even_error(self) -> float:
        """Return the largest standard error if all answers were equally common: from public values only."""
        answers, publication = self._variances(np.full(self.shares.shape, 1 / self.shares.size))
        return float(np.sqrt((answers + publication).max()))

    def intervals(self, confidence: float = CONFIDENCE) -> list[list[Interval]]:
        """Return the interval of every p."""
        if self.left.is_open and self.right.is_open:
            return self._exact(confidence)
        answers, publication = self.variances
        lows, highs = self._ends
        shares = self.shares
        low, high = mean_intervals(shares, answers, float(self.n), lows, highs, confidence)
        added = quantile(confidence) * np.sqrt(publication)
        below, above = np.hypot(shares - low, added), np.hypot(high - shares, added)
        # far outside by chance: the interval around the nearest edge, since a point would promise certainty
        middle = np.where((shares + above <= 0) | (shares - below >= 1), np.clip(shares, 0, 1), shares)
        limits = np.stack([np.clip(middle - below, 0, 1), np.clip(middle + above, 0, 1)], axis=-1)
        return [[(float(one), float(other)) for one, other in row] for row in limits]

    def _exact(self, confidence: float) -> list[list[Interval]]:
        found = [[share(int(count), self.n, AS_GIVEN, self.noise, confidence) for count in row] for row in self.noisy]
        return [[(max(cell.low, 0.0), min(cell.high, 1.0)) for cell in row] for row in found]

    @property
    def _ends(self) -> tuple[Floats, Floats]:
        corners = [np.multiply.outer(one, other) for one in self.left.ends for other in self.right.ends]
        return np.minimum.reduce(corners), np.maximum.reduce(corners)

    def within(self, a: int, b: int, confidence: float = CONFIDENCE) -> "Within":
        """Return the share of answer a of the left question among people with answer b of the right one."""
        true = self.nearest
        part, whole = float(self.shares[a, b]), float(self.shares[:, b].sum())
        one, other = self.left.first[a], self.left.one
        seen = self._expected(true) @ self.right.second[b]  # features of the left, weighted by u₂²
        added = self.noise.variance * float(self.right.first[b] @ self.right.first[b]) / self.n**2
        at, of_all = true[a, b], true[:, b].sum()
        v_part = (self.left.second[a] @ seen - at**2) / self.n + added * float(one @ one)
        v_whole = (other @ seen - of_all**2) / self.n + added * float(other @ other)
        both = (one @ seen - at * of_all) / self.n + added * float(one @ other)
        return Within.of(part, whole, float(v_part), float(v_whole), float(both), quantile(confidence))


@dataclass(frozen=True)
class Within:
    """A share of a subgroup. None where so few are in it that nothing can be said."""

    value: float | None
    low: float
    high: float
    standard_error: float | None

    @classmethod
    def of(cls, part: float, whole: float, v_part: float, v_whole: float, both: float, z: float) -> "Within":
        """Return {θ: (part − θ·whole)² ≤ z²·Var(part − θ·whole)}, within 0 and 1."""
        leading = whole**2 - z**2 * v_whole
        if whole <= 0 or leading <= 0:
            return cls(None, 0.0, 1.0, None)
        middle = (part * whole - z**2 * both) / leading
        reach = math.sqrt(max(middle**2 - (part**2 - z**2 * v_part) / leading, 0.0))
        if middle + reach <= 0 or middle - reach >= 1:  # outside by chance: a point at the edge would promise certainty
            middle = min(max(middle, 0.0), 1.0)
        value = part / whole
        error = math.sqrt(max(v_part - 2 * value * both + value**2 * v_whole, 0.0)) / whole
        low, high = (min(max(limit, 0.0), 1.0) for limit in (middle - reach, middle + reach))
        inside = min(max(value, 0.0), 1.0)
        return cls(inside, min(low, inside), max(high, inside), error)


def quantile(confidence: float) -> float:
    return float(special.ndtri((1 + confidence) / 2))
