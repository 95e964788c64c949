"""Note what was done and seen; check the ledger once a day."""

import datetime

import structlog

from surveys.ledger import selectors as ledger, services as check
from surveys.ledger.selectors import Fault
from surveys.operations import backlog, refusals
from surveys.operations.models import Event, Sign
from surveys.releases import services as publishing, verification as published

KEPT = 60  # events of a kind
DAILY = datetime.timedelta(hours=24)
WORKER, SCHEDULER, OWES_SWEEP, OWES_PUBLICATION = (
    "worker",
    "scheduler",
    "owes a sweep",
    "owes a publication",
)
MAX_TEXT_LENGTH = 500
log = structlog.get_logger(__name__)


def note(
    *, kind: str, went_well: bool, said: str, size: int | None, now: datetime.datetime
) -> Event:
    """Write down that something was done, and forget what is long past."""
    event = Event.objects.create(
        kind=kind, at=now, went_well=went_well, said=said[:MAX_TEXT_LENGTH], size=size
    )
    old = Event.objects.filter(kind=kind).values_list("pk", flat=True)[KEPT:]
    Event.objects.filter(pk__in=list(old)).delete()
    return event


def live(*, now: datetime.datetime, sent: datetime.datetime | None) -> None:
    """Note that a worker does tasks, when the scheduler sent this one, and since when a sweep is
    owed, if one is.
    """
    Sign.objects.update_or_create(name=WORKER, defaults={"at": now})
    if sent is not None:
        Sign.objects.update_or_create(name=SCHEDULER, defaults={"at": sent})
    _since(OWES_SWEEP, now, owed=backlog.unsealed(now.date())[1] > 0)
    _since(OWES_PUBLICATION, now, owed=publishing.is_any_due(now=now))
    refusals.forget_old(now.date())


def _since(name: str, now: datetime.datetime, *, owed: bool) -> None:
    """Keep the moment from which on something is owed without a break."""
    if owed:
        Sign.objects.get_or_create(name=name, defaults={"at": now})
    else:
        Sign.objects.filter(name=name).delete()


def verify_if_due(*, now: datetime.datetime) -> Event | None:
    """Check the whole ledger unless that was done within a day. What is wrong is logged as an
    error, and shown.
    """
    last = Event.objects.filter(kind=Event.Kind.VERIFICATION).first()
    return None if last is not None and now - last.at < DAILY else verify(now=now)


def faults(*, head: str = "", length: int | None = None) -> list[Fault]:
    """Return what is wrong with the ledger's chain, and then what of all that was published it
    contradicts.
    """
    return [*check.faults(head=head, length=length), *published.faults()]


def verify(*, now: datetime.datetime) -> Event:
    wrong = faults()
    length = ledger.head()[1] if not wrong else None
    if wrong:
        log.error("the ledger is not what it was", faults=len(wrong), first=str(wrong[0]))
    return note(
        kind=Event.Kind.VERIFICATION,
        went_well=not wrong,
        said="; ".join(str(fault) for fault in wrong[:5]),
        size=length,
        now=now,
    )
