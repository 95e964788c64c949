"""Curves of the ± as pictures: three textured rectangles, each cut along its own curve by a path in
unit coordinates, sampling inmost. A picture has no style and no script.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from surveys.charts.scales import LogScale, Scale, points, position, round_steps
from surveys.planning.precision import Precision, precision_of
from surveys.planning.scenarios import Scenario
from surveys.planning.solver import Solution, grid
from surveys.planning.wording import count, epsilon_text

TOP, BASE = 18, 216  # of the picture: where the highest line is, and the lowest
POINTS, FEW_POINTS = 25, 9  # of a curve; fewer where a channel takes a tenth of a second to make
HIGHEST = 3.5  # times the present ±: what is higher is cut
WIDEST = (Decimal("0.1"), Decimal(4))  # ε
ROUND = (1, 2, 2.5, 4, 5)  # times a power of ten: thirds of the scale
LINES = 3
MANY_POINTS = 1000  # from here on three digits would need a power of ten


@dataclass(frozen=True, slots=True)
class Curve:
    """A picture of three layers from the outermost in, where we are on it, and its words."""

    id: str
    title: str
    sentence: str
    here: str
    description: str  # for those who cannot see it
    clips: list[str]  # publication, device, sampling
    edges: list[str]  # of device and of sampling
    lines: list[tuple[str, str, str]]  # y, where the label stands, the label
    marks: list[tuple[str, str, str]]  # x, which part of the label stands there, the label
    x: str  # of the present dials
    y: str
    label_y: str  # of the words beside them
    side: str  # on which side of the point the words stand


def with_protection(scenario: Scenario, now: Solution) -> Curve:
    """Return how the ± changes with ε, for so many answers."""
    least = max(min(WIDEST[0] * 2, now.epsilon / 2), scenario.limits[0])
    most = min(max(WIDEST[1], now.epsilon * 2), scenario.limits[1])
    if now.question.is_slow:
        at = [float(epsilon) for epsilon in grid((least, most))[1:-1]]
    else:
        at = [round(value, 3) for value in LogScale(float(least), float(most)).spread(POINTS)]
    values = {"half": now.precision.said, "epsilon": epsilon_text(now.epsilon)}
    return _curve(
        at,
        [scenario.precision(now.n, Decimal(repr(value))) for value in at],
        float(now.epsilon),
        now.precision,
        lambda epsilon: _("ε %(epsilon)s") % {"epsilon": epsilon_text(epsilon)},
        id="e",
        title=_("with protection"),
        sentence=_("%(n)s answers. To the left: better protected, less precise.")
        % {"n": count(now.n)},
        here=_("± %(half)s at ε %(epsilon)s") % values,
    )


def with_answers(scenario: Scenario, now: Solution) -> Curve:
    """Return how the ± changes with the number of answers, at this ε."""
    noise = scenario.noise(now.question)
    places = FEW_POINTS if now.question.is_slow else POINTS
    at = [float(round(n)) for n in LogScale(max(10, now.n / 4), now.n * 4).spread(places)]
    if now.question.is_distribution:
        sentence = _("ε %(epsilon)s. To the right: more people, more precise.")
    else:
        sentence = _("ε %(epsilon)s. Four times the answers halve the two lower layers.")
    return _curve(
        at,
        [precision_of(now.question, noise, int(n), scenario.at) for n in at],
        float(now.n),
        now.precision,
        count,
        id="n",
        title=_("with answers"),
        sentence=sentence % {"epsilon": epsilon_text(now.epsilon)},
        here=_("± %(half)s at %(n)s") % {"half": now.precision.said, "n": count(now.n)},
    )


def _curve(
    at: Sequence[float],
    precisions: Sequence[Precision],
    x: float,
    now: Precision,
    label: Callable[[float], str],
    **words: str,
) -> Curve:
    highest = min(max(each.half for each in precisions), HIGHEST * now.half)
    upright = Scale(0.0, LINES * next(round_steps(highest / LINES, among=ROUND)))
    # All but the point before it enters the picture is left out: a plateau would be no part of it.
    first = next((i for i, each in enumerate(precisions) if each.half <= upright.high), 0)
    at, precisions = at[max(first - 1, 0) :], precisions[max(first - 1, 0) :]
    along = LogScale(at[0], at[-1])
    xs = [along.part(value) for value in at]
    layers = [
        [(x, 1 - min(upright.part(half), 1.0)) for x, half in zip(xs, halves, strict=True)]
        for halves in zip(*((p.half, p.device, p.sampling) for p in precisions), strict=True)
    ]
    part, y = along.part(x), _height(upright, min(now.half, upright.high))
    middle = [(position(part), "middle", label(x))] if 0.2 < part < 0.75 else []
    left, right = label(at[0]), label(at[-1])
    description = _(
        "Half-width in %(unit)s: %(first)s at %(left)s, %(last)s at %(right)s; here %(here)s"
    ) % {
        "first": precisions[0].said,
        "last": precisions[-1].said,
        "left": left,
        "right": right,
        "here": words["here"],
        "unit": now.unit,
    }
    return Curve(
        **words,
        description=description,
        clips=[f"M0,1L{points(layer, 3)}L1,1Z" for layer in layers],
        edges=[f"M{points(((100 * x, 100 * y) for x, y in layer), 1)}" for layer in layers[1:]],
        lines=[_line(upright, line * upright.high / LINES, now) for line in range(1, LINES + 1)],
        marks=[("0%", "start", left), *middle, ("100%", "end", right)],
        x=position(part),
        y=f"{y:.1f}",
        label_y=f"{y - 14:.1f}",
        side="start" if part < 0.6 else "end",
    )


def _height(upright: Scale, value: float) -> float:
    return BASE - (BASE - TOP) * upright.part(value)


def _line(upright: Scale, half: float, now: Precision) -> tuple[str, str, str]:
    """Return a level of the picture with its label, without needless zeros."""
    y = _height(upright, half)
    shown = half if now.is_mean else 100 * half
    if shown >= MANY_POINTS:
        label = count(shown)
    else:
        label = str(number_format(f"{shown:.3g}", use_l10n=True))
    return f"{y:.1f}", f"{y - 5:.1f}", label
