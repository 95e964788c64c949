"""Long documents, written as they are read."""

import json
import threading
import time
import weakref
from collections.abc import Generator, Iterable, Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

CHUNK = 100  # parts sent at a time
AT_ONCE = 2  # documents sent at once by a process; pages have its other three threads
BUSY_SECONDS = 10
MOST_SECONDS = 600.0  # that sending one may take
NOT_WHOLE = "\n\nThis document is not whole. {}\n"
places = threading.BoundedSemaphore(AT_ONCE)


class Broken(Exception):
    """Rows that cannot be read on; its words, for the reader, say which and why."""


class Held:
    """Parts of a document. They hold a place until they are closed, or collected as garbage."""

    def __init__(self, parts: Iterable[str], of: threading.BoundedSemaphore) -> None:
        self.parts = _in_time(parts)
        self.leave = weakref.finalize(self, of.release)  # once, however often it is called

    def __iter__(self) -> Iterator[str]:
        return self.parts

    def close(self) -> None:
        self.leave()
        self.parts.close()


def _together(parts: Iterable[str]) -> Iterator[str]:
    """Yield parts many at a time: each that is sent takes its time."""
    left = iter(parts)
    while some := list(islice(left, CHUNK)):
        yield "".join(some)


def _in_time(parts: Iterable[str]) -> Generator[str, None, None]:
    """Yield parts until it is late, so that a slow reader keeps no place from others for long."""
    late = time.monotonic() + MOST_SECONDS
    for part in parts:
        if time.monotonic() > late:
            yield NOT_WHOLE.format("It was read too slowly.")
            return
        yield part


def streamed(parts: Iterable[str], content_type: str, **headers: str) -> HttpResponseBase:
    """Answer with a document part by part, or 429 while AT_ONCE others are being sent.

    Each holds a thread until its end: without a limit, a few downloads of the whole ledger would
    keep everybody else from every page.
    """
    if places.acquire(blocking=False):
        held = Held(_together(parts), places)
        return StreamingHttpResponse(held, content_type=content_type, headers=headers)
    said = _("Others are fetching long documents just now. Ask again in ten seconds.")
    busy = {"Retry-After": str(BUSY_SECONDS), "Cache-Control": "no-store"}
    return HttpResponse(
        said, "text/plain; charset=utf-8", HTTPStatus.TOO_MANY_REQUESTS, headers=busy
    )


def json_lines(
    document: Mapping[str, Any], rows: Iterable[Any], *, ensure_ascii: bool = True
) -> Iterator[str]:
    """Yield what json.dumps would write of {**document, "rows": [*rows]} with an indent of 1.

    Where rows end as Broken, the document is left open and its words are the last line: that is
    no JSON, so that nobody takes a part for the whole, and whoever looks learns why.
    """
    begun = json.dumps({**document, "rows": []}, indent=1, ensure_ascii=ensure_ascii)
    yield begun.removesuffix("]\n}")
    mark, end = "", "]\n}"
    try:
        for row in rows:
            text = json.dumps([[row]], indent=1, ensure_ascii=ensure_ascii)
            yield mark + text.removeprefix("[\n [").removesuffix("\n ]\n]")
            mark, end = ",", "\n ]\n}"
    except Broken as error:
        end = NOT_WHOLE.format(error)
    yield end
