"""What the next publication waits for, in every state a wave can be in."""

import datetime
from decimal import Decimal
from typing import Any

import pytest

from surveys.dashboard.progress import Progress
from surveys.design import selectors as design
from tests.surveys.dashboard.small import NOW, answer, close, open_small, publish

pytestmark = pytest.mark.django_db


def stage_after(*deeds: str, **changes: Any) -> Progress:
    plan = open_small(**changes)
    for deed in deeds:
        if deed == "publish":
            publish(plan)
        elif deed == "publish a day later":
            publish(plan, NOW + datetime.timedelta(hours=25))
        elif deed == "close":
            close(plan)
        else:
            answer(plan, int(deed))
    return Progress.of(design.plans().get(pk=plan.pk))


@pytest.mark.parametrize(
    ("deeds", "stage"),
    [
        ((), "few"),
        (("99",), "few"),
        (("100",), "soon"),
        (("100", "publish"), "few-new"),
        (("100", "publish", "100"), "next"),
        (("100", "publish", "close"), "finished"),
        (("100", "publish", "5", "close"), "too-few-new"),
        (("99", "close"), "too-few"),
        (("100", "close"), "soon"),
    ],
    ids=str,
)
def test_the_stage_says_what_the_rule_waits_for(deeds: tuple[str, ...], stage: str) -> None:
    assert stage_after(*deeds).stage == stage


@pytest.mark.parametrize(
    ("changes", "stage"),
    [
        ({"neighbours": "add-remove"}, "spent"),
        ({"cap": Decimal("0.76")}, "spent"),
        ({}, "few-new"),  # answers lose less each time
    ],
    ids=str,
)
def test_a_cap_that_cannot_pay_again_is_spent(changes: dict[str, Any], stage: str) -> None:
    deeds = ("100", "publish", "100", *(() if "cap" in changes else ("publish a day later",)))
    assert stage_after(*deeds, **changes).stage == stage


def test_a_study_that_publishes_once_waits_for_its_end() -> None:
    assert stage_after("100", rule="when-closed").stage == "until-closed"


def test_charges_are_rounded_up_and_caps_down() -> None:
    spending = stage_after("100", "publish").spending
    assert (str(spending.spent), str(spending.cap), str(spending.left)) == ("0.75", "2.00", "1.25")
    assert spending.further == 1
