import math

import numpy as np
import pytest

from dpengine.inference.coefficients import Coefficient, Regression


def test_a_coefficient_by_hand():
    found = Coefficient("age", -1.0, 0.5)
    assert found.z == -2
    assert found.p == pytest.approx(0.0455, abs=1e-4)


def test_a_coefficient_without_a_summit_is_not_told_from_0():
    found = Coefficient("age", 25.0, math.inf)
    assert (found.z, found.p) == (0, 1)


def test_coefficients_are_found_by_name():
    coefficients = tuple(Coefficient(f"x{place}", 1.0, 0.5) for place in range(2))
    regression = Regression(100, coefficients, -5.0, None, (), np.eye(2))
    assert regression["x1"] is coefficients[1]
    with pytest.raises(KeyError):
        regression["y"]
