"""Values stand where their scale says, and lines at round numbers."""

from fractions import Fraction
from itertools import islice

import pytest

from surveys.charts.scales import (
    Scale,
    chance_text,
    chance_text_below,
    number_text,
    percent,
    places_of,
    points,
    round_steps,
)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.2481, "24.8"), (-0.017, "−1.7"), (-0.0004, "0.0"), (0.0, "0.0"), (1.0892, "108.9")],
)
def test_shares_are_read_as_percent(share: float, text: str) -> None:
    assert percent(share) == text


def test_numbers_have_their_thousands_apart() -> None:
    assert number_text(-1234.5, 1) == "−1,234.5"


@pytest.mark.parametrize(
    ("chance", "expected"),
    [
        ("0", "0"),
        ("0.000001", "10⁻⁶"),
        ("0.0000005", "5·10⁻⁷"),
        ("0.00000051001", "5.2·10⁻⁷"),
        ("0.25", "0.25"),
        ("0.0000000991", "10⁻⁷"),
        ("0.003615", "3.7·10⁻³"),
    ],
)
def test_a_chance_is_shown_rounded_up(chance: str, expected: str) -> None:
    assert chance_text(Fraction(chance)) == expected


def test_an_amount_that_may_not_be_passed_is_shown_rounded_down() -> None:
    assert chance_text_below(Fraction(1, 361_500)) == "2.7·10⁻⁶"  # 2.766
    assert chance_text_below(Fraction(1, 100)) == "0.01"
    assert chance_text_below(Fraction(1, 10**6)) == "10⁻⁶"


def test_round_steps_go_on_from_the_first_that_is_enough() -> None:
    assert list(islice(round_steps(0.03), 4)) == pytest.approx([0.05, 0.1, 0.2, 0.5])
    assert next(round_steps(0.1 + 0.2 - 0.1)) == pytest.approx(0.2)  # not 0.5, for a rounding error
    assert next(round_steps(2.1, among=(1, 2, 2.5, 5))) == 2.5


@pytest.mark.parametrize(
    ("step", "places"), [(100.0, 0), (2.0, 0), (0.5, 1), (0.25, 2), (0.005, 3)]
)
def test_labels_have_the_decimals_that_their_step_needs(step: float, places: int) -> None:
    assert places_of(step) == places


def test_a_value_stands_as_far_along_as_it_is() -> None:
    scale = Scale(-10.0, 30.0)
    assert (scale.at(0), scale.from_top(0), scale.width(0, 20)) == ("25.00%", "75.00%", "50.00%")
    assert scale.zero == "25.00%"
    assert Scale(1.0, 2.0).zero == ""


@pytest.mark.parametrize(("low", "high"), [(0.0, 7.0), (-3.2, 4.9), (0.12, 0.13), (-4e6, -1.0)])
def test_a_scale_around_values_ends_at_lines_and_has_few(low: float, high: float) -> None:
    scale = Scale.around(low, high, 6)
    ticks = scale.ticks
    assert scale.low <= low
    assert scale.high >= high
    assert len(ticks) <= 7
    assert (ticks[0].x, ticks[-1].x) == ("0.00%", "100.00%")
    assert (ticks[0].anchor, ticks[-1].anchor) == ("start", "end")
    assert {tick.anchor for tick in ticks[1:-1]} <= {"middle"}


def test_lines_stand_at_multiples_of_the_step_where_a_scale_ends_between_them() -> None:
    ticks = Scale(-0.3, 2.2, 1.0).ticks
    assert [(tick.label, tick.x, tick.is_zero) for tick in ticks] == [
        ("0", "12.00%", True),
        ("1", "52.00%", False),
        ("2", "92.00%", False),
    ]
    assert ticks[0].y == "88.00%"


def test_what_no_true_value_can_be_is_told_apart_from_what_it_can() -> None:
    scale = Scale(-20.0, 120.0, 20.0, least=0.0, most=100.0)
    assert (scale.below, scale.above, scale.above_starts) == ("14.29%", "14.29%", "85.71%")
    assert not scale.names_below  # it has lines
    assert Scale(0.0, 1.0).below == Scale(0.0, 1.0).above == ""


def test_points_are_written_without_a_comma_of_any_language() -> None:
    assert points([(0.5, 1.25), (1, 2)], 2) == "0.50,1.25 1.00,2.00"
