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
Likelihood The maximum over 0 ≤ π ≤ 1. Without noise it is the moment estimate, clipped: λ can be no
           smaller than the smaller margin and no larger than the larger one. With noise the
           likelihood still has one peak (log-concave noise keeps the order of Y's laws: Karlin 1968).
Interval   Clopper and Pearson (1934) on λ with the noise's law convolved in, mapped to π by
           (λ − b)/(a − b): all λ that neither P(Y ≥ y) nor P(Y ≤ y) rejects at half the error. It
           holds at the edges and for every n, because Y grows stochastically with λ. The main one:
           tests/bench/coverage.py measures 95.0 to 96.7 % from n = 200 away from the edge.
           Blaker (2000), for counts without noise: λ whose rarer tail, with as much of the other as
           is no likelier, has more than the error. Exact too, inside the first, 1 to 8 % narrower.
           Profile likelihood (profile): {π: 2 ln(L(best) / L(π)) ≤ χ²₁}, best over 0 ≤ π ≤ 1.
Together   simultaneous: each of k intervals at 1 − error/k (Bonferroni), so that all hold at once in at
           least 1 − error of all surveys. It needs nothing of how the counts depend on each other,
           and a subset's report holds several choices; exact intervals keep the promise at any n.
By hand    No noise, a = 1, b = 0: the ordinary Clopper-Pearson interval; 10 of 100: 4.9 to 17.6 %.
           52 of 350 with a = 5/6, b = 1/6: moment −0.027, likelihood 0, upper limit 0.035, by
           profile likelihood 0.039.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

Counts = list[int]
Floats = npt.NDArray[np.float64]
Interval = tuple[float, float]
CONFIDENCE = 0.95
WINDOW = 12.0  # standard deviations of the binomial that are summed; beyond lies less than 1e-30
SMALLEST = 1e-300  # of likelihoods, so that each has a logarithm


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


class Method(StrEnum):
    """How an interval is found."""

    CLOPPER_PEARSON = "clopper-pearson"
    BLAKER = "blaker"


@dataclass(frozen=True, slots=True)
class Variance:
    """Squared standard errors of a share, by where the doubt comes from.

    The part of sampling is put together from the estimate, and is 0 where that stands at an edge: a share not above 0,
    reports that differ no more than the same answer of everybody would make them. People may differ all the same, by
    less than the other chance hides: then it cannot be told apart from that, and is in its part.
    """

    sampling: float
    device: float
    publication: float

    @classmethod
    def read(cls, document: Mapping[str, float | None]) -> "Variance":
        return cls(**{name: part or 0.0 for name, part in document.items()})

    def document(self) -> dict[str, float | None]:
        """Return the parts; none for one that cannot be told apart, for 0 it is not."""
        told = self.sampling if self.is_told_apart else None
        return {"sampling": told, "device": self.device, "publication": self.publication}

    @property
    def is_told_apart(self) -> bool:
        """Tell whether what sampling does can be told from the other chance."""
        return self.sampling > 0

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
    def maximum_likelihood(self) -> float:
        """Return the estimate within what λ allows: the likeliest share, without noise. See `likeliest` with it."""
        return min(max(self.value, 0.0), 1.0)

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.variance.total)


def share(
    count: int,
    n: int,
    margin: Margin,
    noise: Noise,
    confidence: float = CONFIDENCE,
    method: Method = Method.CLOPPER_PEARSON,
) -> Estimate:
    """Return the estimated share of people whose true answer is the choice that `count` of n reports hold."""
    _check(count, n, noise, confidence)
    value = _people(count / n, margin)
    limits = [_people(reported, margin) for reported in _reported_interval(count, n, noise, confidence, method)]
    return Estimate(
        value=value,
        low=min(*limits, value),
        high=max(*limits, value),
        variance=_variance(min(max(value, 0.0), 1.0), n, margin, noise),
        confidence=confidence,
    )


def simultaneous(
    counts: Sequence[int], n: int, margins: Sequence[Margin], noise: Noise, confidence: float = CONFIDENCE
) -> list[Interval]:
    """Return intervals that hold for all choices of one question at once. Two counts that add up to n are one."""
    one_count = len(counts) == 2 and sum(counts) == n and isinstance(noise, NoNoise)
    each = confidence if one_count else 1 - (1 - confidence) / len(counts)
    estimates = [share(count, n, margin, noise, each) for count, margin in zip(counts, margins, strict=True)]
    return [(estimate.low, estimate.high) for estimate in estimates]


def likeliest(count: int, n: int, margin: Margin, noise: Noise) -> float:
    """Return the share of people that makes the published count likeliest."""
    _check(count, n, noise, CONFIDENCE)
    if isinstance(noise, NoNoise):
        return min(max(_people(count / n, margin), 0.0), 1.0)
    log_likelihood = _log_likelihood(count, n, margin, noise)
    found = optimize.minimize_scalar(lambda at: -log_likelihood(at), bounds=(0, 1), options={"xatol": 1e-10})
    return float(max((0.0, float(found.x), 1.0), key=log_likelihood))


def profile(count: int, n: int, margin: Margin, noise: Noise, confidence: float = CONFIDENCE) -> Interval:
    """Return the shares of people that the likelihood ratio does not reject, within 0 and 1."""
    _check(count, n, noise, confidence)
    log_likelihood = _log_likelihood(count, n, margin, noise)
    best = likeliest(count, n, margin, noise)
    least = log_likelihood(best) - float(special.chdtri(1, 1 - confidence)) / 2
    low = root(lambda at: log_likelihood(at) - least, 0.0, best)
    high = root(lambda at: least - log_likelihood(at), best, 1.0)
    return low, high


def clopper_pearson(count: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Return Clopper and Pearson's interval for a binomial share, by quantiles of the beta law.

    n and count may be effective ones, not whole (Korn and Graubard 1998).
    """
    error = (1 - confidence) / 2
    low = float(special.betaincinv(count, n - count + 1, error)) if count > 0 else 0.0
    high = float(special.betainccinv(count + 1, n - count, error)) if count < n else 1.0
    return low, high


def blaker(count: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the hull of Blaker's interval for a binomial share: the upper limit is the lower one of the others."""
    return _blaker_low(count, n, 1 - confidence), 1 - _blaker_low(n - count, n, 1 - confidence)


def _blaker_low(count: int, n: int, error: float) -> float:
    """Return the smallest λ whose acceptability P(Y ≥ y) + P(Y ≤ j) is more than the error, exactly.

    Here j is the largest with P(Y ≤ j) ≤ P(Y ≥ y). As λ grows the acceptability jumps up to 2·P(Y ≥ y)
    where j grows by one, and in between falls before it rises (Klaschka 2010). So the limit is the
    first jump that reaches the error, or lies between it and the jump before.
    """
    if count == 0:
        return 0.0
    start = float(special.betaincinv(count, n - count + 1, error / 2))  # here P(Y ≥ y) is half the error
    below = np.arange(count)
    j = int(np.searchsorted(special.bdtr(below, n, start), error / 2))
    jump = root(lambda at: _upper(count, n, at) - _lower(j, n, at), start, 1.0)
    return root(lambda at: _upper(count, n, at) + _lower(j - 1, n, at) - error, start, jump)


def _upper(count: int, n: int, at: float) -> float:
    """Return P(Binomial(n, at) ≥ count)."""
    return float(special.betainc(count, n - count + 1, at))


def _lower(count: int, n: int, at: float) -> float:
    """Return P(Binomial(n, at) ≤ count)."""
    return float(special.bdtr(count, n, at)) if count >= 0 else 0.0


def _check(count: int, n: int, noise: Noise, confidence: float) -> None:
    if n < 1:
        raise ValueError(f"n must be 1 or more, got {n}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    if isinstance(noise, NoNoise) and not 0 <= count <= n:
        raise ValueError(f"a count without noise must be 0 to n = {n}")


def _people(reported: float, margin: Margin) -> float:
    return (reported - float(margin.lie)) / margin.contrast


def _variance(at: float, n: int, margin: Margin, noise: Noise) -> Variance:
    truth, lie, contrast = float(margin.truth), float(margin.lie), margin.contrast
    return Variance(
        sampling=at * (1 - at) / n,
        device=(at * truth * (1 - truth) + (1 - at) * lie * (1 - lie)) / (n * contrast**2),
        publication=noise.variance / (n * contrast) ** 2,
    )


def _reported_interval(count: int, n: int, noise: Noise, confidence: float, method: Method) -> Interval:
    """Return the shares of reports that the published count does not reject."""
    if method == Method.BLAKER and not isinstance(noise, NoNoise):
        raise ValueError("Blaker's interval is for counts without noise: use Clopper and Pearson's")
    if isinstance(noise, NoNoise):
        return (blaker if method == Method.BLAKER else clopper_pearson)(count, n, confidence)
    error = (1 - confidence) / 2
    low = root(lambda share: _at_least(count, n, share, noise) - error)
    high = root(lambda share: error - (1 - _at_least(count + 1, n, share, noise)))
    return low, high


def _log_likelihood(count: int, n: int, margin: Margin, noise: Noise) -> Callable[[float], float]:
    """Return ln P(published count) as a function of the share of people, up to a constant."""
    lie, contrast = float(margin.lie), margin.contrast

    def plain(at: float) -> float:
        reported = min(max(lie + at * contrast, 0.0), 1.0)
        return float(special.xlogy(count, reported) + special.xlog1py(n - count, -reported))

    def noisy(at: float) -> float:
        reported = min(max(lie + at * contrast, 0.0), 1.0)
        exactly = _at_least(count, n, reported, noise) - _at_least(count + 1, n, reported, noise)
        return math.log(max(exactly, SMALLEST))

    return plain if isinstance(noise, NoNoise) else noisy


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


def root(increasing: Callable[[float], float], low: float = 0.0, high: float = 1.0) -> float:
    """Return where a function of a share passes 0 from below, or the edge it does not pass."""
    if increasing(low) >= 0:
        return low
    if increasing(high) <= 0:
        return high
    return float(optimize.brentq(increasing, low, high, xtol=1e-12))


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
