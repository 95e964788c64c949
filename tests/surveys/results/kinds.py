"""Studies of every kind that the registry has to tell apart, opened, answered and published as
far as they can be.
"""

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpengine.privacy import Cost
from surveys.aggregation import services as aggregation
from surveys.demo import services as demo
from surveys.design import services as design
from surveys.design.models import Plan
from surveys.ledger import services as ledger
from tests.surveys.results.small import NOW, QUESTIONS, STUDY, answer, open_small, publish

PAY: dict[str, Any] = {
    "name": "pay",
    "kind": "number",
    "text": "What do you earn?",
    "label": "Pay",
    "protection": "publication",
    "least": 0,
    "most": 9000,
    "unit": "crowns",
}
AGE: dict[str, Any] = {
    "name": "age",
    "kind": "number",
    "text": "How old?",
    "label": "Age",
    "protection": "device",
    "least": 18,
    "most": 98,
    "unit": "years",
    "wanted": "mean",
}
DELTA = "0.000001"
PEOPLE = 12


def plain() -> Plan:
    """A dozen people are enough here, and quick."""
    plan = open_small(smallest_batch=PEOPLE)
    answer(plan, PEOPLE)
    publish(plan)
    return plan


def unpublished() -> Plan:
    return open_small()


def mixed() -> Plan:
    """Answers changed on the device and one sent as given; a cap with a δ; paid for by request,
    and retiring.
    """
    changes = {
        "cap": Decimal(3),
        "cap_delta": DELTA,
        "rule": "on-request",
        "release_epsilon": Decimal("0.5"),
    }
    ends = {"retires_on": (NOW + datetime.timedelta(days=90)).date(), "results": "public"}
    plan = _open({**STUDY, **changes, **ends, "slug": "mixed"}, [*QUESTIONS, PAY])
    for number, cost in enumerate([Cost.pure(Fraction(1, 4)), Cost.concentrated(Fraction(1, 32))]):
        charge(plan, cost, number, NOW - datetime.timedelta(days=20 - 10 * number))
    return plan


def given() -> Plan:
    """Nothing is changed on the device."""
    return _open({**STUDY, "slug": "given", "rule": "on-request"}, [PAY])


def modern() -> Plan:
    """Several ticks, numbers and months changed on the device, a matrix, and a question that not
    all are asked.
    """
    matrix = {"group": "m1", "group_text": "Do you agree?"}
    of_moon = {"asked_if": "moon", "asked_if_answers": [1]}
    questions = [
        QUESTIONS[0],
        {
            "name": "why",
            "kind": "multiple",
            "text": "Why?",
            "label": "Why",
            "choices": "A\nB\nC",
            **of_moon,
        },
        {"name": "rows_a", "kind": "likert", "text": "It is far.", "label": "Far", **matrix},
        {"name": "rows_b", "kind": "likert", "text": "It is cold.", "label": "Cold", **matrix},
        AGE,
        {
            "name": "when",
            "kind": "month",
            "text": "Since when?",
            "label": "When",
            "least": 24000,
            "most": 24120,
            "wanted": "distribution",
            "protection": "device",
        },
    ]
    return _open({**STUDY, "slug": "modern", "results": "public", "follow_ups": "skip"}, questions)


def numbers() -> Plan:
    """One number, changed on the device: there are no odds between choices to show."""
    return _open({**STUDY, "slug": "numbers"}, [AGE])


def retired() -> Plan:
    plan = plain()
    design.retire(study_id=plan.study_id, because="It was time.", who="admin", now=NOW)
    aggregation.erase_retired()
    plan.study.refresh_from_db()
    return plan


def charge(plan: Plan, cost: Cost, number: int, now: datetime.datetime, part: str = "") -> None:
    assert plan.study.budget_id is not None
    ledger.charge(
        budget_ids=[plan.study.budget_id],
        cost=cost,
        statistic=f"{number:064x}",
        reason="Mean of a number: Pay",
        mechanism="discrete Laplace, scale 2",
        sensitivity="1 answer, L1",
        part=part,
        who="researcher",
        now=now,
    )


def _open(study: dict[str, Any], questions: list[dict[str, Any]]) -> Plan:
    return demo.ensure_study(study, questions, NOW - datetime.timedelta(days=30))[0]


KINDS = [plain, unpublished, mixed, given, modern, numbers, retired]
