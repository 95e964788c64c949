"""The API's reading side: a study's Plan, and what was published from it."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from surveys.api.serializers import HOW_TO_CHECK, PublicationSerializer, published
from surveys.compression import gzip_public
from surveys.design import queries as design
from surveys.people.queries import readable_study
from surveys.releases import queries as releases


def plan_tag(request: HttpRequest, slug: str) -> str | None:
    found = design.latest_plan(slug)
    return f'"{found.digest}"' if found else None


@require_safe
@gzip_public
@condition(etag_func=plan_tag)
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """Serve the newest Plan's bytes, as they were frozen; their SHA-256 is the ETag."""
    found = design.latest_plan(slug)
    if found is None:
        raise Http404("no open or closed study has this name")
    response = HttpResponse(found.document.encode(), content_type="application/json; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    return response


class ReleasesView(APIView):
    """Everything a study has published, by its rule and on request, newest first."""

    def get(self, request: Request, slug: str) -> Response:
        study = readable_study(slug, request.user)
        found: Any = releases.publications_of(study)
        return Response({"study": study.slug, "releases": PublicationSerializer(found, many=True).data})


class PublishedView(APIView):
    """The documents whose SHA-256 stand in the ledger's rows, newest first: for who may read the study's numbers."""

    def get(self, request: Request, slug: str) -> Response:
        study = readable_study(slug, request.user)
        found = [cover for each in releases.publications_of(study) for cover in releases.covers(each)]
        return Response({"study": study.slug, "check": HOW_TO_CHECK, "published": list(map(published, found))})
