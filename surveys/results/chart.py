"""The burn chart: what has been spent, day by day, under the cap, and where the present rate leads.

Points are in percent of the picture's width and of the height of its plot; the template draws them
as they are.
"""

import datetime
from dataclasses import dataclass
from fractions import Fraction

from surveys.charts.scales import points
from surveys.ledger.selectors import Account, charted_since

DAY = datetime.timedelta(days=1)
MIN_SPAN = 14 * DAY
LONGEST = 366 * DAY  # that is drawn
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
    *,
    opened_on: datetime.date,
    now: datetime.datetime,
    goes_on: bool,
) -> Chart:
    """Return the chart of an account, of its last year at most; and ahead, if it goes on."""
    first_day = min([opened_on, *([account.total.first_at.date()] if account.total else [])])
    first_day = max(first_day, now.date() - LONGEST)
    start = datetime.datetime.combine(first_day, datetime.time(), tzinfo=datetime.UTC)
    rate = account.burn(now).per_week if goes_on else Fraction(0)
    left, cap = Fraction(account.amount_left), Fraction(account.cap)
    past = max(now - start, MIN_SPAN)
    reach = datetime.timedelta(days=min(float(left * 7 / rate), 36500.0)) if rate else None
    future = min(reach, MAX_FUTURE * past) if reach is not None else past / 4
    span = (now - start) + max(future, DAY)
    ends = start + span

    def at(moment: datetime.datetime, amount: Fraction) -> Point:
        return 100 * ((moment - start) / span), _height(amount, cap)

    before, steps = account.climb(first_day)
    corners, total = [at(start, Fraction(before))], Fraction(before)
    for moment, amount in steps:
        corners += [at(moment, total), at(moment, Fraction(amount))]
        total = Fraction(amount)
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


def spark(account: Account, now: datetime.datetime) -> str:
    """Return the points of a small line: the total over the last twelve weeks, of a picture 100
    wide and 100 high.
    """
    before, steps = account.climb(charted_since(now))
    cap, corners = Fraction(account.cap), list[Point]()
    now_y = _height(Fraction(before), cap)
    for moment, amount in steps:
        x = 100 * ((moment - (now - SPARK)) / SPARK)
        corners.append((x, now_y))
        now_y = _height(Fraction(amount), cap)
        corners.append((x, now_y))
    return points([(0, corners[0][1] if corners else now_y), *corners, (100, now_y)], 1)


def _height(amount: Fraction, cap: Fraction) -> float:
    """Return how far below the cap an amount stands, in percent of it."""
    return 100 * (1 - float(amount / cap))
