"""The burn chart: what has been spent, day by day, under the cap, and where the present rate leads.

Points are in percent of the picture's width and of the height of its plot; the template draws them
as they are.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from surveys.charts.scales import points
from surveys.ledger.selectors import Account, StatementLine

DAY = datetime.timedelta(days=1)
MIN_SPAN = 14 * DAY
SPARK = 12 * 7 * DAY
MAX_FUTURE = 3  # times the past that the future may take of the picture
NEAR_AN_EDGE = 38  # percent: a label in the middle of what is nearer meets that of the end

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """A staircase up to now, and a line from there on."""

    spent: list[Point]  # corners of the staircase; the last one is today
    ahead: list[Point]  # where the rate leads; empty where nothing is being spent
    starts: datetime.date
    ends: datetime.date
    now: datetime.date
    reaches_cap: bool  # within the picture

    @property
    def line(self) -> str:
        return points(self.spent, 2)

    @property
    def area(self) -> str:
        """Return the outline of what lies below the staircase."""
        corners = "".join(f" L{x:.2f} {y:.2f}" for x, y in self.spent).lstrip()
        return f"M{self.spent[0][0]:.2f} 100{corners}L{self.spent[-1][0]:.2f} 100Z"

    @property
    def onwards(self) -> str:
        return points(self.ahead, 2)

    @property
    def today_x(self) -> str:
        return f"{self.spent[-1][0]:.2f}%"

    @property
    def label_after(self) -> bool:
        """Tell whether today's label stands after its point, not before."""
        return self.spent[-1][0] < 50

    @property
    def names_today(self) -> bool:
        """Tell whether there is room for today's date between the ends."""
        return NEAR_AN_EDGE < self.spent[-1][0] < 100 - NEAR_AN_EDGE

    @property
    def label_y(self) -> int:
        """Return where today's label stands, off the lines: in pixels of a plot from 16 to 116."""
        height = 16 + int(self.spent[-1][1])
        return height + 18 if height < 90 else height - 7


def of(
    account: Account,
    lines: Sequence[StatementLine],
    *,
    opened_on: datetime.date,
    now: datetime.datetime,
    goes_on: bool,
) -> Chart:
    """Return the chart of an account whose charges, newest first, are these lines; and ahead, if
    they go on.
    """
    first_day = min([opened_on, *(entry.day for entry in account.entries[:1])])
    start = datetime.datetime.combine(first_day, datetime.time(), tzinfo=datetime.UTC)
    rate = account.burn(now).per_week if goes_on else Fraction(0)
    left = Fraction(account.amount_left)
    past = max(now - start, MIN_SPAN)
    reach = datetime.timedelta(days=min(float(left * 7 / rate), 36500.0)) if rate else None
    future = min(reach, MAX_FUTURE * past) if reach is not None else past / 4
    span = (now - start) + max(future, DAY)
    ends = start + span

    def at(moment: datetime.datetime, amount: Fraction) -> Point:
        return 100 * ((moment - start) / span), _height(account, amount)

    corners, total = [at(start, Fraction(0))], Fraction(0)
    for line in reversed(lines):
        corners += [at(line.entry.at, total), at(line.entry.at, Fraction(line.exact_total))]
        total = Fraction(line.exact_total)
    today = at(now, total)
    ahead = [today, at(ends, total + rate * Fraction((ends - now) / DAY) / 7)] if rate else []
    return Chart(
        spent=[*corners, today],
        ahead=ahead,
        starts=start.date(),
        ends=ends.date(),
        now=now.date(),
        reaches_cap=reach is not None and reach <= MAX_FUTURE * past,
    )


def spark(account: Account, lines: Sequence[StatementLine], now: datetime.datetime) -> str:
    """Return the points of a small line: the total over the last twelve weeks, of a picture 100
    wide and 100 high.
    """
    start, total = now - SPARK, Fraction(0)
    corners: list[Point] = []
    for line in reversed(lines):
        before, total = total, Fraction(line.exact_total)
        if line.entry.at > start:
            x = 100 * ((line.entry.at - start) / SPARK)
            corners += [(x, _height(account, before)), (x, _height(account, total))]
    now_y = _height(account, total)
    return points([(0, corners[0][1] if corners else now_y), *corners, (100, now_y)], 1)


def _height(account: Account, amount: Fraction) -> float:
    """Return how far below the cap an amount stands, in percent of it."""
    return 100 * (1 - float(amount / Fraction(account.cap)))
