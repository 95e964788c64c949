"""A rehearsal: made-up people answer, and everything that happens to real answers happens to
theirs.

The study's Plan is composed, each answer goes through its channel's `randomise`, with words of the
operating system; reports are packed as a batch is, counted, and given the noise that the study's
publications would have. What is estimated is compared with what was assumed. Nothing is stored or
charged: there is nobody to protect.

Repeated, it says of every question
Bias       the mean of (estimate − assumed), with its own standard error over the rehearsals.
Coverage   how many of the 95 % intervals hold what was assumed. A question's answers share their
           reports, so that its margin counts rehearsals, not intervals (Clopper and Pearson): a
           little wide, never too narrow.
"""

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from msgspec import Struct

from dpengine.estimates import Estimate, clopper_pearson
from dpengine.local.channel import Learns
from dpengine.privacy import Neighbours
from dpengine.randomness import Stream, system_stream
from surveys.plan.content import PlanContent
from surveys.planning.population import Answer, Population, parts_of
from surveys.planning.precision import PublicationNoise, noise_of
from surveys.planning.questions import QuestionAtEpsilon, others_of

LOOK_EVERY = 256  # words: looking at the clock takes as long as drawing one


class TooLong(Exception):
    """A rehearsal takes more processor time than it may."""


def within(seconds: float, words: Stream = system_stream) -> Stream:
    """Return random words that end as TooLong once this thread has used so many seconds more."""
    end, drawn = time.thread_time() + seconds, itertools.count()

    def word() -> int:
        if next(drawn) % LOOK_EVERY == 0 and time.thread_time() > end:
            raise TooLong
        return words()

    return word


@dataclass(frozen=True)
class RehearsedQuestion:
    """One question on its way from answers to estimates."""

    question: QuestionAtEpsilon
    publication: PublicationNoise

    @property
    def name(self) -> str:
        return self.question.content.name

    def report(self, answer: Answer, words: Stream) -> Any:
        """Return what one browser sends: the channel's own draw, or the answer as it is."""
        return self.question.content.randomise(answer, words)

    def estimates(self, reports: Sequence[Any]) -> list[Estimate]:
        """Return what would be published of these reports: packed, counted, given noise,
        estimated. Of a distribution, the parts of its scale, which hold whole bins.
        """
        channel, n = self.question.channel, len(reports)
        neighbours = self.question.neighbours
        noise = channel.noise_left(self.publication.noise, neighbours)
        counts = channel.tally(channel.pack(reports))
        vector = channel.released(counts, neighbours)
        noisy = channel.noisy_counts(self.publication.draw(vector), n)
        if channel.learns is not Learns.DISTRIBUTION:
            return channel.estimates(noisy, n, noise)
        content = self.question.content
        return [
            channel.within(content.input_of(first), content.input_of(last), noisy, n, noise)
            for first, last in parts_of(content)
        ]


class Rehearsal:
    """A Plan ready to be rehearsed."""

    def __init__(self, content: PlanContent, population: Population) -> None:
        neighbours, records = Neighbours(content.neighbours), content.records
        self.content = content
        questions = [QuestionAtEpsilon(question, neighbours) for question in population.questions]
        self.population = population
        self.questions = [
            RehearsedQuestion(
                question,
                noise_of(question, others_of(question, questions, records), content.of_shares),
            )
            for question in questions
        ]

    def run(self, people: int, words: Stream = system_stream) -> dict[str, list[Estimate]]:
        """Return what would be published of so many made-up people."""
        truths = [self.population.person(words) for _ in range(people)]
        asked, content = self._asked(people, words), self.content
        joint = {
            block.name: [
                content.randomised({n: truths[at][n] for n in block.questions}, words)[block.name]
                for at in asked[block.questions[0]]
            ]
            for block in content.blocks
            if block.is_joint
        }
        found = {}
        for each in self.questions:
            reports = joint.get(each.question.content.sent_in)
            if reports is None:
                reports = [each.report(truths[at][each.name], words) for at in asked[each.name]]
            found[each.name] = each.estimates(reports)
        return found

    def _asked(self, people: int, words: Stream) -> dict[str, Sequence[int]]:
        """Return which people are asked each question: all, or those whose device drew it; the
        first one, should nobody’s.
        """
        names, content = [each.name for each in self.questions], self.content
        if not content.drawn:
            return dict.fromkeys(names, range(people))
        drawn = [content.draw_set(words) for _ in range(people)]
        found = {name: set(content.sets_with([name])) for name in names}
        return {
            name: [at for at, index in enumerate(drawn) if index in found[name]] or [0]
            for name in names
        }


class Sum(Struct, array_like=True):
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

    def error_of_mean(self, runs: int) -> float:
        """Return the standard error of the mean error."""
        if runs < 2:
            return math.inf
        variance = (self.squares - self.error**2 / runs) / (runs - 1)
        return math.sqrt(max(variance, 0.0) / runs)


class Coverage(NamedTuple):
    """The share of intervals that hold what was assumed, and its margins."""

    share: float
    low: float
    high: float


class Record(Struct):
    """What many rehearsals came to: sums by question, and the first one whole, to look at. It goes
    to the page and back, signed, between two steps.
    """

    key: str = ""  # the Plan and the people that it is of
    runs: int = 0
    seconds: float = 0.0
    sums: dict[str, list[Sum]] = {}
    first: dict[str, list[Estimate]] = {}

    def add(self, run: dict[str, list[Estimate]], truths: dict[str, list[Fraction]]) -> None:
        self.runs += 1
        self.first = self.first or run
        for name, estimates in run.items():
            sums = self.sums.setdefault(name, [Sum() for _ in estimates])
            for row, estimate, truth in zip(sums, estimates, truths[name], strict=True):
                row.add(estimate, float(truth))

    def coverage(self, name: str = "") -> Coverage:
        """Return how many of a question's intervals hold; or of all questions together: they are
        drawn separately, so their runs add up.
        """
        questions = [self.sums[name]] if name else list(self.sums.values())
        runs = self.runs * len(questions)
        held = sum(sum(row.held for row in rows) / len(rows) for rows in questions)
        return Coverage(held / runs, *clopper_pearson(held, runs))

    def bias(self, name: str) -> list[tuple[float, float]]:
        """Return each row's mean error, and its standard error."""
        return [(row.error / self.runs, row.error_of_mean(self.runs)) for row in self.sums[name]]

    def half_width(self, name: str) -> float:
        """Return the mean half-width of a question's intervals."""
        rows = self.sums[name]
        return sum(row.width for row in rows) / (self.runs * len(rows))
