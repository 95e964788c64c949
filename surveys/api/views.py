"""The API's reading side: a study's Plan, and what was published from it."""

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import condition, require_safe
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from surveys.api.serializers import HOW_TO_CHECK, cover_document, publication_document
from surveys.design import selectors as design
from surveys.middleware import gzip_public
from surveys.people.selectors import readable_study
from surveys.releases import selectors as releases

PLAN_TYPE = "application/json; charset=utf-8"
YEAR = 365 * 24 * 3600  # seconds


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


class ReleasesView(APIView):
    """Everything a study has published, by its rule and on request, newest first."""

    def get(self, request: Request, slug: str) -> Response:
        study = readable_study(slug, request.user)
        publications = releases.publications_of(study)
        documents = [publication_document(publication) for publication in publications]
        return Response({"study": study.slug, "releases": documents})


class PublishedView(APIView):
    """The documents whose SHA-256 stand in the ledger's rows, newest first: for who may read the
    study's numbers.
    """

    def get(self, request: Request, slug: str) -> Response:
        study = readable_study(slug, request.user)
        documents = [
            cover_document(cover)
            for publication in releases.publications_of(study)
            for cover in releases.covers(publication)
        ]
        return Response({"study": study.slug, "check": HOW_TO_CHECK, "published": documents})
