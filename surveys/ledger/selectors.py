"""Read budgets: what was spent, on what, how fast, and what is left."""

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from django.db.models import Min, Q, QuerySet
from django.utils.translation import gettext as _

from dpengine.accounting import concentrated
from dpengine.privacy import Cost, plain, round_down, round_up
from surveys.ledger import chain as links
from surveys.ledger.accounts import Account as Account, Burn, charted_since, read_days
from surveys.ledger.amounts import in_measure
from surveys.ledger.browsing import Filter, LedgerRow, authors, positions, read, read_all
from surveys.ledger.chain import (
    Columns as Columns,
    Damaged as Damaged,
    Fault as Fault,
    any_text as any_text,
    snapshot as snapshot,
)
from surveys.ledger.fields import written
from surveys.ledger.history import Day, charges_of, mechanisms, spent_by_person
from surveys.ledger.models import Budget, Entry, Head, Kind, Total

__all__ = [
    "Account",
    "Burn",
    "Day",
    "Filter",
    "LedgerRow",
    "authors",
    "charges_of",
    "charted_since",
    "in_measure",
    "mechanisms",
    "positions",
    "read",
    "read_all",
    "read_days",
    "spent_by_person",
    "written",
]

SEGMENT = 1_000  # rows of the chain that are one document, for good once they are all there
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
        left = round_down(Fraction(self.account.left_in(sign)), SHOWN_PLACES[sign])
        cap = round_down(Fraction(self.account.budget.cap_in(sign)), SHOWN_PLACES[sign])
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
        """Return all charges, newest first. Costs on one part add up."""
        return self.lines(self.account.entries[::-1])

    def newest(self, count: int) -> list[StatementLine]:
        """Return the newest charges, newest first."""
        found = Entry.charges.filter(budget=self.account.budget).order_by("-number")
        return self.lines(list(found[:count]))

    def lines(self, entries: Iterable[Entry]) -> list[StatementLine]:
        """Return charges from the newest on backwards, each with the total after it: what is spent
        now, without those that came later.
        """
        budget, measure, lines = self.account.budget, self.measure, []
        sums = self.account.sums.copy()
        for entry in entries:
            total = in_measure(measure, budget.filter.total(sums.charges))
            lines.append(StatementLine(entry, in_measure(measure, entry.cost), total, self.places))
            sums.add(links.columns_of(entry), times=-1)
        return lines


def account(budget_id: int) -> Account:
    return account_of(Budget.objects.get(pk=budget_id))


def account_of(budget: Budget) -> Account:
    return Account(budget, Total.objects.filter(budget=budget).first())


def accounts(budget_ids: Iterable[int | None]) -> dict[int, Account]:
    """Return these accounts by budget id, in one query."""
    found = _accounts(Budget.objects.filter(pk__in=list(budget_ids)))
    return {account.budget.pk: account for account in found}


def near_caps(share: Fraction) -> list[Account]:
    """Return the accounts not retired of which at most this share of the cap is left."""
    accounts = _accounts(Budget.objects.filter(retired_on=None, total__isnull=False))
    return [each for each in accounts if Fraction(each.amount_left) <= Fraction(each.cap) * share]


def _accounts(budgets: QuerySet[Budget]) -> list[Account]:
    found = budgets.select_related("total").order_by("pk")
    return [Account(budget, getattr(budget, "total", None)) for budget in found]


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
    return _accounts(Budget.objects.filter(within_id=budget_id, holder__isnull=False))


def who_acted(study_ids: Iterable[int | None]) -> set[str]:
    """Return the names by which rows call those who wrote in these budgets or their shares."""
    wanted = list(study_ids)
    entries = Entry.objects.filter(Q(budget__in=wanted) | Q(budget__within__in=wanted))
    return set(entries.order_by().values_list("who", flat=True).distinct())


def newest_acts(budget_id: int, count: int, *, vouching: bool = False) -> list[Entry]:
    """Return the newest acts of a budget; or those that vouch for what was published."""
    acts = Entry.objects.filter(budget_id=budget_id, kind=Kind.ACT, published__isnull=not vouching)
    return list(acts.order_by("-at", "-number")[:count])


def whys(budget_id: int, whats: Iterable[str]) -> dict[str, str]:
    """Return the reasons of the acts of these names, of each the oldest."""
    acts = Entry.objects.filter(budget_id=budget_id, kind=Kind.ACT, what__in=list(whats))
    return dict(acts.order_by("-number").values_list("what", "why"))


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


def documents_about(budget: str, length: int) -> list[links.Document]:
    """Return those of the first so many rows of the chain that are about one budget, as the
    documents that are hashed, each with its digest: all public. How to check them: chain.py.
    """
    about = "WHERE b.name = %s AND e.position <= %s ORDER BY e.position"
    return [_document(*row) for row in links.select(about, budget, length)]


def documents(length: int) -> Iterator[links.Document]:
    """Yield the first so many rows of the chain, a segment in memory at a time."""
    for number in range(1, segments(length) + 1):
        yield from segment(number, length)


def segments(length: int) -> int:
    """Return into how many segments so many rows fall; the last may have fewer rows."""
    return -(-length // SEGMENT)


def segment(number: int, length: int) -> list[links.Document]:
    """Return the rows of a segment, from 1 on, of a chain of this length: none if there is none."""
    first, last = (number - 1) * SEGMENT + 1, min(number * SEGMENT, length)
    between = "WHERE e.position BETWEEN %s AND %s ORDER BY e.position"
    rows = links.select(between, first, last) if first <= last else []
    return [_document(*row) for row in rows]


def _document(columns: Columns, name: str | None) -> links.Document:
    """Return the document of a row; Damaged names the row."""
    try:
        return {**links.document(columns, name), "digest": columns["digest"]}
    except Damaged as damage:
        raise Damaged(f"row {columns['position']}: {damage}") from None


def budgets_between(start: int, end: int) -> QuerySet[Entry, int]:
    """Return the budgets that rows after the position `start`, up to `end`, are about."""
    rows = Entry.objects.filter(position__gt=start, position__lte=end, budget__isnull=False)
    return rows.order_by().values_list("budget", flat=True).distinct()


def epsilon_for_people(cost: Cost, delta: Fraction) -> Decimal:
    """Return the ε of a cost, at this δ where it has none: to compare, never to admit a charge."""
    if cost.epsilon is not None:
        return round_up(cost.epsilon)
    return concentrated.epsilon_of(cost.rho, delta)
