"""Reached on the ask page: “Median, or another quantile, of a number”."""

import math
from collections import Counter
from fractions import Fraction

import pytest

from dpengine.central.quantiles import Limits
from dpengine.central.smooth import SmoothMedian
from surveys.aggregation import selectors as aggregation
from surveys.messages import is_known
from surveys.releases.queries.base import Query
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.quantile import METHODS, Quantile
from tests.surveys.releases.queries.scored_plans import (
    CONCENTRATED,
    FAIR,
    HOURS,
    SHY,
    plan_with,
    rows_of,
    stored,
)

EXAMPLES = [
    {"question": "hours", "percent": "50", "method": "exponential"},
    {"question": "hours", "percent": "90", "method": "exponential"},
    {"question": "hours", "percent": "25,50,75", "method": "exponential"},
    {"question": "hours", "percent": "50", "method": "smooth"},
    {"question": "hours", "percent": "50", "method": "propose", "step": 5},
]  # on `scored_plans.everything`
PLAN = plan_with(HOURS, FAIR, SHY, caps=CONCENTRATED)
ANSWERS = Counter({(value,): 60 for value in range(10, 31)})


def asked(method="exponential", plan=PLAN, **parameters):
    usual = {"question": "hours", "percent": "50", "method": method, "epsilon": "4", "step": 5}
    return Quantile.read(plan, usual | parameters)


def test_it_is_a_thing_that_can_be_asked():
    assert isinstance(asked(), Query)


@pytest.mark.parametrize("method", METHODS)
def test_a_form_reads_as_its_document_does(method, monkeypatch):
    monkeypatch.setattr(Quantile, "nearer_than_first", lambda self, n: True)
    monkeypatch.setattr(aggregation, "sealed_reports", lambda plan: 60)
    form = Quantile.form(PLAN)(
        {"question": "hours", "percent": "50", "method": method, "epsilon": "1", "step": "3"}
    )
    assert form.is_valid(), form.errors
    first = Quantile.read(PLAN, form.cleaned_data)
    assert Quantile.read(PLAN, stored(first)).document() == first.document()


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
@pytest.mark.parametrize("method", METHODS)
def test_the_median_and_its_interval(method, neighbours):
    """At ε = 20 noise moves nothing by 6 hours, but once in more than a million draws."""
    plan = plan_with(HOURS, caps=CONCENTRATED, neighbours=neighbours)
    found = asked(method, plan, epsilon="20", step=1)
    (row,) = rows_of(found.draw(ANSWERS, 21 * 60))
    assert 14 <= row.value <= 26
    assert row.low <= 20 <= row.high
    assert row.high - row.low < 20


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_several_quantiles_come_from_one_draw_each_with_its_interval(neighbours):
    """At ε = 20 noise moves nothing by 6 hours, but once in more than a million draws."""
    plan = plan_with(HOURS, caps=CONCENTRATED, neighbours=neighbours)
    several = asked(plan=plan, percent="75, 25,50", epsilon="20")
    assert several.published == 3
    numbers = several.draw(ANSWERS, 21 * 60)
    rows = rows_of(numbers)
    assert [each.label for each in rows] == [
        "25 of 100 are at or below",
        "Median",
        "75 of 100 are at or below",
    ]
    assert [each.value for each in rows] == sorted(each.value for each in rows)
    for each, true in zip(rows, (15, 20, 25), strict=True):
        assert abs(each.value - true) < 6
        assert each.low <= true <= each.high
        assert each.high - each.low < 9  # from one quartile to the other it is 10
    assert numbers.notes[0].startswith("All intervals were read from one draw")
    assert len(several.expected(2000)) == 4


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("50", "50"),
        ("50.0", "50"),
        (90, "90"),
        ("12.5", "12.5"),
        ("75, 25 ,50", "25,50,75"),
        ("5,8", "5,8"),
        (["50", 25, "50.0"], "25,50"),
    ],
)
def test_the_same_quantiles_are_the_same_request(typed, written):
    """One is written as it was before several could be asked for."""
    query = asked(percent=typed)
    assert query.document()["percent"] == written
    assert Quantile.read(PLAN, stored(query)) == query


def test_several_cost_what_one_does_and_say_so():
    pure = plan_with(HOURS)
    one, several = (asked(plan=pure, percent=percent) for percent in ("50", "25,50,75"))
    assert several.cost.epsilon == pytest.approx(one.cost.epsilon)
    assert several.mechanism.startswith("report noisy max over 61 values for 3 quantiles, interval")
    assert is_known(several.mechanism)
    assert asked(percent="25,75", epsilon="0.7").mechanism.startswith(
        "exponential mechanism over 61 values for 2"
    )


@pytest.mark.parametrize("method", METHODS)
def test_it_costs_what_was_asked_and_no_more(method):
    cost = asked(method, epsilon="0.7").cost
    if method == "exponential":  # in ρ, as the study pays
        assert cost.epsilon is None
        assert 0.244999 < cost.rho <= Fraction(49, 200)
        cost = asked(method, plan_with(HOURS), epsilon="0.7").cost
    assert 0.699999 < cost.epsilon <= Fraction(7, 10)
    assert cost.is_pure is (method == "exponential")


def test_what_older_releases_say_is_still_known():
    assert is_known("report noisy max over 61 values, two limits by report noisy max")
    assert is_known(
        "Exponential mechanism (no δ). The interval’s limits were drawn apart from the value, each "
        "at a rank that leaves room for sampling and for chance: it holds for the population in 95 "
        "of 100 such studies, whatever the answers’ shape."
    )


WIDE = {**HOURS, "most": 60_000}


def offered(plan, people, monkeypatch):
    monkeypatch.setattr(aggregation, "sealed_reports", lambda plan: people)
    return [name for name, _ in Quantile.form(plan)().fields["method"].choices]


@pytest.mark.parametrize("people", [1, 60, 1551, 15510, 10**5])
def test_on_whole_numbers_that_are_told_apart_no_other_method_is_offered(people, monkeypatch):
    assert offered(PLAN, people, monkeypatch) == ["exponential"]
    for method in ("smooth", "propose"):
        query = asked(method, step=0, alone=True)
        assert not query.nearer_than_first(people)
        with pytest.raises(WrongParameter, match="method: expected the exponential mechanism"):
            query.refuse_asked(people)


def test_where_values_are_told_apart_in_steps_the_nearer_method_is_offered(monkeypatch):
    """Of 60,001 numbers the first names every 59th: the median of very many is known better."""
    plan = plan_with(WIDE, caps=CONCENTRATED | {"central_epsilon": "8"})
    assert offered(plan, 10**4, monkeypatch) == ["exponential"]
    assert offered(plan, 10**5, monkeypatch) == ["exponential", "smooth"]
    asked("smooth", plan, alone=True, epsilon="8").refuse_asked(10**5)
    hidden = plan_with(WIDE, caps=CONCENTRATED, neighbours="add-remove")
    assert offered(hidden, 10**5, monkeypatch) == ["exponential"]  # how many came is secret


def test_older_requests_keep_the_coarse_lattice_and_half_of_epsilon():
    before, now = asked("smooth"), asked("smooth", alone=True)
    assert (before.point.parts, before.point.epsilon) == (1, 2)
    assert now.point.parts == math.ceil(32 / now.point.epsilon) > 16
    assert asked("propose", step=0, alone=True).mechanism.startswith(
        "propose-test-release, step 0, threshold "
    )


def test_a_value_beyond_the_interval_does_not_stretch_it(monkeypatch):
    """The interval was paid for by itself: the value moves to its nearer limit."""
    found = asked("smooth")
    monkeypatch.setattr(SmoothMedian, "release", lambda self, values: 3)
    monkeypatch.setattr(Limits, "release", lambda self, values, centre: (18, 22))
    (row,) = rows_of(found.draw(ANSWERS, 21 * 60))
    assert (row.value, row.low, row.high) == (18, 18, 22)


def test_a_study_with_a_pure_cap_is_offered_no_delta(monkeypatch):
    pure = plan_with(HOURS)
    monkeypatch.setattr(aggregation, "sealed_reports", lambda plan: 60)
    assert [name for name, _ in Quantile.form(pure)().fields["method"].choices] == ["exponential"]
    with pytest.raises(WrongParameter, match="method"):
        asked("smooth", pure)


def test_no_answer_is_an_outcome_with_an_interval():
    scattered = Counter({(0,): 20, (60,): 20})
    (row,) = rows_of(asked("propose", epsilon="1").draw(scattered, 40))
    assert row.value == "not stable enough"
    assert 0 <= row.low <= row.high <= 60


def test_another_quantile_of_scored_choices():
    (row,) = rows_of(
        asked(question="fair", percent="90", epsilon="20").draw(
            Counter({(0,): 500, (3,): 500}), 1000
        )
    )
    assert row.value == 4


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_what_to_expect_needs_no_answers(method, n):
    assert all(line.endswith(".") for line in asked(method).expected(n))


@pytest.mark.parametrize("method", METHODS)
def test_it_says_what_the_ledger_writes_down(method):
    assert asked(method).mechanism
    assert "1 person" in asked(method).sensitivity


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"percent": "-1"}, "percent"),
        ({"percent": "100.1"}, "percent"),
        ({"percent": "nan"}, "percent"),
        ({"percent": "33.33"}, "percent"),
        ({"percent": None}, "percent"),
        ({"percent": ""}, "percent"),
        ({"percent": []}, "percent"),
        ({"percent": "25,,75"}, "percent"),
        ({"percent": "25;75"}, "percent"),
        ({"percent": "1,2,3,4,5,6,7,8,9,10"}, "percent"),
        ({"method": "smooth", "percent": "25,50"}, "percent"),
        ({"method": "other"}, "method"),
        ({"method": "smooth", "percent": "25"}, "percent"),
        ({"method": "propose", "step": -1}, "step"),
        ({"method": "propose", "step": 60}, "step"),
        ({"method": "smooth", "epsilon": "0.0001"}, "epsilon"),
        ({"question": "shy"}, "question"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changed, field):
    with pytest.raises(WrongParameter) as refused:
        asked(**changed)
    assert refused.value.field == field


def test_a_plan_without_numbers_offers_nothing():
    assert Quantile.form(plan_with(SHY)) is None


def test_the_delta_of_a_study_pays_for_eight_medians_and_not_nine():
    """Half of a cap's δ is for mechanisms that have one."""
    cost = asked("smooth").cost
    assert 8 * cost.delta <= Fraction(1, 2 * 10**6) < 9 * cost.delta
