import math

import numpy as np
import pytest
from scipy import stats

from dpengine.local.bounded import _saddle, lower_limit

Z = 1.959963984540054
COIN = np.array([0.0, 1.0])


def test_reports_all_of_the_least_value_leave_that_value():
    assert lower_limit(COIN, np.array([30.0, 0.0]), 0.0, Z, 0.0) == 0


def test_all_ones_of_thirty_is_the_limit_of_clopper_and_pearson():
    """Its weighted mean is 1 minus one weight's share, a Beta(n, 1): the limit is α^(1/n)."""
    assert lower_limit(COIN, np.array([0.0, 30.0]), 0.0, Z, 0.0) == pytest.approx(
        0.025 ** (1 / 30), abs=2e-3
    )


@pytest.mark.parametrize(("ones", "n"), [(3, 30), (15, 30), (50, 1000), (500, 1000)])
def test_yes_or_no_has_the_limit_of_clopper_and_pearson(ones, n):
    expected = stats.beta.ppf(0.025, ones, n - ones + 1)
    assert lower_limit(COIN, np.array([n - ones, ones], dtype=float), 0.0, Z, 0.0) == pytest.approx(
        expected, rel=1e-3
    )


def test_many_reports_have_the_normal_limit():
    values, counts = np.array([-2.0, 0.5, 3.0]), np.array([2e5, 5e5, 3e5])
    mean = values @ counts / 1e6
    spread = math.sqrt((values**2 @ counts / 1e6 - mean**2) / 1e6)
    assert lower_limit(values, counts, 0.0, Z, -2.0) == pytest.approx(
        mean - Z * spread, abs=0.02 * spread
    )


def test_noise_lowers_it_as_its_variance_says():
    values, counts = np.array([-1.0, 1.0]), np.array([5000.0, 5000.0])
    variance = 1e5
    expected = -Z * math.sqrt(1 / 10_000 + 2 * variance / 10_000**2)
    assert lower_limit(values, counts, variance, Z, -1.0) == pytest.approx(expected, rel=0.02)


def test_noise_that_drowns_the_counts_leaves_the_least():
    assert lower_limit(COIN, np.array([5.0, 5.0]), 1e6, Z, 0.0) == 0


def test_counts_that_noise_made_negative_keep_their_part_of_the_mean():
    values = np.array([0.0, 0.5, 1.0])
    limits = [
        lower_limit(values, np.array([500.0, below, 500.0]), 100.0, Z, 0.0)
        for below in (-40.0, 0.0)
    ]
    assert 0 < limits[0] < limits[1] + 0.01


@pytest.mark.parametrize("counts", [[0.0, -5.0], [-1.0, 0.0]])
def test_no_reports_at_all_leave_the_least(counts):
    assert lower_limit(COIN, np.array(counts), 1.0, Z, 0.0) == 0


def test_the_least_that_can_be_is_never_undercut():
    assert lower_limit(np.array([-5.0, 5.0]), np.array([10.0, 10.0]), 0.0, Z, 0.0) == 0


def test_the_saddle_is_where_the_tilted_sum_has_mean_zero():
    gaps, counts = np.array([-2.0, 0.5, 3.0]), np.array([4.0, 50.0, 6.0])
    t = _saddle(gaps, counts, 0.0, 0.0)
    assert -0.5 < t < 0
    assert counts @ (gaps / (1 - t * gaps)) == pytest.approx(0, abs=1e-8)


def test_newtons_steps_may_run_out(monkeypatch):
    monkeypatch.setattr("dpengine.local.bounded.NEWTON_STEPS", 1)
    assert -0.5 < _saddle(np.array([-2.0, 3.0]), np.array([1.0, 9.0]), 0.0, 0.0) < 0
