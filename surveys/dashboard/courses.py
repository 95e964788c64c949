"""Over time: every published share or mean of a question, release after release and wave after wave, with its band.

Positions are in percent of a picture, as in pictures.py; bands are cut from textured rectangles by clip paths in unit
coordinates, so that textures do not stretch. Between two waves there is no line: other people may have answered.
"""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dpengine.estimates import Variance
from surveys.dashboard.pictures import narrowed
from surveys.dashboard.published import key_of
from surveys.dashboard.readers import with_plan
from surveys.dashboard.sheets import Ruler, places_of, said
from surveys.design import queries as design
from surveys.design.models import Plan
from surveys.releases import queries as releases
from surveys.releases.models import Release, Step

NOISES = ("p", "d", "s")  # outermost first
EDGE = 4.0  # percent of the width, on both sides
BEYOND = 20.0  # points outside 0 to 100 that a picture shows: no share can be there, so the rest is cut


@dataclass(frozen=True, slots=True)
class Number:
    """One published number."""

    made: Release | Step
    value: float
    low: float
    high: float
    variance: Variance

    @property
    def wave(self) -> int:
        return int(self.made.request.plan.wave)

    @property
    def at(self) -> datetime.datetime:
        return self.made.published_at

    def end(self, noise: str, side: str) -> float:
        """Return the end of the interval with the noises up to this one only."""
        part = narrowed(self.variance)[noise] if self.variance.total else 1.0
        return self.value + part * ((self.low if side == "low" else self.high) - self.value)


@dataclass(frozen=True, slots=True)
class Point:
    """A number as a picture and a table show it."""

    x: str
    y: str
    number: Number
    value: str
    interval: str
    bars: list[tuple[str, str, str]]  # noise, top and height: where a point stands alone

    @property
    def key(self) -> str:
        return key_of(self.number.made)


@dataclass(frozen=True, slots=True)
class Band:
    """The intervals of one wave, as far as one noise reaches: a polygon in unit coordinates."""

    name: str
    noise: str
    points: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of the scale."""

    at: str
    label: str


@dataclass(frozen=True, slots=True)
class Course:
    """How one choice of a question went."""

    name: str
    title: str
    points: list[Point]
    bands: list[Band]
    lines: list[str]
    marks: list[Mark]
    zero: str
    below: str  # the height of what is below 0, where no share can be
    is_cut: bool  # whether an interval reaches out of the picture

    @property
    def last(self) -> Point:
        return self.points[-1]


@dataclass(frozen=True, slots=True)
class Asked:
    """All courses of one question."""

    question: dict[str, Any]
    number: int
    courses: list[Course]

    @property
    def is_cut(self) -> bool:
        return any(course.is_cut for course in self.courses)


def courses_of(plan: Plan, published: Sequence[Release | Step]) -> list[Asked]:
    """Return how every question of a study went, oldest release first."""
    made = sorted(published, key=lambda each: each.published_at)
    found = []
    for number, question in enumerate(plan.spoken["questions"], start=1):
        told = [(each, part) for each in made if (part := _of(each, question["name"])) is not None]
        tracks = list(_tracks(question, told))
        if tracks:
            found.append(Asked(question, number, _on_one_scale(number, tracks)))
    return found


def _of(made: Release | Step, name: str) -> dict[str, Any] | None:
    return next((part for part in made.numbers.get("questions", ()) if part["name"] == name), None)


Track = tuple[str, str, list[Number]]  # title, unit, numbers


def _tracks(question: dict[str, Any], told: list[tuple[Release | Step, dict[str, Any]]]) -> Iterable[Track]:
    order = design.shown_order(question)
    if question["kind"] == "yes_no" and len(order) == 2:
        order = order[:1]
    for index in order:
        text = question["choices"][index]
        numbers = [
            _number(made, choice, 100)
            for made, part in told
            for choice in part.get("choices", ())
            if choice["choice"] == text
        ]
        if numbers:
            yield text, "percent", numbers
    means = [_number(made, part["mean"], 1) for made, part in told if "variance" in part.get("mean", {})]
    if means and not any(part.get("is_month") for _, part in told):
        yield "", str(question.get("unit", "")), means


def _number(made: Release | Step, part: dict[str, Any], times: int) -> Number:
    low, high = part["interval"]
    variance = Variance.read(part["variance"])
    return Number(made, times * part["estimate"], times * low, times * high, variance)


def _on_one_scale(question: int, tracks: list[Track]) -> list[Course]:
    """Return the courses of one question's choices, all drawn on the same scale."""
    rows = [{"value": n.value, "low": n.low, "high": n.high} for _, _, numbers in tracks for n in numbers]
    unit = tracks[0][1]
    ruler = _ruler(rows, unit)
    places = min(max(places_of(rows), 1), 2)
    return [
        _course(f"c{question}-{place}", title, numbers, ruler, places, unit)
        for place, (title, unit, numbers) in enumerate(tracks)
    ]


def _ruler(rows: list[dict[str, float]], unit: str) -> Ruler:
    """Return a scale that covers every interval, but of shares no more than a little outside 0 to 100."""
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    if unit == "percent" and (low < -BEYOND or high > 100 + BEYOND):
        return Ruler(-BEYOND, 100 + BEYOND, BEYOND, unit)
    return Ruler.covering([{"low": low, "high": high, "value": low}], unit) or Ruler(0.0, 100.0, 20.0, unit)


def _course(name: str, title: str, numbers: list[Number], ruler: Ruler, places: int, unit: str) -> Course:
    xs = _places(numbers)
    runs = _runs(numbers)
    alone = {run[0] for run in runs if len(run) == 1}
    points = [_point(number, xs[at], ruler, places, unit, is_alone=at in alone) for at, number in enumerate(numbers)]
    long = [run for run in runs if len(run) > 1]
    bands = [
        Band(f"{name}-{place}-{noise}", noise, _polygon([(xs[at], numbers[at]) for at in run], noise, ruler))
        for place, run in enumerate(long)
        for noise in NOISES
    ]
    lines = [" ".join(f"{xs[at]:.2f},{_y(numbers[at].value, ruler):.2f}" for at in run) for run in long]
    marks = [Mark(f"{100 - float(tick.x[:-1]):.2f}%", tick.label) for tick in ruler.ticks]
    zero = f"{_y(0, ruler):.2f}%" if ruler.zero else ""
    below = f"{100 - _y(0, ruler):.2f}%" if unit == "percent" and ruler.low < 0 else ""
    is_cut = any(number.low < ruler.low or number.high > ruler.high for number in numbers)
    return Course(name, title, points, bands, lines, marks, zero, below, is_cut)


def _places(numbers: list[Number]) -> list[float]:
    """Return where the moments stand, in percent of the width; in the middle if there is one only."""
    first, last = numbers[0].at, numbers[-1].at
    seconds = (last - first).total_seconds()
    if not seconds:
        return [50.0] * len(numbers)
    return [EDGE + (100 - 2 * EDGE) * (each.at - first).total_seconds() / seconds for each in numbers]


def _runs(numbers: list[Number]) -> list[list[int]]:
    """Return the places of the numbers of each wave, in order."""
    found: dict[int, list[int]] = {}
    for at, number in enumerate(numbers):
        found.setdefault(number.wave, []).append(at)
    return list(found.values())


def _y(value: float, ruler: Ruler) -> float:
    return 100 - float(ruler.at(value)[:-1])


def _point(number: Number, x: float, ruler: Ruler, places: int, unit: str, *, is_alone: bool) -> Point:
    bars = []
    for noise in NOISES if is_alone else ():
        top, bottom = _y(number.end(noise, "high"), ruler), _y(number.end(noise, "low"), ruler)
        bars.append((noise, f"{top:.2f}%", f"{max(bottom - top, 0.5):.2f}%"))
    words = [said(value, places, unit) for value in (number.value, number.low, number.high)]
    return Point(f"{x:.2f}%", f"{_y(number.value, ruler):.2f}%", number, words[0], f"{words[1]} – {words[2]}", bars)


def _polygon(run: list[tuple[float, Number]], noise: str, ruler: Ruler) -> str:
    above = [(x, _y(number.end(noise, "high"), ruler)) for x, number in run]
    below = [(x, _y(number.end(noise, "low"), ruler)) for x, number in run]
    return " ".join(f"{x / 100:.4f},{y / 100:.4f}" for x, y in [*above, *below[::-1]])


@require_safe
@with_plan
def over_time(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """Show how every published number of a study went."""
    published = releases.by_rule_of(plan.study)
    context: dict[str, Any] = {
        "shared": shared,
        "study": plan.study,
        "plan": plan,
        "published": published,
        "waves": len({each.request.plan.wave for each in published}),
        "asked": courses_of(plan, published) if len(published) > 1 else [],
    }
    return render(request, "dashboard/over_time.html", context)
