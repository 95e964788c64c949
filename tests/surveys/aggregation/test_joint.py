"""Reports, batches and tallies of a study that sends some questions as one answer."""

import json

import pytest
from msgspec.structs import replace

from surveys.aggregation import columns, selectors, services
from surveys.aggregation.models import Tally
from surveys.demo.services import answer_as_browsers
from surveys.intake.models import OpenReport
from surveys.intake.reports import Refused, open_envelope, read_report
from surveys.plan.content import read
from tests.conftest import TODAY

PEOPLE = 200
TRUTH = {"copied": 1, "caught": 0, "fair": 2, "often": 1, "late": 0, "year": 1}


@pytest.fixture
def reports(joint):
    answer_as_browsers(joint, [TRUTH] * PEOPLE, TODAY)
    return [json.loads(values) for values in OpenReport.objects.values_list("values", flat=True)]


def read_body(plan, answers):
    message = {"plan": plan.digest, "report_id": "0f" * 16, "answers": answers}
    return read_report(open_envelope(json.dumps(message).encode()), plan)


def test_a_report_holds_one_value_for_a_joint_block(joint):
    content = joint.content
    assert list(content.reports) == ["fair", "often", "theft"]
    cells = content.reports["theft"].channel.cells
    assert cells == 2 * 3 * 2
    value = content.reports["theft"].randomise((1, 0, 0))
    assert read_body(joint, {"theft": value, "year": 2}).values == [None, None, value]


@pytest.mark.parametrize(
    ("answers", "field", "text"),
    [
        ({"copied": 1, "caught": 0, "late": 1, "year": 2}, "answers.copied", "in one answer with"),
        ({"theft": [0], "copied": 1, "year": 2}, "answers.copied", "others, theft"),
        (
            {"theft": [0], "fair": [1], "often": [0], "year": 2},
            "answers",
            "one of this Plan’s sets",
        ),
        ({"theft": 3.5, "year": 2}, "answers.theft", "expected"),
        ({"theft": [12], "year": 2}, "answers.theft", "expected"),
        ({"stolen": [1], "year": 2}, "answers.stolen", "no such question"),
    ],
)
def test_anything_else_is_refused_by_name(joint, answers, field, text):
    with pytest.raises(Refused) as refusal:
        read_body(joint, answers)
    assert refusal.value.field == field
    assert text in str(refusal.value)


def test_a_batch_has_one_column_for_it_and_each_question_a_view_of_it(joint, reports, monkeypatch):
    monkeypatch.setattr(services, "MAX_BATCH", 70)
    services.sweep_all(today=TODAY)
    held = [row[2] for row in reports if row[2] is not None]
    counts, batches = selectors.totals(joint), selectors.sealed_batches(joint)
    assert batches > 1
    assert 0 < len(held) < PEOPLE
    theft = joint.content.reports["theft"]
    for place, name in enumerate(["copied", "caught", "late"]):
        digits = [theft.decode(cell)[place] for value in held for cell in value]
        choices = len(joint.content.question(name).choices)
        assert counts[name] == [digits.count(at) for at in range(choices)]
        assert selectors.asked_of(joint, [name], counts) == len(held)
        assert selectors.reports_in(joint, batches, [name]) == len(held)
    assert sum(counts["fair"]) % (PEOPLE - len(held)) == 0
    assert "theft" not in counts
    running = Tally.objects.get().counts
    assert set(running) == {columns.SETS, "fair", "often", "theft"}
    assert (
        selectors.recount(joint, selectors.sealed(joint, batches), joint.content.reports) == running
    )
    assert selectors.totals(joint, batches) == counts
    assert selectors.joint(joint, ["theft"]).total() == len(held)
    with pytest.raises(ValueError, match="sent apart, got copied"):
        selectors.joint(joint, ["copied"])


def test_a_plan_is_read_as_it_was_written(joint):
    content = read(joint.document)
    assert content.question("late").sent_in == "theft" == content.sent_in("copied")
    assert content.question("late").loss == content.blocks[0].loss
    assert content.report_of("late") == content.report_of("copied") == "joint/1/theft"
    assert content.spoken("zh-hans").question("late").together is not None
    assert content.report_sets == [{"theft"}, {"fair", "often"}]


def test_what_is_sent_as_one_is_one_answer(joint):
    content = read(joint.document)
    assert content.records == [each | {"year"} for each in content.sets]
    one = replace(content, unit="answer-in-study")
    held = [each for each in one.records if "copied" in each]
    assert held == [frozenset(content.blocks[0].questions)]
    assert {"joint/1/theft"} in one.reading(["year"], []).sets
    assert one.loss_of_record is None  # the year is sent as given
