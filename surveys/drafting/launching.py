"""Open a wave: what becomes fixed, line by line, and one button. Close it early; begin the next."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from surveys.design import documents, services
from surveys.design.models import Plan, Study
from surveys.drafting import fixing
from surveys.drafting.access import now, study_for, today, who
from surveys.ledger.services import Refused as LedgerRefused
from surveys.people import queries as people
from surveys.people.models import Right


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what opening would fix, and open it; or what is open already."""
    study = study_for(request, slug, Right.READ)
    if study.is_retired or study.plan is not None:
        return _show_open(request, study)
    if request.method != "POST":
        return _show_draft(request, study)
    study_for(request, slug, Right.LAUNCH)
    try:
        seen = request.POST.get("seen") or "nothing"
        services.open_study(study_id=study.pk, who=who(request), now=now(), seen=seen)
    except (services.Refused, LedgerRefused) as refusal:
        return _show_draft(request, study, refused=str(refusal), status=409)
    return redirect("drafting:launch", slug)


def _digest_of(study: Study) -> str:
    """Return the fingerprint that the draft would have: what was looked at is what is opened."""
    content = services.draft_content(study)
    return documents.digest(documents.canonical(content)) if content else ""


def _show_draft(request: HttpRequest, study: Study, status: int = 200, **more: Any) -> HttpResponse:
    content = services.draft_content(study)
    before = study.plans.order_by("-wave").first()
    problems = services.problems_of(study, today())
    context = {
        "study": study,
        "content": content,
        "seen": _digest_of(study),
        "problems": problems,
        "before": before,
        "changes": fixing.differences(before.content, content) if before and content else [],
        "sections": fixing.sections(content) if content else [],
        "consequence": services.Consequence(loss=services.loss_of_plan(content)) if content else None,
        "given": documents.given(content) if content else {},
        "follow_ups": any("skipped" in question for question in content["questions"]) if content else False,
        "minutes": documents.minutes_between(content) if content else 0,
        "is_owner": people.may(request.user, Right.LAUNCH, study),
        **more,
    }
    return render(request, "drafting/launch.html", context, status=status)


def _show_open(request: HttpRequest, study: Study, status: int = 200, **more: Any) -> HttpResponse:
    plan = study.plan or study.plans.order_by("-wave").first()
    context = {
        "study": study,
        "plan": plan,
        "link": link_of(request, study, plan) if plan else "",
        "is_owner": people.may(request.user, Right.LAUNCH, study),
        **more,
    }
    return render(request, "drafting/launched.html", context, status=status)


def link_of(request: HttpRequest, study: Study, plan: Plan) -> str:
    return f"{request.build_absolute_uri(study.get_absolute_url())}#{plan.digest}"


@login_required
@require_POST
def close(request: HttpRequest, slug: str) -> HttpResponse:
    """Close a wave early. Asked twice: it cannot be opened again."""
    study = study_for(request, slug, Right.LAUNCH)
    plan = study.plan
    if plan is None or not plan.is_open:
        return redirect("drafting:launch", slug)
    if request.POST.get("sure") != str(plan.wave):
        return _show_open(request, study, asks_to_close=True)
    services.close_plan(plan_id=plan.pk, today=today())
    return redirect("drafting:launch", slug)


@login_required
@require_POST
def begin_next(request: HttpRequest, slug: str) -> HttpResponse:
    """Make the study a draft again, for its next wave."""
    study = study_for(request, slug, Right.LAUNCH)
    try:
        services.begin_wave(study_id=study.pk)
    except services.Refused as refusal:
        return _show_open(request, study, refused=str(refusal), status=409)
    return redirect("drafting:build", slug)
