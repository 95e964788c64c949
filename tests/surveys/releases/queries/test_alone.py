"""The ε of a request means one thing, whatever is asked: what that release alone lets out."""

import importlib
import math
from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.accounting.concentrated import epsilon_of
from surveys.design.models import Plan
from surveys.design.terms import rho_within
from surveys.releases.queries import ALL
from surveys.releases.queries.mean import Mean
from surveys.releases.queries.parameters import percent_of
from tests.plans import whole
from tests.surveys.releases.queries.scored_plans import EVERYTHING, stored

DELTA = "0.000001"
CAP = rho_within(Decimal(1), DELTA)
UNDER_DELTA = {"central_epsilon": "1", "central_rho": str(CAP), "central_delta": DELTA}
EXAMPLES = [
    (kind, example)
    for kind in ALL
    for example in importlib.import_module(
        f"tests.surveys.releases.queries.test_{kind.kind}"
    ).EXAMPLES
]


def plan_of(**parts):
    return Plan(document=whole(questions=EVERYTHING, **parts))


DEEP, PURE = plan_of(caps=UNDER_DELTA), plan_of()
HOME = plan_of(unit="household-of-4")


def asked(kind, plan, epsilon, **example):
    return kind.read(plan, {**example, "epsilon": epsilon, "alone": True})


def name(value):
    return value.kind if isinstance(value, type) else None


@pytest.mark.parametrize(("kind", "example"), EXAMPLES, ids=name)
@pytest.mark.parametrize("epsilon", ["0.4", "0.55", "0.9"])
def test_under_a_delta_it_is_charged_its_rho_whatever_is_asked_and_however_much(
    kind, example, epsilon
):
    """At a cap of (1, 10⁻⁶): ε 0.4 is 18 %, and five fit. Before, 0.40 moved odds × 7.07 and 0.55
    × 1.74: the one was drawn in ρ, the other not.
    """
    if "method" in example and example["method"] != "exponential":
        epsilon = "1"  # these need more: for all of the cap
    cost, rho = asked(kind, DEEP, epsilon, **example).cost, rho_within(Decimal(epsilon), DELTA)
    assert cost.rho <= rho
    assert epsilon_of(cost.rho, Fraction(DELTA) / 2) <= Decimal(epsilon)
    # nor is anything given away for nothing: what is charged is what was typed
    assert float(cost.rho) > (0.4 if kind is Mean else 0.95) * float(rho)
    if epsilon == "0.4":
        assert 5 * cost.rho <= Fraction(CAP) < 11 * cost.rho


def test_the_share_of_the_cap_is_that_of_the_design():
    rho = rho_within(Decimal("0.4"), DELTA)
    assert percent_of(Fraction(rho) / Fraction(CAP)) == "18"
    assert percent_of(Fraction(1, 1000)) == "0.1"
    assert percent_of(Fraction(1001, 10000)) == "11"
    assert percent_of(Fraction(1)) == "100"
    assert 5 * rho < CAP < 6 * rho


@pytest.mark.parametrize(("kind", "example"), EXAMPLES, ids=name)
@pytest.mark.parametrize(("plan", "people"), [(PURE, 1), (HOME, 4)], ids=["person", "household"])
def test_under_a_pure_cap_it_is_charged_as_typed_for_all_of_a_record(kind, example, plan, people):
    if example.get("method", "exponential") != "exponential":
        return
    query = asked(kind, plan, "0.4", **example)
    assert query.cost.is_pure
    assert 0.39999 < query.cost.epsilon <= Fraction(2, 5)
    assert query.alone is (people > 1)


@pytest.mark.parametrize(("kind", "example"), EXAMPLES, ids=name)
def test_requests_of_before_stay_the_same_and_cost_the_same(kind, example):
    """0.1² / 2 = 0.005 of ρ at most, or ε 0.1 by pure noise: as they always did."""
    epsilon = "4" if example.get("method", "exponential") != "exponential" else "0.1"
    before = kind.read(DEEP, {**example, "epsilon": epsilon})
    assert "alone" not in before.document()
    assert before.cost.rho <= Fraction(epsilon) ** 2 / 2
    assert before.cost.rho > Fraction(epsilon) ** 2 / 2 / 4  # of several questions a part
    now = asked(kind, DEEP, epsilon if epsilon != "4" else "1", **example)
    assert now.document()["alone"] is True
    again = kind.read(DEEP, stored(now))
    assert (again.cost, again.mechanism) == (now.cost, now.mechanism)
    # where ε never meant anything else, the same again is the same request as before
    if epsilon != "4":
        plain = kind.read(PURE, {**example, "epsilon": epsilon})
        assert asked(kind, PURE, epsilon, **example).document() == plain.document()


def test_the_field_says_what_it_means_and_how_much_of_the_cap_it_uses():
    said = Mean.form(DEEP)().fields["epsilon"].help_text
    assert said.startswith("What this release alone lets out at most, at δ 0.000001.")
    assert "ε 0.1 uses 1.3 %, ε 0.4 uses 18 %, ε 1 uses 100 %" in said
    assert "adds" in Mean.form(PURE)().fields["epsilon"].help_text
    assert math.isclose(float(CAP), 0.022937446)
