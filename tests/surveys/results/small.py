"""A small study with made-up people, answered, swept and published the way real ones are."""

import datetime
from decimal import Decimal
from typing import Any

from surveys.aggregation import services as aggregation
from surveys.demo import services as demo
from surveys.design import services as design
from surveys.design.models import Plan
from surveys.releases import services as releases
from tests.conftest import MORE

NOW = datetime.datetime(2026, 5, 11, 12, tzinfo=datetime.UTC)
PEOPLE = 120
STUDY: dict[str, Any] = {
    "slug": "small",
    "title": "A small study",
    "organisation": "University of Aldermoor",
    "purpose": "Tries out a page.",
    "contact": "small@example.org",
    "cap": Decimal(2),
    "release_epsilon": Decimal("0.75"),
    "rule": "every",
    "hours": 24,
    "smallest_batch": 100,
    "widest": 100,  # not what is asked here
    **MORE,
    "results": "members",
}
QUESTIONS: list[dict[str, Any]] = [
    {
        "name": "moon",
        "kind": "yes_no",
        "text": "Have you been to the Moon?",
        "label": "Moon",
        "epsilon": Decimal(1),
    },
    {
        "name": "agree",
        "kind": "likert",
        "text": "I like cheese.",
        "label": "Cheese",
        "epsilon": Decimal("0.5"),
    },
]


def open_small(**changes: Any) -> Plan:
    return demo.ensure_study({**STUDY, **changes}, QUESTIONS, NOW)[0]


def answer(plan: Plan, people_count: int = PEOPLE) -> None:
    """Nobody has been to the Moon and everyone likes cheese: estimates fall below 0 and above
    100 %.
    """
    demo.answer_as_browsers(plan, [{"moon": 0, "agree": 4}] * people_count, NOW.date())
    aggregation.sweep_all(today=NOW.date())


def publish(plan: Plan, now: datetime.datetime = NOW) -> None:
    assert releases.publish_if_due(plan=plan, now=now) is not None


def close(plan: Plan) -> None:
    design.close_plan(plan_id=plan.pk, today=NOW.date())
