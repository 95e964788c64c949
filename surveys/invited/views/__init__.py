"""The page that ends all letters, for whoever was sent one."""

from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from surveys.invited.letters import stopped_by
from surveys.invited.services import silence


@csrf_exempt  # a reader's program posts by itself (RFC 8058); the address is its own proof
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """Ask, and end all letters on a press: never on opening, for scanners of mail open it."""
    try:
        digest = stopped_by(token)
    except BadSignature:
        return render(request, "invited/stop.html", {"is_broken": True}, status=404)
    if request.method == "POST":
        silence(digest)
    return render(request, "invited/stop.html", {"is_done": request.method == "POST"})
