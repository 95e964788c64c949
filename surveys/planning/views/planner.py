"""The planner by goal: of questions that nobody has written yet at /plan/, for everyone; of a
study's at /studies/<slug>/plan/.
"""

import time

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from surveys.brakes import Places, place_of
from surveys.design import revisions
from surveys.design.drafts import set_protections
from surveys.design.models import Study
from surveys.design.refusals import CannotOpen, Refused
from surveys.people import selectors as people
from surveys.people.access import author, of_study
from surveys.people.models import Right
from surveys.planning.presenters import box
from surveys.planning.presenters.planner import Plan, changes
from surveys.planning.scenarios import PlannedStudy
from surveys.planning.wishes import FreeWishes, Planned, StudyWishes, Wishes
from surveys.planning.wording import count

AT_ONCE = 300  # plans for strangers of one network; as many again in ten minutes
strangers = Places()


@never_cache
@require_safe
def free(request: HttpRequest) -> HttpResponse:
    """Plan questions that nobody has written yet. The page's address holds all of it."""
    if wait := _wait(request):
        response = render(request, "planning/too_many.html", {"wait": wait}, status=429)
        response["Retry-After"] = str(wait)
        return response
    wishes = FreeWishes.of(request.GET)
    labels = map(box.label_of, wishes.each()) if wishes.fits else ()
    more: dict[str, object] = {
        "more": box.with_another(wishes, request.path),
        "rows": box.rows(wishes, request.path),
    }
    found = Planned(wishes.outcome) if wishes.outcome else None
    return _page(request, "planning/free.html", wishes, found, list(labels), more)


def _wait(request: HttpRequest) -> int:
    """Return 0, or the seconds for which a stranger's network should wait."""
    place = "" if request.user.is_authenticated else place_of(request)
    wait = strangers.take(place, AT_ONCE, time.monotonic()) if place else 0.0
    return int(wait) + 1 if wait else 0


def _page(
    request: HttpRequest,
    template: str,
    wishes: Wishes,
    found: Planned | None,
    labels: list[tuple[str, str]],
    more: dict[str, object],
) -> HttpResponse:
    """Return the page, to a field that was changed too: its script keeps what somebody is at."""
    problems = box.problems(wishes, request.path)
    plan = None
    if found and not problems:
        plan = Plan(found, labels, wishes.limits, request.path, wishes.query)
    context = {
        "form": wishes.form,
        "problems": problems,
        "plan": plan,
        "here": request.path,
        "query": wishes.query(),
        **more,
    }
    response = render(request, template, context)
    if request.htmx:  # type: ignore[attr-defined]
        response["HX-Replace-Url"] = f"{request.path}?{wishes.query()}"
    return response


@of_study(Right.READ)
@require_safe
def study(request: HttpRequest, study: Study) -> HttpResponse:
    """Plan a study's questions, together."""
    planned, is_draft = PlannedStudy(study), study.plan is None and not study.is_retired
    context: dict[str, object] = {
        "study": study,
        "planned": planned,
        "is_draft": is_draft,
        "may_save": is_draft and people.may(request.user, Right.EDIT, study),
        "saved": "saved" in request.GET,
    }
    if not planned.protected:
        return render(request, "planning/study.html", context)
    wishes = StudyWishes.of_study(planned, request.GET)
    context |= {"weights": wishes.weights, "kept": list(wishes.data.items())}
    labels = box.labels(wishes)
    found = Planned.of_study(planned, wishes.outcome) if wishes.outcome else None
    return _page(request, "planning/study.html", wishes, found, labels, context)


@of_study(Right.EDIT)
@require_POST
def save(request: HttpRequest, study: Study) -> HttpResponse:
    """Keep the plan in the draft, once confirmed: it is worked out anew from what was typed."""
    revision = revisions.read(study)
    planned = PlannedStudy(study)
    wishes = StudyWishes.of_study(planned, request.POST)
    back = reverse("planning:study", args=[study.slug])
    problems = [each.text for each in box.problems(wishes, back)]
    found = Planned.of_study(planned, wishes.outcome) if wishes.outcome else None
    overtaken = None
    if found and not problems and "confirmed" in request.POST:
        try:
            revisions.edit(
                study_id=study.pk,
                revision=request.POST.get("revision"),
                change=lambda _held, since: _keep(request, planned, found, since),
            )
        except revisions.Overtaken as refusal:
            overtaken = refusal.save
        except (Refused, CannotOpen) as refusal:
            problems = [str(refusal)]
        else:
            return HttpResponseRedirect(f"{back}?saved=1")
    context = {
        "revision": revision,
        "overtaken": overtaken,
        "study": planned.study,
        "rows": changes(planned, found) if found else [],
        "kept": list(wishes.data.items()),
        "problems": problems,
        "back": f"{back}?{wishes.query()}",
    }
    status = 409 if overtaken else 422 if problems else 200
    return render(request, "planning/save.html", context, status=status)


def _keep(
    request: HttpRequest, planned: PlannedStudy, found: Planned, since: revisions.Since
) -> None:
    """Keep a plan in its draft, if that is still as it was when the plan was shown."""
    if since.saves:
        raise revisions.Overtaken(since.saves[0])
    own = {
        question.name: epsilon
        for question, epsilon in zip(planned.protected, found.epsilons, strict=True)
    }
    set_protections(
        study_id=planned.study.pk,
        epsilons={} if found.fields["person"] else own,
        planned={**found.fields, "is_planned": found.is_planned},
        ways={
            question.name: way for question, way in zip(planned.protected, found.ways, strict=True)
        },
        why=_("planned for %(n)s answers") % {"n": count(found.outcome.goal.n)},
        **author(request),
    )
