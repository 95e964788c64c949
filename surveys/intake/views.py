"""The form, and the door that reports come in by. No session, no cookie, so no respondent."""

import datetime
from http import HTTPStatus
from typing import Any

import structlog
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from surveys.compression import gzip_public
from surveys.design import queries as design
from surveys.encryption import CannotOpen
from surveys.intake import pages, queries
from surveys.intake.door import knock, slow_down
from surveys.intake.reports import LARGEST_BODY, Refused, open_envelope, read_report
from surveys.intake.services import accept

PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")  # no SVG: it may hold scripts
log = structlog.get_logger(__name__)


@require_safe
@gzip_public
def form(request: HttpRequest, slug: str, language: str | None = None) -> HttpResponse:
    """Show the form's page, in the language that its address names. What it asks, the browser fetches and checks."""
    plan = design.latest_plan(slug)
    if plan is None:
        return _page(render(request, "intake/gone.html", {"why": "missing"}, status=HTTPStatus.NOT_FOUND))
    spoken = pages.languages(plan.content)
    if language == spoken[0]:
        return _page(HttpResponsePermanentRedirect(pages.address(slug, language, plan.content)))
    with translation.override(language if language in spoken else spoken[0]):
        if language is not None and language not in spoken:
            gone = {"why": "language", "title": plan.content["title"], "languages": pages.links(slug, plan.content)}
            return _page(render(request, "intake/gone.html", gone, status=HTTPStatus.NOT_FOUND))
        words = pages.words(plan, language or spoken[0], _today())
        return _page(render(request, "intake/form.html", {"study": words}))


def _page(response: HttpResponse) -> HttpResponse:
    """Finish a page of the form: never old, in the language it was written in, and silent about where it was."""
    response["Content-Language"] = translation.get_language() or ""
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-cache"
    return response


@require_safe
def picture(request: HttpRequest, sha256: str) -> HttpResponse:
    """Show an image that a question shows. Its address is the hash of its bytes, so it never changes."""
    found = design.picture(sha256)
    if found is None or found.media_type not in PICTURES:
        raise Http404("no picture has this hash")
    response = HttpResponse(bytes(found.content), content_type=found.media_type)
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    return response


@csrf_exempt
@require_POST
def take_report(request: HttpRequest, slug: str) -> JsonResponse:
    """Take one randomised report."""
    try:
        knock(request)
        get_object_or_404(design.published_studies(), slug=slug)
        envelope = open_envelope(_body(request))
        plan = design.plan_of(slug=slug, digest=envelope.plan)
        if plan is None:
            raise Refused("plan", "no Plan of this study has this digest", HTTPStatus.CONFLICT)
        slow_down(plan)
        acceptance = accept(plan=plan, report=read_report(envelope, plan), today=_today())
    except Refused as refusal:  # names a field and a reason, never a value
        return _answer(refusal.as_dict(), refusal.status, refusal.wait)
    except DatabaseError as error:  # whose text may hold the row: only its kind is logged
        log.error("report not stored", kind=type(error).__name__)
        return _try_again()
    except CannotOpen as error:  # names a variable, never a key
        log.error("report not stored", kind=type(error).__name__, why=str(error))
        return _try_again()
    status = HTTPStatus.CREATED if acceptance.is_new else HTTPStatus.OK
    receipt = {"receipt": acceptance.receipt, "accepted_on": acceptance.accepted_on.isoformat()}
    return JsonResponse(receipt, status=status)


@require_safe
def look_up(request: HttpRequest, receipt: str) -> JsonResponse:
    """Tell whether a report was accepted, and on which day."""
    day = queries.day_accepted(receipt)
    return JsonResponse({"accepted": True, "day": day.isoformat()} if day else {"accepted": False})


def _body(request: HttpRequest) -> bytes:
    """Read the body, but no more than one byte beyond what a report may have."""
    if not request.META.get("CONTENT_LENGTH"):  # a body in chunks would be read as empty
        raise Refused("body", "expected with a Content-Length", HTTPStatus.LENGTH_REQUIRED)
    return request.read(LARGEST_BODY + 1)


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def _try_again() -> JsonResponse:
    message = "body: the report could not be stored; send the same one again"
    return _answer({"error": {"field": "body", "message": message}}, HTTPStatus.SERVICE_UNAVAILABLE, wait=5)


def _answer(content: dict[str, Any], status: HTTPStatus, wait: int) -> JsonResponse:
    """Return a refusal, with the seconds after which the same report may come again, if it may."""
    return JsonResponse(content, status=status, headers={"Retry-After": str(wait)} if wait else None)
