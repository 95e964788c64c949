"""Reports that are turned away are counted: by reason and day, and by nothing else."""

import json

import pytest
from django.db import DatabaseError

from surveys.design import services as design
from surveys.operations import refusals
from surveys.operations.models import Refusal
from surveys.operations.refusals import Waiting
from tests.conftest import TODAY


@pytest.fixture(autouse=True)
def waiting(monkeypatch):
    fresh = Waiting()
    monkeypatch.setattr(refusals, "waiting", fresh)
    return fresh


def send(client, body, **headers):
    return client.post(
        "/api/v1/studies/exam-honesty/reports", body, content_type="application/json", **headers
    )


def counted():
    refusals.waiting.write()
    return {row.reason: row.count for row in Refusal.objects.all()}


def report(plan, **answers):
    return json.dumps({"plan": plan.digest, "report_id": "0" * 32, "answers": answers})


def test_they_are_counted_by_the_part_that_was_wrong(client, plan):
    send(client, "not JSON")
    send(client, "not JSON either")
    send(client, json.dumps({"plan": "0" * 64, "report_id": "0" * 32, "answers": {}}))
    send(client, report(plan, copied=7, fair=[0], often=[0]))
    assert counted() == {"body": 2, "plan": 1, "answers": 1}


def test_other_pages_and_floods_are_counted_as_such(client, plan, settings):
    settings.REPORTS_AT_ONCE = 2
    body = report(plan, copied=1, fair=[0], often=[0])
    send(client, body, HTTP_SEC_FETCH_SITE="cross-site")
    send(client, body, HTTP_ORIGIN="null")
    client.post("/api/v1/studies/exam-honesty/reports", body, content_type="text/plain")
    for _ in range(5):
        send(client, body)
    assert counted() == {"other page": 3, "address": 3}


def test_one_after_the_close_is_counted_as_that(client, plan, today):
    design.close_plan(plan_id=plan.pk, today=today)
    send(client, report(plan, copied=1, fair=[0, 1], often=[0]))
    assert set(counted()) <= {"closed", "answers"}


def test_nothing_that_was_sent_is_kept(client, plan):
    send(client, report(plan, copied="a secret", fair=[0], often=[0]))
    send(client, report(plan, secret=1))
    row = Refusal.objects.values().get() if counted() else {}
    assert set(row) == {"id", "day", "reason", "count"}
    assert row["reason"] == "answers"


def test_other_pages_are_not_counted(client, plan):
    client.get("/nowhere/")
    client.get("/s/nowhere/")
    assert counted() == {}


def test_a_flood_is_not_a_flood_of_writes(db, waiting, django_assert_num_queries):
    waiting.note("body", TODAY)
    with django_assert_num_queries(0):
        for _ in range(1000):
            waiting.note("body", TODAY)
    assert counted() == {"body": 1001}


def test_what_cannot_be_written_waits(db, waiting, monkeypatch):
    def broken(counts):
        raise DatabaseError

    monkeypatch.setattr(refusals, "_add", broken)
    waiting.note("body", TODAY)
    monkeypatch.undo()
    assert waiting.counts == {(TODAY, "body"): 1}


def test_what_is_old_is_forgotten(db):
    Refusal.objects.create(day=TODAY - refusals.KEPT, reason="body", count=1)
    Refusal.objects.create(day=TODAY - 2 * refusals.KEPT, reason="body", count=1)
    refusals.forget_old(TODAY)
    assert Refusal.objects.count() == 1
