"""Reached on the ask page: “Check numbers found elsewhere”."""

from collections import Counter
from fractions import Fraction

import pytest

from surveys.releases.queries.base import InteractiveQuery
from surveys.releases.queries.check import Check
from surveys.releases.queries.parameters import WrongParameter
from tests.surveys.releases.queries.scored_plans import FAIR, HOURS, SHY, plan_with, rows_of, stored

EXAMPLES = [
    {"questions": ["side", "colour"], "tolerance": "5", "numbers": 3},
]  # on `scored_plans.everything`
PLAN = plan_with(HOURS, FAIR, SHY)
# fair: 25 % No, 75 % Yes; both Yes: 25 %
ANSWERS = Counter({(0, 0): 1000, (3, 0): 2000, (3, 2): 1000})


def asked(plan=PLAN, **parameters):
    usual = {"questions": ["shy", "fair"], "tolerance": "5", "numbers": 2, "epsilon": "4"}
    return Check.read(plan, usual | parameters)


def stated(percent, choice=4, **more):
    return {"question": "fair", "choice": choice, "percent": percent, **more}


def test_it_is_a_thing_that_goes_on():
    assert isinstance(asked(), InteractiveQuery)


def test_a_form_reads_as_its_document_does():
    form = Check.form(PLAN)(
        {"questions": ["shy", "fair"], "tolerance": "2.5", "numbers": "3", "epsilon": "1"}
    )
    assert form.is_valid(), form.errors
    first = Check.read(PLAN, form.cleaned_data)
    assert Check.read(PLAN, stored(first)).document() == first.document()
    assert first.names == ("fair", "shy")


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_what_stands_costs_no_number_and_what_does_not_is_answered(neighbours):
    check = asked(plan_with(FAIR, SHY, neighbours=neighbours))
    state = check.start(ANSWERS, 4000)
    state, first = check.step(state, ANSWERS, 4000, stated("74"))
    assert rows_of(first)[0].value == "it stands"
    state, second = check.step(state, ANSWERS, 4000, stated("50", second="shy", second_choice=3))
    (row,) = rows_of(second)
    assert row.value == pytest.approx(25, abs=2)
    assert row.low <= 25 <= row.high
    assert not state["over"]
    state, _ = check.step(state, ANSWERS, 4000, stated("0"))
    assert state["over"]
    with pytest.raises(WrongParameter, match="nothing more can be asked"):
        check.step(state, ANSWERS, 4000, stated("75"))


@pytest.mark.parametrize(("count", "ends"), [(-52, (0, 1)), (260, (99, 100))])
def test_a_number_that_noise_took_beyond_all_people_is_no_single_point(count, ends):
    row = asked(epsilon="0.5")._share("Fair", count, 200)
    assert row.low <= ends[0]
    assert row.high >= ends[1]


def test_a_question_is_read_from_its_form():
    form = asked().question_form()(
        {"question": "fair", "choice": "4", "percent": "75", "second": ""}
    )
    assert form.is_valid(), form.errors
    check = asked()
    _, numbers = check.step(check.start(ANSWERS, 4000), ANSWERS, 4000, form.cleaned_data)
    assert "75 %" in numbers.tables[0].caption


def test_it_costs_what_was_asked_and_no_more():
    assert 0.699999 < asked(epsilon="0.7").cost.epsilon <= Fraction(7, 10)


def test_its_first_draw_tells_nothing():
    assert asked().draw(ANSWERS, 4000).tables == []


@pytest.mark.parametrize("n", [0, 1, 4000])
def test_what_to_expect_needs_no_answers(n):
    assert len(asked().expected(n)) == (2 if n == 4000 else 3)
    assert "2 numbers" in asked().mechanism
    assert "1 person" in asked().sensitivity


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"questions": []}, "questions"),
        ({"questions": ["hours"]}, "questions"),
        ({"questions": "fair"}, "questions"),
        ({"tolerance": "0"}, "tolerance"),
        ({"tolerance": "nan"}, "tolerance"),
        ({"numbers": 51}, "numbers"),
        ({"epsilon": None}, "epsilon"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changed, field):
    with pytest.raises(WrongParameter) as refused:
        asked(**changed)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ({}, "question"),
        (stated("10", choice=5), "choice"),
        (stated("10", choice=None), "choice"),
        (stated("101"), "percent"),
        (stated(None), "percent"),
        (stated("10", second="fair", second_choice=1), "second"),
        (stated("10", second="shy"), "second_choice"),
    ],
)
def test_a_wrong_question_is_refused_before_anything_is_drawn(question, field):
    check = asked()
    with pytest.raises(WrongParameter) as refused:
        check.step(check.start(ANSWERS, 4000), ANSWERS, 4000, question)
    assert refused.value.field == field


def test_a_plan_without_answers_sent_as_given_offers_nothing():
    assert Check.form(plan_with(HOURS)) is None
