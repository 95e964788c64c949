import math
from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.privacy import (
    Cost,
    epsilon_above,
    exponential_below,
    loss_of_all,
    loss_of_table,
    round_down,
    round_up,
)


def test_the_coin_of_the_book_loses_three_to_one():
    assert loss_of_table([[3, 1], [1, 3]]) == 3


def test_losses_of_several_answers_multiply():
    assert loss_of_all([Fraction(3), Fraction(5, 2)]) == Fraction(15, 2)


@pytest.mark.parametrize("epsilon", ["0.001", "0.25", "1", "1.0986122886681098", "4", "20"])
def test_the_exponential_is_a_bound_from_below_and_a_tight_one(epsilon):
    bound = exponential_below(Decimal(epsilon))
    with_more_digits = Fraction(Decimal(epsilon).exp(__import__("decimal").Context(prec=80)))
    assert bound < with_more_digits < bound * (1 + Fraction(1, 10**45))


@pytest.mark.parametrize("epsilon", ["0", "-1", "NaN", "Infinity", "21"])
def test_an_epsilon_that_is_none_is_refused_by_name(epsilon):
    with pytest.raises(ValueError, match=r"epsilon must be above 0 and at most 20"):
        exponential_below(Decimal(epsilon))


def test_an_epsilon_must_not_be_a_float():
    with pytest.raises(TypeError, match="Decimal"):
        exponential_below(1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "loss", [Fraction(1), Fraction(3), Fraction(3139872686, 1155094610), Fraction(10**9 + 1, 10**9)]
)
def test_the_epsilon_to_charge_is_never_below_the_loss(loss):
    epsilon = epsilon_above(loss)
    assert Fraction(epsilon) >= Fraction(math.log(loss)) - Fraction(1, 10**15)
    assert Fraction(epsilon) - Fraction(math.log(loss)) < Fraction(2, 10**9)


def test_a_loss_below_one_is_no_loss():
    with pytest.raises(ValueError, match="loss must be 1 or more"):
        epsilon_above(Fraction(1, 2))


def test_charges_round_up_and_caps_down():
    third = Fraction(1, 3)
    assert (round_up(third, 2), round_down(third, 2)) == (Decimal("0.34"), Decimal("0.33"))
    assert round_up(Fraction(1, 4), 2) == round_down(Fraction(1, 4), 2) == Decimal("0.25")


def test_what_is_enough_for_each_of_some_costs_is_the_largest_in_every_measure():
    costs = [
        Cost.pure(Fraction(1, 2)),
        Cost(Fraction(1, 3), Fraction(1, 10**6), Fraction(1, 4)),
        Cost.pure(Fraction(1, 8)),
    ]
    for some in (costs, costs[::-1]):
        assert Cost.largest(some) == Cost(Fraction(1, 3), Fraction(1, 10**6), Fraction(1, 2))
    assert Cost.largest([*costs, Cost.concentrated(Fraction(1, 9))]).epsilon is None
