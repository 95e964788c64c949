"""The most common answers of a question, by name and in order, without their counts.

The mechanism is dpengine.central.selection: report noisy max, or the exponential mechanism where
the study pays in ρ. Where a device changed the answers, the reports that hold a choice order the
choices as people do on average, if every choice has the same odds: the estimate is (reports −
n·b)/(a − b), the same rising line for all.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Self

from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.selection import Law, Selection, spread_of_counts
from surveys.messages import message, plural_message
from surveys.releases import statistics
from surveys.releases.numbers import Numbers, Row, Table
from surveys.releases.queries.base import Counts, Query, plain_scale
from surveys.releases.queries.parameters import (
    ONE_CHOICE,
    STRONGEST,
    AnyQuestion,
    Paid,
    Question,
    Whole,
    WrongParameter,
)

MAX_ANSWERS = 10  # of one request
CHANCE = 0.95

MECHANISM = message("%(law)s, scale %(scale)s, best %(count)s of %(many)s")
SENSITIVITY = message("scores of two answers %(count)s further apart")
BEHIND = plural_message(
    "Each answer named is at most %(count)s person behind the most common of those left, in "
    "%(n)s of 100 draws.",
    "Each answer named is at most %(count)s people behind the most common of those left, in "
    "%(n)s of 100 draws.",
    number="count",
)
ALL_CHANCE = message("That is as many as answered: what is named will be little more than chance.")
APART = message(
    "Devices changed the answers: answers within %(apart)s people of each other can change places."
)
CAPTION = message("%(label)s: most common answers")
METHOD = message(
    "Chosen by the %(law)s: a more common answer is likelier to be named, and chance decides "
    "between answers that are close."
)


@dataclass(frozen=True)
class MostCommon(Query):
    question: AnyQuestion
    best: Annotated[int, Whole(label=gettext_lazy("How many"), most=MAX_ANSWERS, initial=1)]
    epsilon: Paid

    kind = "most_common"
    title = message("Most common answers", fills="title")
    sentence = gettext_lazy(
        "Which answers were given most, in order, but not how often. Far cheaper than counts of "
        "every answer."
    )
    needs = gettext_lazy("It needs a question with choices.")

    @staticmethod
    def fits(question: Question) -> bool:
        """Its choices must have equal odds, so that reports keep people's order."""
        return question.kind in ONE_CHOICE and len(set(question.channel.margins())) == 1

    def settled(self) -> Self:
        if self.best > (most := min(MAX_ANSWERS, len(self.candidates) - 1)):
            raise WrongParameter(
                "best", _("expected a whole number from 1 to %(most)s for this question"), most=most
            )
        return self

    @cached_property
    def candidates(self) -> list[str]:
        """Return the answers that can be named: not to decline, nor not to be asked."""
        choices = self.question.choices
        return choices[: len(choices) - self.question.beside]

    @cached_property
    def engine(self) -> Selection:
        spread = spread_of_counts(self.neighbours)
        if rho := self.rho_for(self.epsilon):
            return Selection.for_rho(rho, spread, self.best)
        return Selection.for_epsilon(
            self.noise_for(self.epsilon) or STRONGEST, spread, Law.NOISY_MAX, self.best
        )

    @property
    def mechanism(self) -> str:
        return MECHANISM(
            law=self.engine.law,
            scale=plain_scale(self.engine.scale),
            count=self.best,
            many=len(self.candidates),
        )

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY(count=self.engine.spread)

    @property
    def published(self) -> int:
        return self.best

    def covers(self, n: int) -> float:
        return min(1.0, self._behind / max(n, 1))

    @property
    def _contrast(self) -> Fraction:
        """Return how many reports one person's answer is worth."""
        return Fraction(self.question.channel.margins()[0].contrast)

    @property
    def _behind(self) -> int:
        return math.ceil(self.engine.largest_loss(len(self.candidates), CHANCE) / self._contrast)

    def expected(self, n: int) -> list[str]:
        contrast, behind = self._contrast, self._behind
        texts: list[str] = [BEHIND(count=f"{behind:,}", n=f"{100 * CHANCE:.0f}")]
        if behind >= n:
            texts.append(ALL_CHANCE())
        if contrast < 1:
            apart = math.ceil(1.96 * math.sqrt(max(n, 1) / 2) / contrast)
            texts.append(APART(apart=f"{apart:,}"))
        return texts

    def draw(self, counts: Counts, n: int) -> Numbers:
        held = statistics.marginal(counts, 0, self.question.channel.cells)
        chosen = self.engine.release(held[: len(self.candidates)])
        rows = [
            Row(f"{place}.", self.candidates[index]) for place, index in enumerate(chosen, start=1)
        ]
        return Numbers(
            tables=[Table(CAPTION(label=self.question.label), rows)],
            method=METHOD(law=self.engine.law),
            notes=self.expected(n)[:1],
            derived=[],
            n=n,
        )
