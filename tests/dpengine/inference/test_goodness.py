import numpy as np
import pytest

from dpengine.inference.fit import Fit
from dpengine.inference.goodness import alarms, fit_of_table

ONES = np.ones((200, 1))
CHANNEL = np.repeat([0, 1], 100)


def table(share):
    return np.full((200, 2), [1 - share, share])


def test_a_table_by_hand():
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
    assert fit_of_table(ONES, CHANNEL, few, table(0.005), parameters=1) is None  # half a person expected
    assert fit_of_table(ONES, CHANNEL, few, table(0.03), parameters=1) is None  # half of the cells below 5
    assert fit_of_table(np.arange(2000.0)[:, np.newaxis], np.zeros(2000), few, table(0.5), parameters=1) is None


def test_an_alarm_says_what_may_be_the_matter():
    poor, good = Fit(g2=9.0, df=1), Fit(g2=1.0, df=1)
    assert "non-compliance may be at work" in alarms(poor, channels=2)[0]
    assert "a term may be missing" in alarms(poor, channels=1)[0]
    assert not [*alarms(good, 2), *alarms(None, 2), *alarms(Fit(g2=1.0, df=0), 2)]
