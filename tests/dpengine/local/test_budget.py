"""One ε over several questions: parts that never pass it, and the way that tells most."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import pytest

from dpengine.estimates import NoNoise
from dpengine.local.budget import (
    _joint_variance,
    _merged,
    _ways,
    apart,
    cheapest,
    parted,
    split,
    split_way,
    together,
)
from dpengine.local.channels import channel_for
from dpengine.local.joint import MAX_JOINT, Joint
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.local.ways import Importance, Kind, Question
from dpengine.privacy import exponential_below, loss_of_all

HALF = Fraction(1, 2)
YES_NO, FIVE, MIXED = (
    [Question(k) for k in ks] for ks in ([2] * 8, [5] * 8, [2, 2, 4, 4, 5, 5, 6, 7])
)
LN_81 = Decimal("4.394449154672438")
NICE = [Question(2, Importance.NICE)] * 2


@pytest.mark.parametrize("total", ["0.1", "1", "2.5", "8"])
@pytest.mark.parametrize(
    "weights", [[1], [1, 1, 1], [3, 2, 1], [Fraction(1, 3), Decimal("0.7"), 1, 5]], ids=str
)
def test_parts_never_pass_the_total_and_nearly_reach_it(total, weights):
    parts = split(Decimal(total), weights)
    assert Decimal(total) - len(weights) * Decimal("1e-9") < sum(parts) <= Decimal(total)
    losses = [channel_for(k, part).loss for k, part in zip((2, 3, 10, 50), parts, strict=False)]
    assert loss_of_all(losses) <= exponential_below(Decimal(total))


def test_parts_follow_their_weights():
    assert split(Decimal(1), [3, 1]) == [Decimal("0.75"), Decimal("0.25")]
    assert split(Decimal(1), [1, 1, 1]) == [Decimal("0.333333333")] * 3


@pytest.mark.parametrize(
    ("questions", "epsilon", "row", "best"),
    [
        (YES_NO, "1", [49.6, 19.0, 25.3, 30.6, 20.6, 25.7, 32.6], 19.0),
        (YES_NO, "2", [24.9, 11.5, 13.4, 15.7, 10.1, 11.4, 14.4], 10.1),
        (YES_NO, "3", [16.7, 9.7, 9.8, 11.0, 7.5, 7.2, 8.1], 7.2),
        (YES_NO, "4", [12.7, 9.1, 8.1, 8.7, 6.7, 5.8, 5.7], 5.7),
        (FIVE, "1", [80.1, 27.4, 39.3, 48.4, 46.6, 86.5], 27.4),
        (FIVE, "2", [39.7, 12.5, 19.4, 24.1, 20.7, 38.4], 12.5),
        (FIVE, "3", [26.3, 8.8, 12.1, 15.8, 11.5, 21.2], 8.8),
        (FIVE, "4", [19.7, 7.7, 8.8, 11.3, 7.3, 12.5], 7.3),
        (MIXED, "2", [42.4, 12.9], 12.0),
        (MIXED, "3", [28.2, 9.7], 8.5),
    ],
)
def test_the_best_way_for_eight_questions_at_1000_people(questions, epsilon, row, best):
    """Worst ± in points: split, then one, two and three drawn, then two, three, four together."""
    total = Decimal(epsilon)
    ways = [
        split_way(total, questions),
        *(apart(total, questions, asked, evenly=True) for asked in (1, 2, 3)),
        *(together(total, questions, size, evenly=True) for size in range(2, len(row) - 2)),
    ]
    assert [round(100 * way.worst(1000), 1) for way in ways[: len(row)]] == row
    found = cheapest(total, questions, 1000)
    assert round(100 * found.way.worst(1000), 1) == best
    assert found.way.worst(1000) <= min(way.worst(1000) for way in ways) + 1e-9
    assert all(way.loss <= exponential_below(total) for way in (*ways, found.way))
    assert all(way.loss > exponential_below(total) * Fraction(999, 1000) for way in (*ways,))


def test_four_questions_at_ln_81_are_the_case_by_hand():
    questions = [Question(2)] * 4
    ways = [apart(LN_81, questions, asked) for asked in (1, 2, 3)]
    assert [way.variances[0] for way in ways] == [
        pytest.approx(1.0506, abs=1e-4),
        pytest.approx(0.78125),
        pytest.approx(0.8546, abs=1e-4),
    ]
    assert split_way(LN_81, questions).variances == pytest.approx([1] * 4)
    found = cheapest(LN_81, questions, 1000)
    assert found.way.variances == pytest.approx([0.36] * 4)
    assert [block.questions for block in found.way.blocks] == [(0, 1, 2, 3)]


@pytest.mark.parametrize(("epsilon", "kind"), [("0.5", Kind.APART), ("16", Kind.SPLIT)])
def test_one_question_is_best_for_a_small_budget_and_all_for_a_large_one(epsilon, kind):
    found = cheapest(Decimal(epsilon), [Question(k) for k in (20, 25, 30)], 1000)
    assert found.way.kind is kind
    assert found.way.asked == ((1, 1) if kind is Kind.APART else (3, 3))


def test_a_variance_grows_by_how_many_are_left_out():
    once, questions = apart(Decimal(1), YES_NO[:4], 1), channel_for(2, Decimal(1)).variance(HALF)
    assert once.variances == pytest.approx([4 * float(questions)] * 4)
    assert once.chances == (0.25,) * 4


def test_overlapping_blocks_ask_each_question_as_often_and_let_pairs_meet():
    way = together(Decimal(3), YES_NO, 3)
    joint = Joint.for_epsilon((2, 2, 2), Decimal(3))
    assert way.variances == pytest.approx([float(joint.view(0).variance(HALF)) * 8 / 3] * 8)
    assert way.chances == pytest.approx((3 / 8,) * 8)
    assert way.asked == (3, 3)
    assert way.met == 24
    assert way.loss == joint.loss
    assert (apart(Decimal(3), YES_NO, 1).met, split_way(Decimal(3), YES_NO).met) == (0, 28)


def test_a_decisive_question_gets_the_people_of_two_useful_ones():
    questions = [Question(5, Importance.DECISIVE), *FIVE[:3], Question(5, Importance.NICE)]
    way = apart(Decimal(1), questions, 1)
    assert way.chances == pytest.approx([4 / 11, 2 / 11, 2 / 11, 2 / 11, 1 / 11], abs=1e-3)
    halves = [way.half(place, 1000) for place in range(5)]
    assert halves[1] / halves[0] == pytest.approx(2**0.5, rel=1e-2)
    assert way.worst(1000) == pytest.approx(halves[1], rel=1e-2)
    parts = split_way(Decimal(1), questions)
    assert parts.half(1, 1000) / parts.half(0, 1000) == pytest.approx(2**0.5, rel=0.02)


def test_numbers_ticks_and_conditions_are_drawn_by_themselves():
    scale = lambda epsilon: NumberChannel.for_epsilon(epsilon, Decimal(0), Decimal(4), 4)  # noqa: E731
    spread = lambda channel: channel.forecast(10**6, HALF, NoNoise()).variance.total * 10**6 / 16  # noqa: E731
    ticks = lambda epsilon: OneOf.for_epsilon(6, epsilon)  # noqa: E731
    questions = [
        Question(2),
        Question(3),
        Question(channel=scale, spread=spread),
        Question(channel=ticks, spread=lambda channel: float(channel.variance(HALF))),
        Question(2),
        Question(2),
    ]
    found = cheapest(Decimal(2), questions, 500, kept=[(0, 1)]).way
    assert (0, 1) in [block.questions for block in found.blocks]
    kept = next(block for block in found.blocks if block.questions == (0, 1))
    assert not kept.is_joint
    assert [channel.answers for channel in kept.channels] == [2, 3]
    assert found.loss <= exponential_below(Decimal(2))
    joined = [block.questions for block in found.blocks if block.is_joint]
    assert joined == [(4, 5)]
    assert sorted(place for block in found.blocks for place in block.questions) == [*range(6)]


def test_a_proposal_says_what_it_is_compared_with():
    found = cheapest(Decimal(2), YES_NO, 1000)
    assert found.way.kind is Kind.TOGETHER
    assert {name: round(figure, 1) for name, figure in found.figures.items()} == {
        "asked": 2,
        "of": 8,
        "joined": 2,
        "half": 10.1,
        "split": 24.9,
        "apart": 11.5,
        "together": 10.1,
    }


def test_declining_as_one_costs_less_than_one_of_each():
    """± of eight yes/no questions, n = 1,000, ε = 2, where half of all say yes."""
    declined = [Question(3, declines=True)] * 8
    found = cheapest(Decimal(2), declined, 1000, in_one_block=True)
    assert [len(block.questions) for block in found.way.blocks] == [2] * 4
    for block in found.way.blocks:
        (joint,) = block.channels
        assert (joint.channel.cells, joint.declining) == (5, (2, 2))
    assert found.way.loss <= exponential_below(Decimal(2))
    figures = {name: round(figure, 1) for name, figure in found.figures.items()}
    assert figures["half"] == figures["together"] == 11.0
    assert figures["apart"] == 12.8
    each = Joint.for_epsilon((3, 3), Decimal(2)).view(0)  # two of eight, one to decline in each
    assert round(196 * math.sqrt(float(each.variance(HALF)) / 250), 1) == 14.6


@pytest.mark.parametrize("epsilon", ["0.7", "2", "4", "8"])
def test_only_where_each_can_be_declined_declining_is_one_answer(epsilon):
    one, plain = Question(3, declines=True), Question(2)
    for questions in ([one] * 5, [one, plain] * 3, [one, one, Question(5, declines=True), plain]):
        for way in _ways(Decimal(epsilon), questions, ()):
            for block in (each for each in way.blocks if each.is_joint):
                own, (joint,) = [questions[place] for place in block.questions], block.channels
                assert bool(joint.declining) == all(each.declines for each in own)
                views = [joint.view(place) for place in range(len(own))]
                assert [view.answers for view in views] == [each.choices for each in own]


def test_no_more_are_sent_as_one_than_there_are_cells_for():
    """Ten yes/no questions are 1,024 combinations; with one answer more they are too many."""
    largest = [
        max(
            len(block.questions)
            for way in _ways(Decimal(20), questions, ())
            for block in way.blocks
        )
        for questions in ([Question(2)] * 20, [Question(3, declines=True)] * 20)
    ]
    assert largest == [10, 9]


def test_few_people_are_not_asked_so_little_that_nobody_is_left_for_a_question():
    found = cheapest(Decimal(1), YES_NO, 6)
    assert found.way.least_asked(6) >= 2
    assert cheapest(Decimal(1), YES_NO[:1], 2).way.kind is Kind.SPLIT


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 3), HALF])
def test_a_variance_counts_sampling_and_device(share):
    table = Table.coin()
    assert table.variance(share) == share * (1 - share) + Fraction(3, 4)
    subset = Subset.for_epsilon(5, Decimal(1))
    margin = subset.margin
    a, b = margin.truth, margin.lie
    device = (share * a * (1 - a) + (1 - share) * b * (1 - b)) / (a - b) ** 2
    assert subset.variance(share) == share * (1 - share) + device


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: split(Decimal(0), [1]), "epsilon must be above 0"),
        (lambda: split(Decimal("NaN"), [1]), "epsilon must be above 0"),
        (lambda: split(Decimal(1), []), "weights must be one or more, got none"),
        (lambda: split(Decimal(1), [1, 0]), "weight 1 must be above 0, got 0"),
        (lambda: split(Decimal(1), [Decimal("NaN")]), "weight 0 must be above 0, got NaN"),
        (
            lambda: split(Decimal(1), [1, Decimal("1e-12")]),
            "question 1 must get a billionth of ε or more, got less",
        ),
        (lambda: cheapest(Decimal(1), NICE, 100), "all are nice to have"),
        (lambda: cheapest(Decimal(1), [], 100), "questions must be 1 to 100, got 0"),
        (lambda: cheapest(Decimal(1), [Question(2)] * 101, 100), "1 to 100, got 101"),
        (lambda: cheapest(Decimal(1), YES_NO, 1), "n must be 2 or more, got 1"),
        (lambda: cheapest(Decimal(0), YES_NO, 100), "epsilon must be above 0"),
        (lambda: cheapest(Decimal(1), YES_NO, 100, [(0, 1), (1, 2)]), "of different questions"),
        (lambda: cheapest(Decimal(1), YES_NO, 100, [(1, 0)]), "in rising order"),
        (lambda: cheapest(Decimal(1), YES_NO, 100, [(7, 8)]), "of different questions"),
        (lambda: apart(Decimal(1), YES_NO, 9), "size must be 1 to 8, got 9"),
        (lambda: together(Decimal(1), FIVE, 5), "joint answers must be at most 1024, got 3125"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("weight", [0.5, True, "1"])
def test_a_weight_that_is_not_exact_is_refused(weight):
    with pytest.raises(TypeError, match="weight 0 must be an integer, Fraction or Decimal"):
        split(Decimal(1), [weight])


@pytest.mark.parametrize(
    ("questions", "epsilon", "half", "blocks"),
    [
        (YES_NO, "1", 19.0, [1] * 8),
        (YES_NO, "2", 10.1, [2] * 4),
        (YES_NO, "3", 7.3, [2, 3, 3]),
        (YES_NO, "4", 5.7, [4] * 2),
        (MIXED, "2", 12.0, [1] * 6 + [2]),
        (MIXED, "3", 8.5, [1] * 6 + [2]),
    ],
)
def test_where_each_question_is_in_one_block_little_is_lost(questions, epsilon, half, blocks):
    found = cheapest(Decimal(epsilon), questions, 1000, in_one_block=True).way
    assert round(100 * found.worst(1000), 1) == half
    assert sorted(len(block.questions) for block in found.blocks) == blocks
    places = [place for block in found.blocks for place in block.questions]
    assert sorted(places) == list(range(8))
    best = cheapest(Decimal(epsilon), questions, 1000).way
    assert found.worst(1000) < best.worst(1000) * 1.012
    assert found.loss <= exponential_below(Decimal(epsilon))


def test_blocks_are_as_large_as_is_said_and_no_larger_than_can_be():
    three = parted(Decimal(1), YES_NO, 1, size=3)
    assert [len(block.questions) for block in three.blocks] == [2, 3, 3]
    ten = parted(Decimal(1), [Question(2)] * 20, 1, size=12)
    assert [len(block.questions) for block in ten.blocks] == [10, 10], "1,024 joint answers"
    assert parted(Decimal(4), [Question(40)] * 2, 1) is None, "1,600 joint answers"
    assert parted(Decimal(4), YES_NO[:2], 2) is None, "one block, and two are to be drawn"
    some = parted(Decimal(4), [*YES_NO[:2], Question(7)], 1, kept=[(0, 1)])
    assert some is None, "what stays together is sent apart"


@pytest.mark.parametrize("epsilon", ["0.7", "2", "4.5"])
@pytest.mark.parametrize(
    "choices", [[2] * 7, [5] * 4, [2, 3, 2, 3, 2], [2, 2, 4, 4, 5, 5, 6, 7], [3, 2, 7]], ids=str
)
def test_blocks_are_merged_as_when_all_pairs_are_looked_at(choices, epsilon):
    """Of questions that are alike two are enough to know what a merge gains."""
    ways = (Importance.USEFUL, Importance.DECISIVE)
    questions = [Question(k, ways[place % 3 == 0]) for place, k in enumerate(choices)]
    units = [(place,) for place in range(len(choices))]
    found = _merged(units, questions, Decimal(epsilon), ())
    assert found == merged_by_all_pairs(units, questions, Decimal(epsilon))


def merged_by_all_pairs(units, questions, epsilon):
    def cells(block):
        return tuple(questions[each].choices for each in block)

    def need(block):
        importance = max(questions[each].importance for each in block)
        return _joint_variance((tuple(sorted(cells(block))), False), epsilon) * importance

    blocks = list(units)
    while True:
        pairs = [
            (need(one) + need(other) - need(one + other), one, other)
            for one, other in combinations(blocks, 2)
            if math.prod(cells(one + other)) <= MAX_JOINT
        ]
        gain, one, other = max(pairs, key=lambda each: each[0], default=(0, (), ()))
        if gain <= 0:
            return sorted(blocks)
        rest = [each for each in blocks if each not in (one, other)]
        blocks = [*rest, tuple(sorted(one + other))]
