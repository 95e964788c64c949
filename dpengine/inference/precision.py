"""How many people an interval of a given width needs, and what ε costs or buys in width.

A share is estimated by π̂ = (reports of yes / n − c0) / c1. With λ = c0 + c1·π:

    standard_error(n) = √(λ(1 − λ)/n) / |c1|, at the share or the worst one: λ nearest to one half
    half_width(n)     half of Clopper and Pearson's interval, which an analysis prints, over |c1|

Without a share, the worst one is planned for: that whose λ is nearest to one half.

Half-width Its mean over the counts that n people of this share can make; without a share, its
           largest for counts whose estimate is possible, which is at n/2 or at the end of them next
           to n/2. It is of the interval before that is cut to 0 to 1, as the ± of an estimate is;
           what is printed, cut, is never wider. It falls with n.
Large n    Beyond a million people the expected count stands for all: the mean of widths differs
           from its width by less than a part in n.
A class    of a question with k choices: c0 = b and c1 = a − b, the channel's margins for that
           choice.
ε          Least variance for ε and k choices is subset selection (Ye and Barg 2018): w of k are
           reported, the true one among them with chance a = w·e^ε/(w·e^ε + k − w), any other with b
           = (w − a)/(k − 1); w is next to k/(e^ε + 1), whichever has less variance for a rare
           choice. k = 2 is randomised response.
By hand    Forced response, p = 2/3, yes = no = 1/6, at .10: λ(1 − λ) = .17889, so a normal interval
           of half-width .03 would need 1.95996²·.17889/(.02)² → 1718 people. Clopper and Pearson's
           reaches about 1/2n further on each side: 1765.
Sources    Clopper and Pearson 1934; Ye and Barg 2018.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import (
    CONFIDENCE,
    WINDOW,
    Floats,
    binomial,
    clopper_pearson_limits,
)
from dpengine.inference.power import LARGEST, Response, check_share
from dpengine.privacy import LARGEST_EPSILON

LARGE = 10**6  # people
HALF = 0.5
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
    """Return half of Clopper and Pearson's interval: its mean at a share, or its largest."""
    require(0 < confidence < 1, "confidence must be between 0 and 1, got {}", confidence)
    if _people(n) > LARGE or at is None:
        reported = _worst(response) if at is None else response.reported(at)
        likely = n // 2 if reported == HALF else n * reported
        return float(_half_widths(likely, n, confidence)) / abs(response.c1)
    reported = response.reported(at)
    spread = WINDOW * math.sqrt(n * reported * (1 - reported)) + WINDOW
    first, last = math.floor(n * reported - spread), math.ceil(n * reported + spread)
    counts = np.arange(max(0, first), min(n, last) + 1)
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
    """Return the smallest n whose interval has this half-width, on average or at worst."""
    require(0 < wanted < math.inf, "half-width must be above 0, got {}", wanted)

    def width(n: int) -> float:
        return half_width(response, n, at, confidence)

    high = 1
    while width(high) > wanted:
        require(high < LARGEST, "{} would need more than {} people", wanted, LARGEST)
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
    worst = _worst(response)
    return worst * (1 - worst)


def _worst(response: Response) -> float:
    """Return the λ nearest to one half of those that a share can have."""
    low, high = sorted((response.reported(0), response.reported(1)))
    return min(max(HALF, low), high)


def _subset(epsilon: float, choices: int, size: int) -> Response:
    truth = size / (size + (choices - size) * math.exp(-epsilon))
    lie = (size - truth) / (choices - 1)
    return Response(lie, truth - lie)


def _half_widths(counts: npt.ArrayLike, n: int, confidence: float) -> Floats:
    """Return half the width of Clopper and Pearson's interval of each count."""
    low, high = clopper_pearson_limits(counts, n, confidence)
    return (high - low) / 2


def _people(n: int) -> int:
    require(n >= 1, "n must be 1 or more, got {}", n)
    return n
