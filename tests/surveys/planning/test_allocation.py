"""One person's ε, shared by weights or spent on a few questions: never more than the total."""

from decimal import Decimal

import pytest

from dpengine.privacy import exponential_below
from surveys.planning.allocation import parts_of, sampled, split
from tests.surveys.planning.test_solver import scenario

ONE = Decimal(1)


def test_parts_are_rounded_down_and_stay_within_the_total():
    parts = parts_of(Decimal("2"), [Decimal(1), Decimal(1), Decimal("1.5")])
    assert parts == [Decimal("0.571"), Decimal("0.571"), Decimal("0.857")]
    assert sum(parts) <= 2


def test_splitting_never_loses_more_than_the_total():
    scenarios = [scenario(), scenario("likert"), scenario("multiple")]
    parts = parts_of(Decimal(3), [ONE, ONE, Decimal(2)])
    allocation = split(scenarios, parts, [ONE, ONE, Decimal(2)], 1000)
    assert allocation.loss <= exponential_below(Decimal(3))
    assert (
        allocation.parts[2].precision.half
        < split(scenarios, [ONE * 3 / 4] * 3, [ONE] * 3, 1000).parts[2].precision.half
    )


@pytest.mark.parametrize("total", ["0.6", "2", "5"])
def test_sampling_spends_no_more_than_the_total_either(total):
    allocation = sampled([scenario()] * 4, Decimal(total), 2000)
    assert allocation.loss <= exponential_below(Decimal(total))
    assert 1 <= allocation.reported < 4


def test_at_a_small_epsilon_picking_beats_splitting_and_at_a_large_one_it_does_not():
    """dpengine.local.budget says why: q·s·c/ε² for small ε; for large ε only people count."""
    scenarios = [scenario(publication="8")] * 4
    for total, picking_wins in ((Decimal("0.8"), True), (Decimal(16), False)):
        parts = parts_of(total, [ONE] * 4)
        both = split(scenarios, parts, [ONE] * 4, 4000), sampled(scenarios, total, 4000)
        assert (both[1].worst < both[0].worst) is picking_wins


def test_one_question_cannot_be_picked_from():
    assert sampled([scenario()], ONE, 1000) is None
