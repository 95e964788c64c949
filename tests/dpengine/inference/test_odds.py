import math

import numpy as np
import pytest
from scipy import stats

from dpengine.inference.odds import odds_ratio, plackett, ratio_of
from dpengine.inference.questions import Margins
from tests.dpengine.inference.test_joint import COIN, KARY, OPEN, randomised, rows


def test_direct_answers_by_hand():
    found = odds_ratio(rows([[90, 10], [80, 20]]), [OPEN, OPEN])
    assert found.estimate == pytest.approx(2.25)
    assert found.log_standard_error == pytest.approx(math.sqrt(1 / 20 + 1 / 80 + 1 / 10 + 1 / 90))
    reach = 1.959964 * found.log_standard_error
    assert found.wald == pytest.approx((2.25 * math.exp(-reach), 2.25 * math.exp(reach)))
    assert found.independence.g2 == pytest.approx(3.9866, abs=1e-4)
    assert found.warnings == ()


@pytest.mark.parametrize("side", [0, 1])
def test_at_a_profile_limit_the_likelihood_ratio_is_what_chance_exceeds_in_a_twentieth(side):
    """Direct answers: the best table with this odds ratio and the margins of each row, by Fisher's score equations."""
    found = odds_ratio(rows([[90, 10], [80, 20]]), [OPEN, OPEN])
    theta = found.interval[side]
    base = np.linspace(0.001, 0.999, 200_001)
    other = theta * base / (1 - base + theta * base)
    heights = stats.binom.logpmf(10, 100, base) + stats.binom.logpmf(20, 100, other)
    best = stats.binom.logpmf(10, 100, 0.1) + stats.binom.logpmf(20, 100, 0.2)
    assert 2 * (best - heights.max()) == pytest.approx(stats.chi2.ppf(0.95, 1), abs=1e-3)


@pytest.mark.parametrize("ratio", [1e-6, 0.2, 1.0, 3.0, 1e6])
@pytest.mark.parametrize(("first", "second"), [(0.3, 0.2), (0.7, 0.9), (0.5, 0.5)])
def test_placketts_table_has_the_margins_and_the_ratio(first, second, ratio):
    table = plackett(first, second, ratio)
    assert table.sum() == pytest.approx(1)
    assert (table[1].sum(), table[:, 1].sum()) == pytest.approx((first, second))
    assert ratio_of(table) == pytest.approx(ratio, rel=1e-4)


def test_through_coins_the_interval_is_wider_and_holds_the_truth():
    """4,000 people, odds ratio 6, seed 31: within four standard errors but for 1 in 15,000 seeds."""
    rng, truth = np.random.default_rng(31), np.array([[0.6, 0.1], [0.15, 0.15]])
    cells = rng.choice(4, size=4000, p=truth.ravel())
    answers = [cells // 2, cells % 2]
    direct = odds_ratio(answers, [OPEN, OPEN])
    found = odds_ratio([randomised(one, COIN, rng) for one in answers], [COIN, COIN])
    assert abs(math.log(found.estimate / 6)) < 4 * found.log_standard_error
    assert found.log_standard_error > 3 * direct.log_standard_error
    assert found.interval[0] < direct.estimate < found.interval[1]
    assert found.interval == pytest.approx(found.wald, rel=0.5)


def test_a_randomised_question_by_an_open_one():
    """Coin 250 + 0.5·share of 500: reports 200 and 150 yes of 500 mean shares .3 and .1: odds ratio 27/7."""
    found = odds_ratio(rows([[350, 150], [300, 200]]), [OPEN, COIN])
    assert found.estimate == pytest.approx(0.3 / 0.7 * 0.9 / 0.1, rel=1e-4)


@pytest.mark.parametrize(("table", "estimate"), [([[90, 0], [80, 20]], math.inf), ([[80, 20], [90, 0]], 0.0)])
def test_a_zero_cell_leaves_one_limit(table, estimate):
    found = odds_ratio(rows(table), [OPEN, OPEN])
    assert found.estimate == estimate
    assert found.log_standard_error is None
    assert found.wald is None
    near = found.interval[0] if estimate else 1 / found.interval[1]
    assert estimate in found.interval
    base = np.linspace(1e-6, 0.2, 200_001)  # the best table with the ratio at the limit, as above
    heights = stats.binom.logpmf(0, 90, base) + stats.binom.logpmf(20, 100, near * base / (1 - base + near * base))
    best = stats.binom.logpmf(20, 100, 0.2)
    assert 2 * (best - heights.max()) == pytest.approx(stats.chi2.ppf(0.95, 1), abs=1e-3)
    assert "a cell of the likeliest table is 0" in found.warnings[0]


def test_nobody_with_one_answer_says_nothing_of_the_ratio():
    found = odds_ratio(rows([[60, 40], [0, 0]]), [OPEN, OPEN])
    assert found.estimate is None
    assert found.interval == (0, math.inf)
    assert "cannot be estimated" in found.warnings[0]


def test_few_reports_cannot_tell_the_ratio_from_either_end():
    found = odds_ratio(rows([[9, 3], [3, 2]]), [COIN, COIN])
    assert found.interval == (0, math.inf)


def test_weights_widen_the_interval():
    reports, weights = rows([[90, 10], [80, 20]]), np.tile([0.2, 1.8], 100)
    weighted, plain = odds_ratio(reports, [OPEN, OPEN], weights), odds_ratio(reports, [OPEN, OPEN])
    assert weighted.estimate == pytest.approx(2.25)
    assert weighted.log_standard_error > 1.2 * plain.log_standard_error
    assert weighted.interval[0] < plain.interval[0] < plain.interval[1] < weighted.interval[1]


@pytest.mark.parametrize(
    ("reports", "channels", "message"),
    [
        ([[0, 1], [0, 2]], [OPEN, KARY], "two questions with two answers each"),
        ([[0, 1], [0, 1], [0, 1]], [OPEN] * 3, "two questions with two answers each"),
        ([[[1, 0], [0, 1]], [0, 1]], [Margins(0.8, 0.2), OPEN], "needs a matrix of chances for each question"),
        ([[[1, 1], [0, 1]], [0, 1]], [Margins(0.8, 0.2), OPEN], "needs a matrix of chances for each question"),
    ],
)
def test_what_has_no_odds_ratio_is_refused(reports, channels, message):
    with pytest.raises(ValueError, match=message):
        odds_ratio(reports, channels)


def test_a_ratio_that_the_reports_leave_open_has_no_error():
    """[.7, .2, .1] and [.1, .2, .7]: only the report that is as likely after either answer came."""
    other = [0, 1] * 20
    found = odds_ratio([[1] * 40, other], [[[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]], np.eye(2)])
    assert found.log_standard_error is None
    assert found.wald is None
    assert found.interval == (0, math.inf)
    assert any("other tables are as likely" in words for words in found.warnings)
