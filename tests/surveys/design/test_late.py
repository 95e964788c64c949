"""What comes late: on the day of a study's retirement, before a worker does, or while a budget
was waited for.
"""

import datetime
from decimal import Decimal

import pytest

from surveys.aggregation import services as aggregation
from surveys.demo.services import answer_as_browsers
from surveys.design import services
from surveys.design.models import Study
from surveys.ledger import services as ledger
from surveys.ledger.models import Entry
from surveys.releases import services as releases
from surveys.releases.models import Release, Series
from tests.conftest import NOW

BY = {"who": "ada", "now": NOW}
ONE = [{"copied": 1, "fair": 2, "often": 0}]


def test_nothing_is_published_on_the_day_of_retirement_even_if_no_worker_has_come_yet(draft):
    day = NOW + datetime.timedelta(days=2)
    Study.objects.filter(pk=draft.pk).update(retires_on=day.date())
    plan = services.open_study(why="A test.", study_id=draft.pk, **BY)
    answer_as_browsers(plan, ONE * 30, NOW.date())
    plan = services.close_plan(plan_id=plan.pk, today=NOW.date())
    aggregation.sweep_all(today=NOW.date())
    waiting = releases.request_by_rule(plan=plan, now=NOW)
    assert releases.is_due(plan=plan, now=NOW)
    assert releases.publish_due(now=day) == []
    assert releases.try_to_publish(request_id=waiting.pk, now=day) is None
    with pytest.raises(releases.CannotAsk, match="ended on 13 May 2026"):
        releases.ask_for(plan=plan, kind="shares", parameters={}, who="mira", now=day)
    assert not Release.objects.exists()
    assert not Entry.charges.exists()


def test_no_step_of_a_series_is_taken_on_the_day_of_retirement(draft):
    terms = {
        "rule": "continual",
        "cap_delta": "0.000001",
        "release_epsilon": Decimal(1),
        "horizon": 3,
        "hours": 24,
    }
    day = NOW + datetime.timedelta(days=2)
    Study.objects.filter(pk=draft.pk).update(retires_on=day.date(), **terms)
    plan = services.open_study(why="A test.", study_id=draft.pk, **BY)
    answer_as_browsers(plan, ONE * 12, NOW.date())
    aggregation.sweep_all(today=NOW.date())
    assert len(releases.publish_due(now=NOW)) == 1
    answer_as_browsers(plan, ONE * 12, NOW.date())
    aggregation.sweep_all(today=NOW.date())
    assert releases.publish_due(now=day) == []
    with pytest.raises(releases.CannotAsk, match="has ended"):
        releases.take_step(series_id=Series.objects.get().pk, now=day)


def test_a_budget_that_a_researcher_gets_while_a_request_waits_for_the_study_s_is_charged_too(
    answered, monkeypatch
):
    plan = answered(30)
    Study.objects.filter(pk=plan.study_id).update(rule="on-request")
    services.close_plan(plan_id=plan.pk, today=NOW.date())
    aggregation.sweep_all(today=NOW.date())
    request = releases.request_by_rule(plan=plan, now=NOW)
    lock = ledger.lock

    def opened_meanwhile(*budget_ids):
        monkeypatch.setattr(ledger, "lock", lock)
        ledger.open_share(
            study_id=plan.study.budget_id, holder=request.who, cap=1, why="her share", **BY
        )
        return lock(*budget_ids)

    monkeypatch.setattr(ledger, "lock", opened_meanwhile)
    releases.publish(request_id=request.pk, now=NOW)
    assert Entry.charges.count() == 2


def test_what_is_paid_for_while_a_study_is_about_to_be_retired_is_still_delivered(
    draft, monkeypatch
):
    """A series begins after the cap was seen to be reached and before the study was held."""
    terms = {
        "rule": "continual",
        "cap_delta": "0.000001",
        "release_epsilon": Decimal(2),
        "horizon": 3,
        "hours": 24,
    }
    Study.objects.filter(pk=draft.pk).update(**terms)
    plan = services.open_study(why="A test.", study_id=draft.pk, **BY)
    answer_as_browsers(plan, ONE * 12, NOW.date())
    aggregation.sweep_all(today=NOW.date())
    lock = ledger.lock

    def late(*budget_ids):
        monkeypatch.setattr(ledger, "lock", lock)
        assert len(releases.publish_due(now=NOW)) == 1
        return lock(*budget_ids)

    monkeypatch.setattr(services, "_is_spent", lambda study: True)
    monkeypatch.setattr(ledger, "lock", late)
    assert releases.retire_spent(now=NOW) == []
