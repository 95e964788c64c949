"""The draft as its form would ask it: the real form's page and code, with a Plan that nobody can send to."""

from csp.decorators import csp_replace
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from surveys.design import documents, services
from surveys.design.models import Plan
from surveys.drafting.access import study_for, today
from surveys.intake.queries import words_of_page
from surveys.people.models import Right

ITSELF = {"frame-ancestors": ["'self'"]}  # the page on which it is built, and no other


@login_required
@never_cache
@xframe_options_sameorigin
@csp_replace(ITSELF)  # type: ignore[arg-type]
@require_safe
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of a draft, of what is fit to be asked."""
    study = study_for(request, slug, Right.READ)
    content = services.draft_content(study)
    if content is None:
        return render(request, "drafting/no_preview.html", {"study": study})
    spoken = [content["language"], *sorted(content.get("translations", {}))]
    wanted = request.GET.get("in", "")
    language = wanted if wanted in spoken else spoken[0]
    draft = Plan(study=study, wave=study.wave, document=documents.canonical(content), opened_on=today())
    with translation.override(language):
        words = words_of_page(draft, language, today())
        for each in words["languages"]:
            each["address"] = f"?in={each['code']}"
        context = {"study": words, "preview": reverse("drafting:preview-plan", args=[slug])}
        response = render(request, "drafting/preview.html", context)
    response["Referrer-Policy"] = "no-referrer"
    return response


@login_required
@never_cache
@require_safe
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """Serve the draft as a Plan, for the preview alone."""
    study = study_for(request, slug, Right.READ)
    content = services.draft_content(study)
    body = documents.canonical(content) if content is not None else "{}"
    return HttpResponse(body, content_type="application/json; charset=utf-8")
