"""A rehearsal takes made-up people through the real code, finds no bias, and intervals that hold."""

import json
from decimal import Decimal
from unittest.mock import patch

import pytest

from dpengine.local.table import Table
from dpengine.randomness import system_words
from surveys.ledger.models import Entry
from surveys.planning.people import Crowd, crowd_of, usual
from surveys.planning.rehearsal import Part, Record, Stage, estimates
from surveys.planning.topics import Topic
from surveys.releases.models import Release

KINDS = {
    "yes_no": Topic.made_up("yes_no"),
    "single": Topic.made_up("single", choices=6),
    "multiple": Topic.made_up("multiple", choices=3),
    "mean": Topic.made_up("number", most=20),
    "distribution": Topic.made_up("number", most=20, wanted="distribution"),
}
RUNS = 40


def content_of(*names):
    questions = [{**KINDS[name].at(Decimal("1.5")).content, "name": name} for name in names]
    return {
        "questions": questions,
        "neighbours": "change-one",
        "publication": {"epsilon": "1", "rule": "when-closed"},
    }


def stage_of(*names):
    content = content_of(*names)
    crowd = crowd_of(content, {each["name"]: usual(each) for each in content["questions"]})
    return Stage.of(content, crowd), crowd


def rehearsed(runs, people, *names):
    stage, crowd = stage_of(*names)
    record = Record()
    for _ in range(runs):
        record.add(stage.rehearse(people), crowd.truths())
    return record


@pytest.mark.parametrize("name", ["yes_no", "single", "multiple", "mean"])
def test_nothing_is_biased_and_intervals_hold(name):
    """Five standard errors of a bias, 40 intervals of which 95 in 100 hold: fewer than 31 is less likely than 1e-5."""
    record = rehearsed(RUNS, 300, name)
    for bias, error in record.bias(name):
        assert abs(bias) < 5 * error
    assert record.coverage(name)[0] > 31 / RUNS


def test_limits_of_a_distribution_hold_every_part_of_the_scale():
    record = rehearsed(2, 300, "distribution")
    assert record.coverage("distribution")[0] == 1.0


def test_every_answer_goes_through_the_channel_itself():
    stage, _ = stage_of("yes_no")
    with patch.object(Table, "randomise", autospec=True, side_effect=Table.randomise) as randomise:
        stage.rehearse(50)
    assert randomise.call_count == 50


def test_an_answer_that_is_sent_as_given_is_not_changed():
    question = {**content_of("yes_no")["questions"][0], "protection": "publication"}
    del question["channel"], question["loss"]
    content = {**content_of("yes_no"), "questions": [question]}
    stage = Stage.of(content, Crowd((question,), {"yes_no": [3000, 7000]}))
    assert [stage.parts[0].report(answer, system_words) for answer in (0, 1, 1)] == [0, 1, 1]


def test_remembered_estimates_are_those_of_the_tally():
    for name in ("yes_no", "single", "multiple"):
        stage, _ = stage_of(name)
        (part,) = stage.parts
        noisy = [40, 61, 52, 49, 55, 47][: part.tally.cells]
        noisy = noisy[: len(part.question["choices"])]
        noise = part.law.noise
        assert estimates(part.question, part.tally, noisy, 200, noise) == part.tally.estimates(noisy, 200, noise)


def test_a_record_comes_back_from_the_page_as_it_went():
    record = rehearsed(3, 60, "yes_no", "single")
    written = json.loads(json.dumps(record.document()))
    assert Record.read(written).document() == written
    assert Record.read(written).coverage_of_all == record.coverage_of_all


def test_coverage_states_its_own_margin():
    record = rehearsed(20, 60, "yes_no")
    covered, low, high = record.coverage("yes_no")
    assert low < covered <= high
    assert high - low > 0.05


@pytest.mark.django_db
def test_nothing_is_stored_or_charged(plan):
    before = Entry.objects.count()
    content = plan.content
    Stage.of(content, crowd_of(content, {each["name"]: usual(each) for each in content["questions"]})).rehearse(60)
    assert Entry.objects.count() == before
    assert not Release.objects.exists()


def test_a_part_has_the_name_of_its_question():
    stage, _ = stage_of("yes_no", "mean")
    assert [part.name for part in stage.parts] == ["yes_no", "mean"]
    assert isinstance(stage.parts[0], Part)
