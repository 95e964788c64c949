"""A rehearsal: made-up people answer, and everything that happens to real answers happens to theirs.

The study's Plan is composed, each answer goes through its channel's `randomise`, with words of the operating system;
reports are packed as a batch is, counted, and given the noise that the study's publications would have. What is
estimated is compared with what was assumed. Nothing is stored or charged: there is nobody to protect.

Repeated, it says of every question
Bias       the mean of (estimate − assumed), with its own standard error over the rehearsals.
Coverage   how many of the 95 % intervals hold what was assumed. A question's answers share their reports, so that its
           margin counts rehearsals, not intervals (Clopper and Pearson): a little wide, never too narrow.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpengine.estimates import Estimate, Noise, Variance, clopper_pearson, share
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.privacy import Neighbours
from dpengine.randomness import Words, system_words
from surveys.aggregation.tallies import PublicTally
from surveys.design import documents
from surveys.planning.laws import Law, law_of
from surveys.planning.people import Answer, Crowd, parts_of, steps_of
from surveys.planning.topics import drawn_of

KEPT = 8192  # estimates that are remembered: the same count comes again
PLACES = 9  # of what is carried from one step to the next

_share = lru_cache(maxsize=KEPT)(share)


@lru_cache(maxsize=KEPT)
def _option(channel: OneOf, difference: int, n: int, noise: Noise) -> Estimate:
    return channel.share(difference, n, noise)


@dataclass(frozen=True)
class Part:
    """One question on its way from answers to estimates."""

    question: dict[str, Any]
    tally: PublicTally
    law: Law

    @property
    def name(self) -> str:
        return self.tally.name

    def report(self, answer: Answer, words: Words) -> Any:
        """Return what one browser sends: the channel's own draw, or the answer as it is."""
        channel: Any = self.tally.channel
        if isinstance(channel, documents.Given):
            return answer
        return channel.randomise(documents.input_of(self.question, answer), words)

    def estimates(self, reports: Sequence[Any]) -> list[Estimate]:
        """Return what would be published of these reports: packed, counted, given noise, estimated."""
        channel: Any = self.tally.channel
        counts = channel.tally(channel.pack(reports))
        noisy = self.tally.counts(self.law.draw(self.tally.vector(counts)), len(reports))
        return estimates(self.question, self.tally, noisy, len(reports), self.law.noise)


def estimates(question: dict[str, Any], tally: PublicTally, noisy: list[int], n: int, noise: Noise) -> list[Estimate]:
    """Return the estimates of a question's rows: its choices, the mean, or parts of its scale."""
    channel = tally.channel
    if isinstance(channel, NumberChannel):
        return [channel.mean(noisy, n, noise)]
    if isinstance(channel, Distribution):
        return [_within(channel, *ends, noisy, n, noise) for ends in _bins(question)]
    if isinstance(channel, OneOf):
        return [_option(channel, difference, n, noise) for difference in noisy]  # type: ignore[arg-type]
    return [_share(count, n, margin, noise) for count, margin in zip(noisy, channel.margins(), strict=True)]  # type: ignore[arg-type]


def _bins(question: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the first and last bin of each part of the scale: parts hold whole bins."""
    bins, steps = question["bins"], steps_of(question)
    return [(first * bins // steps, last * bins // steps) for first, last in parts_of(question)]


def _within(channel: Distribution, first: int, last: int, noisy: list[int], n: int, noise: Noise) -> Estimate:
    found = channel.share_within(first, last, noisy, n, noise)
    doubt = channel.doubt(first, last, noisy, n, noise)
    return Estimate(found.value, found.low, found.high, doubt, found.confidence)


@dataclass(frozen=True)
class Stage:
    """A Plan ready to be rehearsed."""

    parts: tuple[Part, ...]
    crowd: Crowd

    @classmethod
    def of(cls, content: dict[str, Any], crowd: Crowd) -> "Stage":
        neighbours = Neighbours(content["neighbours"])
        tallies = [drawn_of(question, neighbours).tally for question in crowd.questions]
        laws = [law_of(tally, len(tallies), content["publication"]) for tally in tallies]
        return cls(tuple(map(Part, crowd.questions, tallies, laws)), crowd)

    def rehearse(self, people: int, words: Words = system_words) -> dict[str, list[Estimate]]:
        """Return what would be published of so many made-up people."""
        truths = [self.crowd.person(words) for _ in range(people)]
        return {
            part.name: part.estimates([part.report(truth[part.name], words) for truth in truths]) for part in self.parts
        }


@dataclass
class Sum:
    """One row of a question over the rehearsals so far."""

    error: float = 0.0  # Σ (estimate − assumed)
    squares: float = 0.0  # Σ (estimate − assumed)²
    width: float = 0.0  # Σ half-widths
    held: int = 0  # intervals that hold what was assumed

    def add(self, estimate: Estimate, truth: float) -> None:
        away = estimate.value - truth
        self.error += away
        self.squares += away**2
        self.width += (estimate.high - estimate.low) / 2
        self.held += estimate.low <= truth <= estimate.high


@dataclass
class Record:
    """What many rehearsals came to: sums by question, and the first one whole, to look at."""

    runs: int = 0
    seconds: float = 0.0
    sums: dict[str, list[Sum]] = field(default_factory=dict)
    first: dict[str, list[Estimate]] = field(default_factory=dict)

    def add(self, found: dict[str, list[Estimate]], truths: dict[str, list[Fraction]]) -> None:
        self.runs += 1
        self.first = self.first or found
        for name, rows in found.items():
            sums = self.sums.setdefault(name, [Sum() for _ in rows])
            for kept, estimate, truth in zip(sums, rows, truths[name], strict=True):
                kept.add(estimate, float(truth))

    def coverage(self, name: str) -> tuple[float, float, float]:
        """Return the share of a question's intervals that hold, and its margins."""
        return self._covered([name])

    @property
    def coverage_of_all(self) -> tuple[float, float, float]:
        """Return the same of all questions together: they are drawn separately, so their runs add up."""
        return self._covered(list(self.sums))

    def _covered(self, names: list[str]) -> tuple[float, float, float]:
        shares = [sum(row.held for row in self.sums[name]) / (self.runs * len(self.sums[name])) for name in names]
        covered, runs = sum(shares) / len(shares), self.runs * len(names)
        return covered, *clopper_pearson(covered * runs, runs)

    def bias(self, name: str) -> list[tuple[float, float]]:
        """Return each row's mean error, and its standard error."""
        return [(row.error / self.runs, self._error_of_mean(row)) for row in self.sums[name]]

    def _error_of_mean(self, row: Sum) -> float:
        if self.runs < 2:
            return math.inf
        variance = (row.squares - row.error**2 / self.runs) / (self.runs - 1)
        return math.sqrt(max(variance, 0.0) / self.runs)

    def half_width(self, name: str) -> float:
        """Return the mean half-width of a question's intervals."""
        rows = self.sums[name]
        return sum(row.width for row in rows) / (self.runs * len(rows))

    def document(self) -> dict[str, Any]:
        """Return it as JSON: what goes to the page and back, signed, between two steps."""
        sums = {
            name: [[round(row.error, PLACES), round(row.squares, PLACES), round(row.width, PLACES), row.held]
                   for row in rows] for name, rows in self.sums.items()
        }  # fmt: skip
        first = {name: [_numbers(row) for row in rows] for name, rows in self.first.items()}
        return {"first": first, "runs": self.runs, "seconds": round(self.seconds, 3), "sums": sums}

    @classmethod
    def read(cls, document: dict[str, Any]) -> "Record":
        return cls(
            runs=document["runs"],
            seconds=document["seconds"],
            sums={name: [Sum(*row) for row in rows] for name, rows in document["sums"].items()},
            first={name: [_estimate(row) for row in rows] for name, rows in document["first"].items()},
        )


def _estimate(numbers: Sequence[float]) -> Estimate:
    value, low, high, *split = numbers
    return Estimate(value, low, high, Variance(*split))


def _numbers(estimate: Estimate) -> list[float]:
    split = estimate.variance
    found = (estimate.value, estimate.low, estimate.high, split.sampling, split.device, split.publication)
    return [float(f"{number:.{PLACES}g}") for number in found]
