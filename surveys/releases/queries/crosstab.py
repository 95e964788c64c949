"""A table of two questions: how many people gave each pair of answers, and, free, the shares within
each group.

Noise goes on the counts of pairs of reports (dpengine.central.counts chooses which, and says why);
people are estimated from the noisy counts by surveys.aggregation.crosstabs, through the odds of
both questions' devices.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Self

import numpy as np
from django.utils.translation import gettext as _, gettext_lazy
from msgspec import structs

from dpengine.central import counts as tallies
from dpengine.central.counts import Choice, Mechanism, Tally
from dpengine.estimates import KnownSum, Noise, with_known_sum
from surveys.aggregation import contrasts, crosstabs, weighting
from surveys.messages import Text, message, plural_message
from surveys.releases.numbers import Numbers, Row, Table
from surveys.releases.queries.base import KNOWN_SUM, Counts, Query, noise_name, plain_scale
from surveys.releases.queries.parameters import (
    ONE_CHOICE,
    AnyQuestion,
    OneQuestion,
    Paid,
    Question,
    WrongParameter,
)

MAX_CELLS = 400  # of the table that is shown
HALF_WIDTH = 1.96  # standard errors on each side of 95 of 100

MECHANISM = message("%(noise)s, scale %(scale)s, %(count)s counts")
WITHOUT_NOISE = message("no noise, %(count)s counts")
SENSITIVITY = plural_message(
    "%(count)s count of a pair by 1", "%(count)s counts of pairs by 1 each", number="count"
)
EXPECTED = message(
    "Each share of all people within ± %(half)s points, in 95 of 100 such studies; in a plain "
    "survey of as many people, ± %(part)s at most."
)
WHY = (  # as dpengine.central.counts says it
    message("None is needed: the devices added enough."),
    message("Laplace: the budget is pure, and Gaussian noise always needs a δ."),
    message("Laplace: it counts in ε too, as Gaussian noise would not."),
    message(
        "Laplace: the smaller standard error of a count at this cost (%(scale)s for Laplace "
        "noise, %(other_scale)s for Gaussian)."
    ),
    message(
        "Gaussian: the smaller standard error of a count at this cost (%(scale)s for Laplace "
        "noise, %(other_scale)s for Gaussian)."
    ),
)
TOO_FEW = message("So few answers, or so small a cost, tell nothing: no table should be asked for.")
CAPTION = message("%(label)s and %(other)s: shares of all people")
WITHIN_CAPTION = message("%(label)s, among those with %(other)s: %(group)s")
TOO_FEW_TO_SAY = message("too few to say")
METHOD = message(
    "Chance was added once to the counts of pairs of reports. From them the shares of people were "
    "estimated through the odds of both questions' devices; estimates can fall below 0. Intervals "
    "hold in 95 of 100 studies, each cell on its own, and count sampling, devices and publication."
)
METHOD_OF_CLEARTEXT = message(
    "Chance was added once to the counts of pairs of answers. The shares of people follow from "
    "them; they can fall below 0. Intervals hold in 95 of 100 studies, each cell on its own, and "
    "count sampling and publication."
)
METHOD_OF_ONE_DEVICE = message(
    "Chance was added once to the counts of pairs of reports. From them the shares of people were "
    "estimated through the odds of the devices, which changed the answers to one of the two "
    "questions; estimates can fall below 0. Intervals hold in 95 of 100 studies, each cell on its "
    "own, and count sampling, devices and publication."
)
METHOD_WITHOUT_NOISE = message(
    "Nothing was added to the counts of pairs of reports: all that is published here can give away "
    "no more than the devices already allowed. From them the shares of people were estimated "
    "through the odds of both questions' devices; estimates can fall below 0. Intervals hold in 95 "
    "of 100 studies, each cell on its own, and count sampling and devices."
)
N_ESTIMATED = message(
    "How many answered is not public here: n was estimated from the noisy counts."
)
FREE = message(
    "Shares within each group follow from the same numbers and cost nothing more (Fieller's "
    "intervals)."
)
IN_GROUPS = message("%(label)s: %(answer)s, in each group")
DRAWN = message("%(label)s, drawn towards the mean of all groups")
WEIGHTED_CAPTION = message("%(label)s, weighted by %(other)s")
WEIGHTED = message("%(label)s, weighted to the population")
MEAN_CAPTION = message("%(label)s, weighted by %(other)s: mean of its points")
MEAN = message("Mean")
DRAWN_FREE = message(
    "Shares drawn towards the mean of all groups, the less is known of a group the more (empirical "
    "Bayes), follow from the same numbers and cost nothing: on average over the groups they are "
    "nearer to the truth, and their intervals hold in 95 of 100; but they can hide a single group "
    "that really differs."
)


@dataclass(frozen=True)
class Crosstab(Query):
    rows: AnyQuestion
    within: Annotated[
        Question, OneQuestion(label=gettext_lazy("Among those who answered"), starts_at=1)
    ]
    epsilon: Paid

    kind = "crosstab"
    title = message("Table of two questions", fills="title")
    sentence = gettext_lazy(
        "How many people gave each pair of answers to two questions, and so the share of an "
        "answer within each group."
    )
    needs = gettext_lazy("It needs two questions with choices.")
    fewest = 2

    @staticmethod
    def fits(question: Question) -> bool:
        return question.kind in ONE_CHOICE

    def settled(self) -> Self:
        if self.rows == self.within:
            raise WrongParameter("within", _("expected another question than the first"))
        if self.cells > MAX_CELLS:
            raise WrongParameter(
                "within",
                _("expected two questions with at most %(most)s pairs of answers"),
                most=MAX_CELLS,
            )
        return self

    @cached_property
    def sides(self) -> tuple[crosstabs.Side, crosstabs.Side]:
        return self.rows.channel.features(), self.within.channel.features()

    @property
    def cells(self) -> int:
        return len(self.rows.choices) * len(self.within.choices)

    @cached_property
    def tally(self) -> Tally:
        left, right = self.sides
        return Tally(left.features * right.features, self.neighbours, left.held * right.held)

    @cached_property
    def choice(self) -> Choice:
        """Return Laplace noise, or where the study pays in ρ the more precise noise."""
        if rho := self.rho_for(self.epsilon):
            return tallies.for_rho([self.tally], rho)
        noise, has_delta = self.noise_for(self.epsilon), self.plan.content.is_concentrated
        return tallies.for_epsilon([self.tally], noise, has_delta=has_delta)

    @property
    def engine(self) -> Mechanism:
        return self.choice.mechanism

    @cached_property
    def noise_left(self) -> Noise:
        """Return the law of the noise in counts once they have the sum that is public."""
        return with_known_sum(self.engine, self.tally.cells) if self.n_is_public else self.engine

    @property
    def mechanism(self) -> str:
        if not self.engine.scale:
            return WITHOUT_NOISE(count=self.tally.published)
        return MECHANISM(
            noise=noise_name(self.engine),
            scale=plain_scale(self.engine.scale),
            count=self.tally.published,
        )

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY(count=self.tally.moved)

    @property
    def published(self) -> int:
        return 2 * self.cells

    def covers(self, n: int) -> float:
        return min(1.0, 2 * self._half(n))

    def _half(self, n: int) -> float:
        nothing = [[0] * self.sides[1].features] * self.sides[0].features
        empty = crosstabs.Table.of(nothing, *self.sides, self.noise_left, max(n, 1))
        return float(HALF_WIDTH * empty.even_error())

    def expected(self, n: int) -> list[str]:
        wide = 100 * self._half(n)
        plain = 50 * HALF_WIDTH / math.sqrt(max(n, 1))
        expected = EXPECTED(half=f"{wide:.1f}", part=f"{plain:.1f}")
        texts = [expected, f"{self.choice.why}."]
        return texts if wide < 50 else [*texts, TOO_FEW()]

    def draw(self, counts: Counts, n: int) -> Numbers:
        flat = [count for row in crosstabs.together(counts, *self.sides) for count in row]
        (noisy,) = self.choice.release([flat], n)
        width = self.sides[1].features
        rows = [noisy[start : start + width] for start in range(0, len(noisy), width)]
        table = self._table(rows, n, self.noise_left)
        is_known = isinstance(table.noise, KnownSum)
        groups = range(len(self.within.choices))
        return Numbers(
            tables=[self._all(table), *(self._within(table, group) for group in groups)],
            method=self._method,
            notes=[KNOWN_SUM()] if is_known else [] if table.known else [N_ESTIMATED()],
            derived=[FREE()],
            noisy_counts=rows,
            known_sum=is_known,
            n=n,
        )

    @property
    def _method(self) -> Text:
        if not self.engine.scale:
            return METHOD_WITHOUT_NOISE()
        given = sum(question.is_cleartext for question in (self.rows, self.within))
        return (METHOD, METHOD_OF_ONE_DEVICE, METHOD_OF_CLEARTEXT)[given]()

    def table_of(self, numbers: Numbers) -> crosstabs.Table | None:
        """Return the table that was published, from its noisy counts."""
        if not numbers.noisy_counts:
            return None
        noise = self.noise_left if numbers.known_sum else self.engine
        return self._table(numbers.noisy_counts, numbers.n, noise)

    def shown(self, numbers: Numbers) -> Numbers:
        """Return it with each share within a group drawn towards the mean of all groups beside."""
        table = self.table_of(numbers)
        if table is None:
            return numbers
        drawn = [contrasts.towards_mean(table, answer) for answer in range(len(self.rows.choices))]
        if not any(drawn):
            return numbers
        whole, *groups = numbers.tables
        tables = [
            structs.replace(each, rows=_beside(each.rows, [of.get(group) for of in drawn]))
            for group, each in enumerate(groups)
        ]
        derived = [*numbers.derived, DRAWN_FREE()]
        return structs.replace(numbers, tables=[whole, *tables], derived=derived)

    def in_groups(self, numbers: Numbers, answer: int) -> Table | None:
        """Return the share of an answer in every group, drawn towards their mean beside; None
        where nothing is drawn.
        """
        table, names = self.table_of(numbers), self.within.choices
        drawn = contrasts.towards_mean(table, answer) if table else {}
        if not drawn:
            return None
        rows = [
            structs.replace(group.rows[answer], label=name)
            for name, group in zip(names, numbers.tables[1:], strict=True)
        ]
        caption = IN_GROUPS(label=self.rows.label, answer=self.rows.choices[answer])
        return Table(caption, _beside(rows, [drawn.get(group) for group in range(len(names))]))

    def weighted(
        self, numbers: Numbers, answers: Sequence[int], population: weighting.Population
    ) -> list[Table]:
        """Return the shares of some answers, and beside them weighted to the population's known
        shares of the groups.
        """
        table, names = self.table_of(numbers), self._names
        if table is None:
            return []
        rows = []
        for answer in answers:
            label = self.rows.choices[answer]
            plain = weighting.plain_share(table, answer)
            beside = weighting.weighted_share(table, answer, population)
            rows += [_row(label, plain), _row(WEIGHTED(label=label), beside)]
        tables = [Table(WEIGHTED_CAPTION(**names), rows)]
        if self.rows.kind == "likert":
            points = len(self.rows.choices) - self.rows.beside
            scores = np.linspace(0, 1, points)
            plain = weighting.plain_mean(table, scores)
            beside = weighting.weighted_mean(table, scores, population)
            scale = 1, points - 1, "points"  # which counts from 1
            rows = [_row(MEAN(), plain, *scale), _row(WEIGHTED(label=MEAN()), beside, *scale)]
            tables.append(Table(MEAN_CAPTION(**names), rows))
        return tables

    @property
    def _names(self) -> dict[str, str]:
        return {"label": self.rows.label, "other": self.within.label}

    def _table(self, noisy: Sequence[Sequence[int]], n: int, noise: Noise) -> crosstabs.Table:
        public = max(n, 1) if self.n_is_public else None
        return crosstabs.Table.of(noisy, *self.sides, noise, public)

    def _all(self, table: crosstabs.Table) -> Table:
        errors, intervals, shares = table.standard_errors, table.intervals(), table.shares
        rows = [
            Row(
                f"{one}, {other}",
                100 * float(shares[a, b]),
                100 * intervals[a][b][0],
                100 * intervals[a][b][1],
                100 * float(errors[a, b]),
                "percent",
            )
            for a, one in enumerate(self.rows.choices)
            for b, other in enumerate(self.within.choices)
        ]
        return Table(CAPTION(**self._names), rows)

    def _within(self, table: crosstabs.Table, group: int) -> Table:
        rows = [
            _row(label, table.within(answer, group))
            for answer, label in enumerate(self.rows.choices)
        ]
        return Table(WITHIN_CAPTION(**self._names, group=self.within.choices[group]), rows)


def _row(
    label: str, of: crosstabs.Within, first: int = 0, span: int = 100, unit: str = "percent"
) -> Row:
    """Return a share in percent, or a mean from 0 to 1 on a scale of so many points."""
    value = TOO_FEW_TO_SAY() if of.value is None else first + span * of.value
    error = None if of.standard_error is None else span * of.standard_error
    return Row(label, value, first + span * of.low, first + span * of.high, error, unit)


def _beside(rows: Sequence[Row], drawn: Sequence[contrasts.Shrunk | None]) -> list[Row]:
    """Return every row, and below it the same number drawn towards the mean, where there is one."""
    beside = []
    for row, one in zip(rows, drawn, strict=True):
        beside.append(row)
        if one is not None:
            value, low, high = 100 * one.value, 100 * one.low, 100 * one.high
            error = 100 * one.standard_error
            beside.append(Row(DRAWN(label=row.label), value, low, high, error, "percent"))
    return beside
