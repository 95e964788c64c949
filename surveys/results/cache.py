"""Public pages that all who are not signed in get alike: written once a minute in each process."""

import functools
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.core.cache.backends.locmem import LocMemCache
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language

pages = LocMemCache("registry", {"TIMEOUT": 60, "MAX_ENTRIES": 200})  # seconds


def written_once(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer strangers with the page of this address and language as it was up to a minute ago."""

    @functools.wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        cookies = {settings.SESSION_COOKIE_NAME, "messages"} & set(request.COOKIES)
        if cookies or not settings.PAGES_CACHED:
            return view(request, *args, **kwargs)
        key = sha256(f"{get_language()} {request.build_absolute_uri()}".encode()).hexdigest()
        if (page := pages.get(key)) is None:
            page = view(request, *args, **kwargs).content
            pages.set(key, page)
        return HttpResponse(page)

    return answer
