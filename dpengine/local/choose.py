"""Why a question about choices has its channel: how many people the other known ways would need.

Variances are × n: so many people's squared error of the share of a choice that nobody has (of a
rare choice), b(1 − b)/(a − b)². What needs twice the variance needs twice the people.

By hand    Two choices, ε = ln 3: a = 3/4, b = 1/4, (3/16)/(1/4) = 0.75.
           Ten choices, ε = 1: 2 of 10 named, 2.82; one named 3.63 (DESIGN § 9).
Sources    yes/no: the even table is the best for every share: any other is made from it by turning
           its reports again (Kairouz, Oh and Viswanath 2016). More: Ye and Barg 2018; a bit for
           every answer: Erlingsson, Pihur and Korolova 2014; unevenly: Wang, Blocki, Li and Jha
           2017.
"""

import math
from dataclasses import dataclass, field

from dpengine.local.channel import Channel


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask about choices: what a device does, and what that costs."""

    name: str
    variance: float  # × n
    figures: dict[str, int] = field(default_factory=dict)  # that tell what it does


def ways(channel: Channel) -> list[Way]:
    """Return the way of a channel for shares, then those it is compared with at the same loss.

    The channel's: keep (of two choices), one or several (named, of more). The others: bits, uneven
    bits, forced (three yes for one no), one of (k-ary randomised response).
    """
    margin, choices, size = channel.margins()[0], channel.answers, channel.held
    odds = float(channel.loss)
    root, variance = math.sqrt(odds), float(margin.rare_variance)
    others = [
        Way("bits", root / (root - 1) ** 2),
        Way("uneven bits", 4 * odds / (odds - 1) ** 2),
    ]
    if choices == 2:
        # not 100: no table always keeps an answer
        own = Way("keep", variance, {"own": min(99, round(100 * float(margin.truth)))})
        forced_yes, truth = 3 / (odds + 3), (odds - 1) / (odds + 3)
        others.append(Way("forced", forced_yes * (1 - forced_yes) / truth**2))
    elif size == 1:
        own = Way("one", variance)
    else:
        own = Way("several", variance, {"size": size, "all": choices})
        others.append(Way("one of", (odds + choices - 2) / (odds - 1) ** 2))
    return [own, *others]
