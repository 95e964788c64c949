"""Open a budget, charge it. A charge stands or falls with the transaction it is made in."""

import datetime
from decimal import Decimal

from django.db import transaction

from dpengine.accounting.filters import PureFilter
from dpengine.privacy import plain
from surveys.ledger.models import Budget, Entry


class Overspent(Exception):
    """The charge does not fit under the cap. Nothing was written."""

    def __init__(self, charge: Decimal, left: Decimal) -> None:
        super().__init__(f"Publishing costs {plain(charge)}; {plain(left)} is left. Nothing was published.")
        self.charge = charge
        self.left = left


def open_budget(*, name: str, unit: str, neighbours: str, cap: Decimal) -> Budget:
    """Open a new budget. Its terms stay; a name that is taken is an IntegrityError."""
    PureFilter(cap)  # refuses a cap that is not above 0
    return Budget.objects.create(name=name, unit=unit, neighbours=neighbours, cap=cap)


def lock(budget_id: int) -> Budget:
    """Hold a budget until the transaction ends: who decides by what is left must not be overtaken."""
    return Budget.objects.select_for_update().get(pk=budget_id)


@transaction.atomic
def charge(
    *, budget_id: int, epsilon: Decimal, statistic: str, reason: str, mechanism: str, who: str, day: datetime.date
) -> Entry:
    """Add one entry to a budget, or raise Overspent and change nothing.

    Must be called inside the transaction that draws and stores what is paid for. The budget's
    row is locked until it ends, so that of any number of charges at once each sees those before.
    """
    budget = lock(budget_id)
    entries = list(Entry.objects.filter(budget=budget))
    spent = [entry.epsilon for entry in entries]
    cap = PureFilter(budget.cap)
    if not cap.admits(epsilon, spent):
        raise Overspent(epsilon, cap.left(spent))
    return Entry.objects.create(
        budget=budget,
        number=len(entries) + 1,
        epsilon=epsilon,
        statistic=statistic,
        reason=reason,
        mechanism=mechanism,
        who=who,
        day=day,
    )
