"""A kind that counts time has one calendar, which every page, form and file asks."""

import pytest
from django.utils import translation

from surveys.design.calendars import CALENDARS, amount_text, calendar_of
from surveys.plan.kinds import KINDS
from tests.surveys.design.kinds import question

MONTHS = question("month", least=24_000, most=24_023, wanted="mean")
NUMBER = question("number", least=0, most=9, wanted="mean")


def test_months_are_said_in_the_reader_s_language():
    assert amount_text(MONTHS, 12 * 2021 + 2) == "March 2021"
    assert amount_text(MONTHS, 12 * 2021 + 2.9) == "March 2021"
    with translation.override("zh-hans"):
        assert amount_text(MONTHS, 12 * 2021) == "2021年1月"


def test_a_number_is_written_as_its_page_writes_numbers():
    assert calendar_of(NUMBER) is None
    assert amount_text(NUMBER, 1234) == "1234"
    assert amount_text(NUMBER, 1234, "{:,}".format) == "1,234"


@pytest.mark.parametrize("kind", CALENDARS)
def test_what_is_written_is_read_again(kind):
    calendar = CALENDARS[kind]
    for step in (KINDS[kind].first, 24_000, 24_011, KINDS[kind].last):
        assert calendar.step_of(calendar.typed(step)) == step
        assert calendar.step_of(calendar.first_day(step)) == step


def test_a_date_is_its_week():
    weeks = CALENDARS["date"]
    days = ("0001-01-01", "0001-01-07", "0001-01-08", "9999-12-26")
    assert [weeks.step_of(day) for day in days] == [52, 52, 53, KINDS["date"].last]
    assert weeks.typed(weeks.step_of("2024-02-29")) == "2024-02-26"  # the Monday before
    assert weeks.text(weeks.step_of("2024-02-29") + 0.9) == "week of 26 February 2024"
    assert weeks.step_of("2024-07-01") / weeks.per_year == pytest.approx(2024.5, abs=0.01)


@pytest.mark.parametrize("kind", CALENDARS)
@pytest.mark.parametrize("step", [-1e9, -0.5, 11.9, 51.9, 2e5, 1e9])
def test_every_number_that_noise_can_make_has_words(kind, step):
    first, last = KINDS[kind].first, KINDS[kind].last
    near = min(max(step, first), last)
    assert CALENDARS[kind].text(step) == CALENDARS[kind].text(near)
