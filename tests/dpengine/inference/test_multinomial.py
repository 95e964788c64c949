import math

import numpy as np
import pytest

from dpengine.inference.logistic import logistic
from dpengine.inference.logit import Rows
from dpengine.inference.multinomial import multinomial
from tests.dpengine.inference.people import (
    FORCED,
    chosen,
    columns,
    errors,
    estimates,
    kary,
    ordinary_multinomial,
    randomised,
)

TRUTH = np.array([[-0.5, 0.8], [0.3, -0.6]])
NAMES = ["Intercept", "x"]


def people(seed, n=1500):
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n), rng.normal(size=n)])
    return chosen(design, TRUTH, rng), design, rng


def test_shares_by_hand():
    found = multinomial(
        np.repeat([0, 1, 2], [50, 30, 20]), np.ones((100, 1)), ["Intercept"], [np.eye(3)]
    )
    assert [each.name for each in found.coefficients] == ["1: Intercept", "2: Intercept"]
    assert estimates(found) == pytest.approx([math.log(0.6), math.log(0.4)], abs=1e-9)
    assert errors(found) == pytest.approx([math.sqrt(1 / 50 + 1 / 30), math.sqrt(1 / 50 + 1 / 20)])


def test_direct_answers_give_ordinary_multinomial_regression():
    answers, design, _ = people(52, 300)
    found = multinomial(answers, design, NAMES, [np.eye(3)])
    beta, inverse = ordinary_multinomial(answers, design, 3)
    assert [each.name for each in found.coefficients] == [
        "1: Intercept",
        "1: x",
        "2: Intercept",
        "2: x",
    ]
    assert estimates(found) == pytest.approx(beta.ravel(), abs=1e-8)
    assert found.covariance == pytest.approx(inverse, abs=1e-8)


def test_two_choices_are_logistic_regression():
    answers, design, rng = people(53)
    reports = randomised((answers > 0).astype(int), FORCED, rng)
    two = multinomial(reports, design, NAMES, [FORCED])
    binary = logistic(reports, design, NAMES, 1 / 6, 2 / 3)
    assert estimates(two) == pytest.approx(estimates(binary), abs=1e-9)
    assert two.log_likelihood == pytest.approx(binary.log_likelihood)


def test_it_ends_at_the_same_maximum_from_any_start(monkeypatch):
    answers, design, rng = people(54)
    reports = randomised(answers, kary(3, 2.0), rng)
    found = multinomial(reports, design, NAMES, [kary(3, 2.0)])
    monkeypatch.setattr(Rows, "starts", lambda rows: [rng.normal(0, 2, 4)])
    for _ in range(30):
        again = multinomial(reports, design, NAMES, [kary(3, 2.0)])
        assert estimates(again) == pytest.approx(estimates(found), abs=1e-7)


@pytest.mark.parametrize("channel", ["k-ary", "arms"])
def test_fifty_surveys_are_right_on_average_and_as_far_off_as_they_say(channel):
    found, said = [], []
    for seed in range(50):
        answers, design, rng = people(5500 + seed)
        direct = rng.random(1500) < 0.3
        if channel == "k-ary":
            one = multinomial(randomised(answers, kary(3, 2.0), rng), design, NAMES, [kary(3, 2.0)])
        else:
            reports = np.where(direct, answers, randomised(answers, kary(3, 1.0), rng))
            one = multinomial(reports, design, NAMES, [kary(3, 1.0), np.eye(3)], arm=direct)
        found.append(estimates(one))
        said.append(errors(one))
    spread = np.std(found, axis=0, ddof=1)
    assert (np.abs(np.mean(found, axis=0) - TRUTH.ravel()) < 4.5 * spread / math.sqrt(50)).all()
    # 4.5 standard errors of a spread from 50
    assert spread == pytest.approx(np.mean(said, axis=0), rel=0.45)


def test_fifty_randomisations_of_real_answers_centre_on_the_ordinary_regression():
    party, vote = columns("anes96.csv", "PID", "vote")
    answers = np.digitize(party, [2, 5])  # Democrat, in between, Republican
    # two groups: the model holds whatever the truth
    design = np.column_stack([np.ones(len(vote)), vote])
    direct = ordinary_multinomial(answers, design, 3)[0].ravel()
    rng = np.random.default_rng(56)
    draws = [randomised(answers, kary(3, 3.0), rng) for _ in range(50)]
    again = [
        estimates(multinomial(draw, design, ["Intercept", "vote"], [kary(3, 3.0)]))
        for draw in draws
    ]
    spread = np.std(again, axis=0, ddof=1)
    assert (np.abs(np.mean(again, axis=0) - direct) < 4.5 * spread / math.sqrt(50)).all()


def test_arms_that_disagree_raise_the_alarm_and_a_table_that_fits_does_not():
    rng = np.random.default_rng(57)
    arm, group = np.repeat([0, 1], 1000), np.tile([0.0, 1.0], 1000)
    design = np.column_stack([np.ones(2000), group])
    answers = chosen(design, [[0.2, 0.5], [-0.3, 0.1]], rng)
    honest = np.where(arm == 1, answers, randomised(answers, kary(3, 2.0), rng))
    fine = multinomial(honest, design, ["Intercept", "group"], [kary(3, 2.0), np.eye(3)], arm=arm)
    assert fine.fit.df == 4  # 4 groups of 2 free cells, less 4 coefficients
    assert fine.fit.p > 1e-4
    lying = np.where((arm == 1) & (rng.random(2000) < 0.5), 0, honest)
    poor = multinomial(lying, design, ["Intercept", "group"], [kary(3, 2.0), np.eye(3)], arm=arm)
    assert "non-compliance may be at work" in poor.warnings[0]


def test_an_arm_of_other_reports_has_cells_of_its_own():
    rng = np.random.default_rng(58)
    answers, arm = rng.integers(0, 3, 900), np.repeat([0, 1], 450)
    joined = np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])  # tells only whether it is 0
    reports = np.where(
        arm == 0, randomised(answers, kary(3, 2.0), rng), randomised(answers, joined, rng)
    )
    found = multinomial(reports, np.ones((900, 1)), ["Intercept"], [kary(3, 2.0), joined], arm=arm)
    assert found.fit.df == 1  # 2 + 1 free cells, less 2 shares


def test_a_choice_that_nobody_made_has_no_finite_coefficient():
    found = multinomial(np.repeat([0, 1], [30, 20]), np.ones((50, 1)), ["Intercept"], [np.eye(3)])
    assert found.warnings[0].startswith("2: Intercept: no finite estimate")
    assert found["2: Intercept"].standard_error == math.inf
    assert found["1: Intercept"].standard_error == pytest.approx(
        math.sqrt(1 / 30 + 1 / 20), abs=1e-6
    )


def test_survey_weights_count_people():
    answers, design, rng = people(59, 400)
    reports, weights = randomised(answers, kary(3, 2.0), rng), rng.integers(0, 4, 400)
    found = multinomial(reports, design, NAMES, [kary(3, 2.0)], weights=weights)
    repeated = np.repeat(np.arange(400), weights)
    same = multinomial(reports[repeated], design[repeated], NAMES, [kary(3, 2.0)])
    assert estimates(found) == pytest.approx(estimates(same), abs=1e-7)
    assert found.n == int((weights > 0).sum())


REPORTS, ONES = np.arange(12) % 3, np.ones((12, 1))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"matrices": []}, "matrices must be one or more, got 0"),
        ({"matrices": [np.eye(3) / 2]}, r"matrices\[0\] must have rows that add up to 1, got 0.5"),
        ({"matrices": [[[1.5, -0.5], [0, 1]]]}, r"matrices\[0\] must hold chances between 0 and 1"),
        ({"matrices": [[[1.0]]]}, r"matrices\[0\] must have a row for each of two answers or more"),
        (
            {"matrices": [np.eye(3), kary(4, 1)], "arm": REPORTS % 2},
            r"same number of rows, the answers, got \[3, 4\]",
        ),
        ({"matrices": [np.full((3, 3), 1 / 3)]}, "do not tell all answers apart"),
        (
            {"matrices": [np.array([[1, 0], [0, 1], [0, 1]])], "reports": REPORTS % 2},
            "do not tell all answers apart",
        ),
        ({"reports": REPORTS + 1}, "reports must be whole numbers from 0 to 2"),
        ({"reports": REPORTS / 2}, "reports must be whole numbers from 0 to 2"),
        ({"reports": []}, "n must be 1 or more, got 0"),
        ({"reports": REPORTS * 0 + 1}, "all reports speak for one and the same answer"),
        ({"matrices": [np.eye(3), np.eye(3)]}, "arm must say which of the 2 matrices"),
        ({"arm": REPORTS}, "arm must be whole numbers from 0 to 0"),
        ({"reports": REPORTS[:1], "design": [[1]]}, "all reports speak for one"),
        (
            {"reports": [0, 1, 2], "design": np.vander([1, 2, 3], 2), "names": ["a", "b"]},
            "3 rows cannot bear 4 coefficients",
        ),
    ],
)
def test_what_cannot_be_analysed_is_refused_by_name(given, message):
    sound = {"reports": REPORTS, "design": ONES, "names": ["Intercept"], "matrices": [np.eye(3)]}
    with pytest.raises(ValueError, match=message):
        multinomial(**(sound | given))
