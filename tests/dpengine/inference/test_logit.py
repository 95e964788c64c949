import numpy as np
import pytest

from dpengine.inference.fit import Fit
from dpengine.inference.logit import Rows, fitted
from tests.dpengine.inference.people import FORCED, kary, randomised

X = np.column_stack([np.ones(300), np.random.default_rng(70).normal(50, 5, 300)])
ANSWERS = np.repeat([0, 1], [210, 90])


def rows(channel):
    return Rows(
        channel[randomised(ANSWERS, channel, np.random.default_rng(71))],
        X,
        ["Intercept", "x"],
        None,
    )


def test_direct_answers_need_one_start_the_log_odds_of_all():
    (start,) = rows(np.eye(2)).starts()
    assert rows(np.eye(2)).basis.columns @ start == pytest.approx(np.log(90 / 210))


def test_a_channel_needs_two():
    shares, none = rows(FORCED).starts()
    assert rows(FORCED).basis.back @ shares == pytest.approx([-0.8, 0], abs=0.6)
    assert not none.any()


def test_three_answers_have_two_rows_of_coefficients():
    several = Rows(kary(3, 1.0)[np.arange(300) % 3], X, ["Intercept", "x"], None)
    scale = several.scale(["1: Intercept", "1: x", "2: Intercept", "2: x"])
    assert scale.constant == (True, False, True, False)
    assert scale.back[2:, 2:] == pytest.approx(several.basis.back)


def test_one_channel_whose_reports_do_not_fit_may_lack_a_term():
    found = fitted(rows(FORCED), ["Intercept", "x"], lambda chances: Fit(99.0, 1), 1)
    assert any("a term may be missing" in each for each in found.warnings)
