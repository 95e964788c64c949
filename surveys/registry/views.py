"""The public registry. A stranger gets no cookie here."""

from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from surveys.design import queries as design
from surveys.registry import serializers
from surveys.registry.records import STATES, matching, record_of, records
from surveys.releases import queries as releases

ON_A_PAGE = 25
LONGEST_SEARCH = 100


@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """List every study that has opened, or those that were searched for."""
    words = request.GET.get("q", "")[:LONGEST_SEARCH].strip()
    state = request.GET.get("state", "") if request.GET.get("state") in STATES else ""
    every = records()
    found = matching(every, words=words, state=state)
    context = {
        "words": words,
        "state": state,
        "states": STATES,
        "every": every,
        "page": Paginator(found, ON_A_PAGE).get_page(request.GET.get("page")),
        "query": urlencode({"q": words, "state": state}) + "&",
    }
    return render(request, "registry/list.html", context)


@require_safe
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what one study may give away, and what it has."""
    found = get_object_or_404(design.published_studies(), slug=slug)
    context = {"record": record_of(found), "published": releases.releases_of(found)}
    return render(request, "registry/study.html", context)


@require_safe
@cache_control(public=True, max_age=60)
def document(request: HttpRequest, slug: str) -> JsonResponse:
    """Serve the same for machines."""
    found = get_object_or_404(design.published_studies(), slug=slug)
    content = serializers.document(record_of(found), releases.releases_of(found), request.build_absolute_uri)
    return JsonResponse(content, json_dumps_params={"ensure_ascii": False, "indent": 1})
