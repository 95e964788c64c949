"""The planner: three dials, of any question at /plan/, of a study's at /studies/<slug>/plan/."""

import datetime
from decimal import Decimal
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dpengine.privacy import plain
from surveys.actor import actor
from surveys.design import selectors as design
from surveys.design.drafts import set_protections
from surveys.design.refusals import CannotOpen, Refused
from surveys.people import selectors as people
from surveys.people.models import Right
from surveys.planning import allocation
from surveys.planning.forms import CompareForm, DialsForm, FreeForm, StudyForm, weight_of
from surveys.planning.presenters import planner as presenters
from surveys.planning.presenters.planner import Planner
from surveys.planning.questions import HALF, NONE
from surveys.planning.scenarios import PlannedStudy
from surveys.planning.solver import Unreachable
from surveys.planning.wording import count

FREE = {
    "n": "800",
    "width": "4",
    "epsilon": "1",
    "follows": "epsilon",
    "at": "50",
    "kind": "yes_no",
    "choices": "5",
    "least": "0",
    "most": "100",
    "questions": "1",
    "publication": "1",
}
COMPARED = {"one": "30", "other": "40", "power": "80"}
AMOUNT = forms.DecimalField(max_digits=12, decimal_places=9)  # an ε that the draft can hold


@never_cache
@login_required
@require_safe
def free(request: HttpRequest) -> HttpResponse:
    """Plan a question that nobody has written yet."""
    limits = design.site_limits()
    data = {**FREE, **COMPARED, **request.GET.dict()}
    form = FreeForm(data, limits=(limits.epsilon_floor, limits.epsilon_ceiling))
    context = _context(request, form, data, _planner(form))
    return _page(request, "planning/free.html", context, data)


@never_cache
@login_required
@require_safe
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """Plan a study's questions, together."""
    planned = PlannedStudy(get_object_or_404(people.studies_of(request.user), slug=slug))
    is_draft = planned.study.plan is None and not planned.study.is_retired
    may_edit = people.may(request.user, Right.EDIT, planned.study)
    context = {
        "study": planned.study,
        "planned": planned,
        "is_draft": is_draft,
        "may_save": may_edit and is_draft,
        "saved": "saved" in request.GET,
    }
    if not planned.protected:
        return render(request, "planning/study.html", context)
    typed: dict[str, str] = request.GET.dict()
    if typed.pop("of", typed.get("question")) != typed.get("question"):
        # of another question, whose dials stood there: those left empty are the draft's
        typed = {name: value for name, value in typed.items() if value}
    data = {**_study_data(planned, typed.get("question")), **typed}
    form = StudyForm(data, planned=planned)
    planner = _planner(form)
    context |= _context(request, form, data, planner)
    if planner:
        context["central"] = [
            (each, planned.scenario(each, form.share).precision(planner.solution.n, Decimal(1)))
            for each in planned.central_only
        ]
    return _page(request, "planning/study.html", context, data)


def _study_data(planned: PlannedStudy, name: str | None) -> dict[str, str]:
    """Return the dials as the draft has them: the precision follows. A weight is a question's ε
    as a multiple of the least one.
    """
    questions = planned.protected
    if not questions:
        return {}
    chosen = next((each for each in questions if each.name == name), questions[0])
    least = min(Decimal(each.epsilon) for each in questions)
    weights = {
        weight_of(each.name): (Decimal(each.epsilon) / least).quantize(Decimal("0.01"))
        for each in questions
    }
    return {
        "n": str(planned.expected),
        "width": "4",
        "epsilon": str(plain(Decimal(chosen.epsilon))),
        "follows": "width",
        "at": "50",
        "question": chosen.name,
        **{field: str(plain(weight)) for field, weight in weights.items()},
        **COMPARED,
    }


def _planner(form: DialsForm) -> Planner | None:
    """Return what follows from the dials; None with an error at the form if nothing does."""
    if not form.is_valid():
        return None
    scenario, weights = form.scenario, form.weights
    try:
        solution = form.solution()
    except Unreachable as unreachable:
        form.add_error("width", presenters.out_of_reach(scenario, unreachable, form.cleaned_data))
        return None
    except ValueError as refusal:
        form.add_error(None, str(refusal))
        return None
    least, most = scenario.limits
    own = weights[form.scenarios.index(scenario)]
    parts = allocation.parts_of(solution.epsilon * sum(weights) / own, weights)
    epsilons = [
        solution.epsilon if each is scenario else min(max(part, least), most)
        for each, part in zip(form.scenarios, parts, strict=True)
    ]
    split = allocation.split(form.scenarios, epsilons, weights, solution.n, form.sets)
    sampled = allocation.sampled(form.scenarios, sum(epsilons, Decimal(0)), solution.n)
    return Planner(scenario, solution, split, sampled)


def _context(
    request: HttpRequest, form: DialsForm, data: dict[str, str], planner: Planner | None
) -> dict[str, object]:
    compare = CompareForm(data)
    compared = None
    if planner and compare.is_valid():
        compared = presenters.compare(
            planner.question, **compare.cleaned_data, asked=planner.scenario.asked
        )
    return {
        "planner": planner,
        "compare": compare,
        "compared": compared,
        "can_compare": bool(compared or compare.errors),
        "held": [
            (name, value)
            for name, value in data.items()
            if name in COMPARED or name.startswith("weight_")
        ],
        "dials": presenters.dials(form, data, planner),
        "about": list(presenters.fields_about(form, data.get("kind", ""))),
        "form": form,
        "here": request.path,
    }


def _page(
    request: HttpRequest, template: str, context: dict[str, object], data: dict[str, str]
) -> HttpResponse:
    """Return the page, to a dial that was turned too: its script keeps what somebody is at."""
    response = render(request, template, context)
    if request.htmx:  # type: ignore[attr-defined]
        response["HX-Replace-Url"] = f"{request.path}?{urlencode(data)}"
    return response


@never_cache
@login_required
@require_POST
def save(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the plan in the draft, once confirmed: expected answers and every question's ε."""
    planned = PlannedStudy(get_object_or_404(people.studies_of(request.user), slug=slug))
    if not people.may(request.user, Right.EDIT, planned.study):
        raise PermissionDenied(_("Saving a plan needs the right to edit this study."))
    epsilons, expected, problems = _read_changes(request, planned)
    split = None if problems else _together(planned, epsilons, expected)
    if split and split.too_much:
        problems = [split.too_much]
    if "confirmed" in request.POST and not problems:
        try:
            set_protections(
                study_id=planned.study.pk,
                epsilons=epsilons,
                expected=expected,
                who=actor(request),
                why=_("planned for %(n)s answers") % {"n": count(expected)},
                now=datetime.datetime.now(datetime.UTC),
            )
        except (Refused, CannotOpen) as refusal:
            problems = [str(refusal)]
        else:
            return HttpResponseRedirect(f"{reverse('planning:study', args=[slug])}?saved=1")
    sent = {part.name: part.precision.question.sent for part in split.parts} if split else {}
    context = {
        "study": planned.study,
        "rows": [
            (each, epsilons[each.name], sent.get(each.name, NONE))
            for each in planned.protected
            if each.name in epsilons
        ],
        "expected": expected,
        "problems": problems,
        "split": split,
    }
    return render(request, "planning/save.html", context, status=422 if problems else 200)


def _read_changes(
    request: HttpRequest, planned: PlannedStudy
) -> tuple[dict[str, Decimal], int, list[str]]:
    """Return every question's new ε, how many answers are expected, and what is wrong."""
    typed = {**_study_data(planned, None), "n": request.POST.get("n", "")}
    form = StudyForm(typed, planned=planned)
    problems = [str(error) for errors in form.errors.values() for error in errors]
    epsilons = {}
    for each in planned.protected:
        try:
            epsilons[each.name] = AMOUNT.clean(
                request.POST.get(f"epsilon_{each.name}", str(each.epsilon))
            )
        except ValidationError:
            problems.append(_("ε of “%(question)s” is no number.") % {"question": each.label})
    return epsilons, form.cleaned_data.get("n") or planned.expected, problems


def _together(
    planned: PlannedStudy, epsilons: dict[str, Decimal], n: int
) -> allocation.Allocation | None:
    """Return what one person would give away; None where a question takes no such ε."""
    scenarios = [planned.scenario(each, HALF) for each in planned.protected]
    weights = [Decimal(1)] * len(scenarios)
    try:
        return allocation.split(scenarios, list(epsilons.values()), weights, n, planned.sets)
    except (ValueError, ArithmeticError):
        return None
