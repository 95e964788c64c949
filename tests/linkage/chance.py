"""How often a join that knows nothing is right: exact laws under one drawn from all permutations.

Within a set of m people a join is a permutation. If it knows nothing, all m! are as likely:

right    so many fixed points: P(k) = 1/k! · Σ_{j ≤ m−k} (−1)ʲ/j! (rencontres; Montmort 1708)
halves   of the h people in the first half of one order so many are in the first half of the other:
         hypergeometric (Fisher 1935). It finds an order that is only roughly kept.

Sets are independent of each other, so that their sum's law is the convolution. What is returned is
the chance of as many or more (`halves`: as far off on either side, twice the smaller tail).
"""

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy

Floats = npt.NDArray[np.float64]
MOST = 170  # fixed points of a set that have a chance above the least float


def of_right(right: int, sizes: Iterable[int]) -> float:
    """Return the chance of so many right joins or more in sets of these sizes."""
    return min(float(_sum(tuple(sorted(sizes)))[right:].sum()), 1.0)


@lru_cache(maxsize=1024)
def _sum(sizes: tuple[int, ...]) -> Floats:
    law = np.ones(1)
    for size in sizes:
        law = np.convolve(law, _fixed_points(size))
    return law


@lru_cache(maxsize=1024)
def _fixed_points(size: int) -> Floats:
    none = [sum((-1) ** j / math.factorial(j) for j in range(left + 1)) for left in range(MOST + 1)]
    return np.array(
        [none[min(size - k, MOST)] / math.factorial(k) for k in range(min(size, MOST) + 1)]
    )


def of_halves(both: int, sizes: Iterable[int]) -> float:
    """Return the chance that so many are in the first half of both orders, or as far off."""
    law = _halves(tuple(sorted(sizes)))
    return min(2 * min(float(law[both:].sum()), float(law[: both + 1].sum())), 1.0)


@lru_cache(maxsize=1024)
def _halves(sizes: tuple[int, ...]) -> Floats:
    law = np.ones(1)
    for size in sizes:
        half = size // 2
        own = scipy.stats.hypergeom.pmf(np.arange(half + 1), size, half, half)
        law = np.convolve(law, own)
    return law
