"""How many people an interval of a given width needs, and what ε costs or buys in width.

A share is estimated by π̂ = (reports of yes / n − c0) / c1. With λ = c0 + c1·π:

    standard_error(n) = √(λ(1 − λ)/n) / |c1|
    half_width(n)     = Φ⁻¹((1 + confidence)/2) · standard_error(n)

Without a share, the worst one is planned for: that whose λ is nearest to one half.

Exact      The half-width is that of the Clopper-Pearson interval of the count, divided by |c1| and not yet cut
           to 0 to 1: its mean over the counts that n people can make, or, without a share, its largest over
           all counts (the one next to n/2).
A class    of a question with k choices: c0 = b and c1 = a − b, the channel's margins for that choice.
A mean     standard_error(n) = √(variance/n), from the variance of one debiased answer.
ε          Least variance for ε and k choices is subset selection (Ye and Barg 2018): w of k are reported, the
           true one among them with chance a = w·e^ε/(w·e^ε + k − w), any other with b = (w − a)/(k − 1); w is
           next to k/(e^ε + 1), whichever has less variance for a rare choice. k = 2 is randomised response.
By hand    Forced response, p = 2/3, yes = no = 1/6, at .10: λ(1 − λ) = .17889, so a half-width of .03 needs
           1.95996²·.17889/(.02)² → 1718 people.
Sources    Clopper and Pearson 1934; Ye and Barg 2018.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

import numpy as np
import numpy.typing as npt
from scipy import special

from dpengine.inference.power import LARGEST, Response, check_share
from dpengine.privacy import LARGEST_EPSILON

CONFIDENCE = 0.95
WINDOW = 12.0  # standard deviations of the binomial that are summed; beyond lies less than 1e-30
LARGEST_EXACT = 10**7  # people
HAIR = 1e-8  # of ε, by which a channel made of 32-bit words may fall short of what was asked

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Precision:
    """The smallest n that is as precise as was asked, what it achieves, and what one person less would."""

    n: int
    value: float
    value_at_n_minus_1: float


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a curve: the half-width that n people give at an ε."""

    epsilon: float
    n: int
    half_width: float


def standard_error(response: Response, n: int, at: float | None = None) -> float:
    """Return the standard error of a share of `at`, or of the worst share."""
    return math.sqrt(_variance(response, at) / _people(n)) / abs(response.c1)


def half_width(response: Response, n: int, at: float | None = None, confidence: float = CONFIDENCE) -> float:
    """Return half the width of the normal interval of a share of `at`, or of the worst share."""
    return _quantile(confidence) * standard_error(response, n, at)


def exact_half_width(response: Response, n: int, at: float | None = None, confidence: float = CONFIDENCE) -> float:
    """Return half the width of the Clopper-Pearson interval: its mean at a share, or its largest."""
    _quantile(confidence)
    if at is None:
        return float(_clopper_pearson(np.array([_people(n) // 2]), n, confidence)[0]) / abs(response.c1)
    reported = response.reported(at)
    spread = WINDOW * math.sqrt(n * reported * (1 - reported)) + WINDOW
    counts = np.arange(max(0, math.floor(n * reported - spread)), min(_people(n), math.ceil(n * reported + spread)) + 1)
    return float(_binomial(counts, n, reported) @ _clopper_pearson(counts, n, confidence)) / abs(response.c1)


def size_for_standard_error(response: Response, wanted: float, at: float | None = None) -> Precision:
    """Return the smallest n whose standard error at a share, or at the worst one, is at most `wanted`."""
    return _closed(lambda n: standard_error(response, n, at), wanted, _sure(response, at))


def size_for_half_width(
    response: Response, wanted: float, at: float | None = None, confidence: float = CONFIDENCE
) -> Precision:
    """Return the smallest n whose normal interval at a share, or at the worst one, has at most this half-width."""
    return _closed(lambda n: half_width(response, n, at, confidence), wanted, _sure(response, at))


def exact_size_for_half_width(
    response: Response, wanted: float, at: float | None = None, confidence: float = CONFIDENCE
) -> Precision:
    """Return the smallest n whose Clopper-Pearson interval has at most this half-width, on average or always."""
    _positive("half-width", wanted)
    high = 1
    while exact_half_width(response, high, at, confidence) > wanted:
        if high >= LARGEST_EXACT:
            raise ValueError(f"the exact interval would need more than {LARGEST_EXACT} people: plan without it")
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        narrow = exact_half_width(response, middle, at, confidence) <= wanted
        low, high = (low, middle) if narrow else (middle, high)
    before = exact_half_width(response, high - 1, at, confidence) if high > 1 else math.inf
    return Precision(high, exact_half_width(response, high, at, confidence), before)


def mean_half_width(variance: float, n: int, confidence: float = CONFIDENCE) -> float:
    """Return half the width of the normal interval of a mean of n answers with this variance each."""
    if not 0 < variance < math.inf:
        raise ValueError(f"variance must be above 0, got {variance}")
    return _quantile(confidence) * math.sqrt(variance / _people(n))


def size_for_mean(variance: float, wanted: float, confidence: float = CONFIDENCE) -> Precision:
    """Return the smallest n whose interval of the mean has at most this half-width, in units of the answers."""
    return _closed(lambda n: mean_half_width(variance, n, confidence), wanted, sure=False)


def least_variance(epsilon: float, choices: int = 2) -> Response:
    """Return how a choice is reported by the channel of least variance for ε."""
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise ValueError(f"epsilon must be above 0 and at most {LARGEST_EPSILON}, got {epsilon}")
    if choices < 2:
        raise ValueError(f"choices must be 2 or more, got {choices}")
    near = int(choices / (math.exp(epsilon) + 1))
    sizes = sorted({min(max(size, 1), choices - 1) for size in (near, near + 1)})
    return min((_subset(epsilon, choices, size) for size in sizes), key=lambda r: r.variance(0) / r.c1**2)


def half_width_for(
    epsilon: float, n: int, at: float | None = None, choices: int = 2, confidence: float = CONFIDENCE
) -> float:
    """Return the accuracy that ε buys: the half-width of a choice's share with n people."""
    return half_width(least_variance(epsilon, choices), n, at, confidence)


def epsilon_for(
    wanted: float, n: int, at: float | None = None, choices: int = 2, confidence: float = CONFIDENCE, places: int = 3
) -> Decimal:
    """Return the least ε, with so many decimals, at which n people give this half-width: rounded up, so that they do.

    The channel's odds are rounded towards privacy; it still keeps the promise when its loss is a hair below e^ε.
    """
    _positive("half-width", wanted)
    step = Decimal(1).scaleb(-places)

    def wide(steps: int) -> bool:
        return half_width_for(float(steps * step) * (1 - HAIR), n, at, choices, confidence) > wanted

    low, high = 0, int((LARGEST_EPSILON / step).to_integral_value(ROUND_CEILING))
    if wide(high):
        best = half_width_for(float(LARGEST_EPSILON), n, at, choices, confidence)
        raise ValueError(f"n = {n} gives a half-width of {best:.4g} even at epsilon {LARGEST_EPSILON}: ask more people")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if wide(middle) else (low, middle)
    return high * step


def curve(
    epsilons: Iterable[float], sizes: Iterable[int], at: float | None = None, choices: int = 2,
    confidence: float = CONFIDENCE,
) -> list[Point]:  # fmt: skip
    """Return the half-width at every ε and n: what a plot of accuracy against privacy shows."""
    people = list(sizes)
    return [Point(e, n, half_width_for(e, n, at, choices, confidence)) for e in epsilons for n in people]


def _closed(width: Callable[[int], float], wanted: float, sure: bool) -> Precision:
    """Return the smallest n with width(n) ≤ wanted, for a width that falls with √n."""
    _positive("half-width or standard error", wanted)
    if sure:
        raise ValueError("reports are certain at this share, which no approximation plans for: plan exactly")
    root = (width(1) / wanted) ** 2
    if root > LARGEST:
        raise ValueError(f"{wanted} would need more than {LARGEST} people")
    n = max(1, math.ceil(root))
    while width(n) > wanted:
        n += 1
    while n > 1 and width(n - 1) <= wanted:
        n -= 1
    return Precision(n, width(n), width(n - 1) if n > 1 else math.inf)


def _variance(response: Response, at: float | None) -> float:
    """Return λ(1 − λ) at a share, or its largest over all shares."""
    if at is not None:
        return response.variance(check_share("share", at))
    ends = sorted((response.reported(0), response.reported(1)))
    worst = min(max(0.5, ends[0]), ends[1])
    return worst * (1 - worst)


def _sure(response: Response, at: float | None) -> bool:
    return _variance(response, at) == 0


def _subset(epsilon: float, choices: int, size: int) -> Response:
    truth = size / (size + (choices - size) * math.exp(-epsilon))
    lie = (size - truth) / (choices - 1)
    return Response(lie, truth - lie)


def _clopper_pearson(counts: npt.NDArray[np.int64], n: int, confidence: float) -> Floats:
    """Return half the width of the interval of each count."""
    error = (1 - confidence) / 2
    inside, outside = np.maximum(counts, 1), np.maximum(n - counts, 1)
    low = np.where(counts == 0, 0.0, special.betaincinv(inside, n - counts + 1, error))
    high = np.where(counts == n, 1.0, special.betaincinv(counts + 1, outside, 1 - error))
    return np.asarray((high - low) / 2, dtype=np.float64)


def _binomial(counts: npt.NDArray[np.int64], n: int, chance: float) -> Floats:
    ways = special.gammaln(n + 1) - special.gammaln(counts + 1) - special.gammaln(n - counts + 1)
    return np.asarray(np.exp(ways + special.xlogy(counts, chance) + special.xlog1py(n - counts, -chance)), np.float64)


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    return float(special.ndtri((1 + confidence) / 2))


def _people(n: int) -> int:
    if n < 1:
        raise ValueError(f"n must be 1 or more, got {n}")
    return n


def _positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be above 0, got {value}")
