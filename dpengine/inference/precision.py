"""How many people an interval of a given width needs, and what ε costs or buys in width.

A share is estimated by π̂ = (reports of yes / n − c0) / c1. With λ = c0 + c1·π:

    standard_error(n) = √(λ(1 − λ)/n) / |c1|
    half_width(n)     = Φ⁻¹((1 + confidence)/2) · standard_error(n)

Without a share, the worst one is planned for: that whose λ is nearest to one half.

Exact      The half-width is that of the Clopper-Pearson interval of the count, divided by |c1| and
           not yet cut to 0 to 1: its mean over the counts that n people can make, or, without a
           share, its largest over all counts (the one next to n/2).
A class    of a question with k choices: c0 = b and c1 = a − b, the channel's margins for that
           choice.
ε          Least variance for ε and k choices is subset selection (Ye and Barg 2018): w of k are
           reported, the true one among them with chance a = w·e^ε/(w·e^ε + k − w), any other with b
           = (w − a)/(k − 1); w is next to k/(e^ε + 1), whichever has less variance for a rare
           choice. k = 2 is randomised response.
By hand    Forced response, p = 2/3, yes = no = 1/6, at .10: λ(1 − λ) = .17889, so a half-width of
           .03 needs
           1.95996²·.17889/(.02)² → 1718 people.
Sources    Clopper and Pearson 1934; Ye and Barg 2018.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

import numpy as np

from dpengine.checks import require
from dpengine.estimates import (
    CONFIDENCE,
    WINDOW,
    Floats,
    Ints,
    binomial,
    clopper_pearson_limits,
    normal_quantile,
)
from dpengine.inference.power import LARGEST, Response, check_share
from dpengine.privacy import LARGEST_EPSILON

LARGEST_EXACT = 10**7  # people
HAIR = 1e-8  # of ε, by which a channel made of 32-bit words may fall short of what was asked


@dataclass(frozen=True, slots=True)
class Precision:
    """The smallest n that is precise enough, what it achieves, and what one person less would."""

    n: int
    value: float
    value_at_n_minus_1: float


def standard_error(response: Response, n: int, at: float | None = None) -> float:
    """Return the standard error of a share of `at`, or of the worst share."""
    return math.sqrt(_variance(response, at) / _people(n)) / abs(response.c1)


def half_width(
    response: Response, n: int, at: float | None = None, confidence: float = CONFIDENCE
) -> float:
    """Return half the width of the normal interval of a share of `at`, or of the worst share."""
    return normal_quantile(confidence) * standard_error(response, n, at)


def exact_half_width(
    response: Response, n: int, at: float | None = None, confidence: float = CONFIDENCE
) -> float:
    """Return half the Clopper-Pearson interval: its mean at a share, or its largest."""
    normal_quantile(confidence)
    if at is None:
        mean = float(_half_widths(np.array([_people(n) // 2]), n, confidence)[0])
        return mean / abs(response.c1)
    reported = response.reported(at)
    spread = WINDOW * math.sqrt(n * reported * (1 - reported)) + WINDOW
    first, last = math.floor(n * reported - spread), math.ceil(n * reported + spread)
    counts = np.arange(max(0, first), min(_people(n), last) + 1)
    mean = float(binomial(counts, n, reported) @ _half_widths(counts, n, confidence))
    return mean / abs(response.c1)


def size_for_standard_error(
    response: Response, wanted: float, at: float | None = None
) -> Precision:
    """Return the smallest n whose standard error at a share, or the worst, is at most `wanted`."""
    return _closed(lambda n: standard_error(response, n, at), wanted, response, at)


def size_for_half_width(
    response: Response, wanted: float, at: float | None = None, confidence: float = CONFIDENCE
) -> Precision:
    """Return the smallest n whose normal interval has at most this half-width.

    At a share, or at the worst one.
    """
    return _closed(lambda n: half_width(response, n, at, confidence), wanted, response, at)


def exact_size_for_half_width(
    response: Response, wanted: float, at: float | None = None, confidence: float = CONFIDENCE
) -> Precision:
    """Return the smallest n whose exact interval has this half-width, on average or always."""
    require(0 < wanted < math.inf, "half-width must be above 0, got {}", wanted)

    def width(n: int) -> float:
        return exact_half_width(response, n, at, confidence)

    high = 1
    while width(high) > wanted:
        require(
            high < LARGEST_EXACT,
            "the exact interval would need more than {} people: plan without it",
            LARGEST_EXACT,
        )
        high *= 2
    sizes = range(high // 2 + 1, high)
    n = sizes.start + bisect_left(sizes, True, key=lambda n: width(n) <= wanted)
    return Precision(n, width(n), width(n - 1) if n > 1 else math.inf)


def least_variance(epsilon: float, choices: int = 2) -> Response:
    """Return how a choice is reported by the channel of least variance for ε."""
    require(
        0 < epsilon <= LARGEST_EPSILON,
        "epsilon must be above 0 and at most {}, got {}",
        LARGEST_EPSILON,
        epsilon,
    )
    require(choices >= 2, "choices must be 2 or more, got {}", choices)
    near = int(choices / (math.exp(epsilon) + 1))
    sizes = sorted({min(max(size, 1), choices - 1) for size in (near, near + 1)})
    return min(
        (_subset(epsilon, choices, size) for size in sizes), key=lambda r: r.variance(0) / r.c1**2
    )


def half_width_for(
    epsilon: float,
    n: int,
    at: float | None = None,
    choices: int = 2,
    confidence: float = CONFIDENCE,
) -> float:
    """Return the accuracy that ε buys: the half-width of a choice's share with n people."""
    return half_width(least_variance(epsilon, choices), n, at, confidence)


def epsilon_for(
    wanted: float,
    n: int,
    at: float | None = None,
    choices: int = 2,
    confidence: float = CONFIDENCE,
    places: int = 3,
) -> Decimal:
    """Return the least ε, with so many decimals, at which n people give this half-width.

    Rounded up, so that they do. The channel's odds are rounded towards privacy; it still keeps
    the promise when its loss is a hair below e^ε.
    """
    require(0 < wanted < math.inf, "half-width must be above 0, got {}", wanted)
    step = Decimal(1).scaleb(-places)

    def wide(steps: int) -> bool:
        return half_width_for(float(steps * step) * (1 - HAIR), n, at, choices, confidence) > wanted

    low, high = 0, int((LARGEST_EPSILON / step).to_integral_value(ROUND_CEILING))
    if wide(high):
        best = half_width_for(float(LARGEST_EPSILON), n, at, choices, confidence)
        raise ValueError(
            f"n = {n} gives a half-width of {best:.4g} even at epsilon {LARGEST_EPSILON}: ask "
            f"more people"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if wide(middle) else (low, middle)
    return high * step


def _closed(
    width: Callable[[int], float], wanted: float, response: Response, at: float | None
) -> Precision:
    """Return the smallest n with width(n) ≤ wanted, for a width that falls with √n."""
    require(0 < wanted < math.inf, "half-width or standard error must be above 0, got {}", wanted)
    require(
        _variance(response, at) != 0,
        "reports are certain at this share, which no approximation plans for: plan exactly",
    )
    root = (width(1) / wanted) ** 2
    require(root <= LARGEST, "{} would need more than {} people", wanted, LARGEST)
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


def _subset(epsilon: float, choices: int, size: int) -> Response:
    truth = size / (size + (choices - size) * math.exp(-epsilon))
    lie = (size - truth) / (choices - 1)
    return Response(lie, truth - lie)


def _half_widths(counts: Ints, n: int, confidence: float) -> Floats:
    """Return half the width of Clopper and Pearson's interval of each count."""
    low, high = clopper_pearson_limits(counts, n, confidence)
    return (high - low) / 2


def _people(n: int) -> int:
    require(n >= 1, "n must be 1 or more, got {}", n)
    return n
