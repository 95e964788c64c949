"""The rehearsal's page: what is assumed of made-up people, and what would be published of them,
again and again.

A step takes about a second. With scripts each step's page asks for the next one and shows how far
it is; without, a step is longer, and a button asks for the next one. What came of the steps so far
travels with the page, signed: nothing is stored. No request holds a thread for longer than a step
and one rehearsal, and a rehearsal that takes too long is given up.
"""

import datetime
import time

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from django_htmx.http import reselect, reswap, retarget
from msgspec import ValidationError, convert, to_builtins

from surveys.design import documents
from surveys.design.models import Study
from surveys.design.readiness import Readiness
from surveys.design.sharing import USUAL_EXPECTED
from surveys.people.access import of_study
from surveys.people.models import Right
from surveys.plan.content import PlanContent, Unsound, canonical, digest, to_document
from surveys.plan.verification import verify
from surveys.planning.forms import MAX_PEOPLE, MIN_PEOPLE, RehearsalForm
from surveys.planning.population import population_of
from surveys.planning.presenters.rehearsal import results_of
from surveys.planning.questions import is_on_request
from surveys.planning.rehearsal import Record, Rehearsal, TooLong, within

SALT = "surveys.planning.rehearsal"
MOST_SECONDS = 15.0  # of processor time, of one rehearsal
STEP_SECONDS, LONG_STEP_SECONDS = 1.0, 10.0  # the longer where a person asks for the next one


@of_study(Right.READ)
@require_http_methods(["GET", "HEAD", "POST"])
def rehearse(request: HttpRequest, study: Study) -> HttpResponse:
    """Rehearse a study with made-up people: one step, if this browser asks for steps."""
    context: dict[str, object] = {
        "study": study,
        "is_draft": study.plan is None and not study.is_retired,
        "here": request.path,
        "begin": _("Simulate"),
    }
    content, problem = _content(study)
    everything = content.questions if content else []
    on_request = [each for each in everything if is_on_request(each)]
    questions = [each for each in everything if not is_on_request(each)]
    if content is None or not questions:
        context["problem"] = problem or _(
            "No question of this study is published by its rule: there is nothing to simulate."
        )
        return _on_the_page(request, context)
    usual = min(max(study.expected or USUAL_EXPECTED, MIN_PEOPLE), MAX_PEOPLE)
    form = RehearsalForm(
        request.POST if request.method == "POST" else None,
        questions=questions,
        initial={"people": usual},
    )
    context |= {"form": form, "left_out": on_request}
    in_steps = _is_in_steps(request)
    if request.method == "POST" and form.is_valid():
        step = STEP_SECONDS if in_steps else LONG_STEP_SECONDS
        try:
            context |= _rehearsed(request.POST.get("state", ""), content, form, step)
        except TooLong:
            form.add_error(
                "people", _("So many people take too long with these questions. Choose fewer.")
            )
    if in_steps and not form.errors:
        return render(request, "planning/rehearsed.html", context)
    return _on_the_page(request, context)


def _is_in_steps(request: HttpRequest) -> bool:
    return bool(request.htmx and request.htmx.target == "rehearsed")  # type: ignore[attr-defined]


def _on_the_page(request: HttpRequest, context: dict[str, object]) -> HttpResponse:
    """Show the whole page; where a step was asked for, in place of the one that is there."""
    response = render(request, "planning/rehearse.html", context)
    if _is_in_steps(request):
        response = retarget(reselect(reswap(response, "outerHTML"), "main"), "main")
    return response


def _content(study: Study) -> tuple[PlanContent | None, str]:
    """Return the Plan as it is frozen, or as the draft would be; or why there is none."""
    if study.plan is not None:
        return study.plan.content, ""
    if not study.questions.exists():
        return None, _("This draft has no questions. Write one first.")
    try:
        content = documents.compose(study)
        verify(content)
    except (ValueError, Unsound) as error:  # told as its own page and the launch tell it
        problems = Readiness(study).problems(datetime.datetime.now(datetime.UTC))
        why = " ".join(map(str, problems)) or error
        return None, _("This draft makes no plan yet: %(why)s") % {"why": why}
    return content, ""


def _rehearsed(
    state: str, content: PlanContent, form: RehearsalForm, step: float
) -> dict[str, object]:
    """Rehearse until a step is over, and say what came of all steps so far; or raise TooLong."""
    people, wanted = form.cleaned_data["people"], form.cleaned_data["runs"]
    population = population_of(content, form.shares)
    rehearsal, truths = Rehearsal(content, population), population.truths()
    plan = to_document(content)
    key = digest(canonical({"people": people, "plan": plan, "shares": form.shares}))
    record = _read(state, key)
    begun = now = time.perf_counter()
    while record.runs < wanted and now - begun <= step:
        record.add(rehearsal.run(people, within(MOST_SECONDS)), truths)
        before, now = now, time.perf_counter()
        record.seconds += now - before
    goes_on = record.runs < wanted
    done = [] if goes_on else [each.question for each in rehearsal.questions]
    return {
        "record": record,
        "wanted": wanted,
        "goes_on": goes_on,
        "begin": _("Simulate again"),
        "state": signing.dumps(to_builtins(record), salt=SALT, compress=True),
        "questions": [results_of(each, record, truths[each.content.name]) for each in done],
    }


def _read(state: str, key: str) -> Record:
    """Return what the steps before came to; none if they are of another plan or other people."""
    try:
        record = convert(signing.loads(state, salt=SALT), Record)
    except (signing.BadSignature, ValidationError):
        return Record(key)
    return record if record.key == key else Record(key)
