"""Files that programs ask every site for: what to index, and where to report a weakness."""

import datetime

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

PRIVATE = ("/s/", "/my/", "/receipts/", "/studies/", "/accounts/", "/account/", "/admin/", "/api/")
SECURITY_LASTS = datetime.timedelta(days=90)  # RFC 9116: less than a year


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Ask search engines to leave out forms and what is for one person."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in PRIVATE)]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")


@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """Say by RFC 9116 where to report a weakness; 404 where the operator has named no contact."""
    if not settings.CONTACT:
        raise Http404
    expires = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0) + SECURITY_LASTS
    lines = [
        f"Contact: {settings.CONTACT}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en, zh",
        f"Canonical: {request.build_absolute_uri(request.path)}",
        "",
    ]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")
