import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest

from dpengine.accounting import groups
from tests.dpengine.accounting import divergences

MILLIONTH = Fraction(1, 10**6)


def test_a_household_of_three_by_hand():
    assert groups.group_epsilon(Fraction(1, 2), 3) == Fraction(3, 2)
    assert math.isclose(
        groups.group_delta(Fraction(1, 2), MILLIONTH, 3), 3 * math.e * 1e-6, rel_tol=1e-9
    )
    assert groups.group_rho(Fraction(1, 8), 3) == Fraction(9, 8)


def test_the_delta_of_mechanisms_grows_with_the_rho_that_all_of_them_share():
    five = groups.group_delta_of_mechanisms(Fraction("0.02"), MILLIONTH, 5)
    assert math.isclose(five, 5 * math.exp(0.8) * 1e-6, rel_tol=1e-9)
    assert groups.group_delta_of_mechanisms(Fraction(1, 8), MILLIONTH, 3) == pytest.approx(
        groups.group_delta(Fraction(1, 2), MILLIONTH, 3)
    )
    assert groups.group_delta_of_mechanisms(Fraction(9), Fraction(0), 5) == 0


def test_one_person_is_a_group_of_one_and_a_pure_loss_stays_pure():
    assert groups.group_delta(Fraction(1), MILLIONTH, 1) == Decimal("0.000001")
    assert groups.group_delta(Fraction(1), Fraction(0), 5) == 0
    assert groups.group_delta(Fraction(9), Fraction(1, 100), 5) == 1


def test_members_of_a_group_lose_no_more_than_it_says():
    """A chain of three neighbours, each (ln 2, 1/20) from the next, exactly."""
    chain = [[20, 9, 1, 0], [10, 18, 2, 0], [5, 20, 4, 1]]
    delta = max(divergences.hockey_stick(one, other, Fraction(2)) for one, other in pairwise(chain))
    ends = divergences.hockey_stick(chain[0], chain[2], Fraction(4))
    assert ends <= groups.group_delta(Fraction(Decimal(2).ln()), delta, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: groups.group_epsilon(Fraction(1), 0),
        lambda: groups.group_delta(Fraction(1), MILLIONTH, 0),
        lambda: groups.group_rho(Fraction(1), 0),
    ],
)
def test_a_group_has_a_member(call):
    with pytest.raises(ValueError, match="size must be 1 or more, got 0"):
        call()
