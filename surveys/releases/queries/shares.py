"""Shares of chosen questions: what the rule of a study publishes of all of them, asked for by name.

The mechanisms and their proof are in dpengine.central.counts; what is estimated from a noisy count,
in dpengine.estimates. The budget is split over the questions equally.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

from django.utils.translation import gettext_lazy

from dpengine.central.counts import Mechanism
from dpengine.contraction import Noise
from dpengine.estimates import CONFIDENCE, Noise as NoiseLaw
from surveys.aggregation import selectors as aggregation
from surveys.messages import Text, message, plural_message
from surveys.releases import statistics
from surveys.releases.numbers import Numbers
from surveys.releases.queries.base import Query, pure_epsilon
from surveys.releases.queries.parameters import (
    Context,
    Epsilon,
    Question,
    SomeQuestions,
    Unasked,
)
from surveys.releases.statistics import Part, PublishedPart

MECHANISM = plural_message(
    "%(noise)s, %(count)s tally", "%(noise)s, %(count)s tallies", number="count"
)
SENSITIVITY = plural_message(
    "%(count)s count by 1 in each tally", "%(count)s counts by 1 in each tally", number="count"
)
EXPECTED = message(
    "%(label)s: %(what_is_off)s within ± %(half)s %(unit_word)s, in 95 of 100 such studies, of "
    "which chance added to the count is ± %(part)s."
)
OFF = {
    "mean": message("the mean", fills="what_is_off"),
    "distribution": message("the share of people below the middle", fills="what_is_off"),
}
EACH_SHARE = message("each share", fills="what_is_off")
Tallies = Mapping[str, list[int]]  # by question

HEADING = plural_message(
    "Shares of %(count)s question", "Shares of %(count)s questions", number="count"
)
HEADING_IN_WAVE = plural_message(
    "Shares of %(count)s question, wave %(wave)s",
    "Shares of %(count)s questions, wave %(wave)s",
    number="count",
)
METHOD = message(
    "Chance was added to the counts of reports, once. From each noisy count the share of people "
    "was estimated through the odds of the devices; the intervals count sampling, devices and "
    "publication."
)
METHOD_WITHOUT_NOISE = message(
    "Nothing was added to the counts of reports: all that is published here can give away no more "
    "than the devices already allowed. From each count the share of people was estimated through "
    "the odds of the devices; the intervals count sampling and devices."
)
NOTES = {
    "multiple": message(
        "Of a question with several ticks each report is about one option, drawn by chance. The "
        "count of an option is how many more reports say yes to it than no. Shares of options do "
        "not add up to 100."
    ),
    "mean": message(
        "The mean of a number follows from the counts of its reports through the Plan’s decoder. "
        "Its interval is all means that the reports, summed with their chance, do not reject."
    ),
    "distribution": message(
        "How a number is spread is what makes its reports likeliest, smoothed. Its limits hold "
        "for each share and quartile by itself, whatever the answers are; they are wider than the "
        "estimate’s own errors."
    ),
}
DERIVED = message("Shares, intervals and standard errors follow from the noisy counts.")


@dataclass(frozen=True, kw_only=True)
class Rho(Unasked):
    """What the rule of a Plan that pays in ρ wrote; empty where noise is chosen for ε."""

    def read(self, value: Any, name: str, context: Context) -> str:
        return str(value or "")

    def written(self, value: str) -> str | None:
        return value or None


class TallyQuery(Query):
    """A kind that publishes whole tallies: once, or again and again."""

    @staticmethod
    def fits(question: Question) -> bool:
        """Tell whether its tally can be published: not that of a number sent in the clear."""
        return question.channel.cells > 0

    def heading(self, labels: Mapping[str, str], wave: int) -> Text:
        """Return the same; more than two questions are not named."""
        count = len(self.names)
        if count <= 2:
            return super().heading(labels, wave)
        return HEADING_IN_WAVE(count=count, wave=wave) if wave > 1 else HEADING(count=count)

    @property
    def noises(self) -> list[Noise]:
        """Return one noise for each tally."""
        return [
            Noise(frozenset([self.plan.content.report_of(name)]), pure_epsilon(engine))
            for name, engine in zip(self.tallied, self.engines, strict=True)
        ]

    @property
    @abstractmethod
    def tallied(self) -> list[str]:
        """Return the name of the question that each of `engines` publishes the tally of."""

    def counted(self, batches: int) -> Tallies:
        """Return the running tallies: joint counts of all questions would be all the reports."""
        return aggregation.totals(self.plan, batches)


@dataclass(frozen=True)
class Shares(TallyQuery):
    questions: Annotated[tuple[Question, ...], SomeQuestions(label=gettext_lazy("Questions"))]
    epsilon: Annotated[
        Decimal, Epsilon(help=gettext_lazy("Shared equally by the questions you choose."))
    ]
    rho: Annotated[str, Rho()]

    kind = "shares"
    title = message("Shares of each answer", fills="title")
    sentence = gettext_lazy(
        "How many of all people give each answer to a question, with its interval; of a number "
        "that was changed on the device, its mean or how it is spread."
    )
    needs = gettext_lazy("It needs a question with choices.")

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Return the tallies with their noise, for ε, or for ρ as the Plan wrote it, else ε²/2."""
        rho = None
        if self.is_concentrated:
            usual = Fraction(self.epsilon) ** 2 / (2 * len(self.questions))
            rho = Fraction(self.rho) if self.rho else usual
        return tuple(
            statistics.parts_for(self.plan, self.names, epsilon=Fraction(self.epsilon), rho=rho)
        )

    @property
    def engines(self) -> Sequence[Mechanism]:
        return [part.mechanism for part in self.parts]

    @property
    def tallied(self) -> list[str]:
        return [part.name for part in self.parts]

    @property
    def mechanism(self) -> str:
        names = sorted({part.law.name for part in self.parts})
        return MECHANISM(noise=" and ".join(names), count=len(self.parts))

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY(count=max(part.tally.moved.l1 for part in self.parts))

    @property
    def published(self) -> int:
        return sum(_rows_of(part) for part in self.parts)

    def expected(self, n: int) -> list[str]:
        texts: list[str] = []
        for part in self.parts:
            wide, added, unit = statistics.expected(part, n)
            texts.append(
                EXPECTED(
                    label=part.question.label,
                    what_is_off=OFF.get(part.question.wanted, EACH_SHARE)(),
                    half=f"{wide:.1f}",
                    unit_word=unit or "points",
                    part=f"{added:.1f}",
                )
            )
        return texts

    def draw(self, counts: Tallies, n: int) -> Numbers:
        noisy = {part.name: part.draw(counts[part.name], n) for part in self.parts}
        return numbers_of(self.parts, noisy, n)

    def noise_of(self, name: str, numbers: Numbers) -> NoiseLaw | None:
        return next((part.mechanism for part in self.parts if part.name == name), None)


def numbers_of(parts: Sequence[PublishedPart], noisy: Mapping[str, list[int]], n: int) -> Numbers:
    """Return the estimates that follow from published counts, and the same as tables."""
    questions = [statistics.question_numbers(part, noisy[part.name], n) for part in parts]
    kinds = {numbers.kind for numbers in questions}
    return Numbers(
        tables=[
            table
            for part, numbers in zip(parts, questions, strict=True)
            for table in statistics.tables(part.question, numbers)
        ],
        method=METHOD() if any(part.law.scale for part in parts) else METHOD_WITHOUT_NOISE(),
        notes=[note() for kind, note in NOTES.items() if kind in kinds],
        derived=[DERIVED()],
        confidence=CONFIDENCE,
        n=n,
        questions=questions,
    )


def _rows_of(part: Part) -> int:
    """Return how many rows the tables of a question have."""
    wanted = part.question.wanted
    if wanted == "mean":
        return 1
    if wanted == "distribution":
        return min(part.question.bins, statistics.RANGES) + len(statistics.BELOW)
    return len(part.question.choices)
