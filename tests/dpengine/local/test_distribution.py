from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from dpengine.central.laplace import DiscreteLaplace
from dpengine.local.distribution import Distribution, _values
from dpengine.local.table import Table
from dpengine.privacy import exponential_below

EVEN, ONE = Decimal(0), Decimal(1)
AT_ONE = Distribution.for_epsilon(ONE, EVEN, ONE)
CHANCES = np.array(AT_ONE.table.weights, dtype=float) / AT_ONE.table.total
EDGES = np.linspace(0, 1, 65)


def law_of(cdf):
    law = np.diff(cdf(EDGES))
    return law / law.sum()


LAWS = {
    "beta": law_of(lambda x: special.betainc(5, 2, x)),
    "two peaks": law_of(lambda x: special.ndtr((x - 0.3) / 0.08) + special.ndtr((x - 0.7) / 0.08)),
    "one bin": np.eye(64)[40],
    "two far bins": 0.95 * np.eye(64)[3] + 0.05 * np.eye(64)[60],
}


def counts_of(law, n, runs, seed):
    return np.random.default_rng(seed).multinomial(n, law @ CHANCES, size=runs).tolist()


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "2", "4", "8", "20"])
@pytest.mark.parametrize("bins", [2, 3, 10, 55, 64])
def test_its_loss_is_just_below_what_was_asked_for(epsilon, bins):
    asked = min(exponential_below(Decimal(epsilon)), exponential_below(Decimal(8)))
    channel = Distribution.for_epsilon(Decimal(epsilon), EVEN, ONE, bins)
    assert 1 + 0.99 * (asked - 1) < channel.loss <= asked
    assert channel.loss == max(
        Fraction(max(c), min(c)) for c in zip(*channel.table.weights, strict=True)
    )


@pytest.mark.parametrize("bins", [2, 9, 10, 12, 55, 64])
def test_no_wave_is_lost(bins):
    weights = np.array(Distribution.for_epsilon(ONE, EVEN, ONE, bins).table.weights, dtype=float)
    assert np.abs(np.fft.fft(weights[0])).min() > 1e-3 * weights.max()


def test_two_bins_are_the_coin_of_the_book():
    coin = Distribution.for_epsilon(Decimal("1.09861228866810969140"), EVEN, ONE, 2)
    assert coin.table == Table.coin()


def test_eleven_of_sixty_four_bins_are_likelier_at_one():
    first = AT_ONE.table.weights[0]
    assert [place for place, weight in enumerate(first) if weight == max(first)] == [
        *range(6),
        *range(59, 64),
    ]
    assert (max(first), min(first)) == (106, 39)


@pytest.mark.parametrize("law", ["beta", "two peaks"])
def test_shares_are_near_the_truth(law):
    """20 runs of 100,000 at ε = 1, seed 7: mean Wasserstein-1 on a range of 1 at most 0.006
    (measured 0.0043).
    """
    runs = [np.array(AT_ONE.shares(counts)) for counts in counts_of(LAWS[law], 100_000, 20, 7)]
    assert np.mean([np.abs(np.cumsum(shares - LAWS[law])).sum() / 64 for shares in runs]) <= 0.006


def test_shares_are_shares():
    shares = AT_ONE.shares(counts_of(LAWS["two peaks"], 200, 1, 8)[0])
    assert min(shares) >= 0
    assert sum(shares) == pytest.approx(1, abs=1e-9)


def test_shares_are_shares_even_where_steps_run_out(monkeypatch):
    monkeypatch.setattr("dpengine.local.distribution.MAX_STEPS", 9)
    shares = AT_ONE.shares(counts_of(LAWS["two peaks"], 2000, 1, 8)[0])
    assert min(shares) >= 0
    assert sum(shares) == pytest.approx(1, abs=1e-9)


def test_expected_counts_of_even_answers_give_even_shares():
    assert AT_ONE.shares([1000] * 64) == pytest.approx([1 / 64] * 64)


def test_counts_that_noise_made_negative_count_as_none():
    assert AT_ONE.shares([-3] * 64) == [1 / 64] * 64
    assert AT_ONE.shares([-3, *[500] * 63]) == AT_ONE.shares([0, *[500] * 63])


@pytest.mark.parametrize("n", [30, 10_000])
@pytest.mark.parametrize("cut", [1, 20, 63])
def test_values_never_promise_more_than_the_truth(n, cut):
    """In every bin their mean over reports is at most 1 below the cut and 0 above: by
    enumeration.
    """
    wanted = np.r_[np.ones(cut), np.zeros(64 - cut)]
    values = _values(AT_ONE.table, tuple(wanted.tolist()), n, 1.96)
    assert (CHANCES @ values - wanted).max() < 1e-9
    assert (CHANCES @ values - wanted).max() > -1e-9


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [30, 3000])
def test_limits_below_a_cut_hold(law, n):
    """100 runs, seed 9, four edges: fewer than 86 of 100 hold once in 3,000 times if limits hold
    95 %.
    """
    truth = np.cumsum(LAWS[law])
    kept = np.zeros(4)
    for counts in counts_of(LAWS[law], n, 100, 9):
        for place, edge in enumerate((4, 19, 40, 58)):
            low, high = AT_ONE._limits(np.arange(64) <= edge, counts, n, None, 0.95)
            kept[place] += low <= truth[edge] + 1e-9 and truth[edge] - 1e-9 <= high
    assert kept.min() >= 86


def test_the_distribution_function_is_told_with_its_limits():
    counts = counts_of(LAWS["beta"], 100_000, 1, 10)[0]
    found = AT_ONE.cdf(counts, 100_000)
    assert len(found) == 63
    assert [step.value for step in found] == pytest.approx(
        np.cumsum(AT_ONE.shares(counts))[:-1].tolist()
    )
    assert all(0 <= step.low <= step.value <= step.high <= 1 for step in found)
    assert np.mean([step.high - step.low for step in found]) < 0.15


def test_noise_widens_the_limits():
    counts = counts_of(LAWS["beta"], 2_000, 1, 11)[0]
    noise = DiscreteLaplace.for_epsilon(Fraction(1), 2)
    plain, noisy = (AT_ONE.within(0, 31, counts, 2_000, law) for law in (None, noise))
    assert noisy.value == plain.value
    assert noisy.high - noisy.low > plain.high - plain.low


def test_quantiles_are_in_the_answers_units():
    years = Distribution(Decimal(0), Decimal(128), AT_ONE.table)
    counts = counts_of(LAWS["beta"], 100_000, 1, 12)[0]
    median = years.quantile_of(0.5, years.cdf(counts, 100_000))
    assert median.value == pytest.approx(128 * special.betaincinv(5, 2, 0.5), abs=3)
    assert median.low < median.value < median.high
    assert (median.low / 2).is_integer()
    assert years.edges[1] == 2


def test_a_quantile_that_few_reports_cannot_find_is_anywhere():
    found = AT_ONE.quantile_of(0.5, AT_ONE.cdf([1] * 10 + [0] * 54, 10))
    assert (found.low, found.high) == (0, 1)


@pytest.mark.parametrize("epsilon", ["0", "-1", "NaN", "21"])
def test_an_epsilon_that_makes_no_sense_is_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon must be above 0 and at most 20"):
        Distribution.for_epsilon(Decimal(epsilon), EVEN, ONE)


@pytest.mark.parametrize("bins", [1, 65, 2.0, True])
def test_bins_that_make_no_sense_are_refused(bins):
    with pytest.raises(ValueError, match=f"bins must be 2 to 64, got {bins}"):
        Distribution.for_epsilon(ONE, EVEN, ONE, bins)


def test_ends_and_tables_are_checked():
    with pytest.raises(ValueError, match="low must be below high, both finite, got 1 and 1"):
        Distribution(ONE, ONE, Table.coin())
    with pytest.raises(ValueError, match="every row must be the one before it, moved by one bin"):
        Distribution(EVEN, ONE, Table(((1, 2, 3), (3, 2, 1), (2, 1, 3))))


def test_counts_people_and_confidence_are_checked():
    with pytest.raises(ValueError, match="expected 64 counts, got 2"):
        AT_ONE.shares([1, 2])
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        AT_ONE.cdf([1] * 64, 0)
    with pytest.raises(ValueError, match="confidence must be between 0 and 1, got 0"):
        AT_ONE.cdf([1] * 64, 64, confidence=0)
    with pytest.raises(ValueError, match="part must be between 0 and 1, got 1"):
        AT_ONE.quantile_of(1, AT_ONE.cdf([1] * 64, 64))


def test_a_report_is_drawn_from_the_answers_row():
    assert AT_ONE.randomise(0, lambda: 0) == 0
    assert AT_ONE.bins == 64


def test_an_epsilon_too_small_for_whole_weights_is_refused_at_once():
    with pytest.raises(
        ValueError, match=r"epsilon of a distribution must be at least 0\.001, got 0\.000001"
    ):
        Distribution.for_epsilon(Decimal("0.000001"), Decimal(0), Decimal(1))


def test_a_share_whose_limits_fall_outside_by_chance_keeps_a_width():
    """All 400 people are in one bin, far away: where even the upper limit falls below 0, [0, 0]
    would be certainty.
    """
    channel = Distribution.for_epsilon(ONE, EVEN, Decimal(100), 16)
    chances = np.array(channel.table.weights, dtype=float) / channel.table.total
    tallies = np.random.default_rng(1).multinomial(400, chances[12], size=150).tolist()
    wanted = np.array([1.0] * 3 + [0.0] * 13)
    outside = [
        counts for counts in tallies if channel._limits(wanted, counts, 400, None, 0.95)[1] <= 0
    ]
    assert outside
    for found in (channel.within(0, 2, counts, 400, None) for counts in outside):
        assert found.low == 0
        assert found.high > 0.1


def test_the_share_of_each_bin_is_that_within_it():
    counts = [20, 30, 50]
    channel = Distribution.for_epsilon(ONE, EVEN, ONE, 3)
    noise = DiscreteLaplace.for_epsilon(Fraction(1), 2)
    alone = [channel.within(place, place, counts, 100, noise) for place in range(3)]
    assert channel.estimates(counts, 100, noise) == alone
