"""One person's ε, shared by weights or spent on a few questions: never more than the total."""

from decimal import Decimal

import pytest

from dpengine.privacy import exponential_below
from surveys.planning.risks import Risks
from surveys.planning.sharing import parts_of, sampled, split
from tests.surveys.planning.test_dials import setting

ONE = Decimal(1)


def test_parts_are_rounded_down_and_stay_within_the_total():
    parts = parts_of(Decimal("2"), [Decimal(1), Decimal(1), Decimal("1.5")])
    assert parts == [Decimal("0.571"), Decimal("0.571"), Decimal("0.857")]
    assert sum(parts) <= 2


def test_splitting_never_loses_more_than_the_total():
    settings = [setting(), setting("likert"), setting("multiple")]
    parts = parts_of(Decimal(3), [ONE, ONE, Decimal(2)])
    way = split(settings, parts, [ONE, ONE, Decimal(2)], 1000)
    assert way.loss <= exponential_below(Decimal(3))
    assert way.shares[2].width.half < split(settings, [ONE * 3 / 4] * 3, [ONE] * 3, 1000).shares[2].width.half


@pytest.mark.parametrize("total", ["0.6", "2", "5"])
def test_sampling_spends_no_more_than_the_total_either(total):
    way = sampled([setting()] * 4, Decimal(total), 2000)
    assert way.loss <= exponential_below(Decimal(total))
    assert 1 <= way.reported < 4


def test_at_a_small_epsilon_picking_beats_splitting_and_at_a_large_one_it_does_not():
    """dpengine.local.budget says why: q·s·c/ε² for small ε; for large ε only people count."""
    settings = [setting(publication="8")] * 4
    for total, picking_wins in ((Decimal("0.8"), True), (Decimal(16), False)):
        parts = parts_of(total, [ONE] * 4)
        both = split(settings, parts, [ONE] * 4, 4000), sampled(settings, total, 4000)
        assert (both[1].worst < both[0].worst) is picking_wins


def test_one_question_cannot_be_picked_from():
    assert sampled([setting()], ONE, 1000) is None


def test_a_person_is_at_the_risk_of_all_questions_and_a_household_at_three_times_that():
    loss = setting().topic.at(ONE).loss
    risks = Risks.of(loss, [loss, loss])
    assert risks.answer.becomes[1] in ("73.1", "73.2")
    assert risks.person.becomes[1] in ("88.0", "88.1", "88")
    assert risks.household.epsilon == pytest.approx(Decimal(6), abs=Decimal("0.001"))
    assert risks.person.is_risky is False
    assert Risks.of(loss**3, [loss**3]).answer.is_risky
