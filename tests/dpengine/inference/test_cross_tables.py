"""Two questions, each through its own channel: by hand, arm by arm, and in simulated surveys."""

import math

import numpy as np
import pytest

from dpengine.inference.cross_tables import MAX_ARMS, Question, _crossing, cross_table, plackett
from dpengine.inference.shares import category_shares
from tests.dpengine.inference.people import kary, randomised

COIN, OPEN = np.array([[0.75, 0.25], [0.25, 0.75]]), np.eye(2)


def test_the_cases_by_hand():
    yes = Question([1] * 8, [COIN])
    found = cross_table(yes, yes)
    assert found.cells.moments == pytest.approx((1 / 4, -3 / 4, -3 / 4, 9 / 4))
    assert found.cells.maximum_likelihood == pytest.approx((0, 0, 0, 1))
    assert found.odds_ratio.estimate is None
    assert found.odds_ratio.interval == (0, math.inf)
    group, answer = (
        np.repeat([1, 1, 0, 0], [20, 80, 10, 90]),
        np.repeat([1, 0, 1, 0], [20, 80, 10, 90]),
    )
    found = cross_table(Question(answer, [OPEN]), Question(group, [OPEN]))
    assert found.odds_ratio.estimate == pytest.approx(2.25)
    low, high = found.odds_ratio.interval
    assert 0.9 < low < 1.05  # Wald: 2.25·exp(∓1.96·.4167) = .99 to 5.09
    assert 5.0 < high < 5.6


def test_margins_of_the_table_are_each_questions_shares():
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 3, 300), rng.integers(0, 4, 300)
    found = cross_table(Question(one, [kary(3, 1)]), Question(other, [kary(4, 2)]))
    table = np.reshape(found.cells.moments, found.shape)
    assert found.shape == (3, 4)
    assert table.sum(axis=1) == pytest.approx(category_shares(one, [kary(3, 1)]).moments)
    assert table.sum(axis=0) == pytest.approx(category_shares(other, [kary(4, 2)]).moments)
    assert found.independence.df == 6
    assert found.odds_ratio is None


def test_independence_of_direct_answers_is_the_ordinary_likelihood_ratio():
    table = np.array([[30, 20], [10, 40]])
    rows, columns = np.repeat([0, 0, 1, 1], table.ravel()), np.repeat([0, 1, 0, 1], table.ravel())
    found = cross_table(Question(rows, [OPEN]), Question(columns, [OPEN]))
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    assert found.independence.g2 == pytest.approx(2 * (table * np.log(table / expected)).sum())


def test_constants_of_each_row_are_arms():
    """Half of the first question's people were asked with the odds turned round."""
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    arm = rng.integers(0, 2, 400)
    turned = np.where(arm == 1, 1 - first, first)
    plain = cross_table(Question(first, [COIN]), Question(second, [COIN]))
    found = cross_table(Question(turned, [COIN, COIN[:, ::-1]], arm), Question(second, [COIN]))
    assert found.cells.maximum_likelihood == pytest.approx(plain.cells.maximum_likelihood, abs=1e-6)
    assert found.odds_ratio.estimate == pytest.approx(plain.odds_ratio.estimate, rel=1e-5)
    assert found.odds_ratio.interval == pytest.approx(plain.odds_ratio.interval, rel=1e-4)


def test_weights_count_as_people_and_cost_precision():
    rows, columns = (
        np.repeat([0, 0, 1, 1], [30, 20, 10, 40]),
        np.repeat([0, 1, 0, 1], [30, 20, 10, 40]),
    )
    weights = np.tile([1.0, 3.0], 50)
    plain = cross_table(Question(rows, [OPEN]), Question(columns, [OPEN]))
    found = cross_table(Question(rows, [OPEN]), Question(columns, [OPEN]), weights)
    assert found.odds_ratio.estimate == pytest.approx(plain.odds_ratio.estimate)
    assert found.odds_ratio.interval[0] < plain.odds_ratio.interval[0]
    assert found.independence.g2 < plain.independence.g2


def test_placketts_table_has_its_shares_and_its_ratio():
    for first, second, ratio in (
        (0.3, 0.6, 4.0),
        (0.1, 0.2, 0.05),
        (0.5, 0.5, 1.0),
        (0.9, 0.8, 1e-9),
    ):
        table = plackett(first, second, ratio)
        assert (table[1].sum(), table[:, 1].sum()) == pytest.approx((first, second))
        assert table[1, 1] * table[0, 0] == pytest.approx(
            ratio * table[0, 1] * table[1, 0], abs=1e-9
        )


def test_intervals_of_cells_and_odds_ratios_hold():
    """200 surveys of 400, two channels; 94 % in truth fails less than once in 1,000 below 176."""
    rng, table = np.random.default_rng(11), np.array([0.4, 0.2, 0.15, 0.25])
    ratio = 0.4 * 0.25 / (0.2 * 0.15)
    channel = np.array([[0.88, 0.12], [0.12, 0.88]])
    held, ratios = np.zeros(4), 0
    for _ in range(200):
        pair = rng.choice(4, 400, p=table)
        first, second = randomised(pair // 2, channel, rng), randomised(pair % 2, OPEN, rng)
        found = cross_table(Question(first, [channel]), Question(second, [OPEN]))
        held += [
            low <= share <= high
            for share, (low, high) in zip(table, found.cells.intervals, strict=True)
        ]
        low, high = found.odds_ratio.interval
        ratios += low <= ratio <= high
    assert min(*held, ratios) >= 176


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (Question([0, 1], [OPEN]), "both questions must have one row a respondent, got 3 and 2"),
        (Question([0, 1, 2], [OPEN]), "reports must be whole numbers from 0 to 1"),
        (Question([0, 1, 1], [[[0.5, 0.5], [0.5, 0.5]]]), "independent rows"),
    ],
)
def test_what_makes_no_table_is_refused(second, words):
    with pytest.raises(ValueError, match=words):
        cross_table(Question([0, 1, 1], [COIN]), second)


def test_odds_that_all_differ_are_refused():
    people = MAX_ARMS + 1
    arms = Question([0] * people, [COIN] * people, range(people))
    with pytest.raises(ValueError, match=f"at most {MAX_ARMS} different pairs .*, got {people}"):
        cross_table(arms, Question([0] * people, [COIN]))


def test_a_profile_that_is_nowhere_above_its_line_ends_at_the_estimate():
    assert _crossing(lambda ratio: -1.0, math.log(3), 9.0) == pytest.approx(3)
