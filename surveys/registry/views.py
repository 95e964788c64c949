"""The public registry. A stranger gets no cookie here."""

import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_cache_control
from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from surveys.design import selectors as design
from surveys.ledger import selectors as ledger
from surveys.middleware import gzip_public
from surveys.registry import deployments, presenters, renderers, scripts, serializers
from surveys.registry.search import Search
from surveys.registry.studies import (
    MODELS,
    STATES,
    UNITS,
    RegisteredStudy,
    registered,
    registered_all,
)
from surveys.releases.reconstruction import crowding_of

ON_A_PAGE = 25
MAX_SEARCH = 100  # characters
SCHEMAS = Path(__file__).parent / "schemas"


@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """List every study that has opened, or those that were searched for, beside those they may
    be compared with.
    """
    choices = {"state": STATES, "unit": UNITS, "model": MODELS}
    chosen = {name: request.GET.get(name, "") for name in choices}
    search = Search(
        request.GET.get("q", "")[:MAX_SEARCH].strip(),
        **{name: value if value in choices[name] else "" for name, value in chosen.items()},
    )
    page = Paginator(search.plans(), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "search": search,
        "states": STATES,
        "units": UNITS,
        "models": MODELS,
        "every": design.published_studies().count(),
        "records": registered_all(page, _now()),
        "page": page,
        "query": search.query,
    }
    return render(request, "registry/list.html", context)


@require_safe
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what one study may give away, and what it has."""
    record = _record(slug)
    head, length = ledger.head()
    context = {
        "record": record,
        "says": presenters.StudyPresenter(record),
        "published": record.published,
        "crowding": crowding_of(record.plan),
        "head": head,
        "length": length,
        "scripts": scripts.served(),
        "scripts_digest": scripts.digest(),
        "permalink": request.build_absolute_uri(request.path),
    }
    return render(request, "registry/study.html", context)


@method_decorator(gzip_public, name="dispatch")
class PublicDocument(APIView):
    """A document that everyone gets alike, whoever is signed in."""

    authentication_classes = ()
    content_negotiation_class = renderers.OneForm
    http_method_names = ("get", "head")
    renderer_classes: tuple[type[BaseRenderer], ...] = (renderers.IndentedJSONRenderer,)

    def finalize_response(self, *args: Any, **kwargs: Any) -> Response:
        """Let anyone keep a document for a minute; not an error: a study may open meanwhile."""
        response: Response = super().finalize_response(*args, **kwargs)
        if response.status_code == HTTPStatus.OK:
            patch_cache_control(response, public=True, max_age=60)
        return response


class StudyDocument(PublicDocument):
    """The study's page for machines."""

    def get(self, request: Request, slug: str) -> Response:
        context = {"link": request.build_absolute_uri}
        return Response(serializers.StudySerializer(_record(slug), context=context).data)


class Deployment(PublicDocument):
    """The study as an entry of a public register of deployments."""

    renderer_classes = (renderers.YAMLRenderer,)

    def get(self, request: Request, slug: str) -> Response:
        return Response(deployments.entry(_record(slug), request.build_absolute_uri))


class WholeLedger(PublicDocument):
    """Every row of every budget, so that a stranger can verify the chain."""

    renderer_classes = (renderers.AsciiJSONRenderer,)

    def get(self, request: Request) -> Response:
        return Response(serializers.LedgerSerializer(ledger.chain()).data)


@require_safe
@cache_control(public=True, max_age=60)
def schema(request: HttpRequest, name: str) -> HttpResponse:
    """Serve the shape of our documents."""
    if name not in serializers.SCHEMAS:
        raise Http404("no schema of this name")
    return HttpResponse(
        (SCHEMAS / f"{name}.json").read_bytes(), content_type="application/schema+json"
    )


def _record(slug: str) -> RegisteredStudy:
    return registered(get_object_or_404(design.published_studies(), slug=slug), _now())


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
