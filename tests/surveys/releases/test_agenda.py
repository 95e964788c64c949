"""Whoever is due is found by what has changed, and nobody is missed: as if every Plan were asked."""

import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings, strategies as st
from hypothesis.extra.django import TestCase

from surveys.aggregation import services as aggregation
from surveys.demo.services import answer_as_browsers, ensure_study
from surveys.design import news, services as design
from surveys.design.models import Plan, Study
from surveys.ledger import services as ledger
from surveys.releases import agenda, selectors, services
from surveys.releases.agenda import Agenda
from surveys.releases.models import NotDue, Request
from tests.conftest import NOW, QUESTIONS, STUDY

HOUR = datetime.timedelta(hours=1)
RULES: dict[str, dict[str, Any]] = {
    "closed": {"rule": "when-closed"},
    "every": {"rule": "every", "hours": 24, "release_epsilon": Decimal("0.5")},
    "wide": {"rule": "every", "hours": 24, "widest": 1, "release_epsilon": Decimal("0.5")},
    "asked": {"rule": "on-request"},
    "course": {"rule": "continual", "hours": 24, "cap_delta": "0.000001", "horizon": 4},
    "taking part": {"rule": "when-closed", "neighbours": "add-remove"},
}
ACTS = (
    "wait",
    "long wait",
    "answers",
    "few answers",
    "close",
    "anyway",
    "limit",
    "no limit",
    "run",
)


def opened(name: str, **changes: Any) -> Plan:
    slug = name.replace(" ", "-")
    plan, _ = ensure_study({**STUDY, **RULES[name], "slug": slug, **changes}, QUESTIONS[:1], NOW)
    return plan


def answer(plan: Plan, people: int, now: datetime.datetime) -> None:
    if plan.is_open:
        answer_as_browsers(plan, [{"copied": i % 2} for i in range(people)], now.date())
        aggregation.sweep_all(today=now.date())


def due(now: datetime.datetime) -> set[str]:
    """Return the studies that are due, as every Plan says when it is asked."""
    plans = Plan.objects.select_related("study__panel").filter(study__retired_on=None)
    return {plan.study.slug for plan in plans if services.is_due(plan=plan, now=now)}


def found(now: datetime.datetime) -> set[str]:
    return {plan.study.slug for plan in Agenda(now).plans() if services.is_due(plan=plan, now=now)}


def act(name: str, plan: Plan, now: datetime.datetime) -> datetime.datetime:
    by: dict[str, Any] = {"who": "ada", "why": "A test.", "now": now}
    plan = Plan.objects.select_related("study__panel").get(pk=plan.pk)
    if name in ("answers", "few answers"):
        answer(plan, 12 if name == "answers" else 3, now)
    elif name == "close":
        design.close_plan(plan_id=plan.pk, today=now.date())
    elif name == "anyway" and selectors.waits(plan) is not None:
        services.publish_anyway(plan=plan, who="ada", now=now)
    elif name in ("limit", "no limit") and plan.study.retired_on is None:
        weekly = Decimal("0.6") if name == "limit" else None
        if plan.study.budget.weekly != weekly and plan.study.budget.measure == "ε":
            design.set_weekly_limit(study_id=plan.study_id, weekly=weekly, **by)
    elif name == "run":
        services.publish_due(now=now)
    return now + {"wait": 7 * HOUR, "long wait": 80 * HOUR}.get(name, 0 * HOUR)


class NobodyIsMissed(TestCase):
    @settings(max_examples=12, deadline=None)
    @given(st.lists(st.tuples(st.sampled_from(ACTS), st.sampled_from(sorted(RULES))), max_size=14))
    def test_who_is_due_is_found_whatever_happened(self, acts: list[tuple[str, str]]) -> None:
        plans, now = {name: opened(name) for name in RULES}, NOW
        for name, study in acts:
            now = act(name, plans[study], now)
            assert found(now) == due(now), (name, study)
            services.publish_due(now=now)
            assert found(now) == due(now), (name, study)


@pytest.fixture
def every(db: None) -> Plan:
    plan = opened("every")
    services.publish_due(now=NOW)
    return plan


def test_a_plan_that_waits_is_not_asked(every):
    assert list(Agenda(NOW).plans()) == []
    assert NotDue.objects.get().until is None


def test_a_sweep_makes_it_due(every):
    answer(every, 12, NOW)
    assert list(Agenda(NOW).plans()) == [every]
    assert len(services.publish_due(now=NOW)) == 1


def test_its_hour_makes_it_due(every):
    answer(every, 12, NOW)
    services.publish_due(now=NOW)
    answer(every, 12, NOW)
    services.publish_due(now=NOW)
    assert NotDue.objects.get().until == NOW + 24 * HOUR
    assert list(Agenda(NOW + 23 * HOUR).plans()) == []
    assert list(Agenda(NOW + 24 * HOUR).plans()) == [every]


def test_its_close_makes_it_due(db):
    plan = opened("closed")
    answer(plan, 12, NOW)
    services.publish_due(now=NOW)
    assert list(Agenda(NOW).plans()) == []
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    assert [due.pk for due in Agenda(NOW).plans()] == [plan.pk]


def test_a_confirmation_makes_it_due(db):
    plan = opened("wide")
    answer(plan, 12, NOW)
    services.publish_due(now=NOW)
    assert list(Agenda(NOW).plans()) == []
    services.publish_anyway(plan=plan, who="ada", now=NOW)
    assert len(services.publish_due(now=NOW)) == 1


def test_a_charge_that_leaves_the_week_makes_it_due(every):
    design.set_weekly_limit(
        study_id=every.study_id, weekly=Decimal("0.6"), who="ada", why="A test.", now=NOW
    )
    answer(every, 12, NOW)
    services.publish_due(now=NOW)
    answer(every, 12, NOW)
    services.publish_due(now=NOW + 30 * HOUR)
    week = datetime.timedelta(days=7)
    assert NotDue.objects.get().until == NOW + week
    assert services.publish_due(now=NOW + week - HOUR) == []
    assert len(services.publish_due(now=NOW + week)) == 1


def test_a_plan_whose_last_sweep_is_to_come_is_asked_each_time(db):
    plan = opened("closed")
    answer(plan, 12, NOW)
    answer_as_browsers(plan, [{"copied": 1}] * 3, NOW.date())  # too few for a batch
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    for _ in range(2):
        assert services.publish_due(now=NOW) == []
        assert [due.pk for due in Agenda(NOW).plans()] == [plan.pk]


def test_nothing_is_noted_by_who_is_behind(every):
    slow = Agenda(NOW)
    NotDue.objects.all().delete()
    (plan,) = slow.plans()
    ledger.record(
        budget_id=every.study.budget_id, what="a", old="", new="b", why="c", who="ada", now=NOW
    )
    agenda.read_on()  # another worker, which has seen what the slow one has not
    slow.note_not_due(plan)
    assert not NotDue.objects.exists()


def test_a_reader_that_another_has_moved_does_not_move_back(every):
    with transaction.atomic():
        unseen = news.of("a test")
        assert unseen.read()
        assert not unseen.read()
        assert news.of("a test").start == unseen.end
        assert list(news.of("a test").studies) == []


def test_one_query_finds_that_nothing_is_due_however_many_studies_there_are(db):
    counts = []
    for at in range(12):
        opened("every", slug=f"study-{at}")
        services.publish_due(now=NOW)
        with CaptureQueriesContext(connection) as captured:
            assert services.publish_due(now=NOW) == []
            assert services.publish_asked(now=NOW) == []
            assert services.step_due(now=NOW) == []
            assert services.retire_spent(now=NOW) is not None
        counts.append(len(captured))
    services.retire_spent(now=NOW)
    assert counts[1] == counts[11]


def test_a_request_waits_until_it_is_drawn_or_refused(db):
    plan = opened("asked")
    answer(plan, 12, NOW)
    parameters = {"epsilon": "0.5", "questions": ["copied"]}
    asked = services.ask_for(plan=plan, kind="shares", parameters=parameters, who="ada", now=NOW)
    assert list(selectors.waiting_requests()) == [asked]
    services.publish_asked(now=NOW + services.WAITED)
    assert list(selectors.waiting_requests()) == []
    unanswered = Request.objects.filter(release=None, series=None, refused="")
    assert not unanswered.exists()


def test_a_cap_that_is_reached_is_noted_once(db):
    plan = opened("closed", cap=Decimal("0.5"), release_epsilon=Decimal("0.5"))
    answer(plan, 12, NOW)
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    assert services.retire_spent(now=NOW) == []
    assert Study.objects.get().spent_on is None
    services.publish_due(now=NOW)
    assert design.retire_spent(now=NOW, is_unfinished=lambda study: True) == []
    assert Study.objects.get().spent_on == NOW.date()
    assert design.retire_spent(now=NOW, is_unfinished=lambda study: False) == [plan.study_id]
