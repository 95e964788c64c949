"""Intervals as bars within one another: sampling inmost, then the device, then publication.

Variances add, widths do not. The outermost bar is the interval itself; the bars inside it have the
same centre and shape, narrowed to √(s/(s+d+p)) and √((s+d)/(s+d+p)) of it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpengine.estimates import Estimate, Variance
from surveys.charts.scales import MIN_WIDTH, Scale, percent, points, position, round_steps

NOISES = ("p", "d", "s")  # publication, device, sampling: outermost first
LYING = {"p": (17, 10), "d": (14, 16), "s": (11, 22)}  # y and height: the inmost is the tallest
STANDING = {"p": (-4, 8), "d": (-6, 12), "s": (-8, 16)}  # x and width: the inmost is the widest
MIN_HEIGHT = 0.005  # of the whole: what is lower cannot be seen
MAX_PLACES = 4  # decimals of a half-width
MIN_STEP = 0.14  # of the whole width, or labels run into each other on a phone
BEYOND = 0.2  # of the part a share can be in: the least width of the part none can be in


def narrowed(variance: Variance) -> dict[str, float]:
    """Return how wide the interval is, of its whole width, with the noises up to each one only."""
    upto = {"s": variance.sampling, "d": variance.sampling + variance.device, "p": variance.total}
    return {
        noise: math.sqrt(part / variance.total) if variance.total else 0.0
        for noise, part in upto.items()
    }


def upto(estimate: Estimate, noise: str) -> tuple[float, float]:
    """Return the interval with the noises up to this one only; all of it where none is known."""
    part = narrowed(estimate.variance)[noise] if estimate.variance.total else 1.0
    return (
        estimate.value - part * (estimate.value - estimate.low),
        estimate.value + part * (estimate.high - estimate.value),
    )


@dataclass(frozen=True, slots=True)
class Textured:
    """What is drawn for a noise."""

    noise: str  # s, d or p: the last of the noises it holds; "whole" where they are not told apart

    @property
    def fill(self) -> str:
        """Return its texture, of charts/patterns.html; nothing where a class colours it."""
        return {"d": "url(#n-device)", "p": "url(#n-publication)"}.get(self.noise, "")


@dataclass(frozen=True, slots=True)
class Bar(Textured):
    """An interval, lying or standing."""

    x: str | int
    y: str | int
    width: str | int
    height: str | int


@dataclass(frozen=True, slots=True)
class Band(Textured):
    """Intervals side by side, as far as one noise reaches: a polygon in unit coordinates."""

    id: str
    points: str


@dataclass(frozen=True, slots=True)
class Interval:
    """What charts/interval.html draws on a scale."""

    bars: list[Bar]
    centre: str
    assumed: str = ""  # where an assumed value stands

    @classmethod
    def of(cls, scale: Scale, estimate: Estimate, assumed: float | None = None) -> "Interval":
        there = "" if assumed is None else scale.at(assumed)
        return cls(bars(scale, estimate), scale.at(estimate.value), there)


def bar(scale: Scale, noise: str, low: float, high: float) -> Bar:
    """Return the lying bar from one value to another, wide enough to be seen."""
    width = position(max(scale.part(high) - scale.part(low), MIN_WIDTH))
    y, height = LYING.get(noise, (16, 12))
    return Bar(noise, scale.at(low), y, width, height)


def bars(scale: Scale, estimate: Estimate) -> list[Bar]:
    """Return an interval's bars, outermost first; a noise that adds nothing has none. It is one
    bar where its noises are not told apart.
    """
    if not estimate.variance.total:
        return [bar(scale, "whole", estimate.low, estimate.high)]
    bars, inner = [], 0.0
    for noise, part in narrowed(estimate.variance).items():
        if part > inner:
            bars.append(bar(scale, noise, *upto(estimate, noise)))
        inner = part
    return bars[::-1]


def upright_bars(scale: Scale, estimate: Estimate) -> list[Bar]:
    """Return an interval's bars on an upright scale, outermost first."""
    bars = []
    for noise, (x, width) in STANDING.items():
        low, high = upto(estimate, noise)
        height = position(max(scale.part(high) - scale.part(low), MIN_HEIGHT))
        bars.append(Bar(noise, x, scale.from_top(high), width, height))
    return bars


def bands(scale: Scale, run: Sequence[tuple[float, Estimate]], id: str) -> list[Band]:
    """Return the bands of estimates, each with how far along it stands, outermost first."""
    shown = []
    for noise in NOISES:
        ends = [(x, *upto(estimate, noise)) for x, estimate in run]
        above = [(x, 1 - scale.part(high)) for x, low, high in ends]
        below = [(x, 1 - scale.part(low)) for x, low, high in ends]
        shown.append(Band(noise, f"{id}-{noise}", points([*above, *below[::-1]], 4)))
    return shown


def share_label(share: float, places: int) -> str:
    return f"{percent(share, max(places - 2, 0))}%"


def share_scale(estimates: Iterable[Estimate]) -> Scale:
    """Return a scale of shares from 0 that covers all intervals, those outside 0 to 1 too."""
    estimates = list(estimates)
    least = min(estimate.low for estimate in estimates)
    most = max(estimate.high for estimate in estimates)
    for step in round_steps(0.001):
        high = min(max(math.ceil(most / step), 1) * step, 1.0)
        low = -max(-least * 1.1, high * BEYOND) if least < 0 else 0.0
        if most > 1:
            high += max((most - 1) * 1.1, BEYOND)
        if step >= min(MIN_STEP * (high - low), 1.0):
            break
    return Scale(low, high, step, least=0.0, most=1.0, first=0.0, last=1.0, label=share_label)


def half_widths(half: float, variance: Variance, places: int) -> dict[str, str]:
    """Return half an interval's width with the noises up to s, d and p, in two digits.

    One that is 0 is empty: shown as 0 it would say that there is no doubt. There is: it cannot be
    told apart from the next, which holds it.
    """
    if half > 0:
        places = max(places, min(1 - math.floor(math.log10(half)), MAX_PLACES))
    texts = {noise: f"{half * part:,.{places}f}" for noise, part in narrowed(variance).items()}
    return {noise: text if text.strip("0.") else "" for noise, text in texts.items()}
