"""Count the reports that are turned away, by reason and day. Neither a value nor a study nor an
hour is kept.

What is counted waits in memory and is written at most every few seconds, so that a flood of bad
reports is not a flood of writes. What waits when a process is killed is lost: these counts are for
noticing, not for reckoning.
"""

import datetime
import threading
import time
from collections import Counter

import structlog
from django.db import DatabaseError, transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from surveys.middleware import DOOR
from surveys.operations.models import Refusal

EVERY = 10.0  # seconds, at least, between two writes
SLOWED = (
    "address",
    "study",
)  # asked to come again later: too many at once from a network, or to a study
OTHER_PAGES = ("Sec-Fetch-Site", "Origin", "Content-Type")
FIELDS = (
    "body",
    "plan",
    "report_id",
    "answers",
    "ticket",
    *SLOWED,
)  # of a refusal: what comes after a dot is left out
UNAVAILABLE, OTHER = "not stored", "other"
KEPT = datetime.timedelta(days=31)
log = structlog.get_logger(__name__)


class Waiting:
    """What is counted and not written yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.counts: Counter[tuple[datetime.date, str]] = Counter()
        self.written = float("-inf")

    def note(self, reason: str, day: datetime.date) -> None:
        with self.lock:
            self.counts[day, reason] += 1
        if time.monotonic() - self.written > EVERY:
            self.write()

    def write(self) -> None:
        """Add what waits to the table; keep it if that fails."""
        with self.lock:
            taken, self.counts = self.counts, Counter()
            self.written = time.monotonic()
        try:
            _add(taken)
        except DatabaseError as error:
            log.warning("refusals not counted", kind=type(error).__name__)
            with self.lock:
                self.counts += taken


waiting = Waiting()


@transaction.atomic
def _add(counts: Counter[tuple[datetime.date, str]]) -> None:
    for (day, reason), count in sorted(counts.items()):
        Refusal.objects.get_or_create(day=day, reason=reason)
        Refusal.objects.filter(day=day, reason=reason).update(count=F("count") + count)


class CountRefusals(MiddlewareMixin):
    """Look at how reports are answered, and at nothing else."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        match = request.resolver_match
        if response.status_code >= 400 and match is not None and match.view_name == DOOR:
            today = datetime.datetime.now(datetime.UTC).date()
            count(response.status_code, getattr(response, "refused_field", ""), today)
        return response


def reason_of(status: int, field: str) -> str:
    """Return one of a few words."""
    if status >= 500:
        return UNAVAILABLE
    field = field.partition(".")[0]
    if field == "plan" and status == 410:
        return "closed"
    if field in OTHER_PAGES:
        return "other page"
    return field if field in FIELDS else OTHER


def count(status: int, field: str, day: datetime.date) -> None:
    """Count a refusal; those of the door's own process pass no middleware."""
    waiting.note(reason_of(status, field), day)


def forget_old(today: datetime.date) -> None:
    Refusal.objects.filter(day__lt=today - KEPT).delete()
