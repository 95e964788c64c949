"""Weighting, post-stratification and raking: by hand, against one another, and in simulated surveys."""

import numpy as np
import pytest

from dpengine.inference.weights import decoded_reports, decoded_yes, design_effect, poststratify, rake, weighted

YES = np.repeat([1, 0, 1, 0], [10, 30, 30, 30])
STRATA = np.repeat(["a", "b"], [40, 60])
HALVES = {"a": 0.5, "b": 0.5}


def test_the_case_by_hand():
    result = poststratify(decoded_yes(YES, 0, 1), STRATA, HALVES)
    assert result.estimates == (pytest.approx(0.375),)
    assert result.standard_errors == (pytest.approx((0.25 * (0.25 * 0.75 / 39 + 0.5 * 0.5 / 59)) ** 0.5),)
    assert result.weights[0] == pytest.approx(0.5 / 0.4)
    assert result.weights.sum() == pytest.approx(100)
    assert result.design_effect == pytest.approx((0.25 / 0.4 + 0.25 / 0.6) * 1)  # Σ W²/share
    assert result.effective_n == pytest.approx(100 / result.design_effect)
    assert result.warnings == ()


def test_the_channels_chance_is_in_the_variance():
    """Warner with p = 3/4: a report decodes to −½ or 3/2, so V_h is λ(1 − λ)/c1² over n − 1."""
    result = poststratify(decoded_yes(YES, 0.25, 0.5), STRATA, HALVES)
    assert result.estimates == (pytest.approx((0.375 - 0.25) / 0.5),)
    assert result.standard_errors == (pytest.approx((0.25 * (0.25 * 0.75 / 39 + 0.25 / 59)) ** 0.5 / 0.5),)


def test_constants_may_differ_from_row_to_row():
    c0, c1 = np.where(STRATA == "a", 0.25, 0.0), np.where(STRATA == "a", 0.5, 1.0)
    result = poststratify(decoded_yes(YES, c0, c1), STRATA, HALVES)
    assert result.estimates == (pytest.approx(0.5 * 0.0 + 0.5 * 0.5),)


def test_categories_are_decoded_by_the_inverse_of_their_channel():
    channel = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    reports = np.repeat([0, 1, 2, 0, 1, 2], [20, 10, 10, 10, 20, 30])
    result = poststratify(decoded_reports(reports, np.linalg.inv(channel)), STRATA, HALVES)
    expected = [((0.5 * a / 40 + 0.5 * b / 60) - 0.2) / 0.4 for a, b in ((20, 10), (10, 20), (10, 30))]
    assert result.estimates == pytest.approx(tuple(expected))
    assert sum(result.estimates) == pytest.approx(1)


def test_raking_to_one_margin_is_poststratification():
    decoded = decoded_yes(YES, 0.25, 0.5)
    raked, stratified = rake(decoded, {"sex": (STRATA, HALVES)}), poststratify(decoded, STRATA, HALVES)
    assert raked.estimates == pytest.approx(stratified.estimates)
    assert raked.weights == pytest.approx(stratified.weights)
    assert raked.standard_errors == pytest.approx(stratified.standard_errors, rel=0.002)  # n/(n − p) for n_h/(n_h − 1)


def test_raking_meets_every_margin():
    rng = np.random.default_rng(1)
    sex, age = rng.choice(["f", "m"], 500, p=[0.7, 0.3]), rng.choice([20, 40, 60], 500)
    margins = {"sex": (sex, {"f": 0.5, "m": 0.5}), "age": (age, {20: 0.2, 40: 0.3, 60: 0.5})}
    result = rake(decoded_yes(rng.integers(0, 2, 500), 0, 1), margins)
    for labels, shares in margins.values():
        for label, share in shares.items():
            assert result.weights[labels == label].sum() / 500 == pytest.approx(share)


def test_what_the_margins_explain_is_not_doubt():
    """Everyone in a stratum answers alike but one: nearly all of the plain variance lies between the strata."""
    yes = np.repeat([1, 0, 1, 0], [39, 1, 1, 59])
    decoded = decoded_yes(yes, 0, 1)
    raked = rake(decoded, {"sex": (STRATA, {"a": 0.4, "b": 0.6})})
    assert raked.standard_errors[0] < 0.4 * weighted(decoded).standard_errors[0]
    assert raked.estimates[0] == pytest.approx(weighted(decoded).estimates[0])


def test_weights_before_are_kept_within_a_stratum():
    before = np.where(np.arange(100) % 2, 1.0, 3.0)
    result = poststratify(decoded_yes(YES, 0, 1), STRATA, HALVES, before)
    means = [np.average(YES[label == STRATA], weights=before[label == STRATA]) for label in "ab"]
    assert result.estimates == (pytest.approx(np.mean(means)),)
    assert result.weights[0] / result.weights[1] == pytest.approx(3)


def test_weighted_shares_of_equal_weights_are_plain():
    result = weighted(decoded_yes(YES, 0, 1), 7 * np.ones(100))
    assert result.estimates == (pytest.approx(0.4),)
    assert result.standard_errors == (pytest.approx((0.24 / 99) ** 0.5),)
    assert (result.design_effect, result.effective_n) == (pytest.approx(1), pytest.approx(100))


def test_kishs_design_effect_by_hand():
    assert design_effect([1, 1, 2]) == pytest.approx(3 * 6 / 16)


def test_a_stratum_that_answers_alike_leaves_doubt():
    yes = np.repeat([0, 1, 0], [40, 30, 30])
    result = poststratify(decoded_yes(yes, 0, 1), STRATA, HALVES)
    share = 0.5 / 41  # one more, half yes
    assert result.standard_errors[0] ** 2 == pytest.approx(0.25 * (share * (1 - share) / 41 + 0.25 / 59))
    assert any("all decoded reports in a are alike" in note for note in result.warnings)


def test_a_stratum_of_one_leaves_doubt():
    result = poststratify(decoded_yes([1, 0, 1, 0], 0, 1), ["a", "b", "b", "b"], HALVES)
    assert result.standard_errors[0] > 0.25 * 0.3
    assert len(result.warnings) == 1


def test_a_sample_that_answers_alike_leaves_doubt_when_raked():
    result = rake(decoded_yes(np.zeros(100), 0.25, 0.5), {"sex": (STRATA, HALVES)})
    assert result.estimates == (pytest.approx(-0.5),)
    assert result.standard_errors[0] > 0
    assert result.intervals[0] == (0, 0)
    assert "estimate 0 is -0.5000, outside 0 to 1" in result.warnings


def test_the_interval_of_plain_answers_is_clopper_and_pearsons():
    """10 of 100, Clopper and Pearson: 4.90 to 17.62 %; the variance's n − 1 widens it by half a per cent."""
    low, high = weighted(decoded_yes(np.repeat([1, 0], [10, 90]), 0, 1)).intervals[0]
    assert (low, high) == (pytest.approx(0.0490, abs=5e-4), pytest.approx(0.1762, abs=5e-4))


def test_poststratified_and_raked_intervals_hold_and_their_errors_are_the_spread():
    """400 surveys, a coin's odds, sample shares far from the population's; seed 5.

    Spread within 15 % of the mean error, mean within 4 of its errors, intervals hold in 365 of 400 at least (false
    alarm below 1 in 1,000 each).
    """
    rng, found = np.random.default_rng(5), []
    for _ in range(400):
        sex, age = rng.random(400) < 0.7, rng.random(400) < 0.3
        answer = rng.random(400) < 0.1 + 0.4 * sex + 0.3 * age
        yes = np.where(rng.random(400) < 0.75, answer, ~answer)
        margins = {"sex": (sex, {False: 0.5, True: 0.5}), "age": (age, {False: 0.6, True: 0.4})}
        decoded = decoded_yes(yes, 0.25, 0.5)
        for result in (poststratify(decoded, *margins["sex"]), rake(decoded, margins)):
            found.append((result.estimates[0], result.standard_errors[0], *result.intervals[0]))
    for place, truth in ((0, 0.1 + 0.4 * 0.5 + 0.3 * 0.3), (1, 0.1 + 0.4 * 0.5 + 0.3 * 0.4)):
        estimates, errors, low, high = np.transpose(found[place::2])
        assert estimates.mean() == pytest.approx(truth, abs=4 * estimates.std() / 20)
        assert estimates.std() == pytest.approx(errors.mean(), rel=0.15)
        assert np.sum((low <= truth) & (truth <= high)) >= 365


@pytest.mark.parametrize(
    ("strata", "shares", "words"),
    [
        (STRATA, {"a": 0.5, "b": 0.4}, r"strata: population shares must add up to 1, got 0\.9"),
        (STRATA, {"a": 1.0}, "strata: 'b' has no population share"),
        (STRATA, {"a": 0.5, "b": 0.4, "c": 0.1}, "strata: 'c' has no respondents; join it with another"),
        (STRATA, {"a": 0.0, "b": 1.0}, "strata: the population share of 'a' must be above 0, got 0"),
        (STRATA, {"a": float("nan"), "b": 0.5}, "strata: the population share of 'a' must be above 0, got nan"),
        (STRATA[:9], HALVES, "strata must be one for each of 100 rows"),
    ],
)
def test_strata_must_be_the_populations(strata, shares, words):
    with pytest.raises(ValueError, match=words):
        poststratify(decoded_yes(YES, 0, 1), strata, shares)
    with pytest.raises(ValueError, match=words.replace("strata", "margin sex", 1)):
        rake(decoded_yes(YES, 0, 1), {"sex": (strata, shares)})


def test_margins_that_contradict_one_another_are_named():
    """All of a are young: a cannot be half of the people and the young a tenth."""
    age = np.where(STRATA == "a", "young", "old")
    with pytest.raises(ValueError, match=r"raking did not converge in 1000 rounds: margin sex is still 0\.4 off"):
        rake(decoded_yes(YES, 0, 1), {"sex": (STRATA, HALVES), "age": (age, {"young": 0.1, "old": 0.9})})


def test_raking_needs_a_margin_and_more_people_than_categories():
    with pytest.raises(ValueError, match="margins must name at least one column"):
        rake(decoded_yes(YES, 0, 1), {})
    with pytest.raises(ValueError, match="raking to 2 free categories needs more respondents than that, got 2"):
        rake(decoded_yes([0, 1], 0, 1), {"sex": (["a", "b"], HALVES)})


@pytest.mark.parametrize("weights", [np.zeros(100), -np.ones(100), np.full(100, np.nan)])
def test_weights_are_above_0(weights):
    with pytest.raises(ValueError, match=r"weights must be above 0, got|weights must be finite"):
        poststratify(decoded_yes(YES, 0, 1), STRATA, HALVES, weights)


def test_what_cannot_be_decoded_is_refused():
    with pytest.raises(ValueError, match="c1 must not be 0"):
        decoded_yes([0, 1], 0.5, 0)
    with pytest.raises(ValueError, match="c0 must be one number or one for each of 2 rows"):
        decoded_yes([0, 1], [0.1, 0.2, 0.3], 1)
    with pytest.raises(ValueError, match="c1 must be finite"):
        decoded_yes([0, 1], 0, [1, np.nan])
    with pytest.raises(ValueError, match="decoder must be a finite table"):
        decoded_reports([0, 1], [1, 0])
    with pytest.raises(ValueError, match="reports must be whole numbers from 0 to 1"):
        decoded_reports([0, 2], np.eye(2))
    with pytest.raises(ValueError, match="confidence must be between 0 and 1, got 2"):
        weighted(decoded_yes([0, 1], 0, 1), confidence=2)
