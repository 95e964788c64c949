"""The smallest n for a test by the binomial itself: no approximation, and the power holds for every
larger n.

X of n reports are yes, X ~ Binomial(n, λ). The test rejects when P0(X ≥ x) ≤ alpha/sides (towards a
smaller share: on the reports of no), which is when the Clopper-Pearson interval leaves π0 out. c is
the smallest such x, and power(n) = P1(X ≥ c).

That power is saw-toothed: one person more can move c up and lower it. `first` is the smallest n
that reaches the power at all; `n`, the answer, is the smallest from which on *every* n has it, so
that dropping to n + 5 usable answers in place of n + 9 cannot cost the promise; n − 1 does not have
it.

Why "every"  A test that also rejects with chance γ at X = c − 1, to use all of alpha, is the most
             powerful of its level (Neyman and Pearson 1933); ignoring an answer is allowed, so its
             error
                 E(n) = P1(X ≤ c − 2) + (1 − γ)·P1(X = c − 1)
             never grows with n. The plain test errs by at most γ·P1(X = c − 1) more, and P1(X = c −
             1) is at most
             (i)  the largest chance of Binomial(n, λ1), which never grows with n;
             (ii) P1(X = c − 2)·(n − c + 2)/(c − 1)·λ1/(1 − λ1) ≤ E(n)·(n(1 − λ0) + 2)/(nλ0 −
                  1)·λ1/(1 − λ1), because c − 1 is no less than the median under the null, and that
                  is above nλ0 − 1.
             Where E(n)·(1 + (ii)) or E(n) + (i) is within 1 − power, every larger n is: only the n
             between there and the first n with E(n) ≤ 1 − power have to be tried.
By hand      Direct answers, 0 against .05, power .80: one yes rejects, 1 − .95ⁿ ≥ .80 from n = 32.
Sources      Chernick and Liu 2002, The American Statistician 56 (the saw teeth); Kaas and Buhrman
             1980 (the median).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from dpengine.checks import require
from dpengine.estimates import Floats, binomial, binomial_tail
from dpengine.inference.power import Response, Size, Target, check_pair

LARGEST = 10**7  # people; beyond it the normal approximation errs by less than one saw tooth
TIE = 1 + 1e-12  # chances this close to alpha/sides are equal to it


@dataclass(frozen=True, slots=True)
class ExactSize(Size):
    first: int  # the smallest n that reaches the power, which a larger n may lose again


@dataclass(frozen=True, slots=True)
class _Upwards:
    """The test of λ0 against a larger λ1."""

    null: float
    alternative: float
    error: float

    def critical(self, n: Floats) -> Floats:
        """Return c for each n: n + 1 where no count rejects."""
        guess = n * self.null - scipy.special.ndtri(self.error) * np.sqrt(
            n * self.null * (1 - self.null)
        )
        c = np.clip(np.ceil(guess), 0, n + 1)
        while (up := (c <= n) & (binomial_tail(c, n, self.null) > self.error * TIE)).any():
            c += up
        while (down := (c > 0) & (binomial_tail(c - 1, n, self.null) <= self.error * TIE)).any():
            c -= down
        return np.asarray(c, dtype=np.float64)

    def power(self, n: Floats) -> Floats:
        return binomial_tail(self.critical(n), n, self.alternative)

    def least_error(self, n: int) -> float:
        """Return E(n), the error of the most powerful test of this level."""
        size = np.array([float(n)])
        c = self.critical(size)
        edge = float((binomial_tail(c - 1, size, self.null) - binomial_tail(c, size, self.null))[0])
        used = float(binomial_tail(c, size, self.null)[0])
        gamma = min(max((self.error - used) / edge, 0.0), 1.0) if edge > 0 else 0.0
        low, high = (
            1 - float(binomial_tail(c - step, size, self.alternative)[0]) for step in (1, 0)
        )
        return gamma * low + (1 - gamma) * high

    def worst_error(self, n: int) -> float:
        """Return a bound on the error of the plain test with any n from this one on."""
        least = self.least_error(n)
        below = n * self.null - 1
        step = math.inf
        if below > 0 and self.alternative < 1:
            odds = self.alternative / (1 - self.alternative)
            step = (n * (1 - self.null) + 2) / below * odds
        mode = np.array([min(math.floor((n + 1) * self.alternative), n)])
        largest = float(binomial(mode, n, self.alternative)[0])
        return least + min(largest, least * step) if least else 0.0


def exact_power(
    response: Response, null: float, alternative: float, n: int, target: Target
) -> float:
    """Return the chance that the exact test rejects on the side of the alternative."""
    return float(_test(response, null, alternative, target).power(np.array([float(n)]))[0])


def exact_size(response: Response, null: float, alternative: float, target: Target) -> ExactSize:
    """Return the smallest n from which on the exact test always has the power."""
    test = _test(response, null, alternative, target)
    allowed = 1 - target.power
    start = _first(lambda n: test.least_error(n) <= allowed)
    end = _first(lambda n: test.worst_error(n) <= allowed, start)
    sizes = np.arange(start, end + 1, dtype=np.float64)
    enough = test.power(sizes) >= target.power
    n = start + int(np.max(np.nonzero(~enough)[0], initial=-1)) + 1
    power, before = (
        float(test.power(np.array([float(size)]))[0]) if size else 0.0 for size in (n, n - 1)
    )
    return ExactSize(n, power, before, first=start + int(np.argmax(enough)))


def _test(response: Response, null: float, alternative: float, target: Target) -> _Upwards:
    check_pair(null, alternative)
    before, after = response.reported(null), response.reported(alternative)
    if after < before:
        before, after = 1 - before, 1 - after
    return _Upwards(before, after, target.error)


def _first(enough: Callable[[int], bool], start: int = 1) -> int:
    """Return the smallest n from start that is enough, when every larger one is too."""
    high = start
    while not enough(high):
        require(
            high < LARGEST,
            "the exact test would need more than {} people: plan without it",
            LARGEST,
        )
        high *= 2
    low = max(start - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
