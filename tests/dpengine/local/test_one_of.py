from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import NoNoise
from dpengine.local.one_of import OneOf
from dpengine.local.table import Table
from dpengine.privacy import Neighbours, exponential_below
from dpengine.randomness import WORD
from tests.vectors import load, replay

VECTORS = load("one_of.json")
HALF = Fraction(1, 2)
COINS = OneOf(options=3, keep=3 * 2**30)  # a = 3/4
CHANNELS = [
    COINS,
    OneOf(2, WORD - 1),
    *(OneOf.for_epsilon(m, Decimal(e)) for m in (2, 3, 4) for e in ("0.25", "1", "4")),
]


def answers_of(channel):
    every = range(channel.options)
    return [
        list(ticked) for size in range(channel.options + 1) for ticked in combinations(every, size)
    ]


def reports_of(channel):
    return [[option, bit] for option in range(channel.options) for bit in (0, 1)]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_no_set_of_ticks_makes_a_report_likelier_than_its_declared_loss(channel):
    table = channel.probabilities(reports_of(channel), answers_of(channel))
    assert all(sum(row) == 1 for row in table)
    assert max(max(column) / min(column) for column in zip(*table, strict=True)) == channel.loss


def test_its_sampler_has_exactly_the_chances_it_states():
    """Every option by every side of the threshold: a word below keep keeps the bit, the next one
    turns it.
    """
    for answer in answers_of(COINS):
        for option in range(3):
            ticked = int(option in answer)
            assert COINS.randomise(answer, replay([option, COINS.keep - 1])) == [option, ticked]
            assert COINS.randomise(answer, replay([option, COINS.keep])) == [option, 1 - ticked]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_its_margins_are_those_of_its_reports(channel):
    table = channel.probabilities([[0, 0], [0, 1]], [[], [0]])
    assert table[1][1] / sum(table[1]) == channel.margins()[0].truth
    assert table[0][1] / sum(table[0]) == channel.margins()[0].lie


@pytest.mark.parametrize("options", [2, 5, 1024])
@pytest.mark.parametrize("epsilon", ["0.25", "1", "1.0986", "4", "8"])
def test_what_is_asked_for_is_never_passed_and_nearly_reached(options, epsilon):
    asked = exponential_below(Decimal(epsilon))
    assert (
        asked * (1 - Fraction(1, 10**5))
        < OneOf.for_epsilon(options, Decimal(epsilon)).loss
        <= asked
    )


def laws(channel, people):
    """Every outcome of a survey of these people: its tally and its exact chance."""
    reports = reports_of(channel)
    rows = channel.probabilities(reports, people)
    for drawn in product(range(len(reports)), repeat=len(people)):
        chance = np.prod([rows[person][report] for person, report in enumerate(drawn)])
        yield channel.tally(channel.pack([reports[report] for report in drawn])), chance


@pytest.mark.parametrize("channel", [OneOf(2, 3 * 2**30), OneOf(2, 5 * 2**29)], ids=str)
def test_both_estimates_are_unbiased_exactly(channel):
    """All outcomes for three people, of whom two tick the first option: given n_j ≥ 1 for each
    n_j, and linear.
    """
    people = [[0], [0, 1], []]
    linear, given = Fraction(0), {}
    a_b = channel.margin.truth - channel.margin.lie
    for tally, chance in laws(channel, people):
        yes, n = channel.asked(tally)[0]
        linear += chance * (HALF + channel.options * (2 * yes - n) / (2 * len(people) * a_b))
        if n:
            given.setdefault(n, []).append((chance, (Fraction(yes, n) - channel.margin.lie) / a_b))
        difference = channel.released(tally, Neighbours.CHANGE_ONE)[0]
        assert channel.share(difference, 3, NoNoise()).value == pytest.approx(
            float(HALF + 2 * (2 * yes - n) / (6 * a_b))
        )
    assert linear == Fraction(2, 3)
    assert sorted(given) == [1, 2, 3]
    for outcomes in given.values():
        assert sum(p * value for p, value in outcomes) / sum(p for p, _ in outcomes) == Fraction(
            2, 3
        )


def test_the_variance_for_given_people_and_reports_is_the_proof_sheets():
    """Exactly: options π(1 − π)(n − n_j)/(n_j(n − 1)) and device a(1 − a)/(n_j(a − b)²)."""
    channel, people, share = OneOf(2, 3 * 2**30), [[0], [0, 1], []], Fraction(2, 3)
    a, b = channel.margin.truth, channel.margin.lie
    for reports in (1, 2, 3):
        values = []
        for tally, chance in laws(channel, people):
            yes, n = channel.asked(tally)[0]
            if n == reports:
                values.append((chance, (Fraction(yes, n) - b) / (a - b)))
        spread = sum(p * (v - share) ** 2 for p, v in values) / sum(p for p, _ in values)
        options = share * (1 - share) * Fraction(3 - reports, reports * 2)
        assert spread == options + a * (1 - a) / (reports * (a - b) ** 2)


def test_the_linear_estimate_pays_for_options_by_the_distance_from_half():
    """Variance × n of one report drawn from a population with share π: (m − 1)(π − ½)² above the
    other's limit.
    """
    channel = COINS
    a, b, m = channel.margin.truth, channel.margin.lie, channel.options
    for share in (Fraction(0), Fraction(1, 5), HALF, Fraction(1)):
        yes = (b + share * (a - b)) / m
        no = Fraction(1, m) - yes
        linear = Fraction(m) ** 2 / (2 * (a - b)) ** 2 * (yes + no - (yes - no) ** 2)
        assert linear == channel.variance(share) + (m - 1) * (share - HALF) ** 2


def test_asking_one_beats_asking_all_with_a_part_of_epsilon():
    """The docstring's 24.9 and 4.6 for five options at ε = 1, device only."""
    one = OneOf.for_epsilon(5, Decimal(1))
    split = Table.binary(Decimal("0.2")).margins()[1]
    assert float(one.variance(Fraction(0))) == pytest.approx(4.60, abs=0.005)
    assert float(split.rare_variance) == pytest.approx(24.92, abs=0.005)


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_it_agrees_with_the_browser_word_for_word(case):
    words = iter(case["words"])
    channel = OneOf(case["channel"]["options"], case["channel"]["keep"])
    assert channel.randomise(case["answer"], lambda: next(words)) == case["report"]
    assert next(words, None) is None


def test_its_draws_follow_its_law():
    """Chi-square of 20,000 draws over all six reports; a false alarm once in a million runs."""
    drawn = Counter(tuple(COINS.randomise([1])) for _ in range(20_000))
    expected = [float(p) * 20_000 for p in COINS.probabilities(reports_of(COINS), [[1]])[0]]
    assert (
        stats.chisquare([drawn[tuple(report)] for report in reports_of(COINS)], expected).pvalue
        > 1e-6
    )


@pytest.mark.parametrize("options", [2, 3, 1024])
def test_packing_keeps_every_count(options):
    channel = OneOf(options, 3 * 2**30)
    reports = [channel.randomise([0, options - 1]) for _ in range(60)]
    packed = channel.pack(reports)
    assert len(packed) == 60 * channel.width
    tally = channel.tally(packed)
    assert tally == [reports.count(report) for report in reports_of(channel)]
    assert channel.asked(tally)[0] == (
        reports.count([0, 1]),
        sum(report[0] == 0 for report in reports),
    )


def test_no_reports_are_a_tally_of_zeros_and_strange_ones_are_refused():
    assert COINS.tally(COINS.pack([])) == [0] * 6
    with pytest.raises(ValueError, match="packed must hold reports on 3 options, got another"):
        COINS.tally(OneOf(4, COINS.keep).pack([[3, 0]]))


def test_neighbours_move_the_tally_by_two_or_one():
    rows = [np.array(COINS.tally(COINS.pack([report]))) for report in reports_of(COINS)]
    change = COINS.moved(Neighbours.CHANGE_ONE)
    assert max(np.abs(a - b).sum() for a in rows for b in rows) == change.l1
    assert max(row.sum() for row in rows) == COINS.moved(Neighbours.ADD_REMOVE).l1


@pytest.mark.parametrize(
    "report", [[0], [0, 1, 1], [3, 0], [-1, 0], [0, 2], [0, True], [0, 1.0], "01", 1, None, (0, 1)]
)
def test_a_report_it_cannot_have_made_is_not_accepted(report):
    assert not COINS.accepts(report)
    assert COINS.accepts([2, 1])


@pytest.mark.parametrize(
    ("options", "keep", "message"),
    [
        (1, 3 * 2**30, "options must be 2 to 1024, got 1"),
        (1025, 3 * 2**30, "options must be 2 to 1024, got 1025"),
        (2, WORD, "keep must favour the truth, not reveal it"),
        (2, WORD // 2, "above 2147483648, got 2147483648"),
        (2, WORD // 4, "keep must favour the truth"),
    ],
)
def test_a_channel_that_makes_no_sense_is_refused_by_name(options, keep, message):
    with pytest.raises(ValueError, match=message):
        OneOf(options, keep)


@pytest.mark.parametrize("answer", [[77], [1, 0], [1, 1], [-77], [True], [0.5], 1, "01", None])
def test_a_wrong_answer_is_refused_without_repeating_it(answer):
    with pytest.raises(
        ValueError, match="answer must be different options below 3, in rising order"
    ) as error:
        COINS.randomise(answer)
    assert "77" not in str(error.value)


def test_the_published_share_follows_from_the_difference_by_hand():
    """Three options, a = 3/4: 60 reports, 14 say yes to an option and 6 no, so ½ + 3·8/(2·60·½)
    = 0.9.
    """
    tally = [6, 14, 10, 10, 10, 10]
    assert COINS.released(tally, Neighbours.CHANGE_ONE) == [8, 0, 0]
    assert COINS.share(8, 60, NoNoise()).value == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, 11 / 240), (0.5, 12 / 240), (0.9, 11.36 / 240)]
)
def test_its_variance_is_that_of_the_sum_by_hand(share, expected):
    """(m − (2λ − 1)²)/(4n(a − b)²) for 60 reports and m = 3: at share 0, λ = 1/4, (3 − 1/4)/60 =
    11/240.
    """
    difference = round((share - 0.5) * 20)
    found = COINS.share(difference, 60, NoNoise()).variance
    assert found.total == pytest.approx(expected)
    assert found.sampling == pytest.approx(share * (1 - share) / 60)
    assert found.publication == 0


def test_noise_adds_what_it_moves_the_share_by_and_the_interval_counts_it():
    noise = DiscreteLaplace.for_epsilon(Fraction(1, 4), 2)
    found, plain = COINS.share(8, 60, noise), COINS.share(8, 60, NoNoise())
    moved = COINS.share(9, 60, noise).value - found.value
    assert found.variance.publication == pytest.approx(noise.variance * moved**2)
    assert found.variance.device == pytest.approx(plain.variance.device)
    assert found.low < plain.low < plain.value < plain.high < found.high


def test_its_interval_is_what_neither_tail_rejects_by_the_law_of_ten_people():
    """At the lower limit exactly 2.5 % of all outcomes are as large as what was seen, at the
    upper as small.
    """

    def at_least(share, least):
        yes = float(COINS.margin.lie) + share * COINS.margin.contrast
        law = np.ones(1)
        for _ in range(10):
            law = np.convolve(law, [(1 - yes) / 3, 2 / 3, yes / 3])  # of −10 … 10
        return law[least + 10 :].sum()

    found = COINS.share(0, 10, NoNoise())
    assert at_least(found.low, 0) == pytest.approx(0.025, abs=1e-9)
    assert 1 - at_least(found.high, 1) == pytest.approx(0.025, abs=1e-9)


@pytest.mark.parametrize("n", [0, -1])
def test_a_share_of_nobody_is_refused(n):
    with pytest.raises(ValueError, match="n must be 1 or more"):
        COINS.share(0, n, NoNoise())
