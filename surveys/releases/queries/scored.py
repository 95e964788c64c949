"""Questions whose answers are numbers, or the places of choices, to calculate with."""

import math
from collections.abc import Sequence

from dpengine.central.numeric import Bounds, Measured
from surveys.messages import message
from surveys.releases.numbers import Row
from surveys.releases.queries.base import Counts
from surveys.releases.queries.parameters import Question

SCORED = ("yes_no", "likert")  # choices in an order; the first counts as 1, of yes and no as 0

CLAMPED = message("Answers beyond the question’s bounds count as the nearest bound.")
READ_OFF = message("The standard error is read off the interval.")


def is_number_in_clear(question: Question) -> bool:
    """Tell whether everyone answers in the clear, by a number or an ordered choice."""
    is_scored = question.kind in ("number", *SCORED)
    return question.is_cleartext and is_scored and not question.beside


def bounds_of(question: Question) -> Bounds:
    """Return the least and the greatest number that an answer can be: public, from the Plan."""
    if question.kind == "number":
        return Bounds(question.least, question.most)
    return Bounds(_first(question), _first(question) + len(question.choices) - 1)


def number_of(question: Question, entry: int) -> int:
    """Return the number that a report's entry stands for."""
    return entry if question.kind == "number" else entry + _first(question)


def unit_of(question: Question) -> str:
    return str(question.unit) if question.kind == "number" else "points"


def rows_of(questions: Sequence[Question], counts: Counts) -> list[tuple[int, ...]]:
    """Return every respondent's numbers, in no order, from joint counts."""
    return [
        tuple(
            number_of(question, entry) for question, entry in zip(questions, entries, strict=True)
        )
        for entries in counts.elements()
    ]


def values_of(question: Question, counts: Counts) -> list[int]:
    """Return every respondent's number, in no order."""
    return [value for (value,) in rows_of([question], counts)]


def part_between(low: float, high: float, n: int) -> float:
    """Return how much of n people, or groups, lies between two ranks."""
    return (min(high, n) - max(low, 0)) / n if n else 1.0


def row(label: str, measured: Measured, unit: str) -> Row:
    """Return a released number as a row, to nine digits; a limit that nobody knows is None."""
    low, high, error = (
        float(f"{value:.9g}") if math.isfinite(value) else None
        for value in (measured.low, measured.high, measured.standard_error)
    )
    return Row(label, float(f"{measured.value:.9g}"), low, high, error, unit)


def _first(question: Question) -> int:
    return 0 if question.kind == "yes_no" else 1
