"""What was asked for, as a page shows it and as a file holds it: tables of numbers, each with its interval."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from surveys.dashboard.pictures import Tick
from surveys.releases import queries as releases
from surveys.spreadsheets import csv_line

STEPS = (1, 2, 5)  # times a power of ten, between two lines of a ruler
MOST_LINES = 6
MOST_DRAWN = 40  # rows of a picture
LEAST_WIDTH = 0.004  # of the ruler: below it an interval is a dot, and the picture says nothing
SIGNS = {"percent": "%", "people": "", "": ""}
COLUMNS = ("label", "value", "low", "high", "standard_error", "unit")
HEAD = ("table", "row", "value", "low", "high", "standard_error", "unit")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def said(value: Any, places: int, unit: str = "") -> str:
    """Return a number for people: 1,234.5 or −0.02, and its unit where it is a sign."""
    if not is_number(value):
        return releases.told(str(value)) if value is not None else ""
    text = f"{value:,.{places}f}"
    text = text.lstrip("-") if not text.strip("-0.,") else text.replace("-", "−")
    return f"{text}{SIGNS.get(unit, '')}"


def places_of(rows: Sequence[dict[str, Any]]) -> int:
    """Return how many decimals a table's numbers need: two digits of its narrowest half interval, four at most."""
    widths = [row["high"] - row["low"] for row in rows if is_number(row.get("low")) and is_number(row.get("high"))]
    halves = [width / 2 for width in widths if width > 0]
    if all(float(row["value"]).is_integer() for row in rows if is_number(row["value"])):
        return 0
    if not halves:
        return 2
    return min(max(1 - math.floor(math.log10(min(halves))), 0), 4)


@dataclass(frozen=True, slots=True)
class Ruler:
    """The numbers from `low` to `high`, over the whole width."""

    low: float
    high: float
    step: float
    unit: str

    @classmethod
    def covering(cls, rows: Sequence[dict[str, Any]], unit: str) -> "Ruler | None":
        """Return a ruler that covers all intervals, or None where a picture would say nothing."""
        whole = all(is_number(row.get(end)) for row in rows for end in ("low", "high", "value"))
        if not whole or not 1 <= len(rows) <= MOST_DRAWN:
            return None
        least, most = min(min(row["low"], row["value"]) for row in rows), max(row["high"] for row in rows)
        if unit in ("percent", "people"):
            least = min(least, 0.0)
        if most <= least:
            return None
        step = next(s for s in _steps(most - least) if (most - least) / s <= MOST_LINES - 1)
        low, high = math.floor(least / step) * step, math.ceil(most / step) * step
        widest = max(row["high"] - row["low"] for row in rows)
        return cls(low, high, step, unit) if widest >= LEAST_WIDTH * (high - low) else None

    def at(self, value: float) -> str:
        return f"{100 * (value - self.low) / (self.high - self.low):.2f}%"

    def width(self, low: float, high: float) -> str:
        return f"{max(100 * (high - low) / (self.high - self.low), 0.3):.2f}%"

    @property
    def zero(self) -> str:
        """Return where 0 is, if it is on the ruler."""
        return self.at(0) if self.low <= 0 <= self.high else ""

    @property
    def below(self) -> str:
        """Return the width of what is below 0, where nothing can be."""
        counted = self.unit in ("percent", "people")
        return self.width(self.low, 0) if counted and self.low < 0 else ""

    @property
    def ticks(self) -> list[Tick]:
        count = round((self.high - self.low) / self.step)
        places = max(0, -math.floor(math.log10(self.step) + 1e-9))
        return [
            Tick(
                self.at(self.low + index * self.step),
                said(self.low + index * self.step, places, self.unit),
                "end" if index == count else "middle" if index else "start",
            )
            for index in range(count + 1)
        ]


def _steps(span: float) -> Iterator[float]:
    power = 10.0 ** math.floor(math.log10(span / MOST_LINES))
    while True:
        yield from (step * power for step in STEPS)
        power *= 10


@dataclass(frozen=True, slots=True)
class Row:
    """One number with its interval."""

    label: str
    value: str
    low: str
    high: str
    error: str
    unit: str
    x: str
    width: str
    centre: str

    @property
    def interval(self) -> str:
        return _("%(low)s to %(high)s") % {"low": self.low, "high": self.high} if self.low and self.high else ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table, with a picture where its numbers share a scale."""

    caption: str
    rows: list[Row]
    ruler: Ruler | None

    @property
    def has_errors(self) -> bool:
        return any(row.error for row in self.rows)

    @property
    def has_intervals(self) -> bool:
        return any(row.interval for row in self.rows)

    @property
    def units(self) -> str:
        """Return the unit to name at the head: one that every row has, and that has no sign of its own."""
        found = {row.unit for row in self.rows}
        return releases.told(found.pop()) if len(found) == 1 and not found & SIGNS.keys() else ""

    @property
    def one(self) -> Row | None:
        """Return the only number of a table that has just one, to say it first."""
        return self.rows[0] if len(self.rows) == 1 else None


def sheets_of(numbers: dict[str, Any]) -> list[Sheet]:
    return [_sheet(table) for table in numbers["tables"]]


def _sheet(table: dict[str, Any]) -> Sheet:
    rows = table["rows"]
    units = {row.get("unit") or "" for row in rows}
    ruler = Ruler.covering(rows, units.pop()) if len(units) == 1 else None
    shared = places_of(rows)
    return Sheet(
        caption=releases.told(table["caption"]),
        rows=[_row(row, shared if ruler else places_of([row]), ruler) for row in rows],
        ruler=ruler,
    )


def _row(row: dict[str, Any], places: int, ruler: Ruler | None) -> Row:
    unit: str = row.get("unit") or ""
    low: Any = row.get("low")
    high: Any = row.get("high")
    error: Any = row.get("standard_error")
    return Row(
        label=releases.told(row["label"]),
        value=said(row["value"], places, unit),
        low=said(low, places, unit) if is_number(low) else "",
        high=said(high, places, unit) if is_number(high) else "",
        error=said(error, max(places, 1)) if is_number(error) else "",
        unit=unit,
        x=ruler.at(low) if ruler else "",
        width=ruler.width(low, high) if ruler else "",
        centre=ruler.at(row["value"]) if ruler and is_number(row["value"]) else "",
    )


# Files


def csv_of(numbers: dict[str, Any]) -> str:
    """Return a release's tables as a file: one line a number, exactly as published."""
    rows = [(table["caption"], row) for table in numbers["tables"] for row in table["rows"]]
    return csv_lines(HEAD, ([caption, *(row.get(name) for name in COLUMNS)] for caption, row in rows))


def people_csv(numbers: dict[str, Any]) -> str:
    """Return a synthetic data set as a file: one line a made-up person."""
    lines = (values for *values, people in numbers["people"] for _ in range(people))
    return csv_lines(numbers["columns"], lines)


def csv_lines(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    return "".join(map(csv_line, [head, *rows]))
