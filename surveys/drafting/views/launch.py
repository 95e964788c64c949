"""Open a wave: what becomes fixed, line by line, and one button. Close it early; begin the next."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from surveys.addresses import form_address
from surveys.design import services, waves, wording
from surveys.design.launch import MAX_WHY, fingerprint, needs_reason
from surveys.design.models import Plan, Study
from surveys.design.readiness import Consequence, Readiness
from surveys.design.refusals import Refused
from surveys.drafting import plan_text
from surveys.invited import selectors as lists, services as invited
from surveys.ledger.services import Refused as LedgerRefused
from surveys.people import selectors as people
from surveys.people.access import author, of_study, require, today
from surveys.people.models import Right
from surveys.planning import selectors as planning
from surveys.releases import selectors as releases


@of_study(Right.READ)
@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest, study: Study) -> HttpResponse:
    """Show what opening would fix, and open it; or what is open already."""
    if study.is_retired or study.plan is not None:
        return _show_open(request, study)
    if request.method != "POST":
        return _show_draft(request, study)
    require(Right.LAUNCH, request, study)
    try:
        seen = request.POST.get("seen") or "nothing"
        why = request.POST.get("why", "").replace("\0", "")  # no database keeps a NUL
        invited.launch(study=study, seen=seen, why=why, **author(request))
    except (Refused, LedgerRefused) as refusal:
        return _show_draft(request, study, refused=str(refusal), status=409)
    return redirect("drafting:launch", study.slug)


def _show_draft(
    request: HttpRequest, study: Study, refused: str = "", status: int = 200
) -> HttpResponse:
    readiness = Readiness(study, lists.part_of(study))
    content, problems = readiness.content, readiness.problems(author(request)["now"])
    context: dict[str, Any] = {
        "study": study,
        "content": content,
        "problems": problems,
        "small": [size for size in lists.strata_of(study) if size.is_small],
        "is_owner": people.may(request.user, Right.LAUNCH, study),
        "refused": refused,
    }
    if content:
        before = study.plans.order_by("-wave").first()
        context |= {
            "seen": fingerprint(content),
            "before": before,
            "changes": plan_text.differences(before.content, content) if before else [],
            "sections": plan_text.sections(content),
            "consequence": Consequence(loss=content.loss_of_waves),
            "one_wave": Consequence(loss=content.loss).epsilon,
            "prices": planning.prices(study, readiness.questions) if content.waves > 1 else [],
            "readers": wording.readers_of_given(content),
            "asks_why": needs_reason(content),
            "outlook": planning.outlook(content, study.expected, lists.listed(study)),
            "most_why": MAX_WHY,
            "why": request.POST.get("why", ""),
            "follow_ups": any(question.skipped for question in content.questions),
        }
    return render(request, "drafting/launch.html", context, status=status)


def _show_open(request: HttpRequest, study: Study, status: int = 200, **more: Any) -> HttpResponse:
    plan = study.plan or study.plans.order_by("-wave").first()
    address = form_address(request, study.get_absolute_url())
    outlook = _of_what_came(plan) if plan and not study.is_retired else None
    context = {
        "study": study,
        "plan": plan,
        "outlook": outlook,
        "link": f"{address}#{plan.digest}" if plan else "",
        "is_owner": people.may(request.user, Right.LAUNCH, study),
        "no_next": waves.problem_of_next(study),
        "may_invite": people.may(request.user, Right.INVITE, study),
        **more,
    }
    return render(request, "drafting/launched.html", context, status=status)


def _of_what_came(plan: Plan) -> planning.Outlook:
    """Return what a wave tells by as many responses as came; or by as many as are expected, where
    it is protected how many came.
    """
    told = releases.answers_so_far(plan) if plan.content.n_is_public else None
    if told is None:
        return planning.outlook(plan.content, plan.study.expected)
    return planning.Outlook(plan.content, told)


@of_study(Right.LAUNCH)
@require_POST
def close(request: HttpRequest, study: Study) -> HttpResponse:
    """Close a wave early. Asked twice: it cannot be opened again."""
    plan = study.plan
    if plan is not None and plan.is_open:
        if request.POST.get("sure") != str(plan.wave):
            return _show_open(request, study, asks_to_close=True)
        services.close_plan(plan_id=plan.pk, today=today())
    return redirect("drafting:launch", study.slug)


@of_study(Right.LAUNCH)
@require_POST
def begin_next(request: HttpRequest, study: Study) -> HttpResponse:
    """Make the study a draft again, for its next wave."""
    try:
        services.begin_wave(study_id=study.pk)
    except Refused as refusal:
        return _show_open(request, study, refused=str(refusal), status=409)
    return redirect("drafting:build", study.slug)
