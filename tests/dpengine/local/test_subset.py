from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from dpengine.local.subset import Subset
from dpengine.privacy import Neighbours, exponential_below
from dpengine.randomness import WORD
from tests.vectors import load

VECTORS = load("subset.json")
SMALL = [Subset.for_epsilon(k, Decimal(e)) for k in (2, 3, 4, 5, 8) for e in ("0.25", "1", "3")]
SIZES = [
    Subset(choices=5, size=2, keep=2 * WORD // 3),
    Subset(choices=6, size=5, keep=int(WORD * 0.9)),
]


def reports_of(channel):
    return list(combinations(range(channel.choices), channel.size))


@pytest.mark.parametrize("channel", [*SMALL, *SIZES], ids=str)
def test_no_answer_makes_a_report_likelier_than_its_declared_loss(channel):
    table = channel.probabilities(reports_of(channel))
    assert all(sum(row) == 1 for row in table)
    assert max(max(column) / min(column) for column in zip(*table, strict=True)) == channel.loss


@pytest.mark.parametrize("channel", [*SMALL, *SIZES], ids=str)
def test_its_margins_are_those_of_its_reports(channel):
    reports = reports_of(channel)
    table = channel.probabilities(reports)
    holding = [i for i, report in enumerate(reports) if 1 in report]
    assert sum(table[1][i] for i in holding) == channel.margin.truth
    assert sum(table[0][i] for i in holding) == channel.margin.lie


@pytest.mark.parametrize("choices", [2, 3, 5, 10, 50, 100, 1024])
@pytest.mark.parametrize("epsilon", ["0.25", "0.5", "1", "1.0986", "2", "4"])
def test_what_is_asked_for_is_never_passed_and_nearly_reached(choices, epsilon):
    channel = Subset.for_epsilon(choices, Decimal(epsilon))
    asked = exponential_below(Decimal(epsilon))
    assert asked * (1 - Fraction(1, 10**6)) < channel.loss <= asked


@pytest.mark.parametrize(
    ("choices", "limit"), [(2, 0.92), (5, 1.94), (10, 2.82), (50, 3.50), (100, 3.59)]
)
def test_the_variance_of_a_rare_choice_is_at_the_limit(choices, limit):
    """DESIGN § 9: the least variance × n that any scheme of ε = 1 can have."""
    assert float(Subset.for_epsilon(choices, Decimal(1)).margin.rare_variance) == pytest.approx(
        limit, abs=0.006
    )


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_it_agrees_with_the_browser_word_for_word(case):
    fields = {name: case["channel"][name] for name in ("choices", "size", "keep")}
    words = iter(case["words"])
    assert Subset(**fields).randomise(case["answer"], lambda: next(words)) == case["report"]
    assert next(words, None) is None


def test_its_draws_follow_its_law():
    """Chi-square of 20,000 draws over all ten reports; a false alarm once in a million runs."""
    channel = SIZES[0]
    reports = reports_of(channel)
    drawn = Counter(tuple(channel.randomise(3)) for _ in range(20_000))
    expected = [float(p) * 20_000 for p in channel.probabilities(reports)[3]]
    assert stats.chisquare([drawn[report] for report in reports], expected).pvalue > 1e-6


@pytest.mark.parametrize("choices", [2, 8, 9, 100, 1024])
def test_packing_keeps_every_count(choices):
    channel = Subset(choices=choices, size=choices // 2, keep=WORD * 3 // 4)
    reports = [channel.randomise(answer % choices) for answer in range(50)]
    packed = channel.pack(reports)
    assert len(packed) == 50 * channel.width
    assert channel.tally(packed) == [
        sum(choice in report for report in reports) for choice in range(choices)
    ]


def test_tallies_of_two_columns_are_the_tally_of_both():
    channel = SIZES[0]
    left, right = ([channel.randomise(1) for _ in range(20)] for _ in range(2))
    both = np.add(channel.tally(channel.pack(left)), channel.tally(channel.pack(right)))
    assert channel.tally(channel.pack(left + right)) == both.tolist()


@pytest.mark.parametrize("channel", [*SMALL, *SIZES], ids=str)
def test_neighbours_move_the_tally_by_no_more_than_its_sensitivity(channel):
    rows = [
        np.array([choice in report for choice in range(channel.choices)], dtype=int)
        for report in reports_of(channel)
    ]
    change = channel.moved(Neighbours.CHANGE_ONE)
    assert max(np.abs(a - b).sum() for a in rows for b in rows) == change.l1 == change.squared
    assert max(row.sum() for row in rows) == channel.moved(Neighbours.ADD_REMOVE).l1


@pytest.mark.parametrize(
    "report", [[0], [0, 1, 2], [1, 0], [1, 1], [0, 5], [-1, 0], [0, True], [0, 1.0], "01", 1, None]
)
def test_a_report_it_cannot_have_made_is_not_accepted(report):
    assert not SIZES[0].accepts(report)
    assert SIZES[0].accepts([0, 4])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"choices": 1, "size": 1, "keep": 1}, "choices must be 2 to 1024, got 1"),
        ({"choices": 1025, "size": 1, "keep": 1}, "choices must be 2 to 1024, got 1025"),
        ({"choices": 4, "size": 0, "keep": 1}, "size must be 1 to 3, got 0"),
        ({"choices": 4, "size": 4, "keep": 1}, "size must be 1 to 3, got 4"),
        ({"choices": 4, "size": 1, "keep": WORD}, "keep must favour"),
        ({"choices": 4, "size": 1, "keep": WORD // 4}, "keep must favour"),
    ],
)
def test_a_channel_that_makes_no_sense_is_refused_by_name(fields, message):
    with pytest.raises(ValueError, match=message):
        Subset(**fields)


def test_a_wrong_answer_is_refused_without_repeating_it():
    with pytest.raises(ValueError, match="answer must be one of 5 choices") as error:
        SIZES[0].randomise(77)
    assert "77" not in str(error.value)


def test_one_choice_cannot_be_asked():
    with pytest.raises(ValueError, match="choices must be 2 or more, got 1"):
        Subset.for_epsilon(1, Decimal(1))
