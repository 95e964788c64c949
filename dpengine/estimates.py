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
           smaller than the smaller margin and no larger than the larger one.
Interval   Clopper and Pearson (1934) on λ with the noise's law convolved in, mapped to π by
           (λ − b)/(a − b): all λ that neither P(Y ≥ y) nor P(Y ≤ y) rejects at half the error. It
           holds at the edges and for every n, because Y grows stochastically with λ:
           tests/bench/coverage.py measures 95.0 to 96.7 % from n = 200 away from the edge.
Known sum  Where n is public and a report holds w of k choices, the k counts add up to w·n, and what
           noisy ones add up to beyond that is noise. Taken out in equal parts, Yᵢ − (ΣY − w·n)/k
           are the nearest counts that add up; of all that are unbiased and linear they have the
           least variance, each count's noise being one of k alike. What is left of it is Zᵢ − Z̄:
               variance    (1 − 1/k)·Var Z
               covariance  −Var Z/k of two counts, so that shares add up to 1
           on whole k-ths: k(Zᵢ − Z̄) = (k − 1)·Zᵢ − Σ_{j≠i} Zⱼ, and its characteristic function is
           that of Z at (k − 1)·ω times that at ω to the power of k − 1. Summed on a ring; beyond it
           lies less than 1e-9 of Laplace's. Where it would have more than 2²⁰ points, people are
           put together into grains, and a tail is taken up to one grain too large.
By hand    No noise, a = 1, b = 0: the ordinary Clopper-Pearson interval; 10 of 100: 4.9 to 17.6 %.
           52 of 350 with a = 5/6, b = 1/6: moment −0.027, likelihood 0, upper limit 0.035. Noisy
           counts 41, 30 and 35 of n = 100: 39, 28 and 33.
Source     of the known sum: Hay, Rastogi, Miklau and Suciu 2010 (least squares after noise).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.checks import require

Counts = list[int]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Interval = tuple[float, float]
CONFIDENCE = 0.95
COUNTED = 0.2  # the part of an interval's error that is for a number of people with noise
WINDOW = 12.0  # standard deviations of the binomial that are summed; beyond lies less than 1e-30
FEW_PLAIN = 30  # plain answers; as precise as fewer is not worth a number
REMEMBERED = 8192  # intervals: a rehearsal asks for the same ones again
NOISE_WINDOW = 16.0  # standard deviations of noise: beyond lies less than 1e-9 of Laplace's
RING = 2**20  # points of a law of noise, about


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


NO_NOISE = NoNoise()


@dataclass(frozen=True, slots=True)
class KnownSum:
    """The law of what is left of the noise in counts once they add up to their known sum."""

    noise: Noise  # of each count, as it was drawn
    counts: int  # k

    @property
    def variance(self) -> float:
        return self.noise.variance * (1 - 1 / self.counts)

    @property
    def covariance(self) -> float:
        """Return that of two counts."""
        return -self.noise.variance / self.counts

    def counted(self, noisy: Sequence[float], total: int) -> list[float]:
        """Return the nearest counts with this sum: whole k-ths, nearly."""
        beyond = (sum(noisy) - total) / self.counts
        return [count - beyond for count in noisy]

    def tail(self, least: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return P(k·Z ≥ least), in k-ths of a person."""
        grain, tails = _known_sum(self.noise, self.counts)  # type: ignore[arg-type] # frozen values
        places = np.floor_divide(least, grain) + len(tails) // 2
        return np.asarray(tails[np.clip(places, 0, len(tails) - 1)], dtype=np.float64)


def with_known_sum(noise: Noise, counts: int) -> Noise:
    """Return the law of noise in so many counts whose sum is public.

    Of two, one is published. Where there is no noise, there is none to take out.
    """
    return KnownSum(noise, counts) if counts > 2 and noise.variance > 0 else noise


@lru_cache(maxsize=16)
def _known_sum(noise: Noise, counts: int) -> tuple[int, Floats]:
    """Return P(k·Z ≥ m·grain) for all m from −N/2, and how many k-ths a grain has."""
    reach = math.ceil(NOISE_WINDOW * math.sqrt(noise.variance)) + 1
    grain = 2 * (counts * reach // RING) + 1  # odd, so that noise stays symmetric about 0
    places = np.arange(-(reach // grain) - 1, reach // grain + 2, dtype=np.int64)
    edges = places * grain - grain // 2
    size = 2 ** math.ceil(math.log2(2 * counts * (reach / grain + 1)))
    ring = np.zeros(size)
    ring[places] = noise.tail(edges) - noise.tail(edges + grain)
    own = np.fft.rfft(ring).real
    turns = np.arange(len(own)) * (counts - 1) % size
    left = own[np.minimum(turns, size - turns)] * own ** (counts - 1)
    chances = np.fft.fftshift(np.fft.irfft(left, size))
    tails = np.clip(np.cumsum(chances[::-1])[::-1], 0.0, 1.0)
    tails.flags.writeable = False  # it is shared
    return grain, tails


@dataclass(frozen=True, slots=True)
class Variance:
    """Squared standard errors of a share, by where the doubt comes from.

    The part of sampling is put together from the estimate, and is 0 where that stands at an edge: a
    share not above 0, reports that differ no more than the same answer of everybody would make
    them. People may differ all the same, by less than the other chance hides: then it cannot be
    told apart from that, and is in its part.
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
        """Return the estimate within what λ allows: without noise, the likeliest share."""
        return min(max(self.value, 0.0), 1.0)

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.variance.total)


def share(
    count: float, n: int, margin: Margin, noise: Noise, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the share of people whose answer is the choice that `count` of n reports hold.

    A whole number, or with a known sum a whole number of k-ths.
    """
    require(n >= 1, "n must be 1 or more, got {}", n)
    require(0 < confidence < 1, "confidence must be between 0 and 1, got {}", confidence)
    require(
        not isinstance(noise, NoNoise) or 0 <= count <= n,
        "a count without noise must be 0 to n = {}",
        n,
    )
    truth, lie, contrast = float(margin.truth), float(margin.lie), margin.contrast
    reported = _reported_interval(round(count * _parts(noise)), n, noise, confidence)  # type: ignore[arg-type]
    value, *limits = ((part - lie) / contrast for part in (count / n, *reported))
    at = min(max(value, 0.0), 1.0)
    variance = Variance(
        sampling=at * (1 - at) / n,
        device=(at * truth * (1 - truth) + (1 - at) * lie * (1 - lie)) / (n * contrast**2),
        publication=noise.variance / (n * contrast) ** 2,
    )
    return Estimate(value, min(*limits, value), max(*limits, value), variance, confidence)


def averaged(estimates: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """Return Σ w·θ, weights adding up to 1, of estimates that share no chance: variances are added
    with squared weights, and intervals put together side by side (MOVER; Zou, Huang and Zhang
    2009): Σ w θ − √(Σ w²(θ − l)²), and the like above.
    """
    pairs = list(zip(weights, estimates, strict=True))
    value = sum(weight * each.value for weight, each in pairs)
    below = math.hypot(*(weight * (each.value - each.low) for weight, each in pairs))
    above = math.hypot(*(weight * (each.high - each.value) for weight, each in pairs))
    parts = ("sampling", "device", "publication")
    variance = Variance(
        *(sum(weight**2 * getattr(each.variance, part) for weight, each in pairs) for part in parts)
    )
    return Estimate(value, value - below, value + above, variance, estimates[0].confidence)


def over_people(
    at: Callable[[int, float], Sequence[Estimate]],
    n: int,
    reach: int,
    variance: float,
    confidence: float = CONFIDENCE,
) -> list[Estimate]:
    """Return estimates of which the number of people is known with noise only: n, of this variance,
    further off than `reach` with a chance of `COUNTED` of the error.

    `at` gives them for a number of people and a confidence. Each limit is the farthest for any
    number within reach, of one person at least: at one of the ends, for a count among more people
    is a smaller share. The two chances to be wrong add up to 1 − confidence. How far the value
    moves with n is in the variance of publication.
    """
    ends, sure = (max(n - reach, 1), n + max(reach, 1)), confidence + COUNTED * (1 - confidence)
    few, middle, many = (at(people, sure) for people in (ends[0], n, ends[1]))
    found = []
    for low, own, high in zip(few, middle, many, strict=True):
        slope = (high.value - low.value) / (ends[1] - ends[0])
        publication = own.variance.publication + slope**2 * variance
        found.append(
            Estimate(
                own.value,
                min(low.low, own.low, high.low),
                max(low.high, own.high, high.high),
                replace(own.variance, publication=publication),
                confidence,
            )
        )
    return found


def clopper_pearson(count: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Return Clopper and Pearson's interval for a binomial share, by quantiles of the beta law.

    n and count may be effective ones, not whole (Korn and Graubard 1998).
    """
    low, high = clopper_pearson_limits(count, n, confidence)
    return float(low), float(high)


def clopper_pearson_limits(
    counts: npt.ArrayLike, n: float, confidence: float
) -> tuple[Floats, Floats]:
    """Return the lower and the upper limits of the interval of every count."""
    counts, error = np.asarray(counts, dtype=np.float64), (1 - confidence) / 2
    with np.errstate(all="ignore"):  # both are computed everywhere, and kept where they are defined
        low = np.where(counts > 0, scipy.special.betaincinv(counts, n - counts + 1, error), 0.0)
        high = np.where(counts < n, scipy.special.betainccinv(counts + 1, n - counts, error), 1.0)
    return low, high


def normal_quantile(confidence: float) -> float:
    """Return how many standard errors a two-sided normal interval reaches on each side."""
    require(0 < confidence < 1, "confidence must be between 0 and 1, got {}", confidence)
    return float(scipy.special.ndtri((1 + confidence) / 2))


def binomial_tail(least: Floats, n: Floats, chance: float) -> Floats:
    """Return P(Binomial(n, chance) ≥ least), element by element."""
    inside, size = np.clip(least, 1, np.maximum(n, 1)), np.maximum(n, 1)
    tail = scipy.special.betainc(inside, size - inside + 1, chance)
    return np.asarray(np.where(least <= 0, 1.0, np.where(least > n, 0.0, tail)), dtype=np.float64)


def _parts(noise: Noise) -> int:
    """Return in how many parts of a person noise counts."""
    return noise.counts if isinstance(noise, KnownSum) else 1


@lru_cache(maxsize=REMEMBERED)
def _reported_interval(count: int, n: int, noise: Noise, confidence: float) -> Interval:
    """Return the shares of reports that the published count, in parts, does not reject."""
    if isinstance(noise, NoNoise):
        return clopper_pearson(count, n, confidence)
    error = (1 - confidence) / 2
    low = root(lambda share: _at_least(count, n, share, noise) - error)
    high = root(lambda share: error - (1 - _at_least(count + 1, n, share, noise)))
    return low, high


def _at_least(count: int, n: int, share: float, noise: Noise) -> float:
    """Return P(Binomial(n, share) + Z ≥ count), the count in parts."""
    spread = WINDOW * math.sqrt(n * share * (1 - share)) + WINDOW
    first, last = max(0, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread))
    holding = np.arange(first, last + 1, dtype=np.int64)
    return float(binomial(holding, n, share) @ noise.tail(count - _parts(noise) * holding))


def binomial(holding: Ints, n: int, share: float) -> Floats:
    """Return the binomial chances of these counts. scipy.stats has them too, but loads slowly."""
    ways = (
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(holding + 1)
        - scipy.special.gammaln(n - holding + 1)
    )
    chances = np.exp(
        ways + scipy.special.xlogy(holding, share) + scipy.special.xlog1py(n - holding, -share)
    )
    return np.asarray(chances, dtype=np.float64)


def root(
    increasing: Callable[[float], float], low: float = 0.0, high: float = 1.0, close: float = 1e-12
) -> float:
    """Return where a function passes 0 from below, this closely, or the edge it does not pass."""
    if increasing(low) >= 0:
        return low
    if increasing(high) <= 0:
        return high
    return float(scipy.optimize.brentq(increasing, low, high, xtol=close))


def simplex(values: Sequence[float]) -> list[float]:
    """Return the nearest shares of 0 or more that add up to 1, for display.

    Held, Wolfe and Crowder 1974.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(ordered) + 1)
    threshold = excess[np.nonzero(ordered > excess)[0][-1]]
    return [float(max(value - threshold, 0.0)) for value in values]


def plain_answers(
    estimates: Sequence[Estimate], n: int, is_partition: bool = True
) -> tuple[int, int] | None:
    """Return how few and how many plain answers would be as precise as these n; None for few.

    N with S/N = S/n + device and publication, S = Σ π(1 − π), for all shares in the intervals; of a
    partition, those that add up to 1. One number would say too much: of rare shares it is unsteady.
    """
    values = np.array([estimate.value for estimate in estimates])
    ends = np.array([(estimate.low, estimate.high) for estimate in estimates]).T
    if is_partition and len(values) > 2:  # of two shares one says both; of more, all are to hold
        together = 1 - (1 - CONFIDENCE) / len(values)
        ends = values + (ends - values) * normal_quantile(together) / normal_quantile(CONFIDENCE)
    lows, highs = np.clip(ends, 0.0, 1.0)
    if is_partition:
        spreads = _spreads_of_partition(lows, highs)
    else:
        nearest = np.clip(0.5, lows, highs)
        spreads = (
            float(np.minimum(lows * (1 - lows), highs * (1 - highs)).sum()),
            float((nearest * (1 - nearest)).sum()),
        )
    parts = [estimate.variance for estimate in estimates]
    other = sum(variance.device + variance.publication for variance in parts)
    return plain_range(spreads, (other, other), n)


def plain_range(spreads: Interval, others: Interval, n: int) -> tuple[int, int] | None:
    """Return N with spread/N = spread/n + other at both ends, or None where it may be few.

    Rounded outwards to 10, 15, … 95 times a power of ten: it is no finer than that.
    """
    low, high = (
        spread / (spread / n + other) if spread > 0 else 0.0
        for spread, other in zip(spreads, others, strict=True)
    )
    if low < FEW_PLAIN:
        return None
    fine, coarse = (5 * 10 ** (math.floor(math.log10(end)) - 1) for end in (low, high))
    return fine * math.floor(low / fine), min(coarse * math.ceil(high / coarse), n)


def _spreads_of_partition(lows: Floats, highs: Floats) -> Interval:
    """Return the least and the largest 1 − Σ π² of shares between limits that add up to 1.

    The largest is that of shares as equal as they can be; the least is no less than where each π²
    is the chord between its limits, filled up from the highest limits on.
    """
    room = 1 - float(lows.sum())
    if room < 0 or highs.sum() < 1:
        return 0.0, 0.0  # intervals that no shares can all be in say nothing
    level = root(lambda share: float(np.clip(share, lows, highs).sum()) - 1)
    most = 1 - float((np.clip(level, lows, highs) ** 2).sum())
    chords = float((lows**2).sum())
    for place in np.argsort(-(lows + highs)):
        step = min(room, float(highs[place] - lows[place]))
        chords += float(lows[place] + highs[place]) * step
        room -= step
    return max(1 - chords, 0.0), most
