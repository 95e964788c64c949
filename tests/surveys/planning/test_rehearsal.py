"""A rehearsal takes made-up people through the real code, finds no bias, and intervals that
hold.
"""

import json
from decimal import Decimal
from unittest.mock import patch

import pytest
from msgspec import convert, to_builtins
from msgspec.structs import replace

from dpengine.local.table import Table
from dpengine.randomness import system_stream
from surveys.ledger.models import Entry
from surveys.plan.content import read
from surveys.planning.population import Population, population_of, usual
from surveys.planning.rehearsal import Record, Rehearsal, RehearsedQuestion
from surveys.releases.models import Release
from tests.plans import whole
from tests.surveys.planning.made_up import PlannedQuestion

KINDS = {
    "yes_no": PlannedQuestion.made_up("yes_no"),
    "single": PlannedQuestion.made_up("single", choices=6),
    "multiple": PlannedQuestion.made_up("multiple", choices=3),
    "mean": PlannedQuestion.made_up("number", most=20),
    "distribution": PlannedQuestion.made_up("number", most=20, wanted="distribution"),
}
RUNS = 40


def content_of(*names):
    questions = [replace(KINDS[name].at(Decimal("1.5")).content, name=name) for name in names]
    return read(whole(questions=questions))


def rehearsal_of(*names):
    content = content_of(*names)
    population = population_of(content, {each.name: usual(each) for each in content.questions})
    return Rehearsal(content, population), population


def rehearsed(runs, people, *names):
    rehearsal, population = rehearsal_of(*names)
    record = Record()
    for _ in range(runs):
        record.add(rehearsal.run(people), population.truths())
    return record


@pytest.mark.parametrize("name", ["yes_no", "single", "multiple", "mean"])
def test_nothing_is_biased_and_intervals_hold(name):
    """Seven standard errors of a bias (Student's t, 39 degrees of freedom) and fewer than 28 of 40
    intervals of which 95 in 100 hold: less likely than 1e-7, each.
    """
    record = rehearsed(RUNS, 300, name)
    for bias, error in record.bias(name):
        assert abs(bias) < 7 * error
    assert record.coverage(name)[0] >= 28 / RUNS


def test_limits_of_a_distribution_hold_every_part_of_the_scale():
    record = rehearsed(RUNS, 300, "distribution")
    assert record.coverage("distribution")[0] >= 28 / RUNS


def test_every_answer_goes_through_the_channel_itself():
    rehearsal, _ = rehearsal_of("yes_no")
    with patch.object(Table, "randomise", autospec=True, side_effect=Table.randomise) as randomise:
        rehearsal.run(50)
    assert randomise.call_count == 50


def test_an_answer_that_is_sent_as_given_is_not_changed():
    content = content_of("yes_no")
    question = replace(
        content.questions[0], protection="publication", channel_document=None, own_loss=None
    )
    content = replace(content, questions=[question])
    rehearsal = Rehearsal(content, Population((question,), {"yes_no": [3000, 7000]}))
    assert [rehearsal.questions[0].report(answer, system_stream) for answer in (0, 1, 1)] == [
        0,
        1,
        1,
    ]


def test_a_record_comes_back_from_the_page_as_it_went():
    record = rehearsed(3, 60, "yes_no", "single")
    written = json.loads(json.dumps(to_builtins(record)))
    assert convert(written, Record) == record


def test_coverage_states_its_own_margin():
    record = rehearsed(20, 60, "yes_no")
    covered, low, high = record.coverage("yes_no")
    assert low < covered <= high
    assert high - low > 0.05


@pytest.mark.django_db
def test_nothing_is_stored_or_charged(plan):
    before = Entry.objects.count()
    content = plan.content
    Rehearsal(
        content,
        population_of(content, {each.name: usual(each) for each in content.questions}),
    ).run(60)
    assert Entry.objects.count() == before
    assert not Release.objects.exists()


def test_a_question_has_the_name_of_its_question():
    rehearsal, _ = rehearsal_of("yes_no", "mean")
    assert [part.name for part in rehearsal.questions] == ["yes_no", "mean"]
    assert isinstance(rehearsal.questions[0], RehearsedQuestion)
