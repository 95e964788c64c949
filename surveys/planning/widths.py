"""How wide a publication's interval will be: what it would print, for so many answers, on average.

A question's expected counts, if people answer as is assumed, go through the code that makes the published estimate
from real counts, with the law of the noise that the study's publications add. So the number on the planner is
the one that a release prints, not an approximation of it: at the expected counts an interval is as wide as
intervals are on average, up to terms of 1/n (measured in tests/surveys/planning/test_widths.py).

Layers     Half-widths telescope: sampling alone, with the device, with the publication (variances add, widths do not).
Plain      How many plain answers would be as precise: π(1 − π) over the variance, for the share that is planned for.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from surveys.planning.laws import Law
from surveys.planning.topics import Drawn


@dataclass(frozen=True, slots=True)
class Width:
    """Half of an interval, by what it is made of; of shares, in shares of one."""

    half: float
    sampling: float  # of which who happened to answer
    device: float  # and answers changed on devices
    plain: int  # plain answers that would be as precise
    reach: float = 1.0  # the whole scale: 1 of a share, most less least of a number

    @property
    def parts(self) -> tuple[float, float, float]:
        return self.sampling, self.device, self.half


def width_of(drawn: Drawn, law: Law, n: int, at: Fraction) -> Width:
    """Return the half-width that n answers give when a share `at` of people give the answer that is planned for."""
    if n < 1:
        raise ValueError(f"n must be 1 or more, got {n}")
    estimate = drawn.expected(n, at, law.noise)
    spread = drawn.spread(at)
    total = estimate.variance.total
    half = (estimate.high - estimate.low) / 2
    upto = (estimate.variance.sampling, estimate.variance.sampling + estimate.variance.device)
    sampling, device = (half * math.sqrt(part / total) for part in upto)
    return Width(half, sampling, device, max(1, int(spread / total)), float(drawn.reach))
