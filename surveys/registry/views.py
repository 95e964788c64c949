"""The public registry. A stranger gets no cookie here."""

import datetime
from pathlib import Path

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from surveys.compression import gzip_public
from surveys.design import queries as design
from surveys.ledger import queries as ledger
from surveys.registry import deployments, scripts, serializers, wording
from surveys.registry.records import MODELS, STATES, UNITS, record_of, records
from surveys.registry.search import Search
from surveys.releases import queries as releases

ON_A_PAGE = 25
LONGEST_SEARCH = 100
SCHEMAS = Path(__file__).parent / "schemas"

for_a_minute = cache_control(public=True, max_age=60)


@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """List every study that has opened, or those that were searched for, beside those they may be compared with."""
    search = _search(request)
    every = records(_now())
    found = [record for record in every if search.finds(record)]
    page = Paginator(found, ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "search": search,
        "states": STATES,
        "units": UNITS,
        "models": MODELS,
        "every": every,
        "page": page,
        "groups": wording.groups(page.object_list),
        "query": search.query,
    }
    return render(request, "registry/list.html", context)


def _search(request: HttpRequest) -> Search:
    """Read what is looked for. What is not among the choices is any."""
    words = request.GET.get("q", "")[:LONGEST_SEARCH].strip()
    choices = {"state": STATES, "unit": UNITS, "model": MODELS}
    chosen = {name: request.GET.get(name, "") for name in choices}
    return Search(words, **{name: value if value in choices[name] else "" for name, value in chosen.items()})


@require_safe
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what one study may give away, and what it has."""
    found = get_object_or_404(design.published_studies(), slug=slug)
    head, length = ledger.head()
    record = record_of(found, _now())
    context = {
        "record": record,
        "says": wording.Words(record),
        "published": releases.publications_of(found),
        "head": head,
        "length": length,
        "scripts": scripts.served(),
        "scripts_digest": scripts.digest(),
        "permalink": request.build_absolute_uri(request.path),
    }
    return render(request, "registry/study.html", context)


@require_safe
@for_a_minute
@gzip_public
def document(request: HttpRequest, slug: str) -> JsonResponse:
    """Serve the same for machines."""
    found = get_object_or_404(design.published_studies(), slug=slug)
    published = releases.publications_of(found)
    content = serializers.document(record_of(found, _now()), published, request.build_absolute_uri)
    return JsonResponse(content, json_dumps_params={"ensure_ascii": False, "indent": 1})


@require_safe
@for_a_minute
@gzip_public
def deployment(request: HttpRequest, slug: str) -> HttpResponse:
    """Serve the study as an entry of a public register of deployments."""
    found = get_object_or_404(design.published_studies(), slug=slug)
    published = releases.publications_of(found)
    text = deployments.text(record_of(found, _now()), published, request.build_absolute_uri)
    return HttpResponse(text, content_type="application/yaml; charset=utf-8")


@require_safe
@for_a_minute
@gzip_public
def whole_ledger(request: HttpRequest) -> JsonResponse:
    """Serve every row of every budget, so that a stranger can verify the chain."""
    return JsonResponse(serializers.ledger_document(), json_dumps_params={"indent": 1})


@require_safe
@for_a_minute
def schema(request: HttpRequest, name: str) -> HttpResponse:
    """Serve the shape of our documents."""
    if name not in serializers.SCHEMAS:
        raise Http404("no schema of this name")
    return HttpResponse((SCHEMAS / f"{name}.json").read_bytes(), content_type="application/schema+json")


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
