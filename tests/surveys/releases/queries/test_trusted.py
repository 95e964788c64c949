"""Reached on the ask page: “A statistic of raw answers, group by group”."""

from collections import Counter
from fractions import Fraction

import pytest

from surveys.releases.queries.base import Query
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.trusted import STATISTICS, Trusted
from tests.surveys.releases.queries.scored_plans import AGE, HOURS, SHY, plan_with, rows_of, stored

EXAMPLES = [
    {"question": "hours", "statistic": "trimmed_mean", "groups": 10},
    {"question": "hours", "second": "age", "statistic": "correlation", "groups": 200},
]  # on `scored_plans.everything`
PLAN = plan_with(HOURS, AGE, SHY)
TRUTH = {"mean": 20, "trimmed_mean": 20, "mode": 20, "standard_deviation": 10, "correlation": 1}


def asked(statistic="mean", plan=PLAN, **parameters):
    usual = {
        "question": "hours",
        "statistic": statistic,
        "second": "age",
        "groups": 80,
        "epsilon": "6",
    }
    return Trusted.read(plan, usual | parameters)


def answers(statistic):
    shares = {10: 300, 20: 800, 30: 300} if statistic == "mode" else {10: 800, 30: 800}
    return Counter(
        {
            (hours, hours + 20) if statistic == "correlation" else (hours,): n
            for hours, n in shares.items()
        }
    )


def test_it_is_a_thing_that_can_be_asked():
    assert isinstance(asked(), Query)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_form_reads_as_its_document_does(statistic):
    form = Trusted.form(PLAN)(
        {
            "question": "hours",
            "statistic": statistic,
            "second": "age",
            "groups": "50",
            "epsilon": "1",
        }
    )
    assert form.is_valid(), form.errors
    first = Trusted.read(PLAN, form.cleaned_data)
    assert Trusted.read(PLAN, stored(first)).document() == first.document()
    assert first.names == (("hours", "age") if statistic == "correlation" else ("hours",))


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_typical_result_of_a_group(statistic, neighbours):
    counts = answers(statistic)
    found = asked(statistic, plan_with(HOURS, AGE, neighbours=neighbours)).draw(
        counts, sum(counts.values())
    )
    (row,) = rows_of(found)
    assert row.low <= row.value <= row.high
    assert row.value == pytest.approx(TRUTH[statistic], rel=0.25)
    assert row.high - row.low < 12


@pytest.mark.parametrize("statistic", STATISTICS)
def test_it_costs_what_was_asked_and_no_more(statistic):
    assert 0.699999 < asked(statistic, epsilon="0.7").cost.epsilon <= Fraction(7, 10)


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_what_to_expect_needs_no_answers(n):
    assert len(asked(epsilon="0.1").expected(n)) == len(asked().expected(n)) == 2
    assert "subsample" in asked().mechanism
    assert "1 group" in asked().sensitivity


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"statistic": "other"}, "statistic"),
        ({"groups": 9}, "groups"),
        ({"groups": "many"}, "groups"),
        ({"statistic": "correlation", "second": "hours"}, "second"),
        ({"statistic": "correlation", "second": ""}, "second"),
        ({"question": "shy"}, "question"),
        ({"epsilon": "-1"}, "epsilon"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changed, field):
    with pytest.raises(WrongParameter) as refused:
        asked(**changed)
    assert refused.value.field == field


def test_a_plan_without_numbers_offers_nothing():
    assert Trusted.form(plan_with(SHY)) is None
