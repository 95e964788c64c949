"""A wave begins and ends at midnight in its study's time zone; what is kept of a person has days in
UTC, whatever the zone.
"""

import datetime
from collections import Counter

import pytest
from django.test import override_settings
from django.utils import translation

from surveys.demo.services import answer_as_browsers
from surveys.design import days, selectors, services
from surveys.design.drafts import new_draft
from surveys.design.models import Plan, Study
from surveys.design.refusals import CannotOpen
from surveys.environment import Environment
from surveys.intake.models import Receipt
from surveys.intake.reports import Refused
from surveys.invited import letters
from tests.conftest import NOW, TODAY

WEST, EAST = "America/Los_Angeles", "Pacific/Auckland"
LAST = TODAY + datetime.timedelta(days=2)  # 13 May 2026
BY = {"who": "ada", "now": NOW, "why": "A test."}


def at(text):
    return datetime.datetime.fromisoformat(f"{text}+00:00")


def opened(draft, zone, **terms):
    Study.objects.filter(pk=draft.pk).update(zone=zone, closes_on=LAST, **terms)
    return services.open_study(study_id=draft.pk, **BY)


@pytest.mark.parametrize(
    ("zone", "ends"),
    [
        (None, "2026-05-14T00:00"),
        ("UTC", "2026-05-14T00:00"),
        (WEST, "2026-05-14T07:00"),
        (EAST, "2026-05-13T12:00"),
        ("Asia/Kathmandu", "2026-05-13T18:15"),
    ],
)
def test_a_last_day_ends_at_midnight_there_and_waits_three_hours(draft, zone, ends):
    plan, end = opened(draft, zone), at(ends)
    moment, grace = datetime.timedelta(microseconds=1), datetime.timedelta(hours=3)
    assert plan.takes_answers(end - moment)
    assert not plan.takes_answers(end)
    for now, closed in ((end - moment, []), (end + grace - moment, []), (end + grace, [plan.pk])):
        assert services.close_due(now=now) == closed


def test_a_west_coast_afternoon_is_still_the_last_day(draft):
    """The study that was closed at 16:00 there, which is midnight in UTC."""
    plan = opened(draft, WEST)
    now = at("2026-05-14T04:00")  # 13 May, 21:00 there
    assert services.close_due(now=now) == []
    answer_as_browsers(plan, [{"copied": 1, "fair": 2, "often": 0}], plan.day_of(now))
    assert Receipt.objects.get().day == LAST
    assert selectors.in_grace(now) == [plan.pk]  # so that no receipt of that day is settled yet


@pytest.mark.parametrize(
    ("zone", "came", "day"),
    [
        ("UTC", "2026-05-13T23:59", "2026-05-13"),
        ("UTC", "2026-05-14T02:59", "2026-05-13"),
        ("UTC", "2026-05-14T03:00", "2026-05-14"),
        (WEST, "2026-05-14T06:59", "2026-05-13"),
        (WEST, "2026-05-14T09:59", "2026-05-13"),
        (WEST, "2026-05-14T10:00", "2026-05-14"),  # too late: none of its answers has that day
        (EAST, "2026-05-13T11:59", "2026-05-13"),
        (EAST, "2026-05-13T14:59", "2026-05-13"),
        (EAST, "2026-05-13T15:00", "2026-05-14"),
        ("America/New_York", "2026-05-14T03:59", "2026-05-13"),
    ],
)
def test_an_answer_has_a_day_of_utc_and_one_that_is_late_has_none_of_this_wave(
    draft, zone, came, day
):
    plan = opened(draft, zone)
    assert plan.day_of(at(came)).isoformat() == day
    is_taken = selectors.taking([plan.pk])[plan.pk].last >= plan.day_of(at(came))
    assert is_taken == (at(came) < days.ends_at(LAST, zone) + datetime.timedelta(hours=3))


@pytest.mark.parametrize("zone", ["UTC", WEST, EAST])
def test_no_answer_is_taken_before_the_first_day_has_begun_there(draft, zone):
    plan = opened(draft, zone, begins_on=LAST)
    begins = days.begins_at(LAST, zone)
    before = begins - datetime.timedelta(minutes=1)
    assert (plan.is_early(before), plan.is_early(begins)) == (True, False)
    one = [{"copied": 1, "fair": 2, "often": 0}]
    with pytest.raises(Refused, match="takes answers from"):
        answer_as_browsers(plan, one, plan.day_of(before))
    answer_as_browsers(plan, one, plan.day_of(begins))
    assert Receipt.objects.get().day == LAST


@pytest.mark.parametrize("zone", [None, WEST, EAST, "Europe/Berlin", "Atlantic/Azores"])
def test_no_day_of_a_wave_is_a_few_hours_that_its_zone_adds(draft, zone):
    """Berlin's first two hours are the day before in UTC: a receipt of that day would tell them."""
    plan = opened(draft, zone, begins_on=TODAY)
    moment, hours = days.begins_at(TODAY, zone), Counter()
    while moment < days.ends_at(LAST, zone):
        hours[plan.day_of(moment)] += 1
        moment += datetime.timedelta(hours=1)
    assert [*hours] == [TODAY, TODAY + days.ONE, LAST]
    assert min(hours.values()) >= 12


@pytest.mark.parametrize("zone", [None, WEST, EAST])
def test_the_first_day_of_the_calendar_stops_no_other_study_s_answers(draft, zone):
    plan = opened(draft, zone, begins_on=datetime.date.min)
    assert plan.takes_answers(NOW)
    assert selectors.taking([plan.pk])[plan.pk].first <= plan.day_of(NOW) == NOW.date()


def test_no_last_day_ends_after_retirement(draft):
    draft.zone, draft.closes_on, draft.retires_on = WEST, LAST, LAST + days.ONE
    assert (
        "must end after the last day of collecting, 13 May 2026 (Los Angeles time)"
        in (services.terms.problems(draft)["retires_on"])
    )
    draft.zone = EAST
    assert "retires_on" not in services.terms.problems(draft)


@pytest.mark.parametrize(("zone", "last"), [(WEST, LAST - days.ONE), (EAST, LAST), (None, LAST)])
def test_without_a_last_day_it_is_the_last_that_ends_before_retirement(draft, zone, last):
    Study.objects.filter(pk=draft.pk).update(zone=zone, retires_on=LAST + days.ONE)
    plan = services.open_study(study_id=draft.pk, **BY)
    assert plan.closes_on == last


def test_a_day_that_has_passed_there_is_refused_though_it_has_not_in_utc(draft):
    Study.objects.filter(pk=draft.pk).update(zone=EAST, closes_on=TODAY)
    late = {**BY, "now": at("2026-05-11T12:30")}  # 12 May there
    with pytest.raises(CannotOpen, match="in the past: 11 May 2026 \\(Auckland time\\)"):
        services.open_study(study_id=draft.pk, **late)


def test_days_are_told_with_their_zone_on_pages_and_in_letters(draft, client):
    plan = opened(draft, WEST)
    assert letters.last_day(plan) == "13 May 2026 (Los Angeles time)"
    page = client.get(f"/registry/{plan.study.slug}/").content.decode()
    assert "Open until 13 May 2026 (Los Angeles time)" in " ".join(page.split())
    with translation.override("zh-hans"):
        assert "Los Angeles" in days.told(LAST, WEST)
    assert days.told(LAST, None) == "13 May 2026 (UTC)"
    assert days.told(None, WEST) == ""


def test_a_wave_keeps_the_zone_that_it_opened_with(draft):
    plan = opened(draft, WEST)
    Study.objects.filter(pk=draft.pk).update(zone=EAST)
    assert Plan.objects.get(pk=plan.pk).zone == WEST
    with pytest.raises(Exception, match="a Plan is frozen"):
        Plan.objects.filter(pk=plan.pk).update(zone=EAST)


@override_settings(STUDY_TIME_ZONE=EAST)
def test_a_new_study_has_the_zone_of_the_site(db):
    texts = {"title": "Tides", "organisation": "A", "purpose": "B.", "contact": "a@example.org"}
    assert new_draft(texts=texts).zone == EAST


@pytest.mark.parametrize(("typed", "zone"), [(WEST, WEST), ("", "UTC"), ("Mars/Olympus", "UTC")])
def test_the_site_names_a_zone_that_there_is(typed, zone):
    environment = Environment({"STUDY_TIME_ZONE": typed} if typed else {})
    assert environment.zone("STUDY_TIME_ZONE") == zone
    assert bool(environment.problems) == (typed == "Mars/Olympus")
