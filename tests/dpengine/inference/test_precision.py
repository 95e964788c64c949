import math
from decimal import Decimal

import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from dpengine.inference import precision
from dpengine.inference.power import Response
from dpengine.local.subset import Subset

DIRECT = Response(0, 1)
FORCED = Response(1 / 6, 2 / 3)


def test_a_half_width_by_hand():
    """λ = .2333 at .10: a normal interval needs 1.95996²·.17889/(.03·2/3)² = 1718.0, Clopper and
    Pearson's 1/(.03·2/3) = 50 more or so, and the same for the worst share, λ = 1/2, with 2401.
    """
    size = precision.size_for_half_width(FORCED, 0.03, 0.10)
    assert size.n == 1765
    assert size.value <= 0.03 < size.value_at_n_minus_1
    assert precision.size_for_half_width(FORCED, 0.03).n == 2449


def test_a_standard_error_by_hand():
    assert precision.size_for_standard_error(DIRECT, 0.05, 0.5).n == 100
    assert precision.size_for_standard_error(DIRECT, 0.0499, 0.5).n == 101
    # nobody asked
    assert precision.size_for_standard_error(DIRECT, 0.6).value_at_n_minus_1 == math.inf


def test_the_worst_share_is_the_one_nearest_to_even_reports():
    lopsided = Response(0.6, 0.3)  # λ from .6 to .9
    assert precision.standard_error(lopsided, 100) == precision.standard_error(lopsided, 100, at=0)
    assert precision.standard_error(Response(0.4, -0.3), 100) == precision.standard_error(
        Response(0.4, -0.3), 100, at=0
    )
    worst = precision.half_width(lopsided, 100)
    assert worst == pytest.approx(precision.half_width(lopsided, 100, at=0), rel=0.01)


@pytest.mark.parametrize("at", [None, 0.0, 0.3])
def test_a_million_people_and_more_are_planned_by_the_count_that_is_expected(at):
    here, there = (precision.half_width(FORCED, n, at) for n in (10**6, 10**6 + 1))
    assert here == pytest.approx(there, rel=2e-6)
    size = precision.size_for_half_width(FORCED, 1e-4, at)
    assert size.value <= 1e-4 < size.value_at_n_minus_1


@pytest.mark.parametrize("at", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("n", [1, 7, 60])
def test_the_half_width_is_the_mean_over_all_counts(at, n):
    def width(count: int) -> float:
        found = stats.binomtest(count, n).proportion_ci(0.9, method="exact")
        return (found.high - found.low) / 2 / FORCED.c1

    law = stats.binom(n, FORCED.reported(at))
    expected = sum(law.pmf(count) * width(count) for count in range(n + 1))
    assert precision.half_width(FORCED, n, at, 0.9) == pytest.approx(expected, abs=1e-9)
    assert precision.half_width(FORCED, n, confidence=0.9) == pytest.approx(
        max(map(width, range(n + 1))), abs=1e-9
    )


@pytest.mark.parametrize("at", [None, 0.0, 0.1, 0.5])
def test_the_exact_n_is_the_smallest_of_all(at):
    size = precision.size_for_half_width(FORCED, 0.12, at)
    widths = [precision.half_width(FORCED, n, at) for n in range(1, 2 * size.n)]
    assert next(n for n, width in enumerate(widths, 1) if width <= 0.12) == size.n
    assert widths == sorted(widths, reverse=True)


def test_a_wide_enough_exact_interval_needs_one_person():
    assert precision.size_for_half_width(DIRECT, 0.6).value_at_n_minus_1 == math.inf


@pytest.mark.parametrize("choices", [2, 3, 5, 20, 100, 1024])
@pytest.mark.parametrize("epsilon", ["0.25", "1", "2", "4"])
def test_the_least_variance_is_that_of_the_channel_that_collects(choices, epsilon):
    margin = Subset.for_epsilon(choices, Decimal(epsilon)).margin
    response = precision.least_variance(float(epsilon), choices)
    assert (response.c0, response.c1) == pytest.approx(
        (float(margin.lie), margin.contrast), abs=1e-8
    )


@settings(max_examples=60)
@given(st.integers(200, 50_000), st.sampled_from([None, 0.0, 0.1]), st.sampled_from([2, 5, 30]))
def test_epsilon_from_accuracy_and_back(n, at, choices):
    wanted = precision.half_width_for(1.2345, n, at, choices)
    epsilon = precision.epsilon_for(wanted, n, at, choices)
    channel = Subset.for_epsilon(choices, epsilon)
    response = Response(float(channel.margin.lie), channel.margin.contrast)
    # the promise, by the channel that collects
    assert precision.half_width(response, n, at) <= wanted
    # and no ε to spare
    assert precision.half_width_for(float(epsilon) - 0.001, n, at, choices) > wanted


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: precision.size_for_half_width(DIRECT, 0, 0.1), "must be above 0, got 0"),
        (lambda: precision.size_for_half_width(DIRECT, math.nan, 0.1), "must be above 0, got nan"),
        (
            lambda: precision.size_for_standard_error(DIRECT, 0.1, 0),
            "reports are certain at this share",
        ),
        (lambda: precision.size_for_half_width(DIRECT, 1e-8), "more than 1000000000000 people"),
        (
            lambda: precision.size_for_half_width(DIRECT, 0.1, 1.5),
            "share must be from 0 to 1, got 1.5",
        ),
        (lambda: precision.half_width(DIRECT, 0), "n must be 1 or more, got 0"),
        (lambda: precision.half_width(DIRECT, 0, 0.1), "n must be 1 or more, got 0"),
        (
            lambda: precision.half_width(DIRECT, 10, confidence=95),
            "confidence must be between 0 and 1, got 95",
        ),
        (
            lambda: precision.half_width(DIRECT, 10, confidence=0),
            "confidence must be between 0 and 1, got 0",
        ),
        (
            lambda: precision.size_for_half_width(DIRECT, -1),
            "half-width must be above 0, got -1",
        ),
        (lambda: precision.least_variance(0), "epsilon must be above 0 and at most 20, got 0"),
        (
            lambda: precision.least_variance(math.nan),
            "epsilon must be above 0 and at most 20, got nan",
        ),
        (lambda: precision.least_variance(1, 1), "choices must be 2 or more, got 1"),
        (
            lambda: precision.epsilon_for(0.01, 100, 0.5),
            "n = 100 gives a half-width of 0.1012 even at epsilon 20",
        ),
        (lambda: precision.epsilon_for(0, 100), "half-width must be above 0, got 0"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


def test_a_size_is_the_smallest_where_rounding_puts_the_formula_beside_it():
    two = precision.standard_error(DIRECT, 2, 0.1)
    assert precision.size_for_standard_error(DIRECT, two, 0.1).n == 2
    thirteen = precision.standard_error(DIRECT, 13, 0.25)
    below = math.nextafter(thirteen, 0)
    assert precision.size_for_standard_error(DIRECT, below, 0.25).n == 14
