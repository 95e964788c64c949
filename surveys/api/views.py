"""The API's reading side: a study's Plan, and what was published from it."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import condition, require_safe

from surveys.api.serializers import HOW_TO_CHECK, cover_document, publication_document
from surveys.design import selectors as design
from surveys.design.models import Study
from surveys.middleware import gzip_public
from surveys.people.selectors import readable_study
from surveys.releases import selectors as releases
from surveys.releases.numbers import Document

PLAN_TYPE = "application/json; charset=utf-8"
YEAR = 365 * 24 * 3600  # seconds
PLAIN = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}


def plan_tag(request: HttpRequest, slug: str) -> str | None:
    newest = design.latest_plan(slug)
    return f'"{newest.digest}"' if newest else None


@require_safe
@gzip_public
@condition(etag_func=plan_tag)
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """Serve the newest Plan's bytes, as they were frozen; their SHA-256 is the ETag."""
    newest = design.latest_plan(slug)
    if newest is None:
        raise Http404("no open or closed study has this name")
    response = HttpResponse(newest.document.encode(), content_type=PLAN_TYPE)
    response["Cache-Control"] = "no-cache"
    return response


def digest_tag(request: HttpRequest, slug: str, digest: str) -> str | None:
    return f'"{digest}"' if design.has_plan(slug=slug, digest=digest) else None


@require_safe
@gzip_public
@condition(etag_func=digest_tag)
def frozen_plan(request: HttpRequest, slug: str, digest: str) -> HttpResponse:
    """Serve the Plan of this digest, of whatever wave: its bytes never change, so that anyone may
    keep them for good.
    """
    found = next((each for each in design.plans_of([digest]) if each.study.slug == slug), None)
    if found is None:
        raise Http404("no study of this name has opened with such a Plan")
    response = HttpResponse(found.document.encode(), content_type=PLAN_TYPE)
    patch_cache_control(response, public=True, max_age=YEAR, immutable=True)
    return response


def of_readers(document: Callable[[Study], Document]) -> Callable[..., HttpResponse]:
    """Serve a document of a study, in JSON, to who may read its numbers."""

    @require_safe
    def serve(request: HttpRequest, slug: str) -> HttpResponse:
        try:
            content = document(readable_study(slug, request.user))
        except Http404 as missing:
            return JsonResponse({"detail": str(missing)}, status=404)
        return JsonResponse(content, json_dumps_params=PLAIN)

    return serve


@of_readers
def published_numbers(study: Study) -> Document:
    """Return everything a study has published, by its rule and on request, newest first."""
    documents = [publication_document(each) for each in releases.publications_of(study)]
    return {"study": study.slug, "releases": documents}


@of_readers
def published_documents(study: Study) -> Document:
    """Return the documents whose SHA-256 stand in the ledger's rows, newest first."""
    documents = [
        cover_document(cover)
        for publication in releases.publications_of(study)
        for cover in releases.covers(publication)
    ]
    return {"study": study.slug, "check": HOW_TO_CHECK, "published": documents}
