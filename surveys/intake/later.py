"""Pages for afterwards: look up a receipt, and read what this device remembers. No session, no cookie.

A receipt comes in the body of a POST, never in an address: servers, proxies and the browser's history write addresses
down, beside who asked and when. `GET /api/v1/receipts/<receipt>` stays for machines.
"""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from surveys.intake import queries
from surveys.intake.receipts import prefix

LONGEST_TYPED = 64  # a receipt has 12 letters and digits, and people put things around them
Page = Callable[[HttpRequest], HttpResponse]


def in_languages(page: Page) -> Callable[[HttpRequest, str | None], HttpResponse]:
    """Serve a page in the language that its address names; without one, in the reader's."""

    def serve(request: HttpRequest, language: str | None = None) -> HttpResponse:
        if language is not None and language not in dict(settings.LANGUAGES):
            raise Http404("no page in this language")
        with translation.override(language or translation.get_language()):
            response = page(request)
            response["Content-Language"] = translation.get_language() or ""
        response["Referrer-Policy"] = "no-referrer"
        response["Cache-Control"] = "no-store"
        return response

    return serve


@csrf_exempt  # it changes nothing, and a token would need a cookie
@require_http_methods(["GET", "HEAD", "POST"])
def receipts(request: HttpRequest, language: str | None = None) -> HttpResponse:
    """Tell whether an answer was accepted, and on which day. It works without scripts."""
    return _receipts(request, language)


@in_languages
def _receipts(request: HttpRequest) -> HttpResponse:
    typed = request.POST.get("receipt", "").strip()[:LONGEST_TYPED]
    asked = request.method == "POST"
    is_receipt = prefix(typed) is not None
    context = {
        "languages": _links("receipts"),
        "typed": typed,
        "day": queries.day_accepted(typed) if is_receipt else None,
        "problem": "" if is_receipt or not asked else "malformed" if typed else "blank",
        "unknown": False,
    }
    context["unknown"] = is_receipt and context["day"] is None
    status = HTTPStatus.UNPROCESSABLE_ENTITY if context["problem"] else HTTPStatus.OK
    return render(request, "intake/receipt.html", context, status=status)


@require_safe
def statement(request: HttpRequest, language: str | None = None) -> HttpResponse:
    """Show the words of my privacy statement; the list is on the device, and a script there puts it in."""
    return _statement(request, language)


@in_languages
def _statement(request: HttpRequest) -> HttpResponse:
    return render(request, "intake/statement.html", {"languages": _links("statement")})


def _links(page: str) -> list[dict[str, str | bool]]:
    """Return the page's address in every language."""
    here = translation.get_language()
    return [
        {"code": code, "name": name, "address": reverse(page, args=[code]), "here": code == here}
        for code, name in settings.LANGUAGES
    ]
