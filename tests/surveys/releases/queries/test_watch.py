"""Reached on the ask page: “Tell me when a share passes a limit”."""

import json
from collections import Counter
from fractions import Fraction

import pytest

from surveys.releases.queries.base import InteractiveQuery
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.watch import Watch
from tests.surveys.releases.queries.browsers import COLOURS, device, given, plan_with

EXAMPLES = [
    {"answer": "colour/1", "percent": "20"},
]  # on `scored_plans.everything`
PLAN = plan_with(
    given("team", ["A", "B"]),
    device("colour", COLOURS),
    device("moon", ["No", "Yes"], kind="yes_no"),
)
ALL = {"answer": "team/2", "percent": "20", "epsilon": "1"}
# people: limits are 2,000 away, noise of scale 2 reaches so far with a chance below e^−400
FAR = 10_000


def asked(plan=PLAN, **changes):
    return Watch.read(plan, ALL | changes)


def followed(watch, counts_of_batches):
    """Follow a watch through JSON, as a series does."""
    state, said = None, []
    for counts in counts_of_batches:
        n = sum(counts.values())
        state = watch.start(counts, n) if state is None else state
        state, numbers = watch.step(json.loads(json.dumps(state)), counts, n, None)
        said.append(numbers.tables[0].rows[0].value)
        if state["over"]:
            break
    return said


def people(b, n=FAR):
    return Counter({(0,): n - b, (1,): b})


def test_it_is_a_thing_that_goes_on():
    assert isinstance(asked(), InteractiveQuery)
    assert asked().question_form() is None


def test_what_a_form_takes_is_what_is_stored_and_read_again():
    form = Watch.form(PLAN)({**ALL, "percent": "20.0"})
    assert form.is_valid()
    assert ("colour/3", "Colour: Blue") in form.fields["answer"].choices
    first = Watch.read(PLAN, form.cleaned_data)
    assert first.document()["percent"] == "20"
    assert Watch.read(PLAN, json.loads(json.dumps(first.document()))) == first


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_it_says_not_yet_until_the_share_has_passed_and_then_it_ends(neighbours):
    watch = asked(plan_with(*PLAN.content.questions, neighbours=neighbours))
    said = followed(watch, [people(0), people(0, 2 * FAR), people(3 * FAR, 4 * FAR), people(0)])
    assert said == ["not yet", "not yet", "passed"]


def test_a_limit_behind_a_device_is_one_of_reports():
    watch = asked(answer="moon/2", percent="20")
    truth = Fraction(
        watch.answer.question.channel_document["weights"][1][1],
        sum(watch.answer.question.channel_document["weights"][1]),
    )
    exact = (1 - truth) + Fraction(1, 5) * (2 * truth - 1)
    assert exact <= watch.limit < exact + Fraction(1, 10**6)
    n, expected = FAR, round(FAR * float(exact))
    assert followed(watch, [people(expected - 200, n), people(expected + 200, n)]) == [
        "not yet",
        "passed",
    ]


def test_sets_are_counted_by_whether_they_hold_the_answer():
    watch = asked(answer="colour/3")
    (size,) = {watch.answer.question.channel_document["size"]}
    held = tuple(range(2, 2 + size))
    assert followed(watch, [Counter({(held,): FAR})]) == ["passed"]
    assert watch.draw(Counter({((0,),): FAR}), FAR).tables[0].rows[0].value == "not yet"


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_it_costs_what_was_asked_whatever_the_number_of_looks(neighbours):
    watch = asked(plan_with(*PLAN.content.questions, neighbours=neighbours))
    assert watch.cost.epsilon <= 1 < watch.cost.epsilon * 2


def test_one_person_moves_a_query_by_no_more_than_is_stated_where_n_is_not_public():
    watch = asked(plan_with(*PLAN.content.questions, neighbours="add-remove"), percent="30")
    queries = [watch._query(people(b, n))[0] for b, n in ((5, 20), (5, 21), (6, 21))]
    assert (
        max(abs(query - queries[0]) for query in queries[1:])
        == watch.engine.of_threshold.sensitivity
    )


def test_what_is_expected_depends_on_no_answer():
    assert "wait for more answers" in asked().expected(5)[-1]
    assert len(asked().expected(100_000)) == 1
    hidden = asked(plan_with(*PLAN.content.questions, neighbours="add-remove"))
    assert hidden.draw(people(5), FAR).notes == []


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("answer", "team/3"),
        ("answer", "team/0"),
        ("answer", "team"),
        ("answer", "none/1"),
        ("answer", 2),
        ("answer", "team/²"),
        ("percent", "0"),
        ("percent", "100"),
        ("percent", "x"),
        ("percent", "20.05"),
        ("percent", "NaN"),
        ("epsilon", "-1"),
    ],
)
def test_parameters_that_cannot_be_are_refused_by_name(field, wrong):
    with pytest.raises(WrongParameter) as refusal:
        asked(**{field: wrong})
    assert refusal.value.field == field
