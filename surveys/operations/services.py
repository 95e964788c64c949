"""Note what was done and seen."""

import datetime

from surveys import clock
from surveys.operations import backlog, refusals
from surveys.operations.models import Event, Sign
from surveys.releases import services as publishing

KEPT = 60  # events of a kind
WORKER, SCHEDULER, OWES_SWEEP, OWES_PUBLICATION = (
    "worker",
    "scheduler",
    "owes a sweep",
    "owes a publication",
)
MAX_TEXT_LENGTH = 500


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
    clock.note()
    Sign.objects.update_or_create(name=WORKER, defaults={"at": now})
    if sent is not None:
        Sign.objects.update_or_create(name=SCHEDULER, defaults={"at": sent})
    _since(OWES_SWEEP, now, owed=backlog.owes_a_sweep())
    _since(OWES_PUBLICATION, now, owed=publishing.is_any_due(now=now))
    refusals.forget_old(now.date())


def _since(name: str, now: datetime.datetime, *, owed: bool) -> None:
    """Keep the moment from which on something is owed without a break."""
    if owed:
        Sign.objects.get_or_create(name=name, defaults={"at": now})
    else:
        Sign.objects.filter(name=name).delete()
