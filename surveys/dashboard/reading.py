"""Methods texts and files of one set of numbers: of the newest, or of those that a reader chose."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from surveys.dashboard.exports import FORMATS, Export
from surveys.dashboard.facts import Facts
from surveys.dashboard.lines import lines_of
from surveys.dashboard.methods import methods_of
from surveys.dashboard.published import chosen, key_of, narrowed_to
from surveys.dashboard.readers import with_plan
from surveys.design.models import Plan
from surveys.releases import queries as releases
from surveys.releases.models import Release, Step


def facts_of(request: HttpRequest, plan: Plan, made: Release | Step | None) -> Facts:
    """Return what is true of these numbers, by the Plan that they were drawn with."""
    address = request.build_absolute_uri(reverse("registry:study", args=[plan.study.slug]))
    return Facts(made.request.plan if made else plan, made, address)


@require_safe
@with_plan
def methods(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """Show the methods texts in three lengths; one of them as plain text if its length is named."""
    made = chosen(releases.by_rule_of(plan.study), request.GET.get("release"))
    texts = methods_of(facts_of(request, plan, made))
    length = request.GET.get("plain")
    if length is not None:
        if length not in ("sentence", "paragraph", "section"):
            raise Http404("expected sentence, paragraph or section")
        return HttpResponse(getattr(texts, length) + "\n", content_type="text/plain; charset=utf-8")
    context: dict[str, Any] = {
        "shared": shared,
        "study": plan.study,
        "plan": plan,
        "made": made,
        "key": key_of(made) if made else "",
        "texts": texts,
    }
    return render(request, "dashboard/methods.html", context)


@require_safe
@with_plan
def export(request: HttpRequest, plan: Plan, *, shared: bool, suffix: str) -> HttpResponse:
    """Give published numbers as a file: those of one release if it is named, all of the study if not."""
    written = FORMATS.get(suffix)
    if written is None:
        raise Http404(f"expected one of {', '.join(FORMATS)}")
    key = request.GET.get("release")
    publications = releases.publications_of(plan.study)
    made = chosen(releases.by_rule_of(plan.study), key, among=publications)
    lines = lines_of(narrowed_to(publications, key) if key else publications)
    response = HttpResponse(
        written.write(Export(facts_of(request, plan, made), lines)), content_type=written.media_type
    )
    name = f"{plan.study.slug}-{key}" if key else plan.study.slug
    response["Content-Disposition"] = f'attachment; filename="{name}.{written.suffix}"'
    return response
