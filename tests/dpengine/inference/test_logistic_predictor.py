"""An open yes or no on a randomised answer: by hand, by differences, and in simulated surveys."""

import math

import numpy as np
import pytest
from scipy import special

from dpengine.inference.cross_tables import Question, cross_table
from dpengine.inference.logistic_predictor import _Tied, logistic_predictor
from dpengine.inference.logit import Rows
from tests.dpengine.inference.people import chosen, errors, estimates, kary, randomised

COIN = np.array([[0.75, 0.25], [0.25, 0.75]])


def made_up(n, rng, k=2):
    """Return outcome, true answers and design: β = (−.3, .4), γ = (1, .5)."""
    x = rng.normal(size=n)
    design = np.column_stack([np.ones(n), x])
    answer = chosen(design, np.array([[-0.5, 0.5], [0.2, -0.3]])[: k - 1], rng)
    chances = special.expit(-0.3 + 0.4 * x + np.array([0, 1, 0.5])[answer])
    return (rng.random(n) < chances).astype(float), answer, design


def test_the_case_by_hand():
    answer = np.repeat([1, 1, 0, 0], [20, 80, 10, 90])
    yes = np.repeat([1.0, 0.0, 1.0, 0.0], [20, 80, 10, 90])
    found = logistic_predictor(yes, answer, np.ones((200, 1)), ["Intercept"], [np.eye(2)])
    assert [each.name for each in found.coefficients] == ["Intercept", "answer=1"]
    assert estimates(found) == pytest.approx([math.log(10 / 90), math.log(2.25)])
    assert found["answer=1"].standard_error == pytest.approx(
        (1 / 20 + 1 / 80 + 1 / 10 + 1 / 90) ** 0.5
    )


def test_without_covariates_it_is_the_odds_ratio_of_the_table():
    rng = np.random.default_rng(2)
    yes, answer, _ = made_up(600, rng)
    reports = randomised(answer, COIN, rng)
    found = logistic_predictor(yes, reports, np.ones((600, 1)), ["Intercept"], [COIN])
    table = cross_table(Question(reports, [COIN]), Question(yes, [np.eye(2)]))
    assert math.exp(found["answer=1"].estimate) == pytest.approx(table.odds_ratio.estimate)


def test_derivatives_are_those_of_the_height():
    rng = np.random.default_rng(3)
    yes, answer, design = made_up(60, rng, k=3)
    reports = randomised(answer, kary(3, 1), rng)
    tied = _Tied(Rows(kary(3, 1).T[reports], design, ["Intercept", "x"], None), yes)
    at = rng.normal(size=tied.size) / 2
    _, gradient, hessian = tied.slopes(at)
    for place, way in enumerate(np.eye(tied.size) * 1e-5):
        rise = (tied.height(at + way) - tied.height(at - way)) / 2e-5
        bend = (tied.slopes(at + way)[1] - tied.slopes(at - way)[1]) / 2e-5
        assert gradient[place] == pytest.approx(rise, abs=1e-5)
        assert hessian[place] == pytest.approx(bend, abs=1e-4)


def test_names_follow_the_codes_and_weights_count():
    rng = np.random.default_rng(4)
    yes, answer, design = made_up(400, rng, k=3)
    reports = randomised(answer, kary(3, 3), rng)
    names, channel = ["Intercept", "x"], [kary(3, 3)]
    options = {"label": "drug", "first": 1}
    weights = rng.random(400) + 0.5
    plain = logistic_predictor(yes, reports, design, names, channel, **options)
    alike = logistic_predictor(
        yes, reports, design, names, channel, weights=np.full(400, 2.0), **options
    )
    uneven = logistic_predictor(yes, reports, design, names, channel, weights=weights, **options)
    assert [each.name for each in plain.coefficients] == [*names, "drug=2", "drug=3"]
    assert estimates(alike) == pytest.approx(estimates(plain))
    assert errors(alike) == pytest.approx(errors(plain), rel=0.2)  # a sandwich
    assert estimates(uneven) != pytest.approx(estimates(plain), rel=1e-3)


def test_intervals_hold():
    """200 surveys; 94 % or more in truth fails less than once in 1,000 below 176."""
    rng, found = np.random.default_rng(5), []
    for _ in range(200):
        yes, answer, design = made_up(600, rng)
        fit = logistic_predictor(yes, randomised(answer, COIN, rng), design, ["I", "x"], [COIN])
        found.append(np.abs(estimates(fit) - [-0.3, 0.4, 1]) <= 1.96 * errors(fit))
    assert np.sum(found, axis=0).min() >= 176


@pytest.mark.parametrize(
    ("yes", "words"),
    [
        ([0, 1, 2, 1], "outcome must be 0 or 1 in every row, and both must occur"),
        ([1, 1, 1, 1], "outcome must be 0 or 1 in every row, and both must occur"),
        ([0, 1], "outcome must have as many rows as there are reports, 4, got 2"),
    ],
)
def test_an_outcome_that_is_no_yes_or_no_is_refused(yes, words):
    with pytest.raises(ValueError, match=words):
        logistic_predictor(yes, [0, 1, 0, 1], np.ones((4, 1)), ["I"], [COIN])


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="2 rows cannot bear 3 coefficients"):
        logistic_predictor([0, 1], [0, 1], np.ones((2, 1)), ["I"], [COIN])
