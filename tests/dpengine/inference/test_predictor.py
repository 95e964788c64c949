import math

import numpy as np
import pytest
from scipy import special

from dpengine.inference.coefficients import likelihood_ratio
from dpengine.inference.predictor import (
    linear_predictor,
    linear_predictor_from,
    logistic_predictor,
    logistic_predictor_from,
)
from tests.dpengine.inference.people import FORCED, chosen, columns, errors, estimates, kary, ordinary_logit, randomised

NAMES = ["Intercept", "x"]
SHARES = [[-0.5, 0.7], [-0.8, -0.4]]
SLOPES, EFFECTS = np.array([2.0, 0.5]), np.array([0.0, 1.0, -1.0])
TRUTH = [2.0, 0.5, 1.0, -1.0]


def people(seed, n=1500):
    """Return answers that depend on x, an outcome's mean that depends on both, the design, and chance."""
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n), rng.normal(size=n)])
    answers = chosen(design, SHARES, rng)
    return answers, design @ SLOPES + EFFECTS[answers], design, rng


def dummies(answers):
    return np.eye(3)[answers][:, 1:]


def test_direct_answers_give_ordinary_linear_regression():
    answers, mean, design, rng = people(60, 400)
    y = 100 * (mean + rng.normal(size=400))
    found = linear_predictor(y, answers, np.eye(3), design, NAMES, label="drug")
    columns_too = np.column_stack([design, dummies(answers)])
    slopes, left, *_ = np.linalg.lstsq(columns_too, y)
    variance = float(left[0]) / 400  # by maximum likelihood
    assert [each.name for each in found.coefficients] == ["Intercept", "x", "drug=1", "drug=2"]
    assert estimates(found) == pytest.approx(slopes, abs=1e-6)
    assert found.covariance[:4, :4] == pytest.approx(variance * np.linalg.inv(columns_too.T @ columns_too), abs=1e-6)
    assert found["ln sd"].estimate == pytest.approx(math.log(variance) / 2, abs=1e-8)
    assert found["ln sd"].standard_error == pytest.approx(1 / math.sqrt(800), abs=1e-8)
    assert found.warnings == ()


def test_direct_answers_give_ordinary_logistic_regression():
    answers, mean, design, rng = people(61, 600)
    y = rng.random(600) < special.expit(mean - 2)
    found = logistic_predictor(y, answers, np.eye(3), design, NAMES, label="drug")
    beta, inverse = ordinary_logit(y, np.column_stack([design, dummies(answers)]))
    assert estimates(found) == pytest.approx(beta, abs=1e-8)
    assert found.covariance[:4, :4] == pytest.approx(inverse, abs=1e-8)


@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_forty_surveys_are_right_on_average_and_as_far_off_as_they_say(kind):
    channel, found, said = kary(3, 2.5), [], []
    truth = np.array(TRUTH) - [2 * (kind == "logistic"), 0, 0, 0]
    for seed in range(40):
        answers, mean, design, rng = people(6200 + seed)
        reports = randomised(answers, channel, rng)
        if kind == "linear":
            one = linear_predictor(mean + rng.normal(size=1500), reports, channel, design, NAMES)
        else:
            one = logistic_predictor(rng.random(1500) < special.expit(mean - 2), reports, channel, design, NAMES)
        found.append(estimates(one))
        said.append(errors(one))
    spread = np.std(found, axis=0, ddof=1)
    assert (np.abs(np.mean(found, axis=0) - truth) < 4.5 * spread / math.sqrt(40)).all()
    assert spread == pytest.approx(np.mean(said, axis=0), rel=0.5)  # 4.5 standard errors of a spread from 40


def test_reports_as_answers_would_halve_the_effect():
    answers, mean, design, rng = people(63, 4000)
    reports = randomised(answers, kary(3, 1.0), rng)
    y = mean + rng.normal(size=4000)
    naive = np.linalg.lstsq(np.column_stack([design, dummies(reports)]), y)[0]
    found = linear_predictor(y, reports, kary(3, 1.0), design, NAMES)
    assert abs(naive[2]) < 0.6
    assert abs(found["answer=1"].estimate - 1) < 4.5 * found["answer=1"].standard_error < 1


def test_shares_are_estimated_along_the_way_by_covariates_or_for_all():
    answers, mean, design, rng = people(64, 3000)
    y, reports = mean + rng.normal(size=3000), randomised(answers, kary(3, 2.0), rng)
    found = linear_predictor(y, reports, kary(3, 2.0), design, NAMES, label="drug")
    own = ["drug=1: Intercept", "drug=1: x", "drug=2: Intercept", "drug=2: x"]
    assert [each.name for each in found.others] == [*own, "ln sd"]
    off = [
        (found[name].estimate - truth) / found[name].standard_error
        for name, truth in zip(own, np.ravel(SHARES), strict=True)
    ]
    assert np.abs(off).max() < 4.5
    fewer = linear_predictor(y, reports, kary(3, 2.0), design, NAMES, label="drug", by_covariates=False)
    assert [each.name for each in fewer.others] == ["drug=1: Intercept", "drug=2: Intercept", "ln sd"]
    test = likelihood_ratio(found, fewer)
    assert (test.df, test.p < 1e-9) == (2, True)  # the shares do depend on x


def test_the_outcomes_unit_does_not_matter():
    answers, mean, design, rng = people(65, 600)
    y, reports = mean + rng.normal(size=600), randomised(answers, kary(3, 2.0), rng)
    one, thousand = (linear_predictor(unit * y, reports, kary(3, 2.0), design, NAMES) for unit in (1, 1000))
    assert estimates(thousand) == pytest.approx(1000 * estimates(one), rel=1e-6)
    assert errors(thousand) == pytest.approx(1000 * errors(one), rel=1e-6)
    assert thousand["ln sd"].estimate == pytest.approx(one["ln sd"].estimate + math.log(1000))
    assert thousand.log_likelihood == pytest.approx(one.log_likelihood - 600 * math.log(1000))


def test_arms_and_likelihoods_say_the_same():
    answers, mean, design, rng = people(66, 800)
    arm = np.arange(800) % 2
    reports = np.where(arm == 1, answers, randomised(answers, kary(3, 1.0), rng))
    y = mean + rng.normal(size=800)
    channels = [kary(3, 1.0), np.eye(3)]
    by_arm = linear_predictor(y, reports, channels, design, NAMES, arm=arm)
    likelihoods = np.where(arm[:, np.newaxis] == 1, np.eye(3)[reports], kary(3, 1.0)[reports])
    assert estimates(linear_predictor_from(y, likelihoods, design, NAMES)) == pytest.approx(estimates(by_arm))
    yes = (y > 2).astype(int)
    one = logistic_predictor(yes, reports, channels, design, NAMES, arm=arm)
    assert estimates(logistic_predictor_from(yes, likelihoods, design, NAMES)) == pytest.approx(estimates(one))


@pytest.mark.parametrize("kind", [linear_predictor, logistic_predictor])
def test_survey_weights_count_people_and_give_sandwich_errors(kind):
    answers, mean, design, rng = people(67, 500)
    y = mean + rng.normal(size=500)
    outcome = (y > 2).astype(int) if kind is logistic_predictor else y
    reports, weights = randomised(answers, kary(3, 3.0), rng), rng.integers(0, 4, 500)
    found = kind(outcome, reports, kary(3, 3.0), design, NAMES, weights=weights)
    again = np.repeat(np.arange(500), weights)
    same = kind(outcome[again], reports[again], kary(3, 3.0), design[again], NAMES)
    assert estimates(found) == pytest.approx(estimates(same), abs=1e-5)
    assert found.is_weighted
    assert (errors(found) > errors(same)).all()  # whose rows are taken for people of their own


def test_real_answers_randomised_forty_times_centre_on_the_ordinary_regression():
    impulsive, gender, used = columns("uci_drug_consumption_dq.csv", "impulsive", "gender", "cannabis")
    answers, design = (used >= 4).astype(int), np.column_stack([np.ones(len(used)), gender > 0])
    direct = np.linalg.lstsq(np.column_stack([design, answers]), impulsive)[0]
    rng = np.random.default_rng(68)
    again = [
        estimates(linear_predictor(impulsive, randomised(answers, FORCED, rng), FORCED, design, NAMES))
        for _ in range(40)
    ]
    spread = np.std(again, axis=0, ddof=1)
    assert (np.abs(np.mean(again, axis=0) - direct) < 4.5 * spread / math.sqrt(40)).all()


def test_an_outcome_that_is_not_normal_is_not_taken_for_hidden_answers_in_silence():
    rng = np.random.default_rng(1)
    answers, design = (rng.random(3000) < 0.2).astype(int), np.ones((3000, 1))
    y = np.where(rng.random(3000) < 0.2, 6.0, 0.0) + rng.normal(size=3000)  # two humps that have nothing to do with it
    found = linear_predictor(
        y, randomised(answers, kary(2, 0.3), rng), kary(2, 0.3), design, ["Intercept"], label="drug"
    )
    assert any(warning.startswith("drug=1: rests on normal errors of the outcome") for warning in found.warnings)


X = np.column_stack([np.ones(12), np.arange(12)])
Y, REPORTS = np.sin(np.arange(12)), np.arange(12) % 2


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (linear_predictor, {"outcome": REPORTS}, "for a yes or no use logistic_predictor"),
        (linear_predictor, {"outcome": X[:, 1]}, "or one that covariates give exactly"),
        (linear_predictor, {"outcome": np.ones(12)}, "outcome has no errors to estimate"),
        (linear_predictor, {"outcome": np.where(Y > 0.9, np.nan, Y)}, "outcome must be finite"),
        (linear_predictor, {"outcome": Y[:3]}, "outcome must have as many rows as there are reports, 12, got 3"),
        (logistic_predictor, {"outcome": Y}, "outcome must be 0 or 1 in every row, and both must occur"),
        (logistic_predictor, {"outcome": np.ones(12)}, "outcome must be 0 or 1 in every row, and both must occur"),
        (linear_predictor, {"reports": REPORTS * 0}, "all reports speak for one and the same answer"),
        (linear_predictor, {"matrix": np.eye(2) * 0.9}, "matrix 0 must have rows that add up to 1"),
        (linear_predictor, {"names": ["Intercept"]}, "a column for each of 1 names"),
        (
            linear_predictor,
            {"outcome": Y[:5], "reports": REPORTS[:5], "design": X[:5]},
            "5 rows cannot bear 6 coefficients",
        ),
    ],
)
def test_what_cannot_be_analysed_is_refused_by_name(kind, given, message):
    sound = {"outcome": Y, "reports": REPORTS, "matrix": FORCED, "design": X, "names": NAMES}
    with pytest.raises(ValueError, match=message):
        kind(**(sound | given))
