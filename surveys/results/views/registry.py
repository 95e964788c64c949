"""The public registry. A stranger gets no cookie here."""

import contextlib
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import structlog
import yaml
from django.core.paginator import Paginator
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from surveys.design import selectors as design
from surveys.design.models import Catalogue
from surveys.invited import selectors as invited
from surveys.ledger import selectors as ledger
from surveys.middleware import gzip_public
from surveys.releases.reconstruction import crowding_of
from surveys.results import deployments, presenters, scripts, serializers
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
SHOWN = 100  # rows of a kind on a page: all are in its file, and in the ledger
MAX_SEARCH = 100  # characters
YEAR = 365 * 24 * 3600  # seconds
INDENTED = {"indent": 1, "ensure_ascii": False}
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
    now = timezone.now()
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
    newest, budget_id = record.statement.newest(SHOWN), record.account.budget.pk
    acts = ledger.newest_acts(budget_id, SHOWN)
    # rows that vouch for a step of a series, or for what was there before rows did
    vouching = ledger.newest_acts(budget_id, SHOWN, vouching=True)
    context = {
        "newest": newest,
        "acts": acts,
        "vouching": vouching,
        "has_more": SHOWN in (len(newest), len(acts), len(vouching)),
        "record": record,
        "says": presenters.StudyPresenter(record),
        "published": record.published,
        "counts": invited.counts(record.plan),
        "crowding": crowding_of(record.plan),
        "head": head,
        "length": length,
        "scripts": scripts.served(),
        "scripts_digest": scripts.digest(),
        "catalogues": design.catalogues(record.content),
        "permalink": request.build_absolute_uri(request.path),
    }
    return render(request, "results/registered.html", context)


def public(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """Let anyone keep a document for a minute; not an error: a study may open meanwhile."""
    return require_safe(gzip_public(cache_control(public=True, max_age=60)(view)))


@public
def words(request: HttpRequest, tag: str, sha256: str) -> HttpResponse:
    """Give a catalogue of the form's words as it was, whatever the form says now."""
    catalogue = get_object_or_404(Catalogue, tag=tag, sha256=sha256)
    return HttpResponse(
        bytes(catalogue.content),
        content_type="text/x-gettext-translation; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{tag}-{sha256[:12]}.po"'},
    )


@public
def study_document(request: HttpRequest, slug: str) -> HttpResponse:
    """Give the study's page to machines."""
    document = serializers.document_of(_record(slug), request.build_absolute_uri)
    return JsonResponse(document, json_dumps_params=INDENTED)


@public
def deployment(request: HttpRequest, slug: str) -> HttpResponse:
    """Give the study as an entry of a public register of deployments."""
    entry = deployments.entry(_record(slug), request.build_absolute_uri)
    text = yaml.safe_dump(entry, allow_unicode=True, sort_keys=False, width=110)
    return HttpResponse(text, content_type="application/yaml; charset=utf-8")


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


@public
def ledger_index(request: HttpRequest) -> HttpResponse:
    """Give the end of the chain, and where its rows are: as small however long it is."""
    head, length = ledger.head()
    address = request.build_absolute_uri("/registry/ledger/")
    document = {
        "format": serializers.INDEX_FORMAT,
        "head": head,
        "length": length,
        "rows": ledger.SEGMENT,
        "segments": ledger.segments(length),
        "whole": length // ledger.SEGMENT,
        "segment": f"{address}{{number}}.json",
        "check": serializers.HOW_TO_CHECK,
    }
    return JsonResponse(document, json_dumps_params=INDENTED)


@require_safe
@gzip_public
def ledger_segment(request: HttpRequest, number: int) -> HttpResponse:
    """Give a thousand rows of the chain: once they are all there, for good. No later row changes
    what stands here, so that a mirror asks for each segment once.
    """
    _head, length = ledger.head()
    try:
        with _reading():
            rows = ledger.segment(number, length)
    except Broken as error:
        return JsonResponse({"detail": str(error)}, status=HTTPStatus.INTERNAL_SERVER_ERROR)
    if not rows:
        raise Http404("the ledger has no such segment")
    document = {"format": serializers.SEGMENT_FORMAT, "number": number, "rows": rows}
    response = JsonResponse(document, json_dumps_params={"indent": 1})
    if number * ledger.SEGMENT <= length:
        patch_cache_control(response, public=True, max_age=YEAR, immutable=True)
    else:
        patch_cache_control(response, public=True, max_age=60)
    return response


@public
def schema(request: HttpRequest, name: str) -> HttpResponse:
    """Serve the shape of our documents."""
    if name not in serializers.SCHEMAS:
        raise Http404("no schema of this name")
    return HttpResponse(
        (SCHEMAS / f"{name}.json").read_bytes(), content_type="application/schema+json"
    )


def _record(slug: str) -> RegisteredStudy:
    return registered(get_object_or_404(design.published_studies(), slug=slug), timezone.now())
