"""The public registry. A stranger gets no cookie here."""

import contextlib
import datetime
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import structlog
from django.core.paginator import Paginator
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_cache_control
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from surveys.design import selectors as design
from surveys.invited import selectors as invited
from surveys.ledger import selectors as ledger
from surveys.middleware import gzip_public
from surveys.releases.reconstruction import crowding_of
from surveys.results import deployments, presenters, renderers, scripts, serializers
from surveys.results.cache import written_once
from surveys.results.registered import (
    MODELS,
    STATES,
    UNITS,
    RegisteredStudy,
    registered,
    registered_all,
)
from surveys.results.search import Search
from surveys.streams import Broken, json_lines, streamed

log = structlog.get_logger(__name__)
ON_A_PAGE = 25
MAX_SEARCH = 100  # characters
YEAR = 365 * 24 * 3600  # seconds
SCHEMAS = Path(__file__).parent.parent / "schemas"


@require_safe
@written_once
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
    now = _now()
    page = Paginator(search.plans(), ON_A_PAGE).get_page(request.GET.get("page"))
    records = registered_all(page, now)
    ledger.read_days((each.account for each in records), now)
    context = {
        "search": search,
        "filters": [
            ("unit", _("What is protected"), UNITS, search.unit),
            ("model", _("Answers"), MODELS, search.model),
            ("state", _("State"), STATES, search.state),
        ],
        "every": design.published_studies().count(),
        "shown": [presenters.StudyPresenter(each) for each in records],
        "page": page,
        "query": search.query,
    }
    return render(request, "results/register.html", context)


@require_safe
@written_once
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what one study may give away, and what it has."""
    record = _record(slug)
    head, length = ledger.head()
    context = {
        "record": record,
        "says": presenters.StudyPresenter(record),
        "published": record.published,
        "counts": invited.counts(record.plan),
        "crowding": crowding_of(record.plan),
        "head": head,
        "length": length,
        "scripts": scripts.served(),
        "scripts_digest": scripts.digest(),
        "permalink": request.build_absolute_uri(request.path),
    }
    return render(request, "results/registered.html", context)


@method_decorator(gzip_public, name="dispatch")
class PublicDocument(APIView):
    """A document that everyone gets alike, whoever is signed in."""

    authentication_classes = ()
    content_negotiation_class = renderers.OneForm
    http_method_names = ("get", "head")
    renderer_classes: tuple[type[BaseRenderer], ...] = (renderers.IndentedJSONRenderer,)

    def finalize_response(self, *args: Any, **kwargs: Any) -> Response:
        """Let anyone keep a document for a minute, or as long as it says; not an error: a study
        may open meanwhile.
        """
        response: Response = super().finalize_response(*args, **kwargs)
        if response.status_code == HTTPStatus.OK and "Cache-Control" not in response:
            patch_cache_control(response, public=True, max_age=60)
        return response


class StudyDocument(PublicDocument):
    """The study's page for machines."""

    def get(self, request: Request, slug: str) -> Response:
        return Response(serializers.document_of(_record(slug), request.build_absolute_uri))


class Deployment(PublicDocument):
    """The study as an entry of a public register of deployments."""

    renderer_classes = (renderers.YAMLRenderer,)

    def get(self, request: Request, slug: str) -> Response:
        return Response(deployments.entry(_record(slug), request.build_absolute_uri))


@require_safe
@gzip_public
def whole_ledger(request: HttpRequest) -> HttpResponseBase:
    """Give every row of every budget, so that a stranger can verify the chain; written as it is
    read.
    """
    head, length = ledger.head()
    end = {"format": serializers.LEDGER_FORMAT, "head": head, "length": length}
    document = {**end, "check": serializers.HOW_TO_CHECK}
    return streamed(
        json_lines(document, _rows(length)),
        "application/json",
        **{"Cache-Control": "public, max-age=60"},
    )


def _rows(length: int) -> Iterator[Any]:
    with _reading():
        yield from ledger.documents(length)


@contextlib.contextmanager
def _reading() -> Iterator[None]:
    """Log a row of the ledger that cannot be read, and say so as Broken."""
    try:
        yield
    except (ledger.Damaged, DatabaseError) as error:
        # what a database says may hold what a row holds
        why = str(error) if isinstance(error, ledger.Damaged) else type(error).__name__
        log.error("the ledger cannot be read on", why=why)
        raise Broken(f"The ledger cannot be read on: {why}") from None


class LedgerIndex(PublicDocument):
    """The end of the chain, and where its rows are: as small however long it is."""

    def get(self, request: Request) -> Response:
        head, length = ledger.head()
        address = request.build_absolute_uri("/registry/ledger/")
        return Response(
            {
                "format": serializers.INDEX_FORMAT,
                "head": head,
                "length": length,
                "rows": ledger.SEGMENT,
                "segments": ledger.segments(length),
                "whole": length // ledger.SEGMENT,
                "segment": f"{address}{{number}}.json",
                "check": serializers.HOW_TO_CHECK,
            }
        )


class LedgerSegment(PublicDocument):
    """A thousand rows of the chain: once they are all there, for good. No later row changes what
    stands here, so that a mirror asks for each segment once.
    """

    renderer_classes = (renderers.AsciiJSONRenderer,)

    def get(self, request: Request, number: int) -> Response:
        _head, length = ledger.head()
        try:
            with _reading():
                rows = ledger.segment(number, length)
        except Broken as error:
            return Response({"detail": str(error)}, status=HTTPStatus.INTERNAL_SERVER_ERROR)
        if not rows:
            raise Http404("the ledger has no such segment")
        document = {"format": serializers.SEGMENT_FORMAT, "number": number, "rows": rows}
        response = Response(document)
        if number * ledger.SEGMENT <= length:
            patch_cache_control(response, public=True, max_age=YEAR, immutable=True)
        return response


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
