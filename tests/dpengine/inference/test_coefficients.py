import math

import numpy as np
import pytest

from dpengine.inference.coefficients import Coefficient, Regression, likelihood_ratio


def regression(log_likelihood, size=1, n=100, is_weighted=False):
    each = tuple(Coefficient(f"x{i}", 1.0, 0.5) for i in range(size))
    return Regression(n, each, log_likelihood, -2 * log_likelihood, None, (), np.eye(size), is_weighted=is_weighted)


def test_a_coefficient_by_hand():
    found = Coefficient("age", -1.0, 0.5)
    assert found.z == -2
    assert found.p == pytest.approx(0.0455, abs=1e-4)
    assert found.interval == pytest.approx((-1.98, -0.02), abs=1e-3)


def test_a_coefficient_without_a_summit_can_be_anything():
    found = Coefficient("age", 25.0, math.inf)
    assert (found.z, found.p) == (0, 1)
    assert found.interval == (-math.inf, math.inf)


def test_coefficients_are_found_by_name():
    assert regression(-5, 2)["x1"].name == "x1"
    with pytest.raises(KeyError):
        regression(-5)["y"]


def test_a_likelihood_ratio_by_hand():
    found = likelihood_ratio(regression(-50.0, 3), regression(-53.0, 1))
    assert (found.g2, found.df) == (6, 2)
    assert found.p == pytest.approx(math.exp(-3))
    assert regression(-50.0, 3).aic == 106


@pytest.mark.parametrize(
    ("full", "reduced", "message"),
    [
        (regression(-5, 2, is_weighted=True), regression(-6), "without survey weights"),
        (regression(-5, 2), regression(-6, is_weighted=True), "without survey weights"),
        (regression(-5, 2, n=9), regression(-6), "of the same rows, got 9 and 100"),
        (regression(-5), regression(-6), "more parameters, got 1 and 1"),
        (regression(-7, 2), regression(-6), "must hold the reduced one, but is less likely"),
    ],
)
def test_models_that_are_not_nested_are_refused(full, reduced, message):
    with pytest.raises(ValueError, match=message):
        likelihood_ratio(full, reduced)
