"""Curves of the ± as pictures: positions in percent and clipping paths in unit coordinates, worked out here.

A picture has no style and no script: three textured rectangles, each cut along its own curve, sampling inmost.
Positions are text, so that no locale's comma gets into them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from surveys.planning.dials import Setting, Solved, grid
from surveys.planning.widths import Width, width_of

TOP, BASE = 18, 216  # of the picture: where the highest line is, and the lowest
POINTS, FEW_POINTS = 25, 9  # of a curve; fewer where a channel takes a tenth of a second to make
HIGHEST = 3.5  # times the present ±: what is higher is cut
WIDEST = (Decimal("0.1"), Decimal(4))  # ε
NICE = (1, 2, 2.5, 4, 5, 10)
LINES = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A level of the ±."""

    y: str
    above: str  # where its label stands
    value: float


@dataclass(frozen=True, slots=True)
class Mark:
    """A label below the picture."""

    x: str
    anchor: str
    value: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A picture of three layers, from the outermost in, and where we are on it."""

    clips: tuple[str, str, str]  # publication, device, sampling
    edges: tuple[str, str]  # of device and of sampling
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    x: str  # of the present dials
    y: str
    said: str  # y of the words beside it
    side: str  # on which side of the point the words stand
    first: tuple[float, float]  # the x and the ± at either end
    last: tuple[float, float]


def with_protection(setting: Setting, now: Solved) -> Curve:
    """Return how the ± changes with ε, for so many answers."""
    least = max(min(WIDEST[0] * 2, now.epsilon / 2), setting.limits[0])
    most = min(max(WIDEST[1], now.epsilon * 2), setting.limits[1])
    if now.drawn.is_slow:
        at = [float(epsilon) for epsilon in grid((least, most))[1:-1]]
    else:
        at = [_fixed(value) for value in _spaced(float(least), float(most), POINTS)]
    return _curve(at, lambda value: setting.width(now.n, Decimal(repr(value))), float(now.epsilon), now.width)


def with_answers(setting: Setting, now: Solved) -> Curve:
    """Return how the ± changes with the number of answers, at this ε."""
    law = setting.law(now.drawn)
    at = [
        float(round(value))
        for value in _spaced(max(10, now.n / 4), now.n * 4, FEW_POINTS if now.drawn.is_slow else POINTS)
    ]
    return _curve(at, lambda n: width_of(now.drawn, law, int(n), setting.at), float(now.n), now.width)


def _spaced(least: float, most: float, points: int) -> list[float]:
    """Return values with equal ratios."""
    ratio = math.log(most / least) / (points - 1)
    return [least * math.exp(ratio * place) for place in range(points)]


def _fixed(epsilon: float) -> float:
    return round(epsilon, 3)


def _curve(at: Sequence[float], width: Callable[[float], Width], here: float, now: Width) -> Curve:
    found: Sequence[Width] = [width(value) for value in at]
    top = _top(max(each.half for each in found), now.half)
    at, found = _within(at, found, top)
    across = [_along(value, at) for value in at]
    layers = [[1 - min(part / top, 1.0) for part in parts] for parts in zip(*map(_layers, found), strict=True)]
    x, y = _along(here, at), BASE - (BASE - TOP) * min(now.half / top, 1.0)
    return Curve(
        clips=(_clip(across, layers[0]), _clip(across, layers[1]), _clip(across, layers[2])),
        edges=(_edge(across, layers[1]), _edge(across, layers[2])),
        lines=tuple(_line(part * top / LINES, top) for part in range(1, LINES + 1)),
        marks=_marks(at, here, x),
        x=_percent(x),
        y=f"{y:.1f}",
        said=f"{y - 14:.1f}",
        side="start" if x < 0.6 else "end",
        first=(at[0], found[0].half),
        last=(at[-1], found[-1].half),
    )


def _within(at: Sequence[float], found: Sequence[Width], top: float) -> tuple[Sequence[float], Sequence[Width]]:
    """Leave out what lies above the picture, all but the point before it enters: a plateau would be no part of it."""
    first = next((place for place, each in enumerate(found) if each.half <= top), 0)
    return at[max(first - 1, 0) :], found[max(first - 1, 0) :]


def _layers(width: Width) -> tuple[float, float, float]:
    return width.half, width.device, width.sampling


def _along(value: float, at: Sequence[float]) -> float:
    """Return how far along the picture a value stands, from 0 to 1."""
    return min(max(math.log(value / at[0]) / math.log(at[-1] / at[0]), 0.0), 1.0)


def _clip(across: Sequence[float], heights: Sequence[float]) -> str:
    points = " ".join(f"{x:.3f},{y:.3f}" for x, y in zip(across, heights, strict=True))
    return f"M0,1L{points}L1,1Z"


def _edge(across: Sequence[float], heights: Sequence[float]) -> str:
    return "M" + " ".join(f"{100 * x:.1f},{100 * y:.1f}" for x, y in zip(across, heights, strict=True))


def _top(highest: float, now: float) -> float:
    """Return the level of the highest line: a third of it is a round number."""
    wanted = min(highest, HIGHEST * now) / LINES
    power: float = 10 ** math.floor(math.log10(wanted))
    return LINES * power * next(nice for nice in NICE if nice * power >= wanted * (1 - 1e-9))


def _line(value: float, top: float) -> Line:
    y = BASE - (BASE - TOP) * value / top
    return Line(f"{y:.1f}", f"{y - 5:.1f}", value)


def _marks(at: Sequence[float], here: float, x: float) -> tuple[Mark, ...]:
    """Return the labels of both ends, and of where we are unless it is too near to one of them."""
    middle = (Mark(_percent(x), "middle", here),) if 0.2 < x < 0.75 else ()
    return Mark("0%", "start", at[0]), *middle, Mark("100%", "end", at[-1])


def _percent(part: float) -> str:
    return f"{100 * part:.2f}%"
