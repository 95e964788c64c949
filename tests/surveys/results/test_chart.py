"""The burn chart: where its corners stand."""

import datetime
from fractions import Fraction

import pytest

from surveys.design import services as design
from surveys.ledger import selectors as ledger
from surveys.results import chart, registered
from tests.costs import pure
from tests.surveys.results import kinds
from tests.surveys.results.small import NOW

pytestmark = pytest.mark.django_db
DAY = datetime.timedelta(days=1)


def drawn(days_ago: list[int], epsilon: str = "0.5") -> chart.Chart:
    """Return the chart of a study that opened 30 days ago, with a cap of 2."""
    plan = kinds.unpublished()
    for number, ago in enumerate(days_ago):
        kinds.charge(plan, pure(Fraction(epsilon)), number, NOW - ago * DAY)
    assert plan.study.budget_id is not None
    account = ledger.account(plan.study.budget_id)
    return chart.of(account, opened_on=(NOW - 30 * DAY).date(), now=NOW, goes_on=True)


def test_the_staircase_climbs_by_what_each_charge_cost():
    found = drawn([20, 10])
    assert [y for _, y in found.spent] == [100, 100, 75, 75, 50, 50]
    assert [x for x, _ in found.spent] == sorted(x for x, _ in found.spent)
    assert found.spent[-1] == found.ahead[0]


def test_the_line_ahead_reaches_the_cap_on_the_day_the_rate_says():
    """1.0 in the last 28 days is ¼ a week; the 1.0 that is left lasts 28 days."""
    found = drawn([20, 10])
    assert found.reaches_cap
    assert found.ahead[-1][1] == pytest.approx(100 * 0.5 - 50 * 20 / 20, abs=0.5)
    assert found.ends == (NOW + 20 * DAY).date()


def test_a_cap_that_is_far_off_is_not_drawn_as_near():
    found = drawn([20], "0.01")
    assert not found.reaches_cap
    assert found.ahead[-1][1] > 90


def test_nothing_spent_leads_nowhere():
    found = drawn([])
    assert found.ahead == []
    assert found.onwards == ""
    assert [y for _, y in found.spent] == [100, 100]
    assert found.starts == (NOW - 30 * DAY).date()


def test_todays_label_stays_inside_the_picture():
    found = drawn([0], "2")
    assert found.label_y == 34  # below the line at 16
    assert not found.label_after


def test_todays_date_is_named_only_where_it_stands_clear_of_the_ends():
    """Nothing is being spent: today is at four fifths, where the date of the end begins on a
    phone.
    """
    found = drawn([])
    assert found.spent[-1][0] == pytest.approx(80, abs=1)
    assert not found.names_today


def test_a_retired_budget_leads_nowhere():
    plan = kinds.plain()
    design.retire(study_id=plan.study_id, because="It was time.", who="admin", now=NOW)
    plan.study.refresh_from_db()
    record = registered.registered(plan.study, NOW + DAY)
    assert record.burn.per_week > 0  # of late
    assert record.days_left is None
    assert record.chart.ahead == []
    assert not record.chart.reaches_cap


def test_of_a_closed_study_nothing_is_foretold(client):
    """Nothing is charged to it but what somebody asks for: no rate says how long the rest lasts."""
    plan = kinds.unpublished()
    kinds.charge(plan, pure(Fraction(1, 2)), 1, NOW - DAY)
    assert registered.registered(plan.study, NOW).days_left == 21
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    plan.study.refresh_from_db()
    record = registered.registered(plan.study, NOW)
    assert (record.days_left, record.chart.ahead, record.chart.reaches_cap) == (None, [], False)
    page = client.get(f"/registry/{plan.study.slug}/").content.decode()
    assert "closed: only a query uses budget" in page
