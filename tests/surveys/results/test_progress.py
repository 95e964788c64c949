"""What the next publication waits for, in every state a wave can be in."""

import datetime
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.ledger.accounts import MANY
from surveys.ledger.selectors import account_of
from surveys.results.progress import WaveProgress
from tests.surveys.ledger.small import open_budget, pay
from tests.surveys.results.small import NOW, answer, close, open_small, publish

pytestmark = pytest.mark.django_db


def stage_after(*deeds: str, **changes: Any) -> WaveProgress:
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
    return WaveProgress.of(design.plans().get(pk=plan.pk))


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
        ({"unit": "respondent-in-wave"}, "spent"),
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
    progress = stage_after("100", "publish")
    of = progress.statement
    assert (str(of.spent), str(of.cap), str(of.left)) == ("0.71", "2.00", "1.29")
    # devices reveal less than the cap in all, and nothing is charged twice
    assert progress.further == MANY


def test_what_is_spent_and_the_next_cost_have_signs_of_their_own(plan: Plan) -> None:
    """The next cost counts in ρ alone; what is spent so far is said in ε as long as it is not."""
    budget = open_budget(epsilon=3, delta=Fraction(1, 2 * 10**6))
    pay(budget, DiscreteLaplace.for_epsilon(Fraction(1, 4), 1).cost)
    account = account_of(budget)
    gaussian = DiscreteGaussian.for_rho(Fraction(1, 10), 1).cost
    progress = WaveProgress(plan, 0, account, None)
    with patch.object(WaveProgress, "next_cost", gaussian):
        assert progress.cost == "ρ 0.1000"
    of = progress.statement
    assert f"{of.measure} {of.spent} of {of.cap}" == "ε 0.25 of 3.00"
    assert re.fullmatch(r"2\.75 or ρ 0\.1\d{3} of 0\.1757", progress.left_either_way)
    with patch.object(WaveProgress, "next_cost", account.entries[0].cost):
        assert progress.cost == "0.25"
