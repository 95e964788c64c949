"""Reached on the ask page of a study with an answer that is sent as given: “People in many
ranges or groups”.
"""

import json
from collections import Counter
from decimal import Decimal

import pytest

from surveys.design.models import Plan
from surveys.releases.queries.base import Query
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.ranges import Ranges
from tests.plans import whole

EXAMPLES = [
    {"question": "cost", "ranges": "0-9\n5-50\n7"},
]  # on `scored_plans.everything`
AGE = {
    "name": "age",
    "kind": "number",
    "label": "Age",
    "choices": [],
    "least": 18,
    "most": 99,
    "unit": "years",
    "protection": "publication",
}
FAIR = {
    "name": "fair",
    "kind": "likert",
    "label": "Fair",
    "choices": ["No", "Hardly", "Quite", "Yes"],
    "protection": "publication",
}
SECRET = {
    "name": "secret",
    "kind": "yes_no",
    "label": "Secret",
    "choices": ["No", "Yes"],
    "protection": "device",
}
LINES = "18-29\n30 – 64\n18 to 64\n65..99, 18"
PEOPLE = Counter({(20,): 30, (40,): 50, (99,): 20})


def plan_with(*questions, caps=None):
    content = {
        "neighbours": "change-one",
        "questions": list(questions),
        "caps": caps or {"central_epsilon": "2"},
    }
    return Plan(document=whole(**content))


PLAN = plan_with(AGE, FAIR, SECRET)
CONCENTRATED = plan_with(AGE, caps={"central_epsilon": "2", "central_rho": "0.5"})


def asked(ranges=LINES, question="age", plan=PLAN, epsilon="1"):
    return Ranges.read(plan, {"question": question, "ranges": ranges, "epsilon": epsilon})


def test_it_is_a_thing_that_can_be_asked():
    assert isinstance(asked(), Query)


def test_a_form_offers_the_answers_that_are_known_as_given():
    form = Ranges.form(PLAN)({"question": "age", "ranges": LINES, "epsilon": "0.5"})
    assert [name for name, _ in form.fields["question"].choices] == ["age", "fair"]
    assert form.is_valid()
    assert Ranges.read(PLAN, form.cleaned_data).epsilon == Decimal("0.5")


def test_a_study_without_such_answers_offers_nothing():
    assert Ranges.form(plan_with(SECRET)) is None


def test_what_was_stored_is_read_as_the_same_request():
    first = asked()
    stored = json.loads(json.dumps(first.document()))
    assert stored["ranges"] == [[[18, 29]], [[30, 64]], [[18, 64]], [[18, 18], [65, 99]]]
    assert Ranges.read(PLAN, stored).document() == first.document()
    assert first.names == ("age",)


@pytest.mark.parametrize("plan", [PLAN, CONCENTRATED], ids=["pure", "concentrated"])
def test_it_costs_what_was_asked_and_no_more(plan):
    cost = asked(plan=plan).cost
    assert cost.is_pure or plan is CONCENTRATED
    paid, asked_for = (cost.rho, 1 / 2) if plan is CONCENTRATED else (cost.epsilon, 1)
    assert paid <= asked_for < paid * (1 + 1e-9)


def test_a_concentrated_study_gets_the_more_precise_noise():
    wide = "\n".join(f"18-{age}" for age in range(20, 70))
    pure, concentrated = asked(wide), asked(wide, plan=CONCENTRATED)
    assert "Gaussian" in concentrated.mechanism
    assert sum(concentrated.engine.standard_errors) < sum(pure.engine.standard_errors) / 2


def test_numbers_are_counted_where_they_belong():
    """ε = 20: scale 0.1, so a count is off by 1 or more with chance 1e-4 and by 3 with less than
    1e-12.
    """
    numbers = asked(epsilon="20").draw(PEOPLE, 100)
    people, shares = numbers.tables
    assert [row.value for row in people.rows] == pytest.approx([30, 50, 80, 20], abs=6)
    assert [row.label for row in people.rows] == [
        "18 to 29 years",
        "30 to 64 years",
        "18 to 64 years",
        "18 years, 65 to 99 years",
    ]
    assert shares.rows[2].value == people.rows[2].value
    assert all(0 <= row.low <= row.high <= 100 for table in numbers.tables for row in table.rows)
    json.dumps(numbers.document())


def test_parts_add_up_to_the_last_digit():
    young, old, both, _ = (
        row.value for row in asked(epsilon="0.1").draw(PEOPLE, 100).tables[0].rows
    )
    assert young + old == pytest.approx(both, abs=1e-5)


def test_choices_are_named_by_their_places():
    numbers = asked("1-2\n4\n1, 3", question="fair", epsilon="20").draw(
        Counter({(0,): 10, (3,): 40}), 50
    )
    rows = numbers.tables[0].rows
    assert [row.label for row in rows] == ["No to Hardly", "Yes", "No, Quite"]
    assert [row.value for row in rows] == pytest.approx([10, 40, 10], abs=6)


def test_nobody_is_no_error():
    numbers = asked().draw(Counter(), 0)
    assert len(numbers.tables) == 1


@pytest.mark.parametrize("n", [0, 200])
def test_the_error_is_said_before_anything_is_drawn(n):
    lines = asked().expected(n)
    assert len(lines) == 4
    assert ("of 100, in" in lines[0]) == (n > 0)


def test_the_ledger_is_told_noise_and_sensitivity():
    assert asked().mechanism.startswith("discrete Laplace on ")
    assert asked().sensitivity.endswith("L1, of the strategy’s whole numbers")
    assert asked(plan=CONCENTRATED).sensitivity.endswith("whole numbers")


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ("", "expected 1 to 60 lines, got 0"),
        (None, "expected 1 to 60 lines, got 0"),
        ("\n".join(str(age) for age in range(18, 79)), "expected 1 to 60 lines, got 61"),
        ("young", "expected a range a line"),
        ("18-", "expected a range a line"),
        ("17-20", "within 18 to 99"),
        ("30-20", "the smaller end first"),
        ("90-100", "within 18 to 99"),
        ("20\n20", "lines that differ"),
        ("18-99", "not public already"),
        ([[[18]]], "expected lists of pairs"),
        ([5], "expected lists of pairs"),
        ([[]], "expected pairs of whole numbers"),
        ([[[18, True]]], "expected pairs of whole numbers"),
    ],
)
def test_ranges_that_cannot_be_are_refused(ranges, message):
    with pytest.raises(WrongParameter, match=message):
        asked(ranges)


def test_another_kind_of_question_is_refused():
    with pytest.raises(WrongParameter, match="question: Select a valid choice"):
        asked(question="secret")


def test_places_beyond_the_choices_are_refused():
    with pytest.raises(WrongParameter, match="within 1 to 4"):
        asked("5", question="fair")
