"""The health of the site: a page for staff, one word for machines, and counts for who has the
token.
"""

import datetime

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from surveys.operations import exposition, health as site, ready as readiness
from surveys.operations.check import State
from surveys.people.models import Right
from surveys.people.selectors import may

PLAIN = "text/plain"


@never_cache
@login_required
@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Show how the site is, to staff."""
    if not may(request.user, Right.SEE_HEALTH):
        raise PermissionDenied(_("Only admins of this site see how it is."))
    now = datetime.datetime.now(datetime.UTC)
    checks = site.look(now)
    wrong = [line for line in checks if line.state is not State.GOOD]
    good = [line for line in checks if line.state is State.GOOD]
    context = {"wrong": wrong, "good": good, "now": now}
    return render(request, "operations/health.html", context)


@never_cache
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Tell a machine whether this site answers, database and all, and nothing more."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse(status=503)
    return HttpResponse("live", content_type=PLAIN)


@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Tell a machine whether all is there that the site works with; what is not, only who holds
    the token reads here: the log has it too.
    """
    missing = readiness.missing(datetime.datetime.now(datetime.UTC))
    if not missing:
        return HttpResponse("ready", content_type=PLAIN)
    said = f"not ready: {', '.join(missing)}" if holds_token(request) else "not ready"
    response = HttpResponse(said, content_type=PLAIN, status=503)
    response._has_been_logged = True  # type: ignore[attr-defined] # or Django logs every probe
    return response


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Say what is counted, to who holds the token; to anyone else there is nothing here."""
    if not holds_token(request):
        raise Http404("no metrics without the token")
    now = datetime.datetime.now(datetime.UTC)
    return HttpResponse(exposition.text(now), content_type=exposition.KIND)


def holds_token(request: HttpRequest) -> bool:
    """Tell whether a program shows CANDOR_METRICS_TOKEN, if there is one."""
    kind, _space, shown = request.headers.get("Authorization", "").partition(" ")
    token: str = settings.METRICS_TOKEN
    return bool(token) and kind.lower() == "bearer" and constant_time_compare(shown.strip(), token)
