"""Quantiles and the median, chosen from a public grid, each with an interval for the population's
quantile.

The grid g₀ < g₁ < … < g_m−1 covers the bounds in equal whole steps. A value counts as the highest
grid point not above it: that is monotone, so the quantile of what counts is the grid point below
the quantile, and one point always fits exactly. With L = people below g, L' = people at or below g,
the score of g for a rank τ is the people it is off by:

    u(g) = −max(0, L − τ, τ − L')          τ = q·n for the q-quantile, 0 ≤ q ≤ 1 a fraction; in
                                           whole 1/den(τ) people

and a point is chosen by report noisy max with one-sided exponential noise, which is permute and
flip (selection.py). Spread of u over neighbours:

    change-one   2 people: one value moved past points raises scores on one side of τ by 1, lowers
                 those on the other
    add-remove   2·max(q, 1 − q) people: one value more moves L or L' by 1 and τ by q; on both sides
                 of τ it moves scores by q in one direction, in between by 1 − q in the other, or
                 the other way round

Privacy    pure ε = spread/scale for the draw, or by the exponential mechanism ρ (selection.py).
Error      P(off by more than t people) ≤ m·e^(−t/scale), scale = spread/ε in people: the chosen
           one's noise must be t at least (union bound over m points). So t = scale·ln(m/β).
           Exactly, for a histogram: `law`. In values: the step more.
Interval   95 % for the q-quantile ξ of the population. Around a centre c that is public by now
           (the quantile that was drawn) the bounds are cut at edges e: at c and at distances from
           it that grow by half, fine where it lies whatever the scale of the answers. Where a side
           is short of them the widest cells are halved, so that the number of cells, B, depends on
           the grid only. Each cell's people get Laplace or Gaussian noise, once: L1 = L2² = 2 under
           change-one, 1 under add-remove. With S the noisy people up to e, in j cells, and S' the
           others, N(e) − qn is estimated without bias as
               change-one   (1 − j/B)·S − (j/B)·(S' − n) − qn: of least variance where n is known
               add-remove   (1 − q)·S − q·S': the only one where it is not
           e is taken to be below ξ if that is at most l_j, about the 2.5 % quantile of Bin(n, q) −
           qn + noise: for e ≥ ξ, F(e) ≥ q, and N(e) is no less than such a binomial. The lower
           limit follows the last edge that is taken so with all before it; it is wrong only if the
           first edge from ξ on is taken so: one test, no union over edges. Which one that is may
           depend on the sample, through c, but not on this noise: so l_j is lowered until E max_j
           P(noise ≤ l_j − N + qn) ≤ 2.5 %, N that binomial. The upper limit mirrors it. Add-remove:
           l_j falls with n and is for the upper 99.5 % limit of a noisy n, ΣS; 2.25 % are left. No
           shape of the population is assumed. Measured, 97.3 to 99.6 of 100 hold (n from 40 to 400,
           five populations): the maximum over j, the cells' widths, and an edge before e that stops
           it are all on the safe side.
           Where no edge is taken so, a limit is the bound.
           Laws of noise are summed on their lattice of 1/B (1/den(q)) people (noise_sums.py).
Several    One draw of cells serves several quantiles: they are cut at the nearest edges of all
           centres, as many for each. What l_j needs of edges is only that they do not depend on
           this noise, so every interval holds in 95 % by itself, as alone. m quantiles have m times
           the cells, and m times less noise in each than m draws: for three, limits are 1.4 to 1.9
           times closer in rank (n from 200 to 1,000, ε from 1/2 to 2).
Cost       quantiles with intervals: a third for the quantiles, in equal parts, two thirds for the
           cells.
By hand    0, 0, 5, 9, 9, median of 0 to 9: τ = 5/2, u(0) = −1/2, u(1..4) = −1/2, u(5) = 0, u(6..8)
           = −1/2, u(9) = −1/2. Edges around 100 of 0 to 366: 99 and 100, 98 and 101, 97 and 102,
           96 and 103, 95 and 104, 93 and 106, 90 and 109, 85 and 114 and so on, 28 in all.
Sources    Smith 2011; Dwork and Roth 2014, § 3.4; McKenna and Sheldon 2020; intervals from noisy
           counts of cells, Drechsler, Globus-Harris, McMillan, Sarathy and Smith 2022.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from operator import add

import numpy as np
import scipy

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.noise_sums import REACH, Cells, Laws
from dpengine.central.numeric import Bounds, Measured
from dpengine.central.selection import Selection
from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.privacy import Cost, Neighbours

MAX_POINTS = 1024  # of a grid
FINEST = 10**6  # a quantile is a fraction of at most so many parts
GROWTH = Fraction(3, 2)  # of the distances of edges from the centre
ERROR = 0.025  # on each side
PEOPLE_ERROR = 0.005  # of it, for n where that is not public
ATOMS = 400  # of a binomial, at most


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
        spread = _spread(quantile, neighbours)
        return cls(grid, quantile, neighbours, Selection.for_epsilon(epsilon, spread))

    @classmethod
    def for_rho(
        cls, rho: Fraction, grid: Grid, quantile: Fraction, neighbours: Neighbours
    ) -> "Quantile":
        """Return it by the exponential mechanism."""
        check_quantile(quantile)
        return cls(
            grid, quantile, neighbours, Selection.for_rho(rho, _spread(quantile, neighbours))
        )

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
        scores = self._scores(values, self.quantile * len(values))
        return self.grid.point(self.selection.release(scores)[0])

    def _scores(self, values: Sequence[int], rank: Fraction) -> list[int]:
        """Return u of every point, in whole 1/denominator people."""
        parts = self.quantile.denominator
        target, below, scores = int(rank * parts), 0, []
        for count in self.grid.counts(values):
            scores.append(-max(0, below * parts - target, target - (below + count) * parts))
            below += count
        return scores


@dataclass(frozen=True, slots=True)
class NoisyCells:
    """People in cells between edges, each number with noise."""

    edges: Sequence[int]
    noisy: Sequence[int]
    n: int  # public, or an upper limit of it


@dataclass(frozen=True, slots=True)
class Limits:
    """The two limits of a 95 % interval for the population's quantile, alone."""

    grid: Grid
    quantile: Fraction
    neighbours: Neighbours
    noise: Cells  # of the people in each cell
    centres: int = 1  # that cells are close around

    @classmethod
    def for_epsilon(
        cls, epsilon: Fraction, grid: Grid, quantile: Fraction, neighbours: Neighbours
    ) -> "Limits":
        check_quantile(quantile)
        noise = DiscreteLaplace.for_epsilon(epsilon, _moved(neighbours))
        return cls(grid, quantile, neighbours, noise)

    @classmethod
    def for_rho(
        cls, rho: Fraction, grid: Grid, quantile: Fraction, neighbours: Neighbours
    ) -> "Limits":
        check_quantile(quantile)
        noise = DiscreteGaussian.for_rho(rho, _moved(neighbours))
        return cls(grid, quantile, neighbours, noise)

    @property
    def cost(self) -> Cost:
        return self.noise.cost

    @property
    def cells(self) -> int:
        """Return B, the same around all centres."""
        return len(self.edges(self.grid.bounds.least)) + 1

    def ranks(self, n: int) -> tuple[float, float]:
        """Return the ranks among n people that limits reach to, about: around a centre amid."""
        cells = self.cells
        low, high = critical(max(n, 1), self.quantile, self.noise, cells, self.neighbours)
        known = self.neighbours is Neighbours.CHANGE_ONE
        parts = cells if known else self.quantile.denominator
        at, middle = n * float(self.quantile), (cells - 1) // 2
        return at + float(low[middle]) / parts, at + float(high[middle]) / parts

    def edges(self, *centres: int) -> list[int]:
        """Return where the bounds are cut: behind each edge. Always as many of them."""
        least, most, step = self.grid.bounds.least, self.grid.bounds.most, self.grid.step
        away = [0]
        while 2 * (grown := max(away[-1] + 1, round(GROWTH * away[-1]))) < self.grid.size:
            away.append(grown)
        many = min(2 * len(away) * self.centres, self.grid.bounds.width)
        while away[-1] < self.grid.size:
            away.append(max(away[-1] + 1, round(GROWTH * away[-1])))
        near = [
            edge
            for d in away
            for centre in centres
            for edge in (centre - 1 - d * step, centre - 1 + (d + 1) * step)
        ]
        edges = sorted([*dict.fromkeys(edge for edge in near if least <= edge < most)][:many])
        while len(edges) < many:
            ends = [least - 1, *edges, most]
            width, before = max((end - start, start) for start, end in pairwise(ends))
            insort(edges, before + width // 2)
        return edges

    def release(self, values: Sequence[int], centre: int) -> tuple[int, int]:
        """Return lower and upper limit, around a value that is public. Publish once."""
        return self.read(self.draw(values, [centre]))

    def draw(self, values: Sequence[int], centres: Sequence[int]) -> "NoisyCells":
        """Return noisy cells around values that are public. Publish once."""
        bounds = self.grid.bounds
        edges = self.edges(*map(bounds.clamp, centres))
        people = [0] * (len(edges) + 1)
        for value in values:
            people[bisect_left(edges, bounds.clamp(value))] += 1
        noisy = self.noise.release(people)
        n = len(values)
        if self.neighbours is Neighbours.ADD_REMOVE:
            short = Laws.of(self.noise, [(1, 1, len(people))], len(people))
            n = max(sum(noisy) - int(short.quantiles(PEOPLE_ERROR)[0]), 1)
        return NoisyCells(edges, noisy, n)

    def read(self, cells: "NoisyCells") -> tuple[int, int]:
        """Return lower and upper limit from cells that were drawn: again, or for another quantile,
        at no cost.
        """
        edges, noisy, n = cells.edges, cells.noisy, cells.n
        bounds = self.grid.bounds
        low, high = critical(n, self.quantile, self.noise, len(noisy), self.neighbours)
        lower, upper = bounds.least, bounds.most
        told = self._told(noisy, n)
        for edge, estimate, most in zip(edges, told, low.tolist(), strict=True):
            if estimate > most:
                break
            lower = edge + 1
        backwards = zip(edges[::-1], told[::-1], high.tolist()[::-1], strict=True)
        for edge, estimate, fewest in backwards:
            if estimate < fewest:
                break
            upper = edge
        return lower, upper

    def _told(self, noisy: Sequence[int], n: int) -> list[int]:
        """Return the estimate of N(e) − qn for every edge, in parts of a person."""
        cells, total, below, told = len(noisy), sum(noisy), 0, []
        known = self.neighbours is Neighbours.CHANGE_ONE
        for j in range(1, cells):
            below += noisy[j - 1]
            mine, others = _weights(j, cells, self.quantile, self.neighbours)
            added = j * n - _origin(cells, n, self.quantile) if known else 0
            told.append(mine * below - others * (total - below) + added)
        return told


def _moved(neighbours: Neighbours) -> int:
    """Return how many cells' counts one person moves by one."""
    return 2 if neighbours is Neighbours.CHANGE_ONE else 1


def _spread(quantile: Fraction, neighbours: Neighbours) -> int:
    """Return the spread of scores, in 1/den(q) people."""
    parts = quantile.denominator
    if neighbours is Neighbours.CHANGE_ONE:
        return 2 * parts
    return 2 * max(quantile.numerator, parts - quantile.numerator)


def _weights(j: int, cells: int, quantile: Fraction, neighbours: Neighbours) -> tuple[int, int]:
    """Return what the first j cells and the others weigh in an estimate, in parts of a person."""
    if neighbours is Neighbours.CHANGE_ONE:
        return cells - j, j
    return quantile.denominator - quantile.numerator, quantile.numerator


@lru_cache(maxsize=64)
def critical(
    n: int, quantile: Fraction, noise: Cells, cells: int, neighbours: Neighbours
) -> tuple[Ints, Ints]:
    """Return l_j and its mirror for j = 1 … B − 1: at most, or at least, so much tells.

    In parts of a person: 1/B under change-one, 1/den(q) under add-remove.
    """
    lower = _below(n, quantile, noise, cells, neighbours)
    mirrored = _below(n, 1 - quantile, noise, cells, neighbours)[::-1]
    if neighbours is Neighbours.CHANGE_ONE:  # the two origins are rounded down
        mirrored = mirrored - (
            cells * n - _origin(cells, n, quantile) - _origin(cells, n, 1 - quantile)
        )
    return lower, -mirrored


def _origin(cells: int, n: int, quantile: Fraction) -> int:
    """Return qn in parts of a person, rounded down."""
    return math.floor(cells * n * quantile)


def _below(n: int, quantile: Fraction, noise: Cells, cells: int, neighbours: Neighbours) -> Ints:
    """Return l_j."""
    change = neighbours is Neighbours.CHANGE_ONE
    parts = cells if change else quantile.denominator
    origin = _origin(cells, n, quantile) if change else quantile.numerator * n
    weights = [(*_weights(j, cells, quantile, neighbours), j) for j in range(1, cells)]
    spread = math.sqrt(n * float(quantile * (1 - quantile)))
    laws = Laws.of(noise, weights, cells, parts * (REACH * spread + 1))
    people, chances = _binomial(n, float(quantile), spread)
    together = laws.with_binomial(n, float(quantile), parts, origin)
    error = ERROR - (0 if change else PEOPLE_ERROR / 2)
    share = 1.0
    while True:
        limits = together.quantiles(share * error)
        worst = np.max(laws.at(limits[:, None] - (parts * people - origin)), axis=0)
        if chances @ worst <= error:
            return limits
        share *= 0.95


def _binomial(n: int, quantile: float, spread: float) -> tuple[Ints, Floats]:
    """Return numbers of people with their chances: of many, those of a range at its least."""
    least = max(math.floor(n * quantile - REACH * spread), 0)
    most = min(math.ceil(n * quantile + REACH * spread), n)
    people = np.unique(np.linspace(least, most + 1, min(most + 2 - least, ATOMS)).astype(np.int64))
    below = scipy.special.bdtr(people[1:-1] - 1, n, quantile)
    return people[:-1], np.diff(np.concatenate([[0.0], below, [1.0]]))


@dataclass(frozen=True, slots=True)
class QuantilesWithIntervals:
    """Quantiles and their intervals: a third of ε, or of ρ, for them, two thirds for the limits."""

    points: tuple[Quantile, ...]  # in rising order
    limits: Limits  # of the first; those of others are read from the same cells

    @classmethod
    def for_epsilon(
        cls, epsilon: Fraction, grid: Grid, quantiles: Sequence[Fraction], neighbours: Neighbours
    ) -> "QuantilesWithIntervals":
        part, rest = _split(epsilon, quantiles)
        limits = Limits.for_epsilon(rest, grid, quantiles[0], neighbours)
        points = (Quantile.for_epsilon(part, grid, each, neighbours) for each in quantiles)
        return cls(tuple(points), replace(limits, centres=len(quantiles)))

    @classmethod
    def for_rho(
        cls, rho: Fraction, grid: Grid, quantiles: Sequence[Fraction], neighbours: Neighbours
    ) -> "QuantilesWithIntervals":
        part, rest = _split(rho, quantiles)
        limits = Limits.for_rho(rest, grid, quantiles[0], neighbours)
        points = (Quantile.for_rho(part, grid, each, neighbours) for each in quantiles)
        return cls(tuple(points), replace(limits, centres=len(quantiles)))

    @property
    def cost(self) -> Cost:
        return reduce(add, (point.cost for point in self.points)) + self.limits.cost

    def limits_of(self, point: Quantile) -> Limits:
        return replace(self.limits, quantile=point.quantile)

    def off_by(self, beta: float) -> float:
        """Return people that no chosen point's rank is off by more, but for a chance of beta."""
        return max(point.off_by(beta / len(self.points)) for point in self.points)

    def release(self, values: Sequence[int]) -> list[Measured]:
        """Return every quantile with its interval.

        Publish once; nobody at all is refused only where n is public. Points that noise put in
        another order are put back: no rank is then off by more than the farthest was.
        """
        require(
            self.limits.neighbours is not Neighbours.CHANGE_ONE or values,
            "n must be 1 or more, got 0",
        )
        found = sorted(point.release(values) for point in self.points)
        cells = self.limits.draw(values, found)
        return [
            within_limits(value, *self.limits_of(point).read(cells))
            for value, point in zip(found, self.points, strict=True)
        ]


def _split(budget: Fraction, quantiles: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Return what of ε, or of ρ, each quantile gets, and what their limits get together."""
    require(
        quantiles and list(quantiles) == sorted(set(quantiles)),
        "quantiles must be one or more in rising order, got {}",
        len(quantiles),
    )
    return Fraction(budget) / 3 / len(quantiles), Fraction(budget) * 2 / 3


def within_limits(value: float, low: float, high: float) -> Measured:
    """Return a number with limits drawn apart; its standard error is that of a normal law.

    The limits were paid for and hold by themselves: a number beyond them is moved to the nearer
    one, and does not stretch them. It is nearer to the population's then, but where they fail.
    """
    value = min(max(value, low), high)
    return Measured(value, low, high, (high - low) / (2 * 1.959964))


def check_quantile(quantile: Fraction) -> None:
    require(0 <= quantile <= 1, "quantile must be from 0 to 1, got {}", quantile)
    require(
        quantile.denominator <= FINEST,
        "quantile must be a fraction of at most {} parts, got {}",
        FINEST,
        quantile,
    )
