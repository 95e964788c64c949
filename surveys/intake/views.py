"""Where reports come in, the form's page and its pictures, and pages for afterwards: look up a
receipt, and read what this device remembers. No session, no cookie, so no respondent.

A receipt comes in the body of a POST, never in an address: servers, proxies and the browser's
history write addresses down, beside who asked and when. `GET /api/v1/receipts/<receipt>` stays for
machines.
"""

import datetime
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponsePermanentRedirect,
    HttpResponseRedirect,
    JsonResponse,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surveys.brakes import place_of
from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.intake import pages, posts, selectors
from surveys.intake.door import Head, knock
from surveys.intake.receipts import prefix
from surveys.intake.reports import MAX_BODY, Refused
from surveys.languages import choices, samples, speaking, spoken as spoken_now, words_of
from surveys.middleware import gzip_public

PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")  # no SVG: it may hold scripts
# of templates, before what begins a line of its own
AROUND = re.compile(rb"\s+(?=</?(?:d[dlt]|div|h[1-6]|li|[ou]l|p|section|t[dhr]|tbody|template)\b)")
INDENT = re.compile(rb"\n\s+")  # of templates: a tenth of the form's page, and shown nowhere
# where a language has one form for what is more than one, the browser has nothing to choose
ONE_FORM = re.compile(rb'<span\s+data-n="\w+"><span\s+data-of="\d+">(.*?)</span></span>', re.DOTALL)
MAX_TYPED = 64  # a receipt has 12 letters and digits, and people put things around them


@csrf_exempt
@require_POST
def take_report(request: HttpRequest, slug: str) -> HttpResponse:
    """Take one randomised report."""
    head = Head(
        site=request.headers.get("Sec-Fetch-Site"),
        origin=request.headers.get("Origin"),
        ours=f"{request.scheme}://{request.get_host()}",
        media_type=request.content_type or "",
        place=place_of(request),
    )
    try:
        knock(head)
        # a body in chunks would be read as empty
        body = request.read(MAX_BODY + 1) if request.META.get("CONTENT_LENGTH") else None
        (verdict,) = posts.answer_all([posts.enter(slug, body)])
    except Refused as refusal:
        verdict = posts.refused(refusal)
    response = HttpResponse(
        verdict.body,
        status=verdict.status,
        content_type="application/json",
        headers={"Retry-After": str(verdict.wait)} if verdict.wait else None,
    )
    response.refused_field = verdict.field  # type: ignore[attr-defined] # for who counts
    return response


@require_safe
@gzip_public
def form(request: HttpRequest, slug: str, language: str | None = None) -> HttpResponse:
    """Show the form's page, in the language that its address names. What it asks, the browser
    fetches and checks.
    """
    plan = design.latest_plan(slug)
    if plan is None:
        return _page(
            render(request, "intake/gone.html", {"why": "missing"}, status=HTTPStatus.NOT_FOUND)
        )
    spoken, whole = plan.content.languages, pages.spoken(plan.content)
    if language == spoken[0] in whole:
        return _page(HttpResponsePermanentRedirect(pages.address(slug, language, plan.content)))
    if language is not None and language not in spoken:
        return _not_in(request, plan, language)
    language = language or spoken[0]
    if language not in whole:  # never half of one: the next that is there
        return _page(HttpResponseRedirect(pages.address(slug, whole[0], plan.content)))
    with speaking(language):
        now = datetime.datetime.now(datetime.UTC)
        words = pages.page_context(plan, language, now)
        context = {"study": words, "plurals": samples(language)}
        page = render(request, "intake/form.html", context)
        content = (
            page.content if len(context["plurals"]) > 1 else ONE_FORM.sub(rb"\1", page.content)
        )
        page.content = INDENT.sub(b"\n", AROUND.sub(b"", content))
        return _page(page, language)


def _not_in(request: HttpRequest, plan: Plan, language: str) -> HttpResponse:
    """Say that a study is not asked in a language, to whoever reads it, and offer those it is
    asked in. An earlier wave may have been, and its links are out; of a language without words
    there never were any.
    """
    is_spoken = words_of(language) is not None
    shown = language if is_spoken else pages.spoken(plan.content)[0]
    with speaking(shown):
        gone = {
            "why": "language",
            "title": plan.content.title,
            "in": plan.content.language,
            "languages": pages.links(plan.study.slug, plan.content),
        }
        status = HTTPStatus.OK if is_spoken else HTTPStatus.NOT_FOUND
        return _page(render(request, "intake/gone.html", gone, status=status), shown)


def _page(response: HttpResponse, language: str = "") -> HttpResponse:
    """Finish a page of the form: never old, in the language it was written in, and silent about
    where it was.
    """
    response["Content-Language"] = language or translation.get_language() or ""
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-cache"
    return response


@require_safe
def picture(request: HttpRequest, sha256: str) -> HttpResponse:
    """Show an image that a question shows. Its address is the hash of its bytes, so it never
    changes.
    """
    picture = design.picture(sha256)
    if picture is None or picture.media_type not in PICTURES:
        raise Http404("no picture has this hash")
    return HttpResponse(
        bytes(picture.content),
        content_type=picture.media_type,
        headers={
            "Cache-Control": "public, max-age=31536000, immutable",
            "X-Content-Type-Options": "nosniff",
        },
    )


def in_languages(
    page: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest, str | None], HttpResponse]:
    """Serve a page in the language that its address names; without one, in the reader's."""

    def serve(request: HttpRequest, language: str | None = None) -> HttpResponse:
        if language is not None and words_of(language) is None:
            raise Http404("no page in this language")
        with speaking(language or translation.get_language() or ""):
            response = page(request)
            response["Content-Language"] = language or translation.get_language() or ""
        response["Referrer-Policy"] = "no-referrer"
        response["Cache-Control"] = "no-store"
        return response

    return serve


@csrf_exempt  # it changes nothing, and a token would need a cookie
@require_http_methods(["GET", "HEAD", "POST"])
@in_languages
def receipts(request: HttpRequest) -> HttpResponse:
    """Tell whether an answer was accepted, and on which day. It works without scripts."""
    typed = request.POST.get("receipt", "").strip()[:MAX_TYPED]
    asked = request.method == "POST"
    is_receipt = prefix(typed) is not None
    day = selectors.day_accepted(typed) if is_receipt else None
    problem = "" if is_receipt or not asked else "malformed" if typed else "blank"
    context = _spoken("receipts") | {
        "typed": typed,
        "day": day,
        "problem": problem,
        "unknown": is_receipt and day is None,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK
    return render(request, "intake/receipt.html", context, status=status)


@require_safe
@in_languages
def statement(request: HttpRequest) -> HttpResponse:
    """Show the words of my privacy statement; the list is on the device, and a script there puts
    it in.
    """
    return render(request, "intake/statement.html", _spoken("statement"))


def _spoken(page: str) -> dict[str, Any]:
    """Return the page's address in every language, and numbers of each plural form."""
    here = spoken_now()
    links = [
        {"code": code, "name": name, "address": reverse(page, args=[code]), "here": code == here}
        for code, name in choices()
    ]
    return {"languages": links, "plurals": samples(here)}


@require_safe
def look_up(request: HttpRequest, receipt: str) -> JsonResponse:
    """Tell whether a report was accepted, and on which day."""
    day = selectors.day_accepted(receipt)
    return JsonResponse({"accepted": True, "day": day.isoformat()} if day else {"accepted": False})
