"""What every page may say about the site itself."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from surveys.people import selectors


def site(request: HttpRequest) -> dict[str, Any]:
    """Tell templates whether this is the demo, whether letters can be sent, and whose names the
    reader may see.
    """
    match = request.resolver_match
    slug = str(match.kwargs.get("slug", "")) if match else ""
    names = SimpleLazyObject(lambda: selectors.names_for(request.user, slug))
    return {"demo": settings.CANDOR_DEMO, "email_works": settings.EMAIL_CONFIGURED, "names": names}
