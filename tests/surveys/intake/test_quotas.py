"""First and last day, and a wave that closes once so many answers have come."""

import datetime
import json

import pytest
from django.db import DatabaseError, transaction

from surveys.aggregation import selectors as counted, services as aggregation
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.design.models import Plan, Study
from surveys.design.terms import problems
from surveys.intake import pages, selectors, services
from surveys.intake.group import Acceptance, Entry, accept_all
from surveys.intake.models import Receipt, Sealed
from surveys.intake.reports import Refused, Report
from tests.conftest import NOW, QUESTIONS, STUDY, TODAY
from tests.strata import answer_of, asking

DAY = datetime.timedelta(days=1)


def opened(people=(), **changes):
    draft = design.draft_study(study={**STUDY, **changes}, questions=QUESTIONS)
    if not people:
        return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    with asking(people):
        return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


def entries(plan, many, start=0, day=TODAY, stratum=None):
    sent = plan.content.randomised({"copied": 1, "fair": 0, "often": 0})
    values = [sent[name] for name in plan.content.reports]
    return [
        Entry(plan, Report(f"{number:032x}", values, stratum=stratum), day)
        for number in range(start, start + many)
    ]


def told(outcomes):
    return ["new" if isinstance(each, Acceptance) else int(each.status) for each in outcomes]


def test_nothing_is_taken_before_the_first_day_and_it_says_from_when(db):
    plan = opened(begins_on=TODAY + DAY)
    (early,) = accept_all(entries(plan, 1))
    assert isinstance(early, Refused)
    assert (early.field, early.status) == ("plan", 403)
    assert (TODAY + DAY).isoformat() in str(early)
    assert not Receipt.objects.exists()
    assert told(accept_all(entries(plan, 1, day=TODAY + DAY))) == ["new"]


def test_the_form_says_from_when(client, db):
    tomorrow = datetime.datetime.now(datetime.UTC).date() + DAY
    plan = opened(begins_on=tomorrow)
    page = client.get(f"/s/{plan.study.slug}/").content.decode()
    assert 'data-over="early"' in page
    assert 'data-when="early"' in page
    assert pages.over(plan, datetime.datetime.now(datetime.UTC) + DAY) == ""


def test_a_form_that_takes_answers_has_no_word_of_a_first_day(client, plan):
    assert 'data-when="early"' not in client.get(f"/s/{plan.study.slug}/").content.decode()


def test_it_takes_as_many_as_it_asks_and_not_one_more_of_a_group(db):
    plan = opened(closes_at=12)
    sent = entries(plan, 15)
    assert told(accept_all(sent)) == ["new"] * 12 + [410] * 3
    again = accept_all(sent)  # who sends again is answered the same
    assert [getattr(each, "is_new", None) for each in again] == [False] * 12 + [None] * 3
    assert Receipt.objects.count() == 12


def test_what_was_sealed_counts_and_a_sweep_closes_it(db):
    plan = opened(closes_at=25)
    accept_all(entries(plan, 15))
    assert aggregation.sweep_all(today=TODAY) == 15
    assert Sealed.objects.get().reports == 15
    assert Plan.objects.get(pk=plan.pk).is_open
    assert told(accept_all(entries(plan, 15, start=100))) == ["new"] * 10 + [410] * 5
    aggregation.sweep_all(today=TODAY)
    closed = Plan.objects.get(pk=plan.pk)
    assert closed.closed_on == TODAY
    assert counted.sealed_reports(closed) == 25
    assert told(accept_all(entries(closed, 1, start=200))) == [410]


def test_a_study_without_a_limit_notes_nothing(answered, today):
    answered(20)
    aggregation.sweep_all(today=today)
    assert not Sealed.objects.exists()


def test_a_group_that_is_full_at_midnight_takes_no_more_and_the_others_do(db):
    plan = opened((100, 100), stratum_closes_at=5)
    assert told(accept_all(entries(plan, 7, stratum=0))) == ["new"] * 7  # of the day that fills it
    services.count(plan)
    (full,) = accept_all(entries(plan, 1, start=50, stratum=0))
    assert isinstance(full, Refused)
    assert full.field == "ticket"
    assert told(accept_all(entries(plan, 5, start=100, stratum=1))) == ["new"] * 5
    aggregation.sweep_all(today=TODAY)
    assert Plan.objects.get(pk=plan.pk).is_open
    services.count(plan)
    aggregation.sweep_plan(plan, TODAY)
    assert not Plan.objects.get(pk=plan.pk).is_open


def test_the_page_says_which_groups_are_full_before_a_ticket_is_fetched(client, db):
    plan = opened((100, 100), stratum_closes_at=5)

    def page():
        return client.get(f"/s/{plan.study.slug}/").content.decode()

    accept_all(entries(plan, 4, stratum=1))
    assert 'data-full=""' in page()
    assert "As many of this group" not in page()
    accept_all(entries(plan, 1, start=50, stratum=1))
    assert 'data-full=""' in page()  # the report that fills it would show when it came
    services.count(plan)
    assert 'data-full="1"' in page()
    assert "As many of this group" in page()
    assert "as many of your group have answered as are asked" in page()
    accept_all(entries(plan, 5, start=100, stratum=0))
    services.count(plan)
    assert 'data-full="0 1"' in page()


def test_a_page_without_limits_or_without_a_list_has_no_word_of_groups(client, plan):
    page = client.get(f"/s/{plan.study.slug}/").content.decode()
    assert "data-full" not in page
    assert "of your group" not in page
    assert "This study has closed" in page


def test_what_a_sweep_leaves_waiting_is_counted_once(db):
    plan = opened((100, 100), closes_at=95)
    answer_of(plan, 0, [{"copied": 1, "fair": 0, "often": 0}] * 70, TODAY)
    assert aggregation.sweep_all(today=TODAY) == 40
    assert selectors.accepted_of_strata(plan) == [70, 0]
    assert told(accept_all(entries(plan, 30, stratum=1))) == ["new"] * 30
    services.count(plan)
    assert told(accept_all(entries(plan, 1, start=500, stratum=1))) == [410]


def test_a_plan_keeps_its_days_and_limits(db):
    plan = opened(closes_at=12)
    for change in ({"closes_at": 99}, {"begins_on": TODAY}, {"stratum_closes_at": 3}):
        with pytest.raises(DatabaseError, match="a Plan is frozen"), transaction.atomic():
            Plan.objects.filter(pk=plan.pk).update(**change)


def test_a_next_wave_has_days_of_its_own(db):
    plan = opened(begins_on=TODAY, closes_at=12, waves=2)
    design.close_plan(plan_id=plan.pk, today=TODAY)
    study = design.begin_wave(study_id=plan.study_id)
    assert (study.begins_on, study.closes_on, study.closes_at) == (None, None, 12)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"begins_on": TODAY + DAY, "closes_on": TODAY}, "closes_on"),
        ({"begins_on": TODAY + DAY, "retires_on": TODAY + DAY}, "begins_on"),
        ({"closes_at": 10, "neighbours": "add-remove"}, "closes_at"),
        ({"stratum_closes_at": 10, "neighbours": "add-remove"}, "stratum_closes_at"),
    ],
)
def test_days_and_limits_that_cannot_be_are_refused(changes, field):
    assert field in problems(Study(**{**STUDY, **changes}))


def test_the_days_are_not_in_what_is_hashed(db):
    plan = opened(closes_at=12, begins_on=TODAY)
    assert not {"begins_on", "closes_at"} & json.loads(plan.document).keys()
    answer_as_browsers(plan, [{"copied": 1, "fair": 0, "often": 0}], TODAY)


def test_what_fills_a_wave_while_a_sweep_looks_is_seen_by_that_sweep(db, monkeypatch):
    """The mark of those who came between is gone with the look that took them."""
    plan = opened(closes_at=25)
    accept_all(entries(plan, 20))
    sweep = aggregation.sweep

    def late(**by):
        accept_all(entries(plan, 5, start=100))
        return sweep(**by)

    with monkeypatch.context() as patched:
        patched.setattr(aggregation, "sweep", late)
        aggregation.sweep_all(today=TODAY)
    assert not Plan.objects.get(pk=plan.pk).is_open
