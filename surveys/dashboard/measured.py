"""Numbers and months that were changed on the device: a mean, or how answers are spread, each with its interval."""

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import formats
from django.utils.translation import gettext as _

from dpengine.estimates import Variance
from surveys.dashboard.pictures import Bar, doubts_of, narrowed
from surveys.dashboard.sheets import Ruler, places_of, said

MONTHS = 12
SHARE = "percent"


def month(count: float) -> str:
    """Return a month counted from year 0 in words; a part of a month is rounded down."""
    year, index = divmod(math.floor(count), MONTHS)
    return str(formats.date_format(datetime.date(min(max(year, 1), 9999), index + 1, 1), "YEAR_MONTH_FORMAT"))


@dataclass(frozen=True, slots=True)
class Value:
    """One number with its interval, in words and as positions in percent of a picture."""

    label: str
    value: str
    low: str
    high: str
    centre: str
    bars: list[Bar]


@dataclass(frozen=True, slots=True)
class Column:
    """The share of people in one range, as a column with its interval."""

    label: str
    share: str
    low: str
    high: str
    x: str
    width: str
    top: str
    height: str
    middle: str
    from_: str
    to: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One question of a release that is a number."""

    number: int
    question: dict[str, Any]
    epsilon: str
    n: int
    unit: str
    mean: Value | None
    doubts: dict[str, str]
    ruler: Ruler | None  # of the mean, or of the quartiles
    quartiles: list[Value]
    columns: list[Column]
    column_marks: list[tuple[str, str]]
    as_precise_as: int | None
    mechanism: dict[str, Any]

    is_measured = True

    @property
    def doubts_unit(self) -> str:
        """Return the word after a ±: the number's own unit, or months."""
        return _("months") if self.question["kind"] == "month" else self.unit

    @property
    def first(self) -> str:
        return self.columns[0].label if self.columns else ""


def measured_of(
    number: int, question: dict[str, Any], found: dict[str, Any], n: int, mechanism: dict[str, Any], epsilon: str
) -> Measured:
    is_month = bool(found.get("is_month"))
    mean, quartiles = found.get("mean"), found.get("quartiles", ())
    rows = [_row(part) for part in ([mean] if mean and not quartiles else quartiles)]
    ruler = None if is_month else Ruler.covering(rows, "")
    places = min(places_of(rows), 2) if rows else 0
    unit = str(question.get("unit", ""))
    return Measured(
        number=number,
        question=question,
        epsilon=epsilon,
        n=n,
        unit=unit,
        mean=_value("", mean, ruler if not quartiles else None, places, is_month) if mean else None,
        doubts=_doubts(mean, max(places, 1)) if mean else {},
        ruler=ruler,
        quartiles=[_value(str(part["part"]), part, ruler, 0, is_month) for part in quartiles],
        columns=_columns(found.get("ranges", ()), is_month),
        column_marks=_marks(found.get("ranges", ())),
        as_precise_as=found["as_precise_as"],
        mechanism=mechanism,
    )


def _row(part: dict[str, Any]) -> dict[str, float]:
    low, high = part["interval"]
    return {"value": part["estimate"], "low": low, "high": high}


def _value(label: str, part: dict[str, Any], ruler: Ruler | None, places: int, is_month: bool) -> Value:
    low, high = part["interval"]
    numbers = [part["estimate"], low, high]
    words = [month(each) if is_month else said(each, places) for each in numbers]
    centre = ruler.at(part["estimate"]) if ruler else ""
    return Value(label, words[0], words[1], words[2], centre, _bars(part, ruler) if ruler else [])


def _bars(part: dict[str, Any], ruler: Ruler) -> list[Bar]:
    """Return the telescope of one number, outermost first; the whole interval where it is not split."""
    low, high = part["interval"]
    if not part.get("variance"):
        return [Bar("whole", ruler.at(low), ruler.width(low, high))]
    bars, inner, value = [], 0.0, part["estimate"]
    for noise, reach in narrowed(Variance.read(part["variance"])).items():
        if reach > inner:
            start, end = value - reach * (value - low), value + reach * (high - value)
            bars.append(Bar(noise, ruler.at(start), ruler.width(start, end)))
        inner = reach
    return bars[::-1]


def _doubts(part: dict[str, Any], places: int) -> dict[str, str]:
    """Return half the interval's width with the noises up to s, d and p; see `doubts_of`."""
    if not part.get("variance"):
        return {}
    half = (part["interval"][1] - part["interval"][0]) / 2
    return doubts_of(half, Variance.read(part["variance"]), places)


def _top(ranges: Sequence[dict[str, Any]]) -> float:
    """Return the greatest share of a picture: the next of 5, 10, 20 and so on above all intervals."""
    most = max(part["interval"][1] for part in ranges)
    steps = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
    return next((step for step in steps if step >= most), 1.0)


def _columns(ranges: Sequence[dict[str, Any]], is_month: bool) -> list[Column]:
    if not ranges:
        return []
    top, width = _top(ranges), 100 / len(ranges)
    return [_column(part, place, width, top, is_month) for place, part in enumerate(ranges)]


def _column(part: dict[str, Any], place: int, width: float, top: float, is_month: bool) -> Column:
    least, most = ((month if is_month else str)(part[end]) for end in ("least", "most"))
    low, high = part["interval"]
    height = 100 * min(max(part["estimate"], 0.0) / top, 1.0)
    return Column(
        label=least if part["least"] == part["most"] else f"{least} – {most}",
        share=said(100 * part["estimate"], 1),
        low=said(100 * low, 1),
        high=said(100 * high, 1),
        x=f"{place * width:.2f}%",
        width=f"{width * 0.96:.2f}%",
        top=f"{100 - height:.2f}%",
        height=f"{height:.2f}%",
        middle=f"{(place + 0.48) * width:.2f}%",
        from_=f"{100 - 100 * min(max(high, 0.0) / top, 1.0):.2f}%",
        to=f"{100 - 100 * min(max(low, 0.0) / top, 1.0):.2f}%",
    )


def _marks(ranges: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the lines of the scale: position from the top, and words."""
    if not ranges:
        return []
    top = _top(ranges)
    places = 0 if top >= 0.02 else 1
    return [(f"{100 * (1 - part):.2f}%", said(100 * top * part, places, SHARE)) for part in (0.0, 0.5, 1.0)]
