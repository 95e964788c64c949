import math

import numpy as np
import pytest
from scipy import stats

from dpengine.inference.comparisons import by_group
from dpengine.inference.odds import odds_ratio
from tests.dpengine.inference.test_joint import COIN, OPEN, rows

GROUP, DIRECT = rows([[90, 10], [80, 20]])


def test_direct_answers_by_hand():
    found = by_group(DIRECT, GROUP, 0, 1)
    contrast = found.contrasts[0]
    assert [share.maximum_likelihood for share in found.shares] == pytest.approx([0.1, 0.2])
    assert (found.groups, contrast.group, contrast.base) == ((0, 1), 1, 0)
    assert (contrast.difference, contrast.ratio, contrast.odds_ratio) == pytest.approx((0.1, 2, 2.25))
    assert (found.test.g2, found.test.df) == (pytest.approx(3.9866, abs=1e-4), 1)
    assert found.warnings == ()


def test_the_difference_goes_as_far_as_both_exact_limits_together():
    """Clopper-Pearson .0490 to .1762 and .1267 to .2918: .1 − √(.0733² + .0762²) and .1 + √(.0918² + .0510²)."""
    low, high = by_group(DIRECT, GROUP, 0, 1).contrasts[0].difference_interval
    assert (low, high) == pytest.approx((-0.0058, 0.2051), abs=1e-4)


def test_the_profile_of_the_ratio_passes_where_chance_exceeds_it_in_a_twentieth():
    for limit in by_group(DIRECT, GROUP, 0, 1).contrasts[0].ratio_interval:
        base = np.linspace(0.0001, min(1, 1 / limit) - 1e-6, 200_001)
        heights = stats.binom.logpmf(10, 100, base) + stats.binom.logpmf(20, 100, limit * base)
        best = stats.binom.logpmf(10, 100, 0.1) + stats.binom.logpmf(20, 100, 0.2)
        assert 2 * (best - heights.max()) == pytest.approx(stats.chi2.ppf(0.95, 1), abs=1e-3)


@pytest.mark.parametrize(("channel", "c0", "c1"), [(OPEN, 0, 1), (COIN, 0.25, 0.5)], ids=["direct", "coin"])
def test_the_odds_ratio_is_that_of_the_table(channel, c0, c1):
    group, yes = rows([[350, 150], [300, 200]])
    contrast, table = by_group(yes, group, c0, c1).contrasts[0], odds_ratio([group, yes], [OPEN, channel])
    assert contrast.odds_ratio == pytest.approx(table.estimate, rel=1e-4)
    assert contrast.odds_ratio_interval == pytest.approx(table.interval, rel=1e-3)


def test_nobody_in_the_base_group_leaves_no_upper_limit():
    group, yes = rows([[100, 0], [80, 20]])
    contrast = by_group(yes, group, 0, 1).contrasts[0]
    assert (contrast.ratio, contrast.odds_ratio) == (math.inf, math.inf)
    assert contrast.ratio_interval == (pytest.approx(10.1, abs=0.1), math.inf)
    assert contrast.difference_interval[0] > 0.1


def test_nobody_in_the_other_group_leaves_no_lower_limit():
    group, yes = rows([[80, 20], [100, 0]])
    contrast = by_group(yes, group, 0, 1).contrasts[0]
    assert contrast.ratio == 0
    assert contrast.ratio_interval == (0, pytest.approx(1 / 10.1, abs=0.001))


def test_nobody_in_either_group_says_nothing_of_the_ratio():
    group, yes = rows([[30, 0], [30, 0]])
    found = by_group(yes, group, 0, 1)
    assert found.contrasts[0].ratio is None
    assert found.contrasts[0].ratio_interval == (0, math.inf)
    assert found.warnings[0].startswith("0: one class only")


def test_groups_may_have_channels_of_their_own_and_there_may_be_more_than_two():
    group = np.repeat(["b", "a", "c"], 100)
    yes = np.concatenate([np.repeat([1, 0], [25, 75]), np.repeat([1, 0], [10, 90]), np.repeat([1, 0], [40, 60])])
    found = by_group(yes, group, np.where(group == "a", 0, 0.25), np.where(group == "a", 1, 0.5))
    assert found.groups == ("a", "b", "c")
    assert [share.maximum_likelihood for share in found.shares] == pytest.approx([0.1, 0.0, 0.3])
    assert found.test.df == 2
    assert [contrast.difference for contrast in found.contrasts] == pytest.approx([-0.1, 0.2])


def test_weights_widen_the_intervals():
    weights = np.tile([0.2, 1.8], 100)
    weighted, plain = by_group(DIRECT, GROUP, 0, 1, weights).contrasts[0], by_group(DIRECT, GROUP, 0, 1).contrasts[0]
    assert weighted.difference == pytest.approx(0.1)
    assert weighted.difference_interval[0] < plain.difference_interval[0]
    assert weighted.ratio_interval[1] > plain.ratio_interval[1]


def test_one_group_is_nothing_to_compare():
    with pytest.raises(ValueError, match="group must have two values or more to compare, got 1"):
        by_group([0, 1], ["a", "a"], 0, 1)


def test_every_report_needs_a_group():
    with pytest.raises(ValueError, match="group must have as many rows as there are reports, 2, got 3"):
        by_group([0, 1], ["a", "b", "a"], 0, 1)


def test_rows_of_weight_0_are_left_out_of_their_groups():
    yes, group, weights = [1, 0, 1, 0, 1, 1] * 5, ["a", "a", "b", "b", "b", "a"] * 5, [1, 2, 0, 1, 2, 1] * 5
    used = np.array(weights) > 0
    found = by_group(yes, group, 0.25, 0.5, weights)
    same = by_group(np.array(yes)[used], np.array(group)[used], 0.25, 0.5, np.array(weights)[used])
    assert [share.n for share in found.shares] == [15, 10]
    assert found.contrasts == same.contrasts
