"""What the daily check of the ledger reads: all of it, in as many queries however long it is."""

import datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from surveys.ledger import services as ledger
from surveys.ledger.models import Entry
from surveys.operations import checks, tasks
from surveys.operations.checks import faults
from tests.surveys.ledger.small import NOW, OWNER, open_budget, pay, tampering

pytestmark = pytest.mark.django_db
DAY = datetime.timedelta(days=1)


@pytest.fixture
def ledger_of_acts() -> None:
    """Eight acts of a budget, for charges are of releases, which are not there."""
    budget = open_budget()
    for number in range(6):
        ledger.record(budget_id=budget.pk, what=f"act {number}", old="", new="", why="so", **OWNER)
    ledger.lower_cap(budget_id=budget.pk, epsilon=1, why="caution", **OWNER)


def act(what: str = "more") -> Entry:
    return ledger.record(what=what, old="", new="", why="so", **OWNER)


def checked(now: datetime.datetime) -> str:
    return checks.verify(now=now).said


def test_a_check_reads_all_rows_that_came_and_asks_the_same_number_of_questions(
    ledger_of_acts: None, django_assert_num_queries: Any
) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert faults() == []
    for _ in range(5):
        act()
    with django_assert_num_queries(len(captured)):
        assert faults() == []
    assert checks.verify(now=NOW).size == 13


def test_a_changed_old_row_is_seen_the_next_day_and_by_name(ledger_of_acts: None) -> None:
    assert checked(NOW) == ""
    act()
    with tampering(("UPDATE ledger_entry SET who = 'eve' WHERE position = 3", [])):
        assert checked(NOW + DAY).startswith("row 3: was changed")
        assert checked(NOW + 2 * DAY).startswith("row 3: was changed")  # and still is


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE ledger_entry SET who = 'eve' WHERE position = 8", "row 8: was changed"),
        ("UPDATE ledger_entry SET who = 'eve' WHERE position = 9", "row 9: was changed"),
        ("DELETE FROM ledger_entry WHERE position = 9", "row 9: missing"),
        ("DELETE FROM ledger_entry WHERE position >= 8", "row 8: missing: the chain had 10 rows"),
        ("UPDATE ledger_head SET length = 9", "row 10: stands after the end"),
        ("UPDATE ledger_budget SET epsilon = 1800000000", "row 8: says that “study:x” has"),
        ("UPDATE ledger_budget SET name = 'study:z'", "row 1: was changed"),
    ],
)
def test_whatever_was_changed_is_seen_the_next_day(
    ledger_of_acts: None, change: str, said: str
) -> None:
    assert checked(NOW) == ""
    act(), act()
    with tampering((change, [])):
        assert said in checked(NOW + DAY)


def test_what_a_clock_ahead_noted_for_a_later_year_keeps_no_check_away(
    ledger_of_acts: None,
) -> None:
    ahead = checks.verify_if_due(now=NOW + 400 * DAY)
    back = checks.verify_if_due(now=NOW)
    assert ahead is not None
    assert back is not None
    assert checks.verify_if_due(now=NOW + DAY / 2) is None
    assert checks.verify_if_due(now=NOW + DAY) is not None


def test_a_check_of_all_rows_is_not_cut_off_as_other_tasks_are(settings: Any) -> None:
    assert tasks.verify_if_due.time_limit >= 60 * settings.CELERY_TASK_TIME_LIMIT


def test_a_total_is_compared_with_its_rows() -> None:
    pay(open_budget())
    with tampering(("UPDATE ledger_total SET parts = '{}'", [])):
        assert "the total of “study:x” is not" in checked(NOW)
