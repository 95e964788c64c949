"""How a number is distributed over people: a square wave on a ring of bins, undone by smoothed EM.

Answers fall into k bins of equal width. With weights high ≥ low, a report is one of the w bins
around the answer's, each with chance high/W, or any other with chance low/W; the last bin is next
to the first (on a ring no report is wasted beyond the ends, and k bins need only k reports).

Privacy    e^ε = high/low, when one answer changes to any other.
Width      The ring turns waves of f periods into themselves, times λ_f = (high −
           low)/W·sin(πfw/k)/sin(πf/k): w is the number prime to k (no wave is lost) for which the
           first four are known best where a cumulative share needs them, the least Σ 1/(f·λ_f)². 11
           of 64 at ε = 1: half the wave of Li et al., which tells peaks apart that theirs blurs.
Shares     Expectation and maximisation through the exact matrix, each step followed by a smoothing
           that gives s of a bin to each neighbour, s = 0.23·n^(−1/3)·(k/64)², extrapolated
           (SQUAREM) to the fixed point: no stopping rule enters. Never below 0. Biased towards
           smooth shapes.
Interval   EM has none that can be trusted: smoothing hides its bias from the likelihood and from
           the bootstrap. A share of answers below a cut, or a mean, is bounded by reports
           themselves: with values a for which Σ_r P[i, r]·a_r ≤ f(i) in every bin i, the mean of a
           over the reports is on average at most the mean of f over people, whatever their answers
           are, and so is its lower confidence limit (bounded.py). The best a, for answers spread
           evenly, come from the least mean of f among laws that n reports cannot tell from that
           (Donoho 1994). No smoothness is assumed: at n = 100,000 and ε = 1 a share below a cut is
           known to about ± 0.05, where EM errs by 0.004. Each limit holds by itself, not all at
           once.
By hand    Two bins, ε = ln 3: w = 1, the coin [[3, 1], [1, 3]].
Sources    Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li 2020 (square wave, EMS); Varadhan and Roland
           2008 (SQUAREM); Donoho 1994 (bounds); Lawson and Hanson 1974 (non-negative least
           squares).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
import scipy

from dpengine.checks import require
from dpengine.estimates import (
    CONFIDENCE,
    NO_NOISE,
    Estimate,
    Floats,
    Noise,
    NoNoise,
    Variance,
    normal_quantile,
)
from dpengine.local.bounded import lower_limit
from dpengine.local.channel import Bounds, Document, Learns, WholeNumbers
from dpengine.local.counted import check_counted, rounded
from dpengine.local.table import Table
from dpengine.privacy import exponential_below
from dpengine.randomness import Stream, system_stream

MAX_BINS = 64
MIN_EPSILON = Decimal("0.001")  # below it whole weights that tell high from low grow too large
MAX_EPSILON = Decimal(8)  # above it the table for 8 is used
FINE = 100  # largest low weight at ε ≥ ln 2: the loss stays within 1 % of what was asked for
SMOOTHING = 0.23
TOLERANCE = 1e-7  # of all shares together, in one step of EM
WAVES = 4
MAX_STEPS = 6000
MAX_LEAP = 64.0  # step of an extrapolation
HEAVY = 1e3  # weight of the row that says shares add up to 1
HALVINGS = 20


@dataclass(frozen=True, slots=True)
class Bounded:
    """An estimate for display within limits that hold without it."""

    value: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Distribution(WholeNumbers):
    kind: ClassVar[str] = "table"
    parts: ClassVar[str] = "kind weights"
    learns: ClassVar[Learns] = Learns.DISTRIBUTION

    low: Decimal  # where the first bin begins
    high: Decimal  # where the last one ends
    table: Table

    def __post_init__(self) -> None:
        require(
            self.low.is_finite() and self.high.is_finite() and (self.low < self.high),
            "low must be below high, both finite, got {} and {}",
            self.low,
            self.high,
        )
        first = self.table.weights[0]
        require(
            all(
                (
                    row == first[-shift:] + first[:-shift]
                    for shift, row in enumerate(self.table.weights)
                    if shift
                )
            ),
            "every row must be the one before it, moved by one bin",
        )

    @classmethod
    def for_epsilon(
        cls, epsilon: Decimal, low: Decimal, high: Decimal, bins: int = MAX_BINS
    ) -> "Distribution":
        """Return the channel for so many bins whose loss is at most e^ε."""
        require(
            type(bins) is int and 2 <= bins <= MAX_BINS,
            "bins must be 2 to {}, got {}",
            MAX_BINS,
            bins,
        )
        loss = min(exponential_below(epsilon), exponential_below(MAX_EPSILON))
        require(
            epsilon >= MIN_EPSILON,
            "epsilon of a distribution must be at least {}, got {}",
            MIN_EPSILON,
            epsilon,
        )
        width, (larger, smaller) = _width(bins, float(loss)), _weights(loss)
        first = tuple(
            larger if (place + width // 2) % bins < width else smaller for place in range(bins)
        )
        return cls(
            low, high, Table(tuple(tuple(first[-shift:] + first[:-shift]) for shift in range(bins)))
        )

    @classmethod
    def from_document(cls, document: Document, bounds: Bounds | None = None) -> Self:
        """Return the channel for whole numbers within the bounds: the last bin ends above them."""
        if bounds is None:
            raise ValueError("a distribution must have bounds")
        return cls(bounds[0], bounds[1] + 1, Table.from_document(document))

    def document(self) -> dict[str, object]:
        return self.table.document()

    def check(self) -> None:
        """Refuse nothing: every row has proved to be the one before it, moved by one bin."""

    @property
    def loss(self) -> Fraction:
        return self.table.loss

    @property
    def common(self) -> Fraction:
        return self.table.common

    @property
    def reports(self) -> int:
        return self.table.reports

    @property
    def answers(self) -> int:
        return self.table.choices

    @property
    def bins(self) -> int:
        return self.table.choices

    @property
    def edges(self) -> tuple[float, ...]:
        """Return where bins meet, the ends included."""
        return tuple(np.linspace(float(self.low), float(self.high), self.bins + 1).tolist())

    def randomise(self, answer: int, words: Stream = system_stream) -> int:
        """Return the report for an answer in this bin."""
        return self.table.randomise(answer, words)

    def shares(self, counts: Sequence[int]) -> list[float]:
        """Return the estimated share of people in each bin; noisy counts may be negative."""
        seen = np.maximum(np.asarray(counts, dtype=np.float64), 0.0)
        require(len(counts) == self.bins, "expected {} counts, got {}", self.bins, len(counts))
        if not seen.sum():
            return [1 / self.bins] * self.bins
        smoothing = min(
            SMOOTHING * float(seen.sum()) ** (-1 / 3) * (self.bins / MAX_BINS) ** 2, 0.25
        )
        return [
            float(share)
            for share in _fixed_point(_matrix(self.table), seen / seen.sum(), smoothing)
        ]

    def cdf(
        self,
        counts: Sequence[int],
        n: int,
        noise: Noise | None = None,
        confidence: float = CONFIDENCE,
    ) -> list[Bounded]:
        """Return the share of people below each edge between two bins.

        Each has its own limits: they need not rise.
        """
        below = np.cumsum(self.shares(counts))[:-1].tolist()
        # a row says which bins lie below one edge
        under = np.tril(np.ones((self.bins, self.bins)), -1)[1:]
        limits = [self._limits(row, counts, n, noise, confidence) for row in under]
        return [
            _bounded(value, *limit, confidence) for value, limit in zip(below, limits, strict=True)
        ]

    def quantile_of(self, part: float, steps: Sequence[Bounded]) -> Bounded:
        """Return the number that this part of people lies below, from what `cdf` gave.

        It lies in the bin between the last edge with less than the part below it and the first with
        no less: the limits are the outer edges of all bins for which neither can be ruled out.
        """
        require(0 < part < 1, "part must be between 0 and 1, got {}", part)
        edges, confidence = self.edges, steps[0].confidence
        value = float(np.interp(part, [0.0, *(step.value for step in steps), 1.0], edges))
        first = next((place for place, step in enumerate(steps) if step.high >= part), len(steps))
        last = max((place for place, step in enumerate(steps) if step.low < part), default=-1)
        return _bounded(value, edges[first], edges[last + 2], confidence)

    def within(
        self,
        first: int,
        last: int,
        noisy: Sequence[int],
        n: int,
        noise: Noise | None,
        confidence: float = CONFIDENCE,
    ) -> Estimate:
        """Return the share of people in the bins from `first` to `last`.

        Its variance is, by source, that of the mean of the two estimates that its limits are made
        of: what EM makes of the reports has none. Neither is a bias, nor how far apart the two lie
        on average: limits are wider than these errors.
        """
        places = np.arange(self.bins)
        inside = ((places >= first) & (places <= last)).astype(np.float64)
        value = float(inside @ self.shares(noisy))
        low, high = self._limits(inside, noisy, n, noise, confidence)
        z, seen = normal_quantile(confidence), np.maximum(np.asarray(noisy, dtype=np.float64), 0.0)
        seen = seen / max(seen.sum(), 1.0)
        share = min(max(value, 0.0), 1.0)
        sides = [
            _values(self.table, tuple(wanted.tolist()), n, z) for wanted in (inside, 1 - inside)
        ]
        spread = sum(float(seen @ values**2) - float(seen @ values) ** 2 for values in sides) / 2
        added = (noise or NoNoise()).variance * sum(float(values @ values) for values in sides) / 2
        sampling = share * (1 - share)
        doubt = Variance(sampling / n, max(spread - sampling, 0.0) / n, added / n**2)
        if high <= 0 or low >= 1:  # outside by chance: a point at the edge would promise certainty
            reach = min(z * math.sqrt(doubt.total), 1.0)
            low, high = (0.0, reach) if high <= 0 else (1 - reach, 1.0)
        return Estimate(value, min(low, value), max(high, value), doubt, confidence)

    def estimates(
        self, noisy: Sequence[int], n: int, noise: Noise = NO_NOISE, confidence: float = CONFIDENCE
    ) -> list[Estimate]:
        """Return the share of every bin."""
        return [
            self.within(place, place, noisy, n, noise, confidence) for place in range(self.bins)
        ]

    def forecast(self, n: int, at: Fraction, noise: Noise) -> Estimate:
        """Return the share below the middle, if answers are spread evenly."""
        even = rounded([Fraction(n, self.bins)] * self.bins)
        return self.within(0, self.bins // 2 - 1, even, n, noise)

    def lean(self, at: Fraction) -> float:
        """Return the same of the share below the middle, as if reports were answers."""
        return 0.5

    def _limits(
        self, wanted: Floats, counts: Sequence[int], n: int, noise: Noise | None, confidence: float
    ) -> tuple[float, float]:
        """Return confidence limits of the mean over people of `wanted`, 0 to 1 in each bin."""
        check_counted(counts, n, self.bins, noise)
        z, seen = normal_quantile(confidence), np.asarray(counts, dtype=np.float64)
        variance = (noise or NoNoise()).variance

        def least(wanted: Floats) -> float:
            values = _values(self.table, tuple(wanted.tolist()), n, z)
            return lower_limit(values, seen, variance, z, float(wanted.min()))

        return least(wanted), 1 - least(1 - wanted)


def _bounded(value: float, low: float, high: float, confidence: float) -> Bounded:
    return Bounded(value, min(low, value), max(high, value), confidence)


def _width(bins: int, loss: float) -> int:
    """Return the number of bins in the wave, as the proof sheet says."""
    waves = np.arange(1, min(WAVES, bins // 2) + 1)

    def doubt(width: int) -> float:
        kept = np.sin(np.pi * waves * width / bins) / np.sin(np.pi * waves / bins)
        return float(((width * loss + bins - width) / (waves * kept)) ** 2 @ np.ones(len(waves)))

    return min(
        (width for width in range(1, bins // 2 + 1) if math.gcd(width, bins) == 1), key=doubt
    )


def _weights(loss: Fraction) -> tuple[int, int]:
    """Return high and low, small whole numbers with high ≤ loss·low: the nearest to it."""
    finest = math.ceil(FINE * max(Fraction(1), 1 / (loss - 1)))
    low = max(range(1, finest + 1), key=lambda low: Fraction(int(loss * low), low))
    return int(loss * low), low


@lru_cache(maxsize=64)
def _matrix(table: Table) -> Floats:
    """Return P[answer, report]."""
    return np.array(table.weights, dtype=np.float64) / table.total


def _fixed_point(chances: Floats, seen: Floats, smoothing: float) -> Floats:
    """Return where smoothed EM comes to rest, from even shares.

    By squared extrapolation (SQUAREM, S3).
    """
    shares = np.full(len(chances), 1 / len(chances))
    for _ in range(MAX_STEPS // 3):
        once = _smoothed(chances, seen, smoothing, shares)
        twice = _smoothed(chances, seen, smoothing, once)
        moved, bent = once - shares, twice - 2 * once + shares
        if np.abs(moved).sum() < TOLERANCE:
            return twice
        length = min(
            max(math.sqrt(float(moved @ moved) / max(float(bent @ bent), 1e-300)), 1.0), MAX_LEAP
        )
        leap = np.maximum(shares + 2 * length * moved + length**2 * bent, twice / 1000)
        shares = _smoothed(chances, seen, smoothing, leap / leap.sum())
    return shares


def _smoothed(chances: Floats, seen: Floats, smoothing: float, shares: Floats) -> Floats:
    """Return the shares after one step of EM, and of smoothing; nothing leaves at the ends."""
    better = shares * (chances @ (seen / (shares @ chances)))
    flow = smoothing * np.diff(better)
    better[:-1] += flow
    better[1:] -= flow
    return better


@lru_cache(maxsize=1024)
def _values(table: Table, wanted: tuple[float, ...], n: int, z: float) -> Floats:
    """Return the a of the proof sheet.

    Σ_r P[i, r]·a_r ≤ wanted_i in every bin, exactly so but for float rounding.

    Find the law that has the least mean of `wanted` among those whose reports lie within z/√n
    of an even law's (in standard errors): non-negative least squares with a pull of strength w
    on that mean, w by bisection. What the pull leaves of the difference is, up to scale, the
    best a.
    """
    chances, target = _matrix(table), np.array(wanted)
    even = np.full(len(target), 1 / len(target))
    reports = even @ chances
    scaled = (chances / np.sqrt(reports)).T

    def law(strength: float) -> Floats:
        rows = np.vstack([scaled, np.full(len(target), HEAVY), 10**strength * target])
        return np.asarray(
            scipy.optimize.nnls(rows, np.concatenate([scaled @ even, [HEAVY], [0.0]]))[0]
        )

    weak, strong = -6.0, 4.0
    for _ in range(HALVINGS):
        middle = (weak + strong) / 2
        apart = float(np.linalg.norm(scaled @ (even - law(middle)))) * math.sqrt(n)
        weak, strong = (middle, strong) if apart < z else (weak, middle)
    least = law(weak)
    values = (chances.T @ (even - least)) / reports / max(100**weak * float(target @ least), 1e-12)
    return np.asarray(values - (chances @ values - target).max())
