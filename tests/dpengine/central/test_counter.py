import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from dpengine.central.counter import (
    MAX_TOTAL,
    UNIT,
    ContinualCounter,
    RoundedNormal,
    Strategy,
    coefficients,
    factor,
)
from dpengine.central.strategies import _convex

RHO = Fraction(1, 10)
MANY = 4000
BOTH = pytest.mark.parametrize("strategy", Strategy)


def matrix(chosen):
    """F D, as the fractions of whole numbers that it is."""
    steps = np.arange(len(chosen.rows))
    lags = steps[:, None] - steps
    full = np.where(lags >= 0, chosen.coefficients[np.maximum(lags, 0)], 0)
    return full * chosen.columns


def growing(counter, steps, *, per_step=3):
    """Counts that all grow alike: what is published at the last step, and the state then."""
    state = counter.start()
    for step in range(1, steps + 1):
        state, published = counter.step(state, [per_step * step] * counter.counts)
    return state, published


def test_coefficients_are_the_root_of_counting_to_the_nearest_unit():
    exact = [Fraction(math.comb(2 * j, j), 4**j) * UNIT for j in range(300)]
    assert all(
        abs(weight - wanted) <= Fraction(1, 2)
        for weight, wanted in zip(coefficients(300).tolist(), exact, strict=True)
    )
    assert coefficients(3).tolist() == [65536, 32768, 24576]


@BOTH
@pytest.mark.parametrize("horizon", [1, 2, 7, 365])
def test_the_two_factors_multiply_to_counting(horizon, strategy):
    chosen = factor(strategy, horizon)
    told = matrix(chosen)
    for step in {1, (horizon + 1) // 2, horizon}:
        product = chosen.solution(step) @ told[:step]
        assert np.max(np.abs(product - (np.arange(horizon) < step))) < 1e-9


@BOTH
@pytest.mark.parametrize("horizon", [1, 2, 30])
@pytest.mark.parametrize("moves", [1, 2])
def test_whenever_one_person_joins_all_steps_together_lose_no_more_than_was_charged(
    horizon, moves, strategy
):
    """Enumerated over every step of joining, with the very noise that each step draws; change-one
    moves two counts, add-remove one.
    """
    counter = ContinualCounter.for_rho(
        RHO, horizon=horizon, counts=2, moves=moves, strategy=strategy
    )
    told = matrix(factor(strategy, horizon)).tolist()
    scales = [Fraction(counter.noise_drawn(step + 1).scale) for step in range(horizon)]
    lost = [
        moves * sum(Fraction(told[t][i]) ** 2 / (2 * scales[t] ** 2) for t in range(horizon))
        for i in range(horizon)
    ]
    assert counter.cost.rho * (1 - Fraction(1, 10**5)) < max(lost) <= counter.cost.rho


@BOTH
@pytest.mark.parametrize("horizon", [1, 365])
def test_it_never_costs_more_than_was_asked_for(horizon, strategy):
    counter = ContinualCounter.for_rho(RHO, horizon=horizon, counts=1, moves=1, strategy=strategy)
    assert RHO * (1 - Fraction(1, 2**40)) < counter.cost.rho <= RHO


@pytest.mark.parametrize("horizon", [1, 2, 365])
def test_weights_are_the_roots_that_they_say_rounded_down(horizon):
    """Whole numbers by their own definition, so that no machine finds others."""
    chosen = factor(Strategy.WEIGHTED, horizon)
    powers = [(horizon + 24 * t) ** 4 * (horizon + 1 - t) ** 7 for t in range(1, horizon + 1)]
    for row, power in zip(chosen.rows.tolist(), powers, strict=True):
        share = Fraction(power, max(powers)) * chosen.unit**16
        assert row**16 <= share < (row + 1) ** 16
    squares = chosen.rows.astype(float) ** 2 @ matrix(chosen).astype(float) ** 2
    assert squares.min() > squares.max() * (1 - 2 / chosen.columns.min())


def test_variances_by_hand():
    one = ContinualCounter.for_rho(RHO, horizon=1, counts=1, moves=1)
    two = ContinualCounter.for_rho(RHO, horizon=2, counts=1, moves=1, strategy=Strategy.SQUARE_ROOT)
    assert one.noise(1).normal == pytest.approx(5)
    assert [two.noise(step).normal for step in (1, 2)] == pytest.approx([6.25, 7.8125])


@pytest.mark.parametrize(
    ("strategy", "people"), [(Strategy.SQUARE_ROOT, 4.95), (Strategy.WEIGHTED, 4.70)]
)
def test_a_year_of_daily_refreshes_is_off_by_five_people(strategy, people):
    assert ContinualCounter.for_rho(
        RHO, horizon=365, counts=1, moves=1, strategy=strategy
    ).mean_absolute_error == pytest.approx(people, abs=0.005)


@pytest.mark.parametrize("horizon", [2, 7, 52, 120])
def test_no_factorisation_at_all_is_better_by_more_than_a_thousandth(horizon):
    """The optimum of the convex problem, as a dense matrix in floats."""
    counting = np.tril(np.ones((horizon, horizon)))
    dense = _convex(counting.T @ counting)
    longest = np.max(np.sum(dense**2, axis=0))
    least = longest * np.sum((counting @ np.linalg.pinv(dense)) ** 2, axis=1)
    chosen = factor(Strategy.WEIGHTED, horizon)
    reached = chosen.squares * chosen.variances()
    assert np.mean(np.sqrt(reached)) < 1.001 * np.mean(np.sqrt(least))
    assert np.sum(reached) > 0.999 * np.sum(least)


@BOTH
def test_what_is_drawn_follows_the_law_that_intervals_count_on(strategy):
    """Chi-square of 4,000 counters' last step against the tail formula; a false alarm once in a
    million runs.
    """
    counter = ContinualCounter.for_rho(RHO, horizon=6, counts=MANY, moves=1, strategy=strategy)
    _, published = growing(counter, 6)
    off = np.array(published) - 18
    edges = np.arange(-7, 9)
    tails = counter.noise(6).tail(edges)
    expected = np.array([1 - tails[0], *(tails[:-1] - tails[1:]), tails[-1]]) * MANY
    seen = [
        np.sum(off < edges[0]),
        *(np.sum(off == edge) for edge in edges[:-1]),
        np.sum(off >= edges[-1]),
    ]
    statistic = float(np.sum((np.array(seen) - expected) ** 2 / expected))
    assert special.chdtrc(len(seen) - 1, statistic) > 1e-6


@pytest.mark.parametrize("normal", [0.02, 0.3, 1.0, 3.99, 4.0, 50.0])
def test_variance_and_mean_error_are_those_of_the_tail(normal):
    law = RoundedNormal(normal)
    above = np.arange(1, 200)
    assert law.variance == pytest.approx(float(2 * (2 * above - 1) @ law.tail(above)), rel=1e-9)
    assert law.mean_absolute_error == pytest.approx(float(2 * np.sum(law.tail(above))), rel=1e-4)


def test_a_stored_state_goes_on_where_it_stopped():
    counter = ContinualCounter.for_rho(RHO, horizon=5, counts=3, moves=1)
    state, _ = counter.step(counter.start(), [1, 2, 3])
    stored = json.loads(json.dumps(state))
    after, published = counter.step(stored, [2, 2, 10])
    assert stored == state
    assert after["joined"] == [[1, 2, 3], [1, 0, 7]]
    assert after["noisy"][0] == state["noisy"][0]
    left = factor(counter.strategy, 5).solution(2)
    worked_out = left[0] * np.array(after["noisy"][0]) + left[1] * np.array(after["noisy"][1])
    assert published == np.rint(worked_out).astype(int).tolist()


@BOTH
def test_without_noise_it_counts_exactly(strategy):
    """Noise of a ten-thousandth of a person: what was multiplied is taken back."""
    counter = ContinualCounter.for_rho(
        Fraction(10**8), horizon=40, counts=2, moves=1, strategy=strategy
    )
    state = counter.start()
    for total in ([0, 0], [0, 1], [5, 1], [10**6, 1], [10**6, MAX_TOTAL]):
        state, published = counter.step(state, total)
        assert published == total


def test_nobody_at_all_is_counted_too():
    counter = ContinualCounter.for_rho(RHO, horizon=3, counts=2, moves=2)
    state, published = growing(counter, 3, per_step=0)
    assert len(published) == 2
    assert state["joined"] == [[0, 0]] * 3


def test_after_its_horizon_nothing_more_is_published():
    counter = ContinualCounter.for_rho(RHO, horizon=2, counts=1, moves=1)
    state, _ = growing(counter, 2)
    with pytest.raises(ValueError, match="step must be 1 to the horizon of 2, got 3"):
        counter.step(state, [9])


@pytest.mark.parametrize("totals", [[4], [4, 5, 6]])
def test_totals_of_other_counts_are_refused(totals):
    counter = ContinualCounter.for_rho(RHO, horizon=2, counts=2, moves=1)
    with pytest.raises(ValueError, match=f"totals must be 2 counts, got {len(totals)}"):
        counter.step(counter.start(), totals)


@pytest.mark.parametrize("totals", [[7, 3], [-1, 8], [8, MAX_TOTAL + 1]])
def test_totals_that_fall_or_are_none_are_refused_without_repeating_them(totals):
    counter = ContinualCounter.for_rho(RHO, horizon=2, counts=2, moves=1)
    state, _ = counter.step(counter.start(), [8, 3])
    with pytest.raises(ValueError, match="that never fall") as error:
        counter.step(state, totals)
    assert not {"-1", "7", "8"} & set(str(error.value).split())


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"horizon": 0}, "horizon must be 1 to"),
        ({"horizon": 10_001}, "horizon must be 1 to"),
        ({"horizon": 5, "counts": 2, "moves": 3}, "moves must be 1 to"),
        ({"horizon": 5, "moves": 0}, "moves must be 1 to"),
        ({"horizon": 5, "counts": 2, "moves": 9, "signed": True}, "moves must be 1 to 8"),
    ],
)
def test_a_counter_that_cannot_be_is_refused(shape, message):
    with pytest.raises(ValueError, match=message):
        ContinualCounter.for_rho(RHO, **{"counts": 1, "moves": 1, **shape})


def test_differences_may_fall_and_one_person_weighs_their_square():
    """Somebody whose bit turns moves a difference by 2: 4 in squares, twice what moving two
    counts by 1 each does.
    """
    signed = ContinualCounter.for_rho(RHO, horizon=3, counts=2, moves=4, signed=True)
    plain = ContinualCounter.for_rho(RHO, horizon=3, counts=2, moves=2)
    assert signed.gaussian.sensitivity_squared == 2 * plain.gaussian.sensitivity_squared
    state, _ = signed.step(signed.start(), [5, -3])
    state, _ = signed.step(state, [2, -9])
    assert state["joined"] == [[5, -3], [-3, -6]]
    with pytest.raises(ValueError, match="never fall"):
        plain.step({"joined": [[5, 3]], "noisy": [[5, 3]]}, [4, 3])
