"""Bars stand where the numbers are."""

import math
from itertools import pairwise

import pytest

from dpengine.estimates import Estimate, Variance
from surveys.dashboard.pictures import Axis, narrowed, percent

COMMON = Estimate(0.25, 0.20, 0.31, Variance(sampling=1.0, device=2.0, publication=1.0))


@pytest.mark.parametrize(
    ("share", "text"), [(0.2481, "24.8"), (-0.017, "−1.7"), (-0.0004, "0.0"), (0.0, "0.0"), (1.0892, "108.9")]
)
def test_shares_are_read_as_percent(share: float, text: str) -> None:
    assert percent(share) == text


def test_variances_add_and_widths_do_not() -> None:
    assert narrowed(COMMON.variance) == {"s": 0.5, "d": math.sqrt(3) / 2, "p": 1.0}


def test_the_outermost_bar_is_the_interval_itself() -> None:
    axis = Axis.covering([COMMON])
    outer = axis.bars(COMMON)[0]
    assert (outer.noise, outer.x) == ("p", axis.at(0.20))
    assert float(outer.width[:-1]) == pytest.approx(100 * 0.11 / (axis.high - axis.low), abs=0.01)


def test_inner_bars_keep_the_intervals_lean() -> None:
    """Sampling alone halves both sides: 0.05 below becomes 0.025, 0.06 above becomes 0.03."""
    axis = Axis.covering([COMMON])
    inner = axis.bars(COMMON)[-1]
    assert (inner.noise, inner.x) == ("s", axis.at(0.225))
    assert float(inner.width[:-1]) == pytest.approx(100 * 0.055 / (axis.high - axis.low), abs=0.01)


def test_a_noise_that_adds_nothing_has_no_bar() -> None:
    none_sampled = Estimate(-0.01, -0.06, 0.04, Variance(sampling=0.0, device=1.0, publication=0.0))
    assert [bar.noise for bar in Axis.covering([none_sampled]).bars(none_sampled)] == ["d"]


def test_an_axis_within_0_to_100_has_nothing_to_shade() -> None:
    axis = Axis.covering([COMMON])
    assert (axis.low, axis.below, axis.above) == (0.0, "", "")
    assert [tick.label for tick in axis.ticks] == ["0%", "5%", "10%", "15%", "20%", "25%", "30%", "35%"]


@pytest.mark.parametrize(("low", "high"), [(-0.01, 0.05), (-0.3, 1.3), (0.9, 1.02), (-2.5, 2.2), (-0.4, 0.001)])
def test_what_no_share_can_be_is_shaded_and_labels_have_room(low: float, high: float) -> None:
    axis = Axis.covering([Estimate((low + high) / 2, low, high, Variance(1, 1, 1))])
    assert axis.low <= low
    assert axis.high >= high
    assert bool(axis.below) == (low < 0)
    assert bool(axis.above) == (high > 1)
    places = [float(tick.x[:-1]) for tick in axis.ticks if tick.label]
    assert all(after - before >= 14 for before, after in pairwise(places))
