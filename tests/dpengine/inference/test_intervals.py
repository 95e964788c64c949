"""Intervals where several channels asked the same question, and of means of bounded values."""

import numpy as np
import pytest
from scipy import stats

from dpengine.estimates import clopper_pearson
from dpengine.inference.intervals import (
    Groups,
    _tails_of,
    bisect,
    exact_interval,
    grouped,
    mean_intervals,
    share_intervals,
)


def groups(pair, sizes, yes):
    c0, c1 = (np.array(column, dtype=float) for column in zip(*pair, strict=True))
    return Groups(c0, c1, np.array(sizes, dtype=float), np.array(yes, dtype=float))


COIN_AND_DIRECT = ((0.25, 0.5), (0.0, 1.0))
WARNERS = ((0.4, 0.2), (0.1, 0.8))


@pytest.mark.parametrize("pair", [COIN_AND_DIRECT, WARNERS], ids=["coin and direct", "two Warners"])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.2])
def test_intervals_of_two_arms_of_15_cover_what_they_say(pair, share):
    """Exact coverage: an interval holds the share when neither tail at it is below 2.5 %."""
    laws = [stats.binom.pmf(np.arange(16), 15, c0 + c1 * share) for c0, c1 in pair]
    chances = np.outer(*laws)
    covered = sum(
        chances[yes]
        for yes in np.ndindex(16, 16)
        if chances[yes] > 1e-7 and min(_tails_of(groups(pair, (15, 15), yes))(share)) > 0.025
    )
    assert covered >= 0.95 - 1e-4


@pytest.mark.parametrize("yes", [(3, 0), (7, 2), (12, 9)])
def test_the_limits_are_where_a_tail_is_half_the_error(yes):
    found = groups(COIN_AND_DIRECT, (15, 15), yes)
    low, high = exact_interval(found, 0.95)
    tails = _tails_of(found)
    # weights are whole, so tails jump a little
    assert low == 0 or tails(low)[0] == pytest.approx(0.025, abs=2e-3)
    assert tails(high)[1] == pytest.approx(0.025, abs=2e-3)


def test_equal_constants_are_one_binomial():
    apart = groups(((0.25, 0.5), (0.75, -0.5)), (40, 60), (20, 30))
    low, high = clopper_pearson(20 + 30, 100)
    assert exact_interval(apart, 0.95) == pytest.approx(((low - 0.25) / 0.5, (high - 0.25) / 0.5))


def test_the_exact_tails_are_sums_over_all_reports():
    """Weights at π = .2 of coin and direct answers: c1/(λ(1 − λ)) = 2.198 and 6.25, 11 and 32 in
    whole numbers.
    """
    seen, tails = 11 * 4 + 32 * 2, _tails_of(groups(COIN_AND_DIRECT, (5, 5), (4, 2)))(0.2)
    laws = np.outer(stats.binom.pmf(np.arange(6), 5, 0.35), stats.binom.pmf(np.arange(6), 5, 0.2))
    statistic = 11 * np.arange(6)[:, None] + 32 * np.arange(6)
    assert tails == pytest.approx((laws[statistic >= seen].sum(), laws[statistic <= seen].sum()))


@pytest.mark.parametrize("yes", [(30, 7), (24, 0), (60, 100), (0, 0), (100, 100), (34, 12)])
@pytest.mark.parametrize("share", [0.0, 0.12, 0.5, 1.0])
def test_the_saddlepoint_is_near_the_exact_tails(yes, share):
    """Effective numbers that are not whole go by the saddlepoint, which sees no lattice: half a
    point lies between.
    """
    found = groups(COIN_AND_DIRECT, (100, 100), yes)
    above, below = _tails_of(found)(share)
    near = _tails_of(found.scaled(1 + 1e-9))(share)
    point = above + below - 1
    assert near == pytest.approx((above - point / 2, below - point / 2), abs=0.006 + point / 2)


def test_the_saddlepoint_at_the_mean_is_half_less_a_sixth_of_the_skewness():
    found = groups(WARNERS, (100.5, 100.5), (100.5 * 0.42, 100.5 * 0.18))  # λ at π = .1
    above, below = _tails_of(found)(0.1)
    beside = _tails_of(groups(WARNERS, (100.5, 100.5), (100.5 * 0.42, 100.5 * 0.18 + 0.02)))(0.1)
    assert above == pytest.approx(beside[0], abs=0.003)
    assert above + below == 1


def test_large_samples_are_quick_and_agree_with_small_ones_scaled():
    found = exact_interval(groups(COIN_AND_DIRECT, (100_000, 100_000), (30_000, 10_000)), 0.95)
    normal = 1.959964 / np.sqrt(
        groups(COIN_AND_DIRECT, (100_000, 100_000), (30_000, 10_000)).information(0.1)
    )
    assert found == pytest.approx((0.1 - normal, 0.1 + normal), abs=2e-5)


def test_constants_are_merged_where_they_agree_to_twelve_digits():
    found = grouped(
        np.array([0.2, 0.2 + 1e-15, 0.3]),
        np.array([0.5, 0.5, 0.5]),
        np.ones(3),
        np.array([1.0, 0, 1]),
    )
    assert found.n.tolist() == [2, 1]
    assert found.yes.tolist() == [1, 1]


def test_the_mean_of_zeros_and_ones_has_clopper_and_pearsons_interval():
    means, variances = np.array([0.3, 0.0, -0.5]), np.array([0.3 * 0.7 / 50, 0.0, 0.0])
    lows, highs = np.array([0.0, 0.0, -0.5]), np.array([1.0, 1.0, 1.5])
    low, high = mean_intervals(means, variances, 50, lows, highs, 0.95)
    assert (low[0], high[0]) == pytest.approx(clopper_pearson(15, 50))
    assert (low[1], high[1]) == pytest.approx(clopper_pearson(0, 50))
    assert low[2] == -0.5


def test_a_share_far_outside_keeps_an_interval_with_a_width():
    zero = np.zeros(1)
    low, high = share_intervals(zero - 0.9, zero + 0.01, 100, zero - 1, zero + 2, 0.95)
    assert low[0] == 0
    assert 0.1 < high[0] < 0.3


def test_halving_stops_at_the_edge_it_does_not_pass():
    assert bisect(lambda share: share + 1) == 0
    assert bisect(lambda share: share - 2) == 1
    assert bisect(lambda share: share - 0.25) == pytest.approx(0.25)
