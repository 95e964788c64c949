"""From a count with chance in it to a share with its doubt.

A choice's count among n reports is binomial: each report holds the choice with probability
λ = b + π(a − b), where π is the share of people whose true answer it is (people are a random
sample), a and b are the channel's margins, and a publication adds integer noise Z:

    Y = Binomial(n, λ) + Z

Estimate   π̂ = (Y/n − b) / (a − b). Unbiased, and therefore sometimes below 0 or above 1.
Variance   π(1 − π)/n                                     sampling: who happened to answer
           (π·a(1 − a) + (1 − π)·b(1 − b)) / (n(a − b)²)  device: answers changed by chance
           Var Z / (n(a − b))²                            publication: chance added to the count
           The first two add up to λ(1 − λ) / (n(a − b)²).
Interval   Clopper and Pearson (1934) on λ with the noise's law convolved in, mapped to π: all λ
           that neither P(Y ≥ y) nor P(Y ≤ y) rejects at half the error. It holds at the edges and
           for every n, because Y grows stochastically with λ.
By hand    No noise, a = 1, b = 0: the ordinary Clopper-Pearson interval; 10 of 100: 4.9 to 17.6 %.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

Counts = list[int]
CONFIDENCE = 0.95
WINDOW = 12.0  # standard deviations of the binomial that are summed; beyond lies less than 1e-30


@dataclass(frozen=True, slots=True)
class Margin:
    """How a channel treats one choice."""

    truth: Fraction  # a: chance that a report holds it when it is the answer
    lie: Fraction  # b: chance that a report holds it when another is

    @property
    def contrast(self) -> float:
        """Return a − b: what one true answer moves the expected share of reports by."""
        return float(self.truth - self.lie)

    @property
    def rare_variance(self) -> Fraction:
        """Return variance × n of a choice that nobody has."""
        return self.lie * (1 - self.lie) / (self.truth - self.lie) ** 2


class Noise(Protocol):
    """The law of integer noise added to a count."""

    @property
    def variance(self) -> float: ...

    def tail(self, least: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return P(Z ≥ least)."""
        ...


class NoNoise:
    """The law of a count that is published as it is."""

    variance = 0.0

    def tail(self, least: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        return (least <= 0).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Variance:
    """Squared standard errors of a share, by where the doubt comes from."""

    sampling: float
    device: float
    publication: float

    @property
    def total(self) -> float:
        return self.sampling + self.device + self.publication


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share of people, unprojected, with everything that says how far to trust it."""

    value: float
    low: float
    high: float
    variance: Variance
    confidence: float = CONFIDENCE

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.variance.total)


def share(count: int, n: int, margin: Margin, noise: Noise, confidence: float = CONFIDENCE) -> Estimate:
    """Return the estimated share of people whose true answer is the choice that `count` of n reports hold."""
    if n < 1:
        raise ValueError(f"n must be 1 or more, got {n}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    lie = float(margin.lie)
    value = (count / n - lie) / margin.contrast
    low, high = ((reported - lie) / margin.contrast for reported in _reported_interval(count, n, noise, confidence))
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        variance=_variance(min(max(value, 0.0), 1.0), n, margin, noise),
        confidence=confidence,
    )


def _variance(at: float, n: int, margin: Margin, noise: Noise) -> Variance:
    truth, lie, contrast = float(margin.truth), float(margin.lie), margin.contrast
    return Variance(
        sampling=at * (1 - at) / n,
        device=(at * truth * (1 - truth) + (1 - at) * lie * (1 - lie)) / (n * contrast**2),
        publication=noise.variance / (n * contrast) ** 2,
    )


def _reported_interval(count: int, n: int, noise: Noise, confidence: float) -> tuple[float, float]:
    """Return the shares of reports that the published count does not reject."""
    error = (1 - confidence) / 2
    low = _root(lambda share: _at_least(count, n, share, noise) - error)
    high = _root(lambda share: error - (1 - _at_least(count + 1, n, share, noise)))
    return low, high


def _at_least(count: int, n: int, share: float, noise: Noise) -> float:
    """Return P(Binomial(n, share) + Z ≥ count)."""
    spread = WINDOW * math.sqrt(n * share * (1 - share)) + WINDOW
    first, last = max(0, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread))
    holding = np.arange(first, last + 1, dtype=np.int64)
    return float(_binomial(holding, n, share) @ noise.tail(count - holding))


def _binomial(holding: npt.NDArray[np.int64], n: int, share: float) -> npt.NDArray[np.float64]:
    """Return the binomial chances of these counts. (scipy.stats has them too, for a second of every start.)"""
    ways = special.gammaln(n + 1) - special.gammaln(holding + 1) - special.gammaln(n - holding + 1)
    chances = np.exp(ways + special.xlogy(holding, share) + special.xlog1py(n - holding, -share))
    return np.asarray(chances, dtype=np.float64)


def _root(increasing: Callable[[float], float]) -> float:
    """Return where an increasing function of a share passes 0, or the edge it does not pass."""
    if increasing(0.0) >= 0:
        return 0.0
    if increasing(1.0) <= 0:
        return 1.0
    return float(optimize.brentq(increasing, 0.0, 1.0, xtol=1e-12))


def simplex(values: Sequence[float]) -> list[float]:
    """Return the nearest shares that are 0 or more and add up to 1 (Held, Wolfe and Crowder 1974). For display."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(ordered) + 1)
    threshold = excess[np.nonzero(ordered > excess)[0][-1]]
    return [float(max(value - threshold, 0.0)) for value in values]


def plain_answers(estimates: Sequence[Estimate]) -> int:
    """Return how many plain answers would be as precise: N with Σ π(1 − π)/N = Σ variance.

    Shares are projected to the simplex first; 0 when nothing can be told apart from certainty.
    """
    shares = simplex([estimate.value for estimate in estimates])
    spread = sum(share * (1 - share) for share in shares)
    return int(spread / sum(estimate.variance.total for estimate in estimates))
