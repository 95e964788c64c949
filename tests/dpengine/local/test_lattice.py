from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import NoNoise
from dpengine.local.lattice import Sums


def test_two_coins_by_hand():
    sums = Sums.of(2, np.array([-1, 1]), NoNoise())
    fair = np.array([0.5, 0.5])
    assert [sums.at_least(fair, total) for total in (-3, -2, 0, 2, 3)] == pytest.approx(
        [1, 1, 0.75, 0.25, 0]
    )


def test_small_sums_agree_with_enumeration():
    outputs, chances = np.array([-3, -1, 2, 4]), np.array([0.1, 0.4, 0.3, 0.2])
    sums = Sums.of(5, outputs, NoNoise())
    for total in range(-16, 22):
        expected = sum(
            np.prod([chances[i] for i in draw])
            for draw in product(range(4), repeat=5)
            if outputs[list(draw)].sum() >= total
        )
        assert sums.at_least(chances, total) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [30, 1_000, 50_000])
def test_a_binomial_tail_is_exact_for_few_and_many(n):
    sums = Sums.of(n, np.array([0, 1]), NoNoise())
    for total in (n // 10 - 3, n // 10, n // 10 + 2):
        assert sums.at_least(np.array([0.9, 0.1]), total) == pytest.approx(
            stats.binom.sf(total - 1, n, 0.1), abs=1e-9
        )


def test_noise_on_every_count_joins_with_its_outputs_weight():
    """One certain report of 1 and noise on the counts of 1 and 2: S = 1 + Z₁ + 2·Z₂."""
    noise = DiscreteLaplace.for_epsilon(Fraction(1), 2)
    sums = Sums.of(1, np.array([1, 2]), noise)
    values = np.arange(-300, 301)
    law = noise.tail(values) - noise.tail(values + 1)
    for total in (-3, 1, 6):
        expected = sum(
            law[(values >= total - 1 - 2 * z)].sum() * p for z, p in zip(values, law, strict=True)
        )
        assert sums.at_least(np.array([1.0, 0.0]), total) == pytest.approx(expected, abs=1e-6)


def test_totals_beyond_the_ring_are_certain_or_impossible():
    sums = Sums.of(10, np.array([-1, 0, 1]), NoNoise())
    assert sums.at_least(np.ones(3) / 3, 10**9) == 0
    assert sums.at_least(np.ones(3) / 3, -(10**9)) == 1
