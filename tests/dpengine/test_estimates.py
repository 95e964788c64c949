import math
from bisect import bisect_left
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpengine.central.counts import largest_error
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import (
    Estimate,
    KnownSum,
    Margin,
    NoNoise,
    Variance,
    averaged,
    over_people,
    plain_answers,
    share,
    simplex,
    with_known_sum,
)
from dpengine.local.subset import Subset
from dpengine.local.table import Table

PLAIN = Margin(Fraction(1), Fraction(0))
COIN = Table.coin().margins()[1]
NOISE = DiscreteLaplace.for_epsilon(Fraction(1, 4), 2)


def test_the_coin_of_the_book_is_inverted_by_hand():
    assert share(40, 100, COIN, NoNoise()).value == pytest.approx(0.30)  # 2·0.40 − 1/2


@pytest.mark.parametrize("n", [1, 137])
def test_a_number_of_people_whose_noise_is_nearly_always_0_is_one_too(n):
    noise = DiscreteLaplace.for_epsilon(Fraction(10), 1)
    reach = largest_error(noise, 1, 0.99)
    assert reach == 0
    counts = [n // 3, n - n // 3]

    def at(people, sure):
        return Table.coin().estimates(counts, people, noise, sure)

    (_, found), (_, public) = over_people(at, n, reach, noise.variance), at(n, 0.95)
    assert found.value == public.value
    assert found.low <= public.low < public.high <= found.high
    assert found.variance.publication > public.variance.publication


def test_without_chance_the_interval_is_clopper_and_pearson_s():
    exact = stats.binomtest(10, 100).proportion_ci(method="exact")
    found = share(10, 100, PLAIN, NoNoise())
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_the_published_forced_response_example():
    """52 yes of 350, forced response 2/3 with 1/6 yes: moment −0.027, upper limit 0.035."""
    forced = Margin(Fraction(5, 6), Fraction(1, 6))
    found = share(52, 350, forced, NoNoise())
    assert found.value == pytest.approx(-0.0271, abs=1e-4)
    assert found.high == pytest.approx(0.0353, abs=1e-4)


@pytest.mark.parametrize(
    "margin", [COIN, Subset.for_epsilon(10, Decimal(1)).margin], ids=["coin", "subset of 10"]
)
@pytest.mark.parametrize("noise", [NoNoise(), NOISE], ids=["no noise", "scale 8"])
@pytest.mark.parametrize("n", [30, 200, 1000])
@pytest.mark.parametrize("truth", [0.0, 0.01, 0.2, 0.5, 1.0])
def test_intervals_cover_what_they_say(margin, noise, n, truth):
    """Exact coverage: the law of the published count, summed over the counts whose interval
    holds the truth.
    """
    reported = float(margin.lie) + truth * margin.contrast
    reach = 0 if isinstance(noise, NoNoise) else 80
    counts = np.arange(-reach, n + reach + 1)
    binomial = stats.binom.pmf(np.arange(n + 1), n, reported)
    z = np.arange(-reach, reach + 1)
    law = np.convolve(binomial, noise.tail(z) - noise.tail(z + 1)) if reach else binomial
    likely = [(count, chance) for count, chance in zip(counts, law, strict=True) if chance > 1e-5]
    covered = sum(
        chance
        for count, chance in likely
        if (e := share(int(count), n, margin, noise)).low <= truth <= e.high
    )
    assert covered >= 0.95 - 1e-3


# Counts with a known sum


def test_counts_that_should_add_up_to_100_by_hand():
    assert KnownSum(NOISE, 3).counted([41, 30, 35], 100) == [39, 28, 33]


@pytest.mark.parametrize(
    ("noise", "counts"),
    [(DiscreteLaplace(1.5, 2), 3), (DiscreteLaplace(0.2, 2), 4), (DiscreteGaussian(1.2, 2), 4)],
    ids=str,
)
def test_the_law_of_what_is_left_is_that_of_every_way_that_noise_can_fall(noise, counts):
    """By adding up the laws of (k − 1)·Z and of each −Z, value by value."""
    z = np.arange(-60, 61)
    one = noise.tail(z) - noise.tail(z + 1)
    whole = np.zeros(120 * (counts - 1) + 1)
    whole[:: counts - 1] = one
    for _ in range(counts - 1):
        whole = np.convolve(whole, one[::-1])
    places = np.arange(len(whole)) - len(whole) // 2
    law = KnownSum(noise, counts)
    expected = np.cumsum(whole[::-1])[::-1]
    assert law.tail(places) == pytest.approx(expected, abs=1e-8)
    assert law.variance == pytest.approx(float(whole @ places**2) / counts**2, rel=1e-6)
    assert law.variance + (counts - 1) * law.covariance == pytest.approx(0)  # of a share and all


def test_a_law_too_fine_is_made_coarser_and_wider():
    noise = DiscreteLaplace(30_000.0, 2)
    law = KnownSum(noise, 3)
    far = np.array([3 * 60_000, 3 * 110_000])
    grains = law.tail(far)
    third = law.tail(far + 3)  # a person on: less than a grain
    assert np.all(grains >= third)
    assert law.tail(np.array([0]))[0] == pytest.approx(0.5, abs=1e-4)
    # like noise a thousandth as wide, a thousandth as far
    assert grains == pytest.approx(
        KnownSum(DiscreteLaplace(30.0, 2), 3).tail(far // 1000), rel=2e-2
    )


@pytest.mark.parametrize("n", [10, 40, 300])
@pytest.mark.parametrize("truth", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("choices", [3, 7])
def test_intervals_of_counts_with_a_known_sum_cover_what_they_say(n, truth, choices):
    """Exact: the law of the count and what is left of its noise, on k-ths, over those whose
    interval holds the truth. Intervals move with their counts, so those lie between two.
    """
    margin, noise = Subset.for_epsilon(choices, Decimal(1)).margin, DiscreteLaplace(6.0, 2)
    law, reach = KnownSum(noise, choices), 40 * choices
    z = np.arange(-3 * reach, 3 * reach + 1)
    left = law.tail(z) - law.tail(z + 1)
    held = np.zeros(n * choices + 1)
    held[::choices] = stats.binom.pmf(
        np.arange(n + 1), n, float(margin.lie) + truth * margin.contrast
    )
    chances = np.convolve(held, left)
    counts = np.arange(len(chances)) - 3 * reach

    def first(is_there):
        return bisect_left(
            counts, True, key=lambda count: is_there(share(count / choices, n, margin, law))
        )

    low, high = first(lambda e: e.high >= truth - 1e-12), first(lambda e: e.low > truth + 1e-12)
    covered = float(chances[low:high].sum())
    assert covered >= 0.95 - 1e-6
    assert covered <= 0.962


def test_of_two_counts_and_of_counts_as_they_came_nothing_is_taken_out():
    assert with_known_sum(NOISE, 2) == NOISE
    assert isinstance(with_known_sum(NoNoise(), 5), NoNoise)


def test_a_published_count_below_zero_still_has_an_interval_that_holds_its_estimate():
    found = share(-40, 100, PLAIN, NOISE)
    assert found.low <= found.value <= found.high
    assert found.value == pytest.approx(-0.4)


def test_variance_is_split_by_where_the_doubt_comes_from():
    found = share(1200, 3000, COIN, NOISE)
    lam, contrast = 0.4, 0.5
    assert found.variance.sampling + found.variance.device == pytest.approx(
        lam * (1 - lam) / 3000 / contrast**2
    )
    assert found.variance.publication == pytest.approx(NOISE.variance / (3000 * contrast) ** 2)
    assert found.standard_error == pytest.approx(math.sqrt(found.variance.total))


def test_the_standard_error_is_never_zero_at_the_edge():
    assert share(0, 100, COIN, NoNoise()).standard_error > 0


@pytest.mark.parametrize(
    ("n", "confidence", "message"),
    [(0, 0.95, "n must be 1 or more, got 0"), (9, 1.0, "between 0 and 1")],
)
def test_nonsense_is_refused_by_name(n, confidence, message):
    with pytest.raises(ValueError, match=message):
        share(0, n, COIN, NoNoise(), confidence)


def test_projected_shares_are_shares():
    projected = simplex([0.7, 0.5, -0.1])
    assert projected == pytest.approx([0.6, 0.4, 0.0])
    assert simplex([0.2, 0.3, 0.5]) == pytest.approx([0.2, 0.3, 0.5])


def test_as_precise_as_so_many_plain_answers():
    """By hand: 30 % of 1,000 plain answers are as precise as themselves. Through the coin, whose
    reports vary by 3/16 more per (1/2)², 400 yes of 1,000 are 30 %: .21/(.21 + .75) of 1,000.
    """
    plain = [share(count, 1000, PLAIN, NoNoise()) for count in (300, 700)]
    assert plain_answers(plain, 1000) == (1000, 1000)
    low, high = plain_answers([share(count, 1000, COIN, NoNoise()) for count in (400, 600)], 1000)
    assert low < 1000 * 0.21 / 0.96 < high
    assert (low, high) == (150, 250)


def test_nothing_is_said_where_it_may_be_few():
    rare = [share(count, 1000, COIN, NoNoise()) for count in (260, 740)]  # 2 %, of −3.3 to 7.6
    assert plain_answers(rare, 1000) is None
    assert (
        plain_answers([share(count, 1000, COIN, NoNoise()) for count in (200, 800)], 1000) is None
    )
    assert plain_answers([share(count, 25, PLAIN, NoNoise()) for count in (12, 13)], 25) is None


def test_of_options_each_is_a_share_of_its_own():
    """By hand: three halves of 400 coins each vary by .25, and all chance by 1: 100 of 400."""
    options = [share(200, 400, COIN, NoNoise())] * 3
    low, high = plain_answers(options, 400, is_partition=False)
    assert (low, high) == (95, 100)
    assert plain_answers(options, 400) is None  # no three shares near a half add up to 1


@pytest.mark.parametrize(
    "shares", [(0.02, 0.98), (0.1, 0.9), (0.5, 0.5), (0.6, 0.2, 0.1, 0.05, 0.05), (0.2,) * 5]
)
def test_so_many_plain_answers_are_said_truly(shares):
    """In 100 surveys of 2,000, at most 10 say a range that the truth is not in: at 95 % that is
    beyond two standard errors.
    """
    lie = Fraction(1, 5 + 2 * len(shares))
    margin = Margin(1 - (len(shares) - 1) * lie, lie)
    truth, other = float(margin.truth), float(margin.lie)
    table = np.full((len(shares), len(shares)), other) + np.eye(len(shares)) * (truth - other)
    device = len(shares) * other * (1 - other) + truth * (1 - truth) - other * (1 - other)
    spread = 1 - sum(each**2 for each in shares)
    plain = 2000 * spread / (spread + device / margin.contrast**2)
    rng, wrong = np.random.default_rng(7), 0
    for _ in range(100):
        counts = rng.multinomial(2000, np.array(shares) @ table)
        found = plain_answers(
            [share(int(count), 2000, margin, NoNoise()) for count in counts], 2000
        )
        wrong += found is not None and not found[0] <= plain <= found[1]
    assert wrong <= 10


FORCED = Margin(Fraction(5, 6), Fraction(1, 6))


def test_the_published_example_by_likelihood():
    """52 yes of 350: the likeliest share is 0."""
    assert share(52, 350, FORCED, NoNoise()).maximum_likelihood == 0


def test_a_count_that_cannot_be_is_refused_unless_noise_made_it():
    with pytest.raises(ValueError, match="a count without noise must be 0 to n = 100"):
        share(101, 100, COIN, NoNoise())


def test_a_channel_that_turns_answers_round_is_inverted_too():
    """Crosswise with p = 1/4 says the same as with 3/4, of the other reports."""
    turned = Margin(Fraction(1, 4), Fraction(3, 4))
    there, back = share(40, 100, COIN, NoNoise()), share(60, 100, turned, NoNoise())
    assert (back.low, back.value, back.high) == pytest.approx((there.low, there.value, there.high))


def test_no_noise_adds_nothing():
    assert NoNoise().tail(np.array([-1, 0, 1])).tolist() == [1, 1, 0]


def test_an_average_s_interval_by_hand():
    """.3·.5 + .7·.1, its sides √((.3·.2)² + (.7·.05)²) below and √((.3·.3)² + (.7·.1)²) above."""
    one = Estimate(0.5, 0.3, 0.8, Variance(0.01, 0.002, 0.0))
    other = Estimate(0.1, 0.05, 0.2, Variance(0.001, 0.0, 0.003))
    found = averaged([one, other], [0.3, 0.7])
    assert found.value == pytest.approx(0.22)
    assert (found.low, found.high) == pytest.approx((0.22 - 0.069462, 0.22 + 0.114018), abs=1e-6)
    parts = found.variance.sampling, found.variance.device, found.variance.publication
    assert parts == pytest.approx((0.00139, 0.00018, 0.00147))
