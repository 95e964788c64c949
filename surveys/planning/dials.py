"""Hold two, the third follows: how many answers, how precise, how well protected.

    width     of n answers at ε: what the publication would print (widths.py)
    n         the fewest answers that are as precise as is wanted, at ε
    epsilon   the ε at which n answers are as precise as is wanted, rounded down to a thousandth: towards privacy

The ± that follows from a rounded ε can therefore be a hair wider than the one that was asked for; it is shown as it is.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

from scipy import optimize

from surveys.planning.laws import Law
from surveys.planning.topics import Drawn, Topic
from surveys.planning.widths import Width, width_of

MOST_ANSWERS = 10_000_000
STEP = Decimal("0.001")  # of an ε that is worked out
FINE, ROUGH = 1e-4, 1e-3  # of ln ε, where the search ends; rougher where a channel takes a tenth of a second
GRID = tuple(map(Decimal, ("0.1", "0.2", "0.35", "0.6", "1", "1.5", "2.2", "3", "4", "6")))

LawOf = Callable[[Drawn], Law]


class Unreachable(Exception):
    """A ± that cannot be had with what is held: what can, and what it would take. `drawn` is the best there is."""

    def __init__(self, best: Width, n_needed: int | None) -> None:
        super().__init__("this precision cannot be reached")
        self.best = best
        self.n_needed = n_needed  # at the greatest ε; None if no number of answers is enough


@dataclass(frozen=True)
class Setting:
    """What is planned, all but the three dials."""

    topic: Topic
    law: LawOf
    at: Fraction  # the share that is planned for
    limits: tuple[Decimal, Decimal]  # of ε

    def width(self, n: int, epsilon: Decimal) -> Width:
        drawn = self.topic.at(epsilon)
        return width_of(drawn, self.law(drawn), n, self.at)


@dataclass(frozen=True)
class Solved:
    """Three dials that agree."""

    n: int
    epsilon: Decimal
    width: Width
    drawn: Drawn


def solve(setting: Setting, follows: str, *, n: int, wanted: float, epsilon: Decimal) -> Solved:
    """Return the dials with the third one worked out. `wanted` is a half-width: of shares, or in the number's unit."""
    if follows == "epsilon":
        epsilon = epsilon_for(setting, n, wanted)
    elif follows == "n":
        n = answers_for(setting, epsilon, wanted)
    drawn = setting.topic.at(epsilon)
    return Solved(n, epsilon, width_of(drawn, setting.law(drawn), n, setting.at), drawn)


def epsilon_for(setting: Setting, n: int, wanted: float) -> Decimal:
    """Return the greatest thousandth that is not above the ε needed; the least that is allowed if that is enough."""
    least, most = setting.limits
    if (best := setting.width(n, most)).half > wanted:
        raise Unreachable(best, _or_none(setting, most, wanted))
    if setting.width(n, least).half <= wanted:
        return least

    low, high = _between(setting, n, wanted)
    fine = ROUGH if setting.topic.at(high).is_slow else FINE

    def over(log_epsilon: float) -> float:
        return math.log(setting.width(n, _exactly(math.exp(log_epsilon))).half / wanted)

    found = math.exp(optimize.brentq(over, math.log(low), math.log(high), xtol=fine) + fine)
    return min(max(_exactly(found).quantize(STEP, ROUND_FLOOR), least), most)


def grid(limits: tuple[Decimal, Decimal]) -> list[Decimal]:
    """Return the same few ε within any limits, and both limits: channels that take long to make are made once."""
    least, most = limits
    return [least, *(epsilon for epsilon in GRID if least < epsilon < most), most]


def _between(setting: Setting, n: int, wanted: float) -> tuple[Decimal, Decimal]:
    """Return two neighbours of the grid, the first too imprecise, the second not."""
    steps = grid(setting.limits)
    low, high = 0, len(steps) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if setting.width(n, steps[middle]).half > wanted else (low, middle)
    return steps[low], steps[high]


def _exactly(epsilon: float) -> Decimal:
    return Decimal(repr(round(epsilon, 6)))


def answers_for(setting: Setting, epsilon: Decimal, wanted: float) -> int:
    """Return the fewest answers with a half-width of at most this."""
    drawn = setting.topic.at(epsilon)
    law = setting.law(drawn)

    def narrow(n: int) -> bool:
        return width_of(drawn, law, n, setting.at).half <= wanted

    low, high = 0, 1000
    while not narrow(high):
        low, high = high, high * 4
        if high > MOST_ANSWERS:
            raise Unreachable(width_of(drawn, law, MOST_ANSWERS, setting.at), None)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if narrow(middle) else (middle, high)
    return high


def _or_none(setting: Setting, epsilon: Decimal, wanted: float) -> int | None:
    try:
        return answers_for(setting, epsilon, wanted)
    except Unreachable:
        return None
