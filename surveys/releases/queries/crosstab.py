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

from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central import counts as tallies
from dpengine.central.counts import Choice, Mechanism, Tally
from surveys.aggregation import crosstabs
from surveys.messages import message
from surveys.releases.numbers import Numbers, Row, Table
from surveys.releases.queries.base import Counts, Query, noise_name, rho_at
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
SENSITIVITY = message("%(count)s counts of pairs by 1 each")
EXPECTED = message(
    "Each share of all people within ± %(half)s points, in 95 of 100 such studies; in a plain "
    "survey of as many people, ± %(part)s at most."
)
WHY = (  # as dpengine.central.counts says it
    message("None: devices added what chance is wanted."),
    message("Laplace: the budget is pure, and Gaussian noise always needs a δ."),
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
        "answer within a group: of those who said one thing, how many said the other."
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
        """Return Laplace noise, or where the study pays in ρ the more precise noise at ρ = ε²/2."""
        if self.is_concentrated:
            return tallies.for_rho([self.tally], rho_at(self.epsilon))
        return tallies.for_epsilon([self.tally], self.noise_for(self.epsilon))

    @property
    def engine(self) -> Mechanism:
        return self.choice.mechanism

    @property
    def mechanism(self) -> str:
        if not self.engine.scale:
            return WITHOUT_NOISE(count=self.tally.published)
        return MECHANISM(
            noise=noise_name(self.engine),
            scale=f"{self.engine.scale:.6g}",
            count=self.tally.published,
        )

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY(count=self.tally.moved)

    @property
    def published(self) -> int:
        return 2 * self.cells

    def expected(self, n: int) -> list[str]:
        nothing = [[0] * self.sides[1].features] * self.sides[0].features
        empty = crosstabs.Table.of(nothing, *self.sides, self.engine, max(n, 1))
        wide = 100 * HALF_WIDTH * empty.even_error()
        plain = 50 * HALF_WIDTH / math.sqrt(max(n, 1))
        expected = EXPECTED(half=f"{wide:.1f}", part=f"{plain:.1f}")
        texts = [expected, f"{self.choice.why}."]
        return texts if wide < 50 else [*texts, TOO_FEW()]

    def draw(self, counts: Counts, n: int) -> Numbers:
        flat = [count for row in crosstabs.together(counts, *self.sides) for count in row]
        (noisy,) = self.choice.release([flat], n)
        width = self.sides[1].features
        rows = [noisy[start : start + width] for start in range(0, len(noisy), width)]
        table = self._table(rows, n)
        groups = range(len(self.within.choices))
        return Numbers(
            tables=[self._all(table), *(self._within(table, group) for group in groups)],
            method=METHOD() if self.engine.scale else METHOD_WITHOUT_NOISE(),
            notes=[] if table.known else [N_ESTIMATED()],
            derived=[FREE()],
            noisy_counts=table.noisy.astype(int).tolist(),
            n=n,
        )

    def table_of(self, numbers: Numbers) -> crosstabs.Table | None:
        """Return the table that was published, from its noisy counts."""
        if not numbers.noisy_counts:
            return None
        return self._table(numbers.noisy_counts, numbers.n)

    def _table(self, noisy: Sequence[Sequence[int]], n: int) -> crosstabs.Table:
        public = max(n, 1) if self.n_is_public else None
        return crosstabs.Table.of(noisy, *self.sides, self.engine, public)

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
        return Table(CAPTION(label=self.rows.label, other=self.within.label), rows)

    def _within(self, table: crosstabs.Table, group: int) -> Table:
        rows = []
        for answer, label in enumerate(self.rows.choices):
            share = table.within(answer, group)
            value = TOO_FEW_TO_SAY() if share.value is None else 100 * share.value
            error = None if share.standard_error is None else 100 * share.standard_error
            rows.append(Row(label, value, 100 * share.low, 100 * share.high, error, "percent"))
        caption = WITHIN_CAPTION(
            label=self.rows.label,
            other=self.within.label,
            group=self.within.choices[group],
        )
        return Table(caption, rows)
