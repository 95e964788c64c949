import math
from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.accounting.comparison import Comparison, compare, compare_worst
from dpengine.accounting.filters import EVERYONE, Charge, PureFilter
from dpengine.privacy import Cost

DELTA = Fraction(1, 10**6)
SMALL = Cost.pure(Fraction("0.05"))
NOISE = Cost.concentrated(Fraction("0.01"))


def figures(found: Comparison) -> list[Decimal | None]:
    return [found.basic, found.advanced, found.optimal, found.concentrated, found.renyi]


def test_a_thousand_small_releases_by_every_accountant():
    found = compare([SMALL] * 1000, DELTA)
    known = [float(epsilon) for epsilon in figures(found) if epsilon is not None]
    assert known == pytest.approx([50, 10.8748, 8.2836, 8.8459, 8.8296], abs=1e-4)
    assert found.least == found.optimal


def test_few_large_releases_are_best_added_up():
    found = compare([Cost.pure(Fraction("0.45"))] * 4, DELTA)
    assert found.basic == Decimal("1.8")
    assert found.optimal is not None
    assert Decimal("1.7") < found.optimal <= Decimal("1.8")


def test_different_releases_are_composed_too():
    found = compare([SMALL] * 100 + [Cost.pure(Fraction("0.5"))], DELTA)
    assert found.optimal is not None
    assert found.advanced is not None
    assert found.optimal < found.advanced
    squares, drift = 100 * 0.05**2 + 0.25, 100 * 0.05 * math.expm1(0.05) + 0.5 * math.expm1(0.5)
    assert math.isclose(
        found.advanced, math.sqrt(2 * math.log(1e6) * squares) + drift, rel_tol=1e-8
    )


def test_gaussian_noise_counts_for_every_accountant():
    found = compare([SMALL, NOISE, NOISE], DELTA)
    assert None not in figures(found)
    assert (
        found.concentrated == compare([Cost.concentrated(Fraction("0.02125"))], DELTA).concentrated
    )
    assert found.basic is not None
    assert found.least is not None
    assert found.least < found.basic


def test_the_costs_own_deltas_come_off_the_delta_asked_for():
    half = Cost.approximate(Fraction("0.05"), DELTA / 2)
    assert compare([half], DELTA).concentrated == compare([SMALL], DELTA / 2).concentrated
    spent = compare([half, half], DELTA)
    assert figures(spent) == [Decimal("0.1"), None, None, None, None]
    assert compare([half] * 3, DELTA).least is None


def test_nothing_spent_is_nothing_by_every_accountant():
    assert figures(compare([], DELTA)) == [0] * 5
    assert compare_worst([], DELTA) == compare([], DELTA)


def test_the_worst_parts_count():
    charges = [
        Charge(EVERYONE, SMALL),
        Charge("a", SMALL),
        Charge("b", Cost.pure(Fraction(1))),
        Charge("c", SMALL),
    ]
    moving = PureFilter(Fraction(1)).meetings(charges)
    assert len(moving) == 3
    assert compare_worst(moving, DELTA).basic == Decimal("1.1")
    staying = PureFilter(Fraction(1), fixed_parts=True).meetings(charges)
    assert compare_worst(staying, DELTA).basic == Decimal("1.05")
    assert (
        compare_worst([[SMALL], [Cost.approximate(Fraction(1), DELTA)] * 2], DELTA).concentrated
        is None
    )


def test_a_budget_without_parts_is_one_meeting():
    charges = [Charge(EVERYONE, SMALL)] * 3
    assert PureFilter(Fraction(1)).meetings(charges) == [(SMALL,) * 3]
