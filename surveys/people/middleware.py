"""No admin without a second factor: until it is set up, or shown, nothing opens but the way to it.

This stands before every view, Django's admin and the API included, so that no door has to remember it.
"""

from collections.abc import Callable
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import Resolver404, resolve, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from surveys.people.factors import has_factor, has_shown, must_show, way_to_show
from surveys.people.models import User

ALWAYS = {"account_login", "account_logout", "set_language"}
TO_SET_UP = {"mfa_activate_totp", "mfa_add_webauthn", "account_reauthenticate", "people:second-factor"}
TO_SHOW = {"mfa_reauthenticate", "mfa_reauthenticate_webauthn"}
API = "/api/"


class SecondFactorMiddleware:
    """Send an admin whose session has shown no second factor to where it is set up or shown."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:  # a stranger: their page depends on no cookie
            return self.get_response(request)
        user = request.user
        if not isinstance(user, User) or (has_shown(request, user) and has_factor(user)) or not must_show(user):
            return self.get_response(request)
        return self._send(request, user, has_one=has_factor(user))

    def _send(self, request: HttpRequest, user: User, *, has_one: bool) -> HttpResponse:
        if name_of(request) in ALWAYS | (TO_SHOW if has_one else TO_SET_UP):
            return self.get_response(request)
        if request.path.startswith(API):
            return JsonResponse({"detail": _("An admin’s session must show a second factor first.")}, status=403)
        where = reverse(way_to_show(user) if has_one else "people:second-factor")
        kept = {"next": request.get_full_path()} if request.method == "GET" else {}
        return HttpResponseRedirect(f"{where}?{urlencode(kept)}" if kept else where)


class KeptByNobody:
    """Have no cache keep what was made for somebody who is signed in, unless its view says how long it may."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_stranger = settings.SESSION_COOKIE_NAME not in request.COOKIES
        if not is_stranger and not response.has_header("Cache-Control") and request.user.is_authenticated:
            add_never_cache_headers(response)
        return response


def name_of(request: HttpRequest) -> str:
    """Return the name of the view that an address leads to."""
    try:
        return resolve(request.path_info).view_name
    except Resolver404:
        return ""
