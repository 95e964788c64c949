"""Refuse what is too large before any of it is read: a form's files go to the disk first, whoever sends them."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

LARGEST = 10 * 2**20  # bytes of a whole request; a picture, the largest thing that is taken, has 8 MB


class RefuseLarge:
    """Middleware: look at how much a request says it brings. One that does not say is read as empty."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        said = request.META.get("CONTENT_LENGTH") or "0"
        if said.isascii() and said.isdigit() and (len(said) > len(str(LARGEST)) or int(said) > LARGEST):
            return render(request, "413.html", status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return self.get_response(request)
