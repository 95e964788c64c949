"""Drawn sets of blocks: their exact loss by enumeration, how often each is drawn, and designs."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb

import pytest
from scipy import stats

from dpengine.local.blocks import (
    MAX_SETS,
    MAX_WEIGHT,
    Drawn,
    chances_for,
    cyclic,
    subsets,
    weighted,
)
from dpengine.local.joint import Joint
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.randomness import WORD
from tests.vectors import load, replay

HALF = Fraction(1, 2)
COIN, FIVE, THIRD = Table.coin(), Table(((5, 1, 1), (1, 5, 1), (1, 1, 5))), Table(((2, 1), (1, 2)))
PAIR = Joint.of(Subset(6, 2, WORD // 2), (2, 3))  # of the questions 0 and 1 below
OVER = Joint.of(Subset(4, 1, 3 * WORD // 4), (2, 2))  # of 0 and 2

# questions 0, 1, 2, 3 have 2, 3, 2, 2 choices; blocks by (questions, channel), apart or joint
BLOCKS = [((0,), COIN), ((1,), FIVE), ((2,), THIRD), ((3,), COIN)]
JOINTS = [((0, 1), PAIR), ((0, 2), OVER), ((3,), COIN), ((1,), FIVE)]
DESIGNS = [
    (BLOCKS, Drawn.some_of(4, 1)),
    (BLOCKS, Drawn.some_of(4, 2)),
    (BLOCKS, Drawn.some_of(4, 3)),
    (BLOCKS, Drawn.all_of(4)),
    (BLOCKS, Drawn(((0, 1), (2,), (1, 2, 3)), (5, 1, 1000))),
    (JOINTS, Drawn(((0, 2), (1,), (3,)), (1, 2, 3))),
    (JOINTS, Drawn(((0,), (1, 3), (2,)), (7, 1, 1))),
]
CHOICES = (2, 3, 2, 2)


def reports_of(channel):
    if isinstance(channel, Joint):
        return list(combinations(range(channel.cells), channel.held))
    return list(range(channel.reports))


def chance_of(channel, answers, report):
    """Return Pr[report | answers to the block's questions]."""
    if isinstance(channel, Joint):
        return channel.channel.probabilities([report])[channel.encode(answers)][0]
    return Fraction(channel.weights[answers[0]][report], channel.total)


@pytest.mark.parametrize(("blocks", "drawn"), DESIGNS, ids=str)
def test_the_loss_is_that_of_the_worst_pair_of_people_by_enumeration(blocks, drawn):
    """Every pair of people, every set, every report of each of its blocks: Pr[set, reports |
    person] as fractions.
    """
    people = list(product(*(range(choices) for choices in CHOICES)))
    worst, total = Fraction(0), dict.fromkeys(people, Fraction(0))
    for held, weight in zip(drawn.sets, drawn.weights, strict=True):
        for reports in product(*(reports_of(blocks[block][1]) for block in held)):
            chances = []
            for person in people:
                chance = Fraction(weight, sum(drawn.weights))
                for block, report in zip(held, reports, strict=True):
                    questions, channel = blocks[block]
                    chance *= chance_of(channel, [person[q] for q in questions], report)
                chances.append(chance)
                total[person] += chance
            worst = max(worst, max(chances) / min(chances))
    assert set(total.values()) == {1}
    assert drawn.loss([channel.loss for _, channel in blocks]) == worst


def test_the_case_by_hand():
    drawn = Drawn(((0, 1), (0, 2), (1, 2)), (1, 1, 2))
    assert drawn.loss([Fraction(3), Fraction(2), Fraction(5)]) == 15
    assert [drawn.chance(block) for block in range(3)] == [HALF, Fraction(3, 4), Fraction(3, 4)]
    assert drawn.chance(1, 2) == HALF


def test_sets_are_drawn_as_often_as_their_weights_say():
    """Chi-square of 10,000 draws over four sets; a false alarm once in a million runs."""
    drawn = Drawn(((0, 1), (2,), (1, 2), (0,)), (1, 7, 3, 9))
    found = Counter(drawn.draw() for _ in range(10_000))
    expected = [500 * weight for weight in drawn.weights]
    assert stats.chisquare([found[each] for each in range(4)], expected).pvalue > 1e-6
    assert Drawn.all_of(3).draw(replay([])) == 0  # nothing to draw takes no word


@pytest.mark.parametrize("case", load("blocks.json"), ids=lambda case: case["name"])
def test_sets_agree_with_the_browser_word_for_word(case):
    if "drawn" not in case:
        return
    sets = tuple((place,) for place in range(len(case["weights"])))
    words = iter(case["words"])
    assert Drawn(sets, tuple(case["weights"])).draw(lambda: next(words)) == case["drawn"]
    assert next(words, None) is None


@pytest.mark.parametrize(
    ("count", "size"), [(1, 1), (8, 3), (8, 8), (14, 2), (15, 2), (20, 3), (30, 4), (100, 3)]
)
def test_every_thing_is_in_as_many_sets(count, size):
    found = subsets(count, size)
    drawn = Drawn.evenly(found)
    assert {drawn.chance(each) for each in range(count)} == {Fraction(size, count)}
    assert {len(each) for each in found} == {size}
    if comb(count, size) <= MAX_SETS:
        assert found == list(combinations(range(count), size))


def test_cyclic_triples_of_eight_let_all_pairs_meet_but_opposite_ones():
    found = cyclic(8, 3)
    assert len(found) == 8
    assert found[0] == (0, 1, 3)
    met = {pair for each in found for pair in combinations(each, 2)}
    assert set(combinations(range(8), 2)) - met == {(0, 4), (1, 5), (2, 6), (3, 7)}
    assert len(cyclic(6, 3)) == 6
    assert cyclic(4, 4) == [(0, 1, 2, 3)]


def test_as_many_pairs_meet_as_a_hundred_sets_can_hold():
    met = {pair for each in subsets(20, 2) for pair in combinations(each, 2)}
    assert len(met) == MAX_SETS
    assert len({pair for each in subsets(12, 4) for pair in combinations(each, 2)}) == 66


@pytest.mark.parametrize("asked", [1, 2, 3])
@pytest.mark.parametrize("needs", [[1, 1, 1, 1], [4, 2, 2, 1, 1], [100, 1, 1, 1], [1, 2, 3, 4, 5]])
def test_blocks_are_asked_as_often_as_they_need(needs, asked):
    chances = chances_for(needs, asked)
    assert sum(chances) == pytest.approx(asked)
    assert max(chances) <= max(0.95, asked / len(needs)) + 1e-12
    drawn = weighted(subsets(len(needs), asked), chances)
    assert [float(drawn.chance(block)) for block in range(len(needs))] == pytest.approx(
        chances, abs=2e-3
    )
    free = [part / need for part, need in zip(chances, needs, strict=True) if part < 0.9]
    assert max(free) == pytest.approx(min(free))


def test_whoever_is_asked_everything_is_asked_everything():
    assert chances_for([3, 1, 2], 3) == [1, 1, 1]
    assert weighted(subsets(3, 3), [1, 1, 1]) == Drawn.all_of(3)


LOSSES = [channel.loss for _, channel in BLOCKS]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Drawn((), ()), "sets must be 1 to 100, got 0"),
        (lambda: Drawn.evenly([(0, each) for each in range(1, 102)]), "1 to 100, got 101"),
        (lambda: Drawn(((0,), (0,)), (1, 1)), "sets must differ"),
        (lambda: Drawn(((0,), ()), (1, 1)), "set 1 must be blocks in rising order"),
        (lambda: Drawn(((0,), (2, 1)), (1, 1)), "set 1 must be blocks in rising order"),
        (lambda: Drawn(((0, 0),), (1,)), "set 0 must be blocks in rising order"),
        (lambda: Drawn(((-1, 0),), (1,)), "set 0 must be blocks in rising order"),
        (lambda: Drawn(((0,), (2,)), (1, 1)), "each of 3 blocks must be in a set"),
        (lambda: Drawn.all_of(101), "blocks must be at most 100, got 101"),
        (lambda: Drawn(((0,),), (0,)), "weights must be one for each set, integers from 1"),
        (lambda: Drawn(((0,),), (MAX_WEIGHT + 1,)), "integers from 1 to 1048576"),
        (lambda: Drawn(((0,),), (True,)), "integers from 1 to 1048576"),
        (lambda: Drawn(((0,),), (1, 1)), "one for each set"),
        (lambda: Drawn.some_of(3, 0), "size must be 1 to 3, got 0"),
        (lambda: Drawn.some_of(3, 4), "size must be 1 to 3, got 4"),
        (lambda: cyclic(3, 4), "size must be 1 to 3, got 4"),
        (lambda: subsets(101, 2), "blocks must be at most 100, got 101"),
        (lambda: Drawn.all_of(3).loss(LOSSES), "losses must be those of 3 blocks, got 4"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
