"""Histograms and other tallies of integers, and which noise to put on them.

One person's report adds 1 to `held` of the `cells` counts of each tally: held = 1 for a histogram,
w for a tally of w-subsets. So their vector moves, in counts, by at most

                           L1 and L2²
    add-remove             held
    change-one             2·min(held, cells − held): two reports differ in that many cells
    change-one, 2 cells    1: n is public, so one count is published, the other is n minus it

and several tallies of the same reports, all published, by the sums of these.

Privacy    that of the noise chosen, discrete Laplace (laplace.py) or Gaussian (gaussian.py), for
           those neighbours.
Choice     what has the smaller variance at the budget, both calibrated exactly:
               pure ε        Laplace: Gaussian noise has no finite ε
               ρ             Laplace at ε = √(2ρ), variance ≈ L1²/ρ, against Gaussian, L2²/(2ρ)
Error      Var Z and E|Z| of the noise chosen, per count; any of m counts is off by more than a with
           chance at most 2m·P(Z > a).
By hand    A histogram of 10 cells, change-one: L1 = L2² = 2. At ε = 1: Laplace, scale 2, variance
           7.84. At ρ = 1/2 (what ε = 1 costs): Gaussian, σ² = 2.
Sources    Dwork and Roth 2014, Thm 3.6; Canonne, Kamath and Steinke 2020; which neighbours are
           meant: 001, § 2.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpengine.central.gaussian import DiscreteGaussian, root_above
from dpengine.central.laplace import DiscreteLaplace
from dpengine.checks import require
from dpengine.estimates import NoNoise
from dpengine.privacy import Cost, Neighbours


@dataclass(frozen=True, slots=True)
class AsTheyCame(NoNoise):
    """No noise: for counts of reports whose devices' chance is all that is wanted.

    By itself it promises nothing, so that it has no cost of its own: what answers lose is what
    their devices gave away, at most (dpengine.contraction).
    """

    scale: ClassVar[float] = 0.0
    mean_absolute_error: ClassVar[float] = 0.0

    @property
    def cost(self) -> Cost:
        raise ValueError("counts as they came have no cost: count what answers lose")

    def release(self, counts: Sequence[int]) -> list[int]:
        return [int(count) for count in counts]


Mechanism = DiscreteLaplace | DiscreteGaussian | AsTheyCame


@dataclass(frozen=True, slots=True)
class Tally:
    """The shape of a vector of counts, and how far one person moves it."""

    cells: int
    neighbours: Neighbours
    held: int  # cells that one report counts in

    def __post_init__(self) -> None:
        require(
            1 <= self.held <= self.cells,
            "held must be 1 to {} cells, got {}",
            self.cells,
            self.held,
        )
        require(
            self.moved != 0,
            "all reports hold the same cells: with public n nothing is left to publish",
        )

    @property
    def is_one_count(self) -> bool:
        """Tell whether one count says all: two cells, one held, and n public."""
        return (self.cells, self.held) == (2, 1) and self.neighbours is Neighbours.CHANGE_ONE

    @property
    def moved(self) -> int:
        """Return in how many published counts neighbours can differ, by 1 each: L1 and L2²."""
        if self.is_one_count:
            return 1
        if self.neighbours is Neighbours.ADD_REMOVE:
            return self.held
        return 2 * min(self.held, self.cells - self.held)

    @property
    def published(self) -> int:
        """Return how many counts are published."""
        return 1 if self.is_one_count else self.cells

    def vector(self, counts: Sequence[int]) -> list[int]:
        """Return the counts to put noise on."""
        require(len(counts) == self.cells, "expected {} counts, got {}", self.cells, len(counts))
        return list(counts[1:] if self.is_one_count else counts)

    def counts(self, noisy: Sequence[int], n: int) -> list[int]:
        """Return a noisy count for every cell from a noisy vector."""
        return [n - noisy[0], noisy[0]] if self.is_one_count else list(noisy)


@dataclass(frozen=True, slots=True)
class Choice:
    """The noise for some tallies at a budget, and why it and not the other."""

    tallies: tuple[Tally, ...]
    mechanism: Mechanism
    why: str

    def release(self, counts: Sequence[Sequence[int]], n: int) -> list[list[int]]:
        """Return every tally's counts with noise; only one-count tallies use the public n."""
        vectors = [tally.vector(own) for tally, own in zip(self.tallies, counts, strict=True)]
        noisy = iter(self.mechanism.release([count for vector in vectors for count in vector]))
        return [
            tally.counts([next(noisy) for _ in range(tally.published)], n) for tally in self.tallies
        ]


def for_epsilon(
    tallies: Sequence[Tally], epsilon: Fraction | None, *, has_delta: bool = False
) -> Choice:
    """Return Laplace noise: the only one of the two with a finite ε and no δ; none for None. Why
    differs where the budget has a δ, and holds by the sum of ε too.
    """
    if epsilon is None:
        return Choice(tuple(tallies), AsTheyCame(), "None is needed: the devices added enough")
    return Choice(
        tuple(tallies),
        DiscreteLaplace.for_epsilon(epsilon, _moved(tallies)),
        "Laplace: it counts in ε too, as Gaussian noise would not"
        if has_delta
        else "Laplace: the budget is pure, and Gaussian noise always needs a δ",
    )


def laplace_or_none(epsilon: Fraction | None, sensitivity: int) -> Mechanism:
    """Return the noise of this ε; none for None."""
    if epsilon is None:
        return AsTheyCame()
    return DiscreteLaplace.for_epsilon(epsilon, sensitivity)


def for_rho(tallies: Sequence[Tally], rho: Fraction) -> Choice:
    """Return the noise of smaller variance that costs at most ρ."""
    moved = _moved(tallies)
    laplace, gaussian = _both(moved, moved, rho)
    better = _lesser(laplace, gaussian)
    spreads = (
        f"{math.sqrt(laplace.variance):,.3g} for Laplace noise, "
        f"{math.sqrt(gaussian.variance):,.3g} for Gaussian"
    )
    name = "Laplace" if better is laplace else "Gaussian"
    return Choice(
        tuple(tallies),
        better,
        f"{name}: the smaller standard error of a count at this cost ({spreads})",
    )


def lesser(l1: int, squared: int, rho: Fraction) -> DiscreteLaplace | DiscreteGaussian:
    """Return the noise of smaller variance that costs at most ρ, for a vector's own L1 and L2²."""
    return _lesser(*_both(l1, squared, rho))


def _both(l1: int, squared: int, rho: Fraction) -> tuple[DiscreteLaplace, DiscreteGaussian]:
    """Return both noises at ρ. Laplace noise has ε²/2 ≤ ρ: scale² = L1²/(2ρ), the float above."""
    laplace = DiscreteLaplace(root_above(l1**2 / (2 * Fraction(rho))), l1)
    return laplace, DiscreteGaussian.for_rho(rho, squared)


def _lesser(
    laplace: DiscreteLaplace, gaussian: DiscreteGaussian
) -> DiscreteLaplace | DiscreteGaussian:
    return laplace if laplace.variance <= gaussian.variance else gaussian


def largest_error(noise: Mechanism, counts: int, confidence: float = 0.95) -> int:
    """Return the least a with 2·counts·P(Z > a) ≤ 1 − confidence."""
    require(
        counts >= 1 and 0 < confidence < 1,
        "expected 1 count or more and a confidence between 0 and 1, got {} and {}",
        counts,
        confidence,
    )
    allowed = (1 - confidence) / (2 * counts)

    def is_enough(reach: int) -> bool:
        return float(noise.tail(np.array([reach + 1]))[0]) <= allowed

    high = 1
    while not is_enough(high):
        high *= 2
    return bisect_left(range(high), True, key=is_enough)


def _moved(tallies: Sequence[Tally]) -> int:
    require(tallies, "expected one tally or more, got none")
    return sum(tally.moved for tally in tallies)
