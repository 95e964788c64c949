"""Variance of a number, and its standard deviation, from two noisy sums.

Values are clamped and centred as in dpengine.central.numeric: zᵢ = tᵢ/A in −1 to 1, where h = uA/2
is half of the bounds' width. T = Σtᵢ and Q = Σround(2²⁰·zᵢ²) get discrete Laplace noise, once each;
n too, where it is not public. All parts have an equal share of ε.

Privacy    pure ε: neighbours move T by at most 2A (change-one) or A (add-remove), Q by at most
           2²⁰, n by 1 (Dwork and Roth 2014, Thm 3.6 and 3.14).
Estimate   with a = T/(nA) and b = Q/(2²⁰n): v = b − a², kept within 0 and 1; h²v in squared units.
Error      of noise at n people, in h²: that of b, √Var(noise of Q)/(2²⁰n), and 2|a| times that of
           a; of sampling, √(v(D² − v)/n) at most.
Interval   95 %, of the population, never from values that were not released. 1 % is for the noise
           of a, ½ % for the sample's own mean, 1 % for a noisy n, the rest for b with its sampling.
           The squared distances from the mean have mean v and lie within 0 and D², D = 1 + |mean|:
           their variance is at most v(D² − v) (Bhatia and Davis 2000), for each v tried, and never
           less than with two people more at the far end (Agresti and Coull 1998). The sample's
           variance is their mean less (a − mean)², which raises the upper limit.
By hand    half of people at each bound: a = 0, b = 1, v = 1; 0 to 10: 25, and 5 for the standard
           deviation.
Sources    Dwork and Roth 2014, § 3.3 and 3.5; clamping, Wilson et al. 2020.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import scipy
from django.utils.translation import gettext_lazy

from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.numeric import ERROR, SQUARES, Bounds, Measured, half_width
from surveys.messages import message
from surveys.releases.numbers import Numbers, Table
from surveys.releases.queries.base import Counts, Query, digits, plain_scale
from surveys.releases.queries.parameters import (
    AnyQuestion,
    Paid,
)
from surveys.releases.queries.scored import (
    CLAMPED,
    bounds_of,
    is_number_in_clear,
    row,
    unit_of,
    values_of,
)

MEAN_ERROR = 0.01  # of the interval's error, for the noise of a
SAMPLE_ERROR = 0.005  # of it, for how far the sample's mean is from the population's
PEOPLE_ERROR = 0.01  # of it, for a noisy n
TOLERANCE = 1e-6  # of a limit, in h²
UNSEEN = 2  # people at the far end, whom a sample can have missed

MECHANISM = message("clamped sums of values and squares, discrete Laplace of scales %(list)s")
SENSITIVITY = message("%(count)s half units of the sum and one square, L1")
EXPECTED = message(
    "%(label)s: the variance within ± %(half)s %(unit_word)s, in 95 of 100 such studies, for the "
    "answers that tell the least about it. Chance added makes ± %(part)s of it."
)
VARIANCE = message("Variance")
DEVIATION = message("Standard deviation", fills="result")
SQUARED = message("%(unit_word)s²")
METHOD = message(
    "One sum of clamped numbers and one of their squares got chance added, once. The interval "
    "counts sampling and publication; it holds in 95 of 100 such studies, whatever the answers’ "
    "shape."
)
DERIVED = message("The standard deviation and its interval are the roots of the variance’s.")


@dataclass(frozen=True)
class Variance(Query):
    question: AnyQuestion
    epsilon: Paid

    kind = "variance"
    title = message("Variance of a number", fills="title")
    sentence = gettext_lazy(
        "How far answers are from their average: the variance and the standard deviation of all "
        "people, with their intervals."
    )

    fits = staticmethod(is_number_in_clear)

    @cached_property
    def bounds(self) -> Bounds:
        return bounds_of(self.question)

    @cached_property
    def engines(self) -> tuple[DiscreteLaplace, ...]:
        """Return the noise of T, of Q, and of n where it is not public."""
        moved = (1 + self.n_is_public) * self.bounds.half_units, SQUARES
        sensitivities = moved if self.n_is_public else (*moved, 1)
        parts = len(sensitivities)
        share = self.strength(self.epsilon, [Fraction(1, parts)] * parts) / parts
        return tuple(DiscreteLaplace.for_epsilon(share, moves) for moves in sensitivities)

    @property
    def mechanism(self) -> str:
        return MECHANISM(list=", ".join(plain_scale(noise.scale) for noise in self.engines))

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY(count=f"{self.engines[0].sensitivity:,}")

    @property
    def published(self) -> int:
        return 2

    @property
    def _squared(self) -> float:
        """Return h²: half of the bounds' width, squared."""
        return (self.bounds.unit * self.bounds.half_units / 2) ** 2

    def covers(self, n: int) -> float:
        return min(1.0, 2 * self._half(n))

    def _half(self, n: int) -> float:
        people = max(n, 1)
        sampling = 0.5 / math.sqrt(people)  # √(v(1 − v)/n) at v = ½, the most
        return half_width(self._square_scale(people), sampling, ERROR, 0.0)

    def expected(self, n: int) -> list[str]:
        half, added = self._half(n), math.sqrt(2) * self._square_scale(max(n, 1))
        return [
            EXPECTED(
                label=self.question.label,
                half=digits(self._squared * half),
                unit_word=SQUARED(unit_word=unit_of(self.question)),
                part=digits(1.96 * self._squared * added),
            )
        ]

    def draw(self, counts: Counts, n: int) -> Numbers:
        values = values_of(self.question, counts)
        if self.n_is_public and not values:
            raise ValueError("n must be 1 or more, got 0")
        sums = (
            sum(map(self.bounds.centred, values)),
            sum(map(self.bounds.squared, values)),
            len(values),
        )
        noisy = [
            noise.release([exact])[0] for noise, exact in zip(self.engines, sums, strict=False)
        ]
        people = n if self.n_is_public else max(noisy[2], 1)
        measured = self.estimate(noisy[0], noisy[1], people)
        low, high = math.sqrt(measured.low), math.sqrt(measured.high)
        deviation = math.sqrt(measured.value)
        error = measured.standard_error / (2 * deviation) if deviation else math.inf
        unit = unit_of(self.question)
        rows = [
            row(VARIANCE(), measured, SQUARED(unit_word=unit)),
            row(DEVIATION(), Measured(deviation, low, high, error), unit),
        ]
        return Numbers(
            tables=[Table(self.question.label, rows)],
            method=METHOD(),
            notes=[CLAMPED()],
            derived=[DERIVED()],
            n=n,
        )

    def estimate(self, total: int, squares: int, people: int) -> Measured:
        """Return the variance from noisy sums, over all n that a noisy n does not rule out."""
        limits: Sequence[float] = [people]
        if len(self.engines) > 2:
            off = half_width(self.engines[2].scale, 0.0, PEOPLE_ERROR)
            limits = (people - off, people + off)
        mean, square = total / (people * self.bounds.half_units), squares / (SQUARES * people)
        value = min(max(square - mean**2, 0.0), 1.0)
        if min(limits) <= 0:
            low, high = 0.0, 1.0
        else:
            ends = [self._interval(total, squares, n) for n in limits]
            low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        furthest = (1 + min(abs(mean), 1.0)) ** 2
        of_mean = 2 * mean * math.sqrt(self.engines[0].variance) / (people * self.bounds.half_units)
        of_square = math.sqrt(2) * self._square_scale(people)
        error = math.hypot(of_mean, of_square, math.sqrt(value * (furthest - value) / people))
        low, high = min(low, value), max(high, value)
        return Measured(*(self._squared * part for part in (value, low, high, error)))

    def _square_scale(self, n: float) -> float:
        return self.engines[1].scale / (SQUARES * n)

    def _interval(self, total: int, squares: int, n: float) -> tuple[float, float]:
        """Return all variances that the sums do not reject, for n people, in h²."""
        error = ERROR - MEAN_ERROR - SAMPLE_ERROR - PEOPLE_ERROR * (len(self.engines) > 2)
        step = 1 / (n * self.bounds.half_units)
        mean, off = abs(total) * step, half_width(self.engines[0].scale * step, 0, MEAN_ERROR, step)
        square, level = squares / (SQUARES * n), 1 / SQUARES  # rounding moves b by half a level
        most = square + level / 2 - max(mean - off, 0.0) ** 2
        least = square - level / 2 - min(mean + off, 1.0) ** 2
        # What no variance can be is read as the nearest that one can: that rejects no further one.
        most, least = (min(max(limit, 0.0), 1.0) for limit in (most, least))
        reach = -float(scipy.special.ndtri(SAMPLE_ERROR / 2)) / math.sqrt(n)

        def half(variance: float) -> float:
            furthest = (1 + min(mean + off + reach * math.sqrt(variance), 1.0)) ** 2
            seen = min(most + UNSEEN * furthest / n, furthest / 2)
            spread = max(part * (furthest - part) for part in (variance, seen))
            return half_width(self._square_scale(n), math.sqrt(spread / n), error, level / n)

        low = _first(lambda v: v + half(v) >= least)
        high = 1 - _first(lambda v: 1 - v - half(1 - v) - reach**2 * (1 - v) <= most)
        return low, high


def _first(holds: Callable[[float], bool]) -> float:
    """Return about where, from 0 to 1, something begins to hold, a little early; 1 if nowhere."""
    if holds(0.0) or not holds(1.0):
        return 0.0 if holds(0.0) else 1.0
    low, high = 0.0, 1.0
    while high - low > TOLERANCE:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low
