"""The way through a study names its present page, and its badge where the study stands."""

import datetime
from types import SimpleNamespace

import pytest

from surveys.design.templatetags.studies import badge, steps

DAY = datetime.date(2026, 5, 11)
OPEN = SimpleNamespace(closed_on=None, closes_on=None, opened_on=DAY)
UNTIL = SimpleNamespace(closed_on=None, closes_on=DAY, zone="UTC")
CLOSED = SimpleNamespace(closed_on=DAY)


def study(plan=None, retired=False):
    retired_on = DAY if retired else None
    return SimpleNamespace(slug="exams", wave=2, plan=plan, retired_on=retired_on, is_invited=False)


def test_only_the_present_page_is_marked_and_results_stand_at_the_study_s_own_address():
    found = steps(study(), "results")["steps"]
    assert [step.name for step in found if step.is_here] == ["Results"]
    assert {step.name: step.address for step in found}["Results"] == "/studies/exams/"
    assert {step.name: step.address for step in found}["People"] == "/studies/exams/people/"


@pytest.mark.parametrize(
    ("plan", "retired", "expected"),
    [
        (None, False, ("Draft of wave 2", False)),
        (OPEN, False, ("Open", True)),
        (UNTIL, False, ("Open until 11 May 2026 (UTC)", True)),
        (CLOSED, False, ("Closed 11 May 2026", False)),
        (OPEN, True, ("Ended 11 May 2026", False)),
    ],
)
def test_the_badge_says_where_a_study_stands(plan, retired, expected):
    status = badge(study(plan, retired))["status"]
    assert (status.text, status.is_live) == expected
