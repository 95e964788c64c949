"""Reached on the ask page: “Linear regression”."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from django.utils import translation

from dpengine.central.regression import LEVELS, Regression
from surveys.messages import translate
from surveys.releases.covered import OF_OLDER_VERSIONS
from surveys.releases.queries.base import Query
from surveys.releases.queries.linear_regression import LinearRegression
from surveys.releases.queries.parameters import WrongParameter
from tests.surveys.releases.queries.scored_plans import (
    AGE,
    CONCENTRATED,
    FAIR,
    HOURS,
    PURE,
    SHY,
    plan_with,
    rows_of,
    stored,
)

EXAMPLES = [
    {"outcome": "hours", "predictors": ["age"]},
]  # on `scored_plans.everything`
PLAN = plan_with(HOURS, AGE, FAIR, SHY)
# Hours go up by half an hour a year, whatever is thought fair.
ANSWERS = Counter(
    {(age, fair, (age - 18) // 2): 40 for age in range(18, 98, 2) for fair in range(4)}
)


def asked(plan=PLAN, **parameters):
    return LinearRegression.read(
        plan, {"outcome": "hours", "predictors": ["fair", "age"], "epsilon": "2"} | parameters
    )


def test_it_is_a_thing_that_can_be_asked():
    assert isinstance(asked(), Query)


def test_a_form_reads_as_its_document_does():
    form = LinearRegression.form(PLAN)(
        {"outcome": "hours", "predictors": ["age", "fair"], "epsilon": "1"}
    )
    assert form.is_valid(), form.errors
    first = LinearRegression.read(PLAN, form.cleaned_data)
    assert LinearRegression.read(PLAN, stored(first)).document() == first.document()
    assert first.names == ("age", "fair", "hours")


@pytest.mark.parametrize("caps", [PURE, CONCENTRATED], ids=["pure", "concentrated"])
@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_slopes_in_the_units_of_the_questions(caps, neighbours):
    found = asked(plan_with(HOURS, AGE, FAIR, caps=caps, neighbours=neighbours)).draw(ANSWERS, 6400)
    middle, age, fair = rows_of(found)
    for row, true in (
        (middle, 20.25),
        (age, 0.5),
        (fair, 0),
    ):  # within five intervals, but for one run in a million
        assert abs(row.value - true) <= 5 * (row.high - row.value)
    assert age.value == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("caps", [PURE, CONCENTRATED], ids=["pure", "concentrated"])
def test_it_costs_what_was_asked_and_no_more(caps):
    cost = asked(plan_with(HOURS, AGE, FAIR, caps=caps), epsilon="0.7").cost
    assert cost.is_pure is (caps == PURE)
    if caps == PURE:
        assert 0.6999999 < cost.epsilon <= Fraction(7, 10)
    assert cost.rho <= Fraction(245, 1000) < cost.rho * (1 if caps == PURE else 1.00001) + 0.1


def with_noise(monkeypatch, added):
    """Let the noise be `added` to the sums of squares, and to nothing else."""
    monkeypatch.setattr(
        Regression,
        "noisy_products",
        lambda self, rows: (
            np.array(self.products(rows)) / LEVELS**2 + np.diag([0.0, added, added, 0.0])
        ),
    )


SAME = Counter({(50, 2, 7): 9})


def test_answers_that_determine_nothing_have_no_interval_and_a_ridge(monkeypatch):
    with_noise(monkeypatch, -20.0)
    found = asked().draw(SAME, 9)
    assert all(row.low is row.high is row.standard_error is None for row in rows_of(found))
    assert any("ridge" in note for note in found.notes)
    assert not any("The intervals count" in note for note in found.notes)


def test_what_noise_leaves_open_is_said_to_say_nothing(monkeypatch):
    with_noise(monkeypatch, 2.0)
    found = asked().draw(SAME, 9)
    assert [row.low for row in rows_of(found)[1:]] == [None, None]
    assert any("the number says nothing" in note for note in found.notes)


def test_an_interval_over_half_of_what_can_be_is_said_to_say_next_to_nothing(monkeypatch):
    with_noise(monkeypatch, 0.0)
    for epsilon, is_vague in (("0.02", True), ("2", False)):
        found = asked(epsilon=epsilon).draw(ANSWERS, 6400)
        assert all(row.low < row.high for row in rows_of(found))
        assert any("next to nothing" in note for note in found.notes) is is_vague


@pytest.mark.parametrize("n", [0, 1, 10_000])
def test_what_to_expect_needs_no_answers(n):
    assert len(asked().expected(n)) == 3
    assert "noise of scale" in asked().mechanism
    assert "L1" in asked().sensitivity


def test_too_few_answers_are_foreseen_with_what_would_help():
    query = asked(epsilon="1")
    enough = query.engine.enough
    said = query.expected(enough)[-1]
    assert "a standard deviation of at least 29 % of the width" in said
    said = query.expected(enough // 4)[-1]
    assert "no interval can be expected" in said
    assert f"{enough} answers at this ε, or ε 4" in said
    alone = asked(epsilon="1", predictors=["age"])
    assert f"one alone takes {alone.engine.enough} answers" in said
    assert alone.expected(1)[-1].endswith("even with predictors spread evenly.")
    assert alone.engine.enough < enough
    assert asked(epsilon="4.1").engine.enough <= enough // 4 + 1  # the ε that was named will do


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"outcome": "shy"}, "outcome"),
        ({"predictors": []}, "predictors"),
        ({"predictors": ["hours"]}, "predictors"),
        ({"predictors": "age"}, "predictors"),
        ({"epsilon": "21"}, "epsilon"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changed, field):
    with pytest.raises(WrongParameter) as refused:
        asked(**changed)
    assert refused.value.field == field


def test_one_number_alone_offers_nothing():
    assert LinearRegression.form(plan_with(HOURS, SHY)) is None


def test_an_epsilon_that_no_noise_can_keep_is_refused_and_no_failure():
    with pytest.raises(WrongParameter, match="epsilon: scale must be at most"):
        asked(epsilon="0.000000001")


def test_how_an_older_release_was_made_is_still_said_in_the_readers_language():
    (older,) = (each for each in OF_OLDER_VERSIONS if "equal spread around" in each.msgid)
    stored_text = str(older())
    with translation.override("zh-hans"):
        assert translate(stored_text) != stored_text
