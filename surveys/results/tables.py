"""Tables of numbers, each with its interval, as a page shows them and as a file holds them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self, TypeGuard

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from msgspec import structs
from msgspec.structs import astuple

from dpengine.estimates import Estimate
from surveys.charts.scales import Scale, number_text
from surveys.messages import translate
from surveys.releases import numbers
from surveys.releases.models import Step
from surveys.releases.numbers import Numbers
from surveys.releases.selectors import Publication
from surveys.spreadsheets import quoted_lines

MAX_LINES = 6  # of a scale
MAX_DRAWN = 40  # rows of a picture
MIN_INTERVAL = 0.004  # of the scale: below it an interval is a dot, and the picture says nothing
SIGNS = {"percent": "%", "people": "", "": ""}
HEAD = ("table", "row", "value", "low", "high", "standard_error", "unit")


class WithInterval(Protocol):
    """A number with its interval; None, or words, where there is none."""

    @property
    def value(self) -> Any: ...
    @property
    def low(self) -> Any: ...
    @property
    def high(self) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRow:
    """One number with its interval, in words, and as it is drawn."""

    label: str
    value: str  # empty where it cannot be told
    low: str
    high: str
    number: WithInterval
    sign: str = ""  # after the value
    error: str = ""
    unit: str = ""
    ends: tuple[float, float] = (0.0, math.inf)  # of what is possible

    @classmethod
    def of(
        cls, label: str, number: WithInterval, text: Callable[[Any], str], **others: Any
    ) -> Self:
        value = "" if number.value is None else text(number.value)
        low, high = (text(end) if is_number(end) else "" for end in (number.low, number.high))
        return cls(label=label, value=value, low=low, high=high, number=number, **others)

    @property
    def interval(self) -> str:
        if not (self.low and self.high):
            return ""
        return _("%(low)s to %(high)s") % {"low": self.low, "high": self.high}

    @property
    def said(self) -> str:
        return f"{self.value}{self.sign}" if self.value else _("too few to say")

    @property
    def both(self) -> str:
        """Return the value and its interval in one line."""
        if not (self.value and self.interval):
            return self.said
        ends = {"low": self.low, "high": self.high}
        return _("%(value)s, %(low)s to %(high)s") % {"value": self.said, **ends}

    @property
    def is_wide(self) -> bool:
        """Tell whether the interval, not the value, is to be said first.

        It is where it is wider than the value is far from the nearer end of what is possible: if it
        reaches as far up as down, the truth may be less than half as far, or half as far again.
        """
        value, (low, high) = self.number.value if self.interval else None, self.ends
        return is_number(value) and self.number.high - self.number.low > min(
            abs(value - low), high - value
        )

    @property
    def first(self) -> SafeString:
        """Return what is to be said first."""
        look = "estimate spanning" if self.is_wide else "estimate"
        return self._of_machines(f"{self.interval}{self.sign}" if self.is_wide else self.said, look)

    @property
    def then(self) -> str:
        """Return what is to be said after it."""
        text = _("Best estimate: %(value)s.") if self.is_wide else _("95%% interval: %(interval)s.")
        return text % {"value": self.said, "interval": f"{self.interval}{self.sign}"}

    @property
    def data(self) -> SafeString:
        """Return the value as it is said, with its number and its interval's ends for machines."""
        return self._of_machines(self.said, "estimate")

    def _of_machines(self, said: str, look: str) -> SafeString:
        parts = (self.number.value, self.number.low, self.number.high)
        return format_html(
            '<data class="{}" value="{}" data-low="{}" data-high="{}"><b>{}</b></data>',
            look,
            *("" if part is None else f"{part}" for part in parts),
            said,
        )


def possible(estimate: Estimate, least: float = 0.0, most: float = 1.0) -> Estimate:
    """Return an estimate, and its limits, as near as what is possible comes to them."""
    low, high = numbers.interval_within(estimate.low, estimate.high, least, most)
    return replace(estimate, value=min(max(estimate.value, least), most), low=low, high=high)


def possible_share(row: numbers.Row) -> numbers.Row:
    """Return a share of people as near as what is possible comes to it, in percent."""
    value, low, high = row.value, row.low, row.high
    if is_number(value):
        value = min(max(value, 0.0), 100.0)
    if is_number(low) and is_number(high):
        low, high = numbers.interval_within(low, high, 0.0, 100.0)
    return structs.replace(row, value=value, low=low, high=high)


def is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def value_text(value: Any, places: int, unit: str = "") -> str:
    """Return a number for people: 1,234.5 or −0.02, and its unit where it is a sign."""
    if not is_number(value):
        return translate(str(value))
    return f"{number_text(value, places)}{SIGNS.get(unit, '')}"


def places_of(rows: Sequence[WithInterval]) -> int:
    """Return how many decimals numbers need: two digits of the narrowest half interval."""
    widths = [row.high - row.low for row in rows if is_number(row.low) and is_number(row.high)]
    halves = [width / 2 for width in widths if width > 0]
    if all(float(row.value).is_integer() for row in rows if is_number(row.value)):
        return 0
    if not halves:
        return 2
    return min(max(1 - math.floor(math.log10(min(halves))), 0), 4)


def number_scale(rows: Sequence[WithInterval], unit: str) -> Scale | None:
    """Return a scale that covers all intervals, or None where a picture would say nothing."""
    ends = [end for row in rows for end in (row.low, row.high, row.value)]
    if not all(map(is_number, ends)) or not 1 <= len(rows) <= MAX_DRAWN:
        return None
    low, high = min(min(row.low, row.value) for row in rows), max(row.high for row in rows)
    is_counted = unit in ("percent", "people")
    if is_counted:
        low = min(low, 0.0)
    if high <= low:
        return None
    scale = replace(
        Scale.around(low, high, MAX_LINES),
        least=0.0 if is_counted else -math.inf,
        label=partial(value_text, unit=unit),
    )
    widest = max(row.high - row.low for row in rows)
    return scale if widest >= MIN_INTERVAL * (scale.high - scale.low) else None


@dataclass(frozen=True, slots=True)
class NumberTable:
    """One table, with a picture where its numbers share a scale."""

    caption: str
    rows: list[NumberRow]
    scale: Scale | None

    @classmethod
    def of(cls, table: numbers.Table) -> "NumberTable":
        shown = [possible_share(row) if row.unit == "percent" else row for row in table.rows]
        units = {row.unit for row in shown}
        scale = number_scale(shown, units.pop()) if len(units) == 1 else None
        rows = []
        for row in shown:
            places = places_of(shown if scale else [row])
            error = row.standard_error
            rows.append(
                NumberRow.of(
                    translate(row.label),
                    row,
                    partial(value_text, places=places, unit=row.unit),
                    error=value_text(error, max(places, 1)) if is_number(error) else "",
                    unit=row.unit,
                    ends=(0.0, 100.0 if row.unit == "percent" else math.inf),
                )
            )
        return cls(translate(table.caption), rows, scale)

    @property
    def units(self) -> str:
        """Return the unit to name at the head: of every row, and without a sign of its own."""
        units = {row.unit for row in self.rows}
        return translate(units.pop()) if len(units) == 1 and not units & SIGNS.keys() else ""

    @property
    def one(self) -> NumberRow | None:
        """Return the only number of a table that has just one, to say it first."""
        return self.rows[0] if len(self.rows) == 1 else None


# Files


def csv_of(publication: Publication) -> str:
    """Return the tables of a publication as a file: one line a number, exactly as published, with
    what pages show beside.
    """
    lines: list[list[Any]] = []
    for release in publication.drawn:
        step = f"step {release.number}: " if isinstance(release, Step) else ""
        for table in publication.query.shown(release.content).tables:
            lines += [[f"{step}{table.caption}", *astuple(row)] for row in table.rows]
    return quoted_lines(HEAD, lines)


def people_csv(content: Numbers) -> str:
    """Return a synthetic data set as a file: one line a made-up person."""
    lines = (values for *values, people in content.people for _ in range(int(people)))
    return quoted_lines(content.columns, lines)
