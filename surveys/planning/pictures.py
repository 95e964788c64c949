"""Where the bars of a rehearsal's intervals stand, in percent of a picture's width, and where the assumed share is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.estimates import Estimate

NICE = (1, 2, 2.5, 5, 10)
FEW_LINES = 5
ROOM = 1.04  # beside the widest interval


@dataclass(frozen=True, slots=True)
class Bar:
    noise: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Tick:
    x: str
    label: float
    anchor: str


@dataclass(frozen=True)
class Axis:
    """All values from `low` to `high`, over the whole width."""

    low: float
    high: float

    @classmethod
    def covering(cls, estimates: Sequence[Estimate], truths: Sequence[float], least: float) -> "Axis":
        """Return an axis that holds every interval and, of shares, 0."""
        low = min(least, *(each.low for each in estimates), *truths)
        high = max(*(each.high for each in estimates), *truths)
        return cls(low, low + (high - low) * ROOM)

    def at(self, value: float) -> str:
        return f"{100 * (value - self.low) / (self.high - self.low):.2f}%"

    def _wide(self, width: float) -> str:
        return f"{100 * width / (self.high - self.low):.2f}%"

    @property
    def ticks(self) -> list[Tick]:
        """Return lines at round values, not too near to the ends."""
        step = _nice((self.high - self.low) / FEW_LINES)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [
            Tick(self.at(place * step), place * step, self._anchor(place * step)) for place in range(first, last + 1)
        ]

    def _anchor(self, value: float) -> str:
        along = (value - self.low) / (self.high - self.low)
        return "start" if along < 0.05 else "end" if along > 0.95 else "middle"

    def bars(self, estimate: Estimate) -> list[Bar]:
        """Return the telescope of an estimate, outermost first; a noise that adds nothing has no bar."""
        split = estimate.variance
        upto = {"s": split.sampling, "d": split.sampling + split.device, "p": split.total}
        bars, inner = [], 0.0
        for noise, variance in upto.items():
            part = math.sqrt(variance / split.total) if split.total else 0.0
            if part > inner:
                start = estimate.value - part * (estimate.value - estimate.low)
                bars.append(Bar(noise, self.at(start), self._wide(part * (estimate.high - estimate.low))))
            inner = part
        return bars[::-1]


def _nice(step: float) -> float:
    power: float = 10 ** math.floor(math.log10(step))
    return next(nice * power for nice in NICE if nice * power >= step * (1 - 1e-9))
