import math

import numpy as np
import pytest
from scipy import special

from dpengine.inference.logistic import logistic
from dpengine.inference.logit import Rows
from tests.dpengine.inference.people import (
    FORCED,
    chosen,
    columns,
    errors,
    estimates,
    ordinary_logit,
    randomised,
    townspeople,
)

C0, C1 = 1 / 6, 2 / 3  # forced response, as FORCED
TOWN = ["Intercept", "assets", "married", "age/10", "(age/10)^2", "education", "female"]
# What R's rr prints for its example, n = 2,457, p = 2/3, p1 = p0 = 1/6 (SensitiveQuestions/rr,
# docs/reference/rrreg)
RR = np.array([-0.34017, 0.07896, -0.26743, -0.35283, 0.04099, -0.00691, -0.55439])


def town(seed, n=2457):
    rng = np.random.default_rng(seed)
    design = townspeople(n, rng)
    return randomised(chosen(design, RR, rng), FORCED, rng), design


def small(seed, n=400):
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n), rng.normal(size=n)])
    return chosen(design, [-0.5, 1.0], rng), design, rng


@pytest.mark.parametrize(
    ("yes", "c0", "c1", "error"),
    [(30, 0, 1, 0.2182), (40, 1 / 4, 1 / 2, 0.4666), (60, 3 / 4, -1 / 2, 0.4666)],
)
def test_a_share_by_hand(yes, c0, c1, error):
    found = logistic(np.arange(100) < yes, np.ones((100, 1)), ["Intercept"], c0, c1)
    assert found["Intercept"].estimate == pytest.approx(math.log(0.3 / 0.7), abs=1e-9)
    assert found["Intercept"].standard_error == pytest.approx(error, abs=1e-4)
    assert found.log_likelihood == pytest.approx(
        yes * math.log(yes / 100) + (100 - yes) * math.log(1 - yes / 100)
    )
    assert found.warnings == ()


def test_direct_answers_give_ordinary_logistic_regression():
    rng = np.random.default_rng(41)
    design = townspeople(500, rng)
    yes = chosen(design, RR, rng)
    found = logistic(yes, design, TOWN, 0, 1)
    beta, inverse = ordinary_logit(yes, design)
    assert estimates(found) == pytest.approx(beta, abs=1e-8)
    assert found.covariance == pytest.approx(inverse, abs=1e-8)
    assert found.log_likelihood == pytest.approx(
        special.log_expit(design @ beta * (2 * yes - 1)).sum()
    )
    assert found.fit is None  # nobody is like another: there is no table


def test_it_ends_at_the_same_maximum_from_any_start(monkeypatch):
    yes, design = town(42)
    found = logistic(yes, design, TOWN, C0, C1)
    assert found.warnings == ()
    rng = np.random.default_rng(43)
    monkeypatch.setattr(Rows, "starts", lambda rows: [rng.normal(0, 2, 7)])
    for _ in range(200):
        again = logistic(yes, design, TOWN, C0, C1)
        assert estimates(again) == pytest.approx(estimates(found), abs=1e-7)
    # rr's own, of people only alike
    assert errors(found)[[0, 6]] == pytest.approx([0.50856, 0.16244], rel=0.5)


def test_the_maximum_is_one():
    yes, design = town(42)
    found = estimates(logistic(yes, design, TOWN, C0, C1))

    def log_likelihood(beta):
        chances = C0 + C1 * special.expit(design @ beta)
        return float(np.log(np.where(yes == 1, chances, 1 - chances)).sum())

    scale = 1e-3 / design.std(axis=0).clip(min=1)
    assert all(
        log_likelihood(found + way * step) < log_likelihood(found)
        for step in np.diag(scale)
        for way in (-1, 1)
    )


def test_fifty_surveys_are_right_on_average_and_as_far_off_as_they_say():
    truth, found, said = np.array([-0.5, 1.0]), [], []
    for seed in range(50):
        answers, design, rng = small(4400 + seed, 1500)
        one = logistic(randomised(answers, FORCED, rng), design, ["Intercept", "x"], C0, C1)
        found.append(estimates(one))
        said.append(errors(one))
    spread = np.std(found, axis=0, ddof=1)
    assert (np.abs(np.mean(found, axis=0) - truth) < 4.5 * spread / math.sqrt(50)).all()
    # 4 standard errors of a spread from 50
    assert spread == pytest.approx(np.mean(said, axis=0), rel=0.4)


def test_fifty_randomisations_of_real_answers_centre_on_the_ordinary_regression():
    gender, used = columns("uci_drug_consumption_dq.csv", "gender", "cannabis")
    # two groups: the model holds whatever the truth
    design = np.column_stack([np.ones(len(gender)), gender > 0])
    direct = ordinary_logit(used >= 3, design)[0]
    rng = np.random.default_rng(45)
    again = [
        logistic(
            randomised((used >= 3).astype(int), FORCED, rng),
            design,
            ["Intercept", "female"],
            C0,
            C1,
        )
        for _ in range(50)
    ]
    spread = np.std([estimates(one) for one in again], axis=0, ddof=1)
    assert (
        np.abs(np.mean([estimates(one) for one in again], axis=0) - direct)
        < 4.5 * spread / math.sqrt(50)
    ).all()
    assert (
        spread < np.mean([errors(one) for one in again], axis=0)
    ).all()  # sampling is not repeated, but counted


def test_each_row_may_have_its_own_constants():
    answers, design, rng = small(46, 3000)
    direct = np.arange(3000) < 1500
    yes = np.where(direct, answers, randomised(answers, FORCED, rng))
    both = logistic(
        yes, design, ["Intercept", "x"], np.where(direct, 0, C0), np.where(direct, 1, C1)
    )
    half = logistic(yes[direct], design[direct], ["Intercept", "x"], 0, 1)
    assert (errors(both) < errors(half)).all()
    assert np.abs((estimates(both) - [-0.5, 1]) / errors(both)).max() < 4.5


def test_rows_that_tell_nothing_change_nothing():
    answers, design, _ = small(47)
    silent = np.arange(400) % 2
    found = logistic(answers, design, ["Intercept", "x"], silent / 2, 1 - silent)
    told = silent == 0
    assert estimates(found) == pytest.approx(
        ordinary_logit(answers[told], design[told])[0], abs=1e-8
    )


def test_people_asked_in_two_ways_who_disagree_raise_the_alarm():
    forced = np.arange(2000) < 1000
    yes = np.where(forced, np.arange(2000) < 300, np.arange(2000) < 1400)  # shares .20 and .40
    asked = (np.where(forced, C0, 0), np.where(forced, C1, 1))
    found = logistic(yes, np.ones((2000, 1)), ["Intercept"], *asked)
    assert found.fit.df == 1
    assert found.fit.g2 > 10
    assert "non-compliance may be at work" in found.warnings[0]
    by_arm = logistic(
        yes, np.column_stack([np.ones(2000), forced]), ["Intercept", "forced"], *asked
    )
    assert by_arm.fit.g2 == pytest.approx(0, abs=1e-6)
    assert by_arm.warnings == ()
    gain = 2 * (by_arm.log_likelihood - found.log_likelihood)
    assert gain == pytest.approx(found.fit.g2, abs=1e-6)


def test_survey_weights_count_people_and_give_sandwich_errors():
    answers, design, rng = small(48)
    yes, weights = randomised(answers, FORCED, rng), rng.integers(1, 5, 400)
    found = logistic(yes, design, ["Intercept", "x"], C0, C1, weights=weights)
    repeated = np.repeat(np.arange(400), weights)
    assert estimates(found) == pytest.approx(
        estimates(logistic(yes[repeated], design[repeated], ["Intercept", "x"], C0, C1))
    )
    assert found.fit is None

    def scores(beta):
        chance = special.expit(design @ beta)
        reported = C0 + C1 * chance
        return (
            (weights * (yes - reported) / (reported * (1 - reported)) * C1 * chance * (1 - chance))
            * design.T
        ).T

    at, steps = estimates(found), np.eye(2) * 1e-5
    bread = np.linalg.inv(
        [(scores(at - step) - scores(at + step)).sum(axis=0) / 2e-5 for step in steps]
    )
    meat = scores(at).T @ scores(at) * 400 / 399
    assert found.covariance == pytest.approx(bread @ meat @ bread, rel=1e-5)


def test_rows_of_weight_0_are_left_out_and_it_is_said():
    answers, design, _ = small(49)
    weights = np.arange(400) >= 3
    found = logistic(answers, design, ["Intercept", "x"], 0, 1, weights=weights)
    assert found.n == 397
    assert estimates(found) == pytest.approx(ordinary_logit(answers[3:], design[3:])[0], abs=1e-8)
    assert found.warnings == ("3 rows of weight 0 are left out",)
    alone = logistic(answers[3:], design[3:], ["Intercept", "x"], 0, 1)
    assert found.log_likelihood == pytest.approx(alone.log_likelihood)


def test_perfect_separation_is_said_with_the_covariate_and_errors_are_infinite():
    x, noise = np.linspace(-1, 1, 80), np.random.default_rng(50).normal(size=80)
    found = logistic(x > 0.1, np.column_stack([np.ones(80), x]), ["Intercept", "age"], 0, 1)
    assert found.warnings[0].startswith("age: no finite estimate")
    assert found["age"].standard_error == math.inf
    assert found.log_likelihood == pytest.approx(0, abs=1e-6)
    group = (x > 0).astype(float)
    partly = logistic(
        (x > 0) & (noise > 0),
        np.column_stack([np.ones(80), group, noise > 1]),
        ["Intercept", "group", "z"],
        0,
        1,
    )
    assert partly.warnings[0].startswith("group, z: no finite estimate")


def test_reports_beyond_what_the_channel_allows_end_at_its_edge():
    # 15 % yes, at least 17 % to come
    found = logistic(np.arange(350) < 52, np.ones((350, 1)), ["Intercept"], C0, C1)
    assert found["Intercept"].standard_error == math.inf
    assert special.expit(found["Intercept"].estimate) < 1e-8
    assert found.log_likelihood == pytest.approx(
        52 * math.log(1 / 6) + 298 * math.log(5 / 6), abs=1e-6
    )
    assert found.warnings[0].startswith("Intercept: no finite estimate")
    assert np.isfinite(found.covariance[0, 0]) == np.False_


def test_errors_elsewhere_hold_at_the_edge():
    rng = np.random.default_rng(51)
    group, x = np.repeat([0.0, 1.0], 500), rng.normal(size=1000)
    yes = randomised(chosen(np.column_stack([np.ones(1000), x]), [0.5, 1.0], rng), FORCED, rng)
    yes[group == 1] = np.arange(500) < 20  # 4 % yes where at least 17 % are to come
    found = logistic(
        yes, np.column_stack([np.ones(1000), group, x]), ["Intercept", "group", "x"], C0, C1
    )
    alone = logistic(
        yes[:500], np.column_stack([np.ones(500), x[:500]]), ["Intercept", "x"], C0, C1
    )
    assert found["group"].standard_error == math.inf
    assert found["x"].estimate == pytest.approx(alone["x"].estimate, abs=1e-4)
    assert found["x"].standard_error == pytest.approx(alone["x"].standard_error, abs=1e-4)


@pytest.mark.parametrize(
    ("seed", "message"),
    [(24, "the likelihood is higher still, by 3.50"), (148, "a second summit almost as high")],
)
def test_a_likelihood_with_more_than_one_top_raises_a_warning(monkeypatch, seed, message):
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(60), rng.normal(size=(60, 3))])
    yes = randomised(chosen(design, [0, 1, -1, 0.5], rng), FORCED, rng)
    found = logistic(yes, design, list("abcd"), C0, C1)
    assert message in found.warnings[0]
    assert np.isfinite(errors(found)).all()
    starts = Rows.starts
    monkeypatch.setattr(Rows, "starts", lambda rows: [*starts(rows), np.array([2.0, -2, 2, 2])])
    far = logistic(yes, design, list("abcd"), C0, C1)
    assert estimates(far) == pytest.approx(estimates(found), abs=1e-6)


X = np.column_stack([np.ones(9), np.arange(9)])
YES = np.arange(9) % 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"yes": np.ones(9)}, "all reports speak for one and the same answer"),
        ({"yes": YES * 2}, "yes must be 0 or 1 in every row"),
        ({"yes": []}, "n must be 1 or more, got 0"),
        ({"yes": YES[:1], "design": X[:1]}, "all reports speak for one"),
        (
            {"yes": YES[:2], "design": np.eye(2, 3) + 1, "names": list("abc")},
            "2 rows cannot bear 3 coefficients",
        ),
        ({"c1": 0}, "c1 must not be 0 in every row"),
        ({"c1": 0.9}, "c0 [+] c1 must be between 0 and 1, got 1.06"),
        ({"c0": -0.1}, "c0 must be between 0 and 1, got -0.1"),
        ({"c0": np.nan}, "c0 must be finite"),
        ({"c0": 0, "c1": [1, 0, *[1] * 7]}, "a report is impossible"),
        ({"design": np.where(X == 3, np.nan, X)}, "column age of the design must be finite"),
        ({"design": [["a", "b"]] * 9}, "design must be numbers"),
        (
            {"design": X[:, 0]},
            r"design must have 9 rows and a column for each of 2 names, got shape \(9,\)",
        ),
        ({"design": np.empty((9, 0)), "names": []}, "a column for each of 0 names"),
        (
            {"design": np.ones((9, 2))},
            "column age of the design follows from the columns before it",
        ),
        ({"weights": -np.ones(9)}, "weights must be 0 or more"),
        ({"weights": np.full(9, np.nan)}, "weights must be finite"),
    ],
)
def test_what_cannot_be_analysed_is_refused_by_name(given, message):
    sound = {"yes": YES, "design": X, "names": ["Intercept", "age"], "c0": C0, "c1": C1}
    with pytest.raises(ValueError, match=message):
        logistic(**(sound | given))
