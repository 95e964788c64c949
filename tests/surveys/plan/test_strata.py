"""How reports are parted by stratum, and what each part weighs."""

import itertools
from fractions import Fraction

import pytest

from surveys.plan import strata


def test_weights_of_strata_that_are_parts_by_hand():
    found = strata.weights([300, 700], [[60, 0], [0, 70]])
    assert found.parts == (Fraction(3, 10), Fraction(7, 10))
    assert found.unheard == ()
    assert found.off_at_most == 0


def test_what_is_sealed_together_weighs_what_its_people_stand_for():
    found = strata.weights([300, 700], [[40, 20]])
    assert found.parts == (1,)
    assert found.off_at_most == Fraction(11, 30)  # |.3 − 2/3|
    beside = strata.weights([300, 700], [[30, 0], [0, 50], [10, 20]])
    assert beside.parts == (
        Fraction(3, 10) * Fraction(3, 4),
        Fraction(7, 10) * Fraction(5, 7),
        Fraction(3, 10) / 4 + Fraction(7, 10) * Fraction(2, 7),
    )
    assert sum(beside.parts) == 1


def test_the_others_speak_for_a_stratum_of_which_nobody_answered():
    found = strata.weights([100, 300, 600], [[40, 0, 0], [0, 50, 0]])
    assert found.parts == (Fraction(1, 4), Fraction(3, 4))
    assert found.unheard == (2,)


def test_no_part_is_further_off_than_is_said():
    """Of all ways in which strata can answer, at the edges of what they can."""
    people, parts = [100, 250, 650], [[31, 0, 0], [7, 12, 20]]
    found = strata.weights(people, parts)
    came = [sum(each) for each in zip(*parts, strict=True)]
    worst = Fraction(0)
    for shares in itertools.product((0, 1), repeat=3):
        truth = sum(
            Fraction(many, 1000) * share for many, share in zip(people, shares, strict=True)
        )
        told = sum(
            weight * Fraction(sum(n * s for n, s in zip(part, shares, strict=True)), sum(part))
            for weight, part in zip(found.parts, parts, strict=True)
        )
        worst = max(worst, abs(told - truth))
    assert came == [38, 12, 20]
    assert worst == found.off_at_most > 0


@pytest.mark.parametrize("counts", list(itertools.product((0, 1, 29, 30, 31, 75), repeat=3)))
def test_nothing_is_sealed_by_itself_that_is_too_small_and_nothing_is_lost(counts):
    waiting = dict(enumerate(counts))
    few = strata.together(waiting, 10)
    own = [waiting[at] for at in waiting if at not in few and waiting[at]]
    other = sum(waiting[at] for at in few)
    assert sum(own) + other == sum(counts)
    assert all(many >= 30 for many in own)
    assert other == 0 or other >= 30 or not own


@pytest.mark.parametrize("many", range(400))
def test_batches_of_a_part_hold_all_of_it_and_none_is_small(many):
    found = strata.sizes(many, 100, 30)
    assert sum(found) == many
    assert all(30 <= size < 130 for size in found) or len(found) <= 1


def test_while_more_can_come_as_many_are_left_as_hide_one_another():
    assert strata.due({0: 59, 1: 60, 2: 100}, 10) == {1: 30, 2: 70}
    assert strata.due({0: 159, 1: 160}, 80) == {1: 80}
