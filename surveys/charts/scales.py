"""Scales: where a value stands, in percent of a picture's width or height, and where lines do.

Positions are text, so that no locale's comma gets into them.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from dpengine.privacy import plain, round_down, round_up

ROUND = (1, 2, 5)  # times a power of ten
NEAR_AN_END = 0.05  # of the whole: a label there stands inside, not in the middle
MIN_WIDTH = 0.003  # of the whole: what is narrower cannot be seen
ROUNDING = 1e-9  # a step that falls short by so much is no shorter
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def position(part: float) -> str:
    """Return a part of the whole as a position: 12.50%."""
    return f"{100 * part:.2f}%"


def number_text(value: float, places: int) -> str:
    """Return a number for people: 1,234.5 or −0.02, and never −0."""
    text = f"{value:,.{places}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", "−")


def percent(share: float, places: int = 1) -> str:
    """Return a share of one as a number of hundred: 24.8."""
    return number_text(100 * share, places)


def chance_text(chance: Fraction, rounding: str = ROUND_CEILING) -> str:
    """Return a chance for people, rounded up to two digits: 5.1·10⁻⁷."""
    if chance == 0:
        return "0"
    if chance >= Fraction(1, 100):
        rounded = round_up(chance, 3) if rounding == ROUND_CEILING else round_down(chance, 3)
        return f"{plain(rounded):f}"
    digits = Context(prec=2, rounding=rounding).divide(
        Decimal(chance.numerator), Decimal(chance.denominator)
    )
    exponent = digits.adjusted()
    lead = digits.scaleb(-exponent)
    power = f"10{str(exponent).translate(SUPERSCRIPTS)}"
    return power if lead == 1 else f"{plain(lead):f}·{power}"


def chance_text_below(chance: Fraction) -> str:
    """Return the same rounded down: for what should not be passed."""
    return chance_text(chance, ROUND_FLOOR)


def round_steps(least: float, among: Sequence[float] = ROUND) -> Iterator[float]:
    """Yield the round numbers from `least` on: those named, times every power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    while True:
        yield from (step * power for step in among if step * power >= least * (1 - ROUNDING))
        power *= 10


def places_of(step: float) -> int:
    """Return how many decimals say every multiple of a step exactly; six at most."""
    return next(
        (places for places in range(6) if math.isclose(step, round(step, places), rel_tol=1e-6)), 6
    )


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of a scale, and its label."""

    x: str
    label: str
    anchor: str  # which part of the label stands at x: its start, middle or end
    is_zero: bool = False

    @property
    def y(self) -> str:
        """Return where it stands on an upright scale, from the top."""
        return f"{100 - float(self.x[:-1]):.2f}%"


@dataclass(frozen=True, slots=True)
class Scale:
    """The values from `low` to `high`, over the whole of a picture."""

    low: float
    high: float
    step: float = 0.0  # between two lines; 0 where there are none
    least: float = -math.inf  # no true value is less, and none is more than `most`
    most: float = math.inf
    first: float = -math.inf  # where lines begin, and where they end
    last: float = math.inf
    zero_stands_out: bool = True
    label: Callable[[float, int], str] = field(default=number_text, compare=False)  # of a line

    @classmethod
    def around(cls, low: float, high: float, lines: int) -> "Scale":
        """Return a scale between round numbers, with at most so many lines."""
        step = next(round_steps((high - low) / (lines - 1)))
        return cls(math.floor(low / step) * step, math.ceil(high / step) * step, step)

    def part(self, value: float) -> float:
        """Return how far along the scale a value stands: 0 at its beginning, 1 at its end."""
        return (value - self.low) / (self.high - self.low)

    def at(self, value: float) -> str:
        return position(self.part(value))

    def from_top(self, value: float) -> str:
        """Return where a value stands on an upright scale."""
        return position(1 - self.part(value))

    def width(self, low: float, high: float) -> str:
        return position((high - low) / (self.high - self.low))

    @property
    def zero(self) -> str:
        """Return where 0 is, if it is on the scale."""
        return self.at(0) if self.low <= 0 <= self.high else ""

    @property
    def below(self) -> str:
        """Return the width of what is less than any true value, or nothing."""
        return self.width(self.low, self.least) if self.low < self.least else ""

    @property
    def above(self) -> str:
        """Return the width of what is more than any true value, or nothing."""
        return self.width(self.most, self.high) if self.high > self.most else ""

    @property
    def names_below(self) -> bool:
        """Tell whether words stand there, in place of lines."""
        return bool(self.below) and self.first >= self.least

    @property
    def above_starts(self) -> str:
        return self.at(self.most)

    @property
    def ticks(self) -> list[Tick]:
        """Return the lines, which stand at multiples of the step; the words for what is above take
        the place of the last one's label.
        """
        first = math.ceil(max(self.low, self.first) / self.step - ROUNDING)
        last = math.floor(min(self.high, self.last) / self.step + ROUNDING)
        places, ticks = places_of(self.step), []
        for index in range(first, last + 1):
            value = index * self.step
            part, label = self.part(value), self.label(value, places)
            anchor = "end" if part > 1 - NEAR_AN_END else "middle"
            if part < NEAR_AN_END or value == self.first:
                anchor = "start"
            if self.above and value == self.last:
                anchor, label = "end", ""
            ticks.append(Tick(position(part), label, anchor, index == 0 and self.zero_stands_out))
        return ticks


def points(places: Iterable[tuple[float, float]], digits: int) -> str:
    """Return points as SVG writes them: x,y and a space."""
    return " ".join(f"{x:.{digits}f},{y:.{digits}f}" for x, y in places)
