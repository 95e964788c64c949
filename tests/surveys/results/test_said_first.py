"""What a page says first of a number: its interval where that is wide, or else its value."""

import math

import pytest

from dpengine.estimates import Estimate, Variance
from surveys.results.tables import NumberRow

SHARE = (0.0, 1.0)
POINTS = (1.0, 5.0)
ANY = (0.0, math.inf)


def row(value, low, high, ends):
    estimate = Estimate(value, low, high, Variance(1.0, 1.0, 0.0))
    return NumberRow.of("Yes", estimate, "{:.2f}".format, ends=ends)


@pytest.mark.parametrize(
    ("value", "low", "high", "ends", "is_wide"),
    [
        (0.20, 0.17, 0.24, SHARE, False),
        (0.05, 0.01, 0.09, SHARE, True),  # .08 wide, .05 from 0
        (0.95, 0.91, 0.99, SHARE, True),  # .08 wide, .05 from 1
        (0.50, 0.25, 0.75, SHARE, False),  # as wide as it is far
        (3.00, 2.00, 4.00, POINTS, False),
        (4.50, 4.00, 5.00, POINTS, True),  # 1 wide, .5 from the last point
        (-0.10, -0.30, 0.10, ANY, True),  # as a correlation
        (90.0, 80.0, 99.0, ANY, False),
    ],
)
def test_an_interval_wider_than_its_value_is_from_an_end_is_said_first(
    value, low, high, ends, is_wide
):
    shown = row(value, low, high, ends)
    interval, single = f"{low:.2f} to {high:.2f}", f"{value:.2f}"
    first, then = (interval, single) if is_wide else (single, interval)
    assert f"<b>{first}</b>" in shown.first
    assert shown.then.endswith(f": {then}.")
    assert f'value="{value}"' in shown.first  # for machines it is the same either way


def test_a_number_without_an_interval_is_said_as_it_is():
    alone = NumberRow.of("Most", Estimate(0.0, math.nan, math.nan, Variance(1.0, 0, 0)), str)
    assert "<b>0.0</b>" in alone.first
