from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import pytest

from dpengine.local import designs
from dpengine.local.choose import (
    Asked,
    Kind,
    Wanted,
    cheapest,
    option_variance,
    subset_wave_variance,
    wave_variance,
    worth_variance,
)
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel, mean_variance
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import exponential_below, loss_of_all

YES_NO = Asked(Kind.YES_NO)
MEAN = Asked(Kind.SCALE, 5, Wanted.MEAN)
AGE = Asked(Kind.NUMBER, low=Decimal(0), high=Decimal(100), steps=100)
AGES = Asked(Kind.NUMBER, wanted=Wanted.DISTRIBUTION, low=Decimal(0), high=Decimal(100), steps=100)
EVERY = [
    YES_NO, *(Asked(Kind.SINGLE, k) for k in (2, 3, 10, 100)), Asked(Kind.SCALE, 5), MEAN,
    *(Asked(Kind.MULTIPLE, m) for m in (2, 5, 12)), AGE, AGES,
]  # fmt: skip


def loss_of(channel):
    return loss_of_all(c.loss for c in channel) if isinstance(channel, tuple) else channel.loss


@pytest.mark.parametrize("asked", EVERY, ids=str)
@pytest.mark.parametrize("epsilon", ["0.25", "1", "1.0986", "4"])
def test_no_other_way_that_can_be_had_is_better_and_none_passes_what_was_asked(asked, epsilon):
    choice = cheapest(asked, Decimal(epsilon))
    assert loss_of(choice.channel) <= exponential_below(Decimal(epsilon))
    for way in choice.alternatives:
        if way.channel is not None:
            assert choice.variance <= way.variance
            assert loss_of(way.channel) <= exponential_below(Decimal(epsilon))
    variances = [way.variance for way in choice.alternatives]
    assert variances == sorted(variances)
    assert choice.variance < 1.01 * variances[0]  # nor one that only others have


@pytest.mark.parametrize(
    ("asked", "epsilon", "kind", "variance"),
    [
        (YES_NO, "1.0986", Table, 0.75),
        (YES_NO, "1", Table, 0.92),
        (Asked(Kind.SINGLE, 2), "1", Table, 0.92),
        (Asked(Kind.SINGLE, 10), "1", Subset, 2.82),
        (Asked(Kind.SCALE, 10), "1", Subset, 2.82),
        (Asked(Kind.SINGLE, 100), "1", Subset, 3.59),
        (MEAN, "1", NumberChannel, 16.0),
        (Asked(Kind.MULTIPLE, 5), "1", OneOf, 5.85),
        (Asked(Kind.MULTIPLE, 3), "5", Subset, 0.278),
    ],
)
def test_each_kind_of_question_gets_its_channel_at_its_limit(asked, epsilon, kind, variance):
    """The limits of DESIGN § 9; four times 3.99 for a mean on 1 to 5 instead of −1 to 1."""
    choice = cheapest(asked, Decimal(epsilon))
    assert isinstance(choice.channel, kind)
    assert choice.variance == pytest.approx(variance, rel=0.004)


def test_every_option_with_a_part_of_epsilon_wins_where_options_are_many_and_epsilon_is_large():
    choice = cheapest(Asked(Kind.MULTIPLE, 11), Decimal(10))
    assert isinstance(choice.channel, tuple)
    assert len(choice.channel) == 11


def test_the_reason_is_a_sentence_for_people():
    assert cheapest(YES_NO, Decimal(1)).why == (
        "Each device would keep the answer 73 times of 100 and turn it otherwise; at ε = 1 the next best of the "
        "ways compared, to force answers, three yes for one no, needs 3.0 times as many people to be as precise."
    )
    assert cheapest(Asked(Kind.SINGLE, 10), Decimal("1.00")).why == (
        "Each device would name 2 of the 10 answers, the true one more often than another; at ε = 1 the next best of "
        "the ways compared, to name one answer, needs 29 % more people to be as precise."
    )
    assert cheapest(MEAN, Decimal("0.1")).why.endswith(
        "at ε = 0.1 the next best of the ways compared, to say only the lowest or the highest number, "
        "needs as many people."
    )


def test_the_reason_never_says_that_an_answer_is_always_kept():
    assert "keep the answer 99 times of 100" in cheapest(YES_NO, Decimal(8)).why


def test_the_reason_says_so_when_a_way_that_cannot_be_had_needs_fewer_people():
    """Weights of a number's table are whole numbers below 100,000: beyond ε = 8 chances cannot follow."""
    assert cheapest(AGE, Decimal(12)).why.endswith("would need 60 % fewer people, but cannot be had.")


def test_the_alternatives_to_k_ary_questions_have_the_variances_of_their_papers():
    """k = 10, ε = 1: one named 3.63, bits turned unevenly 3.68 (pure-ldp's best), evenly 3.92 (basic RAPPOR)."""
    choice = cheapest(Asked(Kind.SINGLE, 10), Decimal(1))
    assert [way.variance for way in choice.alternatives] == pytest.approx([3.63, 3.683, 3.918], abs=0.002)


def test_the_alternatives_to_a_mean_have_the_variances_of_their_papers():
    """Worst case on [−1, 1] at ε = 1: hybrid 4.29, one bit 4.68, piecewise 5.22, Laplace 8."""
    choice = cheapest(Asked(Kind.NUMBER, low=Decimal(-1), high=Decimal(1), steps=100), Decimal(1))
    assert [way.variance for way in choice.alternatives] == pytest.approx([4.289, 4.683, 5.224, 8], abs=0.002)


@pytest.mark.parametrize(("options", "size"), [(2, 1), (2, 2), (3, 1), (3, 3), (3, 7)])
def test_the_variance_of_an_option_from_its_combinations_is_that_of_their_reports(options, size):
    """Every report of every set of ticks, by exact fractions: the estimate is right, and varies as stated."""
    together = Subset(2**options, size, 15 * 2**28)
    reports = list(combinations(range(2**options), size))
    a, b = together.margin.truth, together.margin.lie
    ticked = range(1, 2**options, 2)  # the sets with the first option
    worth = [sum(((ticks in held) - b) / (a - b) for ticks in ticked) for held in map(set, reports)]
    for answer, chances in enumerate(together.probabilities(reports)):
        mean = sum(p * value for p, value in zip(chances, worth, strict=True))
        assert mean == answer & 1
        spread = sum(p * (value - mean) ** 2 for p, value in zip(chances, worth, strict=True))
        assert option_variance(together) == Fraction(1, 4) + spread


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_wave_is_judged_alike_as_a_subset_and_as_the_table_of_its_reports(size):
    """The score of a subset's report is its own linear estimate, so information and variance must agree."""
    subset = Subset(5, size, 15 * 2**28)
    table = designs.custom(subset.probabilities(list(combinations(range(5), size))))
    assert wave_variance(table) == pytest.approx(float(subset_wave_variance(subset)), rel=1e-12)


def test_a_wave_over_two_bins_is_twice_a_share():
    """Shares (1 ± θ)/2: the coin's variance × n of a share of one half is 1, of θ 4."""
    assert wave_variance(Table.coin()) == pytest.approx(4)


def test_the_worth_of_points_is_judged_as_the_mean_of_a_scale_is():
    subset = Subset(7, 2, 15 * 2**28)
    points = [Fraction(point) for point in range(7)]
    assert max(worth_variance(subset, points, answer) for answer in range(7)) == mean_variance(subset)


def test_a_distribution_is_asked_by_a_wave_of_bins_unless_bins_are_so_few_that_they_are_choices():
    choice = cheapest(AGES, Decimal(1))
    assert isinstance(choice.channel, Distribution)
    assert choice.channel.bins == 64
    assert choice.alternatives[0].variance > 10 * choice.variance
    few = Asked(Kind.NUMBER, wanted=Wanted.DISTRIBUTION, low=Decimal(0), high=Decimal(2), steps=2)
    assert isinstance(cheapest(few, Decimal(1)).channel, Subset)


@pytest.mark.parametrize(
    ("asked", "epsilon", "message"),
    [
        (YES_NO, "0", "epsilon must be above 0"),
        (Asked(Kind.SINGLE, 1), "1", "choices must be 2 or more, got 1"),
        (Asked(Kind.SINGLE, 1025), "1", "choices must be 2 to 1024, got 1025"),
        (Asked(Kind.MULTIPLE, 1), "1", "options must be 2 to 1024, got 1"),
        (Asked(Kind.SCALE, 1, Wanted.MEAN), "1", "points must be 2 to 64, got 1"),
        (Asked(Kind.NUMBER, steps=0), "1", "steps must be 1 to"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_by_name(asked, epsilon, message):
    with pytest.raises(ValueError, match=message):
        cheapest(asked, Decimal(epsilon))
