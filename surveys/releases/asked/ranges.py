"""How many people are in each of many ranges of a number, or of many groups of choices, all at once.

The mechanism is dpengine.central.workload: it publishes whichever counts tell the ranges with the least error in all,
so that overlapping ranges share noise and agree with each other. A number's values are cut where a range begins or
ends: what lies between two cuts is one cell.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.workload import LinearQueries
from dpengine.privacy import Cost, Neighbours
from surveys.design.models import Plan
from surveys.releases import statistics, words
from surveys.releases.asked.base import (
    Counts,
    EpsilonInput,
    Numbers,
    Refused,
    epsilon_of,
    epsilon_text,
    neighbours_of,
    question_field,
    question_of,
    questions_of,
)

KINDS = ("number", "yes_no", "single", "likert")
MOST = 60  # ranges of one request
PIECE = re.compile(r"\s*(-?\d{1,11})\s*(?:(?:-|–|to|\.\.)\s*(-?\d{1,11})\s*)?")
HALF_WIDTH = "95 of 100 draws"

Piece = tuple[int, int]  # the first and the last value that count
Group = tuple[Piece, ...]


@dataclass(frozen=True)
class Ranges:
    question: dict[str, Any]
    groups: tuple[Group, ...]
    epsilon: str
    mechanism_used: LinearQueries
    starts: tuple[int, ...]  # of the cells: the first value of each, rising

    kind: ClassVar[str] = "ranges"
    title: ClassVar[str | Promise] = gettext_lazy("People in many ranges or groups")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "How many gave an answer within each of your ranges. Ranges may overlap: they are answered together, more "
        "precisely than one by one, and they always add up."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        fitting = _fitting(plan)
        if not fitting:
            return None

        class RangesForm(forms.Form):
            question = question_field(fitting, label=_("Question"))
            ranges = forms.CharField(
                widget=forms.Textarea(attrs={"rows": 6}),
                max_length=4000,
                help_text=_(
                    "One a line, such as 18-29, or several parts with commas: 1, 3-5. For choices, their places: 1 "
                    "is the first."
                ),
                label=_("Ranges"),
            )
            epsilon = EpsilonInput()

        return RangesForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        question = question_of(parameters, "question", _fitting(plan), plan)
        groups = _groups(parameters.get("ranges"), question)
        epsilon = epsilon_of(parameters)
        starts = _starts(groups, *_bounds(question))
        queries = [[int(_holds(group, start)) for start in starts] for group in groups]
        try:
            mechanism = _mechanism(plan, Fraction(epsilon), queries)
        except ValueError as error:
            raise Refused("ranges", words.told(str(error))) from error
        return cls(question, groups, epsilon_text(epsilon), mechanism, starts)

    def document(self) -> dict[str, Any]:
        ranges = [[list(piece) for piece in group] for group in self.groups]
        return {"epsilon": self.epsilon, "question": self.question["name"], "ranges": ranges}

    @property
    def questions(self) -> tuple[str, ...]:
        return (self.question["name"],)

    @property
    def cost(self) -> Cost:
        return self.mechanism_used.cost

    @property
    def mechanism(self) -> str:
        noise, strategy = self.mechanism_used.noise, self.mechanism_used.strategy
        name = "discrete Gaussian" if isinstance(noise, DiscreteGaussian) else "discrete Laplace"
        return f"{name} on {len(strategy.matrix)} counts ({strategy.name}), scale {noise.scale:.6g}"

    @property
    def sensitivity(self) -> str:
        noise = self.mechanism_used.noise
        if isinstance(noise, DiscreteGaussian):
            return f"{noise.sensitivity_squared:,}, L2 squared, of the strategy’s whole numbers"
        return f"{noise.sensitivity:,}, L1, of the strategy’s whole numbers"

    def expected(self, n: int) -> list[str]:
        widths = self.mechanism_used.half_widths
        return [
            f"{self._label(group)}: within ± {width:,.1f} people{_percent(width, n)}, in {HALF_WIDTH}."
            for group, width in zip(self.groups, widths, strict=True)
        ]

    def draw(self, counts: Counts, n: int) -> Numbers:
        cells = [0] * len(self.starts)
        for (value,), people in counts.items():
            cells[bisect_right(self.starts, value) - 1] += people
        answers = self.mechanism_used.release(cells)
        rows = self._rows(answers, n)
        return {
            "tables": [
                {"caption": f"{self.question['label']}: people in each range", "rows": rows},
                *([{"caption": f"{self.question['label']}: of 100 people", "rows": _shares(rows, n)}] if n else []),
            ],
            "method": "Chance was added, once, to the counts from which all ranges can be worked out with the least "
            "error together; the ranges were worked out by least squares. The intervals count that chance: they are "
            f"for the people who answered, and hold in {HALF_WIDTH}.",
            "notes": ["A range can come out below 0 or above all: that is chance, left as it is so that parts add up."],
            "derived": ["Every range that is a sum or difference of these.", "The shares of 100."],
        }

    def _rows(self, answers: list[float], n: int) -> list[dict[str, Any]]:
        known = self.mechanism_used.neighbours is Neighbours.CHANGE_ONE  # n is public: nobody is beyond it
        rows = []
        for group, answer, error, (low, high) in zip(
            self.groups,
            answers,
            self.mechanism_used.standard_errors,
            self.mechanism_used.intervals(answers),
            strict=True,
        ):
            rows.append(
                {
                    "label": self._label(group),
                    "value": round(answer, 6),
                    "low": min(max(low, 0.0), float(n)) if known else max(low, 0.0),
                    "high": max(min(high, float(n)), 0.0) if known else max(high, 0.0),
                    "standard_error": float(error),
                    "unit": "people",
                }
            )
        return rows

    def _label(self, group: Group) -> str:
        return ", ".join(_say(piece, self.question) for piece in group)


def _fitting(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return the questions whose answers are known as given; of one changed on its device there are only reports."""
    return questions_of(plan, protection="publication", kinds=KINDS)


def _bounds(question: Mapping[str, Any]) -> Piece:
    if question["kind"] == "number":
        return question["least"], question["most"]
    return 0, len(question["choices"]) - 1


def _groups(given: Any, question: Mapping[str, Any]) -> tuple[Group, ...]:
    """Read the lines of a form, or the lists of a stored document."""
    if isinstance(given, str):
        groups = [_group_of_line(line, question) for line in given.splitlines() if line.strip()]
    elif isinstance(given, list):
        groups = [_stored(group) for group in given]
    else:
        groups = []
    if not 1 <= len(groups) <= MOST:
        raise Refused("ranges", _("expected 1 to %(most)s lines, got %(got)s") % {"most": MOST, "got": len(groups)})
    if len(set(groups)) != len(groups):
        raise Refused("ranges", _("expected lines that differ"))
    least, most = _bounds(question)
    for first, last in (piece for group in groups for piece in group):
        if not least <= first <= last <= most:
            raise Refused(
                "ranges", _("expected ranges within %(bounds)s, the smaller end first") % {"bounds": _within(question)}
            )
    return tuple(groups)


def _within(question: Mapping[str, Any]) -> str:
    least, most = _bounds(question)
    first, last = (least, most) if question["kind"] == "number" else (1, most + 1)
    return _("%(least)s to %(most)s") % {"least": first, "most": last}


def _group_of_line(line: str, question: Mapping[str, Any]) -> Group:
    places = 0 if question["kind"] == "number" else 1  # people count choices from 1
    pieces = []
    for part in line.split(","):
        found = PIECE.fullmatch(part)
        if found is None:
            raise Refused("ranges", _("expected a range a line, such as 18-29, or several with commas"))
        first, last = int(found[1]), int(found[2] or found[1])
        pieces.append((first - places, last - places))
    return tuple(sorted(pieces))


def _stored(group: Any) -> Group:
    try:
        pieces = [(first, last) for first, last in group]
    except (TypeError, ValueError):
        raise Refused("ranges", _("expected lists of pairs")) from None
    if not pieces or not all(type(end) is int for piece in pieces for end in piece):
        raise Refused("ranges", _("expected pairs of whole numbers"))
    return tuple(sorted(pieces))


def _starts(groups: tuple[Group, ...], least: int, most: int) -> tuple[int, ...]:
    """Return the first value of every cell: where a range begins, or the value after one ends."""
    cuts = {least}
    for first, last in (piece for group in groups for piece in group):
        cuts |= {first, last + 1}
    return tuple(sorted(cut for cut in cuts if cut <= most))


def _holds(group: Group, value: int) -> bool:
    return any(first <= value <= last for first, last in group)


def _mechanism(plan: Plan, epsilon: Fraction, queries: list[list[int]]) -> LinearQueries:
    """Return the more precise noise of those that the study's cap can pay for: Gaussian noise has no finite ε."""
    neighbours = neighbours_of(plan)
    laplace = LinearQueries.for_epsilon(epsilon, queries, neighbours)
    if not statistics.is_concentrated(plan):
        return laplace
    gaussian = LinearQueries.for_rho(epsilon**2 / 2, queries, neighbours)
    return min(laplace, gaussian, key=lambda mechanism: float(np.sum(mechanism.standard_errors**2)))


def _say(piece: Piece, question: Mapping[str, Any]) -> str:
    first, last = piece
    if question["kind"] == "number":
        unit = f" {question['unit']}" if question.get("unit") else ""
        return (f"{first}" if first == last else f"{first} to {last}") + unit
    choices = question["choices"]
    return choices[first] if first == last else f"{choices[first]} to {choices[last]}"


def _percent(width: float, n: int) -> str:
    return f", {100 * width / n:.1f} of 100" if n else ""


def _shares(rows: list[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    numbers = ("value", "low", "high", "standard_error")
    return [{**row, **{name: 100 * row[name] / n for name in numbers}, "unit": "percent"} for row in rows]
