"""The way through a study names its present page, and its badge where the study stands."""

from types import SimpleNamespace

import pytest

from surveys.design.templatetags.studies import badge, steps

OPEN, CLOSED = SimpleNamespace(is_open=True), SimpleNamespace(is_open=False)


def study(plan=None, retired=False):
    return SimpleNamespace(slug="exams", wave=2, plan=plan, is_retired=retired, is_invited=False)


def test_only_the_present_page_is_marked_and_results_stand_at_the_study_s_own_address():
    found = steps(study(), "results")["steps"]
    assert [step.name for step in found if step.is_here] == ["Results"]
    assert {step.name: step.address for step in found}["Results"] == "/studies/exams/"
    assert {step.name: step.address for step in found}["People"] == "/studies/exams/people/"


@pytest.mark.parametrize(
    ("plan", "retired", "expected"),
    [
        (None, False, {"text": "Draft of wave 2", "is_live": False}),
        (OPEN, False, {"text": "Collecting", "is_live": True}),
        (CLOSED, False, {"text": "Closed", "is_live": False}),
        (OPEN, True, {"text": "Retired", "is_live": False}),
    ],
)
def test_the_badge_says_where_a_study_stands(plan, retired, expected):
    assert badge(study(plan, retired)) == expected
