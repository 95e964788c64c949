"""What stands before every room: a number for each request, how much may be sent, what a browser
may do with any answer, and the way back from an address of an act.
"""

import re
import time
import uuid
from collections.abc import Callable
from http import HTTPStatus

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.urls import Resolver404, resolve
from django.utils.decorators import decorator_from_middleware
from django.utils.deprecation import MiddlewareMixin

from surveys import metrics
from surveys.workbook_reader import Busy

ACCOUNTS = "/accounts/"  # where keys are used
PROGRAMS = ("/api/", "/issuer/")  # where scripts ask, and no page is above
# bytes of a whole request; a picture, the largest thing that is taken, has 8 MB
MAX_REQUEST = 10 * 2**20
SECONDS_UNTIL_READ = 15  # until another workbook is worth a try
DOOR = "reports"  # the name of the address that takes reports
REQUEST_ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")


class PublicGZip(GZipMiddleware):
    """Compress pages that everyone gets alike. Django's padding hides the length of secrets, and
    these pages hold none.
    """

    max_random_bytes = 0


gzip_public = decorator_from_middleware(PublicGZip)


class Numbered:
    """Give each request a random number, in its log lines and in its answer; and measure it.

    A proxy of ours may have given it one; anything else than a random number is not taken over.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "") if settings.BEHIND_PROXY else ""
        number = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        begun = time.perf_counter()
        with structlog.contextvars.bound_contextvars(request_id=number):
            response = self.get_response(request)
        count(request, response.status_code, time.perf_counter() - begun)
        response.headers["X-Request-ID"] = number
        return response


def count(request: HttpRequest, status: int, seconds: float) -> None:
    """Count an answered request; files are not, nor what programs ask of us every few seconds."""
    match = request.resolver_match
    if match is not None and match.view_name == DOOR:
        metrics.reports(status)
        metrics.report_took(seconds)
    elif match is not None and not match.view_name.startswith("operations:"):
        metrics.page_took(seconds, status)


class RefuseLarge(MiddlewareMixin):
    """Refuse what is too large before any of it is read: a form's files go to the disk first,
    whoever sends them. A request that does not say how much it brings is read as empty.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if is_too_large(request.META.get("CONTENT_LENGTH", "")):
            return render(request, "413.html", status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return None


def is_too_large(length: str) -> bool:
    """Tell whether a request of this Content-Length is refused unread: zeros in front count too,
    for of thousands of digits Python makes no number.
    """
    if not (length.isascii() and length.isdigit()):
        return False
    return len(length) > len(str(MAX_REQUEST)) or int(length) > MAX_REQUEST


class AskAgain(MiddlewareMixin):
    """Answer 503 to a workbook that comes while others are read: it was not looked at."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, Busy):
            return None
        busy = render(request, "503.html", status=HTTPStatus.SERVICE_UNAVAILABLE)
        busy.headers["Retry-After"] = str(SECONDS_UNTIL_READ)
        return busy


class ClosedDoors(MiddlewareMixin):
    """Say with every answer, a file's and an error's too, that no other site may embed it, and
    what it never uses.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Permissions-Policy", permissions(request.path_info))
        return response


def permissions(path: str) -> str:
    """Return what scripts may ask of a browser at this address: to copy; where accounts are, to
    use a key.
    """
    own = settings.PERMISSIONS | (
        settings.PERMISSIONS_OF_ACCOUNTS if path.startswith(ACCOUNTS) else set()
    )
    return ", ".join(
        f"{feature}=({'self' if feature in own else ''})" for feature in settings.FEATURES
    )


class BackToThePage(MiddlewareMixin):
    """Lead who opens the address of an act, as Enter in the address bar does, to the page where
    the act stands.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        is_opened = request.method in ("GET", "HEAD") and not request.path_info.startswith(PROGRAMS)
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED or not is_opened:
            return response
        back = HttpResponseRedirect(page_above(request.path_info))
        back.status_code = HTTPStatus.SEE_OTHER  # another page, where it is said what can be done
        return back


def page_above(path: str) -> str:
    """Return the nearest address above this one that leads somewhere: addresses are nested as
    pages are.
    """
    above = path.rstrip("/").rpartition("/")[0] + "/"
    try:
        resolve(above)
    except Resolver404:
        return page_above(above)
    return above
