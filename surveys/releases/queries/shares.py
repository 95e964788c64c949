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
from msgspec.structs import replace

from dpengine.central.counts import Mechanism
from dpengine.contraction import Noise
from dpengine.estimates import CONFIDENCE, Noise as NoiseLaw
from surveys.aggregation import selectors as aggregation
from surveys.aggregation.selectors import Part as StratumCounts
from surveys.design.models import Plan
from surveys.messages import Text, message, plural_message
from surveys.plan.strata import weights
from surveys.releases import statistics
from surveys.releases.numbers import Numbers, QuestionNumbers, StratumNumbers
from surveys.releases.queries.base import KNOWN_SUM, Query, pure_epsilon, rho_at
from surveys.releases.queries.parameters import (
    Context,
    Epsilon,
    Question,
    SomeQuestions,
    Unasked,
)
from surveys.releases.statistics import Part, PeopleCounted, PublishedPart
from surveys.releases.weighting import part_name, put_together

MECHANISM = plural_message(
    "%(noise)s, %(count)s tally", "%(noise)s, %(count)s tallies", number="count"
)
MECHANISM_OF_STRATA = plural_message(
    "%(noise)s, %(count)s tally in each stratum",
    "%(noise)s, %(count)s tallies in each stratum",
    number="count",
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
METHOD_OF_CLEARTEXT = message(
    "Chance was added to the counts of answers, once. The intervals count sampling and publication."
)
METHOD_OF_BOTH = message(
    "Chance was added to the counts of reports, once. From each count the share of people was "
    "estimated, through the odds of the devices where they had changed the answer; the intervals "
    "count sampling, publication and, there, devices."
)
METHOD_WITHOUT_NOISE = message(
    "Nothing was added to the counts of reports: all that is published here can give away no more "
    "than the devices already allowed. From each count the share of people was estimated through "
    "the odds of the devices; the intervals count sampling and devices."
)
NOTES = {
    "multiple": message(
        "Of a question with several ticks each report is about some of the options, drawn by "
        "chance. The count of an option is how many more reports say yes to it than no. Shares of "
        "options do not add up to 100."
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
WEIGHTED = message(
    "People were invited by a list, in strata. Chance was added to the counts of each stratum, and "
    "what is estimated for all weighs each stratum as the list does: it is told of everybody who "
    "was invited, as far as who answered answers like who did not."
)
DERIVED = message("Shares, intervals and standard errors follow from the published counts.")


@dataclass(frozen=True, kw_only=True)
class Rho(Unasked):
    """What the rule of a Plan that pays in ρ wrote; empty where noise is chosen for ε."""

    def read(self, value: Any, name: str, context: Context) -> str:
        return str(value or "")

    def written(self, value: str) -> str | None:
        return value or None


class TallyQuery(Query):
    """A kind that publishes whole tallies: once, or again and again."""

    reads_views = True

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

    def refuse_apart(self) -> None:
        """Each question is published by itself: those who were asked it are enough."""

    def people(self, batches: int) -> int:
        return aggregation.reports_in(self.plan, batches)

    def people_expected(self, n: int) -> int:
        return n

    def counted(self, batches: int) -> Any:
        """Return the running tallies: joint counts of all questions would be all the reports."""
        return aggregation.totals(self.plan, batches)

    def asked(self, counts: Tallies, n: int) -> dict[str, int]:
        """Return how many of n reports answer each question: public, as n is."""
        content = self.plan.content
        return {
            name: aggregation.asked_of(self.plan, [name], counts)
            if content.drawn and name in content.channels
            else n
            for name in self.names
        }


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
        "The share of people who give each answer, with an interval. For a number randomised on "
        "the device: its mean or its distribution."
    )
    needs = gettext_lazy("It needs a question with choices.")

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Return the tallies with their noise, for ε, or for ρ: as the Plan wrote it, else of ε."""
        epsilon = self.strength(self.epsilon)
        return tuple(
            statistics.parts_for(self.plan, self.names, epsilon=epsilon, rho=self._rho_of_all)
        )

    @property
    def _rho_of_all(self) -> Fraction | None:
        if self.rho:
            return Fraction(self.rho)
        if self.alone:
            return self.rho_for(self.epsilon)
        # Of a request of before, ε was shared by the questions: k noises of ε/k cost ε²/(2k).
        usual = rho_at(self.epsilon) / self.plan.content.most_asked(self.names)
        return usual if self.is_paid_in(usual) else None

    @property
    def engines(self) -> Sequence[Mechanism]:
        return [part.mechanism for part in self.parts]

    @property
    def tallied(self) -> list[str]:
        return [part.name for part in self.parts]

    @property
    def mechanism(self) -> str:
        names = sorted({part.law.name for part in self.parts})
        said = MECHANISM_OF_STRATA if self.plan.content.stratum_sizes else MECHANISM
        return said(noise=" and ".join(names), count=len(self.parts))

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY(count=max(part.tally.moved.l1 for part in self.parts))

    @property
    def published(self) -> int:
        strata = len(self.plan.content.stratum_sizes)
        return (strata + 1) * sum(_rows_of(part) for part in self.parts)

    def expected(self, n: int) -> list[str]:
        texts: list[str] = []
        for part in self.parts:
            noise = statistics.noise_in_people(self.plan.content)
            wide, added, unit = statistics.expected(part, n, noise)
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

    def covers(self, n: int) -> float:
        noise = statistics.noise_in_people(self.plan.content)
        return max(statistics.covered(part, n, noise) for part in self.parts)

    def counted(self, batches: int) -> Any:
        """Return the counts of each part, where a list's strata are told apart."""
        return aggregation.parts(self.plan, batches) or super().counted(batches)

    def draw(self, counts: Tallies | list[StratumCounts], n: int) -> Numbers:
        if isinstance(counts, list):
            return self._of_strata(counts, n)
        asked = self.asked(counts, n)
        noisy = {part.name: part.draw(counts[part.name], asked[part.name]) for part in self.parts}
        return numbers_of(self.parts, noisy, PeopleCounted.of(self.plan, n), asked)

    def _of_strata(self, counted: list[StratumCounts], n: int) -> Numbers:
        """Draw each part's counts, and weight what is estimated from them to the whole list."""
        content = self.plan.content
        weighed = weights(content.stratum_sizes, [each.reports for each in counted])
        strata = []
        for own, weight in zip(counted, weighed.parts, strict=True):
            asked = self.asked(own.counts, sum(own.reports))
            questions = [
                replace(
                    statistics.question_numbers(
                        part,
                        part.draw(own.counts[part.name], asked[part.name]),
                        PeopleCounted(asked[part.name]),
                    ),
                    n=asked[part.name],
                )
                for part in self.parts
                if asked[part.name]
            ]
            strata.append(
                StratumNumbers(reports=own.reports, weight=float(weight), questions=questions)
            )
        return weighted_of(self.plan, self.parts, strata, n)

    def noise_of(self, name: str, numbers: Numbers) -> NoiseLaw | None:
        """Return the law that is published with the counts: an older one, of older releases."""
        found = (one.mechanism for one in numbers.questions if one.name == name)
        return next(map(statistics.mechanism_of, found), None)


def numbers_of(
    parts: Sequence[PublishedPart],
    noisy: Mapping[str, list[int]],
    people: PeopleCounted,
    asked: Mapping[str, int],
) -> Numbers:
    """Return the estimates that follow from published counts, and the same as tables; nothing of a
    question that nobody was asked.
    """
    parts = [part for part in parts if asked[part.name]]
    found = [
        statistics.question_numbers(
            part, noisy[part.name], PeopleCounted(asked[part.name], people.noise)
        )
        for part in parts
    ]
    questions = [
        numbers if asked[numbers.name] == people.n else replace(numbers, n=asked[numbers.name])
        for numbers in found
    ]
    return _numbers(parts, questions, people.n)


def weighted_of(
    plan: Plan, parts: Sequence[PublishedPart], strata: Sequence[StratumNumbers], n: int
) -> Numbers:
    """Return the numbers of a whole list, put together of those of its parts, with theirs."""
    known = {numbers.name for each in strata for numbers in each.questions}
    parts = [part for part in parts if part.name in known]
    weighed = [each.weight for each in strata]
    found = [put_together(part, strata, weighed) for part in parts]
    questions = [replace(each, n=0) if each.n == n else each for each in found]
    numbers = _numbers(parts, questions, n)
    by_name = {part.name: part.question for part in parts}
    tables = [
        replace(table, caption=f"{table.caption} · {part_name(plan.content, each.reports)}")
        for each in strata
        for own in each.questions
        for table in statistics.tables(by_name[own.name], own)
    ]
    notes = [WEIGHTED(), *numbers.notes]
    return replace(numbers, tables=[*numbers.tables, *tables], notes=notes, strata=strata)


def _numbers(
    parts: Sequence[PublishedPart], questions: Sequence[QuestionNumbers], n: int
) -> Numbers:
    kinds = {numbers.kind for numbers in questions}
    return Numbers(
        tables=[
            table
            for part, numbers in zip(parts, questions, strict=True)
            for table in statistics.tables(part.question, numbers)
        ],
        method=_method(parts),
        notes=[
            *(note() for kind, note in NOTES.items() if kind in kinds),
            *([KNOWN_SUM()] if any(part.law.known_sum for part in parts) else []),
        ],
        derived=[DERIVED()],
        confidence=CONFIDENCE,
        n=n,
        questions=questions,
    )


def _method(parts: Sequence[PublishedPart]) -> Text:
    """Name the devices where they changed answers, and publication where it added noise."""
    if not any(part.law.scale for part in parts):
        return METHOD_WITHOUT_NOISE()
    cleartext = {part.question.is_cleartext for part in parts}
    if len(cleartext) > 1:
        return METHOD_OF_BOTH()
    return METHOD_OF_CLEARTEXT() if cleartext == {True} else METHOD()


def _rows_of(part: Part) -> int:
    """Return how many rows the tables of a question have."""
    wanted = part.question.wanted
    if wanted == "mean":
        return 1
    if wanted == "distribution":
        return min(part.question.bins, statistics.RANGES) + len(statistics.BELOW)
    return len(part.question.choices)
