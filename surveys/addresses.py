"""Where respondents find a form."""

from django.conf import settings
from django.http import HttpRequest


def form_address(request: HttpRequest, path: str = "") -> str:
    """Return an address on the host of forms; where none is named, on the host that was asked."""
    return (settings.FORMS_URL or request.build_absolute_uri("/").rstrip("/")) + path
