"""Read budgets: what was spent, on what, how fast, and what is left."""

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dpengine.accounting import concentrated
from dpengine.accounting.filters import EVERYONE, Charge, Left
from dpengine.privacy import Cost, plain, round_down, round_up
from surveys.ledger import chain as links
from surveys.ledger.amounts import charged, in_measure
from surveys.ledger.browsing import Filter, Row, authors, positions, read, read_all
from surveys.ledger.burn import Burn, Week, burn_of
from surveys.ledger.chain import Fault as Fault
from surveys.ledger.chain import any_text as any_text
from surveys.ledger.chain import digest_of as digest_of
from surveys.ledger.fields import written
from surveys.ledger.models import Budget, Entry, Head, Kind

__all__ = ["Account", "Alert", "Burn", "Filter", "Line", "Row", "Statement", "Week", "authors", "in_measure"]
__all__ += ["positions", "read", "read_all"]

DAY = datetime.timedelta(days=1)
WEEK = 7 * DAY
SHOWN_PLACES = {"ε": 2, "ρ": 4}  # for people


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that an owner should know before it happens."""

    name: str  # "week" or "ends"
    text: str


@dataclass(frozen=True, slots=True)
class Account:
    """A budget as it stands, with the charges to it, oldest first."""

    budget: Budget
    entries: list[Entry]

    @property
    def cap(self) -> Decimal:
        """Return the cap, in ε or in ρ: the budget's own measure."""
        return self.budget.cap

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
        """Return what is spent in the budget's own measure."""
        return in_measure(self.budget, self.spent)

    @property
    def amount_left(self) -> Decimal:
        """Return what is left of the cap in the budget's own measure."""
        return plain(self.cap - self.amount_spent)

    def can_pay(self, cost: Cost, *, part: str = EVERYONE, now: datetime.datetime | None = None) -> bool:
        """Tell whether a charge would be taken. The limit for a week counts if the moment is given."""
        budget, paid = self.budget, charged(cost)
        if budget.retired_on is not None:
            return False
        if not budget.filter.admits(paid, [entry.charge for entry in self.entries], part):
            return False
        if budget.weekly is None or now is None:
            return True
        lately = [entry.charge for entry in self.entries if entry.at > now - WEEK]
        return budget.filter_to(budget.weekly).admits(paid, lately, part)

    def burn(self, now: datetime.datetime) -> Burn:
        """Return how fast the budget is being spent."""
        return burn_of(self.budget, self.entries, now)

    def days_left(self, now: datetime.datetime) -> int | None:
        """Return how many whole days the rest lasts at the present rate; None if nothing is being spent."""
        rate = self.burn(now).per_week
        return int(Fraction(self.amount_left) * 7 / rate) if rate else None

    def alerts(self, now: datetime.datetime, until: datetime.date | None = None) -> list[Alert]:
        """Return what the owner should hear: the week's limit is near, or the cap will not last until a study's end."""
        if self.budget.retired_on is not None or not self.entries:
            return []
        return [alert for alert in (self._week_alert(now), self._end_alert(now, until)) if alert is not None]

    def _week_alert(self, now: datetime.datetime) -> Alert | None:
        """Say so when the last charge, made again, would pass the limit for a week."""
        weekly, last = self.budget.weekly, self.entries[-1]
        if weekly is None or self.can_pay(last.cost, part=last.part, now=now) or not self.can_pay(last.cost):
            return None
        sign, spent = self.budget.measure, self.burn(now).weeks[-1].amount
        text = _(
            "%(sign)s %(spent)s was spent in the last seven days, and %(sign)s %(weekly)s is the limit: "
            "another charge like the last one has to wait."
        )
        return Alert("week", text % {"sign": sign, "spent": written(spent), "weekly": written(weekly)})

    def _end_alert(self, now: datetime.datetime, until: datetime.date | None) -> Alert | None:
        days = self.days_left(now)
        if until is None or days is None or now.date() + days * DAY >= until:
            return None
        remaining = (until - now.date()).days
        text = ngettext(
            "At this rate the cap is used up in %(days)d day, %(before)d before %(until)s.",
            "At this rate the cap is used up in %(days)d days, %(before)d before %(until)s.",
            days,
        )
        return Alert("ends", text % {"days": days, "before": remaining - days, "until": until})


@dataclass(frozen=True, slots=True)
class Line:
    """A charge with the total after it, in the budget's own measure; both rounded up for people."""

    entry: Entry
    exact_amount: Decimal
    exact_total: Decimal
    places: int

    @property
    def amount(self) -> Decimal:
        return round_up(Fraction(self.exact_amount), self.places)

    @property
    def total(self) -> Decimal:
        return round_up(Fraction(self.exact_total), self.places)


@dataclass(frozen=True, slots=True)
class Statement:
    """An account for people to read: charges rounded up, the cap and what is left rounded down."""

    account: Account

    @property
    def measure(self) -> str:
        return self.account.budget.measure

    @property
    def places(self) -> int:
        return SHOWN_PLACES[self.measure]

    @property
    def spent(self) -> Decimal:
        return round_up(Fraction(self.account.amount_spent), self.places)

    @property
    def cap(self) -> Decimal:
        return round_down(Fraction(self.account.cap), self.places)

    @property
    def left(self) -> Decimal:
        return round_down(Fraction(self.account.amount_left), self.places)

    @property
    def width(self) -> str:
        """Return what is spent, of the cap, in percent."""
        return f"{100 * self.account.amount_spent / self.account.cap:.2f}%"

    @property
    def rows(self) -> list[Line]:
        """Return the charges, newest first."""
        budget = self.account.budget
        return [
            Line(entry, in_measure(budget, entry.cost), in_measure(budget, total), self.places)
            for entry, total in self._totals()
        ][::-1]

    def _totals(self) -> Iterator[tuple[Entry, Cost | None]]:
        """Yield every charge, oldest first, with the total after it: costs on one part add up, a sum a part will do."""
        parts: dict[str, Cost] = {}
        for entry in self.account.entries:
            parts[entry.part] = parts[entry.part] + entry.cost if entry.part in parts else entry.cost
            yield entry, self.account.budget.filter.total(map(Charge, parts, parts.values()))


def account(budget_id: int) -> Account:
    budget = Budget.objects.get(pk=budget_id)
    return Account(budget=budget, entries=list(Entry.charges.filter(budget=budget)))


def accounts() -> dict[int, Account]:
    """Return all accounts by budget id, in two queries."""
    found = {budget.pk: Account(budget=budget, entries=[]) for budget in Budget.objects.all()}
    for entry in Entry.charges.all():
        if entry.budget_id is not None:
            found[entry.budget_id].entries.append(entry)
    return found


def share_of(holder: str, study_id: int) -> Budget | None:
    """Return one person's share of a study's budget, if they have one; whatever they are called by now."""
    return Budget.objects.filter(holder=holder, within_id=study_id).first()


def who_acted(study_ids: Iterable[int | None]) -> set[str]:
    """Return by what name rows call whoever wrote in these studies' budgets, or in shares of them."""
    wanted = [pk for pk in study_ids if pk is not None]
    found = Entry.objects.filter(Q(budget__in=wanted) | Q(budget__within__in=wanted))
    return set(found.order_by().values_list("who", flat=True).distinct())


def rows(budget_id: int) -> list[Entry]:
    """Return every row about a budget, charges and acts, oldest first."""
    return list(Entry.objects.filter(budget_id=budget_id))


def rows_that_vouch(charge: Entry) -> list[Entry]:
    """Return the rows after a charge that hold a digest of what was drawn for it, oldest first."""
    return list(Entry.objects.filter(budget=charge.budget, new=charge.statistic, published__isnull=False))


def rows_as_stored() -> list[links.Stored]:
    """Return every row as the database holds it, damaged or not: for checks that must not trust a reading."""
    return links.stored()


def acts_beginning(with_what: str) -> list[Entry]:
    """Return the acts on the whole site whose names begin so, newest first."""
    found = Entry.objects.filter(kind=Kind.ACT, budget=None, what__startswith=with_what)
    return list(found.order_by("-position"))


def head() -> tuple[str, int]:
    """Return the digest of the newest row and how many rows there are: whoever notes both can see a cut tail later."""
    found = Head.objects.get()
    return found.digest, found.length


def chain(budget: str | None = None) -> list[dict[str, Any]]:
    """Return every row, or those about one budget, as the document that is hashed, with its digest. All public.

    How to check it: chain.py.
    """
    rows = links.stored() if budget is None else links.stored_about(budget)
    return [{**links.document(columns, name), "digest": columns["digest"]} for columns, name in rows]


def epsilon_for_people(cost: Cost, delta: Fraction) -> Decimal:
    """Return the ε of a cost, at this δ where it has none of its own: to compare, never to admit a charge."""
    if cost.epsilon is not None:
        return round_up(cost.epsilon)
    return concentrated.epsilon_of(cost.rho, delta)
