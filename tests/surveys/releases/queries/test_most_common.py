"""Reached on the ask page: “Most common answers”."""

import json
from collections import Counter

import pytest

from dpengine.central.selection import Law
from surveys.releases.queries.base import Query
from surveys.releases.queries.most_common import MostCommon
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.statistics import marginal
from tests.surveys.releases.queries.browsers import COLOURS, device, given, number, plan_with

EXAMPLES = [
    {"question": "colour", "best": 2},
    {"question": "team", "best": 1},
]  # on `scored_plans.everything`
UNEVEN = {
    **device("uneven", ["No", "Yes"]),
    "channel": {"kind": "table", "weights": [[3, 1], [2, 2]]},
}
PLAN = plan_with(
    given("team", [*"ABCD", "Prefer not to say"], decline=1),
    device("colour", COLOURS, "3"),
    number("n", 0, 9),
)
PEOPLE = Counter({(0,): 500, (1,): 300, (2,): 100, (3,): 0, (4,): 900})


def asked(question="team", best=1, epsilon="1", plan=PLAN):
    return MostCommon.read(plan, {"question": question, "best": best, "epsilon": epsilon})


def test_it_is_a_thing_that_can_be_asked():
    assert isinstance(asked(), Query)


def test_what_a_form_takes_is_what_is_stored_and_read_again():
    form = MostCommon.form(PLAN)({"question": "colour", "best": "2", "epsilon": "0.5"})
    assert form.is_valid()
    first = MostCommon.read(PLAN, form.cleaned_data)
    assert MostCommon.read(PLAN, json.loads(json.dumps(first.document()))) == first
    assert (first.names, first.document()["epsilon"]) == (("colour",), "0.5")


def test_the_most_common_are_named_in_order_and_who_declines_is_no_answer():
    """Answers 200 people apart at ε = 2: another order has a chance below e^−90."""
    (table,) = asked(best=2, epsilon="2").draw(PEOPLE, 1800).tables
    assert [row.value for row in table.rows] == ["A", "B"]


def test_reports_of_sets_count_for_every_choice_they_hold():
    assert marginal(Counter({((0, 2),): 3, ((2, 4),): 4}), 0, 5) == [3, 0, 7, 0, 4]
    (table,) = (
        asked("colour", epsilon="5").draw(Counter({((0, 2),): 300, ((2, 4),): 400}), 700).tables
    )
    assert table.rows[0].value == "Blue"


def test_it_costs_what_was_asked_and_is_the_exponential_mechanism_where_rho_is_paid():
    pure, concentrated = (
        asked(best=2),
        asked(best=2, plan=plan_with(*PLAN.content.questions, rho=True)),
    )
    assert pure.cost.epsilon <= 1 < pure.cost.epsilon * 2
    assert pure.engine.law is Law.NOISY_MAX
    assert concentrated.cost.rho <= 1 / 2 < concentrated.cost.rho * 1.001
    assert concentrated.engine.law is Law.EXPONENTIAL
    assert concentrated.engine.scale < pure.engine.scale


def test_what_is_expected_is_said_before_it_is_asked_and_depends_on_no_answer():
    few, many = asked().expected(3), asked().expected(100_000)
    assert "little more than chance" in few[1]
    assert len(many) == 1
    assert "Devices" in asked("colour").expected(100_000)[-1]


def test_taking_part_is_protected_by_less_noise_since_counts_move_one_way():
    alone = asked(plan=plan_with(*PLAN.content.questions, neighbours="add-remove"))
    assert (asked().engine.spread, alone.engine.spread) == (2, 1)


def test_questions_whose_reports_have_another_order_than_people_are_not_offered():
    plan = plan_with(UNEVEN)
    assert MostCommon.form(plan) is None
    with pytest.raises(WrongParameter, match="question"):
        asked("uneven", plan=plan)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("best", 4), ("best", 0), ("best", "two"), ("epsilon", "0"), ("question", "n")],
)
def test_parameters_that_cannot_be_are_refused_by_name(field, wrong):
    with pytest.raises(WrongParameter) as refusal:
        MostCommon.read(PLAN, {"question": "team", "best": 1, "epsilon": "1", field: wrong})
    assert refusal.value.field == field
