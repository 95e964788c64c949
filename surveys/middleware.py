"""What stands before every room: what a browser may do with any answer, and the way back from an address of an act."""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import Resolver404, resolve

Respond = Callable[[HttpRequest], HttpResponse]
ACCOUNTS, API = "/accounts/", "/api/"  # where keys are used; where programs ask


class ClosedDoors:
    """Say with every answer, a file's and an error's too, that no other site may embed it, and what it never uses."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Permissions-Policy", permissions(request.path_info))
        return response


def permissions(path: str) -> str:
    """Return what scripts may ask of a browser at this address: to copy; where accounts are, to use a key."""
    own = settings.PERMISSIONS | (settings.PERMISSIONS_OF_ACCOUNTS if path.startswith(ACCOUNTS) else set())
    return ", ".join(f"{feature}=({'self' if feature in own else ''})" for feature in settings.FEATURES)


class BackToThePage:
    """Lead who opens the address of an act, as Enter in the address bar does, to the page where the act stands."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_opened = request.method in ("GET", "HEAD") and not request.path_info.startswith(API)
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED or not is_opened:
            return response
        back = HttpResponseRedirect(page_above(request.path_info))
        back.status_code = HTTPStatus.SEE_OTHER  # another page, where it is said what can be done
        return back


def page_above(path: str) -> str:
    """Return the nearest address above this one that leads somewhere: addresses are nested as pages are."""
    above = path.rstrip("/").rpartition("/")[0] + "/"
    try:
        resolve(above)
    except Resolver404:
        return page_above(above)
    return above
