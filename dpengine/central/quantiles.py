"""Quantiles and the median, chosen from a public grid, with an interval for the population's
quantile.

The grid g₀ < g₁ < … < g_m−1 covers the bounds in equal whole steps. A value counts as the highest
grid point not above it: that is monotone, so the quantile of what counts is the grid point below
the quantile, and one point always fits exactly. With L = people below g, L' = people at or below g,
the score of g for a rank τ is the people it is off by:

    u(g) = −max(0, L − τ, τ − L')          τ = q·n for the q-quantile, 0 ≤ q ≤ 1 a fraction; in
                                           whole 1/den(τ) people

and a point is chosen by report noisy max with one-sided exponential noise (selection.py). Spread of
u over neighbours:

    change-one   2 people: one value moved past points raises scores on one side of τ by 1, lowers
                 those on the other
    add-remove   2·max(q, 1 − q) people: one value more moves L or L' by 1 and τ by q; on both sides
                 of τ it moves scores by q in one direction, in between by 1 − q in the other, or
                 the other way round

Privacy    pure ε = spread/scale for each draw. A draw at a rank τ that depends on public values
           only is such a draw.
Cost       interval: ε/3 for the quantile and for each of its two limits; under add-remove a fifth
           of the limits' ε first for a noisy n, from which their q is computed. ρ = Σε²/2 over
           these draws.
Error      P(off by more than t people) ≤ m·e^(−t/scale), scale = spread/ε in people: the chosen
           one's noise must be t at least (union bound over m points). So t = scale·ln(m/β).
           Exactly, for a histogram: `law`. In values: the step more.
Interval   95 % for the q-quantile ξ of the population. X₍r₎ ≤ ξ but for a chance of 1.5 %, r the
           highest rank with P(Bin(n, q) ≥ r) ≥ 98.5 %; the lower limit aims at rank r − 1 − t, t of
           β = 1 %, so it is at or below X₍r₎. The upper mirrors it, and adds the step. No shape of
           the population is assumed. Where a rank is out of reach (below 0, above n), the limit is
           the bound itself. Add-remove: β = 0.5 %, and 1 % for the noisy n.
By hand    0, 0, 5, 9, 9, median of 0 to 9: τ = 5/2, u(0) = −1/2, u(1..4) = −1/2, u(5) = 0, u(6..8)
           = −1/2, u(9) = −1/2.
Sources    Smith 2011; Dwork and Roth 2014, § 3.4; McKenna and Sheldon 2020; order statistics,
           Thompson 1936.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from scipy import special

from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.numeric import Bounds, Measured, half_width
from dpengine.central.selection import Selection
from dpengine.checks import require
from dpengine.privacy import Cost, Neighbours

MAX_POINTS = 1024  # of a grid
FINEST = 10**6  # a quantile is a fraction of at most so many parts
SAMPLING = 0.015  # chance on each side that sampling puts ξ outside
CHOOSING = 0.01  # chance on each side that a limit is farther off than t
# of ε, for n where it is not public; half of CHOOSING then goes to it
PEOPLE_SHARE = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class Grid:
    """Equally spaced whole numbers over public bounds."""

    bounds: Bounds
    step: int = 0  # 0: as fine as MAX_POINTS allows

    def __post_init__(self) -> None:
        require(self.step >= 0, "step must be 1 or more, or 0 for the finest, got {}", self.step)
        if self.step == 0:
            object.__setattr__(self, "step", -(-(self.bounds.width + 1) // MAX_POINTS))
        require(
            self.size <= MAX_POINTS,
            "step must leave at most {} points, got {}",
            MAX_POINTS,
            self.size,
        )

    @property
    def size(self) -> int:
        return self.bounds.width // self.step + 1

    def point(self, place: int) -> int:
        return self.bounds.least + place * self.step

    def counts(self, values: Sequence[int]) -> list[int]:
        """Return how many values count as each point."""
        people = [0] * self.size
        for value in values:
            people[(self.bounds.clamp(value) - self.bounds.least) // self.step] += 1
        return people


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile alone, without an interval."""

    grid: Grid
    quantile: Fraction
    neighbours: Neighbours
    selection: Selection  # its scores are people times the quantile's denominator

    @classmethod
    def for_epsilon(
        cls, epsilon: Fraction, grid: Grid, quantile: Fraction, neighbours: Neighbours
    ) -> "Quantile":
        check_quantile(quantile)
        parts = quantile.denominator
        if neighbours is Neighbours.CHANGE_ONE:
            spread = 2 * parts
        else:
            spread = 2 * max(quantile.numerator, parts - quantile.numerator)
        return cls(grid, quantile, neighbours, Selection.for_epsilon(epsilon, spread))

    @property
    def cost(self) -> Cost:
        return self.selection.cost

    def off_by(self, beta: float) -> float:
        """Return t: people that the chosen point's rank is off by, but for a chance of beta."""
        return self.selection.largest_loss(self.grid.size, 1 - beta) / self.quantile.denominator

    def law(self, values: Sequence[int]) -> list[float]:
        """Return the exact chance of every point: for tests, and plans with made-up values."""
        return self.selection.chances(self._scores(values, self.quantile * len(values)))

    def release(self, values: Sequence[int]) -> int:
        """Return the chosen grid point. Publish once."""
        return self.at_rank(values, self.quantile * len(values))

    def at_rank(self, values: Sequence[int], rank: Fraction) -> int:
        """Return the point chosen for another, public rank at the same cost (change-one)."""
        return self.grid.point(self.selection.release(self._scores(values, rank))[0])

    def _scores(self, values: Sequence[int], rank: Fraction) -> list[int]:
        """Return u of every point, in whole 1/denominator people."""
        parts = self.quantile.denominator
        target, below, scores = int(rank * parts), 0, []
        for count in self.grid.counts(values):
            scores.append(-max(0, below * parts - target, target - (below + count) * parts))
            below += count
        return scores


@dataclass(frozen=True, slots=True)
class Limits:
    """The two limits of a 95 % interval for the population's quantile, alone."""

    grid: Grid
    quantile: Fraction
    neighbours: Neighbours
    epsilon: Fraction  # asked for; the parts cost no more

    def __post_init__(self) -> None:
        check_quantile(self.quantile)
        require(self.epsilon > 0, "epsilon must be above 0, got {}", self.epsilon)

    @property
    def cost(self) -> Cost:
        """Return the cost of the draws one after another: their ε add up, and so do their ρ."""
        limits = Cost.pure(self.each) + Cost.pure(self.each)
        return limits + self.people.cost if self.people else limits

    @property
    def people(self) -> DiscreteLaplace | None:
        """Return the noise of n, where n is not public."""
        if self.neighbours is Neighbours.CHANGE_ONE:
            return None
        return DiscreteLaplace.for_epsilon(self.epsilon * PEOPLE_SHARE, 1)

    @property
    def each(self) -> Fraction:
        """Return the ε of each of the two draws."""
        return self.epsilon * (1 - PEOPLE_SHARE if self.people else 1) / 2

    def ranks(self, n: int) -> tuple[float, float]:
        """Return the ranks that the limits aim at among n people, t included."""
        first = self._at(Fraction(0))  # the widest spread of scores
        off = first.off_by(CHOOSING / 2 if self.people else CHOOSING)
        low, high = order_statistics(n, self.quantile, SAMPLING)
        return low - 1 - off, high + off

    def release(self, values: Sequence[int]) -> tuple[int, int]:
        """Return lower and upper limit. Publish once."""
        bounds = self.grid.bounds
        if not self.people:
            low, high = self.ranks(len(values))
            n, fewest, greatest = len(values), low, high
        else:
            n, fewest, greatest = self._noisy_ranks(len(values))
        lower = bounds.least if fewest < 0 else self._draw(values, math.floor(fewest), n)
        upper = (
            bounds.most
            if greatest > n
            else self._draw(values, math.ceil(greatest), n) + self.grid.step - 1
        )
        return min(lower, upper), min(max(lower, upper), bounds.most)

    def _noisy_ranks(self, people: int) -> tuple[int, float, float]:
        """Return a noisy n, and ranks among so many that hold for every n within its noise.

        A draw is for a fraction of all people. If n is at most d more or fewer than the noisy n,
        the fraction of a rank moves it by at most d; sampling at n·q ± d is covered by the same.
        """
        assert self.people is not None  # noqa: S101 (for the type checker)
        n = max(self.people.release([people])[0], 1)
        off = half_width(self.people.scale, 0.0, CHOOSING)
        low, high = self.ranks(n)
        return n, low - 2 * off, high + 2 * off

    def _draw(self, values: Sequence[int], rank: int, n: int) -> int:
        if self.people:
            fraction = Fraction(min(rank, n), n).limit_denominator(FINEST)
            return self._at(fraction).release(values)
        return self._at(Fraction(0)).at_rank(values, Fraction(rank))

    def _at(self, quantile: Fraction) -> Quantile:
        return Quantile.for_epsilon(self.each, self.grid, quantile, self.neighbours)


@dataclass(frozen=True, slots=True)
class QuantileWithInterval:
    """A quantile and its interval: a third of ε for it, two thirds for the two limits."""

    point: Quantile
    limits: Limits

    @classmethod
    def for_epsilon(
        cls, epsilon: Fraction, grid: Grid, quantile: Fraction, neighbours: Neighbours
    ) -> "QuantileWithInterval":
        return cls(
            Quantile.for_epsilon(Fraction(epsilon) / 3, grid, quantile, neighbours),
            Limits(grid, quantile, neighbours, Fraction(epsilon) * 2 / 3),
        )

    @property
    def cost(self) -> Cost:
        return self.point.cost + self.limits.cost

    def release(self, values: Sequence[int]) -> Measured:
        """Return the quantile with its interval.

        Publish once; nobody at all is refused only where n is public.
        """
        require(
            self.limits.neighbours is not Neighbours.CHANGE_ONE or values,
            "n must be 1 or more, got 0",
        )
        return within_limits(self.point.release(values), *self.limits.release(values))


def within_limits(value: float, low: float, high: float) -> Measured:
    """Return a number with limits drawn apart; its standard error is that of a normal law."""
    low, high = min(low, value), max(high, value)
    return Measured(value, low, high, (high - low) / (2 * 1.959964))


def order_statistics(n: int, quantile: Fraction, error: float) -> tuple[int, int]:
    """Return ranks r ≤ s with X₍r₎ ≤ ξ ≤ X₍s₎ but for a chance of `error` each.

    0 and n + 1 where there is none.
    """
    ranks = range(n + 1)
    at = float(quantile)
    # P(Bin(n, q) ≤ k) rises with k: r − 1 is the last k where it is at most the error
    low = bisect_right(ranks, error, key=lambda k: float(special.bdtr(k, n, at)))
    high = bisect_right(ranks, -error, key=lambda k: -float(special.bdtrc(k, n, at)))
    return (low, high + 1) if quantile not in (0, 1) else ((0, 1) if quantile == 0 else (n, n + 1))


def check_quantile(quantile: Fraction) -> None:
    require(0 <= quantile <= 1, "quantile must be from 0 to 1, got {}", quantile)
    require(
        quantile.denominator <= FINEST,
        "quantile must be a fraction of at most {} parts, got {}",
        FINEST,
        quantile,
    )
