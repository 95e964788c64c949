"""Check the ledger: what is new once a day, all of it once a week.

The daily check goes on where the last one ended (ledger/checkpoints.py). It does not see what was
changed in rows, or in numbers, that an earlier one had read: the weekly one does. That reads a
portion at a time, so that it ends however long the ledger is, and goes on ten minutes later. When
anything is wrong, the next check begins with the first row.
"""

import datetime
import time

import structlog

from surveys.ledger import checkpoints, selectors as ledger, services as chain
from surveys.ledger.selectors import Fault
from surveys.operations.models import Event
from surveys.operations.services import note
from surveys.releases import verification as published
from surveys.releases.verification import Asked

DAILY, WEEKLY = datetime.timedelta(days=1), datetime.timedelta(days=7)
NEWS, ALL = "news", "all"  # where checks of what is new, and of all of it, go on
PART = "part "  # of what was published, that a check of all has still to read
PORTION = 50_000  # rows
SECONDS = 20.0  # after which a check of all rests
log = structlog.get_logger(__name__)


def verify_if_due(*, now: datetime.datetime) -> Event | None:
    """Check the ledger unless that was done within a day; go on with a check that rests. What is
    wrong is logged as an error, and shown.
    """
    last = Event.objects.filter(kind=Event.Kind.VERIFICATION).first()
    if (
        last is not None
        and now - last.at < DAILY
        and not checkpoints.names(beginning=PART, and_=ALL)
    ):
        return None
    return verify(now=now)


def under_way_since() -> datetime.datetime | None:
    """Return when a check of all rows began that rests and goes on; None if none does."""
    return checkpoints.begun_at(beginning=PART, and_=ALL)


def faults(*, head: str = "", length: int | None = None) -> list[Fault]:
    """Return what is wrong with the ledger's chain, and then what of all that was published it
    contradicts: from the first row on.
    """
    with ledger.snapshot():
        wrong = chain.faults(head=head, length=length)
        for beginning in published.parts(ledger.head_or_nothing()[1]):
            wrong += published.faults(Asked(beginning))
    return wrong


def verify(*, now: datetime.datetime, seconds: float = SECONDS) -> Event | None:
    """Check what is new, or all where that was never done, or a week ago: None if it rests."""
    place = checkpoints.kept(NEWS)
    begun = checkpoints.names(beginning=PART, and_=ALL)
    if place is not None and now - place.whole_at < WEEKLY and not begun:
        wrong = news(now=now) or []
    elif (found := _all(now, time.monotonic() + seconds)) is None:
        return None
    else:
        wrong = found
    if wrong:
        checkpoints.forget()
        log.error("the ledger is not what it was", faults=len(wrong), first=str(wrong[0]))
    return note(
        kind=Event.Kind.VERIFICATION,
        went_well=not wrong,
        said="; ".join(str(fault) for fault in wrong[:5]),
        size=None if wrong else ledger.head()[1],
        now=now,
    )


def news(*, now: datetime.datetime) -> list[Fault] | None:
    """Return what is wrong with rows since the last check, with totals and with terms; None if
    there was no check to go on from.
    """
    place = checkpoints.kept(NEWS)
    if place is None:
        return None
    since = place.books.length
    with ledger.snapshot():
        checked = chain.check(place.books)
        wrong = [*checked.faults, *published.faults(Asked(since=since))]
    if not wrong:
        checkpoints.keep(NEWS, checked.books, at=now, whole_at=place.whole_at)
    return wrong


def _all(now: datetime.datetime, until: float) -> list[Fault] | None:
    """Go on with a check of all rows, then of all that was published; None if it rests."""
    parts = checkpoints.names(beginning=PART)
    while not parts:
        place = checkpoints.kept(ALL)
        whole_at = place.whole_at if place else now
        checked = chain.check(place.books if place else None, most=PORTION)
        if checked.faults:
            return checked.faults
        if checked.is_over:
            parts = [f"{PART}{each}" for each in published.parts(checked.books.length)]
            for name in parts:
                checkpoints.keep(name, checked.books.end, at=now, whole_at=whole_at)
            checkpoints.keep(NEWS, checked.books, at=now, whole_at=whole_at)
            checkpoints.forget(ALL)
            break
        checkpoints.keep(ALL, checked.books, at=now, whole_at=whole_at)
        if time.monotonic() > until:
            return None
    for name in parts:
        if wrong := published.faults(Asked(name.removeprefix(PART))):
            return wrong
        checkpoints.forget(name)
        if time.monotonic() > until and name != parts[-1]:
            return None
    return []
