"""Read budgets: what was spent, on what, how fast, and what is left."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from django.db.models import Min, Q, QuerySet
from django.utils.translation import gettext as _, ngettext

from dpengine.accounting import concentrated
from dpengine.accounting.filters import EVERYONE, Charge, Left
from dpengine.contraction import Noise, loss_of
from dpengine.privacy import Cost, plain, rho_of_pure, round_down, round_up
from surveys.ledger import chain as links
from surveys.ledger.amounts import charged, in_measure
from surveys.ledger.browsing import Filter, LedgerRow, authors, positions, read, read_all
from surveys.ledger.chain import (
    Columns as Columns,
    Fault as Fault,
    any_text as any_text,
    digest_of as digest_of,
    stored as rows_as_stored,
)
from surveys.ledger.fields import written
from surveys.ledger.models import Budget, Entry, EpsilonField, Head, Kind, RhoField
from surveys.ledger.refusals import (
    PURE_ONLY,
    READS_UNKNOWN,
    BadAmount,
    Overspent,
    Refused,
    Retired,
    TooFast,
)

__all__ = [
    "Account",
    "Filter",
    "LedgerRow",
    "authors",
    "in_measure",
    "positions",
    "read",
    "read_all",
    "rows_as_stored",
    "written",
]

DAY, MOMENT = datetime.timedelta(days=1), datetime.timedelta.resolution
WEEK = 7 * DAY
RECENT = 4 * WEEK  # over which the rate is taken
CHARTED = 12  # weeks
SHOWN_PLACES = {"ε": 2, "ρ": 4}  # for people
SIGNIFICANT = Fraction(1, 20)  # of an amount, that rounding may add to it
MAX_PLACES = 9


def places_for(amount: Fraction) -> int:
    """Return how many decimals say an amount well enough: two, or more if it is small."""
    for places in range(2, MAX_PLACES):
        if Fraction(round_up(amount, places)) <= amount * (1 + SIGNIFICANT):
            return places
    return MAX_PLACES


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


@dataclass(frozen=True, slots=True)
class Account:
    """A budget as it stands, with the charges to it, oldest first."""

    budget: Budget
    entries: list[Entry]

    @property
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
        budget, charges = self.budget, [entry.charge for entry in self.entries]
        if not budget.is_either:
            return budget.measure
        if cost is not None:
            charges.append(Charge(EVERYONE, cost))
        if (total := budget.filter.total(charges)) is None:
            return "ε"
        parts = [Fraction(in_measure(sign, total) / budget.cap_in(sign)) for sign in "ερ"]
        return "ε" if total.is_pure and parts[0] <= parts[1] else "ρ"

    @property
    def cap(self) -> Decimal:
        """Return the cap, in the account's measure."""
        return self.budget.cap_in(self.measure)

    @property
    def spent(self) -> Cost | None:
        """Return what all charges together lose, None if there are none."""
        return self.budget.filter.total(entry.charge for entry in self.entries)

    @property
    def left(self) -> Left:
        """Return what may still be charged for everyone."""
        return self.budget.filter.left(entry.charge for entry in self.entries)

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

    @property
    def is_overspent(self) -> bool:
        """Tell whether more is spent than the cap: it was lowered, or rows were not ours."""
        return not self.budget.filter.holds(entry.charge for entry in self.entries)

    def added(self, cost: Cost) -> Cost:
        """Return what a cost adds to what is spent: all of it, rounded up; of what answers lose,
        what is not lost already.

        Rows add up to what all of them lose together, rounded up once, in ε and in ρ.
        """
        if not self.budget.counts_answers:
            return charged(cost)
        if cost.reading is None:
            raise BadAmount(READS_UNKNOWN.said(budget=self.budget))
        total = loss_of([*(entry.reading for entry in self.entries), cost.reading])
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
        """Return how many more charges of this cost, for everyone, the cap pays for."""
        cost, left, times = charged(cost), self.left, Fraction(0)
        if left.rho is not None:
            times = left.rho / cost.rho
            times = min(times, left.delta / cost.delta) if cost.delta else times
        if left.epsilon is not None and cost.epsilon is not None and cost.is_pure:
            times = max(times, left.epsilon / cost.epsilon)
        return max(0, int(times))

    def admitted(
        self, cost: Cost, part: str = EVERYONE, now: datetime.datetime | None = None
    ) -> Cost:
        """Return what a charge adds, or raise the Refused that says why it would not be taken; by
        the week's limit too, if the moment is given. What adds nothing is taken.
        """
        budget, charges = self.budget, [entry.charge for entry in self.entries]
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
            lately = [entry.charge for entry in self.entries if entry.at > now - WEEK]
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
    def is_understated(self) -> bool:
        """Tell whether rows say less than what they read loses, or cannot be read."""
        if not self.budget.counts_answers:
            return False
        try:
            total = loss_of(entry.reading for entry in self.entries)
        except (ValueError, KeyError, TypeError, AttributeError):
            return True
        return total is None or round_up(total, EpsilonField.places) > self.amount_spent

    @property
    def is_all_lost(self) -> bool:
        """Tell whether what was read so far cannot use up the cap, however often it is read."""
        if not self.budget.counts_answers or not self.entries:
            return False
        readings = [entry.reading for entry in self.entries]
        most = loss_of(
            replace(reading, noises=[Noise(frozenset(reading.losses), None)])  # as it came
            for reading in readings
            if reading.losses
        )
        return most is not None and most <= Fraction(self.cap)

    def spent_after(self, start: datetime.datetime, until: datetime.datetime) -> Decimal:
        charges = [entry.charge for entry in self.entries if start < entry.at <= until]
        return in_measure(self.measure, self.budget.filter.total(charges))

    def burn(self, now: datetime.datetime) -> Burn:
        """Return how fast the budget is being spent."""
        ends = [now - WEEK * ago for ago in reversed(range(CHARTED))]
        weeks = [Week(end, self.spent_after(end - WEEK, end)) for end in ends]
        if not self.entries:
            return Burn(weeks, Fraction(0))
        window = min(RECENT, max(WEEK, now - self.entries[0].at))
        recent = Fraction(self.spent_after(now - window - MOMENT, now))  # the first charge too
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
        if self.budget.retired_on is not None or not self.entries:
            return []
        alerts = self._week_alert(now), self._end_alert(now, until)
        return [alert for alert in alerts if alert is not None]

    def _week_alert(self, now: datetime.datetime) -> str | None:
        """Say so when the last charge, made again, would pass the limit for a week."""
        weekly, last = self.budget.weekly, self.entries[-1]
        if (
            weekly is None
            or self.can_pay(last.again, part=last.part, now=now)
            or not self.can_pay(last.again)
        ):
            return None
        spent = self.burn(now).weeks[-1].amount
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


@dataclass(frozen=True, slots=True)
class StatementLine:
    """A charge with the total after it, in the budget's own measure; both rounded up for people."""

    entry: Entry
    exact_amount: Decimal
    exact_total: Decimal
    places: int

    @property
    def amount(self) -> Decimal:
        return round_up(Fraction(self.exact_amount), self.places)

    @property
    def cost(self) -> Decimal:
        """Return the amount in as many decimals as it was said with before it was confirmed."""
        exact = Fraction(self.exact_amount)
        return round_up(exact, max(places_for(exact), self.places))

    @property
    def total(self) -> Decimal:
        return round_up(Fraction(self.exact_total), self.places)


@dataclass(frozen=True, slots=True)
class Statement:
    """An account for people to read: charges rounded up, the cap and what is left rounded down."""

    account: Account

    @property
    def measure(self) -> str:
        return self.account.measure

    @property
    def places(self) -> int:
        return SHOWN_PLACES[self.measure]

    @property
    def exact_spent(self) -> Decimal:
        return in_measure(self.measure, self.account.spent)

    @property
    def exact_cap(self) -> Decimal:
        return self.account.budget.cap_in(self.measure)

    @property
    def exact_left(self) -> Decimal:
        return self.account.left_in(self.measure)

    @property
    def spent(self) -> Decimal:
        return round_up(Fraction(self.exact_spent), self.places)

    @property
    def cap(self) -> Decimal:
        return round_down(Fraction(self.exact_cap), self.places)

    @property
    def left(self) -> Decimal:
        return round_down(Fraction(self.exact_left), self.places)

    @property
    def or_left(self) -> str:
        """Say what is left of a cap on either in its other measure, if that can still pay."""
        if (sign := self.account.other_than(self.measure)) is None:
            return ""
        amounts = (self.account.left_in(sign), self.account.budget.cap_in(sign))
        left, cap = (round_down(Fraction(amount), SHOWN_PLACES[sign]) for amount in amounts)
        return _("or %(sign)s %(left)s of %(cap)s") % {"sign": sign, "left": left, "cap": cap}

    @property
    def signed_left(self) -> str:
        """Say what is left with its sign; of a cap on either, in both that can still pay."""
        said, sign = f"{self.measure} {self.left}", self.account.other_than(self.measure)
        if sign is None:
            return said
        left = round_down(Fraction(self.account.left_in(sign)), SHOWN_PLACES[sign])
        return _("%(left)s or %(other)s") % {"left": said, "other": f"{sign} {left}"}

    @property
    def weekly(self) -> str:
        """Return the limit for any seven days."""
        weekly, sign = self.account.budget.weekly, self.account.budget.measure
        return _("none") if weekly is None else f"{sign} {plain(weekly)}"

    @property
    def width(self) -> str:
        """Return what is spent, of the cap, in percent."""
        return f"{100 * self.exact_spent / self.exact_cap:.2f}%"

    @property
    def rows(self) -> list[StatementLine]:
        """Return the charges, newest first. Costs on one part add up."""
        budget, measure, lines = self.account.budget, self.measure, []
        parts: dict[str, Cost] = {}
        for entry in self.account.entries:
            before = parts.get(entry.part)
            parts[entry.part] = before + entry.cost if before else entry.cost
            total = in_measure(measure, budget.filter.total(map(Charge, parts, parts.values())))
            amount = in_measure(measure, entry.cost)
            lines.append(StatementLine(entry, amount, total, self.places))
        return lines[::-1]


def account(budget_id: int) -> Account:
    return account_of(Budget.objects.get(pk=budget_id))


def account_of(budget: Budget) -> Account:
    return Account(budget, list(Entry.charges.filter(budget=budget)))


def accounts(budget_ids: Iterable[int | None] | None = None) -> dict[int, Account]:
    """Return accounts by budget id, all or these, in two queries."""
    budgets, charges = Budget.objects.all(), Entry.charges.all()
    if budget_ids is not None:
        wanted = [pk for pk in budget_ids if pk is not None]
        budgets, charges = budgets.filter(pk__in=wanted), charges.filter(budget__in=wanted)
    by_id = {budget.pk: Account(budget, []) for budget in budgets}
    for entry in charges:
        if entry.budget_id is not None:
            by_id[entry.budget_id].entries.append(entry)
    return by_id


def leave_the_week(budget_ids: Iterable[int], now: datetime.datetime) -> datetime.datetime | None:
    """Return when the next charge is older than a week, of budgets that have a limit on it."""
    week = datetime.timedelta(days=7)
    limited = Entry.charges.filter(budget__in=budget_ids, budget__weekly__isnull=False)
    oldest = limited.filter(at__gt=now - week).aggregate(at=Min("at"))["at"]
    return None if oldest is None else oldest + week


def share_of(holder: str, study_id: int) -> Budget | None:
    """Return one person's share of a study's budget, if any, whatever they are called now."""
    return Budget.objects.filter(holder=holder, within_id=study_id).first()


def shares_of(budget_id: int | None) -> list[Account]:
    """Return people's shares of a study's budget, the oldest first."""
    shares = Budget.objects.filter(within_id=budget_id, holder__isnull=False).order_by("pk")
    return [account_of(share) for share in shares]


def who_acted(study_ids: Iterable[int | None]) -> set[str]:
    """Return the names by which rows call those who wrote in these budgets or their shares."""
    wanted = [pk for pk in study_ids if pk is not None]
    entries = Entry.objects.filter(Q(budget__in=wanted) | Q(budget__within__in=wanted))
    return set(entries.order_by().values_list("who", flat=True).distinct())


def rows(budget_id: int) -> list[Entry]:
    """Return every row about a budget, charges and acts, oldest first."""
    return list(Entry.objects.filter(budget_id=budget_id))


def rows_that_vouch(charge: Entry) -> list[Entry]:
    """Return the rows after a charge that hold a digest of what was drawn for it, oldest first."""
    return list(
        Entry.objects.filter(budget=charge.budget, new=charge.statistic, published__isnull=False)
    )


def has_act(budget_id: int, *, what: str, new: str) -> bool:
    """Tell whether an act of this name, about this, is written of a budget."""
    acts = Entry.objects.filter(budget_id=budget_id, kind=Kind.ACT, what=what, new=new)
    return acts.exists()


def acts_beginning(with_what: str) -> list[Entry]:
    """Return the acts on the whole site whose names begin so, newest first."""
    acts = Entry.objects.filter(kind=Kind.ACT, budget=None, what__startswith=with_what)
    return list(acts.order_by("-position"))


def head() -> tuple[str, int]:
    """Return the newest row's digest and the number of rows: noted, they show a cut tail later."""
    end = Head.objects.get()
    return end.digest, end.length


@dataclass(frozen=True, slots=True)
class Chain:
    """Rows as the documents that are hashed, each with its digest, and the end of the whole chain:
    all public. How to check it: chain.py.
    """

    head: str
    length: int
    budget: str | None  # which all rows are about
    rows: list[links.Document]


def chain(budget: str | None = None) -> Chain:
    """Return the chain of the whole site, or its rows about one budget.

    The end is read first: rows that are added meanwhile are left out, so that rows and end belong
    together.
    """
    digest, length = head()
    stored = links.stored() if budget is None else links.stored_about(budget)
    rows = [
        {**links.document(columns, name), "digest": columns["digest"]}
        for columns, name in stored
        if columns["position"] <= length
    ]
    return Chain(digest, length, budget, rows)


def budgets_between(start: int, end: int) -> QuerySet[Entry, int]:
    """Return the budgets that rows after the position `start`, up to `end`, are about."""
    rows = Entry.objects.filter(position__gt=start, position__lte=end, budget__isnull=False)
    return rows.order_by().values_list("budget", flat=True).distinct()


def epsilon_for_people(cost: Cost, delta: Fraction) -> Decimal:
    """Return the ε of a cost, at this δ where it has none: to compare, never to admit a charge."""
    if cost.epsilon is not None:
        return round_up(cost.epsilon)
    return concentrated.epsilon_of(cost.rho, delta)
