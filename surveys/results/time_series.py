"""Time series: every published share or mean of a question, with its band.

Between two waves there is no line: other people may have answered.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from django.utils.formats import date_format
from django.utils.html import format_html

from dpengine.estimates import Estimate
from surveys.charts.intervals import Band, Bar, bands, upright_bars
from surveys.charts.scales import Scale, points, position
from surveys.design import wording
from surveys.design.calendars import calendar_of
from surveys.design.models import Plan
from surveys.plan.content import PlanQuestion
from surveys.releases.models import Release, Step
from surveys.releases.numbers import QuestionNumbers
from surveys.results.publications import key_of
from surveys.results.questions import drawn_choices
from surveys.results.tables import NumberRow, number_scale, places_of, value_text

MARGIN = 0.04  # of the width, on both sides
BEYOND = 20.0  # points outside 0 to 100 that a picture shows: no share is there, the rest is cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Point(NumberRow):
    """One published number, as a picture and a table show it."""

    number: Estimate  # in the unit of its series
    release: Release | Step
    wave: int
    n: str
    x: str
    y: str
    bars: list[Bar]  # where it stands alone


@dataclass(frozen=True, slots=True)
class TimeSeries:
    """How one choice of a question went."""

    title: str
    points: list[Point]
    bands: list[Band]
    lines: list[str]
    scale: Scale
    is_cut: bool  # whether an interval reaches out of the picture

    @property
    def zero(self) -> str:
        """Return how far from the top 0 is, if it is in the picture."""
        return self.scale.from_top(0) if self.scale.zero else ""


@dataclass(frozen=True, slots=True)
class QuestionSeries:
    """All series of one question, on one scale."""

    question: PlanQuestion
    number: int
    series: list[TimeSeries]

    @property
    def is_cut(self) -> bool:
        return any(series.is_cut for series in self.series)


Numbers = list[tuple[Release | Step, Estimate]]


def time_series_of(plan: Plan, published: Sequence[Release | Step]) -> list[QuestionSeries]:
    """Return how every question of a study went, oldest release first."""
    oldest_first = sorted(published, key=lambda release: release.published_at)
    questions = []
    for number, question in enumerate(plan.spoken.questions, start=1):
        parts = [
            (release, numbers)
            for release in oldest_first
            for numbers in release.content.questions
            if numbers.name == question.name
        ]
        stored = plan.content.question(question.name).choices
        tracks = dict(_tracks(question, stored, parts))
        if not tracks:
            continue
        estimates = [estimate for numbers in tracks.values() for _, estimate in numbers]
        has_shares = any(numbers.choices for _, numbers in parts)
        unit = "percent" if has_shares else question.unit or ""
        scale, places = _scale(estimates, unit), min(max(places_of(estimates), 1), 2)
        text = partial(value_text, places=places, unit=unit)
        series = [
            _series(f"c{number}-{place}", title, numbers, scale, text)
            for place, (title, numbers) in enumerate(tracks.items())
        ]
        questions.append(QuestionSeries(question, number, series))
    return questions


def _tracks(
    question: PlanQuestion,
    stored: Sequence[str],
    parts: list[tuple[Release | Step, QuestionNumbers]],
) -> Iterable[tuple[str, Numbers]]:
    """Yield the numbers of every choice, as `stored` by releases, or the means, with a title."""
    for index in drawn_choices(question):
        numbers = [
            (release, choice.scaled(100).as_estimate())
            for release, part in parts
            for choice in part.choices
            if choice.choice == stored[index]
        ]
        if numbers:
            yield question.choices[index], numbers
    means = [
        (release, part.mean.as_estimate())
        for release, part in parts
        if part.mean and part.mean.variance and not calendar_of(question)
    ]
    if means:
        yield "", means


def _scale(estimates: list[Estimate], unit: str) -> Scale:
    """Return a scale that covers every interval, but of shares only a little outside 0 to 100."""
    low, high = min(each.low for each in estimates), max(each.high for each in estimates)
    if unit == "percent" and (low < -BEYOND or high > 100 + BEYOND):
        label = partial(value_text, unit=unit)
        return Scale(-BEYOND, 100 + BEYOND, BEYOND, least=0.0, label=label)
    whole = Estimate(low, low, high, estimates[0].variance)
    return number_scale([whole], unit) or Scale(0, 100, 20)


def _series(id: str, title: str, numbers: Numbers, scale: Scale, text: partial[str]) -> TimeSeries:
    first, last = numbers[0][0].published_at, numbers[-1][0].published_at
    waves: dict[int, list[tuple[float, Estimate]]] = {}
    placed = []
    for release, estimate in numbers:
        x = 0.5  # in the middle, if there is one moment only
        if first != last:
            x = MARGIN + (1 - 2 * MARGIN) * ((release.published_at - first) / (last - first))
        run = waves.setdefault(release.request.plan.wave, [])
        run.append((x, estimate))
        placed.append((release, estimate, x, run))
    runs = [run for run in waves.values() if len(run) > 1]
    return TimeSeries(
        title=title,
        points=[
            Point.of(
                format_html(
                    '<a href="../?release={}">{} UTC</a>',  # from a page beside that of results
                    key_of(release),
                    date_format(release.published_at, "SHORT_DATETIME_FORMAT"),
                ),
                estimate,
                text,
                release=release,
                wave=release.request.plan.wave,
                n=wording.people_of(release.content.n, release.request.plan.content),
                x=position(x),
                y=scale.from_top(estimate.value),
                bars=upright_bars(scale, estimate) if len(run) == 1 else [],
            )
            for release, estimate, x, run in placed
        ],
        bands=[
            band for place, run in enumerate(runs) for band in bands(scale, run, f"{id}-{place}")
        ],
        lines=[
            points(((100 * x, 100 * (1 - scale.part(number.value))) for x, number in run), 2)
            for run in runs
        ],
        scale=scale,
        is_cut=any(number.low < scale.low or number.high > scale.high for _, number in numbers),
    )
