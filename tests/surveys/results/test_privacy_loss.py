from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.accounting.concentrated import rho_of
from surveys.plan.content import PlanContent, read
from surveys.results import privacy_loss
from surveys.results.privacy_loss import Loss
from tests.plans import whole

COIN = {"kind": "table", "weights": [[3, 1], [1, 3]]}
UNEVEN = {"kind": "table", "weights": [[3, 1], [2, 2]]}
SUBSET = {"kind": "subset", "choices": 10, "size": 3, "keep": 2**31}


QUESTION = {"kind": "yes_no", "label": "Q", "choices": ["No", "Yes"]}


def plan(channel: dict[str, object], *more: dict[str, object]) -> PlanContent:
    """A Plan of one question that is changed on the device, and of more."""
    question = {**QUESTION, "name": "q", "protection": "device", "channel": channel, "loss": [3, 1]}
    return read(whole(questions=[question, *more], loss=[3, 1]))


CLEARTEXT = {**QUESTION, "name": "g", "protection": "publication"}


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [
        ("0", "0.00"),
        ("0.75", "0.75"),
        ("0.7500001", "0.76"),
        ("12", "12.00"),
        ("0.04891", "0.049"),
        ("0.0014", "0.0014"),
    ],
)
def test_an_epsilon_is_shown_rounded_up_and_small_ones_keep_two_digits(epsilon, expected):
    assert privacy_loss.shown(Decimal(epsilon)) == expected


def test_a_guess_is_counted_in_hundreds_rounded_up_and_never_said_to_be_certain():
    """Just below ln 3: three in four. ε = 1: 73.1, so at most 74. ε = 6: 99.753."""
    assert Loss(Decimal("1.0986")).guess == "75"
    assert Loss(Decimal(1)).guess == "74"
    assert Loss(Decimal("4.59")).guess == "99"
    assert Loss(Decimal("4.6")).guess == "99.1"
    assert Loss(Decimal(6)).guess == "99.8"
    assert Loss(Decimal(8)).guess == "99.97"
    assert Loss(Decimal(0)).guess == "50"


def test_a_delta_makes_a_guess_better():
    """(e^ε + δ)/(e^ε + 1), attained by randomised response that tells the truth with chance δ."""
    assert Loss(Decimal(0), Fraction(1, 5)).guess == "60"
    assert Loss(Decimal("1.0986"), Fraction(1, 10)).guess == "78"
    assert Loss(Decimal(0), Fraction(1)).guess == "100"


def test_a_household_is_a_group_and_one_that_sends_as_given_has_no_bound():
    none, cap = Loss(Decimal(0)), Loss(Decimal(1), Fraction(1, 10**6))
    found = privacy_loss.households(Fraction(3), none, cap, Loss(Decimal("0.5")))
    assert found[1].local is not None
    assert privacy_loss.shown(found[1].local.epsilon) == "2.20"  # 2·ln 3 = 2.1972
    assert found[1].cap.epsilon == 2
    assert float(found[1].cap.delta) == pytest.approx(2 * 2.718281828e-6)
    assert found[1].readers == Loss(Decimal(1))
    assert privacy_loss.households(None, none, cap, cap)[0].local is None
    nothing = privacy_loss.households(Fraction(1), none, cap, none)[4].local
    assert nothing == none
    millionth = Fraction(1, 10**6)
    four = Fraction(rho_of(Fraction(4), millionth / 2))  # of a cap of ε 4
    by_rho = Loss.of_rho(four, millionth, millionth / 2)
    assert Decimal("3.99") < by_rho.epsilon <= 4
    alone, *_, five = privacy_loss.households(None, none, by_rho, by_rho)
    assert (alone.cap.epsilon, alone.cap.delta) == (by_rho.epsilon, by_rho.delta)
    assert 25 < five.cap.epsilon < 28
    assert float(five.cap.delta) == pytest.approx(5.6e-5, rel=0.05)  # 5·e^16·δ is above 1


def test_a_coin_gets_its_own_bound_in_a_batch_and_an_uneven_table_the_general_one():
    coin, uneven, subset = (
        privacy_loss.shuffled(plan(channel, CLEARTEXT), 10_000)
        for channel in (COIN, UNEVEN, SUBSET)
    )
    assert [name for name, _ in coin.questions] == ["q"]
    assert privacy_loss.shown(coin.questions[0][1]) == "0.049"
    assert (
        privacy_loss.shown(uneven.questions[0][1]) == privacy_loss.shown(uneven.together) == "0.061"
    )
    assert Decimal("0.04") < subset.questions[0][1] <= Decimal("0.0609")


def test_one_question_alone_is_together_what_it_is_by_itself():
    coin = privacy_loss.shuffled(plan(COIN), 10_000)
    assert coin.together == coin.questions[0][1]
    assert privacy_loss.shown(coin.together) == "0.049"


def test_a_plan_that_changes_nothing_loses_nothing_in_a_batch():
    assert privacy_loss.shuffled(read(whole()), 100).together == 0
