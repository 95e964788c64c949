import math

import numpy as np
import pytest

from dpengine.inference import predictor
from dpengine.inference.predictor import linear_predictor
from tests.dpengine.inference.people import (
    FORCED,
    chosen,
    columns,
    errors,
    estimates,
    kary,
    randomised,
)

NAMES = ["Intercept", "x"]
SHARES = [[-0.5, 0.7], [-0.8, -0.4]]
SLOPES, EFFECTS = np.array([2.0, 0.5]), np.array([0.0, 1.0, -1.0])
WARNER = np.array([[0.75, 0.25], [0.25, 0.75]])


def people(seed, n=1500):
    """Return answers that depend on x, an outcome's mean that depends on both, the design, and
    chance.
    """
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n), rng.normal(size=n)])
    answers = chosen(design, SHARES, rng)
    return answers, design @ SLOPES + EFFECTS[answers], design, rng


def gammas(law, n=1000, samples=150):
    """Return γ = .8 of .3 of the people through Warner's ¾ as found, its errors, and what maximum
    likelihood says, sample by sample.
    """
    found, said, likeliest = [], [], []
    for seed in range(samples):
        rng = np.random.default_rng(7000 + seed)
        x, yes = rng.normal(size=n), rng.random(n) < 0.3
        y = 1 + 0.5 * x + 0.8 * yes + law(rng, x)
        reports = randomised(yes.astype(int), WARNER, rng)
        one = linear_predictor(y, reports, np.column_stack([np.ones(n), x]), NAMES, [WARNER])
        found.append(one["answer=1"].estimate)
        said.append(one["answer=1"].standard_error)
        likeliest.append(one.likeliest[2].estimate)
    return np.array(found), np.array(said), np.array(likeliest)


@pytest.mark.parametrize(
    "law",
    [
        lambda rng, x: rng.normal(size=len(x)),
        lambda rng, x: rng.exponential(size=len(x)) - 1,
        lambda rng, x: rng.normal(size=len(x)) * np.exp(0.6 * x),
    ],
    ids=["normal", "skewed", "spread that grows"],
)
def test_intervals_hold_whatever_the_law_of_the_errors(law):
    """150 samples: fewer than 129 hits of 95 % is rarer than once in 100,000 runs."""
    found, said, _ = gammas(law)
    assert (np.abs(found - 0.8) < 1.96 * said).sum() >= 129
    assert abs(found.mean() - 0.8) < 4.5 * found.std() / math.sqrt(150)
    # 4.5 standard errors of a spread from 150
    assert found.std() == pytest.approx(np.median(said), rel=0.27)


def test_maximum_likelihood_beside_it_is_narrower_for_normal_errors_and_wrong_for_skewed_ones():
    found, _, likeliest = gammas(lambda rng, x: rng.normal(size=len(x)), samples=60)
    assert abs(likeliest.mean() - 0.8) < 4.5 * likeliest.std() / math.sqrt(60)
    assert likeliest.std() < found.std()
    skewed = gammas(lambda rng, x: rng.exponential(size=len(x)) - 1, samples=10)[2]
    assert skewed.mean() > 1.6


def test_a_shape_taken_for_hidden_answers_is_warned_of():
    rng = np.random.default_rng(11)
    x, yes = rng.normal(size=4000), rng.random(4000) < 0.3
    y = 0.8 * yes + rng.exponential(size=4000)
    reports = randomised(yes.astype(int), WARNER, rng)
    one = linear_predictor(
        y, reports, np.column_stack([np.ones(4000), x]), NAMES, [WARNER], label="drug"
    )
    assert any(note.startswith("drug=1: under normal errors it would be") for note in one.warnings)


def test_the_case_by_hand():
    found = linear_predictor([4, 6, 2, 0], [1, 1, 0, 0], np.ones((4, 1)), ["Intercept"], [WARNER])
    assert any("do not show that answers differ" in note for note in found.warnings)
    assert estimates(found) == pytest.approx([-1, 8])
    assert np.isinf(errors(found)).all()


def test_direct_answers_give_ordinary_least_squares_and_whites_errors():
    answers, mean, design, rng = people(60, 400)
    y = 100 * (mean + rng.normal(size=400) * np.exp(design[:, 1]))
    found = linear_predictor(y, answers, design, NAMES, [np.eye(3)], label="drug", first=1)
    both = np.column_stack([design, np.eye(3)[answers][:, 1:]])
    slopes = np.linalg.lstsq(both, y)[0]
    left, inverse = y - both @ slopes, np.linalg.inv(both.T @ both)
    white = inverse @ (both.T * left**2) @ both @ inverse * 400 / 396
    assert [each.name for each in found.coefficients] == ["Intercept", "x", "drug=2", "drug=3"]
    assert estimates(found) == pytest.approx(slopes, abs=1e-8)
    assert found.covariance == pytest.approx(white, rel=1e-6)
    assert [each.estimate for each in found.likeliest] == pytest.approx(slopes, abs=1e-5)


def test_three_choices_are_right_on_average_and_as_far_off_as_they_say():
    channel, found, said = kary(3, 2.5), [], []
    for seed in range(40):
        answers, mean, design, rng = people(6200 + seed)
        one = linear_predictor(
            mean + rng.normal(size=1500),
            randomised(answers, channel, rng),
            design,
            NAMES,
            [channel],
        )
        found.append(estimates(one))
        said.append(errors(one))
    spread = np.std(found, axis=0, ddof=1)
    assert (np.abs(np.mean(found, axis=0) - [2, 0.5, 1, -1]) < 4.5 * spread / math.sqrt(40)).all()
    # 4.5 standard errors of a spread from 40
    assert spread == pytest.approx(np.mean(said, axis=0), rel=0.5)


def test_arms_of_more_reports_than_answers():
    """One arm direct, one through a channel with a third report that tells nothing."""
    rng = np.random.default_rng(66)
    n = 20_000
    yes, arm = (rng.random(n) < 0.4).astype(int), np.arange(n) % 2
    channel = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2]])
    reports = np.where(arm == 0, yes, randomised(yes, channel, rng))
    y = 3 * yes + rng.normal(size=n)
    found = linear_predictor(
        y, reports, np.ones((n, 1)), ["Intercept"], [np.eye(2), channel], arm=arm
    )
    assert np.abs(estimates(found) - [0, 3]).max() < 4.5 * errors(found).max() < 0.3


def test_survey_weights_count_people():
    answers, mean, design, rng = people(67, 500)
    y = mean + rng.normal(size=500)
    reports, weights = randomised(answers, kary(3, 3.0), rng), rng.integers(0, 4, 500)
    found = linear_predictor(y, reports, design, NAMES, [kary(3, 3.0)], weights=weights)
    again = np.repeat(np.arange(500), weights)
    same = linear_predictor(y[again], reports[again], design[again], NAMES, [kary(3, 3.0)])
    assert estimates(found) == pytest.approx(estimates(same), abs=1e-8)
    assert (errors(found) > errors(same)).all()  # whose rows are taken for people of their own
    assert "rows of weight 0 are left out" in found.warnings[0]


def test_the_outcomes_unit_does_not_matter():
    answers, mean, design, rng = people(65, 600)
    y, reports = mean + rng.normal(size=600), randomised(answers, kary(3, 2.0), rng)
    one, thousand = (
        linear_predictor(unit * y, reports, design, NAMES, [kary(3, 2.0)]) for unit in (1, 1000)
    )
    assert estimates(thousand) == pytest.approx(1000 * estimates(one), rel=1e-6)
    assert errors(thousand) == pytest.approx(1000 * errors(one), rel=1e-6)
    assert [each.estimate for each in thousand.likeliest] == pytest.approx(
        [1000 * each.estimate for each in one.likeliest], rel=1e-4
    )


def test_real_answers_randomised_forty_times_centre_on_the_ordinary_regression():
    impulsive, gender, used = columns(
        "uci_drug_consumption_dq.csv", "impulsive", "gender", "cannabis"
    )
    answers = (used >= 4).astype(int)
    design = np.column_stack([np.ones(len(used)), gender > 0])
    direct = np.linalg.lstsq(np.column_stack([design, answers]), impulsive)[0]
    rng = np.random.default_rng(68)
    again = [
        estimates(
            linear_predictor(impulsive, randomised(answers, FORCED, rng), design, NAMES, [FORCED])
        )
        for _ in range(40)
    ]
    spread = np.std(again, axis=0, ddof=1)
    assert (np.abs(np.mean(again, axis=0) - direct) < 4.5 * spread / math.sqrt(40)).all()


def test_a_yes_or_no_has_its_differences_of_shares_and_no_normal_errors():
    rng = np.random.default_rng(5)
    yes = (rng.random(4000) < 0.4).astype(int)
    outcome = (rng.random(4000) < 0.2 + 0.3 * yes).astype(int)
    found = linear_predictor(
        outcome, randomised(yes, FORCED, rng), np.ones((4000, 1)), ["Intercept"], [FORCED]
    )
    assert np.abs(estimates(found) - [0.2, 0.3]).max() < 4.5 * errors(found).max() < 0.2
    assert found.likeliest is None
    assert any("too few values" in note for note in found.warnings)


X = np.column_stack([np.ones(12), np.arange(12)])
Y, REPORTS = np.sin(np.arange(12)), np.arange(12) % 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"outcome": np.ones(12)}, "outcome must not be the same in every row"),
        ({"outcome": np.where(Y > 0.9, np.nan, Y)}, "outcome must be finite"),
        ({"outcome": Y[:3]}, "outcome must have as many rows as there are reports, 12, got 3"),
        ({"reports": REPORTS * 0}, "all reports speak for one and the same answer"),
        ({"matrices": [np.eye(2) * 0.9]}, "must have rows that add up to 1"),
        ({"names": ["Intercept"]}, "a column for each of 1 names"),
        (
            {"matrices": [FORCED, np.full((2, 2), 0.5)], "arm": np.arange(12) // 6},
            r"matrices\[1\] does not tell all answers apart",
        ),
    ],
)
def test_what_cannot_be_analysed_is_refused_by_name(given, message):
    sound = {"outcome": Y, "reports": REPORTS, "design": X, "names": NAMES, "matrices": [FORCED]}
    with pytest.raises(ValueError, match=message):
        linear_predictor(**(sound | given))


def test_a_likelihood_that_cannot_be_climbed_leaves_the_corrected_score(monkeypatch):
    answers, y, design, rng = people(5)
    reports = randomised(answers, kary(3, 3.0), rng)

    def lost(*_):
        raise ArithmeticError("no summit")

    plain = linear_predictor(y, reports, design, NAMES, [kary(3, 3.0)])
    monkeypatch.setattr(predictor, "highest", lost)
    found = linear_predictor(y, reports, design, NAMES, [kary(3, 3.0)])
    assert found.likeliest is None
    assert found.warnings == ("no maximum likelihood: no summit",)
    assert found.coefficients == plain.coefficients


def test_reports_that_hardly_tell_answers_apart_given_covariates_are_warned_of(monkeypatch):
    answers, y, design, rng = people(5)
    reports = randomised(answers, kary(3, 3.0), rng)
    monkeypatch.setattr(predictor, "STEADY", math.inf)
    warnings = linear_predictor(y, reports, design, NAMES, [kary(3, 3.0)]).warnings
    assert any("hardly show that answers differ" in each for each in warnings)
