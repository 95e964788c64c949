"""How many people are in each of many ranges of a number, or of many groups of choices, all at
once.

The mechanism is dpengine.central.workload: it publishes whichever counts tell the ranges with the
least error in all, so that overlapping ranges share noise and agree with each other. A number's
values are cut where a range begins or ends: what lies between two cuts is one cell.
"""

import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import msgspec
import numpy as np
from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.workload import LinearQueries
from surveys.messages import message
from surveys.releases.numbers import Numbers, Row, Table, interval_within
from surveys.releases.queries.base import Counts, Query, noise_name, plain_scale
from surveys.releases.queries.parameters import (
    ONE_CHOICE,
    AnyQuestion,
    Context,
    Paid,
    Parameter,
    Question,
    WrongParameter,
)
from surveys.releases.statistics import SPAN

MAX_RANGES = 60  # of one request
PIECE = re.compile(r"\s*(-?\d{1,11})\s*(?:(?:-|–|to|\.\.)\s*(-?\d{1,11})\s*)?")

Piece = tuple[int, int]  # the first and the last value that count
Group = tuple[Piece, ...]

MECHANISM = message("%(noise)s on %(count)s counts (%(strategy)s), scale %(scale)s")
STRATEGIES = (  # as dpengine.central.workload names them
    message("cell by cell", fills="strategy"),
    message("the queries themselves", fills="strategy"),
    message("all cells but one", fills="strategy"),
    message("optimised for Laplace noise", fills="strategy"),
    message("optimised for Gaussian noise", fills="strategy"),
    message("optimised for Gaussian noise, n known", fills="strategy"),
)
SQUARES_MOVED = message("%(count)s, L2 squared, of the strategy’s whole numbers")
COUNTS_MOVED = message("%(count)s, L1, of the strategy’s whole numbers")
EXPECTED = message("%(label)s: within ± %(width)s people, in 95 of 100 draws.")
EXPECTED_SHARE = message(
    "%(label)s: within ± %(width)s people, %(share)s of 100, in 95 of 100 draws."
)
SPAN_WITH_UNIT = message("%(least)s to %(most)s %(unit_word)s")
CAPTION = message("%(label)s: people in each range")
SHARES_CAPTION = message("%(label)s: of 100 people")
METHOD = message(
    "Chance was added, once, to the counts from which all ranges can be worked out with the least "
    "error together; the ranges were worked out by least squares. The intervals count that "
    "chance: they are for the people who answered, and hold in 95 of 100 draws."
)
BELOW_ZERO = message(
    "A range can come out below 0 or above all: that is chance, left as it is so that parts add up."
)
DERIVED = message("Every range that is a sum or difference of these.")
DERIVED_SHARES = message("The shares of 100.")


@dataclass(frozen=True, kw_only=True)
class Groups(Parameter):
    """Lines of a form, or the lists of a stored document: of each group the parts that count."""

    def field(self, context: Context) -> forms.Field:
        widget = forms.Textarea(attrs={"rows": 6})
        return forms.CharField(widget=widget, max_length=4000, **self.shown)

    def read(self, value: Any, name: str, context: Context) -> tuple[Group, ...]:
        question = context.question
        groups: list[Group] = []
        if isinstance(value, str):
            groups = [_group_of_line(line, question) for line in value.splitlines() if line.strip()]
        elif isinstance(value, list):
            groups = [_stored(group) for group in value]
        if not 1 <= len(groups) <= MAX_RANGES:
            raise WrongParameter(
                name,
                _("expected 1 to %(most)s lines, got %(got)s"),
                most=MAX_RANGES,
                got=len(groups),
            )
        if len(set(groups)) != len(groups):
            raise WrongParameter(name, _("expected lines that differ"))
        least, most = _bounds(question)
        if not all(least <= first <= last <= most for group in groups for first, last in group):
            place = 0 if question.kind == "number" else 1  # people count choices from 1
            bounds = _("%(least)s to %(most)s") % {"least": least + place, "most": most + place}
            raise WrongParameter(
                name, _("expected ranges within %(bounds)s, the smaller end first"), bounds=bounds
            )
        return tuple(groups)

    def written(self, value: tuple[Group, ...]) -> list[list[list[int]]]:
        return [[list(piece) for piece in group] for group in value]


@dataclass(frozen=True)
class Ranges(Query):
    question: AnyQuestion
    ranges: Annotated[
        tuple[Group, ...],
        Groups(
            label=gettext_lazy("Ranges"),
            help=gettext_lazy(
                "One a line, such as 18-29, or several parts with commas: 1, 3-5. For choices, "
                "their places: 1 is the first."
            ),
        ),
    ]
    epsilon: Paid

    kind = "ranges"
    title = message("People in many ranges or groups", fills="title")
    sentence = gettext_lazy(
        "How many people are in each of your ranges. Ranges may overlap. Together they are more "
        "precise than one by one, and they add up."
    )
    needs = gettext_lazy("It needs a question that is not randomised.")
    blames = "ranges"

    @staticmethod
    def fits(question: Question) -> bool:
        """Only what is sent in the clear: of others there are only reports."""
        return question.is_cleartext and question.kind in ("number", *ONE_CHOICE)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Return the first value of every cell: where a range begins, or right after one ends."""
        least, most = _bounds(self.question)
        cuts = {least}
        for first, last in (piece for group in self.ranges for piece in group):
            cuts |= {first, last + 1}
        return tuple(sorted(cut for cut in cuts if cut <= most))

    @cached_property
    def engine(self) -> LinearQueries:
        """Return the more precise noise that the cap can pay: Gaussian noise has no finite ε."""
        queries = [
            [int(any(first <= start <= last for first, last in group)) for start in self.starts]
            for group in self.ranges
        ]
        strength = self.strength(self.epsilon)
        laplace = LinearQueries.for_epsilon(strength, queries, self.neighbours)
        rho = self.rho_for(self.epsilon)
        if rho is None:
            return laplace
        gaussian = LinearQueries.for_rho(rho, queries, self.neighbours)
        return min(laplace, gaussian, key=lambda one: float(np.sum(one.standard_errors**2)))

    @property
    def mechanism(self) -> str:
        noise, strategy = self.engine.noise, self.engine.strategy
        return MECHANISM(
            noise=noise_name(noise),
            count=len(strategy.matrix),
            strategy=strategy.name,
            scale=plain_scale(noise.scale),
        )

    @property
    def sensitivity(self) -> str:
        noise = self.engine.noise
        if isinstance(noise, DiscreteGaussian):
            return SQUARES_MOVED(count=f"{noise.sensitivity_squared:,}")
        return COUNTS_MOVED(count=f"{noise.sensitivity:,}")

    @property
    def published(self) -> int:
        return 2 * len(self.ranges)

    def covers(self, n: int) -> float:
        return min(1.0, 2 * float(max(self.engine.half_widths)) / max(n, 1))

    def expected(self, n: int) -> list[str]:
        texts: list[str] = []
        for group, half in zip(self.ranges, self.engine.half_widths, strict=True):
            label, width = self._label(group), f"{half:,.1f}"
            if n and self.n_is_public:
                texts.append(
                    EXPECTED_SHARE(label=label, width=width, share=f"{100 * half / n:.1f}")
                )
            else:
                texts.append(EXPECTED(label=label, width=width))
        return texts

    def draw(self, counts: Counts, n: int) -> Numbers:
        cells = [0] * len(self.starts)
        for (value,), people in counts.items():
            cells[bisect_right(self.starts, value) - 1] += people
        rows = self._rows(self.engine.release(cells), n)
        label = self.question.label
        tables = [Table(CAPTION(label=label), rows)]
        if n and self.n_is_public:  # a share of a noisy number would be less sure than it says
            tables.append(Table(SHARES_CAPTION(label=label), [_share(row, n) for row in rows]))
        return Numbers(
            tables=tables,
            method=METHOD(),
            notes=[BELOW_ZERO()],
            derived=[DERIVED(), DERIVED_SHARES()],
            n=n,
        )

    def _rows(self, answers: list[float], n: int) -> list[Row]:
        most = float(n) if self.n_is_public else math.inf  # nobody is beyond a public n
        intervals = self.engine.intervals(answers)
        return [
            Row(
                self._label(group),
                round(answer, 6),
                *interval_within(low, high, 0.0, most),
                float(error),
                "people",
            )
            for group, answer, error, (low, high) in zip(
                self.ranges, answers, self.engine.standard_errors, intervals, strict=True
            )
        ]

    def _label(self, group: Group) -> str:
        first, *others = (_label(piece, self.question) for piece in group)
        return ", ".join([first, *others]) if others else first


def _bounds(question: Question) -> Piece:
    if question.kind == "number":
        return question.least, question.most
    return 0, len(question.choices) - 1


def _group_of_line(line: str, question: Question) -> Group:
    places = 0 if question.kind == "number" else 1  # people count choices from 1
    pieces = []
    for part in line.split(","):
        match = PIECE.fullmatch(part)
        if match is None:
            raise WrongParameter(
                "ranges", _("expected a range a line, such as 18-29, or several with commas")
            )
        first, last = int(match[1]), int(match[2] or match[1])
        pieces.append((first - places, last - places))
    return tuple(sorted(pieces))


def _stored(group: Any) -> Group:
    try:
        pieces = [(first, last) for first, last in group]
    except (TypeError, ValueError):
        raise WrongParameter("ranges", _("expected lists of pairs")) from None
    if not pieces or not all(type(end) is int for piece in pieces for end in piece):
        raise WrongParameter("ranges", _("expected pairs of whole numbers"))
    return tuple(sorted(pieces))


def _label(piece: Piece, question: Question) -> str:
    first, last = piece
    if question.kind != "number":
        choices = question.choices
        return str(choices[first]) if first == last else f"{choices[first]} to {choices[last]}"
    unit = question.unit
    if first == last:
        return f"{first} {unit}" if unit else f"{first}"
    if unit:
        return SPAN_WITH_UNIT(least=first, most=last, unit_word=unit)
    return SPAN(least=first, most=last)


def _share(row: Row, n: int) -> Row:
    """Return people as a share of all, in percent."""
    numbers = {
        name: 100 * getattr(row, name) / n for name in ("value", "low", "high", "standard_error")
    }
    return msgspec.structs.replace(row, **numbers, unit="percent")
