"""Bars stand where the numbers are."""

import math
from itertools import pairwise

import pytest

from dpengine.estimates import Estimate, Variance
from surveys.charts.intervals import (
    bands,
    bars,
    half_widths,
    narrowed,
    share_scale,
    upright_bars,
    upto,
)
from surveys.charts.scales import Scale

COMMON = Estimate(0.25, 0.20, 0.31, Variance(sampling=1.0, device=2.0, publication=1.0))


def test_variances_add_and_widths_do_not() -> None:
    assert narrowed(COMMON.variance) == {"s": 0.5, "d": math.sqrt(3) / 2, "p": 1.0}


def test_the_outermost_bar_is_the_interval_itself() -> None:
    scale = share_scale([COMMON])
    outer = bars(scale, COMMON)[0]
    assert (outer.noise, outer.x) == ("p", scale.at(0.20))
    assert float(outer.width[:-1]) == pytest.approx(100 * 0.11 / (scale.high - scale.low), abs=0.01)


def test_inner_bars_keep_the_intervals_lean() -> None:
    """Sampling alone halves both sides: 0.05 below becomes 0.025, 0.06 above becomes 0.03."""
    scale = share_scale([COMMON])
    inner = bars(scale, COMMON)[-1]
    assert (inner.noise, inner.x) == ("s", scale.at(0.225))
    width = 100 * 0.055 / (scale.high - scale.low)
    assert float(inner.width[:-1]) == pytest.approx(width, abs=0.01)


def test_a_noise_that_adds_nothing_has_no_bar() -> None:
    none_sampled = Estimate(-0.01, -0.06, 0.04, Variance(sampling=0.0, device=1.0, publication=0.0))
    assert [bar.noise for bar in bars(share_scale([none_sampled]), none_sampled)] == ["d"]


def test_a_scale_within_0_to_100_has_nothing_to_shade() -> None:
    scale = share_scale([COMMON])
    assert (scale.low, scale.below, scale.above) == (0.0, "", "")
    assert [tick.label for tick in scale.ticks] == [
        "0%",
        "5%",
        "10%",
        "15%",
        "20%",
        "25%",
        "30%",
        "35%",
    ]


@pytest.mark.parametrize(
    ("low", "high"), [(-0.01, 0.05), (-0.3, 1.3), (0.9, 1.02), (-2.5, 2.2), (-0.4, 0.001)]
)
def test_what_no_share_can_be_is_shaded_and_labels_have_room(low: float, high: float) -> None:
    scale = share_scale([Estimate((low + high) / 2, low, high, Variance(1, 1, 1))])
    assert scale.low <= low
    assert scale.high >= high
    assert bool(scale.below) == (low < 0)
    assert bool(scale.above) == (high > 1)
    places = [float(tick.x[:-1]) for tick in scale.ticks if tick.label]
    assert all(after - before >= 14 for before, after in pairwise(places))


def test_bars_lie_within_one_another() -> None:
    for noise, wider in [("s", "d"), ("d", "p")]:
        assert upto(COMMON, wider)[0] < upto(COMMON, noise)[0] < COMMON.value
        assert upto(COMMON, wider)[1] > upto(COMMON, noise)[1] > COMMON.value
    assert upto(COMMON, "p") == pytest.approx((COMMON.low, COMMON.high))


def test_an_interval_of_unknown_parts_is_drawn_whole() -> None:
    unknown = Estimate(0.25, 0.2, 0.31, Variance(0.0, 0.0, 0.0))
    assert upto(unknown, "s") == pytest.approx((0.2, 0.31))


def test_a_bar_is_wide_enough_to_be_seen() -> None:
    hair = Estimate(0.5, 0.4999, 0.5001, Variance(1.0, 0.0, 0.0))
    assert bars(Scale(0.0, 1.0), hair)[0].width == "0.30%"
    assert upright_bars(Scale(0.0, 1.0), hair)[0].height == "0.50%"


def test_the_inmost_bar_is_the_tallest_and_the_widest_where_it_stands() -> None:
    lying = bars(Scale(0.0, 1.0), COMMON)
    assert [(bar.y, bar.height, bar.fill) for bar in lying] == [
        (17, 10, "url(#n-publication)"),
        (14, 16, "url(#n-device)"),
        (11, 22, ""),
    ]
    assert [(bar.x, bar.width) for bar in upright_bars(Scale(0.0, 1.0), COMMON)] == [
        (-4, 8),
        (-6, 12),
        (-8, 16),
    ]


def test_a_band_runs_along_the_upper_ends_and_back_along_the_lower_ones() -> None:
    run = [(0.0, COMMON), (1.0, COMMON)]
    outer = bands(Scale(0.0, 1.0), run, "a")[0]
    assert (outer.id, outer.points) == (
        "a-p",
        "0.0000,0.6900 1.0000,0.6900 1.0000,0.8000 0.0000,0.8000",
    )


def test_a_part_of_a_half_width_that_is_hidden_is_not_called_0() -> None:
    assert half_widths(3.4, Variance(0.0, 1.0, 3.0), 1) == {"s": "", "d": "1.7", "p": "3.4"}
    assert half_widths(0.034, Variance(1.0, 0.0, 3.0), 1)["s"] == "0.017"
