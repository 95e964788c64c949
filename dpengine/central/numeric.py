"""The mean of a bounded number, with an interval that counts what chance did.

Values are clamped to public bounds, least < most, by the mechanism itself, and measured from the
middle in half units:

    tᵢ = round((2xᵢ − least − most)/u),   |tᵢ| ≤ A = ⌈(most − least)/u⌉,   u = ⌈(most − least)/2³¹⌉

so u = 1 and tᵢ is exact unless the bounds are more than 2³¹ apart; then one value is off by at most
u/4, and A ≤ 2³¹. T = Σtᵢ + discrete Laplace noise. How far apart neighbours can be, L1:

    change-one, n public   2A, then divide by n; all of ε
    add-remove             A for T, 1 for n; ε in halves: the two errors at an end of the bounds are
                           then equal
Second moment (if asked for, a quarter of ε first): Qᵢ = round(2²⁰·(tᵢ/A)²) of 2²⁰ levels; a person
moves ΣQ by at most 2²⁰.

Privacy    pure ε, the sum of the parts' (Dwork and Roth 2014, Thm 3.6 and 3.14). Clamping is part
           of the mechanism.
Cost       Σ sensitivity/scale over the parts, each exact; ρ = Σε²/2 over the parts.
Error      change-one: sd of the mean = u·√(Var Z)/(2n), that is √2·(most − least)/(ε·n).
           Add-remove: √(u²·Var Z/4 + (mean − middle)²·Var N)/n for the middle (least + most)/2.
Interval   95 %, for the population that answers were sampled from. Sampling is taken as normal, the
           noise as Laplace plus half a level (which it never passes: 2p^m/(1 + p) ≤ p^(m − ½)), and
           both as one law. A T beyond ±nA is read as ±nA, which leaves more means, not fewer: none
           at all would promise certainty. The sampling variance is never that of the unreleased
           values:
           Spread.BOUND     (μ − least)(most − μ), the most at mean μ (Bhatia and Davis 2000), for
                            each μ tried
           Spread.RELEASED  from the noisy second moment, at its upper 99.5 % limit, and no more
                            than the bound
           and never less than at the mean that came out, with two people more at the far end: a few
           who are far from all others may be missing, and then a normal law alone holds in 83 of
           100 (Agresti and Coull 1998) Add-remove: over all n between the 99 % limits of the noisy
           n.
By hand    0 to 10, n = 100, ε = 1, change-one: A = 10, scale 20 half units, sd 28.28/200 = 0.141.
Sources    Dwork and Roth 2014, § 3.3; clamping, Wilson et al. 2020. Drawn by laplace.py.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import scipy

from dpengine.central.laplace import DiscreteLaplace
from dpengine.checks import require
from dpengine.privacy import Cost, Neighbours

ERROR = 0.05  # of intervals
LEVELS = 2**31  # most levels of one value
SQUARES = 2**20  # levels of a squared value
MOMENT_ERROR = (
    0.005  # of the interval's error, for each of the limits that a released second moment needs
)
PEOPLE_ERROR = 0.01  # of it, for the limits of a noisy n
MOMENT_SHARE = Fraction(1, 4)  # of ε, for the second moment
MUCH = 1000.0  # times the noise's scale, from which a normal spread swallows the noise's shape


class Spread(StrEnum):
    """Where the sampling variance of a mean comes from."""

    BOUND = "bound"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Public limits of a number."""

    least: int
    most: int

    def __post_init__(self) -> None:
        require(
            self.least < self.most, "least must be below most, got {} and {}", self.least, self.most
        )

    @property
    def width(self) -> int:
        return self.most - self.least

    @property
    def middle(self) -> float:
        return float(Fraction(self.least + self.most, 2))

    @property
    def unit(self) -> int:
        """Return u: 1 unless the bounds are very far apart."""
        return -(-self.width // LEVELS)

    @property
    def half_units(self) -> int:
        """Return A, the largest |t|."""
        return -(-self.width // self.unit)

    def clamp(self, value: int) -> int:
        return min(max(value, self.least), self.most)

    def centred(self, value: int) -> int:
        """Return t: the clamped value from the middle, in half units."""
        return _rounded(2 * self.clamp(value) - self.least - self.most, self.unit)

    def squared(self, value: int) -> int:
        """Return Q: the square of t/A in whole levels."""
        return _rounded(SQUARES * self.centred(value) ** 2, self.half_units**2)


@dataclass(frozen=True, slots=True)
class Measured:
    """A number that was released, with its interval."""

    value: float
    low: float
    high: float
    standard_error: float  # of all chance that the interval counts


@dataclass(frozen=True, slots=True)
class Mean:
    bounds: Bounds
    neighbours: Neighbours
    total: DiscreteLaplace  # of T
    people: DiscreteLaplace | None  # of n, where it is not public
    moment: DiscreteLaplace | None  # of ΣQ, where it is released

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Fraction,
        bounds: Bounds,
        neighbours: Neighbours,
        spread: Spread = Spread.BOUND,
    ) -> "Mean":
        """Return the mean that costs at most ε, split as the docstring says."""
        share = MOMENT_SHARE if spread is Spread.RELEASED else Fraction(0)
        moment = DiscreteLaplace.for_epsilon(epsilon * share, SQUARES) if share else None
        rest = epsilon * (1 - share)
        if neighbours is Neighbours.CHANGE_ONE:
            total = DiscreteLaplace.for_epsilon(rest, 2 * bounds.half_units)
            return cls(bounds, neighbours, total, None, moment)
        total = DiscreteLaplace.for_epsilon(rest / 2, bounds.half_units)
        return cls(bounds, neighbours, total, DiscreteLaplace.for_epsilon(rest / 2, 1), moment)

    @property
    def cost(self) -> Cost:
        """Return the cost of the parts one after another: their ε add up, and so do their ρ."""
        cost = self.total.cost
        for part in (self.people, self.moment):
            cost = cost + part.cost if part else cost
        return cost

    def standard_error(self, n: int, mean: float | None = None) -> float:
        """Return the root mean square error that the noise makes at n people, in the number's unit.

        Without a mean (needed where n is noisy too), at an end of the bounds, the worst.
        """
        of_total = self._step**2 * self.total.variance
        away = self.bounds.width / 2 if mean is None else mean - self.bounds.middle
        of_people = away**2 * self.people.variance if self.people else 0.0
        return math.sqrt(of_total + of_people) / n

    def expected_half_width(self, n: int) -> float:
        """Return half of the interval at the most spread-out answers, from public values only."""
        sampling = self.bounds.width / (2 * math.sqrt(n))
        return half_width(
            2 * self._step * self.total.scale / (2 * n), sampling, ERROR, self._step / n
        )

    def release(self, values: Sequence[int]) -> Measured:
        """Return the noisy mean.

        Publish once. Nobody at all is refused where n is public, and no error where not.
        """
        require(
            self.neighbours is not Neighbours.CHANGE_ONE or values, "n must be 1 or more, got 0"
        )
        total = self.total.release([sum(map(self.bounds.centred, values))])[0]
        people = max(self.people.release([len(values)])[0], 1) if self.people else len(values)
        most = self._largest_variance(values, total, people)
        value = self._within(self.bounds.middle + self._step * total / people)
        low, high = self._interval(total, people, most)
        sampling = min(most, self._bhatia_davis(value)) / people
        error = math.sqrt(self.standard_error(people, value) ** 2 + sampling)
        return Measured(value, min(low, value), max(high, value), error)

    @property
    def _step(self) -> float:
        return self.bounds.unit / 2

    def _within(self, value: float) -> float:
        return min(max(value, float(self.bounds.least)), float(self.bounds.most))

    def _bhatia_davis(self, mean: float) -> float:
        return max((mean - self.bounds.least) * (self.bounds.most - mean), 0.0)

    def _people_limits(self, people: int) -> tuple[float, float]:
        if not self.people:
            return people, people
        off = half_width(self.people.scale, 0.0, PEOPLE_ERROR)
        return people - off, people + off

    def _largest_variance(self, values: Sequence[int], total: int, people: int) -> float:
        """Return an upper limit of the variance: the released one, or what the bounds allow."""
        bound = self.bounds.width**2 / 4
        fewest = self._people_limits(people)[0]
        if not self.moment or fewest <= 0:
            return bound
        squares = self.moment.release([sum(map(self.bounds.squared, values))])[0]
        return self._variance_at_most(squares, total, people)

    def _variance_at_most(self, squares: int, total: int, people: int) -> float:
        """Return an upper limit from noisy sums, two unseen people counted.

        They are at the far end: a sample can have missed them.
        """
        assert self.moment is not None  # noqa: S101 (for the type checker)
        fewest, most_people = self._people_limits(people)
        squares_most = squares + half_width(self.moment.scale, 0.0, 2 * MOMENT_ERROR) + people / 2
        second = (self._step * self.bounds.half_units) ** 2 * squares_most / SQUARES / fewest
        off = half_width(self.total.scale, 0.0, 2 * MOMENT_ERROR)
        from_middle = max(abs(total) - off, 0.0) * self._step / most_people
        return min(
            max(second - from_middle**2, 0.0) + self._unseen(fewest), self.bounds.width**2 / 4
        )

    def _unseen(self, n: float) -> float:
        """Return the variance of two more people at the far end (as in Agresti and Coull 1998)."""
        return 2 * self.bounds.width**2 / n

    def _interval(self, total: int, people: int, most: float) -> tuple[float, float]:
        """Return all means that T does not reject, over every n that the noisy n does not."""
        error = (
            ERROR
            - (PEOPLE_ERROR if self.people else 0.0)
            - (3 * MOMENT_ERROR if self.moment else 0.0)
        )
        fewest, greatest = self._people_limits(people)
        if fewest <= 0:
            return float(self.bounds.least), float(self.bounds.most)
        pairs = [self._limits(total, n, most, error) for n in {fewest, greatest}]
        return min(low for low, _ in pairs), max(high for _, high in pairs)

    def _limits(self, total: int, n: float, most: float, error: float) -> tuple[float, float]:
        least, greatest = float(self.bounds.least), float(self.bounds.most)
        # A T beyond the bounds is read as the nearest one within: that rejects no further mean.
        value = self._within(self.bounds.middle + self._step * total / n)
        seen = min(self._bhatia_davis(value) + self._unseen(n), most)

        def half(mean: float) -> float:
            deviation = math.sqrt(max(min(self._bhatia_davis(mean), most), seen) / n)
            return half_width(self._step * self.total.scale / n, deviation, error, self._step / n)

        low = _edge(lambda mean: value - mean - half(mean), least, value)
        high = _edge(lambda mean: mean - value - half(mean), greatest, value)
        return low, high


def half_width(scale: float, deviation: float, error: float, level: float = 1.0) -> float:
    """Return h with P(|normal + discrete Laplace| > h) ≤ error.

    The noise comes in steps of `level`; all are in one unit.
    """
    if deviation > MUCH * scale:
        return (
            math.sqrt(deviation**2 + 2 * scale**2) * -float(scipy.special.ndtri(error / 2))
            + level / 2
        )
    if deviation == 0:
        return -scale * math.log(error) + level / 2
    far = (scale + deviation) * 4 * -math.log(error)
    half = scipy.optimize.brentq(lambda h: 2 * _above(h, scale, deviation) - error, 0.0, far)
    return float(half) + level / 2


def _above(h: float, scale: float, deviation: float) -> float:
    """Return P(N(0, deviation²) + Laplace(scale) > h), by completing the square."""
    ratio = deviation / scale
    right = math.exp(
        ratio**2 / 2 - h / scale + float(scipy.special.log_ndtr(h / deviation - ratio))
    )
    left = math.exp(
        ratio**2 / 2 + h / scale + float(scipy.special.log_ndtr(-h / deviation - ratio))
    )
    return float(scipy.special.ndtr(-h / deviation)) + (right - left) / 2


def _edge(rejects: Callable[[float], float], edge: float, inside: float) -> float:
    """Return where rejection begins between an edge of the bounds and the value, or the edge."""
    if rejects(edge) <= 0:
        return edge
    return float(scipy.optimize.brentq(rejects, min(edge, inside), max(edge, inside)))


def _rounded(numerator: int, denominator: int) -> int:
    """Return the nearest whole number to a quotient, halves up: exact, whatever the size."""
    return (2 * numerator + denominator) // (2 * denominator)
