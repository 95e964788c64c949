"""A number on a scale, randomised so that its mean is most precise for the worst answer.

Answers are whole steps 0 … s between `low` and `high` (years; quarters of an hour). An answer
between two points of the grid goes to one of them, v = g + θ(g' − g) to g' with chance θ; the
point's row of the table is then drawn from (linear_program.py made the table). A report r stands
for the number decoder[r]/scale of steps, and in whole numbers, exactly,

    Σ_r weights[a][r]·decoder[r] = scale·W·grid[a]

Privacy    e^ε = the table's loss. Rounding mixes two rows: every chance of a mixture lies between
           the least and the largest of its column, so no ratio of mixtures is larger than the
           table's.
Estimate   Mean of decoder[r]/scale over the reports, in steps from low. Unbiased: at a point of the
           grid by the identity above, between two because both sides are linear in θ.
Variance   v(x) = Σ_r P[x, r]·y_r² − x² of one report of answer x, rounding counted: on [−1, 1] at
           most
           1.02 times the least that any ε-LDP channel without bias can have, for ε to 4.
           The mean of n reports has (E v + Var x)/n: device and sampling.
Interval   All means that neither tail of the sum of reports rejects at half the error, the tails
           summed exactly (lattice.py) with the publication's noise. What a mean leaves open is how
           much answers differ: each mean is judged under a law where some people answer that mean
           and the others an end of the scale, as many as give reports their observed variance, half
           a standard error more, and one person imagined at the end in question (Gaffke 2005).
           Coverage: measured, not proved, at least 94.5 % in tests/bench/numbers.py from n = 30,
           also where rare reports or rare people at an end make normal intervals fall to 73 %.
By hand    Two answers, 0 and 1, ε = ln 3: Duchi's y = ±2 on [−1, 1]; variance of no or yes 3/4.
Sources    Stochastic rounding: Forsythe 1950. Duchi, Jordan and Wainwright 2018 (one bit); Wang et
           al. 2019 (piecewise, hybrid): the best of them varies 4 to 72 % more than the least.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

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
    plain_range,
    root,
)
from dpengine.local import linear_program
from dpengine.local.channel import Bounds, Document, Learns, WholeNumbers
from dpengine.local.counted import check_counted, rounded
from dpengine.local.lattice import Sums
from dpengine.local.table import Table
from dpengine.randomness import Stream, below, system_stream

MAX_EXACT = 2**53 - 1  # that every JSON reader keeps; above it, a decimal string
MAX_DIGITS = 1000  # of a decoder's integers
MAX_STEPS = 10_000
MAX_POINTS = 64  # of a scale: rows of a table in a Plan
FARTHEST = 1024  # units from the middle that a report may stand for: sums are over a lattice
DOUBT = 0.5  # standard errors that are added to the observed variance of reports


@dataclass(frozen=True, slots=True)
class NumberChannel(WholeNumbers):
    kind: ClassVar[str] = "number"
    parts: ClassVar[str] = "decoder grid kind scale weights"
    learns: ClassVar[Learns] = Learns.MEAN

    low: Decimal  # the number that step 0 stands for
    high: Decimal  # and the last step
    table: Table
    grid: tuple[int, ...]  # steps that have a row of the table
    decoder: tuple[int, ...]  # of each report: scale × steps
    scale: int

    def __post_init__(self) -> None:
        low, high = self.low, self.high
        require(
            isinstance(low, Decimal)
            and isinstance(high, Decimal)
            and low.is_finite()
            and high.is_finite(),
            "low and high must be finite Decimals, got {} and {}",
            low,
            high,
        )
        require(low < high, "low must be below high, got {} and {}", low, high)
        require(
            len(self.grid) == self.table.choices
            and self.grid[0] == 0
            and all((b > a for a, b in pairwise(self.grid))),
            "grid must rise from 0 with a point for each of {} rows",
            self.table.choices,
        )
        require(
            len(self.decoder) == self.table.reports and self.scale >= 1,
            "decoder must have a number for each of {} reports, scale above 0",
            self.table.reports,
        )
        require(
            all(
                (
                    _product(self.decoder, row) == self.scale * self.table.total * point
                    for point, row in zip(self.grid, self.table.weights, strict=True)
                )
            ),
            "decoder must return every point of the grid on average, exactly",
        )

    @classmethod
    def for_epsilon(
        cls, epsilon: Decimal, low: Decimal, high: Decimal, steps: int
    ) -> "NumberChannel":
        """Return the channel of least worst-case variance whose loss is at most e^ε."""
        require(
            type(steps) is int and 1 <= steps <= MAX_STEPS,
            "steps must be 1 to {}, got {}",
            MAX_STEPS,
            steps,
        )
        return cls(low, high, *_designed(epsilon, steps, 2))

    @classmethod
    def for_scale(cls, points: int, epsilon: Decimal) -> "NumberChannel":
        """Return the channel for answers 1 to `points` of an ordered scale, a row for each.

        Nothing is rounded.
        """
        require(2 <= points <= MAX_POINTS, "points must be 2 to {}, got {}", MAX_POINTS, points)
        return cls(Decimal(1), Decimal(points), *_designed(epsilon, points - 1, points))

    @classmethod
    def from_document(cls, document: Document, bounds: Bounds | None = None) -> Self:
        if bounds is None:
            raise ValueError("a number must have bounds")
        table = Table.from_document({"weights": document["weights"]})
        require(
            all(type(point) is int for point in document["grid"]), "grid must hold whole numbers"
        )
        decoder = tuple(_read(number) for number in document["decoder"])
        scale = _read(document["scale"])
        return cls(*bounds, table, tuple(document["grid"]), decoder, scale)

    def document(self) -> dict[str, object]:
        """Return the channel as a Plan holds it: its bounds are the question's."""
        return {
            "decoder": [_written(number) for number in self.decoder],
            "grid": list(self.grid),
            "kind": "number",
            "scale": _written(self.scale),
            "weights": [list(row) for row in self.table.weights],
        }

    def check(self) -> None:
        apart = [2 * worth - self.scale * self.steps for worth in self.decoder]
        require(
            max(map(abs, apart)) <= FARTHEST * math.gcd(*apart),
            "expected reports that stand for small numbers",
        )

    @property
    def steps(self) -> int:
        return self.grid[-1]

    @property
    def loss(self) -> Fraction:
        return self.table.loss

    @property
    def reports(self) -> int:
        return self.table.reports

    @property
    def answers(self) -> int:
        return self.steps + 1

    @property
    def step(self) -> Fraction:
        """Return how far two neighbouring answers lie apart."""
        return (Fraction(self.high) - Fraction(self.low)) / self.steps

    def randomise(self, answer: int, words: Stream = system_stream) -> int:
        """Return the report for an answer in steps.

        Takes no word for rounding when it is a point of the grid.
        """
        require(
            type(answer) is int and 0 <= answer <= self.steps,
            "answer must be a whole number of steps from 0 to {}",
            self.steps,
        )
        place = max(place for place, point in enumerate(self.grid) if point <= answer)
        beyond = answer - self.grid[place]
        up = beyond > 0 and below(self.grid[place + 1] - self.grid[place], words) < beyond
        return self.table.randomise(place + up, words)

    def mean(
        self,
        counts: Sequence[int],
        n: int,
        noise: Noise | None = None,
        confidence: float = CONFIDENCE,
    ) -> Estimate:
        """Return the mean answer of n people from counted reports, which may have noise."""
        check_counted(counts, n, self.table.reports, noise)
        require(0 < confidence < 1, "confidence must be between 0 and 1, got {}", confidence)
        return _Reports(self, counts, n, noise or NoNoise()).estimate(confidence)

    def estimates(
        self, noisy: Sequence[int], n: int, noise: Noise = NO_NOISE, confidence: float = CONFIDENCE
    ) -> list[Estimate]:
        return [self.mean(noisy, n, noise, confidence)]

    def plain_answers(self, counts: Sequence[int], n: int, noise: Noise) -> tuple[int, int] | None:
        """Return how few and how many plain answers would be as precise; None for few."""
        return _Reports(self, counts, n, noise).plain_answers()

    def forecast(self, n: int, at: Fraction, noise: Noise) -> Estimate:
        return self.mean(self.likely_counts(n, at), n, noise)

    def lean(self, at: Fraction) -> float:
        """Return the same of the mean, which is the middle where its reports cancel out."""
        return abs(float(at) - 0.5) * float(self.high - self.low)

    def likely_counts(self, n: int, at: Fraction) -> list[int]:
        """Return about the counts of n reports if a share `at` are at the far end.

        All others are at the near.
        """
        near, far = self.table.weights[0], self.table.weights[-1]
        pairs = zip(near, far, strict=True)
        return rounded([n * (one + at * (other - one)) / self.table.total for one, other in pairs])


class _Reports:
    """Counted reports, in units z around the middle of the scale.

    Small whole numbers, symmetric about 0.
    """

    def __init__(self, channel: NumberChannel, counts: Sequence[int], n: int, noise: Noise) -> None:
        doubled = [2 * y - channel.scale * channel.steps for y in channel.decoder]
        unit = math.gcd(*doubled)
        self.channel, self.n, self.noise = channel, n, noise
        self.z = np.array([y // unit for y in doubled], dtype=np.int64)
        # of z, in units of the answer
        self.unit = float(Fraction(unit, 2 * channel.scale) * channel.step)
        self.middle = float(Fraction(channel.low) + Fraction(channel.high)) / 2
        self.total = _product(counts, self.z.tolist())
        self.sums = Sums.of(n, self.z, noise)
        self.rows = np.array(channel.table.weights, dtype=np.float64) / channel.table.total
        self.points = self.rows @ self.z
        self.mean = self.total / n
        self.inside = min(max(self.mean, float(self.points[0])), float(self.points[-1]))
        self.observed, self.doubt = self._variance(np.asarray(counts, dtype=np.float64))
        self.variance = self.observed + DOUBT * self.doubt

    def _variance(self, counts: Floats) -> tuple[float, float]:
        """Return the observed variance of z and its standard error, the noise's counted."""
        second, fourth = (
            float(counts @ self.z.astype(np.float64) ** power) / self.n for power in (2, 4)
        )
        noise = self.noise.variance * float((self.z.astype(np.float64) ** 4).sum()) / self.n**2
        doubt = math.sqrt(max(fourth - second**2, 0.0) / self.n + noise)
        return second - self.mean**2, doubt

    def law(self, mean: float, share: float) -> Floats:
        """Return the chances of reports if answers average to `mean`.

        A share of people at the ends, the rest alike.
        """
        place = min(int(np.searchsorted(self.points[1:], mean)), len(self.points) - 2)
        alike, ends = self._between(mean, place, place + 1), self._between(mean, 0, -1)
        return (1 - share) * alike + share * ends

    def _between(self, mean: float, left: int, right: int) -> Floats:
        part = (mean - self.points[left]) / (self.points[right] - self.points[left])
        return np.asarray((1 - part) * self.rows[left] + part * self.rows[right])

    def plain_answers(self) -> tuple[int, int] | None:
        """Return N for variances of reports, and means, as far off as chance makes them."""
        reach, at = normal_quantile(CONFIDENCE), self.inside
        first, last = float(self.points[0]), float(self.points[-1])
        publication = self.noise.variance * float((self.z**2).sum()) / self.n
        error = reach * math.sqrt(max(self.observed + publication, 0.0) / self.n)
        least, most = (float(self.law(at, share) @ (self.z - at) ** 2) for share in (0, 1))
        means = [min(max(mean, first), last) for mean in (at - error, at + error)]
        middle = min(max((first + last) / 2, means[0]), means[1])
        ends = []
        for sign, mean in ((-1, min(means, key=lambda x: (last - x) * (x - first))), (1, middle)):
            seen = min(max(self.observed + sign * reach * self.doubt, least), most)
            share = (seen - least) / (most - least) if most > least * (1 + 1e-9) else 1.0
            sampling = share * (last - mean) * (mean - first)
            ends.append((sampling, (max(seen - sampling, 0.0) + publication) / self.n))
        (low, other), (high, beside) = ends
        return plain_range((low, high), (other, beside), self.n)

    def share_at_ends(self, mean: float, added: int | None = None) -> float:
        """Return the share that gives reports their observed variance about `mean`, within 0 and 1.

        `added`, 0 or -1, is an end where one more person is imagined: few reports cannot rule one
        out.
        """
        squares = (self.z - mean) ** 2
        wanted = self.variance + (self.mean - mean) ** 2
        if added is not None:
            wanted += (float(self.rows[added] @ squares) - wanted) / (self.n + 1)
        least, most = (float(self.law(mean, share) @ squares) for share in (0, 1))
        return (
            min(max((wanted - least) / (most - least), 0.0), 1.0)
            if most > least * (1 + 1e-9)
            else 1.0
        )

    def at_least(self, mean: float, total: int, added: int) -> float:
        """Return P(sum ≥ total) if answers average to `mean`.

        They differ as they do about it or about the estimate.
        """
        share = max(self.share_at_ends(mean, added), self.share_at_ends(self.inside, added))
        return self.sums.at_least(self.law(mean, share), total)

    def estimate(self, confidence: float) -> Estimate:
        error = (1 - confidence) / 2
        first, last = float(self.points[0]), float(self.points[-1])
        ends = first, last, 1e-7 * (last - first)
        low = root(lambda mean: self.at_least(mean, self.total, 0) - error, *ends)
        high = root(lambda mean: error - 1 + self.at_least(mean, self.total + 1, -1), *ends)
        value, low, high = (self.middle + self.unit * z for z in (self.mean, low, high))
        return Estimate(value, min(low, value), max(high, value), self.split(), confidence)

    def split(self) -> Variance:
        """Return the squared standard error by source; sampling is an upper estimate."""
        at, share = self.inside, self.share_at_ends(self.inside)
        sampling = share * (float(self.points[-1]) - at) * (at - float(self.points[0]))
        device = float(self.law(at, share) @ (self.z - at) ** 2) - sampling
        publication = self.noise.variance * float((self.z**2).sum()) / self.n**2
        return Variance(
            *(self.unit**2 * part for part in (sampling / self.n, device / self.n, publication))
        )


@lru_cache(maxsize=256)
def _designed(
    epsilon: Decimal, steps: int, least: int
) -> tuple[Table, tuple[int, ...], tuple[int, ...], int]:
    """Return table, grid, decoder and scale. A value y on [−1, 1] is (1 + y)·s/2 steps."""
    grid, made = linear_program.best(steps, epsilon, least)
    numbers = [(1 + output * made.unit) * Fraction(steps, 2) for output in made.outputs]
    scale = math.lcm(*(number.denominator for number in numbers))
    return Table(made.weights), grid, tuple(int(number * scale) for number in numbers), scale


def _product(numbers: Sequence[int], weights: Sequence[int]) -> int:
    return sum(number * weight for number, weight in zip(numbers, weights, strict=True))


def _written(number: int) -> int | str:
    """Write an integer so that every JSON reader keeps it: above 2⁵³ − 1 as a decimal string."""
    return number if abs(number) <= MAX_EXACT else str(number)


def _read(value: Any) -> int:
    """Read an integer, or above 2⁵³ − 1 a decimal string."""
    if type(value) is int and abs(value) <= MAX_EXACT:
        return value
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    require(
        (digits.isascii() and digits.isdecimal() and (len(digits) <= MAX_DIGITS))
        and (not digits.startswith("0")),
        "decoder must hold integers, above 2**53 − 1 as decimal strings, got a {}",
        type(value).__name__,
    )
    return int(value)
