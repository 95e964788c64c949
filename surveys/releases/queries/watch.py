"""Tell me when the share of an answer passes a limit: one charge, however often it is asked before.

The mechanism is dpengine.central.sparse_vector. Its queries are counts of reports that hold the
answer, its thresholds what the limit comes to in reports, after the odds of the device. Both grow
as batches are sealed; one person moves all the counts the same way. Where n is not public, the
query is den·count − num·n instead, against 0.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.sparse_vector import AboveThreshold, State as WatcherState
from dpengine.estimates import Margin
from dpengine.privacy import plain
from surveys.design.models import Plan
from surveys.messages import message
from surveys.releases import statistics
from surveys.releases.numbers import Document, Numbers, Row, Table
from surveys.releases.queries.base import Counts, InteractiveQuery, State, plain_scale
from surveys.releases.queries.parameters import (
    ONE_CHOICE,
    STRONGEST,
    Context,
    Paid,
    Parameter,
    Percent,
    Question,
    WrongParameter,
)

# Of a limit in reports: rounded up to a millionth, so that it is never passed too early.
FINE = 10**6
USUAL = 52  # steps that the expected error is stated for

MECHANISM = message("sparse vector, discrete Laplace of scale %(scale)s and %(other_scale)s")
COUNTS_MOVED = message("every count by 1, all the same way")
ALL_MOVED = message("n and every count by 1, all the same way")
EXPECTED = message(
    "With %(n)s answers it is right if the share is more than %(points)s points from %(percent)s "
    "%%, in 95 of 100 such series of %(count)s looks; answers changed by devices can add to that."
)
TOO_MUCH = message("That is too much to mean anything: wait for more answers, or let it cost more.")
CAPTION = message("%(label)s: is “%(answer)s” over %(percent)s %%?")
LOOK = message("After look %(number)s")
PASSED = message("passed")
NOT_YET = message("not yet")
METHOD = message(
    "Compared with a limit that had chance added once, by a count that has new chance added at "
    "each look. Only the answer is published."
)


class Answer(NamedTuple):
    """One choice of a question, by its place from 1."""

    question: Question
    place: int

    @property
    def text(self) -> str:
        return str(self.question.choices[self.place - 1])


@dataclass(frozen=True, kw_only=True)
class OneAnswer(Parameter):
    """An answer, as a question's name and the place of the choice."""

    def field(self, context: Context) -> forms.Field:
        answers = [
            (f"{name}/{place}", f"{question.label}: {choice}")
            for name, question in context.questions.items()
            for place, choice in enumerate(question.choices, start=1)
        ]
        return forms.ChoiceField(choices=answers, **self.shown)

    def read(self, value: Any, name: str, context: Context) -> Answer:
        question_name, place = super().read(value, name, context).split("/")
        return Answer(context.questions[question_name], int(place))

    def written(self, value: Answer) -> str:
        return f"{value.question.name}/{value.place}"

    def names(self, value: Answer) -> list[str]:
        return [value.question.name]


@dataclass(frozen=True)
class Watch(InteractiveQuery):
    answer: Annotated[Answer, OneAnswer(label=gettext_lazy("Answer to watch"))]
    percent: Annotated[
        Decimal,
        Percent(
            label=gettext_lazy("Limit, in percent"), least=Decimal("0.1"), most=Decimal("99.9")
        ),
    ]
    epsilon: Paid

    kind = "watch"
    title = message("Tell me when a share passes a limit", fills="title")
    sentence = gettext_lazy(
        "Looks after every batch of answers and says only “not yet” or “passed”, and ends when it "
        "has said “passed”. All its looks together cost what one does."
    )
    needs = gettext_lazy("It needs a question with choices.")

    @classmethod
    def can_be_asked(cls, plan: Plan) -> bool:
        """Tell whether batches can come that it could look at, too."""
        return plan.is_open and super().can_be_asked(plan)

    @classmethod
    def lacks(cls, plan: Plan) -> str | Promise:
        if not plan.is_open and super().can_be_asked(plan):
            return _("It looks at every batch of answers, and this study is closed.")
        return super().lacks(plan)

    def refuse_asked(self, n: int) -> None:
        if not self.plan.is_open:
            raise WrongParameter("answer", _("expected a study that still takes answers"))

    @staticmethod
    def fits(question: Question) -> bool:
        return question.kind in ONE_CHOICE

    @property
    def margin(self) -> Margin:
        return self.answer.question.channel.margins()[self.answer.place - 1]

    @property
    def limit(self) -> Fraction:
        """Return the share of reports that hold the answer where this share of people give it."""
        share = Fraction(self.percent) / 100
        exact = self.margin.lie + share * (self.margin.truth - self.margin.lie)
        return Fraction(math.ceil(exact * FINE), FINE)

    @cached_property
    def engine(self) -> AboveThreshold:
        """Batches only grow: all counts move the same way."""
        numerator, denominator = self.limit.numerator, self.limit.denominator
        reach = 1 if self.n_is_public else max(numerator, denominator - numerator)
        epsilon = self.noise_for(self.epsilon) or STRONGEST
        return AboveThreshold.for_epsilon(epsilon, sensitivity=reach, monotonic=True)

    @property
    def mechanism(self) -> str:
        of_threshold, of_query = self.engine.of_threshold.scale, self.engine.of_query.scale
        return MECHANISM(scale=plain_scale(of_threshold), other_scale=plain_scale(of_query))

    @property
    def sensitivity(self) -> str:
        return COUNTS_MOVED() if self.n_is_public else ALL_MOVED()

    def covers(self, n: int) -> float:
        return min(1.0, 2 * self._off(n))

    def _off(self, n: int) -> float:
        """Return how far from the limit a share is told apart from it, of 1."""
        unit = 1 if self.n_is_public else self.limit.denominator
        return float(self.engine.accuracy(USUAL) / unit / max(n, 1) / self.margin.contrast)

    def expected(self, n: int) -> list[str]:
        points = 100 * self._off(n)
        percent = str(plain(self.percent))
        expected = EXPECTED(n=f"{n:,}", points=f"{points:.1f}", percent=percent, count=USUAL)
        return [expected, TOO_MUCH()] if points >= 50 else [expected]

    def start(self, counts: Counts, n: int) -> State:
        return self.engine.start().document()

    def step(
        self, state: State, counts: Counts, n: int, question: Document | None = None
    ) -> tuple[State, Numbers]:
        after = self.engine.step(WatcherState.read(state), *self._query(counts))
        row = Row(LOOK(number=f"{after.asked:,}"), PASSED() if after.over else NOT_YET())
        caption = CAPTION(
            label=self.answer.question.label,
            answer=self.answer.text,
            percent=str(plain(self.percent)),
        )
        numbers = Numbers(
            tables=[Table(caption, [row])],
            method=METHOD(),
            notes=self.expected(n)[:1] if self.n_is_public else [],
            derived=[],
            n=n,
        )
        return after.document(), numbers

    def _query(self, counts: Counts) -> tuple[int, int]:
        """Return a query and its threshold, in whole numbers."""
        n, cells = sum(counts.values()), self.answer.question.channel.cells
        held = statistics.marginal(counts, 0, cells)[self.answer.place - 1]
        if self.n_is_public:
            return held, math.ceil(self.limit * n)
        return self.limit.denominator * held - self.limit.numerator * n, 0
