"""When in the night the order of a day goes."""

import datetime
from types import SimpleNamespace

import msgspec
import pytest

from surveys.aggregation import tasks
from surveys.demo.services import answer_as_browsers
from surveys.design import models, services as design
from surveys.intake import report_tables, services as intake
from surveys.intake.models import OpenReport, Receipt
from tests.conftest import NOW, QUESTIONS, STUDY, TODAY

pytestmark = pytest.mark.django_db

DAY = datetime.timedelta(days=1)
MIDNIGHT = datetime.datetime.combine(TODAY, datetime.time(), datetime.UTC) + DAY
ANSWERS = [{"copied": i % 2, "fair": i % 5, "often": i % 3} for i in range(12)]


@pytest.fixture
def at(monkeypatch):
    """Let the task run at a minute after midnight; return of which studies receipts are in order of
    arrival after it.
    """

    def run(minute: float) -> list[str]:
        class Clock(datetime.datetime):
            @classmethod
            def now(cls, tz=None):
                return MIDNIGHT + datetime.timedelta(minutes=minute)

        clock = SimpleNamespace(datetime=Clock, UTC=datetime.UTC, timedelta=datetime.timedelta)
        monkeypatch.setattr(tasks, "datetime", clock)
        tasks.settle()
        return sorted(set(Receipt.objects.values_list("plan__study__slug", flat=True)))

    return run


def opened(slug: str, **more):
    study = {**STUDY, "slug": slug, "title": slug, **more}
    draft = design.draft_study(study=study, questions=QUESTIONS)
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    answer_as_browsers(plan, ANSWERS, TODAY)
    return plan


def test_a_day_goes_just_after_midnight_and_that_of_a_wave_that_ends_when_nothing_more_can_come(at):
    opened("goes-on")
    opened("ends", closes_on=TODAY)
    assert at(-1) == ["ends", "goes-on"]
    assert at(4.9) == ["ends", "goes-on"]  # a request of that day may be under way
    assert at(5) == ["ends"]
    assert at(184.9) == ["ends"]
    assert at(185) == []


def test_who_closes_a_wave_earlier_lets_its_order_go_with_the_others(at):
    plan = opened("ends", closes_on=TODAY)
    assert at(60) == ["ends"]
    design.close_plan(plan_id=plan.pk, today=TODAY + DAY)
    assert at(70) == []


def test_what_comes_late_goes_together_with_what_came_before_it(at):
    plan = opened("ends", closes_on=TODAY)
    at(60)
    answer_as_browsers(plan, ANSWERS[:1], TODAY)
    assert at(70) == ["ends"]
    assert Receipt.objects.count() == len(ANSWERS) + 1
    assert at(190) == []


def test_a_wave_with_longer_texts_has_longer(at, monkeypatch):
    opened("ends", closes_on=TODAY)
    monkeypatch.setattr(models.PlanContent, "minutes_between", 100)
    assert at(250) == ["ends"]
    assert at(306) == []


def test_a_plan_that_cannot_be_read_keeps_no_order(at, monkeypatch):
    opened("ends", closes_on=TODAY)
    monkeypatch.setattr(models.PlanContent, "minutes_between", 100)
    with monkeypatch.context() as patched:
        patched.setattr(models.plans, "read", unreadable)
        assert at(60) == ["ends"]  # within the grace of every Plan
        assert at(190) == []


def unreadable(document: str):
    raise msgspec.ValidationError("unknown part")


def test_reports_that_wait_longer_lose_their_order_once_a_night(at, monkeypatch):
    looks = []
    forget = intake.forget_moments
    monkeypatch.setattr(intake, "forget_moments", lambda swept: looks.append(forget(swept)))
    opened("goes-on")
    at(4)
    assert looks == [None]  # of the day before
    at(19)  # a sweep of that day may be under way
    at(20)
    at(30)
    at(24 * 60)
    assert looks == [None, None]
    at(24 * 60 + 20)
    assert len(looks) == 3
    at(400 * 24 * 60)  # a clock that goes wrong, and is set right
    at(24 * 60 + 30)
    assert len(looks) == 5


@pytest.mark.parametrize(("over", "is_in_order"), [(0, True), (1, False)])
def test_what_would_keep_doors_waiting_too_long_stays_as_it_came(
    at, monkeypatch, over, is_in_order
):
    plan = opened("goes-on", smallest_batch=1000)
    monkeypatch.setattr(intake, "MOST_WAITING", report_tables.size(plan.pk) - over)
    at(20)
    said = OpenReport.objects.filter(plan=plan).order_by("pk").values_list("values", flat=True)
    assert (list(said) == sorted(said)) is is_in_order


def test_a_place_that_was_dropped_meanwhile_keeps_no_night_from_its_work(db, monkeypatch):
    draft = design.draft_study(study=STUDY, questions=QUESTIONS)
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    monkeypatch.setattr(report_tables, "plans_that_may_wait", lambda: [plan.pk])
    intake.forget_moments({plan.pk})
    assert report_tables.size(plan.pk) == 0
