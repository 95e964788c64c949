"""Where a page of a draft leads."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from surveys.design.models import Study


def to_build(request: HttpRequest, study: Study, at: str = "") -> HttpResponse:
    """Go to the draft; the page there is told what of what was typed is saved (typed.js)."""
    request.session[f"saved:{study.slug}"] = request.path
    response = redirect("drafting:build", study.slug)
    response["Location"] += at
    return response
