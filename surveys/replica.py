"""Where a copy of the database is named (`READ_DATABASE_URL`), pages for all are read from it.

Only what a stranger gets of the registry, results and the API: who is signed in may have written a
moment ago. Nothing that a decision or a write depends on: what is in a transaction, is locked, or
is of accounts comes from the database itself, whoever asks.

A copy that is more than LAG behind, that cannot be reached or is none is not read: its pages come
from the database, and the log says so once. How far it is behind is told by the positions of both
in the log, not by clocks: it has to have what the database had LAG ago.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

ITSELF, COPY = "default", "replica"
LAG, LOOK = 5.0, 1.0  # seconds: how far behind it may be; between looks
WINDOWS = ("surveys.results.", "surveys.api.")
ROOMS = {"design", "ledger", "releases", "aggregation", "intake"}
log = structlog.get_logger(__name__)
_is_reading = ContextVar("is_reading", default=False)


class Router:
    """Sends reads of these pages to the copy, and all else to the database itself."""

    def db_for_read(self, model: Any, **hints: Any) -> str:
        may = _is_reading.get() and model._meta.app_label in ROOMS
        return COPY if may and not connections[ITSELF].in_atomic_block else ITSELF

    def db_for_write(self, model: Any, **hints: Any) -> str:
        return ITSELF

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == ITSELF


@contextmanager
def reading() -> Iterator[None]:
    token = _is_reading.set(True)
    try:
        yield
    finally:
        _is_reading.reset(token)


class Freshness:
    """Whether the copy may be read: looked up at most once in LOOK, for all threads."""

    def __init__(self) -> None:
        self.lock, self.looked, self.found = threading.Lock(), -LAG, "was not looked at yet"
        self.seen: deque[tuple[float, int]] = deque()  # when, and how far the database was

    def may_be_read(self) -> bool:
        if self.lock.acquire(blocking=False):  # else another looks, and what it knew may hold still
            try:
                if time.monotonic() - self.looked >= LOOK:
                    self._note(self._problem(time.monotonic()))
            finally:
                self.lock.release()
        return not self.found and time.monotonic() - self.looked < LAG

    def lost(self) -> None:
        """Note that it failed just now; nobody waits for a look that goes on."""
        self._note("cannot be read")

    def _note(self, problem: str) -> None:
        self.looked = time.monotonic()
        if problem != self.found:
            say = log.warning if problem else log.info
            say("the copy of the database", state=problem or "is read", instead="the database")
        self.found = problem

    def _problem(self, now: float) -> str:
        if self.seen and now - self.seen[-1][0] > LAG:
            self.seen.clear()  # nobody looked: what was known then says nothing of now
        try:
            (position,) = _asked(ITSELF, "SELECT (pg_current_wal_lsn() - '0/0')::bigint")
            is_copy, replayed = _asked(
                COPY, "SELECT pg_is_in_recovery(), (pg_last_wal_replay_lsn() - '0/0')::bigint"
            )
        except (DatabaseError, InterfaceError):
            return "cannot be reached"
        if not is_copy:
            return "is no streaming replica"
        self.seen.append((now, position))
        while len(self.seen) > 1 and now - self.seen[1][0] >= LAG:
            self.seen.popleft()
        return "" if (replayed or 0) >= self.seen[0][1] else f"is more than {LAG:g} s behind"


def _asked(alias: str, query: str) -> Any:
    with connections[alias].cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()


freshness = Freshness()


class ReadReplica(MiddlewareMixin):
    """Answers a stranger's look from the copy; from the database if the copy fails meanwhile."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: Any, kwargs: Any
    ) -> HttpResponse | None:
        is_look = request.method in ("GET", "HEAD") and view.__module__.startswith(WINDOWS)
        is_stranger = settings.SESSION_COOKIE_NAME not in request.COOKIES
        if not (is_look and is_stranger and freshness.may_be_read()):
            return None
        try:
            with reading():
                return view(request, *args, **kwargs)
        except (DatabaseError, InterfaceError):
            freshness.lost()
            return None
