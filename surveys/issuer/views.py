"""Where tickets are fetched, and own marks are looked up: JSON, without cookies. And the verbs of
`services.py` for a site whose issuer this is, which shows ISSUER_TOKEN.

The page may be on another host name (ISSUER_ORIGIN): its browser asks first, and no other site's
page gets an answer that it could read, or anything done.
"""

import base64
import binascii
import functools
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
import structlog
from django.conf import settings
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from surveys.brakes import Places, place_of
from surveys.encryption import CannotOpen
from surveys.erasing import InUse
from surveys.issuer import fetching, services as services  # its verbs are known once it is loaded
from surveys.issuer.far import VERBS, is_far
from surveys.issuer.refusals import Refused
from surveys.issuer.signing import Faulty
from surveys.middleware import MAX_REQUEST

MEDIA_TYPE = "application/json"
MAX_BODY = 8_192  # bytes; a blinded message has at most 683 letters
ASK_AGAIN = 86_400  # seconds for which a browser remembers that it may ask
NOT_NOW = (Error, CannotOpen, InUse, Faulty)
Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
Letters = Annotated[str, msgspec.Meta(pattern=r"^[0-9A-Za-z_-]{22}\Z")]
log = structlog.get_logger(__name__)
places = Places()


class Fetch(msgspec.Struct, forbid_unknown_fields=True):
    plan: Digest
    stratum: Annotated[int, msgspec.Meta(ge=0, le=99)]
    code: Letters
    blinded: Annotated[str, msgspec.Meta(pattern=r"^[0-9A-Za-z_-]{1,1000}\Z")]


class Look(msgspec.Struct, forbid_unknown_fields=True):
    plan: Digest
    code: Letters


def public(act: Callable[[bytes], dict[str, Any]]) -> Callable[[HttpRequest], HttpResponse]:
    """Serve what anybody may ask who is on a page of this site, or on none."""

    @csrf_exempt
    @functools.wraps(act)
    def serve(request: HttpRequest) -> HttpResponse:
        if request.method == "OPTIONS" and not is_far():
            return _shared(request, HttpResponse(status=HTTPStatus.NO_CONTENT))
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST", "OPTIONS"])
        return _shared(request, _answered(lambda: _json(act(_body(request)))))

    return serve


@public
def tickets(body: bytes) -> dict[str, Any]:
    """Issue a ticket."""
    asked = _read(body, Fetch)
    signature = fetching.issue(asked.plan, asked.stratum, asked.code, _bytes(asked.blinded))
    return {"signature": base64.urlsafe_b64encode(signature).decode().rstrip("=")}


@public
def marks(body: bytes) -> dict[str, Any]:
    """Tell whether a ticket was fetched: by any code of the person, or by this one alone."""
    asked = _read(body, Look)
    return fetching.has_fetched(asked.plan, asked.code)


@csrf_exempt
@require_POST
def verbs(request: HttpRequest, name: str) -> HttpResponse:
    """Do what the site whose issuer this is asks for; to anyone else there is nothing here."""
    kind, _space, shown = request.headers.get("Authorization", "").partition(" ")
    token: str = settings.ISSUER_TOKEN
    is_theirs = kind.lower() == "bearer" and constant_time_compare(shown.strip(), token)
    if not token or is_far() or not is_theirs or name not in VERBS:
        raise Http404("no verbs without the token")

    def act() -> HttpResponse:
        try:
            told = VERBS[name].answer(request.read(MAX_REQUEST))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise Refused("body", f"expected what {name} is given") from None
        return HttpResponse(told, content_type=MEDIA_TYPE)

    return _answered(act)


def _answered(act: Callable[[], HttpResponse]) -> HttpResponse:
    """Name a field and what was expected, never a value; nothing of it is logged but that it
    failed, and how.
    """
    try:
        return act()
    except Refused as refusal:
        return _refused(refusal)
    except NOT_NOW as error:
        why = {"why": str(error)} if isinstance(error, CannotOpen) else {}
        log.error("the issuer failed", kind=type(error).__name__, **why)
        expected = "the issuer cannot do this now; ask the same again"
        response = _refused(Refused("body", expected, HTTPStatus.SERVICE_UNAVAILABLE))
        response._has_been_logged = True  # type: ignore[attr-defined] # above
        return response


def _body(request: HttpRequest) -> bytes:
    """Return what a request brings, once it may come in."""
    if is_far():
        raise Refused(
            "address", "expected at another host: this site’s issuer", HTTPStatus.NOT_FOUND
        )
    origin = request.headers.get("Origin")
    own = f"{request.scheme}://{request.get_host()}".lower()
    if origin is not None and origin.lower() not in (own, settings.ISSUER_ORIGIN):
        raise Refused("Origin", "expected a page of this site, got another", HTTPStatus.FORBIDDEN)
    if request.content_type != MEDIA_TYPE:
        expected = f"expected {MEDIA_TYPE}, got another one"
        raise Refused("Content-Type", expected, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    if wait := places.wait(place_of(request), settings.REPORTS_AT_ONCE):
        expected = "expected fewer requests from one network; ask again later"
        raise Refused("address", expected, HTTPStatus.TOO_MANY_REQUESTS, wait)
    body = request.read(MAX_BODY + 1) if request.META.get("CONTENT_LENGTH") else b""
    if len(body) > MAX_BODY:
        raise Refused("body", f"expected at most {MAX_BODY} bytes, got more")
    return body


def _shared(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Let a page of this site on another host name read an answer."""
    response["Cache-Control"] = "no-store"
    response["Vary"] = "Origin"
    if settings.ISSUER_ORIGIN and request.headers.get("Origin") == settings.ISSUER_ORIGIN:
        response["Access-Control-Allow-Origin"] = settings.ISSUER_ORIGIN
        response["Access-Control-Allow-Headers"] = "Content-Type"
        response["Access-Control-Max-Age"] = str(ASK_AGAIN)
    return response


def _read(body: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        _, _, path = str(error).partition(" - at `$.")
        field = path.rstrip("`") or "body"
        names = ", ".join(kind.__struct_fields__)
        raise Refused(field, f"expected an object with {names}, well formed") from None
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise Refused("body", "expected JSON in UTF-8") from None


def _bytes(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise Refused("blinded", "expected base64url") from None


def _json(content: dict[str, Any]) -> HttpResponse:
    return HttpResponse(msgspec.json.encode(content), content_type=MEDIA_TYPE)


def _refused(refusal: Refused) -> HttpResponse:
    response = _json({"error": {"field": refusal.field, "message": str(refusal)}})
    response.status_code = refusal.status
    if refusal.wait:
        response["Retry-After"] = str(refusal.wait)
    return response
