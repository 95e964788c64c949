"""Published numbers in other forms: methods texts, files, over time, and compared."""

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from surveys.design.models import Plan
from surveys.people import selectors as people
from surveys.people.models import Right
from surveys.releases import selectors as releases
from surveys.releases.models import Release, Step
from surveys.results.access import study_page, with_plan
from surveys.results.comparisons import (
    changes_between,
    groups_of,
)
from surveys.results.exports import FORMATS, offered
from surveys.results.exports.rows import export_rows
from surveys.results.metadata import Metadata
from surveys.results.methods import methods_of, on_request
from surveys.results.publications import chosen, key_of, narrowed_to
from surveys.results.time_series import time_series_of


def metadata_of(
    request: HttpRequest,
    plan: Plan,
    release: Release | Step | None,
    asked: releases.Publication | None = None,
) -> Metadata:
    """Return what is true of these numbers, by the Plan that they were drawn with."""
    address = request.build_absolute_uri(reverse("registry:study", args=[plan.study.slug]))
    described = release or asked
    return Metadata(described.request.plan if described else plan, release, address, asked)


@with_plan
@require_safe
def methods(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """Show the methods texts in three lengths; one of them as plain text if its length is named."""
    name = request.GET.get("release")
    publications = [each for each in releases.asked_of(plan.study) if str(each.number) == name]
    publication = publications[0] if publications else None
    release = None if publication else chosen(releases.by_rule_of(plan.study), name)
    metadata = metadata_of(request, plan, release, publication)
    texts = methods_of(metadata)
    length = request.GET.get("plain")
    if length is not None:
        if length not in texts:
            raise Http404(f"expected one of {', '.join(texts)}")
        return HttpResponse(texts[length] + "\n", content_type="text/plain; charset=utf-8")
    key = key_of(release) if release else str(publication.number) if publication else ""
    asked = "" if release else on_request(metadata)
    described = release or publication
    said = {"release": described, "key": key, "texts": texts, "asked": asked}
    return study_page(request, "methods", plan, shared=shared, **said)


@with_plan
@require_safe
def export(request: HttpRequest, plan: Plan, *, shared: bool, suffix: str) -> HttpResponse:
    """Give published numbers as a file: of one release if it is named, else of the study."""
    format = FORMATS.get(suffix)
    if format is None or not format.is_here:
        raise Http404(f"expected one of {', '.join(each.suffix for each in offered())}")
    key = request.GET.get("release")
    publications = releases.publications_of(plan.study)
    release = chosen(releases.by_rule_of(plan.study), None)
    if key is not None:
        publications = [narrowed_to(publications, key)]
        release = publications[0].drawn[-1] if publications[0].drawn else None
    file = format.write(metadata_of(request, plan, release), export_rows(publications))
    response = HttpResponse(file, content_type=format.media_type)
    name = f"{plan.study.slug}-{key}" if key else plan.study.slug
    response["Content-Disposition"] = f'attachment; filename="{name}.{suffix}"'
    return response


@with_plan
@require_safe
def over_time(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """Show how every published number of a study went."""
    published = releases.by_rule_of(plan.study, numbers=True)
    return study_page(
        request,
        "over_time",
        plan,
        shared=shared,
        published=published,
        waves=len({release.request.plan.wave for release in published}),
        questions=time_series_of(plan, published) if len(published) > 1 else [],
    )


@with_plan
@require_safe
def compare(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """Compare groups of a cross-table, and waves; both as the address says."""
    tables = [
        publication
        for publication in releases.asked_of(plan.study)
        if publication.request.kind == "crosstab" and publication.release
    ]
    by_rule = releases.by_rule_of(plan.study)
    newest = {release.request.plan.wave: release for release in reversed(by_rule)}
    waves = dict(sorted(newest.items()))
    number, one, other = (_whole(request, name) for name in ("table", "one", "other"))
    named = [table for table in tables if table.number == number]
    table = next(iter(named or tables), None)
    earlier, later = [None, None, *waves.values()][-2:]
    later = waves.get(_whole(request, "wave") or 0, later)
    earlier = waves.get(_whole(request, "against") or 0, earlier)
    groups = (
        groups_of(table, one or 0, 1 if other is None else other, request.GET.dict())
        if table
        else None
    )
    can_be_asked = releases.kinds()["crosstab"].can_be_asked(plan)
    return study_page(
        request,
        "compare",
        plan,
        shared=shared,
        tables=tables,
        groups=groups,
        waves=[(wave, wave) for wave in waves],
        later=later,
        earlier=earlier,
        changes=changes_between(later, earlier) if later and earlier and later != earlier else [],
        may_ask=shared and can_be_asked and people.may(request.user, Right.ASK, plan.study),
    )


def _whole(request: HttpRequest, name: str) -> int | None:
    """Return a whole number of an address, if there is one."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
