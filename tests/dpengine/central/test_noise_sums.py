from fractions import Fraction

import numpy as np
import pytest

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.noise_sums import Laws


def law_of(noise, reach):
    at = np.arange(-reach, reach + 1)
    return noise.tail(at) - noise.tail(at + 1)


NOISES = [
    DiscreteLaplace.for_epsilon(Fraction(3, 2), 2),
    DiscreteGaussian.for_rho(Fraction(1, 2), 2),
]


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
def test_laws_of_sums_are_those_of_adding_one_by_one(noise):
    """Twice one cell's noise less once each of two others', by convolution."""
    reach = 60
    one = law_of(noise, reach)
    twice = np.zeros(4 * reach + 1)
    twice[::2] = one
    added = np.cumsum(np.convolve(np.convolve(twice, one), one))
    laws = Laws.of(noise, [(2, 1, 1)], 3)
    points = np.arange(-40, 41)
    expected = added[points + len(added) // 2]
    assert laws.at(points[None])[0] == pytest.approx(expected, abs=1e-7)
    tail = laws.quantiles(0.01)[0]
    assert added[tail + len(added) // 2] <= 0.01 < added[tail + 1 + len(added) // 2]
