"""The door to raw data for trusted analysts: a statistic of their choice, computed on small random
groups of people.

The mechanism is dpengine.central.subsample. What is computed on a group sees the answers as they
are; what leaves is the private median over the groups. The privacy does not depend on what is
computed.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Self

from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central import subsample
from dpengine.central.numeric import Bounds
from dpengine.central.subsample import FEWEST, Statistic, Subsample
from surveys.messages import Message, message, plural_message
from surveys.releases.numbers import Numbers, Table
from surveys.releases.queries.base import Counts, Query
from surveys.releases.queries.parameters import (
    AnyQuestion,
    OneOf,
    OneQuestion,
    Paid,
    Question,
    Whole,
    WrongParameter,
)
from surveys.releases.queries.quantile import REACH, interval_by
from surveys.releases.queries.scored import (
    READ_OFF,
    bounds_of,
    is_number_in_clear,
    part_between,
    row,
    rows_of,
    unit_of,
)
from surveys.releases.statistics import MEAN

CORRELATION = "correlation"
STATISTICS: dict[str, tuple[Message, Statistic]] = {
    "trimmed_mean": (
        message("Mean without the lowest and highest tenth", fills="result"),
        subsample.trimmed_mean,
    ),
    "mean": (MEAN, subsample.mean),
    "mode": (message("Most common value", fills="result"), subsample.mode),
    "standard_deviation": (
        message("Standard deviation", fills="result"),
        subsample.standard_deviation,
    ),
    CORRELATION: (
        message("Correlation with a second number", fills="result"),
        subsample.correlation,
    ),
}
MAX_GROUPS = 10_000
PARTS = (Fraction(1, 3), Fraction(2, 3))  # of ε, for the median of the groups and its interval


def dealt_into(most: int) -> Whole:
    """Return the parameter of how many random groups people are dealt into."""
    return Whole(
        label=gettext_lazy("Groups"),
        help=gettext_lazy("More groups: less chance in the result, but fewer people in each."),
        least=FEWEST,
        most=most,
        initial=100,
    )


LIKELY = 0.05

MECHANISM = message(
    "subsample and aggregate, %(count)s groups, median by report noisy max, %(limits)s"
)
SENSITIVITY = message("the result of 1 group; ranks by 1 group")
EXPECTED = plural_message(
    "About %(size)s person in each group. The result named is off by at most %(ranks)s of "
    "%(count)s groups in rank, in 95 of 100 draws.",
    "About %(size)s people in each group. The result named is off by at most %(ranks)s of "
    "%(count)s groups in rank, in 95 of 100 draws.",
    number="size",
)
TOO_FEW = message("With so few groups at this ε the interval will be all that the result can be.")
RESULT = message("%(result)s, of a group")
METHOD = message(
    "People were dealt by chance into %(count)s groups; the statistic was computed on each, and "
    "the median of the results was chosen with chance added to ranks. The interval is for the "
    "typical result of a group of this size, in 95 of 100 such studies."
)
NOTES = (
    message(
        "A group in which the statistic could not be computed counts as the middle of what is "
        "possible."
    ),
    message("A statistic that is biased in small groups is as biased here."),
)


@dataclass(frozen=True)
class Trusted(Query):
    question: AnyQuestion
    statistic: Annotated[
        str,
        OneOf(
            label=gettext_lazy("Statistic"),
            options=lambda plan: {name: label for name, (label, _) in STATISTICS.items()},
        ),
    ]
    second: Annotated[
        Question | None,
        OneQuestion(
            label=gettext_lazy("Second"),
            help=gettext_lazy("For a correlation only."),
            is_required=False,
        ),
    ]
    groups: Annotated[int, dealt_into(MAX_GROUPS)]
    epsilon: Paid

    kind = "trusted"
    title = message("A statistic of raw answers, group by group", fills="title")
    sentence = gettext_lazy(
        "Computes the statistic in random groups of people, and publishes a typical result with "
        "random noise."
    )

    fits = staticmethod(is_number_in_clear)

    def settled(self) -> Self:
        if self.statistic != CORRELATION:
            return replace(self, second=None)
        names = list(self.fitting(self.plan))
        if self.second is None or self.second == self.question:
            others = ", ".join(name for name in names if name != self.question.name)
            raise WrongParameter("second", _("expected one of %(names)s") % {"names": others})
        first, second = sorted(
            (self.question, self.second), key=lambda question: names.index(question.name)
        )
        return replace(self, question=first, second=second)  # either way round

    @property
    def questions(self) -> list[Question]:
        return [self.question, self.second] if self.second else [self.question]

    @cached_property
    def engine(self) -> Subsample:
        bounds = bounds_of(self.question)  # of what the statistic can be: public
        if self.statistic == CORRELATION:
            bounds = Bounds(-1, 1)
        elif self.statistic == "standard_deviation":
            bounds = Bounds(0, bounds.width // 2 + 1)
        strength = self.strength(self.epsilon, PARTS)
        return Subsample.for_epsilon(
            strength, self.groups, bounds.least, bounds.most, self.neighbours
        )

    @property
    def mechanism(self) -> str:
        limits = interval_by(self.engine.aggregate.limits)
        return MECHANISM(count=f"{self.groups:,}", limits=limits)

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY()

    def covers(self, n: int) -> float:
        return covered_ranks(self.engine, n)

    def expected(self, n: int) -> list[str]:
        return expected_ranks(self.engine, n)

    def draw(self, counts: Counts, n: int) -> Numbers:
        label, statistic = STATISTICS[self.statistic]
        measured = self.engine.release(rows_of(self.questions, counts), statistic)
        unit = "" if self.second else unit_of(self.question)
        caption = " and ".join(question.label for question in self.questions)
        return Numbers(
            tables=[Table(caption, [row(RESULT(result=label()), measured, unit)])],
            method=METHOD(count=f"{self.groups:,}"),
            notes=[note() for note in NOTES],
            derived=[READ_OFF()],
            n=n,
        )


def covered_ranks(engine: Subsample, n: int) -> float:
    """Return how many of the groups the interval of their median is expected to hold, of all."""
    if n < engine.blocks:  # some groups are empty
        return 1.0
    return part_between(*engine.aggregate.limits.ranks(engine.blocks), engine.blocks)


def expected_ranks(engine: Subsample, n: int) -> list[str]:
    """Say how far off the median of the groups will be, for n people."""
    groups, aggregate = engine.blocks, engine.aggregate
    low, high = aggregate.limits.ranks(groups)
    expected = EXPECTED(
        size=f"{n / groups:,.0f}",
        ranks=f"{min(aggregate.off_by(LIKELY), groups):,.0f}",
        count=f"{groups:,}",
    )
    if low < 0 or high > groups:
        return [expected, TOO_FEW()]
    return [expected, REACH(low=f"{low:,.0f}", high=f"{high:,.0f}", n=f"{groups:,}")]
