"""How fast a budget is spent: what each of the last weeks cost, and what a week costs on average."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from surveys.ledger.amounts import in_measure
from surveys.ledger.models import Budget, Entry

WEEK = datetime.timedelta(days=7)
CHARTED = 12  # weeks
RECENT = 4 * WEEK  # over which the rate is taken


@dataclass(frozen=True, slots=True)
class Week:
    """Seven days, and what was spent in them."""

    ends: datetime.datetime
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Burn:
    """The spending of a budget in its own measure."""

    weeks: list[Week]  # oldest first; the last one ends now
    per_week: Fraction  # over the last four weeks, or since the first charge if that is less ago

    @property
    def most(self) -> Decimal:
        """Return the largest of the weeks: the scale of a chart."""
        return max(week.amount for week in self.weeks)


def burn_of(budget: Budget, charges: Sequence[Entry], now: datetime.datetime) -> Burn:
    """Return how fast charges, oldest first, have used a budget up."""
    ends = [now - WEEK * ago for ago in reversed(range(CHARTED))]
    weeks = [Week(end, spent_between(budget, charges, end - WEEK, end)) for end in ends]
    if not charges:
        return Burn(weeks, Fraction(0))
    window = min(RECENT, max(WEEK, now - charges[0].at))
    recent = Fraction(spent_between(budget, charges, now - window, now, including_start=True))
    return Burn(weeks, recent * Fraction(WEEK.total_seconds()) / Fraction(window.total_seconds()))


def spent_between(
    budget: Budget,
    charges: Sequence[Entry],
    start: datetime.datetime,
    end: datetime.datetime,
    *,
    including_start: bool = False,
) -> Decimal:
    """Return what was spent after one moment and until another."""
    spent = [entry.charge for entry in charges if start < entry.at <= end or (including_start and entry.at == start)]
    return in_measure(budget, budget.filter.total(spent))
