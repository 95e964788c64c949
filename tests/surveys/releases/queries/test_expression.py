"""Reached on the ask page: “A statistic that you write, group by group”."""

from collections import Counter
from fractions import Fraction

import pytest

from dpengine import expressions
from surveys import messages
from surveys.releases import sandbox
from surveys.releases.queries.base import Query
from surveys.releases.queries.expression import Expression
from surveys.releases.queries.parameters import WrongParameter
from tests.surveys.releases.queries.scored_plans import (
    AGE,
    HOURS,
    SHY,
    computed_here,
    plan_with,
    rows_of,
    stored,
)

EXAMPLES = [
    {"expression": "mean(hours)", "least": "0", "most": "60", "groups": 10},
    {
        "expression": "correlation(hours, age) if count(side) > 1 else 0",
        "least": "-1",
        "most": "1",
        "otherwise": "-0.5",
        "groups": 200,
    },
]  # on `scored_plans.everything`
PLAN = plan_with(HOURS, AGE, SHY)
ANSWERS = Counter({(10,): 800, (30,): 800})
NEUTRAL = 12


def asked(expression="mean(hours)", plan=PLAN, **parameters):
    usual = {
        "expression": expression,
        "least": "0",
        "most": "60",
        "otherwise": str(NEUTRAL),
        "groups": 80,
        "epsilon": "6",
    }
    return Expression.read(plan, usual | parameters)


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(sandbox, "compute", computed_here)


def test_it_is_a_thing_that_can_be_asked():
    assert isinstance(asked(), Query)


@pytest.mark.parametrize("otherwise", ["", "7.5"])
def test_a_form_reads_as_its_document_does(otherwise):
    form = Expression.form(PLAN)(
        {
            "expression": " mean(hours)/mean(age)",
            "least": "0.50",
            "most": "20",
            "otherwise": otherwise,
            "groups": "50",
            "epsilon": "1",
        }
    )
    assert form.is_valid(), form.errors
    first = Expression.read(PLAN, form.cleaned_data)
    assert Expression.read(PLAN, stored(first)).document() == first.document()
    assert first.document()["least"] == "0.5"
    assert first.names == ("hours", "age")


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
@pytest.mark.parametrize(
    ("expression", "least", "most", "truth"),
    [
        ("mean(hours)", "0", "60", 20),
        ("mean(hours > 20)", "0", "1", 0.5),
        ("quantile(hours, 0.9) - min(hours)", "-5", "60", 20),
        ("mean(hours)/1000", "0", "0.05", 0.02),
    ],
)
def test_the_typical_result_of_a_group(at_once, expression, least, most, truth, neighbours):
    query = asked(
        expression,
        plan_with(HOURS, AGE, neighbours=neighbours),
        least=least,
        most=most,
        otherwise="",
    )
    (row,) = rows_of(query.draw(query.results(ANSWERS), 1600))
    assert row.low <= row.value <= row.high
    assert row.value == pytest.approx(truth, rel=0.25)
    assert row.high - row.low < (float(most) - float(least)) / 4


def test_it_is_computed_within_walls():
    """Once with everything: the mean, which misses by 5 only if its rank is off by half."""
    query = asked()
    (row,) = rows_of(query.draw(query.results(ANSWERS), 1600))
    assert row.value == pytest.approx(20, abs=5)
    assert row.label == "mean(hours), of a group"


@pytest.mark.parametrize(
    "expression",
    [
        "mean(1/(hours - hours))",
        "10^10^10 * mean(hours)",
        "log(min(hours) - max(hours) - 1)",
        "correlation(hours, 5)",
        "exp(exp(exp(max(hours) + 9)))",
    ],
)
def test_what_cannot_be_computed_is_the_neutral_answer_whatever_the_answers(at_once, expression):
    """The law of what is published is the same for any answers: the groups’ numbers are."""
    query = asked(expression)
    found = [
        query.engine.whole(sandbox.compute(expression, ["hours"], query.engine.deal(rows)))
        for rows in ([(10,)] * 400, [(place % 61,) for place in range(400)], [(0,)] * 80)
    ]
    assert found == [[NEUTRAL * query.engine.scale] * 80] * 3
    exact = asked(expression, epsilon="20")
    (row,) = rows_of(exact.draw(exact.results(ANSWERS), 1600))
    assert row.value == pytest.approx(NEUTRAL, abs=1)


def test_one_person_s_failure_is_their_group_s_alone(at_once):
    query = asked("mean(10/hours)")
    rows = [(1,)] * 159 + [(0,)]
    numbers = query.engine.whole(
        sandbox.compute("mean(10/hours)", ["hours"], query.engine.deal(rows))
    )
    assert sorted(numbers) == [10 * query.engine.scale] * 79 + [NEUTRAL * query.engine.scale]


def test_it_costs_what_was_asked_and_no_more():
    assert 0.699999 < asked(epsilon="0.7").cost.epsilon <= Fraction(7, 10)


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_what_to_expect_needs_no_answers(n):
    assert len(asked(epsilon="0.1").expected(n)) == len(asked().expected(n)) == 4
    assert "counts as 12." in " ".join(asked().expected(n))
    assert "It takes 5 seconds" in " ".join(asked().expected(n))


def test_groups_too_large_to_compute_are_foreseen():
    expected = asked("median(hours) + median(hours)", groups=10)
    assert "too large" not in expected.expected(10_000)[0]
    assert "too large" in expected.expected(10**7)[0]


def test_a_release_is_called_by_what_was_written():
    labels = {"hours": "Hours", "age": "Age", "shy": "Shy"}
    assert asked("mean(hours) / mean(age)").heading(labels, 1).endswith(": mean(hours) / mean(age)")
    assert asked().heading(labels, 2).endswith(", wave 2")


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"expression": ""}, "expression", "1 to 300 characters"),
        ({"expression": "1/3"}, "expression", "expected one or more of hours, age"),
        ({"expression": "hours"}, "expression", "must be one number"),
        ({"expression": "mean(shy)"}, "expression", "a column, one of hours, age, got 'shy'"),
        ({"expression": "[h for h in hours]"}, "expression", "expected numbers, columns"),
        ({"expression": "__import__('os')"}, "expression", "got '__import__'"),
        ({"expression": "while 1: 2"}, "expression", "got 'while'"),
        ({"expression": ["mean(hours)"]}, "expression", "expected numbers, columns"),
        ({"least": "60"}, "most", "expected more than 60"),
        ({"least": "NaN"}, "least", "Enter a number"),
        ({"most": "1e7"}, "most", "less than or equal to 1000000"),
        ({"most": ""}, "most", "required"),
        ({"most": "0.0001"}, "most", "no more than 3 decimal places"),
        ({"otherwise": "61"}, "otherwise", "from 0 to 60"),
        ({"groups": 9}, "groups", "greater than or equal to 10"),
        ({"epsilon": "-1"}, "epsilon", "above 0"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changed, field, words):
    with pytest.raises(WrongParameter, match=words) as refused:
        asked(**changed)
    assert refused.value.field == field


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "hours",
        "mean(x)",
        "os(1)",
        "mean(hours)(1)",
        "mean()",
        "quantile(hours, 2)",
        "mean(hours, **age)",
        "mean(hours), 1",
        "mean(hours",
        "mean(hours) = 1",
        "-" * 200 + "mean(hours)",
    ],
)
def test_what_cannot_be_read_is_said_in_the_reader_s_language(expression):
    with pytest.raises(ValueError, match=r".") as refused:
        expressions.read(expression, {"hours": None, "age": None}, of_all=True)
    assert messages.is_known(str(refused.value))


def test_the_form_says_what_columns_are_called():
    help_text = Expression.form(PLAN)().fields["expression"].help_text
    assert "Columns: hours (Hours), age (Age)." in help_text


def test_a_plan_without_numbers_offers_nothing():
    assert Expression.form(plan_with(SHY)) is None
