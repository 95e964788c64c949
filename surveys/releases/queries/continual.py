"""Shares of every question, published again and again while answers come in, and paid for on the
first day.

The rule *continual* of a Plan, {"rule": "continual", "hours": …, "horizon": T, "rho": …}: at most T
publications. Each question has a continual counter of its own (dpengine.central.counter) with an
equal part of ρ; one person's report arrives in one step and is in the tally of every question, so
the parts add up. Nobody asks: there is no form. The request names its strategy: a series goes on
as it was begun, and one whose request names none was begun with the square root.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

import msgspec
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.counter import ContinualCounter, Strategy
from dpengine.estimates import Noise
from dpengine.privacy import plain, round_up
from surveys.aggregation import selectors as aggregation
from surveys.aggregation.selectors import PublicTally
from surveys.design.models import Plan
from surveys.messages import message, plural_message
from surveys.releases.numbers import Document, NoiseLaw, Numbers
from surveys.releases.queries.base import InteractiveQuery, State
from surveys.releases.queries.parameters import (
    Context,
    Question,
    SomeQuestions,
    Unasked,
    WrongParameter,
)
from surveys.releases.queries.shares import Rho, Tallies, TallyQuery, numbers_of
from surveys.releases.statistics import RHO_PLACES, PeopleCounted, PublishedPart

COUNTER = message("continual counter, discrete Gaussian")
MECHANISM = message("continual counter, discrete Gaussian, %(count)s refreshes")
SENSITIVITY = plural_message(
    "%(count)s count by 1 in each tally, in one refresh",
    "%(count)s counts by 1 in each tally, in one refresh",
    number="count",
)
EXPECTED = message(
    "%(label)s: chance moves each count by %(width)s people on average, over %(count)s refreshes."
)
METHOD = message(
    "Chance was added once for the whole study, so that every refresh is paid for already: the "
    "counts so far are sums with noise that is shared between refreshes, and they drift less than "
    "counts with fresh noise each time. From each count the share of people was estimated; the "
    "intervals count sampling, devices and publication."
)
REFRESH = message("Refresh %(number)s of %(all)s; %(left)s more are paid for.")


@dataclass(frozen=True, slots=True)
class CountedQuestion:
    """One question, its tally, and the counter that adds it up."""

    question: Question
    tally: PublicTally
    counter: ContinualCounter

    @property
    def name(self) -> str:
        return self.tally.name

    def at(self, step: int) -> PublishedPart:
        """Return it with the law of the noise in each count at this refresh, from 1."""
        counter, noise = self.counter, self.counter.noise(step)
        law = NoiseLaw(
            name=str(COUNTER()),
            # People, of the noise before it is spread over the steps.
            scale=counter.people,
            rho=str(plain(round_up(counter.gaussian.rho, RHO_PLACES))),
            horizon=counter.horizon,
            step=step,
            standard_error=math.sqrt(noise.variance),
            known_sum=self.tally.has_known_sum(noise),
        )
        return PublishedPart(self.question, self.tally, noise, law)


@dataclass(frozen=True, kw_only=True)
class OfRule(Unasked):
    """What the rule of the Plan says."""

    def read(self, value: Any, name: str, context: Context) -> Any:
        return getattr(context.plan.content.publication, name)


@dataclass(frozen=True, kw_only=True)
class Began(Unasked):
    """The strategy that a series is begun with."""

    def read(self, value: Any, name: str, context: Context) -> Strategy:
        strategy = value or Strategy.SQUARE_ROOT
        if strategy not in list(Strategy):
            names = ", ".join(Strategy)
            raise WrongParameter(name, _("expected one of %(names)s"), names=names)
        return Strategy(strategy)

    def written(self, value: Strategy) -> str | None:
        return None if value is Strategy.SQUARE_ROOT else str(value)


@dataclass(frozen=True)
class Continual(TallyQuery, InteractiveQuery):
    """All refreshes of one Plan."""

    questions: Annotated[tuple[Question, ...], SomeQuestions()]
    epsilon: Annotated[str, OfRule()]
    rho: Annotated[str, Rho()]
    horizon: Annotated[int, OfRule()]
    strategy: Annotated[Strategy, Began()]

    kind = "continual"
    title = message("Shares of each answer, refreshed", fills="title")
    sentence = gettext_lazy(
        "The shares of every answer so far, again and again, all paid for on the first day."
    )

    @classmethod
    def can_be_asked(cls, plan: Plan) -> bool:
        """Nobody asks for it: it is a rule of the study."""
        return False

    @classmethod
    def read(cls, plan: Plan, parameters: Document) -> Self:
        rule = plan.content.publication.rule
        if rule != cls.kind:
            raise WrongParameter(
                "rule", _("expected %(kind)s, got %(got)s"), kind=cls.kind, got=rule
            )
        if not cls.fitting(plan):
            raise WrongParameter(
                "questions", _("expected one or more whose answers can be counted")
            )
        return super().read(plan, parameters)

    def settled(self) -> Self:
        if not self.rho:
            raise WrongParameter(
                "rho",
                _(
                    "expected an amount: this noise has no finite ε, so a pure cap cannot pay "
                    "for it"
                ),
            )
        return self

    @cached_property
    def parts(self) -> tuple[CountedQuestion, ...]:
        names, questions = self.names, {one.name: one for one in self.questions}
        share = Fraction(self.rho) / self.plan.content.most_asked(names)
        return tuple(
            CountedQuestion(questions[tally.name], tally, self._counter(tally, share))
            for tally in aggregation.public_tallies(self.plan)
            if tally.name in names
        )

    def _counter(self, tally: PublicTally, rho: Fraction) -> ContinualCounter:
        """Return one question's counter. What a person moves in one step enters squared."""
        moved, channel = tally.moved, tally.channel
        is_one_count = channel.is_one_count(tally.neighbours)
        return ContinualCounter.for_rho(
            rho,
            horizon=self.horizon,
            counts=moved.numbers,
            moves=moved.squared,
            signed=moved.numbers < channel.cells and not is_one_count,
            strategy=self.strategy,
        )

    @property
    def engines(self) -> Sequence[ContinualCounter]:
        """Return the counters: what the whole horizon costs is charged on the first day."""
        return [part.counter for part in self.parts]

    @property
    def tallied(self) -> list[str]:
        return [part.name for part in self.parts]

    @property
    def mechanism(self) -> str:
        return MECHANISM(count=self.horizon)

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY(count=max(part.tally.moved.l1 for part in self.parts))

    def expected(self, n: int) -> list[str]:
        return [
            EXPECTED(
                label=part.question.label,
                width=f"{part.counter.mean_absolute_error:,.1f}",
                count=self.horizon,
            )
            for part in self.parts
        ]

    def start(self, counts: Tallies, n: int) -> State:
        """Return the state before the first refresh: nothing has been drawn."""
        return {part.name: part.counter.start() for part in self.parts}

    def step(
        self, state: State, counts: Tallies, n: int, question: Document | None = None
    ) -> tuple[State, Numbers]:
        """Return the state after one more refresh and its numbers.

        Every call draws anew: keep the state that is returned.
        """
        after: State = {}
        noisy: dict[str, list[int]] = {}
        asked = self.asked(counts, n)
        for part in self.parts:
            after[part.name], drawn = part.counter.step(
                state[part.name], part.tally.vector(counts[part.name])
            )
            noisy[part.name] = part.tally.channel.noisy_counts(drawn, asked[part.name])
        taken = len(after[self.names[0]]["noisy"])
        if taken == self.horizon:
            after["over"] = True
        numbers = numbers_of(
            [part.at(taken) for part in self.parts], noisy, PeopleCounted(n), asked
        )
        left = f"{self.horizon - taken:,}"
        note = REFRESH(number=f"{taken:,}", all=f"{self.horizon:,}", left=left)
        notes = [note, *numbers.notes]
        return after, msgspec.structs.replace(numbers, method=METHOD(), notes=notes, refresh=taken)

    def noise_of(self, name: str, numbers: Numbers) -> Noise | None:
        parts = (part.at(numbers.refresh) for part in self.parts if part.name == name)
        return next((part.mechanism for part in parts), None)
