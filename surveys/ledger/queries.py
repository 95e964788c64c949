"""Read budgets: what was spent, on what, and what is left."""

from dataclasses import dataclass
from decimal import Decimal

from dpengine.accounting.filters import PureFilter
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


def account(budget_id: int) -> Account:
    budget = Budget.objects.get(pk=budget_id)
    return Account(budget=budget, entries=list(Entry.objects.filter(budget=budget)))


def accounts() -> dict[int, Account]:
    """Return all accounts by budget id, in two queries."""
    found = {budget.pk: Account(budget=budget, entries=[]) for budget in Budget.objects.all()}
    for entry in Entry.objects.all():
        found[entry.budget_id].entries.append(entry)
    return found
