"""Raking and what it is worth: by hand, against stratified sampling, and in simulated surveys."""

import numpy as np
import pytest

from dpengine.inference.shares import binary_share, category_shares
from dpengine.inference.weights import Margin, left_variances, raked

YES = np.repeat([1.0, 0.0, 1.0, 0.0], [10, 30, 30, 30])
STRATUM = np.repeat([0, 1], [40, 60])
HALVES = np.array([0.5, 0.5])


def half(places=STRATUM):
    return Margin.of("stratum", np.asarray(places), HALVES)


def test_the_case_by_hand():
    weights = raked(np.ones(100), [half()])
    assert weights[0] == pytest.approx(0.5 / 0.4)
    assert weights.sum() == pytest.approx(100)
    variance = left_variances([YES.copy()], weights / 100, [half()])[0]
    assert variance == pytest.approx(0.25 * (0.25 * 0.75 / 39 + 0.25 / 59))
    share = binary_share(YES, 0, 1, weights, margins=[half()])
    assert share.moment == pytest.approx(0.375)
    assert share.standard_error == pytest.approx(variance**0.5)


def test_the_devices_chance_is_in_the_variance():
    """Warner with p = 3/4: V is λ(1 − λ)/c1² over n − 1, stratum by stratum."""
    weights = raked(np.ones(100), [half()])
    share = binary_share(YES, 0.25, 0.5, weights, margins=[half()])
    expected = (0.25 * (0.25 * 0.75 / 39 + 0.25 / 59)) ** 0.5 / 0.5
    assert share.moment == pytest.approx((0.375 - 0.25) / 0.5)
    assert share.standard_error == pytest.approx(expected)
    coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    both = category_shares(YES, [coin], weights=weights, margins=[half()])
    assert both.moments[1] == pytest.approx(share.moment)
    assert both.standard_errors == pytest.approx([expected, expected])


def test_what_the_margins_explain_is_no_doubt():
    yes = np.repeat([1.0, 0.0, 1.0, 0.0], [39, 1, 1, 59])
    margin = Margin.of("stratum", STRATUM, np.array([0.41, 0.59]))
    weights = raked(np.ones(100), [margin])
    known, unknown = (binary_share(yes, 0, 1, weights, margins=each) for each in ([margin], []))
    assert known.moment == unknown.moment
    assert known.standard_error < 0.4 * unknown.standard_error


def test_raking_meets_every_margin_and_keeps_what_was_within():
    rng = np.random.default_rng(1)
    before = rng.random(500) + 0.5
    sex = Margin.of("sex", (rng.random(500) < 0.7).astype(int), HALVES)
    age = Margin.of("age", rng.integers(0, 3, 500), np.array([0.2, 0.3, 0.5]))
    weights = raked(before, [sex, age])
    for margin in (sex, age):
        held = np.bincount(margin.places, weights) / weights.sum()
        assert held == pytest.approx(margin.shares)
    same = (sex.places == 0) & (age.places == 1)
    assert np.ptp(weights[same] / before[same]) == pytest.approx(0, abs=1e-9)


def test_one_alone_and_ones_alike_leave_doubt():
    alone = half([0, 1, 1, 1])
    weights = raked(np.ones(4), [alone]) / 4
    variance = left_variances([np.array([1.0, 0.0, 1.0, 0.0])], weights, [alone])[0]
    assert variance > 0.25 * 0.25  # the one's half of the population, at the largest variance
    yes = np.repeat([0.0, 1.0, 0.0], [40, 30, 30])
    weights = raked(np.ones(100), [half()]) / 100
    variance = left_variances([yes.copy()], weights, [half()])[0]
    share = 2 / 44  # of forty and four more two are yes
    assert variance == pytest.approx(0.25 * (share * (1 - share) / 44 + 0.25 / 59))


def test_margins_that_contradict_one_another_are_named():
    one = Margin.of("one", np.array([0, 0, 1, 1]), np.array([0.9, 0.1]))
    other = Margin.of("other", np.array([0, 0, 1, 1]), np.array([0.2, 0.8]))
    with pytest.raises(ValueError, match="did not converge in 1000 rounds: margin one is still"):
        raked(np.ones(4), [one, other])


@pytest.mark.parametrize(
    ("places", "shares", "words"),
    [
        ([0, 1], [0.5, 0.4], r"sex: shares of the population must add up to 1, got 0\.9"),
        ([0, 1], [1.0, 0.0], "sex: every share of the population must be above 0"),
        ([0, 0], [0.5, 0.5], "sex: every category needs a respondent"),
    ],
)
def test_wrong_margins_are_refused_by_name(places, shares, words):
    with pytest.raises(ValueError, match=words):
        Margin.of("sex", np.array(places), np.array(shares))


@pytest.mark.parametrize(("c0", "c1"), [(0.0, 1.0), (0.25, 0.5)])
def test_raked_intervals_hold_and_their_errors_are_the_spread(c0, c1):
    """400 surveys far from the population: the spread is within 15 % of the mean error, the mean
    within four errors, and intervals hold in 361 or more: each fails below once in 1,000.
    """
    rng, found = np.random.default_rng(5), []
    truth = 0.1 + 0.4 * 0.5 + 0.3 * 0.4
    for _ in range(400):
        sex, age = rng.random(400) < 0.7, rng.random(400) < 0.3
        answer = rng.random(400) < 0.1 + 0.4 * sex + 0.3 * age
        yes = (rng.random(400) < c0 + c1 * answer).astype(float)
        margins = [
            Margin.of("sex", sex.astype(int), HALVES),
            Margin.of("age", age.astype(int), np.array([0.6, 0.4])),
        ]
        share = binary_share(yes, c0, c1, raked(np.ones(400), margins), margins=margins)
        found.append((share.moment, share.standard_error, *share.interval))
    estimates, errors, low, high = np.transpose(found)
    assert estimates.mean() == pytest.approx(truth, abs=4 * estimates.std() / 20)
    assert estimates.std() == pytest.approx(errors.mean(), rel=0.15)
    assert np.sum((low <= truth) & (truth <= high)) >= 361
