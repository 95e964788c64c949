"""Where bars stand: shares turned into positions in percent of a picture's width.

Variances add, widths do not. The outermost bar is the interval itself; the bars inside it
have the same centre and shape, narrowed to √(s/(s+d+p)) and √((s+d)/(s+d+p)) of it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpengine.estimates import Estimate, Variance

STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # between two lines of an axis
MOST_PLACES = 4  # decimals of a half-width
LEAST_STEP = 0.14  # of the whole width, or labels run into each other on a phone
NEVER = 0.2  # least width of the part no share can be in, of the part it can be in: its label must fit


def percent(share: float, places: int = 1) -> str:
    """Return a share of one as a number of hundred: 24.8, −1.7, and never −0.0."""
    text = f"{100 * share:.{places}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle: where it starts, and how wide it is."""

    noise: str  # s, d or p: the last of the noises it holds
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Tick:
    x: str
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Axis:
    """The shares from `low` to `high`, over the whole width."""

    low: float
    high: float
    step: float

    @classmethod
    def covering(cls, estimates: Iterable[Estimate]) -> "Axis":
        """Return an axis from 0 that covers all intervals, with room beside it where they leave 0 to 100 %."""
        found = list(estimates)
        least = min(estimate.low for estimate in found)
        most = max(estimate.high for estimate in found)
        axes = [cls._stepping(least, most, step) for step in STEPS]
        return next((axis for axis in axes if axis.step >= LEAST_STEP * (axis.high - axis.low)), axes[-1])

    @classmethod
    def _stepping(cls, least: float, most: float, step: float) -> "Axis":
        high = min(max(math.ceil(most / step), 1) * step, 1.0)
        beyond = high * NEVER
        return cls(
            low=-max(-least * 1.1, beyond) if least < 0 else 0.0,
            high=high + max((most - 1) * 1.1, beyond) if most > 1 else high,
            step=step,
        )

    def at(self, share: float) -> str:
        return f"{self._position(share):.2f}%"

    def _position(self, share: float) -> float:
        return 100 * (share - self.low) / (self.high - self.low)

    def _width(self, shares: float) -> str:
        return f"{100 * shares / (self.high - self.low):.2f}%"

    @property
    def zero(self) -> str:
        return self.at(0)

    @property
    def hundred(self) -> str:
        return self.at(1)

    @property
    def below(self) -> str:
        """Return the width of what is below 0, or nothing."""
        return self._width(-self.low) if self.low < 0 else ""

    @property
    def above(self) -> str:
        """Return the width of what is above 100 %, or nothing."""
        return self._width(self.high - 1) if self.high > 1 else ""

    @property
    def ticks(self) -> list[Tick]:
        """Return the lines within 0 to 100 %; where more is drawn, the words "above 100" label the last one."""
        count = round(min(self.high, 1.0) / self.step)
        return [self._tick(index, last=index == count) for index in range(count + 1)]

    def _tick(self, index: int, *, last: bool) -> Tick:
        share = index * self.step
        places = 0 if self.step >= 0.01 else 1
        anchor = "end" if last else "middle" if index else "start"
        label = "" if last and self.above else f"{percent(share, places)}%"
        return Tick(self.at(share), label, anchor)

    def bars(self, estimate: Estimate) -> list[Bar]:
        """Return the telescope of one estimate, outermost first; a noise that adds nothing has no bar."""
        bars, inner = [], 0.0
        for noise, part in narrowed(estimate.variance).items():
            if part > inner:
                bars.append(self._bar(estimate, noise, part))
            inner = part
        return bars[::-1]

    def _bar(self, estimate: Estimate, noise: str, part: float) -> Bar:
        start = estimate.value - part * (estimate.value - estimate.low)
        return Bar(noise, self.at(start), self._width(part * (estimate.high - estimate.low)))


def doubts_of(half: float, variance: Variance, places: int) -> dict[str, str]:
    """Return half an interval's width with the noises up to s, d and p, in two digits; nothing for one that is 0.

    Shown as 0 it would say that there is no doubt. There is: it cannot be told apart from the next, which holds it.
    """
    places = max(places, min(1 - math.floor(math.log10(half)), MOST_PLACES)) if half > 0 else places
    found = {noise: f"{half * part:.{places}f}" for noise, part in narrowed(variance).items()}
    return {noise: "" if float(text) == 0 else f"{float(text):,.{places}f}" for noise, text in found.items()}


def narrowed(variance: Variance) -> dict[str, float]:
    """Return how wide the interval is, of its whole width, with the noises up to each one only."""
    upto = {"s": variance.sampling, "d": variance.sampling + variance.device, "p": variance.total}
    return {noise: math.sqrt(part / variance.total) if variance.total else 0.0 for noise, part in upto.items()}
