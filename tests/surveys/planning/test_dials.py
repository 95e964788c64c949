"""Hold two dials: the third follows, rounded towards privacy, or what can be had is said."""

from decimal import Decimal
from fractions import Fraction

import pytest

from surveys.planning.dials import Setting, Unreachable, answers_for, epsilon_for, solve
from surveys.planning.laws import law_of, pure
from surveys.planning.topics import HALF, Topic

LIMITS = Decimal("0.01"), Decimal(8)


def setting(kind="yes_no", publication="1", limits=LIMITS, at=HALF, **made):
    return Setting(Topic.made_up(kind, **made), lambda drawn: law_of(drawn.tally, 1, pure(publication)), at, limits)


@pytest.mark.parametrize("kind", ["yes_no", "single", "multiple", "likert"])
def test_epsilon_follows_and_is_rounded_towards_privacy(kind):
    asked = setting(kind)
    found = solve(asked, "epsilon", n=3000, wanted=0.05, epsilon=Decimal(1))
    assert found.epsilon == found.epsilon.quantize(Decimal("0.001"))
    assert asked.width(3000, found.epsilon + Decimal("0.002")).half <= 0.05
    assert found.width.half == pytest.approx(0.05, rel=0.005)
    assert found.drawn.epsilon <= found.epsilon  # the integers' own


@pytest.mark.parametrize("kind", ["yes_no", "single", "multiple"])
def test_the_fewest_answers_follow(kind):
    asked = setting(kind)
    n = answers_for(asked, Decimal(1), 0.08)
    assert asked.width(n, Decimal(1)).half <= 0.08
    assert asked.width(n - 2, Decimal(1)).half > 0.0799


def test_the_dials_there_and_back_agree():
    asked = setting()
    there = solve(asked, "width", n=2500, wanted=1.0, epsilon=Decimal("1.2"))
    back = solve(asked, "epsilon", n=2500, wanted=there.width.half, epsilon=Decimal(1))
    assert abs(back.epsilon - Decimal("1.2")) <= Decimal("0.002")
    assert solve(asked, "n", n=1, wanted=there.width.half, epsilon=Decimal("1.2")).n == pytest.approx(2500, abs=5)


def test_a_mean_follows_in_its_own_unit():
    found = solve(setting("number", most=20), "epsilon", n=2000, wanted=1.5, epsilon=Decimal(1))
    assert found.width.half == pytest.approx(1.5, rel=0.01)


def test_what_cannot_be_had_says_what_can_and_what_it_takes():
    with pytest.raises(Unreachable) as refused:
        epsilon_for(setting(), 100, 0.04)
    assert refused.value.best.half > 0.04
    assert setting().width(refused.value.n_needed, LIMITS[1]).half <= 0.04


def test_what_no_number_of_answers_can_give_is_said_too():
    with pytest.raises(Unreachable) as refused:
        answers_for(setting(), Decimal("0.01"), 0.00001)
    assert refused.value.n_needed is None


def test_the_least_epsilon_is_enough_where_it_is():
    assert epsilon_for(setting(limits=(Decimal("0.5"), Decimal(2))), 100_000, 0.2) == Decimal("0.5")


def test_the_greatest_epsilon_allowed_is_never_passed():
    asked = setting(limits=(Decimal("0.1"), Decimal(2)))
    best = asked.width(1000, Decimal(2)).half
    assert epsilon_for(asked, 1000, best * 1.0001) <= Decimal(2)
    with pytest.raises(Unreachable):
        epsilon_for(asked, 1000, best * 0.99)


def test_a_rare_answer_needs_fewer_people():
    rare = setting(at=Fraction(1, 20))
    assert answers_for(rare, Decimal(3), 0.03) < answers_for(setting(), Decimal(3), 0.03)
