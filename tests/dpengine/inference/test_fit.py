import pytest

from dpengine.inference.fit import Fit, fit_of


def test_a_table_by_hand():
    fit = fit_of([10, 20, 30], [20, 20, 20], df=2)
    assert fit.g2 == pytest.approx(10.4650, abs=1e-4)  # 2(10 ln ½ + 30 ln 3/2)
    assert fit.p == pytest.approx(0.0053, abs=1e-4)


def test_nothing_left_to_test_has_no_chance():
    assert Fit(g2=0.0, df=0).p is None


def test_an_empty_cell_adds_nothing():
    assert fit_of([0, 5], [0, 5], df=1).g2 == 0


def test_cells_must_match():
    with pytest.raises(ValueError, match="expected as many cells as observed, got 1 and 2"):
        fit_of([1, 2], [3], df=1)
