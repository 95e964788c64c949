"""What of the ledger is new to a task that reads it on.

The chain has one end, which whoever writes holds until it commits: no row ever comes behind one
that was read. So a position says all that a task has seen, and nothing is looked through twice.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from surveys.design.models import LedgerReader, Study
from surveys.ledger import selectors as ledger

CAPS = "caps"  # reads on to find the caps that are reached


@dataclass(frozen=True, slots=True)
class News:
    """The rows after `start`, up to `end`, that a reader has not seen; maybe none."""

    reader: str
    start: int
    end: int

    @property
    def studies(self) -> QuerySet[Study]:
        """Return the studies whose budget, or whose panel's, these rows are about."""
        if self.start == self.end:
            return Study.objects.none()
        budgets = ledger.budgets_between(self.start, self.end)
        return Study.objects.filter(Q(budget__in=budgets) | Q(panel__central_budget__in=budgets))

    def read(self) -> bool:
        """Move the reader to their end, and hold it until this transaction ends; False if another
        has moved it meanwhile.
        """
        if hold(self.reader) != self.start:
            return False
        LedgerReader.objects.filter(name=self.reader).update(position=self.end)
        return True


def of(reader: str) -> News:
    """Return what a reader has not seen yet; all of the ledger before its first time."""
    position = LedgerReader.objects.filter(name=reader).values_list("position", flat=True).first()
    _digest, end = ledger.head()  # read last: a row that is in the database then is seen
    return News(reader, position or 0, end)


def hold(reader: str) -> int:
    """Return the last row that a reader has read; no other moves it until this transaction ends."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("a reader is held by a transaction; there is none")
    LedgerReader.objects.get_or_create(name=reader)
    return LedgerReader.objects.select_for_update().get(name=reader).position
