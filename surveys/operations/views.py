"""The health of the site: a page for staff, and one word for machines."""

import datetime

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from surveys.operations.health import State, lines


@never_cache
@login_required
@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Show how the site is, to staff."""
    if not request.user.is_staff:
        raise PermissionDenied(_("Only admins of this site see how it is."))
    now = datetime.datetime.now(datetime.UTC)
    checks = lines(now)
    wrong = [line for line in checks if line.state is not State.GOOD]
    return render(request, "operations/health.html", {"lines": checks, "wrong": wrong, "now": now})


@never_cache
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Tell a machine whether this site answers, database and all, and nothing more."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse(status=503)
    return HttpResponse("live", content_type="text/plain")
