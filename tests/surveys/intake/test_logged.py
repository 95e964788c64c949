"""By way of a log: nothing that was answered 202 is lost, counted twice, or counted after a close."""

import datetime
import json
import threading

import pytest
from django.db import OperationalError

from surveys.aggregation import selectors as aggregation
from surveys.aggregation.services import sweep_plan
from surveys.design import services as design
from surveys.encryption import CannotOpen
from surveys.intake import broker, group, logged, posts
from surveys.intake.broker import Line
from surveys.intake.models import Lane, OpenReport, Receipt
from surveys.intake.services import accept
from tests.brokers import PARTITIONS, cluster, standing
from tests.conftest import NOW, STUDY, TODAY
from tests.patience import became
from tests.surveys.intake.test_reports import body, post

ASK = "/api/v1/studies/exam-honesty/verdicts"


@pytest.fixture(scope="module")
def servers():
    with cluster() as addresses:
        yield addresses


@pytest.fixture
def topic(servers, settings, request):
    """A topic of this test's own."""
    name = request.node.name.replace("[", "-").replace("]", "")[:80]
    settings.REPORTS_LOG = f"kafka://{servers}/{name}"
    broker.topic.cache_clear()
    yield name
    broker.topic.cache_clear()


@pytest.fixture
def stands(servers, topic):
    """What stands in the log of this test, from a place on."""
    return lambda: [Line(each.partition(), each.value()) for each in standing(servers, topic)]


def report(plan, number, **more):
    return body(plan, report_id=f"{number:032x}", **more)


def stored():
    return Receipt.objects.count(), OpenReport.objects.count()


def mark():
    logged.Marks().look()


def test_what_the_log_has_is_answered_202_and_its_verdict_is_asked_for(client, plan, stands):
    first = post(client, report(plan, 1))
    assert (first.status_code, first["Retry-After"], stored()) == (202, "1", (0, 0))
    asked = post(client, first.content, ASK)
    assert (asked.status_code, asked.json(), asked["Retry-After"]) == (202, first.json(), "1")
    logged.take(stands())
    asked = post(client, first.content, ASK)
    assert (asked.status_code, asked.json()["receipt"]) == (200, first.json()["receipt"])
    assert (post(client, report(plan, 1)).status_code, stored()) == (200, (1, 1))


def test_what_the_door_can_know_it_says_before_the_log_has_anything(client, plan, stands):
    post(client, report(plan, 1))
    logged.take(stands())
    assert post(client, report(plan, 1, answers={"copied": 0, "fair": [3], "often": [0]})).status_code == 409
    assert post(client, report(plan, 2, answers={"copied": 7, "fair": [3], "often": [0]})).status_code == 422
    design.close_plan(plan_id=plan.pk, today=TODAY)
    assert post(client, report(plan, 3)).status_code == 410
    assert len(stands()) == 1
