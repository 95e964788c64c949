"""Check the ledger, all of it, once a day."""

import datetime

import structlog

from surveys.ledger import selectors as ledger, services as chain
from surveys.ledger.selectors import Fault
from surveys.operations.models import Event
from surveys.operations.services import note
from surveys.releases import verification as published

DAILY = datetime.timedelta(days=1)
log = structlog.get_logger(__name__)


def verify_if_due(*, now: datetime.datetime) -> Event | None:
    """Check the ledger unless that was done within a day."""
    done = Event.done(Event.Kind.VERIFICATION, now).filter(at__gt=now - DAILY)
    return None if done.exists() else verify(now=now)


def faults(*, head: str = "", length: int | None = None) -> list[Fault]:
    """Return what is wrong with the ledger's chain, and then what of all that was published it
    contradicts.
    """
    with ledger.snapshot():
        return chain.faults(head=head, length=length) + published.faults()


def verify(*, now: datetime.datetime) -> Event:
    """Check the ledger. What is wrong is logged as an error, and shown."""
    wrong = faults()
    if wrong:
        log.error("the ledger is not what it was", faults=len(wrong), first=str(wrong[0]))
    return note(
        kind=Event.Kind.VERIFICATION,
        went_well=not wrong,
        said="; ".join(str(fault) for fault in wrong[:5]),
        size=None if wrong else ledger.head()[1],
        now=now,
    )
