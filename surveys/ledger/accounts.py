"""A budget as it stands: what was spent, how fast, what is left, and whether one more charge fits.

What is spent is read from the budget's total, and how fast from sums that the database makes of
the last weeks: nothing here reads a budget's whole history, however long it is, but `entries`.
"""

import datetime
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from django.utils.translation import gettext as _, ngettext

from dpengine.accounting.filters import EVERYONE, Charge, Left
from dpengine.contraction import NOTHING, Noise, Reading, loss_of
from dpengine.privacy import Cost, plain, rho_of_pure, round_up
from surveys.ledger import history, totals
from surveys.ledger.amounts import charged, in_measure
from surveys.ledger.fields import written
from surveys.ledger.history import DAY, Day
from surveys.ledger.models import Budget, Entry, EpsilonField, RhoField, Total
from surveys.ledger.refusals import (
    PURE_ONLY,
    READS_UNKNOWN,
    BadAmount,
    Overspent,
    Refused,
    Retired,
    TooFast,
)

WEEK = 7 * DAY
MANY = 2**10  # more of one charge than any study asks
RECENT = 4 * WEEK  # over which the rate is taken
CHARTED = 12  # weeks


@dataclass(frozen=True, slots=True)
class Week:
    """Seven days, and what was spent in them."""

    ends: datetime.datetime
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Burn:
    """How fast a budget is spent, in its own measure."""

    weeks: list[Week]  # oldest first; the last one ends now
    per_week: Fraction  # over the last four weeks, or since the first charge if that is less ago


@dataclass(frozen=True)
class Account:
    """A budget as it stands, with what the charges to it add up to."""

    budget: Budget
    total: Total | None  # of no charges
    _days: dict[datetime.date, list[Day]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def entries(self) -> list[Entry]:
        """Return the charges, oldest first: all of them."""
        return list(Entry.charges.filter(budget=self.budget))

    @cached_property
    def last(self) -> Entry | None:
        """Return the newest charge."""
        return Entry.charges.filter(budget=self.budget).order_by("-number").first()

    @cached_property
    def sums(self) -> totals.Sums:
        """Return the charges, added up for each part of the people."""
        return totals.Sums.from_text(self.total.parts if self.total else "")

    @property
    def charges(self) -> list[Charge]:
        """Return one charge for each part: to a filter they are the same as all of them."""
        return self.sums.charges

    @cached_property
    def readings(self) -> list[Reading]:
        """Return all that charges read, added up. ValueError if it cannot be read."""
        return totals.readings_from_text(self.total.reads if self.total else "")

    @property
    def count(self) -> int:
        return self.total.charges if self.total else 0

    @cached_property
    def measure(self) -> str:
        """Return the sign in which what is spent is said: of a cap on either, that of which the
        larger part is left.
        """
        return self.measure_after(None)

    def other_than(self, measure: str) -> str | None:
        """Return the other sign in which a cap on either can still pay, None if it cannot."""
        left = self.left
        other, rest = ("ρ", left.rho) if measure == "ε" else ("ε", left.epsilon)
        return other if self.budget.is_either and rest is not None and rest > 0 else None

    def measure_after(self, cost: Cost | None) -> str:
        """Return the measure once this cost is paid for everyone too."""
        budget, charges = self.budget, self.charges
        if not budget.is_either:
            return budget.measure
        if cost is not None:
            charges.append(Charge(EVERYONE, cost))
        if (total := budget.filter.total(charges)) is None:
            return "ε"
        parts = [Fraction(in_measure(sign, total) / budget.cap_in(sign)) for sign in "ερ"]
        return "ε" if total.is_pure and parts[0] <= parts[1] else "ρ"

    @cached_property
    def cap(self) -> Decimal:
        """Return the cap, in the account's measure."""
        return self.budget.cap_in(self.measure)

    @property
    def spent(self) -> Cost | None:
        """Return what all charges together lose, None if there are none."""
        return self.budget.filter.total(self.charges)

    @property
    def left(self) -> Left:
        """Return what may still be charged for everyone."""
        return self.budget.filter.left(self.charges)

    @property
    def amount_spent(self) -> Decimal:
        """Return what is spent in the account's measure."""
        return in_measure(self.measure, self.spent)

    @property
    def amount_left(self) -> Decimal:
        """Return what is left of the cap in the account's measure."""
        return self.left_in(self.measure)

    def left_in(self, measure: str) -> Decimal:
        return plain(self.budget.cap_in(measure) - in_measure(measure, self.spent))

    def added(self, cost: Cost) -> Cost:
        """Return what a cost adds to what is spent: all of it, rounded up; of what answers lose,
        what is not lost already.

        Rows add up to what all of them lose together, rounded up once, in ε and in ρ.
        """
        if not self.budget.counts_answers:
            return charged(cost)
        if cost.reading is None:
            raise BadAmount(READS_UNKNOWN.said(budget=self.budget))
        total = loss_of([*self.readings, cost.reading])
        if total is None:
            raise BadAmount(PURE_ONLY.said(budget=self.budget))
        before = self.spent or Cost(rho=Fraction(0), epsilon=Fraction(0))
        after = Fraction(round_up(total, EpsilonField.places))
        rho = Fraction(round_up(rho_of_pure(after), RhoField.places)) if after else Fraction(0)
        return Cost(
            rho=max(rho - before.rho, Fraction(0)),
            epsilon=max(after - (before.epsilon or 0), Fraction(0)),
            reading=cost.reading,
        )

    def pays_for(self, cost: Cost) -> int:
        """Return how many more charges of this cost, for everyone, the cap pays for.

        Where answers' losses count, the next can add more than the first did, and all of them less
        than each alone: it is tried. None is told beyond `MANY`.
        """
        reading, cost, left, times = cost.reading, charged(cost), self.left, Fraction(0)
        if reading is not None and self.budget.counts_answers:
            return bisect_left(range(1, MANY + 1), 1, key=lambda each: self._is_over(reading, each))
        if left.rho is not None:
            times = left.rho / cost.rho
            times = min(times, left.delta / cost.delta) if cost.delta else times
        if left.epsilon is not None and cost.epsilon is not None and cost.is_pure:
            times = max(times, left.epsilon / cost.epsilon)
        return max(0, int(times))

    def _is_over(self, reading: Reading, times: int) -> bool:
        """Tell whether the cap does not pay for reading the same so many times more."""
        noises = [
            replace(each, epsilon=each.epsilon and times * each.epsilon) for each in reading.noises
        ]
        added = self.added(Cost(NOTHING, reading=replace(reading, noises=noises)))
        return not self.budget.filter.admits(added, self.charges, EVERYONE)

    def admitted(
        self, cost: Cost, part: str = EVERYONE, now: datetime.datetime | None = None
    ) -> Cost:
        """Return what a charge adds, or raise the Refused that says why it would not be taken; by
        the week's limit too, if the moment is given. What adds nothing is taken.
        """
        budget, charges = self.budget, self.charges
        if budget.retired_on is not None:
            raise Retired(budget)
        cost = self.added(cost)
        if budget.is_pure and not cost.is_pure:
            raise BadAmount(PURE_ONLY.said(budget=budget))
        if not cost.epsilon and not cost.rho:
            return cost
        if not budget.filter.admits(cost, charges, part):
            raise Overspent(budget, cost, budget.filter.left(charges, part))
        if budget.weekly is not None and now is not None:
            week = budget.filter_to(budget.weekly)
            lately = history.sums_after(budget.pk, now - WEEK).charges
            if not week.admits(cost, lately, part):
                raise TooFast(budget, cost, week.left(lately, part))
        return cost

    def can_pay(
        self, cost: Cost, *, part: str = EVERYONE, now: datetime.datetime | None = None
    ) -> bool:
        try:
            self.admitted(cost, part, now)
        except Refused:
            return False
        return True

    @property
    def is_all_lost(self) -> bool:
        """Tell whether what was read so far cannot use up the cap, however often it is read."""
        if not self.budget.counts_answers or not self.count:
            return False
        most = loss_of(
            replace(reading, noises=[Noise(frozenset(reading.losses), None)])  # as it came
            for reading in self.readings
            if reading.losses
        )
        return most is not None and most <= Fraction(self.cap)

    def days(self, since: datetime.date) -> list[Day]:
        """Return what was charged on each day from this one on, where anything was."""
        if since not in self._days:
            self._days[since] = history.days_of([self.budget.pk], since)[self.budget.pk]
        return self._days[since]

    def climb(
        self, since: datetime.date
    ) -> tuple[Decimal, list[tuple[datetime.datetime, Decimal]]]:
        """Return what was spent before a day, and after each day from it on with the moment of its
        last charge: what is spent now, without what came later.
        """
        sums, steps = self.sums.copy(), []
        for day in reversed(self.days(since)):
            steps.append(
                (day.until, in_measure(self.measure, self.budget.filter.total(sums.charges)))
            )
            sums.merge(day.sums, times=-1)
        before = in_measure(self.measure, self.budget.filter.total(sums.charges))
        return before, steps[::-1]

    def _spent_on(self, days: Iterable[Day]) -> Decimal:
        sums = totals.Sums()
        for day in days:
            sums.merge(day.sums)
        return in_measure(self.measure, self.budget.filter.total(sums.charges))

    def burn(self, now: datetime.datetime) -> Burn:
        """Return how fast the budget is being spent, by whole days (UTC)."""
        today = now.astimezone(datetime.UTC).date()
        days = self.days(charted_since(now))
        ends = [WEEK * ago for ago in reversed(range(CHARTED))]
        weeks = [
            Week(
                now - ago,
                self._spent_on(day for day in days if today - ago - WEEK < day.day <= today - ago),
            )
            for ago in ends
        ]
        if self.total is None:
            return Burn(weeks, Fraction(0))
        window = min(RECENT, max(WEEK, now - self.total.first_at))
        first = max(self.total.first_at.date(), today - RECENT + DAY)
        recent = Fraction(self._spent_on(day for day in days if first <= day.day <= today))
        in_a_week = Fraction(WEEK.total_seconds()) / Fraction(window.total_seconds())
        return Burn(weeks, recent * in_a_week)

    def days_left(self, now: datetime.datetime) -> int | None:
        """Return how many whole days the rest lasts at this rate; None if nothing is spent."""
        if self.is_all_lost:
            return None
        rate = self.burn(now).per_week
        return int(Fraction(self.amount_left) * 7 / rate) if rate else None

    def alerts(self, now: datetime.datetime, until: datetime.date | None = None) -> list[str]:
        """Return what the owner should hear: a week's limit is near, or the cap will not last."""
        if self.budget.retired_on is not None or not self.count:
            return []
        alerts = self._week_alert(now), self._end_alert(now, until)
        return [alert for alert in alerts if alert is not None]

    def _week_alert(self, now: datetime.datetime) -> str | None:
        """Say so when the last charge, made again, would pass the limit for a week."""
        weekly, last = self.budget.weekly, self.last
        if (
            weekly is None
            or last is None
            or self.can_pay(last.again, part=last.part, now=now)
            or not self.can_pay(last.again)
        ):
            return None
        lately = history.sums_after(self.budget.pk, now - WEEK).charges
        spent = in_measure(self.measure, self.budget.filter.total(lately))
        text = _(
            "%(spent)s was spent in the last seven days, and %(weekly)s is the limit: "
            "another charge like the last one has to wait."
        )
        signs = {"spent": self.measure, "weekly": self.budget.measure}
        amounts = {"spent": spent, "weekly": weekly}
        return text % {name: f"{signs[name]} {written(amounts[name])}" for name in signs}

    def _end_alert(self, now: datetime.datetime, until: datetime.date | None) -> str | None:
        days = self.days_left(now)
        if until is None or days is None or now.date() + days * DAY >= until:
            return None
        remaining = (until - now.date()).days
        text = ngettext(
            "At this rate the cap is used up in %(days)d day, %(before)d before %(until)s.",
            "At this rate the cap is used up in %(days)d days, %(before)d before %(until)s.",
            days,
        )
        return text % {"days": days, "before": remaining - days, "until": until}


def charted_since(now: datetime.datetime) -> datetime.date:
    """Return the first day of the weeks of a burn."""
    return now.astimezone(datetime.UTC).date() - CHARTED * WEEK + DAY


def read_days(accounts: Iterable[Account], now: datetime.datetime) -> None:
    """Read the weeks of many burns at once."""
    by_id, since = {account.budget.pk: account for account in accounts}, charted_since(now)
    for budget_id, days in history.days_of(by_id, since).items():
        by_id[budget_id]._days[since] = days
