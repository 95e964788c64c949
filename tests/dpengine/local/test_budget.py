from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from math import comb

import pytest
from scipy import stats

from dpengine.local.budget import (
    HALF,
    best,
    choose_questions,
    compare,
    sampled,
    split,
    within,
)
from dpengine.local.channels import channel_for
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import exponential_below, loss_of_all
from tests.vectors import replay

TABLES = [Table.coin(), Table(((5, 1, 1), (1, 5, 1), (1, 1, 5))), Table(((2, 1), (1, 2)))]


@pytest.mark.parametrize("total", ["0.1", "1", "2.5", "8"])
@pytest.mark.parametrize(
    "weights", [[1], [1, 1, 1], [3, 2, 1], [Fraction(1, 3), Decimal("0.7"), 1, 5]], ids=str
)
def test_parts_never_pass_the_total_and_nearly_reach_it(total, weights):
    parts = split(Decimal(total), weights)
    assert Decimal(total) - len(weights) * Decimal("1e-9") < sum(parts) <= Decimal(total)
    losses = [channel_for(k, part).loss for k, part in zip((2, 3, 10, 50), parts, strict=False)]
    assert loss_of_all(losses) <= exponential_below(Decimal(total))
    assert within(Decimal(total), losses)


def test_parts_follow_their_weights():
    assert split(Decimal(1), [3, 1]) == [Decimal("0.75"), Decimal("0.25")]
    assert split(Decimal(1), [1, 1, 1]) == [Decimal("0.333333333")] * 3


@pytest.mark.parametrize("reported", [1, 2, 3])
def test_the_loss_of_sampled_questions_is_that_of_the_worst_pair_of_people_by_enumeration(reported):
    """Every pair of people, every set of questions, every report of each: Pr[set, reports |
    person] as fractions.
    """
    people = list(product(*(range(table.choices) for table in TABLES)))
    worst = Fraction(0)
    for drawn in combinations(range(3), reported):
        for reports in product(*(range(TABLES[question].reports) for question in drawn)):
            chances = []
            for person in people:
                chance = Fraction(1, comb(3, reported))
                for question, report in zip(drawn, reports, strict=True):
                    chance *= Fraction(
                        TABLES[question].weights[person[question]][report], TABLES[question].total
                    )
                chances.append(chance)
            worst = max(worst, max(chances) / min(chances))
    assert sampled([table.loss for table in TABLES], reported) == worst


def test_a_total_that_is_passed_by_a_hair_is_noticed():
    coins = [Fraction(3)] * 2
    assert within(Decimal("2.19722458"), coins)
    assert not within(Decimal("2.19722457"), coins)
    assert within(Decimal("1.0986123"), coins, reported=1)


def test_every_set_of_questions_is_as_likely_as_the_next():
    """Chi-square of 10,000 draws over ten sets; a false alarm once in a million runs."""
    drawn = Counter(tuple(choose_questions(5, 2)) for _ in range(10_000))
    assert set(drawn) == set(combinations(range(5), 2))
    assert stats.chisquare(list(drawn.values())).pvalue > 1e-6
    # the third, then of the two that are left the second
    assert choose_questions(3, 2, replay([2, 1])) == [0, 2]
    assert choose_questions(3, 3) == [0, 1, 2]


def test_four_questions_at_ln_81_are_the_case_by_hand():
    rows = compare(Decimal("4.394449154672439"), [2, 2, 2, 2])
    worst = [
        pytest.approx(1.0506, abs=1e-4),
        pytest.approx(0.78125),
        pytest.approx(0.8546, abs=1e-4),
        pytest.approx(1),
    ]
    assert [float(row.worst) for row in rows] == worst
    assert best(rows).reported == 2


@pytest.mark.parametrize(("total", "reported"), [("0.5", 1), ("16", 4)])
def test_one_question_is_best_for_a_small_budget_and_all_for_a_large_one(total, reported):
    rows = compare(Decimal(total), [2, 5, 3, 10])
    assert best(rows).reported == reported
    assert all(row.loss <= exponential_below(Decimal(total)) for row in rows)
    assert [row.epsilon for row in rows] == [
        split(Decimal(total), [1] * s)[0] for s in (1, 2, 3, 4)
    ]


def test_the_variance_of_a_sampled_question_grows_by_how_many_are_left_out():
    once, all_four = compare(Decimal(1), [2] * 4)[0], channel_for(2, Decimal(1)).variance(HALF)
    assert once.variances == (4 * all_four,) * 4


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
        (lambda: sampled([Fraction(3)], 2), "reported must be 1 to 1 questions, got 2"),
        (lambda: sampled([], 0), "questions must be 1 or more, got 0"),
        (lambda: choose_questions(3, 0), "reported must be 1 to 3 questions, got 0"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("weight", [0.5, True, "1"])
def test_a_weight_that_is_not_exact_is_refused(weight):
    with pytest.raises(TypeError, match="weight 0 must be an integer, Fraction or Decimal"):
        split(Decimal(1), [weight])
