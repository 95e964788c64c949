"""Questions whose answers are numbers, for the kinds that calculate with them: a number itself, or a choice's place."""

import math
from collections.abc import Mapping
from typing import Any

from dpengine.central.numeric import Bounds, Measured
from surveys.design import documents
from surveys.design.models import Plan
from surveys.releases.asked.base import Counts, questions_of

SCORED = ("yes_no", "likert")  # choices in an order; the first counts as 1, of yes and no as 0


def given_numbers(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return the questions whose answers are known as given and are numbers, or choices in an order, all of them."""
    found = questions_of(plan, protection="publication", kinds=("number", *SCORED))
    return {name: question for name, question in found.items() if not documents.beside(question)}


def bounds_of(question: Mapping[str, Any]) -> Bounds:
    """Return the least and the greatest number that an answer can be: public, from the Plan."""
    if question["kind"] == "number":
        return Bounds(question["least"], question["most"])
    return Bounds(_first(question), _first(question) + len(question["choices"]) - 1)


def number_of(question: Mapping[str, Any], entry: int) -> int:
    """Return the number that a report's entry stands for."""
    return entry if question["kind"] == "number" else entry + _first(question)


def unit_of(question: Mapping[str, Any]) -> str:
    return question["unit"] if question["kind"] == "number" else "points"


def rows_of(questions: list[dict[str, Any]], counts: Counts) -> list[tuple[int, ...]]:
    """Return every respondent's numbers, in no order, from joint counts."""
    return [
        tuple(number_of(question, entry) for question, entry in zip(questions, entries, strict=True))
        for entries in counts.elements()
    ]


def row(label: str, found: Measured, unit: str) -> dict[str, Any]:
    """Return a released number as a row of a table; a limit that nobody knows is None."""
    return {
        "label": label,
        "value": _plain(found.value),
        "low": _finite(found.low),
        "high": _finite(found.high),
        "standard_error": _finite(found.standard_error),
        "unit": unit,
    }


def _finite(value: float) -> float | None:
    return _plain(value) if math.isfinite(value) else None


def _plain(value: float) -> float:
    return float(f"{value:.9g}")


def _first(question: Mapping[str, Any]) -> int:
    return 0 if question["kind"] == "yes_no" else 1
