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
PAIRS = OneOf(options=3, keep=WORD // 2, together=2)  # A = 1/2, B = 1/6: a = 2/3
CHANNELS = [
    COINS,
    PAIRS,
    OneOf(2, WORD - 1),
    OneOf(2, WORD // 2, 2),
    OneOf(4, WORD // 3, 3),
    *(OneOf.for_epsilon(m, Decimal(e)) for m in (2, 3, 4) for e in ("0.25", "1", "4")),
]


def answers_of(channel):
    every = range(channel.options)
    return [
        list(ticked) for size in range(channel.options + 1) for ticked in combinations(every, size)
    ]


def reports_of(channel):
    return [
        [option, pattern]
        for option in range(channel.options)
        for pattern in range(channel.patterns)
    ]


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


def test_its_sampler_of_several_has_exactly_the_chances_it_states():
    """Every first option by every side of the threshold: a pattern is kept, or becomes one of the
    three others by a word of its own.
    """
    for answer in answers_of(PAIRS):
        for first in range(3):
            ticks = [int(option in answer) for option in (first, (first + 1) % 3)]
            own = 2 * ticks[0] + ticks[1]
            kept = PAIRS.randomise(answer, replay([first, PAIRS.keep - 1]))
            others = [PAIRS.randomise(answer, replay([first, PAIRS.keep, at])) for at in range(3)]
            assert kept == [first, own]
            assert others == [[first, pattern] for pattern in range(4) if pattern != own]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_its_margins_are_those_of_its_reports(channel):
    """Whatever is ticked beside it, for every option of those that are told of."""
    reports, answers = reports_of(channel), answers_of(channel)
    rows = channel.probabilities(reports, answers)
    tallies = [channel.tally(channel.pack([report])) for report in reports]
    for answer, row in zip(answers, rows, strict=True):
        for option in range(channel.options):
            asked = [channel.asked(tally)[option] for tally in tallies]
            told = sum(p * n for p, (_, n) in zip(row, asked, strict=True))
            yes = sum(p * y for p, (y, _) in zip(row, asked, strict=True)) / told
            assert told == Fraction(channel.together, channel.options)
            margin = channel.margins()[option]
            assert yes == (margin.truth if option in answer else margin.lie)


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


@pytest.mark.parametrize(
    "channel", [OneOf(2, 3 * 2**30), OneOf(2, 5 * 2**29), OneOf(2, WORD // 2, 2)], ids=str
)
def test_both_estimates_are_unbiased_exactly(channel):
    """All outcomes for three people, of whom two tick the first option: given n_j ≥ 1 for each
    n_j, and linear.
    """
    people = [[0], [0, 1], []]
    linear, given = Fraction(0), {}
    a_b = channel.margin.truth - channel.margin.lie
    for tally, chance in laws(channel, people):
        yes, n = channel.asked(tally)[0]
        linear += chance * (HALF + channel.of_options * (2 * yes - n) / (2 * len(people) * a_b))
        if n:
            given.setdefault(n, []).append((chance, (Fraction(yes, n) - channel.margin.lie) / a_b))
        difference = channel.released(tally, Neighbours.CHANGE_ONE)[0]
        assert channel.share(difference, 3, NoNoise()).value == pytest.approx(
            float(HALF + channel.of_options * (2 * yes - n) / (6 * a_b))
        )
    assert linear == Fraction(2, 3)
    assert sorted(given) == ([1, 2, 3] if channel.together == 1 else [3])
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


@pytest.mark.parametrize("channel", [COINS, PAIRS, OneOf(4, WORD // 2, 4)], ids=str)
def test_the_linear_estimate_pays_for_options_by_the_distance_from_half(channel):
    """Variance × n of one report drawn from a population with share π: (m/s − 1)(π − ½)² above the
    other's limit.
    """
    a, b, m = channel.margin.truth, channel.margin.lie, channel.of_options
    for share in (Fraction(0), Fraction(1, 5), HALF, Fraction(1)):
        yes = (b + share * (a - b)) / m
        no = 1 / m - yes
        linear = m**2 / (2 * (a - b)) ** 2 * (yes + no - (yes - no) ** 2)
        assert linear == channel.variance(share) + (m - 1) * (share - HALF) ** 2


def test_asking_one_beats_asking_all_with_a_part_of_epsilon():
    """The docstring's 24.9 and 4.6 for five options at ε = 1, device only."""
    one = OneOf.for_epsilon(5, Decimal(1))
    split = Table.binary(Decimal("0.2")).margins()[1]
    assert float(one.variance(Fraction(0))) == pytest.approx(4.60, abs=0.005)
    assert float(split.rare_variance) == pytest.approx(24.92, abs=0.005)


@pytest.mark.parametrize(("epsilon", "together"), [("1", 1), ("2", 2), ("3", 3), ("4", 4)])
def test_as_many_are_told_of_as_leave_the_least_variance(epsilon, together):
    """Exactly, whatever the share is: the docstring's 23, 45 and 61 % fewer people at a half."""

    def published(channel, share):  # of the linear estimate
        return channel.variance(share) + (channel.of_options - 1) * (share - HALF) ** 2

    sizes = [OneOf.for_epsilon(8, Decimal(epsilon), size) for size in range(1, 9)]
    for share in (HALF, Fraction(1, 20), Fraction(1)):
        best = min(sizes, key=lambda channel: published(channel, share))
        assert best == OneOf.for_epsilon(8, Decimal(epsilon)) == sizes[together - 1]
    saved = 1 - float(sizes[together - 1].variance(HALF) / sizes[0].variance(HALF))
    assert round(100 * saved) == {1: 0, 2: 23, 3: 45, 4: 61}[together]


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_it_agrees_with_the_browser_word_for_word(case):
    words = iter(case["words"])
    channel = OneOf.from_document(case["channel"])
    assert channel.randomise(case["answer"], lambda: next(words)) == case["report"]
    assert next(words, None) is None


@pytest.mark.parametrize("channel", [COINS, PAIRS], ids=str)
def test_its_draws_follow_its_law(channel):
    """Chi-square of 20,000 draws over all reports; a false alarm once in 500,000 runs."""
    drawn = Counter(tuple(channel.randomise([1])) for _ in range(20_000))
    reports = reports_of(channel)
    expected = [float(p) * 20_000 for p in channel.probabilities(reports, [[1]])[0]]
    found = stats.chisquare([drawn[tuple(report)] for report in reports], expected)
    assert found.pvalue > 1e-6


@pytest.mark.parametrize(("options", "together"), [(2, 2), (5, 3), (64, 10), (1024, 6)])
def test_packing_counts_every_option_that_a_report_tells_of(options, together):
    channel = OneOf(options, WORD // 2, together)
    reports = [channel.randomise([0, options - 1]) for _ in range(60)]
    counts = np.zeros((options, 2), dtype=int)
    for first, pattern in reports:
        for place, bit in enumerate(f"{pattern:0{together}b}"):
            counts[(first + place) % options, int(bit)] += 1
    assert channel.tally(channel.pack(reports)) == counts.reshape(-1).tolist()


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


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_neighbours_move_the_differences_as_far_as_is_said(channel):
    rows = [
        np.array(channel.released(channel.tally(channel.pack([report])), Neighbours.CHANGE_ONE))
        for report in reports_of(channel)
    ]
    change, one_more = (
        channel.moved(each) for each in (Neighbours.CHANGE_ONE, Neighbours.ADD_REMOVE)
    )
    assert max(np.abs(a - b).sum() for a in rows for b in rows) == change.l1
    assert max(((a - b) ** 2).sum() for a in rows for b in rows) == change.squared
    assert max(np.abs(row).sum() for row in rows) == one_more.l1
    assert max((row**2).sum() for row in rows) == one_more.squared
    assert len(rows[0]) == change.numbers == one_more.numbers


@pytest.mark.parametrize(
    "report", [[0], [0, 1, 1], [3, 0], [-1, 0], [0, 2], [0, True], [0, 1.0], "01", 1, None, (0, 1)]
)
def test_a_report_it_cannot_have_made_is_not_accepted(report):
    assert not COINS.accepts(report)
    assert COINS.accepts([2, 1])


def test_of_several_options_every_pattern_is_accepted_and_no_other():
    assert PAIRS.accepts([2, 3])
    assert not PAIRS.accepts([2, 4])
    assert PAIRS.expects() == "an option from 0 to 2 and ticks from 0 to 3, in a list"
    assert COINS.expects() == "an option from 0 to 2 and a bit, in a list"


@pytest.mark.parametrize(
    ("options", "keep", "together", "message"),
    [
        (3, WORD // 2, 4, "together must be 1 to 3, got 4"),
        (50, WORD // 2, 11, "together must be 1 to 10, got 11"),
        (3, WORD // 2, 0, "together must be 1 to 3, got 0"),
        (65, WORD // 2, 10, "options must be at most 64 where a report is about 10, got 65"),
        (3, WORD // 4, 2, "keep must favour the truth, not reveal it: above 1073741824"),
        (1, 3 * 2**30, 1, "options must be 2 to 1024, got 1"),
        (1025, 3 * 2**30, 1, "options must be 2 to 1024, got 1025"),
        (2, WORD, 1, "keep must favour the truth, not reveal it"),
        (2, WORD // 2, 1, "above 2147483648, got 2147483648"),
        (2, WORD // 4, 1, "keep must favour the truth"),
    ],
)
def test_a_channel_that_makes_no_sense_is_refused_by_name(options, keep, together, message):
    with pytest.raises(ValueError, match=message):
        OneOf(options, keep, together)


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


@pytest.mark.parametrize("channel", [COINS, PAIRS, OneOf(3, WORD // 2, 3)], ids=str)
def test_its_interval_is_what_neither_tail_rejects_by_the_law_of_ten_people(channel):
    """At the lower limit exactly 2.5 % of all outcomes are as large as what was seen, at the
    upper as small.
    """
    told = channel.together / 3

    def at_least(share, least):
        yes = float(channel.margin.lie) + share * channel.margin.contrast
        law = np.ones(1)
        for _ in range(10):
            law = np.convolve(law, [(1 - yes) * told, 1 - told, yes * told])  # of −10 … 10
        return law[least + 10 :].sum()

    found = channel.share(0, 10, NoNoise())
    assert at_least(found.low, 0) == pytest.approx(0.025, abs=1e-9)
    assert 1 - at_least(found.high, 1) == pytest.approx(0.025, abs=1e-9)


@pytest.mark.parametrize("n", [0, -1])
def test_a_share_of_nobody_is_refused(n):
    with pytest.raises(ValueError, match="n must be 1 or more"):
        COINS.share(0, n, NoNoise())
