"""Reports of a study whose devices draw what they ask: one of the Plan's sets, and nothing else."""

import json

import pytest

from surveys.intake.models import OpenReport
from surveys.intake.reports import Refused, open_envelope, read_report
from surveys.intake.services import accept_many
from tests.conftest import TODAY

VALUES = {"copied": 1, "caught": 0, "fair": [3], "often": [0], "late": 1, "year": 2}


def body(plan, *names, report_id="0f" * 16):
    answers = {name: VALUES[name] for name in names}
    return json.dumps({"plan": plan.digest, "report_id": report_id, "answers": answers}).encode()


def read(plan, *names):
    return read_report(open_envelope(body(plan, *names)), plan)


def test_the_sets_are_all_pairs_of_blocks(drawn):
    content = drawn.content
    assert [block.questions for block in content.blocks] == [
        ["copied", "caught"],
        ["fair"],
        ["often"],
        ["late"],
    ]
    assert len(content.sets) == 6
    assert {frozenset(["copied", "caught", "late"]), frozenset(["fair", "often"])} <= set(
        content.sets
    )


def test_a_report_of_a_set_is_taken_and_holds_nothing_of_the_others(drawn):
    report = read(drawn, "fair", "late", "year")
    assert report.values == [None, [3], None, None, 1]
    assert report.given == {"year": 2}
    accept_many(plan=drawn, reports=[report], today=TODAY)
    assert OpenReport.objects.get().values == "[null,[3],null,null,1]"


@pytest.mark.parametrize(
    "names",
    [
        ("year",),
        ("fair", "year"),
        ("copied", "late", "year"),  # without what follows from it
        ("fair", "often", "late", "year"),
        ("copied", "caught", "fair", "often", "late", "year"),
    ],
)
def test_a_report_about_questions_that_were_not_drawn_together_is_refused_by_name(drawn, names):
    with pytest.raises(Refused) as refusal:
        read(drawn, *names)
    assert (refusal.value.field, refusal.value.status) == ("answers", 422)
    assert "one of this Plan’s sets" in str(refusal.value)


def test_what_is_sent_as_given_is_asked_of_everybody(drawn):
    with pytest.raises(Refused) as refusal:
        read(drawn, "fair", "late")
    assert refusal.value.field == "answers.year"


def test_a_value_that_no_browser_can_have_sent_is_refused_in_a_set_too(drawn):
    sent = json.loads(body(drawn, "fair", "late", "year"))
    sent["answers"]["late"] = None
    with pytest.raises(Refused) as refusal:
        read_report(open_envelope(json.dumps(sent).encode()), drawn)
    assert refusal.value.field == "answers.late"


def test_the_same_report_with_another_set_is_a_conflict(drawn):
    accept_many(plan=drawn, reports=[read(drawn, "fair", "late", "year")], today=TODAY)
    with pytest.raises(Refused) as refusal:
        accept_many(plan=drawn, reports=[read(drawn, "fair", "often", "year")], today=TODAY)
    assert refusal.value.status == 409


def test_where_nothing_is_drawn_a_missing_question_is_named_as_before(plan):
    with pytest.raises(Refused) as refusal:
        read(plan, "copied", "fair")
    assert refusal.value.field == "answers.often"
