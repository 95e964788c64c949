"""Hold two dials: the third follows, rounded towards privacy, or what can be had is said."""

from decimal import Decimal
from fractions import Fraction

import pytest

from surveys.planning.precision import noise_of, pure
from surveys.planning.questions import HALF, PlannedQuestion
from surveys.planning.scenarios import Scenario
from surveys.planning.solver import Unreachable, answers_for, epsilon_for, solve

LIMITS = Decimal("0.01"), Decimal(8)


def scenario(kind="yes_no", publication="1", limits=LIMITS, at=HALF, **made):
    return Scenario(
        PlannedQuestion.made_up(kind, **made),
        lambda question: noise_of(question, [], pure(publication)),
        at,
        limits,
    )


@pytest.mark.parametrize("kind", ["yes_no", "single", "multiple", "likert"])
def test_epsilon_follows_and_is_rounded_towards_privacy(kind):
    planned = scenario(kind)
    found = solve(planned, "epsilon", n=3000, wanted=0.05, epsilon=Decimal(1))
    assert found.epsilon == found.epsilon.quantize(Decimal("0.001"))
    assert planned.precision(3000, found.epsilon + Decimal("0.002")).half <= 0.05
    assert found.precision.half == pytest.approx(0.05, rel=0.005)
    assert found.question.epsilon <= found.epsilon  # the integers' own


@pytest.mark.parametrize("kind", ["yes_no", "single", "multiple"])
def test_the_fewest_answers_follow(kind):
    planned = scenario(kind)
    n = answers_for(planned, Decimal(1), 0.08)
    assert planned.precision(n, Decimal(1)).half <= 0.08
    assert planned.precision(n - 2, Decimal(1)).half > 0.0799


def test_the_dials_there_and_back_agree():
    planned = scenario()
    there = solve(planned, "width", n=2500, wanted=1.0, epsilon=Decimal("1.2"))
    back = solve(planned, "epsilon", n=2500, wanted=there.precision.half, epsilon=Decimal(1))
    assert abs(back.epsilon - Decimal("1.2")) <= Decimal("0.002")
    assert solve(
        planned, "n", n=1, wanted=there.precision.half, epsilon=Decimal("1.2")
    ).n == pytest.approx(2500, abs=5)


def test_a_mean_follows_in_its_own_unit():
    found = solve(scenario("number", most=20), "epsilon", n=2000, wanted=1.5, epsilon=Decimal(1))
    assert found.precision.half == pytest.approx(1.5, rel=0.01)


def test_what_cannot_be_had_says_what_can_and_what_it_takes():
    with pytest.raises(Unreachable) as refused:
        epsilon_for(scenario(), 100, 0.04)
    assert refused.value.best.half > 0.04
    assert scenario().precision(refused.value.n_needed, LIMITS[1]).half <= 0.04


def test_what_no_number_of_answers_can_give_is_said_too():
    with pytest.raises(Unreachable) as refused:
        answers_for(scenario(), Decimal("0.01"), 0.00001)
    assert refused.value.n_needed is None


def test_the_least_epsilon_is_enough_where_it_is():
    assert epsilon_for(scenario(limits=(Decimal("0.5"), Decimal(2))), 100_000, 0.2) == Decimal(
        "0.5"
    )


def test_the_greatest_epsilon_allowed_is_never_passed():
    planned = scenario(limits=(Decimal("0.1"), Decimal(2)))
    best = planned.precision(1000, Decimal(2)).half
    assert epsilon_for(planned, 1000, best * 1.0001) <= Decimal(2)
    with pytest.raises(Unreachable):
        epsilon_for(planned, 1000, best * 0.99)


def test_a_rare_answer_needs_fewer_people():
    rare = scenario(at=Fraction(1, 20))
    assert answers_for(rare, Decimal(3), 0.03) < answers_for(scenario(), Decimal(3), 0.03)
