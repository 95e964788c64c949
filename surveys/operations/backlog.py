"""What waits: tasks at the broker, and what is to be sealed and published, in numbers that are
public under change-one, and in days.

A report has no time: only its day is kept, and not with its values. So nothing here tells when an
answer came: the age of what is unsealed is counted from the moment the site first owed a sweep, not
from an arrival. Nothing is taken from the queue.
"""

import datetime
import json
from dataclasses import dataclass
from typing import Any

from surveys.aggregation import selectors as aggregation
from surveys.design import selectors as design
from surveys.design.models import Study
from surveys.intake import report_tables, selectors as intake
from surveys.releases import agenda

QUEUE = "celery"
PATIENCE = 2  # seconds


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits at the broker; `answers` is False where it cannot be asked."""

    answers: bool
    waiting: int = 0
    oldest: datetime.datetime | None = None
    newest: datetime.datetime | None = None


def look() -> Queue:
    from surveys.celery import app

    once = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
    options = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE, **once}
    try:
        with app.connection_for_read(transport_options=options) as connection:
            channel: Any = connection.default_channel
            client = channel.client
            waiting = client.llen(QUEUE)
            oldest, newest = client.lindex(QUEUE, -1), client.lindex(QUEUE, 0)
    except Exception as error:  # the client's own errors: one family for each broker
        is_of_broker = type(error).__module__.partition(".")[0] in ("redis", "valkey", "kombu")
        if not (is_of_broker or isinstance(error, OSError)):
            raise
        return Queue(answers=False)
    return Queue(True, int(waiting), sent_at(oldest), sent_at(newest))


def sent_at(message: bytes | None) -> datetime.datetime | None:
    """Return when a task was sent, as its header says; its arguments are not looked at."""
    if message is None:
        return None
    from surveys.turns import SENT  # pages begin without the broker's client

    try:
        return datetime.datetime.fromtimestamp(json.loads(message)["headers"][SENT], datetime.UTC)
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def unsealed() -> int:
    """Return how many reports wait for a sweep, without those of studies that protect whether
    somebody took part, and of lists, whose counts change once a day. It counts all: for who looks
    at the page.
    """
    counts = intake.open_counts()
    told = design.counted_live().filter(pk__in=counts).exclude(study__is_invited=True)
    return sum(counts[pk] for pk in told.values_list("pk", flat=True))


def owes_a_sweep() -> bool:
    """Tell whether a sweep is due: a smallest batch has come, or the wave has closed.

    Only where a sweep has still to look; and never of a study that protects whether somebody took
    part, nor of a list that is asked, for that would tell.
    """
    due = design.due_for_a_sweep(report_tables.marked())
    return any(intake.has_waiting(plan_id, least) for plan_id, least in due.items())


def oldest_unpublished() -> tuple[datetime.date, Study] | None:
    """Return when the oldest batch was sealed that no publication by its study's rule has counted
    yet, and its study; None if none waits. A batch of a study that protects whether somebody took
    part, or of a list that is asked, would tell that as many came: those are left out.
    """
    found = aggregation.oldest_beyond(agenda.uncounted())
    return found and (found[0], design.plans().get(pk=found[1]).study)
