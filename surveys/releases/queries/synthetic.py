"""A synthetic data set: made-up people with the columns of the real ones, to try analyses on.

The mechanism is dpengine.central.synopsis: noisy tables of every column and of chosen pairs, and
rows drawn from them. Only questions whose answers are sent as given can be columns: of one that is
changed on its device there are only reports, and rows of made-up reports would be taken for
answers.
"""

import math
from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Self

from django.utils.translation import gettext_lazy

from dpengine.central import counts as tallies, synopsis
from dpengine.central.graphical import Columns
from dpengine.central.marginals import MAX_COLUMNS, ROUNDS, Marginal, Marginals
from dpengine.central.synopsis import Fit
from surveys.messages import Message, message, plural_message
from surveys.releases.numbers import Numbers, Row, Table, interval_within
from surveys.releases.queries.base import Counts, Query, noise_name
from surveys.releases.queries.parameters import (
    Epsilon,
    Question,
    SomeQuestions,
    Whole,
)
from surveys.releases.statistics import SPAN

MIN_BINS, USUAL_BINS, MAX_BINS = 2, 10, 50

MECHANISM = message("%(noise)s on %(count)s tables, synthetic rows drawn from them")
MECHANISM_CHOOSING = message(
    "%(noise)s on the tables of %(count)s columns and of chosen pairs (%(law)s), synthetic rows "
    "drawn from them"
)
SENSITIVITY = plural_message(
    "%(count)s count by 1 in each table", "%(count)s counts by 1 in each table", number="count"
)
SENSITIVITY_CHOOSING = plural_message(
    "%(count)s count by 1 in each table, scores of pairs by %(apart)s from each other",
    "%(count)s counts by 1 in each table, scores of pairs by %(apart)s from each other",
    number="count",
)
EXPECTED = message(
    "%(label)s: chance moves each of its %(cells)s counts by %(width)s people on average."
)
EXPECTED_SHARE = message(
    "%(label)s: chance moves each of its %(cells)s counts by %(width)s people on average, "
    "%(share)s of 100."
)
PAIRS = message(
    "Pairs of columns, at most %(most)s, are chosen one after another, each the pair of which "
    "the tables before it say least: chance moves each of their counts by %(width)s people "
    "on average, or less."
)
NOT_KEPT = message(
    "What three columns do together is not kept: use this to try an analysis, not to conclude."
)
NOISE = message("Chance in each published count, on average", fills="errors")
DISTANCE = message("Synthetic count from published count, on average", fills="errors")
ERRORS = message("%(errors)s, in each table")
COUNTS = message("%(label)s: published counts")
METHOD = message(
    "Chance was added to the counts of every column, and of pairs of columns that were chosen, by "
    "chance too, one after another: each the one that the tables before it told the least about. "
    "The synthetic people were drawn from these counts alone: the distribution that fits them best "
    "and is otherwise as even as can be. Intervals are for the people who answered, and hold in "
    "95 of 100 draws."
)
NEARER = message(
    "A synthetic count is no farther from the true one than both errors together, on average."
)
THREE = message("What three columns do together is not in it.")
NO_TABLE = message(
    "Pairs of columns that have no table here go together only as far as the tables between them "
    "say."
)
DERIVED = message("The synthetic people, and whatever is worked out from them.")


@dataclass(frozen=True)
class Synthetic(Query):
    questions: Annotated[
        tuple[Question, ...],
        SomeQuestions(
            label=gettext_lazy("Columns"),
            at_most=MAX_COLUMNS,
        ),
    ]
    bins: Annotated[
        int,
        Whole(
            label=gettext_lazy("Ranges that a number is cut into"),
            help=gettext_lazy(
                "Fewer ranges: less error in each. Within a range all values are made alike."
            ),
            least=MIN_BINS,
            most=MAX_BINS,
            initial=USUAL_BINS,
        ),
    ]
    epsilon: Annotated[
        Decimal,
        Epsilon(help=gettext_lazy("A fifth for the columns, the rest for pairs of columns.")),
    ]

    kind = "synthetic"
    title = message("A synthetic data set", fills="title")
    sentence = gettext_lazy(
        "A file of synthetic people with the columns you choose. Each column, and the most "
        "related pairs, are like the real ones, up to a stated error."
    )
    needs = gettext_lazy("It needs questions that are not randomised.")

    @staticmethod
    def fits(question: Question) -> bool:
        return question.is_cleartext

    def settled(self) -> Self:
        """Where nothing is cut, any number of ranges is the same request."""
        has_numbers = any(question.kind == "number" for question in self.questions)
        return self if has_numbers else replace(self, bins=USUAL_BINS)

    @cached_property
    def cuts(self) -> tuple[tuple[range, ...], ...]:
        """Return the values of each cell of each column."""
        return tuple(_cuts(question, self.bins) for question in self.questions)

    @cached_property
    def engine(self) -> Marginals:
        sizes = [len(cut) for cut in self.cuts]
        if rho := self.rho_for(self.epsilon):
            return Marginals.for_rho(rho, sizes, self.neighbours)
        return Marginals.for_epsilon(self.strength(self.epsilon), sizes, self.neighbours)

    @property
    def mechanism(self) -> str:
        engine = self.engine
        tables = [*engine.singles, *engine.first_pairs]
        names = sorted({noise_name(table.choice.mechanism) for table in tables})
        noise = " and ".join(names)
        if engine.selection is None:
            return MECHANISM(noise=noise, count=len(tables))
        return MECHANISM_CHOOSING(
            noise=noise, count=len(engine.singles), law=engine.selection.law.value
        )

    @property
    def sensitivity(self) -> str:
        engine = self.engine
        tables = [*engine.singles, *engine.first_pairs]
        most = max(table.choice.tallies[0].moved for table in tables)
        if engine.selection is None:
            return SENSITIVITY(count=most)
        return SENSITIVITY_CHOOSING(count=most, apart=engine.selection.spread)

    @property
    def published(self) -> int:
        columns = sum(len(cut) for cut in self.cuts)
        return 2 * (len(self.cuts) + self._most_pairs) + columns

    @property
    def _most_pairs(self) -> int:
        return min(len(self.engine.pairs), ROUNDS * len(self.cuts))

    def covers(self, n: int) -> float:
        reach = max(tallies.largest_error(one.choice.mechanism, 1) for one in self.engine.singles)
        return min(1.0, 2 * reach / max(n, 1))

    def expected(self, n: int) -> list[str]:
        engine, texts = self.engine, list[str]()
        known = engine.singles if engine.selection else [*engine.singles, *engine.first_pairs]
        for table in known:
            parts = {
                "label": self._label(table.columns),
                "cells": f"{table.cells:,}",
                "width": f"{table.noise:,.1f}",
            }
            share = f"{100 * table.noise / n:.1f}" if n else ""
            texts.append(EXPECTED_SHARE(**parts, share=share) if n else EXPECTED(**parts))
        if engine.selection:
            width = max(table.noise for table in engine.first_pairs)
            texts.append(PAIRS(most=self._most_pairs, width=f"{width:,.1f}"))
        return [*texts, NOT_KEPT()]

    def draw(self, counts: Counts, n: int) -> Numbers:
        cells: Counter[tuple[int, ...]] = Counter()
        for values, people in counts.items():
            columns = zip(values, self.cuts, strict=True)
            cells[tuple((value - cut[0].start) // len(cut[0]) for value, cut in columns)] += people
        drawn = synopsis.draw(self.engine, cells)
        tables = [
            self._errors(NOISE, [(fit, fit.noise) for fit in drawn.fits]),
            self._errors(DISTANCE, [(fit, fit.distance) for fit in drawn.fits]),
        ]
        for table, fit in zip(self.engine.singles, drawn.fits, strict=False):
            tables.append(self._counts(table, fit))
        notes = [NEARER(), THREE()]
        if len(drawn.fits) < len(self.cuts) + len(self.engine.pairs):
            notes.append(NO_TABLE())
        rows = synopsis.filled(drawn.rows, self.cuts)
        return Numbers(
            tables=tables,
            method=METHOD(),
            notes=notes,
            derived=[DERIVED()],
            columns=list(self.names),
            people=[[*self._texts(values), people] for values, people in sorted(rows.items())],
            n=n,
        )

    def _texts(self, values: tuple[int, ...]) -> list[int | str]:
        """Return what a row of the file says: a number, or the text of a choice."""
        return [
            question.choices[value] if question.choices else value
            for question, value in zip(self.questions, values, strict=True)
        ]

    def _label(self, columns: Columns) -> str:
        return " × ".join(self.questions[column].label for column in columns)

    def _errors(self, which: Message, errors: list[tuple[Fit, float]]) -> Table:
        rows = [Row(self._label(fit.columns), float(error), unit="people") for fit, error in errors]
        return Table(ERRORS(errors=which()), rows)

    def _counts(self, table: Marginal, fit: Fit) -> Table:
        """Return one column's published counts, with intervals."""
        (column,) = table.columns
        noise, question = table.choice.mechanism, self.questions[column]
        reach, error = tallies.largest_error(noise, 1), math.sqrt(noise.variance)
        rows = [
            Row(
                _span(question, values),
                round(noisy),
                *interval_within(noisy - reach, noisy + reach, 0, math.inf),
                error,
                "people",
            )
            for values, noisy in zip(self.cuts[column], fit.noisy, strict=True)
        ]
        return Table(COUNTS(label=question.label), rows)


def _cuts(question: Question, bins: int) -> tuple[range, ...]:
    """Return the values of each cell: one choice, or one of a number's equal ranges."""
    if question.kind != "number":
        return tuple(range(choice, choice + 1) for choice in range(len(question.choices)))
    least, end = question.least, question.most + 1
    width = -(-(end - least) // bins)
    return tuple(range(start, min(start + width, end)) for start in range(least, end, width))


def _span(question: Question, values: range) -> str:
    if question.choices:
        return str(question.choices[values[0]])
    if len(values) == 1:
        return f"{values[0]}"
    return SPAN(least=values[0], most=values[-1])
