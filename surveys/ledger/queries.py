"""Read budgets: what was spent, on what, and what is left."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

from dpengine.accounting.filters import PureFilter
from dpengine.privacy import round_down, round_up
from surveys.ledger.models import Budget, Entry


@dataclass(frozen=True, slots=True)
class Account:
    """A budget as it stands, with its entries, oldest first."""

    budget: Budget
    entries: list[Entry]

    @property
    def cap(self) -> Decimal:
        return self.budget.cap

    @property
    def spent(self) -> Decimal:
        return sum((entry.epsilon for entry in self.entries), start=Decimal(0))

    @property
    def left(self) -> Decimal:
        return PureFilter(self.cap).left(entry.epsilon for entry in self.entries)

    def can_pay(self, epsilon: Decimal) -> bool:
        return PureFilter(self.cap).admits(epsilon, [entry.epsilon for entry in self.entries])


@dataclass(frozen=True, slots=True)
class Line:
    """An entry with the total after it; both rounded up for people."""

    entry: Entry
    exact_total: Decimal

    @property
    def epsilon(self) -> Decimal:
        return round_up(Fraction(self.entry.epsilon), 2)

    @property
    def total(self) -> Decimal:
        return round_up(Fraction(self.exact_total), 2)


@dataclass(frozen=True, slots=True)
class Statement:
    """An account for people to read: charges rounded up, the cap and what is left rounded down."""

    account: Account

    @property
    def spent(self) -> Decimal:
        return round_up(Fraction(self.account.spent), 2)

    @property
    def cap(self) -> Decimal:
        return round_down(Fraction(self.account.cap), 2)

    @property
    def left(self) -> Decimal:
        return round_down(Fraction(self.account.left), 2)

    @property
    def width(self) -> str:
        """Return what is spent, of the cap, in percent."""
        return f"{100 * self.account.spent / self.account.cap:.2f}%"

    @property
    def rows(self) -> list[Line]:
        """Return the entries, newest first."""
        totals = accumulate(entry.epsilon for entry in self.account.entries)
        return [Line(entry, total) for entry, total in zip(self.account.entries, totals, strict=True)][::-1]


def account(budget_id: int) -> Account:
    budget = Budget.objects.get(pk=budget_id)
    return Account(budget=budget, entries=list(Entry.objects.filter(budget=budget)))


def accounts() -> dict[int, Account]:
    """Return all accounts by budget id, in two queries."""
    found = {budget.pk: Account(budget=budget, entries=[]) for budget in Budget.objects.all()}
    for entry in Entry.objects.all():
        found[entry.budget_id].entries.append(entry)
    return found
