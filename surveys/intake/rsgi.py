"""A process of its own for reports (`surveys/door.py`): it takes posts, and commits all that come
while a transaction is under way in the next one. Nobody is answered before the commit.

One loop reads what comes, and one thread has the database. A client that is slow costs a few
kilobytes and no thread, and has DEADLINE seconds for its body. No middleware of Django's and no row
of its ORM stands in the way; the headers that middlewares put on every answer are worked out once.
"""

import asyncio
import datetime
import functools
import gc
import re
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from io import BytesIO
from typing import Any

import structlog
from csp.middleware import CSPMiddleware
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import WSGIRequest
from django.db import connection
from django.http import HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.http import parse_header_parameters

from surveys import metrics
from surveys.brakes import network_of
from surveys.intake import posts
from surveys.intake.door import Head, knock
from surveys.intake.group import LARGEST
from surveys.intake.posts import Post, Verdict
from surveys.intake.reports import MAX_BODY, Refused
from surveys.middleware import ClosedDoors, is_too_large

ADDRESS = re.compile(r"/api/v1/studies/([-a-zA-Z0-9_]+)/reports\Z")
DEADLINE = 10.0  # seconds in which a body must be here, whole
EVERY_ANSWER = (ClosedDoors, SecurityMiddleware, CSPMiddleware, XFrameOptionsMiddleware)
Headers = list[tuple[str, str]]
# What is told of an answer, on the thread that has the database: what was refused is counted.
Note = Callable[[int, str, datetime.date], None]
log = structlog.get_logger(__name__)


class Elsewhere(Exception):
    """A request that this site answers with a plain status and no body."""

    def __init__(self, status: HTTPStatus, **headers: str) -> None:
        super().__init__(status)
        self.status, self.headers = status, list(headers.items())


class Committer:
    """Posts that wait for an answer, and the thread that has the database. All but its work is
    done on the loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, note: Note) -> None:
        self.loop, self.note = loop, note
        self.thread = ThreadPoolExecutor(1, "reports")
        self.waiting: deque[tuple[Post, asyncio.Future[Verdict]]] = deque()
        self.refused: list[tuple[int, str]] = []
        self.is_busy = False

    async def answer(self, post: Post) -> Verdict:
        """Return what became of a post, once it is committed."""
        answer: asyncio.Future[Verdict] = self.loop.create_future()
        self.waiting.append((post, answer))
        self.go_on()
        return await answer

    def count(self, verdict: Verdict) -> None:
        """Have a refusal counted that needed no database."""
        self.refused.append((verdict.status, verdict.field))
        self.go_on()

    def go_on(self) -> None:
        """Hand all that waits to the thread, unless it has something in hand."""
        if self.is_busy or not (self.waiting or self.refused):
            return
        self.is_busy = True
        group = [self.waiting.popleft() for _ in range(min(len(self.waiting), LARGEST))]
        refused, self.refused = self.refused, []
        self.thread.submit(self.commit, group, refused)

    def commit(
        self, group: list[tuple[Post, asyncio.Future[Verdict]]], refused: list[tuple[int, str]]
    ) -> None:
        verdicts = answered([post for post, _ in group])
        self.loop.call_soon_threadsafe(self.deliver, [answer for _, answer in group], verdicts)
        today = datetime.datetime.now(datetime.UTC).date()
        for status, field in [*refused, *((each.status, each.field) for each in verdicts)]:
            if status >= HTTPStatus.BAD_REQUEST:
                self.note(status, field, today)

    def deliver(self, answers: list[asyncio.Future[Verdict]], verdicts: list[Verdict]) -> None:
        self.is_busy = False
        for answer, verdict in zip(answers, verdicts, strict=True):
            if not answer.done():  # whoever waited for it may have gone
                answer.set_result(verdict)
        self.go_on()

    def end(self) -> None:
        """End the thread, once all that it has in hand is committed."""
        self.thread.submit(lambda: connection.close())  # its own: each thread has one
        self.thread.shutdown(wait=True)


def answered(group: list[Post]) -> list[Verdict]:
    """Answer a group; never fail, since somebody waits for each."""
    try:
        connection.close_if_unusable_or_obsolete()  # as Django does before each request
        return posts.answer_all(group) if group else []
    except Exception as error:  # what it says may hold what was sent
        return [posts.refused(error)] * len(group)


async def body_of(protocol: Any, length: int) -> bytes:
    """Return a body, as much of one that is too long as shows that, or refuse one that is late."""
    if length > MAX_BODY:
        return b" " * (MAX_BODY + 1)  # whatever it says, it is refused: none of it is read
    try:
        async with asyncio.timeout(DEADLINE):
            body: bytes = await protocol()
    except TimeoutError:
        raise Elsewhere(HTTPStatus.REQUEST_TIMEOUT, Connection="close") from None
    except RuntimeError:  # who sent half of it has gone
        raise Elsewhere(HTTPStatus.BAD_REQUEST) from None
    return body


class Door:
    """The application that granian serves by its interface RSGI."""

    committer: Committer

    def __init__(self, note: Note) -> None:
        self.note = note
        self.site_of = functools.lru_cache(maxsize=64)(_site_of)

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.committer = Committer(loop, self.note)
        gc.collect()
        gc.freeze()  # what is here stays: no collection looks through it again

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.committer.end()

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        if scope.proto != "http":  # a WebSocket: nothing here speaks it
            protocol.close(HTTPStatus.FORBIDDEN)
            return
        found = ADDRESS.match(scope.path)
        if found is None:
            protocol.response_empty(HTTPStatus.NOT_FOUND, [])
            return
        headers: Headers = []
        began = time.perf_counter()
        try:
            ours, headers = self.site(scope)
            verdict = await self.take(found[1], ours, scope, protocol)
        except Elsewhere as other:
            protocol.response_empty(other.status, [*headers, *other.headers])
            self.committer.count(Verdict(other.status, b""))
            metrics.reports(other.status)
            return
        except Exception as error:  # whose text may hold what was sent
            verdict = posts.refused(error)
        took = time.perf_counter() - began
        more = [("Retry-After", str(verdict.wait))] if verdict.wait else []
        protocol.response_bytes(verdict.status, [*headers, *more], verdict.body)
        metrics.reports(verdict.status)
        metrics.report_took(took)

    def site(self, scope: Any) -> tuple[str, Headers]:
        """Return the origin that a request is for, and the headers of every answer to it."""
        headers = scope.headers
        host = headers.get("host", scope.authority or scope.server)
        proto = headers.get("x-forwarded-proto", "") if settings.BEHIND_PROXY else ""
        ours, redirect, every = self.site_of(scope.scheme, host, proto)
        if not ours:
            raise Elsewhere(HTTPStatus.BAD_REQUEST)
        if redirect:
            raise Elsewhere(HTTPStatus.MOVED_PERMANENTLY, Location=redirect + scope.path)
        return ours, every

    async def take(self, slug: str, ours: str, scope: Any, protocol: Any) -> Verdict:
        """Take one randomised report. Twin of `views.take_report`."""
        headers = scope.headers
        length = headers.get("content-length", "")
        if is_too_large(length):
            raise Elsewhere(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if scope.method != "POST":
            raise Elsewhere(HTTPStatus.METHOD_NOT_ALLOWED, Allow="POST")
        try:
            knock(self.head(ours, scope))
        except Refused as refusal:
            verdict = posts.refused(refusal)
            self.committer.count(verdict)
            return verdict
        body = await body_of(protocol, int(length)) if length else None
        return await self.committer.answer(posts.enter(slug, body))

    def head(self, ours: str, scope: Any) -> Head:
        headers = scope.headers
        forwarded = ""
        if settings.BEHIND_PROXY:  # the last hop's word is in the last of several headers
            told = [value for name, value in headers.items() if name == "x-forwarded-for"]
            forwarded = told[-1] if told else ""
        return Head(
            site=headers.get("sec-fetch-site"),
            origin=headers.get("origin"),
            ours=ours,
            media_type=_media_type(headers.get("content-type", "")),
            place=network_of(scope.client, forwarded),
        )


def _media_type(line: str) -> str:
    """Return what Django takes for the type of content."""
    try:
        return parse_header_parameters(line)[0]
    except ValueError:
        return ""


def _site_of(scheme: str, host: str, proto: str) -> tuple[str, str, Headers]:
    """Return the origin of the site that a request is for, "" if it is not ours; where it must go
    instead, without its path; and the headers that every answer has.
    """
    asked = WSGIRequest(
        {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": "/api/",
            "HTTP_HOST": host,
            "HTTP_X_FORWARDED_PROTO": proto,
            "wsgi.url_scheme": scheme,
            "wsgi.input": BytesIO(),
        }
    )
    try:
        ours = f"{asked.scheme}://{asked.get_host()}"
    except DisallowedHost:
        return "", "", []
    is_open = settings.SECURE_SSL_REDIRECT and not asked.is_secure()
    answer: Any = HttpResponse(content_type="application/json")
    for middleware in EVERY_ANSWER:
        answer = middleware(lambda request: HttpResponse()).process_response(asked, answer)
    redirect = f"https://{settings.SECURE_SSL_HOST or asked.get_host()}" if is_open else ""
    return ours, redirect, [(name, str(value)) for name, value in answer.items()]
