"""A study on request: answers changed on the device beside answers sent as given; and one with a
cap that has a δ.
"""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from surveys.aggregation import services as aggregation
from surveys.demo.services import answer_as_browsers, ensure_study
from surveys.design import services as design
from surveys.design.models import Plan
from tests.conftest import MORE

NOW = datetime.datetime(2026, 5, 11, 12, tzinfo=datetime.UTC)
PEOPLE = 60
STUDY: dict[str, Any] = {
    "slug": "on-request",
    "title": "On request",
    "organisation": "Brightwater College",
    "purpose": "To try out what can be asked.",
    "contact": "asks@example.org",
    "cap": Decimal(2),
    "release_epsilon": Decimal(1),
    "smallest_batch": 10,
    "widest": 100,  # not what is asked here
    "rule": "on-request",
    **MORE,
}
QUESTIONS: list[dict[str, Any]] = [
    {"name": "copied", "kind": "yes_no", "text": "Have you copied in an exam?", "label": "Copied"},
    {
        "name": "year",
        "kind": "single",
        "protection": "publication",
        "text": "Which year are you in?",
        "label": "Year",
        "choices": "First\nSecond\nThird",
    },
    {
        "name": "hours",
        "kind": "number",
        "protection": "publication",
        "text": "How many hours a week do you study?",
        "label": "Hours",
        "least": 0,
        "most": 80,
        "unit": "hours",
    },
]


def open_asked(*, people: int = PEOPLE, **changes: Any) -> Plan:
    """Return an open study that so many people have answered, their answers sealed."""
    plan, _ = ensure_study({**STUDY, **changes}, QUESTIONS, NOW)
    answer(plan, people)
    return plan


def answer(plan: Plan, people: int) -> None:
    truths = [
        {"copied": int(i % 3 == 0), "year": i % 3, "hours": 20 + i % 20} for i in range(people)
    ]
    answer_as_browsers(plan, truths, NOW.date())
    aggregation.sweep_all(today=NOW.date())


def close(plan: Plan) -> Plan:
    closed = design.close_plan(plan_id=plan.pk, today=NOW.date())
    aggregation.sweep_all(today=NOW.date())
    return closed


@pytest.fixture
def opened(db: None) -> Callable[..., Plan]:
    return open_asked


@pytest.fixture
def asked(db: None) -> Plan:
    """A pure study: cap ε 2, at most 1 a request."""
    return open_asked()
