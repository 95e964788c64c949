from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import NoNoise
from dpengine.local.channel import Learns
from dpengine.local.channels import channel_from
from dpengine.local.number import NumberChannel
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import exponential_below
from tests.bench.scale_means import times
from tests.tables import mean_variance, numbers, rows, variances
from tests.vectors import load, replay

VECTORS = load("number.json")
# fine programs
LIMITS = {
    "0.5": 16.004,
    "1": 3.9907,
    "1.098612288668109": 3.2911,
    "2": 0.8654,
    "3": 0.3040,
    "4": 0.1270,
}
THIRDS = NumberChannel(
    Decimal(0), Decimal(3), Table(((5, 2, 1), (3, 2, 3), (1, 2, 5))), (0, 3, 6), (-3, 3, 9), 1
)
CHANNELS = [
    THIRDS,
    *(
        NumberChannel.for_epsilon(Decimal(e), Decimal(0), Decimal(2), 40)
        for e in ("0.01", "0.25", *LIMITS, "8")
    ),
    *(
        NumberChannel.for_epsilon(Decimal(1), Decimal(0), Decimal(2), steps)
        for steps in (1, 2, 3, 97)
    ),
    NumberChannel.for_epsilon(Decimal(3), Decimal(0), Decimal(2), 97),
    *(NumberChannel.for_scale(points, Decimal(1)) for points in (2, 3, 5, 11)),
]


def name(channel):
    return f"{channel.steps} steps, {float(channel.loss):.3f}"


@pytest.mark.parametrize("channel", CHANNELS, ids=name)
def test_no_answer_makes_a_report_likelier_than_the_declared_loss(channel):
    assert (
        max(max(column) / min(column) for column in zip(*rows(channel), strict=True))
        == channel.loss
    )


@pytest.mark.parametrize("channel", CHANNELS, ids=name)
def test_every_answer_comes_back_on_average_exactly(channel):
    for answer, row in enumerate(rows(channel)):
        mean = sum(chance * y for chance, y in zip(row, numbers(channel), strict=True))
        assert mean == Fraction(channel.low) + answer * channel.step


@pytest.mark.parametrize("channel", CHANNELS, ids=name)
def test_the_decoder_is_exact_in_whole_numbers(channel):
    for point, row in zip(channel.grid, channel.table.weights, strict=True):
        decoded = sum(weight * y for weight, y in zip(row, channel.decoder, strict=True))
        assert decoded == channel.scale * channel.table.total * point


@pytest.mark.parametrize("epsilon", LIMITS)
@pytest.mark.parametrize("steps", [97, 1000])
def test_its_worst_variance_is_within_two_percent_of_the_limit(epsilon, steps):
    channel = NumberChannel.for_epsilon(Decimal(epsilon), Decimal(-1), Decimal(1), steps)
    assert 0.99 * LIMITS[epsilon] < max(variances(channel)) <= 1.02 * LIMITS[epsilon]
    asked = exponential_below(Decimal(epsilon))
    assert asked * (1 - Fraction(1, 1000)) < channel.loss <= asked
    assert len(str(channel.document()).replace(" ", "")) < 5000


def test_two_answers_are_randomised_by_the_one_bit_of_duchi():
    channel = NumberChannel.for_epsilon(Decimal("1.0986122886681098"), Decimal(0), Decimal(1), 1)
    assert channel.table.reports == 2
    assert float(max(variances(channel))) == pytest.approx(0.75, rel=2e-3)


def test_an_epsilon_above_eight_is_not_used_up():
    most = NumberChannel.for_epsilon(Decimal(20), Decimal(0), Decimal(1), 10)
    assert most.loss <= exponential_below(Decimal(8))


def test_the_same_question_gets_the_same_table_whatever_its_units():
    years = NumberChannel.for_epsilon(Decimal(1), Decimal(0), Decimal(120), 24)
    again = NumberChannel.for_epsilon(Decimal("1.0"), Decimal(-5), Decimal(5), 24)
    assert years.table == again.table
    assert max(variances(years)) == 144 * max(variances(again))


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_it_agrees_with_the_browser_word_for_word(case):
    told = dict(case["channel"])
    bounds = Decimal(told.pop("low")), Decimal(told.pop("high"))
    channel = channel_from(told, Learns.MEAN, bounds)
    assert (channel.low, channel.high) == bounds
    assert channel.document() == told
    words = iter(case["words"])
    assert channel.randomise(case["answer"], lambda: next(words)) == case["report"]
    assert next(words, None) is None


def test_a_point_of_the_grid_takes_no_word_for_rounding():
    assert THIRDS.randomise(3, replay([0])) == 0
    assert [THIRDS.randomise(5, replay([word, 4])) for word in (0, 1, 2)] == [2, 2, 1]


def test_draws_follow_the_mixture_of_two_rows():
    """Chi-square of 20,000 draws; a false alarm once in a million runs."""
    drawn = Counter(THIRDS.randomise(1) for _ in range(20_000))
    expected = [float(chance) * 20_000 for chance in rows(THIRDS)[1]]
    assert stats.chisquare([drawn[report] for report in range(3)], expected).pvalue > 1e-6


def test_the_mean_of_counts_is_the_mean_of_what_reports_stand_for():
    found = THIRDS.mean([5, 2, 1], 8)
    assert found.value == 0.0
    assert THIRDS.mean([1, 2, 5], 8).value == 3.0
    assert THIRDS.mean([3, 2, 3], 8).value == 1.5
    assert found.low == 0.0 < found.high < 3.0


def test_the_standard_error_counts_device_sampling_and_publication():
    channel = NumberChannel.for_epsilon(Decimal(1), Decimal(-1), Decimal(1), 120)
    half = np.array([rows(channel)[0], rows(channel)[-1]], dtype=float).mean(axis=0)
    n = 1_000_000
    counts = [round(share * n) for share in half]
    noise = DiscreteLaplace.for_epsilon(Fraction(1), 2)
    found = channel.mean(counts, n, noise)
    assert found.value == pytest.approx(0, abs=1e-4)
    # half the people at either end
    assert found.variance.sampling * n == pytest.approx(1, rel=0.01)
    assert found.variance.device * n == pytest.approx(float(variances(channel)[0]), rel=0.01)
    squares = sum(float(y) ** 2 for y in numbers(channel))
    assert found.variance.publication == pytest.approx(noise.variance * squares / n**2)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * found.standard_error, rel=0.01)


@pytest.mark.parametrize(("shares", "plain"), [((0.5, 0.5), True), ((0.02, 0.98), False)])
def test_plain_answers_are_between_two_ends_or_too_few_to_say(shares, plain):
    """Two answers, 0 and 1: N is that of a share, π(1 − π) over the variance of one report."""
    channel = NumberChannel.for_epsilon(Decimal(2), Decimal(0), Decimal(1), 1)
    n, (no, yes) = 400, np.array(channel.table.weights) / channel.table.total
    stands = np.array(channel.decoder) / channel.scale
    spread, law = shares[0] * shares[1], shares[1] * no + shares[0] * yes
    truth = n * spread / float(law @ stands**2 - (law @ stands) ** 2)
    rng, said, wrong = np.random.default_rng(7), 0, 0
    for _ in range(100):
        counts = rng.multinomial(n, law).tolist()
        found = channel.plain_answers(counts, n, NoNoise())
        said += found is not None
        wrong += found is not None and not found[0] <= truth <= found[1]
    assert wrong <= 10
    assert said == 100 if plain else said <= 10  # of a few, by chance


def test_noise_widens_the_interval_and_leaves_the_value():
    channel = NumberChannel.for_scale(5, Decimal(1))
    counts = [20] * channel.table.reports
    plain, noisy = (
        channel.mean(counts, 180),
        channel.mean(counts, 180, DiscreteLaplace.for_epsilon(Fraction(1), 2)),
    )
    assert noisy.value == plain.value
    assert noisy.low < plain.low < plain.high < noisy.high


@pytest.mark.parametrize("epsilon", ["1", "4"])
@pytest.mark.parametrize(
    "people", ["all at the low end", "a few at the high end", "all in the middle"]
)
def test_intervals_hold_from_thirty_people(epsilon, people):
    """200 runs of 30, seed 20261124: fewer than 178 hold once in 5,000 times if intervals hold
    95 %.
    """
    channel = NumberChannel.for_epsilon(Decimal(epsilon), Decimal(0), Decimal(1), 24)
    chances = np.array(rows(channel), dtype=float)
    share = {
        "all at the low end": [1, 0, 0],
        "a few at the high end": [0.95, 0, 0.05],
        "all in the middle": [0, 1, 0],
    }
    law = np.array(share[people]) @ chances[[0, 12, 24]]
    truth = float(np.array(share[people]) @ [0, 0.5, 1])
    stream = np.random.default_rng(20261124)
    found = [
        channel.mean(counts.tolist(), 30)
        for counts in stream.multinomial(30, law / law.sum(), size=200)
    ]
    assert sum(estimate.low <= truth <= estimate.high for estimate in found) >= 178


def test_reports_all_alike_leave_room_for_one_person_who_was_not_seen():
    """At ε = 8 thirty reports hardly vary, yet each thirtieth person may answer an end."""
    channel = NumberChannel.for_epsilon(Decimal(8), Decimal(0), Decimal(1), 24)
    middle = channel.table.weights[len(channel.grid) // 2]
    likeliest = middle.index(max(middle))
    few, many = (
        channel.mean([n * (r == likeliest) for r in range(len(middle))], n) for n in (30, 3000)
    )
    assert few.high - few.value > 4 * few.standard_error
    assert many.high - many.value < 2.1 * many.standard_error


def test_the_spread_of_means_is_what_their_variance_says():
    """2,000 means of 200 people all at one answer, seed 20261125: 5 standard errors of a
    variance, 15 %.
    """
    channel = NumberChannel.for_epsilon(Decimal(1), Decimal(0), Decimal(1), 40)
    law = np.array(rows(channel)[7], dtype=float)
    drawn = np.random.default_rng(20261125).multinomial(200, law / law.sum(), size=2_000)
    means = drawn @ np.array(numbers(channel), dtype=float) / 200
    assert means.var() * 200 == pytest.approx(float(variances(channel)[7]), rel=0.16)
    assert means.mean() == pytest.approx(7 / 40, abs=5 * means.std() / np.sqrt(2_000))


def test_a_scale_has_a_row_for_every_point():
    channel = NumberChannel.for_scale(5, Decimal(1))
    assert channel.grid == (0, 1, 2, 3, 4)
    assert (channel.low, channel.high, channel.step) == (1, 5, 1)


@pytest.mark.parametrize("points", [3, 5, 7])
def test_a_scales_mean_is_far_better_known_than_from_a_subset(points):
    number = max(variances(NumberChannel.for_scale(points, Decimal(1))))
    assert 1.2 * number < mean_variance(Subset.for_epsilon(points, Decimal(1)))


def test_the_grid_is_symmetric_and_rises():
    for steps in (2, 5, 40, 97, 1000):
        grid = NumberChannel.for_epsilon(Decimal(3), Decimal(0), Decimal(1), steps).grid
        assert grid[0] == 0
        assert grid[-1] == steps
        assert all(left < right for left, right in pairwise(grid))
        assert [steps - point for point in reversed(grid)] == list(grid)


@pytest.mark.parametrize("epsilon", ["0", "-1", "NaN", "Infinity", "20.5", "0.0001"])
def test_an_epsilon_that_makes_no_sense_is_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        NumberChannel.for_epsilon(Decimal(epsilon), Decimal(0), Decimal(1), 10)


@pytest.mark.parametrize(
    ("low", "high", "steps", "message"),
    [
        ("1", "1", 10, "low must be below high, got 1 and 1"),
        ("2", "1", 10, "low must be below high, got 2 and 1"),
        ("NaN", "1", 10, "low and high must be finite Decimals, got NaN and 1"),
        ("0", "Infinity", 10, "low and high must be finite"),
        ("0", "1", 0, "steps must be 1 to 10000, got 0"),
        ("0", "1", 10_001, "steps must be 1 to 10000, got 10001"),
        ("0", "1", 1.5, "steps must be 1 to 10000, got 1.5"),
        ("0", "1", True, "steps must be 1 to 10000, got True"),
    ],
)
def test_a_scale_that_makes_no_sense_is_refused_by_name(low, high, steps, message):
    with pytest.raises(ValueError, match=message):
        NumberChannel.for_epsilon(Decimal(1), Decimal(low), Decimal(high), steps)


@pytest.mark.parametrize("points", [1, 65])
def test_a_scale_of_one_or_too_many_points_is_refused(points):
    with pytest.raises(ValueError, match=f"points must be 2 to 64, got {points}"):
        NumberChannel.for_scale(points, Decimal(1))


@pytest.mark.parametrize(
    ("grid", "decoder", "scale", "message"),
    [
        ((0, 3), (-3, 3, 9), 1, "grid must rise from 0 with a point for each of 3 rows"),
        ((1, 3, 6), (-3, 3, 9), 1, "grid must rise from 0"),
        ((0, 6, 3), (-3, 3, 9), 1, "grid must rise from 0"),
        ((0, 3, 6), (-3, 3), 1, "decoder must have a number for each of 3 reports"),
        ((0, 3, 6), (-3, 3, 9), 0, "scale above 0"),
        (
            (0, 3, 6),
            (-3, 3, 10),
            1,
            "decoder must return every point of the grid on average, exactly",
        ),
        ((0, 2, 6), (-3, 3, 9), 1, "decoder must return every point"),
    ],
)
def test_a_channel_that_makes_no_sense_is_refused_by_name(grid, decoder, scale, message):
    with pytest.raises(ValueError, match=message):
        NumberChannel(Decimal(0), Decimal(1), THIRDS.table, grid, decoder, scale)


@pytest.mark.parametrize("answer", [-77, 77, 7.7, True, "77", None])
def test_a_wrong_answer_is_refused_without_repeating_it(answer):
    with pytest.raises(
        ValueError, match="answer must be a whole number of steps from 0 to 6"
    ) as error:
        THIRDS.randomise(answer)
    assert "77" not in str(error.value)


def test_counts_and_confidence_are_checked():
    with pytest.raises(ValueError, match="expected 3 counts, got 2"):
        THIRDS.mean([1, 2], 3)
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        THIRDS.mean([0, 0, 0], 0)
    with pytest.raises(ValueError, match="confidence must be between 0 and 1, got 1"):
        THIRDS.mean([1, 2, 3], 6, confidence=1)


def test_people_who_cannot_be_told_apart_from_chance_are_not_said_to_be_alike():
    """Reports that differ less than those of people who all answer the same: the plug-in of
    sampling is at its edge.
    """
    channel = NumberChannel.for_epsilon(Decimal(1), Decimal(0), Decimal(10), 10)
    counts = [0] * channel.table.reports
    counts[len(counts) // 2] = 1000
    split = channel.mean(counts, 1000).variance
    assert (split.sampling, split.is_told_apart) == (0.0, False)
    assert split.document() == {"sampling": None, "device": split.device, "publication": 0.0}
    assert split.device > 0
    assert type(split).read(split.document()) == split


@pytest.mark.parametrize(("points", "at_least"), [(5, 2.1), (11, 3.7)])
def test_the_mean_of_a_scale_needs_so_many_times_fewer_people_than_by_shares(points, at_least):
    worst, even = times(points, Decimal(1))
    assert worst > at_least
    assert even > 1.6
