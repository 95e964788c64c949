"""Cross-tabs of randomised questions: by hand, by enumeration, on a real table randomised again and again."""

import csv
import math
from decimal import Decimal
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from dpengine.estimates import clopper_pearson
from dpengine.inference import joint
from dpengine.inference.joint import along_axes, cross_table
from dpengine.inference.questions import Margins, left_inverse
from dpengine.local.subset import Subset

DATA = Path(__file__).parents[2] / "data"
COIN = np.array([[0.75, 0.25], [0.25, 0.75]])
KARY = np.full((3, 3), 0.2) + np.eye(3) * 0.4
OPEN = np.eye(2)


def rows(table):
    """Codes of two questions, a respondent for every count of a table."""
    return [np.repeat(codes.ravel(), np.ravel(table)) for codes in np.indices(np.shape(table))]


def randomised(answers, channel, rng):
    return (rng.random(len(answers))[:, None] > channel[answers].cumsum(axis=1)).sum(axis=1)


def subsets(answers, channel, rng):
    """Sets as a subset channel draws them: same law, not the same words."""
    order = rng.random((len(answers), channel.choices))
    kept = rng.random(len(answers)) < channel.keep / 2**32
    order[np.arange(len(answers)), answers] = np.where(kept, -1.0, 2.0)
    return (order.argsort(axis=1).argsort(axis=1) < channel.size).astype(int)


def test_two_coins_by_hand():
    found = cross_table([[1] * 5, [1] * 5], [COIN, COIN])
    assert found.moments == pytest.approx(np.array([[0.25, -0.75], [-0.75, 2.25]]))
    assert found.maximum_likelihood == pytest.approx(np.array([[0, 0], [0, 1]]))
    assert found.standard_errors.min() > 0
    assert found.margin(0) == pytest.approx([-0.5, 1.5])
    assert "3 of 4 cells lie outside 0 to 1" in found.warnings[0]
    assert found.fit.g2 == pytest.approx(10 * math.log((4 / 3) ** 2))


def test_open_questions_are_counted():
    found = cross_table(rows([[30, 20], [40, 10]]), [OPEN, OPEN])
    assert found.moments == pytest.approx(np.array([[0.3, 0.2], [0.4, 0.1]]))
    assert found.standard_errors[0, 0] == pytest.approx(math.sqrt(0.3 * 0.7 / 100))
    assert found.intervals[1, 1] == pytest.approx(clopper_pearson(10, 100))
    assert found.simultaneous[1, 1] == pytest.approx(clopper_pearson(10, 100, 1 - 0.05 / 4))
    assert found.covariance[0, 1] == pytest.approx(-0.3 * 0.2 / 100)
    assert found.independence.df == 1
    assert found.independence.g2 == pytest.approx(4.8315, abs=1e-4)  # 2 Σ o ln(o/e), e = 35, 15, 35, 15
    assert found.warnings == ()


def test_moments_are_the_kronecker_product_of_the_inverses():
    rng = np.random.default_rng(4)
    reports = [rng.integers(0, 2, 200), rng.integers(0, 3, 200), rng.integers(0, 2, 200)]
    found = cross_table(reports, [COIN, KARY, OPEN])
    counts = np.bincount(np.ravel_multi_index(reports, (2, 3, 2)), minlength=12)
    values = np.kron(np.kron(np.linalg.inv(COIN), np.linalg.inv(KARY)), OPEN).T
    assert found.moments.ravel() == pytest.approx(values @ counts / 200)
    covariance = (values * counts / 200) @ values.T - np.outer(values @ counts, values @ counts) / 200**2
    assert found.covariance == pytest.approx(covariance / 200)
    assert found.standard_errors.ravel() == pytest.approx(np.sqrt(np.diag(found.covariance)))
    assert found.independence.df == 12 - 1 - 1 - 2 - 1


def test_indicators_of_sets_are_unbiased():
    """Every pair of sets of two of four choices, weighted by its chance, gives the table of answers back."""
    channel = Subset(choices=4, size=2, keep=3 * 2**30)
    margins = Margins(float(channel.margin.truth), float(channel.margin.lie))
    held = list(combinations(range(4), 2))
    chances = np.array(channel.probabilities(held), dtype=float)  # [answer, set]
    sets = np.array([[choice in one for choice in range(4)] for one in held], dtype=int)
    truth = np.zeros((4, 2))
    truth[1, 0], truth[2, 1] = 0.6, 0.4
    first, second = np.indices((len(held), 2)).reshape(2, -1)
    weights = along_axes([chances.T, COIN.T], truth).ravel()
    found = cross_table([sets[first], second], [margins, COIN], weights)
    assert found.moments == pytest.approx(truth)
    assert found.maximum_likelihood == pytest.approx(truth, abs=1e-3)
    assert found.fit is None


def test_sets_of_one_choice_are_k_ary_response():
    """Size 1 is a matrix: both ways give the same table, errors, likelihood and test."""
    channel, rng = Subset.for_epsilon(3, Decimal(2)), np.random.default_rng(5)
    a, b = float(channel.margin.truth), float(channel.margin.lie)
    codes, others = rng.integers(0, 3, 100), rng.integers(0, 2, 100)
    matrix = np.full((3, 3), b) + np.eye(3) * (a - b)
    by_sets = cross_table([np.eye(3, dtype=int)[codes], others], [Margins(a, b), COIN])
    by_matrix = cross_table([codes, others], [matrix, COIN])
    assert by_sets.moments == pytest.approx(by_matrix.moments)
    assert by_sets.standard_errors == pytest.approx(by_matrix.standard_errors)
    assert by_sets.covariance == pytest.approx(by_matrix.covariance)
    assert by_sets.maximum_likelihood == pytest.approx(by_matrix.maximum_likelihood, abs=1e-4)
    assert by_sets.log_likelihood == pytest.approx(by_matrix.log_likelihood)
    assert by_sets.independence.g2 == pytest.approx(by_matrix.independence.g2, abs=1e-4)


def test_sets_of_many_choices_need_no_table_of_sets():
    """200 choices by 200: 10 people at one pair, so near to the truth that the cell stands out."""
    rng = np.random.default_rng(6)
    channel = Subset(choices=200, size=4, keep=2**32 - 2**20)
    margins = Margins(float(channel.margin.truth), float(channel.margin.lie))
    answers = np.full(10, 7)
    sets = subsets(answers, channel, rng)
    found = cross_table([sets, sets], [margins, margins])
    assert found.moments.shape == (200, 200)
    assert np.unravel_index(found.moments.argmax(), (200, 200)) == (7, 7)
    assert found.covariance is None
    assert found.maximum_likelihood[7, 7] == found.maximum_likelihood.max() > 0.9


def test_no_likelihood_where_cells_times_reports_are_too_many(monkeypatch):
    monkeypatch.setattr(joint, "MOST_CELLS", 11)
    found = cross_table([[[1, 0], [0, 1], [0, 1]], [0, 1, 1]], [Margins(0.8, 0.2), OPEN])
    assert found.maximum_likelihood is None
    assert any("no likelihood" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("sets", "margins"),
    [(np.array([[1, 0, 0], [1, 1, 0]]), Margins(0.8, 0.1)), (np.array([[1, 0, 0], [0, 1, 0]]), Margins(0.8, 0.3)),
     (np.array([[1, 0, 0], [0, 1, 0]]), Margins(1.0, 0.0))],
    ids=["of two sizes", "not of this size", "certain"],
)  # fmt: skip
def test_sets_whose_margins_give_no_likelihood_have_moments_only(sets, margins):
    found = cross_table([sets, [0, 1]], [margins, OPEN])
    assert found.maximum_likelihood is None
    assert found.independence is None
    assert np.isfinite(found.moments).all()


def test_equal_weights_change_nothing_and_others_by_hand():
    reports = rows([[3, 2], [4, 1]])
    plain, equal = cross_table(reports, [OPEN, OPEN]), cross_table(reports, [OPEN, OPEN], np.full(10, 3.0))
    assert np.array_equal(plain.standard_errors, equal.standard_errors)
    weights = np.arange(1, 11) / 5.5
    found = cross_table(reports, [OPEN, OPEN], weights)
    here = (reports[0] == 0) & (reports[1] == 1)
    share = weights[here].sum() / 10
    assert found.moments[0, 1] == pytest.approx(share)
    variance = 10 / 9 * np.sum(weights**2 * (here - share) ** 2) / 100
    assert found.standard_errors[0, 1] == pytest.approx(math.sqrt(variance))
    assert found.covariance[1, 1] == pytest.approx(variance)
    assert found.independence.g2 < cross_table(reports, [OPEN, OPEN]).independence.g2 * 10


def test_rows_of_weight_0_are_left_out():
    rng = np.random.default_rng(6)
    reports, weights = list(rng.integers(0, 2, (2, 50))), np.arange(50) % 3
    sets = np.eye(2, dtype=int)[reports[0]]
    for first, channel in ((reports[0], COIN), (sets, Margins(0.75, 0.25))):
        found = cross_table([first, reports[1]], [channel, COIN], weights)
        same = cross_table([first[weights > 0], reports[1][weights > 0]], [channel, COIN], weights[weights > 0])
        assert found.warnings[0] == "17 rows of weight 0 are left out"
        assert found.n == same.n == 33
        assert found.standard_errors == pytest.approx(same.standard_errors)


def test_everybody_alike_with_weights_still_has_an_error():
    found = cross_table([[0, 0, 0], [1, 1, 1]], [OPEN, OPEN], [1, 2, 3])
    assert found.standard_errors.min() > 0.1


def test_a_third_report_leaves_something_to_test():
    unsure = np.array([[0.7, 0.1, 0.2], [0.1, 0.5, 0.4]])
    found = cross_table(rows([[90, 5], [5, 5], [5, 90]]), [unsure, OPEN])
    assert found.fit.df == 6 - 4
    assert "non-compliance may be at work" in found.warnings[-1]


def test_em_along_the_axes_finds_what_the_written_out_table_does(monkeypatch):
    rng = np.random.default_rng(7)
    reports = [rng.integers(0, 2, 300), rng.integers(0, 3, 300)]
    written = cross_table(reports, [COIN, KARY])
    monkeypatch.setattr(joint, "WRITTEN_OUT", 0)
    climbed = cross_table(reports, [COIN, KARY])
    assert climbed.maximum_likelihood == pytest.approx(written.maximum_likelihood, abs=1e-3)
    assert climbed.log_likelihood == pytest.approx(written.log_likelihood, abs=1e-4)


def test_em_that_ends_early_says_so(monkeypatch):
    monkeypatch.setattr(joint, "WRITTEN_OUT", 0)
    monkeypatch.setattr("dpengine.inference.simplex.STEPS", 3)
    found = cross_table(rows([[90, 5], [5, 50]]), [COIN, COIN])
    assert "EM ended early" in found.warnings[-1]


def test_the_left_inverse_has_the_identity_as_its_product():
    channel = np.array([[0.7, 0.1, 0.2, 0], [0.1, 0.5, 0.4, 0]])
    assert left_inverse(channel) @ channel.T == pytest.approx(np.eye(2))


def test_randomised_again_and_again_the_real_table_is_found():
    """Cannabis (never, before last month, last month) by ecstasy (never, ever) of 1,885 people; 200 times, seed 23.

    The answers are fixed, so that only the channels' chance spreads the estimates: Var = Σ π(E[u²|cell] − 1 or 0)/n.
    Mean within 4.5 standard errors, spread within 23 %: a false alarm in some 2,000 runs.
    """
    with (DATA / "uci_drug_consumption_dq.csv").open() as file:
        people = [(int(row["cannabis"]), int(row["ecstasy"])) for row in csv.DictReader(file)]
    cannabis, ecstasy = np.digitize(np.array(people)[:, 0], [1, 5]), (np.array(people)[:, 1] > 0).astype(int)
    n, rng = len(people), np.random.default_rng(23)
    truth = np.bincount(cannabis * 2 + ecstasy, minlength=6).reshape(3, 2) / n
    found = [
        cross_table([randomised(cannabis, KARY, rng), randomised(ecstasy, COIN, rng)], [KARY, COIN]) for _ in range(200)
    ]
    moments = np.array([one.moments for one in found])
    seconds = [KARY @ (np.linalg.inv(KARY) ** 2), COIN @ (np.linalg.inv(COIN) ** 2)]  # E[u²|answer]
    device = (along_axes([second.T for second in seconds], truth) - truth) / n
    assert np.all(np.abs(moments.mean(axis=0) - truth) < 4.5 * np.sqrt(device / 200))
    assert moments.std(axis=0, ddof=1) == pytest.approx(np.sqrt(device), rel=0.23)
    held = np.mean([(one.intervals[..., 0] <= truth) & (truth <= one.intervals[..., 1]) for one in found])
    assert held > 0.93  # 95 % and more, since sampling is counted and the answers are fixed
    assert sum(one.independence.p < 0.05 for one in found) > 190


@pytest.mark.parametrize("n", [30, 100])
def test_intervals_of_cells_hold_as_often_as_they_say(n):
    """200 surveys of two coins, seed 24: 95 % less 4 standard errors of one cell is 178; chance below, 1 in 10,000."""
    rng, truth, held = np.random.default_rng(24), np.array([[0.9, 0.04], [0.05, 0.01]]), np.zeros((2, 2))
    for _ in range(200):
        cells = rng.choice(4, size=n, p=truth.ravel())
        found = cross_table([randomised(cells // 2, COIN, rng), randomised(cells % 2, COIN, rng)], [COIN, COIN])
        held += (found.intervals[..., 0] <= truth) & (truth <= found.intervals[..., 1])
    assert held.min() >= 178


@pytest.mark.parametrize(
    ("reports", "channels", "message"),
    [
        ([[0, 1]], [COIN], "reports must be of two or three questions with a channel each, got 1 and 1"),
        ([[0, 1], [0, 1]], [COIN], "got 2 and 1"),
        ([[0, 1], [0]], [COIN, COIN], r"reports must have one row a respondent in every question, got \[2, 1\]"),
        ([[0, 1], [0, 2]], [COIN, COIN], r"reports\[1\] must be whole numbers from 0 to 1"),
        ([[0, 1], [0, 1]], [COIN, [[0.5, 0.4], [0, 1]]], r"the matrix of reports\[1\] must have rows that add up to 1"),
        ([[0, 1], [0, 1]], [COIN, [[0.5, 0.5], [0.5, 0.5]]], "rows that are equal"),
        ([[0, 2], [0, 1]], [[[0.5, 0.5, 0], [0.2, 0.8, 0]], COIN], "a report is impossible"),
        ([[[1, 0], [0, 1]], [0, 1]], [Margins(0.5, 0.5), COIN], "margins must differ: .* got 0.5 and 0.5"),
        ([[[1, 0], [0, 1]], [0, 1]], [Margins(math.nan, 0.5), COIN], "margins must be between 0 and 1, got nan"),
        ([[[1, 2], [0, 1]], [0, 1]], [Margins(0.8, 0.2), COIN], r"reports\[0\] must hold 0 and 1 only"),
        ([[0, 1], [0, 1]], [Margins(0.8, 0.2), COIN], "a row a respondent and a column a choice, got shape"),
    ],
)
def test_nonsense_is_refused_by_name(reports, channels, message):
    with pytest.raises(ValueError, match=message):
        cross_table(reports, channels)


def test_a_table_too_large_to_hold_is_refused():
    sets = np.zeros((1, 300), dtype=int)
    with pytest.raises(ValueError, match="a table must have at most 16777216 cells, got 27000000"):
        cross_table([sets, sets, sets], [Margins(0.8, 0.2)] * 3)
