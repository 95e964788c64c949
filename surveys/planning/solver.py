"""Hold two, the third follows: how many answers, how precise, how well protected.

    precision   of n answers at ε: what the publication would print (precision.py)
    n           the fewest answers that are as precise as is wanted, at ε
    epsilon     the ε at which n answers are as precise as is wanted, rounded down to a thousandth:
                towards privacy

The ± that follows from a rounded ε can therefore be a hair wider than the one that was asked for;
it is shown as it is.
"""

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from scipy import optimize

from surveys.planning.precision import Precision
from surveys.planning.questions import QuestionAtEpsilon
from surveys.planning.scenarios import Scenario

MAX_ANSWERS = 10_000_000
STEP = Decimal("0.001")  # of an ε that is worked out
TOLERANCE = 1e-4  # of ln ε, where the search ends
SLOW_TOLERANCE = 1e-3  # where a channel takes a tenth of a second
GRID = tuple(map(Decimal, ("0.1", "0.2", "0.35", "0.6", "1", "1.5", "2.2", "3", "4", "6")))


class Unreachable(Exception):
    """A ± that cannot be had with what is held: the best that can, and what it would take."""

    def __init__(self, best: Precision, n_needed: int | None) -> None:
        super().__init__("this precision cannot be reached")
        self.best = best
        self.n_needed = n_needed  # at the greatest ε; None if no number of answers is enough


@dataclass(frozen=True)
class Solution:
    """Three dials that agree."""

    n: int
    epsilon: Decimal
    precision: Precision

    @property
    def question(self) -> QuestionAtEpsilon:
        return self.precision.question

    @property
    def price(self) -> int:
        """Return how many answers the protection costs."""
        return max(self.n - self.precision.plain, 0)


def solve(scenario: Scenario, follows: str, *, n: int, wanted: float, epsilon: Decimal) -> Solution:
    """Return the dials with the third one worked out. `wanted` is a half-width: of shares, or in
    the number's unit.
    """
    if follows == "epsilon":
        epsilon = epsilon_for(scenario, n, wanted)
    elif follows == "n":
        n = answers_for(scenario, epsilon, wanted)
    return Solution(n, epsilon, scenario.precision(n, epsilon))


def epsilon_for(scenario: Scenario, n: int, wanted: float) -> Decimal:
    """Return the greatest thousandth not above the ε needed; the least allowed if it is enough."""
    least, most = scenario.limits
    if (best := scenario.precision(n, most)).half > wanted:
        try:
            needed = answers_for(scenario, most, wanted)
        except Unreachable:
            raise Unreachable(best, None) from None
        raise Unreachable(best, needed)
    if scenario.precision(n, least).half <= wanted:
        return least

    low, high = _bracket(scenario, n, wanted)
    tolerance = SLOW_TOLERANCE if scenario.question.at(high).is_slow else TOLERANCE

    def excess(log_epsilon: float) -> float:
        return math.log(scenario.precision(n, _exactly(math.exp(log_epsilon))).half / wanted)

    root = optimize.brentq(excess, math.log(low), math.log(high), xtol=tolerance) + tolerance
    return min(max(_exactly(math.exp(root)).quantize(STEP, ROUND_FLOOR), least), most)


def grid(limits: tuple[Decimal, Decimal]) -> list[Decimal]:
    """Return the same few ε within any limits, and both limits: slow channels are made once."""
    least, most = limits
    return [least, *(epsilon for epsilon in GRID if least < epsilon < most), most]


def _bracket(scenario: Scenario, n: int, wanted: float) -> tuple[Decimal, Decimal]:
    """Return two neighbours of the grid, the first too imprecise, the second not."""
    steps = grid(scenario.limits)
    low, high = 0, len(steps) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if scenario.precision(n, steps[middle]).half > wanted:
            low = middle
        else:
            high = middle
    return steps[low], steps[high]


def _exactly(epsilon: float) -> Decimal:
    return Decimal(repr(round(epsilon, 6)))


def answers_for(scenario: Scenario, epsilon: Decimal, wanted: float) -> int:
    """Return the fewest answers with a half-width of at most this."""
    question = scenario.question.at(epsilon)
    noise = scenario.noise(question)

    def is_enough(n: int) -> bool:
        return scenario.precision_of(question, noise, n).half <= wanted

    low, high = 0, 1000
    while not is_enough(high):
        low, high = high, high * 4
        if high > MAX_ANSWERS:
            raise Unreachable(scenario.precision_of(question, noise, MAX_ANSWERS), None)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
