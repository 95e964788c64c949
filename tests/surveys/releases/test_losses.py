"""Reached on every release's page: “How much it tells of one person” (or of what else is protected)."""

import math
from fractions import Fraction

import pytest
from msgspec.structs import replace

from surveys.releases.losses import loss_of
from surveys.releases.queries import ALL, KINDS
from tests.surveys.releases.queries import scored_plans

PURE, RHO = scored_plans.everything(), scored_plans.everything(rho=True)
ASKED = {
    "shares": {"questions": ["colour", "team"]},
    "crosstab": {"rows": "colour", "within": "side"},
    "most_common": {"question": "colour", "best": 1},
    "mean": {"question": "hours"},
    "variance": {"question": "hours"},
    "quantile": {"question": "hours", "percent": "50", "method": "exponential"},
    "ranges": {"question": "hours", "ranges": "0-20\n21-60"},
    "linear_regression": {"outcome": "hours", "predictors": ["age"]},
    "price": {"question": "cost", "lowest": 1, "highest": 10, "step": 3},
    "synthetic": {"questions": ["side", "cost"], "bins": 5},
    "watch": {"answer": "colour/1", "percent": "20"},
    "check": {"questions": ["side", "colour"], "tolerance": "5", "numbers": 3},
    "trusted": {"question": "hours", "statistic": "mean"},
    "expression": {"expression": "mean(hours)", "least": 0, "most": 60},
}


def law(kind, plan=PURE, **parameters):
    query = KINDS[kind].read(plan, {"epsilon": "0.6", "groups": 100} | ASKED[kind] | parameters)
    return loss_of(query), query


@pytest.mark.parametrize("kind", ASKED)
def test_what_a_release_loses_ends_at_what_it_costs(kind):
    """And so is never more than it is charged, to a part in a million."""
    found, query = law(kind)
    assert found.greatest == pytest.approx(float(query.cost.epsilon), rel=1e-6)
    assert found.chances.sum() == pytest.approx(1)
    assert 0 < found.mean < found.greatest


@pytest.mark.parametrize(
    ("kind", "is_exact"),
    [
        ("shares", True),
        ("crosstab", True),
        ("mean", True),
        ("variance", False),
        ("quantile", False),
    ],
)
def test_it_says_whether_it_is_the_law_or_a_bound(kind, is_exact):
    assert law(kind)[0].is_exact is is_exact


def test_of_a_rho_only_gaussian_noise_on_counts_has_its_own_law():
    assert law("shares", RHO)[0].is_exact
    for kind in ("synthetic", "quantile", "linear_regression"):
        assert not law(kind, RHO)[0].is_exact


def test_a_histogram_moves_two_counts_by_one_and_ticks_one_by_two():
    """At ε = 0.6 on one question: scale 2/0.6. Two coins of 0.3, for two counts of one each."""
    found = law("shares", questions=["colour"])[0]
    assert found.losses == pytest.approx([-0.6, 0, 0.6])
    coin = 1 / (1 + math.exp(-0.3))
    assert found.chances == pytest.approx([(1 - coin) ** 2, 2 * coin * (1 - coin), coin**2])


def test_one_that_pays_in_rho_has_no_end_and_its_mean_is_rho():
    found, query = law("crosstab", RHO)
    assert query.cost.epsilon is None
    assert found.mean == pytest.approx(float(query.cost.rho))


def test_one_with_a_delta_has_a_chance_of_more():
    found, query = law("quantile", RHO, method="smooth", delta="0.0000001")
    assert found.unbounded == pytest.approx(float(query.cost.delta))


@pytest.fixture
def of_answers(monkeypatch):
    """Return the same Plan, whose publications count what answers lose."""
    plan = scored_plans.everything()
    questions = [
        replace(each, own_loss=Fraction(3)) if each.name == "team" else each
        for each in plan.content.questions
    ]
    publication = replace(plan.content.publication, counts="answers")
    content = replace(plan.content, publication=publication, questions=questions)
    monkeypatch.setattr(plan, "content", content)
    return plan


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("shares", {"questions": ["team"]}),
        ("shares", {}),
        ("crosstab", {"rows": "team", "within": "side"}),
        ("mean", {"question": "team"}),
        ("most_common", {"question": "team", "best": 1}),
    ],
)
@pytest.mark.parametrize("epsilon", ["0.3", "3"])
def test_the_chance_of_devices_counts_where_the_plan_counts_it(
    of_answers, kind, parameters, epsilon
):
    """It ends at what answers lose; of `team` alone, at ε = 3 the device does it all."""
    found, query = law(kind, of_answers, **parameters, epsilon=epsilon)
    assert found.greatest == pytest.approx(float(query.cost.epsilon), rel=1e-6)
    assert found.chances.sum() == pytest.approx(1)


def test_of_answers_it_is_the_law_of_the_noise_through_the_device(of_answers):
    """Of two counts of one each: three losses, not the coin of the same cost."""
    found = law("shares", of_answers, questions=["team"], epsilon="0.3")[0]
    assert found.is_exact
    assert len(found.losses) == 3
    assert not law("shares", of_answers, questions=["team"], epsilon="20")[0].is_exact


def test_every_kind_that_can_be_asked_is_here():
    assert {kind.kind for kind in ALL} == set(ASKED)
