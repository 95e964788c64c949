from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest
from scipy import stats

from dpengine.local.channel import Moved
from dpengine.local.table import Table
from dpengine.privacy import Neighbours, exponential_below
from dpengine.randomness import WORD
from tests.vectors import load

VECTORS = load("table.json")
COIN = Table.coin()


def probabilities(channel):
    """Pr[report | answer], from running the sampler on every word of a small total."""
    rows = []
    for answer in range(channel.choices):
        made = Counter(
            channel.randomise(answer, lambda word=word: word) for word in range(channel.total)
        )
        rows.append([Fraction(made[report], channel.total) for report in range(channel.reports)])
    return rows


@pytest.mark.parametrize(
    "channel",
    [COIN, Table(((5, 1, 1), (1, 5, 1), (1, 1, 5))), Table(((1, 2, 3), (3, 2, 1)))],
    ids=str,
)
def test_no_answer_makes_a_report_likelier_than_its_declared_loss(channel):
    reports = zip(*probabilities(channel), strict=True)
    assert max(max(r) / min(r) for r in reports) == channel.loss


def test_the_coin_of_the_book_is_ln_3():
    assert COIN.loss == 3
    assert COIN.margins()[1].truth == Fraction(3, 4)


@pytest.mark.parametrize("epsilon", ["0.1", "0.25", "0.5", "1", "1.0986", "2", "4", "8"])
def test_what_is_asked_for_is_never_passed_and_nearly_reached(epsilon):
    asked = exponential_below(Decimal(epsilon))
    assert asked * (1 - Fraction(1, 10**5)) < Table.binary(Decimal(epsilon)).loss <= asked


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_it_agrees_with_the_browser_word_for_word(case):
    channel = Table(tuple(tuple(row) for row in case["channel"]["weights"]))
    words = iter(case["words"])
    assert channel.randomise(case["answer"], lambda: next(words)) == case["report"]
    assert next(words, None) is None


def test_its_draws_follow_its_law():
    """Chi-square of 20,000 draws; a false alarm once in a million runs."""
    channel = Table.binary(Decimal(1))
    drawn = Counter(channel.randomise(1) for _ in range(20_000))
    expected = [weight / WORD * 20_000 for weight in channel.weights[1]]
    assert stats.chisquare([drawn[0], drawn[1]], expected).pvalue > 1e-6


def test_packing_keeps_every_count():
    reports = [0, 1, 1, 0, 1]
    assert COIN.tally(COIN.pack(reports)) == [2, 3]
    assert len(COIN.pack(reports)) == 5 * COIN.width


def test_neighbours_move_two_counts_or_the_one_that_says_all():
    assert Table.coin().moved(Neighbours.CHANGE_ONE) == Moved(numbers=1, l1=1, squared=1)
    assert Table.coin().moved(Neighbours.ADD_REMOVE) == Moved(numbers=2, l1=1, squared=1)
    assert Table(((2, 1, 1), (1, 2, 1), (1, 1, 2))).moved(Neighbours.CHANGE_ONE) == Moved(
        numbers=3, l1=2, squared=2
    )


@pytest.mark.parametrize("report", [-1, 2, True, 1.0, "1", None, [1]])
def test_a_report_it_cannot_have_made_is_not_accepted(report):
    assert not COIN.accepts(report)
    assert COIN.accepts(1)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((), "two rows"),
        (((1, 1),), "two rows"),
        (((1,), (1,)), "two rows"),
        (((1, 3), (1, 2, 1)), "two rows"),
        (((3, 1), (1, 2)), "same sum"),
        (((2**32, 1), (1, 2**32)), "same sum, at most"),
        (((4, 0), (1, 3)), "report 1 must be possible"),
        (((4, 0), (4, 0)), "report 1 must be possible"),
        (((2, 2), (2, 2)), "rows must differ"),
        (((5, -1), (1, 3)), "integers of 0 or more"),
        (((3.0, 1.0), (1, 3)), "integers of 0 or more"),
        (((True, True), (1, 1)), "integers of 0 or more"),
        (tuple((1,) * 65 for _ in range(65)), "at most 4096 cells, got 4225"),
    ],
)
def test_a_channel_that_makes_no_sense_is_refused_by_name(weights, message):
    with pytest.raises(ValueError, match=message):
        Table(weights)


def test_a_wrong_answer_is_refused_without_repeating_it():
    with pytest.raises(ValueError, match="answer must be one of 2 choices") as error:
        COIN.randomise(77)
    assert "77" not in str(error.value)


def test_a_table_whose_reports_stand_for_no_choice_has_no_margins():
    with pytest.raises(ValueError, match="expected one report for each of 2 choices, got 3"):
        Table(((1, 2, 3), (3, 2, 1))).margins()
    with pytest.raises(ValueError, match="report 0 must be equally likely"):
        Table(((4, 1, 1), (1, 4, 1), (2, 1, 3))).margins()
