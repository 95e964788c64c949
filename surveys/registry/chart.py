"""The burn chart: what has been spent, day by day, under the cap, and where the present rate leads.

Positions are in percent of the picture's width and of the height of its plot; the template draws them as they are.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpengine.privacy import round_down, round_up
from surveys.ledger.queries import SHOWN_PLACES, Account, Line

DAY = datetime.timedelta(days=1)
LEAST_SPAN = 14 * DAY
SPARK = 12 * 7 * DAY
FURTHEST = 3  # times the past that the future may take of the picture
NEAR_AN_EDGE = 38  # percent: on a phone, a label in the middle of what is nearer collides with that of the end


@dataclass(frozen=True, slots=True)
class Point:
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A staircase up to now, and a line from there on."""

    measure: str
    cap: Decimal
    total: Decimal
    spent: list[Point]  # corners of the staircase
    ahead: list[Point]  # where the rate leads; empty where nothing is being spent
    today: Point
    starts: datetime.date
    ends: datetime.date
    now: datetime.date
    reaches_cap: bool  # within the picture
    label_after: bool  # today's label stands after its point, not before

    @property
    def line(self) -> str:
        return " ".join(f"{point.x},{point.y}" for point in self.spent)

    @property
    def area(self) -> str:
        """Return the outline of what lies below the staircase."""
        corners = " ".join(f"L{point.x} {point.y}" for point in self.spent)
        return f"M{self.spent[0].x} 100{corners}L{self.spent[-1].x} 100Z"

    @property
    def onwards(self) -> str:
        return " ".join(f"{point.x},{point.y}" for point in self.ahead)

    @property
    def names_today(self) -> bool:
        """Tell whether there is room for today's date between the ends."""
        return NEAR_AN_EDGE < Decimal(self.today.x) < 100 - NEAR_AN_EDGE

    @property
    def label_y(self) -> str:
        """Return where today's label stands, in pixels of a plot that begins at 16 and is 100 high: off the lines."""
        height = 16 + int(Decimal(self.today.y))
        return f"{height + 18 if height < 90 else height - 7}"


def of(
    account: Account, lines: Sequence[Line], *, opened_on: datetime.date, now: datetime.datetime, goes_on: bool
) -> Chart:
    """Return the chart of an account whose charges, newest first, are these lines; and ahead, if they go on."""
    budget, places = account.budget, SHOWN_PLACES[account.budget.measure]
    start = _midnight(min([opened_on, *(entry.day for entry in account.entries[:1])]))
    rate = account.burn(now).per_week if goes_on else Fraction(0)
    left = Fraction(account.amount_left)
    past = max(now - start, LEAST_SPAN)
    reach = datetime.timedelta(days=min(float(left * 7 / rate), 36500.0)) if rate else None
    future = min(reach, FURTHEST * past) if reach is not None else past / 4
    span = (now - start) + max(future, DAY)

    def at(moment: datetime.datetime, amount: Fraction) -> Point:
        share = (moment - start) / span
        return Point(f"{100 * share:.2f}", f"{100 * (1 - float(amount / Fraction(account.cap))):.2f}")

    corners, total = [at(start, Fraction(0))], Fraction(0)
    for line in reversed(lines):
        corners += [at(line.entry.at, total), at(line.entry.at, Fraction(line.exact_total))]
        total = Fraction(line.exact_total)
    today = at(now, total)
    ends = start + span
    ahead = [today, at(ends, total + rate * Fraction((ends - now) / DAY) / 7)] if rate else []
    return Chart(
        measure=budget.measure,
        cap=round_down(Fraction(account.cap), places),
        total=round_up(total, places),
        spent=[*corners, today],
        ahead=ahead,
        today=today,
        starts=start.date(),
        ends=ends.date(),
        now=now.date(),
        reaches_cap=reach is not None and reach <= FURTHEST * past,
        label_after=float(today.x) < 50,
    )


def spark(account: Account, lines: Sequence[Line], now: datetime.datetime) -> str:
    """Return the points of a small line: the total over the last twelve weeks, of a picture 100 wide and 100 high."""
    start, total, corners = now - SPARK, Fraction(0), []
    for line in reversed(lines):
        if line.entry.at > start:
            x = f"{100 * ((line.entry.at - start) / SPARK):.1f}"
            corners += [f"{x},{_height(account, total)}", f"{x},{_height(account, Fraction(line.exact_total))}"]
        total = Fraction(line.exact_total)
    begins = _height(account, total) if not corners else corners[0].split(",")[1]
    return " ".join([f"0,{begins}", *corners, f"100,{_height(account, total)}"])


def _height(account: Account, amount: Fraction) -> str:
    return f"{100 * (1 - float(amount / Fraction(account.cap))):.1f}"


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(), tzinfo=datetime.UTC)
