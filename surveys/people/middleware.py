"""No admin without a second factor: until it is set up, or shown, nothing opens but the way to it.

This stands before every view, Django's admin and the API included, so that no door has to remember
it.
"""

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import Resolver404, resolve, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from surveys.people.factors import has_factor, has_shown, must_show, way_to_show
from surveys.people.models import User

ALWAYS = {"account_login", "account_logout", "set_language"}
TO_SET_UP = {
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "account_reauthenticate",
    "people:second-factor",
}
TO_SHOW = {"mfa_reauthenticate", "mfa_reauthenticate_webauthn"}
API = "/api/"


class SecondFactorMiddleware(MiddlewareMixin):
    """Send an admin whose session has shown no second factor to where it is set up or shown."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return None  # a stranger: their page depends on no cookie
        user = request.user
        if not isinstance(user, User):
            return None
        if (has_shown(request, user) and has_factor(user)) or not must_show(user):
            return None
        has_one = has_factor(user)
        try:
            name = resolve(request.path_info).view_name
        except Resolver404:
            name = ""
        if name in ALWAYS | (TO_SHOW if has_one else TO_SET_UP):
            return None
        if request.path.startswith(API):
            return JsonResponse(
                {"detail": _("An admin’s session must show a second factor first.")}, status=403
            )
        where = reverse(way_to_show(user) if has_one else "people:second-factor")
        if request.method == "GET":
            where += "?" + urlencode({"next": request.get_full_path()})
        return HttpResponseRedirect(where)


class KeptByNobody(MiddlewareMixin):
    """Have no cache keep what was made for who is signed in, unless its view says how long."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        may_be_signed_in = settings.SESSION_COOKIE_NAME in request.COOKIES
        if (
            may_be_signed_in
            and not response.has_header("Cache-Control")
            and request.user.is_authenticated
        ):
            add_never_cache_headers(response)
        return response
