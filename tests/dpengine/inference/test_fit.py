import numpy as np
import pytest

from dpengine.inference.fit import Fit, fit_of, fit_of_table

ONES = np.ones((200, 1))
CHANNEL = np.repeat([0, 1], 100)


def test_a_table_by_hand():
    fit = fit_of(np.array([10, 20, 30]), np.array([20, 20, 20]), df=2)
    assert fit.g2 == pytest.approx(10.4650, abs=1e-4)  # 2(10 ln ½ + 30 ln 3/2)
    assert fit.p == pytest.approx(0.0053, abs=1e-4)


def test_nothing_left_to_test_has_no_chance():
    assert Fit(g2=0.0, df=0).p is None


def test_an_empty_cell_adds_nothing():
    assert fit_of(np.array([0, 5]), np.array([0, 5]), df=1).g2 == 0


def test_cells_must_match():
    with pytest.raises(ValueError, match="expected as many cells as observed, got 1 and 2"):
        fit_of(np.array([1, 2]), np.array([3]), df=1)


def table(share):
    return np.full((200, 2), [1 - share, share])


def test_groups_of_two_channels_by_hand():
    reports = np.concatenate([np.arange(100) < 30, np.arange(100) < 10]).astype(int)
    found = fit_of_table(ONES, CHANNEL, reports, table(0.2), parameters=1)
    assert found.df == 1
    assert found.g2 == pytest.approx(
        2 * (30 * np.log(1.5) + 70 * np.log(7 / 8) + 10 * np.log(0.5) + 90 * np.log(9 / 8))
    )


def test_a_report_that_cannot_come_is_no_cell():
    chances = np.column_stack([table(0.2), np.zeros(200)])
    assert fit_of_table(ONES, CHANNEL, np.zeros(200, dtype=int), chances, parameters=1).df == 1


def test_small_cells_are_not_judged():
    few = np.zeros(200, dtype=int)
    # half a person expected
    assert fit_of_table(ONES, CHANNEL, few, table(0.005), parameters=1) is None
    # half of the cells below 5
    assert fit_of_table(ONES, CHANNEL, few, table(0.03), parameters=1) is None
    assert (
        fit_of_table(
            np.arange(2000.0)[:, np.newaxis], np.zeros(2000), few, table(0.5), parameters=1
        )
        is None
    )


@pytest.mark.parametrize(("g2", "df", "poor"), [(9.0, 1, True), (1.0, 1, False), (1.0, 0, False)])
def test_a_fit_less_likely_than_one_in_twenty_is_poor(g2, df, poor):
    assert Fit(g2, df).is_poor is poor
