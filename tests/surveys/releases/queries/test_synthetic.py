"""Reached on the ask page of a study with answers that are sent as given: “A synthetic data
set”.
"""

import csv
import io
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest

from surveys.design.models import Plan
from surveys.messages import MESSAGES
from surveys.releases.covered import OF_OLDER_VERSIONS
from surveys.releases.numbers import Numbers
from surveys.releases.queries.base import Query
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.synthetic import NO_TABLE, Synthetic
from surveys.results.tables import people_csv
from tests.plans import whole

EXAMPLES = [
    {"questions": ["side", "cost"], "bins": 5},
    {"questions": ["side"]},
]  # on `scored_plans.everything`
AGE = {
    "name": "age",
    "kind": "number",
    "label": "Age",
    "choices": [],
    "least": 18,
    "most": 97,
    "unit": "years",
    "protection": "publication",
}
FAIR = {
    "name": "fair",
    "kind": "single",
    "label": "Fair",
    "choices": ["No", "Yes", "Don’t know, “really”"],
    "protection": "publication",
}
SECRET = {
    "name": "secret",
    "kind": "yes_no",
    "label": "Secret",
    "choices": ["No", "Yes"],
    "protection": "device",
}
SEVEN = [  # 201,684 combinations of answers
    {**FAIR, "name": f"q{at}", "label": f"Q{at}", "choices": [*"abcdefg"][:size]}
    for at, size in enumerate((7, 7, 7, 7, 7, 6, 2))
]
PEOPLE = Counter({(20, 0): 30, (40, 1): 50, (97, 1): 20})


def plan_with(*questions, caps=None):
    content = {
        "neighbours": "change-one",
        "questions": list(questions),
        "caps": caps or {"central_epsilon": "2"},
    }
    return Plan(document=whole(**content))


PLAN = plan_with(AGE, FAIR, SECRET)
CONCENTRATED_CAPS = {"central_epsilon": "2", "central_rho": "0.5"}
CONCENTRATED = plan_with(AGE, FAIR, caps=CONCENTRATED_CAPS)


def asked(questions=("age", "fair"), plan=PLAN, bins=8, epsilon="1"):
    return Synthetic.read(plan, {"questions": list(questions), "bins": bins, "epsilon": epsilon})


def test_it_is_a_thing_that_can_be_asked():
    assert isinstance(asked(), Query)


def test_a_form_offers_the_answers_that_are_known_as_given():
    form = Synthetic.form(PLAN)({"questions": ["fair", "age"], "bins": "4", "epsilon": "1"})
    assert [name for name, _ in form.fields["questions"].choices] == ["age", "fair"]
    assert form.is_valid()
    found = Synthetic.read(PLAN, form.cleaned_data)
    assert found.document() == {"bins": 4, "epsilon": "1", "questions": ["age", "fair"]}
    assert Synthetic.read(PLAN, found.document()).document() == found.document()


def test_a_study_without_such_answers_offers_nothing():
    assert Synthetic.form(plan_with(SECRET)) is None


@pytest.mark.parametrize("plan", [PLAN, CONCENTRATED], ids=["pure", "concentrated"])
def test_it_costs_what_was_asked_and_no_more(plan):
    cost = asked(plan=plan).cost
    assert cost.rho <= 1 / 2 < cost.rho * (1 + 1e-9) or plan is PLAN
    assert cost.is_pure == (plan is PLAN)
    assert plan is CONCENTRATED or cost.epsilon <= 1 < cost.epsilon * (1 + 1e-9)


def test_made_up_people_have_the_columns_of_the_real_ones():
    numbers = asked(epsilon="20").draw(PEOPLE, 100)
    rows = list(csv.reader(io.StringIO(people_csv(numbers))))
    assert rows[0] == ["age", "fair"]
    assert len(rows) == 101
    assert all(18 <= int(age) <= 97 and fair in FAIR["choices"] for age, fair in rows[1:])
    young_no = sum(int(age) <= 27 and fair == "No" for age, fair in rows[1:])
    assert young_no == pytest.approx(30, abs=8)


def test_the_error_of_every_table_stands_beside_it():
    numbers = asked().draw(PEOPLE, 100)
    noise, distance, *columns = numbers.tables
    assert [row.label for row in noise.rows] == ["Age", "Fair", "Age × Fair"]
    assert [row.value for row in noise.rows] == pytest.approx([20, 20, 2.5], abs=0.1)
    assert all(row.value >= 0 for row in distance.rows)
    assert [table.caption for table in columns] == [
        "Age: published counts",
        "Fair: published counts",
    ]
    assert [row.label for row in columns[0].rows][::7] == ["18 to 27", "88 to 97"]
    assert [row.label for row in columns[1].rows] == FAIR["choices"]
    assert all(row.low <= max(row.value, 0) <= row.high for table in columns for row in table.rows)


def test_values_that_do_not_divide_are_all_in_a_range():
    cuts = asked(bins=9).cuts[0]
    assert [len(cut) for cut in cuts] == [9] * 8 + [8]
    few = asked(("age",), plan=plan_with({**AGE, "most": 20}), bins=50)
    assert [list(cut) for cut in few.cuts[0]] == [[18], [19], [20]]
    assert few.draw(Counter({(19,): 4}), 4).tables[2].rows[1].label == "19"


@pytest.mark.parametrize("people", [Counter(), Counter({(18, 2): 1})], ids=["nobody", "one"])
def test_nobody_and_one_are_no_error(people):
    numbers = asked().draw(people, sum(people.values()))
    assert sum(row[-1] for row in numbers.people) == sum(people.values())


@pytest.mark.parametrize("n", [0, 200])
def test_the_error_is_said_before_anything_is_drawn(n):
    lines = asked().expected(n)
    assert len(lines) == 4
    assert ("of 100." in lines[0]) == (n > 0)


def test_the_ledger_is_told_noise_and_sensitivity():
    assert asked().mechanism == "discrete Laplace on 3 tables, synthetic rows drawn from them"
    assert asked().sensitivity == "2 counts by 1 in each table"
    assert asked().names == ("age", "fair")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"questions": []}, "questions: This field is required"),
        ({"questions": "age"}, "questions: Enter a list"),
        ({"questions": ["secret"]}, "questions: Select a valid choice"),
        ({"bins": 1}, "greater than or equal to 2"),
        ({"bins": "eight"}, "bins: Enter a whole number"),
        ({"epsilon": "0"}, "epsilon"),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameters, message):
    with pytest.raises(WrongParameter, match=message):
        Synthetic.read(PLAN, {"questions": ["age"], "bins": 5, "epsilon": "1"} | parameters)


def test_seven_ordinary_columns_are_made():
    chance = random.Random(20261123)  # of people, not of noise
    people = Counter()
    for _ in range(1885):
        first = chance.randrange(7)
        people[(first, *(min(first, most) for most in (6, 6, 6, 6, 5, 1)))] += 1
    for plan in (plan_with(*SEVEN), plan_with(*SEVEN, caps=CONCENTRATED_CAPS)):
        query = asked([question["name"] for question in SEVEN], plan=plan)
        numbers = query.draw(people, 1885)
        assert sum(row[-1] for row in numbers.people) == 1885
        noise, distance, *columns = numbers.tables
        assert len(noise.rows) == len(distance.rows) > 7
        assert len(noise.rows) + len(distance.rows) <= query.published
        assert len(columns) == 7
        pairs = [row.label for row in noise.rows[7:]]
        assert {*pairs} <= {f"Q{one} × Q{other}" for one, other in combinations(range(7), 2)}
        assert (NO_TABLE() in numbers.notes) == (len(pairs) < 21)


def test_the_ledger_is_told_how_pairs_are_chosen():
    names = [question["name"] for question in SEVEN]
    pure, concentrated = (
        asked(names, plan=plan_with(*SEVEN, caps=caps)) for caps in (None, CONCENTRATED_CAPS)
    )
    assert pure.mechanism == (
        "discrete Laplace on the tables of 7 columns and of chosen pairs (report noisy max), "
        "synthetic rows drawn from them"
    )
    assert "discrete Gaussian" in concentrated.mechanism
    assert "(exponential mechanism)" in concentrated.mechanism
    assert pure.sensitivity == ("2 counts by 1 in each table, scores of pairs by 4 from each other")
    assert pure.cost.epsilon == 1
    assert concentrated.cost.rho == Fraction(1, 2)


def test_what_is_expected_of_pairs_is_said_before_they_are_chosen():
    lines = asked([question["name"] for question in SEVEN], plan=plan_with(*SEVEN)).expected(1885)
    assert len(lines) == 9
    assert lines[7].startswith("Pairs of columns, at most 21, are chosen one after another")


def test_more_columns_than_can_be_are_refused():
    many = [{**FAIR, "name": f"q{at}"} for at in range(21)]
    with pytest.raises(WrongParameter, match="expected 1 to 20 of q0, q1"):
        asked([question["name"] for question in many], plan=plan_with(*many))


def test_what_every_version_published_is_said_in_other_languages():
    """The method of releases from when every pair had a table is still a message."""
    (older,) = (each for each in OF_OLDER_VERSIONS if "every pair of columns" in each.msgid)
    assert older.msgid in MESSAGES
    numbers = Numbers.read({"method": older(), "n": 3, "tables": [], "notes": [], "derived": []})
    assert numbers.method == older()
