"""The planner: three dials, of any question at /plan/, of a study's own at /studies/<slug>/plan/."""

import datetime
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dpengine.privacy import plain
from surveys.acting import who
from surveys.design import queries as design
from surveys.design import services as drafts
from surveys.design.models import Question, Study
from surveys.people import queries as people
from surveys.people.models import Right
from surveys.planning import sharing
from surveys.planning.dials import MOST_ANSWERS, Setting, Unreachable, solve
from surveys.planning.drafts import Planned
from surveys.planning.forms import SLIDES, CompareForm, DialsForm, FreeForm, StudyForm, weight_of
from surveys.planning.laws import law_of, pure
from surveys.planning.topics import HALF, Topic
from surveys.planning.worked import Ways, Worked, compared, count, epsilon_text, half_width, unit_of, ways_of

DIALS = ("n", "width", "epsilon")
FREE = {
    "n": "800", "width": "4", "epsilon": "1", "follows": "epsilon", "at": "50", "kind": "yes_no", "choices": "5",
    "least": "0", "most": "100", "questions": "1", "publication": "1",
}  # fmt: skip
COMPARED = {"one": "30", "other": "40", "power": "80"}
MONTHS = 2000 * 12, 2025 * 12 + 11  # that are planned for where nobody has said which
WANTED = {"mean": ("number", "mean"), "distribution": ("number", "distribution"), "month": ("month", "mean")}
AMOUNT = forms.DecimalField(max_digits=12, decimal_places=9)  # an ε: a number, and one that the draft can hold


@never_cache
@login_required
@require_safe
def free(request: HttpRequest) -> HttpResponse:
    """Plan a question that nobody has written yet."""
    limits = design.site_limits()
    data = {**FREE, **COMPARED, **request.GET.dict()}
    form = FreeForm(data, limits=(limits.epsilon_floor, limits.epsilon_ceiling))
    page = Page(form, data)
    if form.is_valid():
        page = page.worked_out(*_free_settings(form))
    return _shown(request, page, {"kind": data["kind"]})


def _free_settings(form: FreeForm) -> tuple[Setting, list[Setting], list[Decimal]]:
    asked = form.cleaned_data
    kind, wanted = WANTED.get(asked["kind"], (asked["kind"], ""))
    least, most = MONTHS if kind == "month" else (asked["least"], asked["most"])
    topic = Topic.made_up(
        kind, choices=asked["choices"], least=least, most=most, wanted=wanted
    )  # fmt: skip
    many, publication = asked["questions"], pure(str(asked["publication"]))
    setting = Setting(
        topic, lambda drawn: law_of(drawn.tally, many, publication), _share(asked["at"]), form.limits
    )  # fmt: skip
    return setting, [setting] * many, [Decimal(1)] * many


@never_cache
@login_required
@require_safe
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """Plan a study's questions, together."""
    found = get_object_or_404(people.studies_of(request.user), slug=slug)
    planned = Planned(found)
    context = _study_context(request, planned)
    if not planned.protected:
        return render(request, "planning/study.html", context)
    data = {**_study_data(planned, request.GET.get("question")), **_asked(request)}
    form = StudyForm(data, limits=planned.limits, questions=planned.protected)
    page = Page(form, data)
    if form.is_valid():
        page = page.worked_out(*_study_settings(planned, form), planned=planned)
    return _shown(request, page, context)


def _study_context(request: HttpRequest, planned: Planned) -> dict[str, Any]:
    may = people.may(request.user, Right.EDIT, planned.study)
    is_draft = planned.study.plan is None and not planned.study.is_retired
    return {
        "study": planned.study,
        "planned": planned,
        "is_draft": is_draft,
        "may_edit": may,
        "may_save": may and is_draft,
        "saved": "saved" in request.GET,
    }


def _study_data(planned: Planned, name: str | None) -> dict[str, str]:
    """Return the dials as the draft has them: the precision follows."""
    first = next((each for each in planned.protected if each.name == name), planned.protected[0])
    weights = {weight_of(each.name): _weight(each, planned.protected) for each in planned.protected}
    return {
        "n": str(planned.expected), "width": "4", "epsilon": str(plain(Decimal(first.epsilon))), "follows": "width",
        "at": "50", "question": first.name, **weights, **COMPARED,
    }  # fmt: skip


def _asked(request: HttpRequest) -> dict[str, str]:
    """Return what is typed. `of` is whose dials stand there: those left empty for another question are its draft's."""
    data: dict[str, str] = request.GET.dict()
    if data.pop("of", data.get("question")) == data.get("question"):
        return data
    return {name: value for name, value in data.items() if value}


def _weight(question: Question, of: list[Question]) -> str:
    """Return a question's ε as a multiple of the least one."""
    least = min(Decimal(each.epsilon) for each in of)
    return str(plain((Decimal(question.epsilon) / least).quantize(Decimal("0.01"))))


def _study_settings(planned: Planned, form: StudyForm) -> tuple[Setting, list[Setting], list[Decimal]]:
    at = _share(form.cleaned_data["at"])
    settings = [planned.setting(each, at) for each in planned.protected]
    chosen = next(
        setting for setting in settings if setting.topic.question.name == form.cleaned_data["question"]
    )  # fmt: skip
    return chosen, settings, [form.weight(each.name) for each in planned.protected]


def _share(percent: Decimal) -> Fraction:
    return Fraction(percent) / 100


@dataclass(frozen=True)
class Page:
    """The form as it was typed, and what was worked out of it if anything could be."""

    form: DialsForm
    data: dict[str, str]
    worked: Worked | None = None
    context: dict[str, Any] | None = None

    def worked_out(
        self, setting: Setting, settings: list[Setting], weights: list[Decimal], planned: Planned | None = None
    ) -> "Page":
        asked = self.form.cleaned_data
        try:
            wanted = float(asked["width"] or 1) / (1 if setting.topic.at(setting.limits[0]).is_mean else 100)
            solved = solve(
                setting, asked["follows"], n=asked["n"] or 1, wanted=wanted, epsilon=asked["epsilon"] or Decimal(1)
            )
        except Unreachable as unreachable:
            return self._refused("width", _said(setting, unreachable, asked))
        except ValueError as refusal:
            return self._refused(None, str(refusal))
        own = weights[settings.index(setting)]
        total = solved.epsilon * sum(weights) / own
        ways = ways_of(settings, _parts(total, weights, settings, setting, solved.epsilon), weights, solved.n)
        losses = tuple(share.drawn.loss for share in ways.split.shares)
        worked = Worked(setting, solved, losses)
        others = _given(planned, setting, solved.n) if planned else []
        return replace(self, worked=worked, context={"ways": ways, "given": others, **_comparison(self.data, worked)})

    def _refused(self, field: str | None, said: str) -> "Page":
        self.form.add_error(field, said)
        return self


def _parts(
    total: Decimal, weights: list[Decimal], settings: list[Setting], chosen: Setting, epsilon: Decimal
) -> list[Decimal]:
    """Return everyone's ε by weight, within the limits; the question that the dial turns keeps the dial's."""
    least, most = chosen.limits
    parts = sharing.parts_of(total, weights)
    return [
        epsilon if setting is chosen else min(max(part, least), most)
        for setting, part in zip(settings, parts, strict=True)
    ]


def _given(planned: Planned, setting: Setting, n: int) -> list[Any]:
    """Return the rows of the questions that are sent as given: the publication's chance is all they have."""
    asked = [each for each in planned.counted if each.protection == Question.Protection.PUBLICATION]
    settings = [planned.setting(each, setting.at) for each in asked]
    return ways_of(settings, [Decimal(1)] * len(settings), [Decimal(1)] * len(settings), n).rows if settings else []


def _comparison(data: dict[str, str], worked: Worked) -> dict[str, Any]:
    form = CompareForm(data)
    found = compared(worked.drawn, **form.cleaned_data) if form.is_valid() else None
    return {"compare": form, "compared": found}


def _said(setting: Setting, unreachable: Unreachable, asked: dict[str, Any]) -> str:
    """Say what can be had instead of a ± that cannot."""
    drawn = setting.topic.at(setting.limits[1])
    best = {"half": half_width(unreachable.best.half, drawn), "unit": unit_of(drawn), "wanted": asked["width"]}
    if asked["follows"] == "n":
        said = _("± %(wanted)s %(unit)s cannot be reached at this ε: with %(most)s answers it is still ± %(half)s.")
        return said % {**best, "most": count(MOST_ANSWERS)}
    held = {**best, "n": count(asked["n"]), "epsilon": epsilon_text(setting.limits[1])}
    if unreachable.n_needed is None:
        return _("%(n)s answers give ± %(half)s %(unit)s at best, at ε %(epsilon)s, the greatest allowed here.") % held
    said = _(
        "%(n)s answers give ± %(half)s %(unit)s at best, at ε %(epsilon)s, the greatest allowed here. "
        "± %(wanted)s needs %(needed)s answers even there."
    )
    return said % {**held, "needed": count(unreachable.n_needed)}


def _shown(request: HttpRequest, page: Page, more: dict[str, Any]) -> HttpResponse:
    """Return the page. To a dial that was turned too: its script keeps what somebody is at (plan.js)."""
    context = {
        **more,
        **(page.context or {}),
        "page": page,
        "form": page.form,
        "worked": page.worked,
        "held": [(name, value) for name, value in page.data.items() if name in COMPARED or name.startswith("weight_")],
        "dials": _dials(page),
        "errors": _errors(page),
        "here": request.path,
    }
    response = render(request, "planning/study.html" if "study" in more else "planning/free.html", context)
    if request.htmx:  # type: ignore[attr-defined]
        response["HX-Replace-Url"] = f"{request.path}?{urlencode(page.data)}"
    return response


@dataclass(frozen=True)
class Dial:
    """One of the three, as it stands on the page."""

    name: str
    value: str
    slide: str  # what its slider stands at
    least: str
    most: str
    step: str
    follows: bool
    errors: list[str]


def _dials(page: Page) -> list[Dial]:
    return [_dial(page, name) for name in DIALS]


def _dial(page: Page, name: str) -> Dial:
    least, most, step = SLIDES[name]
    follows = page.data.get("follows") == name
    value = page.data.get(name, "")
    if page.worked and follows:
        solved = page.worked
        value = {"n": solved.n, "width": solved.half, "epsilon": f"{plain(solved.solved.epsilon):f}"}[name]
    slide = _number(value)
    return Dial(
        name, value, str(min(max(slide, least), most)), str(least), str(most), str(step), follows,
        [str(error) for error in page.form.errors.get(name, [])],
    )  # fmt: skip


def _number(value: str) -> float:
    try:
        return float(value.replace(",", ""))
    except ValueError:
        return 0.0


def _errors(page: Page) -> list[tuple[str, str]]:
    """Return every error with the id of its field, for the summary."""
    return [(name, str(error)) for name, found in page.form.errors.items() for error in found]


# Saving


@never_cache
@login_required
@require_POST
def save(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep what is planned in the draft: how many answers are expected, and every question's ε. Asks before it does."""
    found = get_object_or_404(people.studies_of(request.user), slug=slug)
    if not people.may(request.user, Right.EDIT, found):
        raise PermissionDenied(_("Saving a plan needs the right to edit this study."))
    planned = Planned(found)
    changes, expected, problems = _read_changes(request, planned)
    ways = None if problems else _together(planned, changes, expected)
    if ways and ways.is_too_much:
        problems = [" ".join(render_to_string("planning/too_much.html", {"ways": ways}).split())]
    if "confirmed" in request.POST and not problems:
        try:
            _save(request, found, changes, expected)
        except (drafts.Refused, drafts.CannotOpen) as refusal:
            problems = [str(refusal)]
        else:
            return HttpResponseRedirect(f"{reverse('planning:study', args=[slug])}?saved=1")
    odds = {row.name: row.odds for row in ways.rows} if ways else {}
    rows = [
        (
            each, epsilon_text(Decimal(each.epsilon)), epsilon_text(changes[each.name]), changes[each.name],
            odds.get(each.name),
        )
        for each in planned.protected
        if each.name in changes
    ]  # fmt: skip
    context = {"study": found, "rows": rows, "expected": expected, "problems": problems, "ways": ways}
    return render(request, "planning/save.html", context, status=422 if problems else 200)


def _together(planned: Planned, changes: dict[str, Decimal], n: int) -> Ways | None:
    """Return what one person would give away with these changes; None where a question takes no such ε."""
    settings = [planned.setting(each, HALF) for each in planned.protected]
    try:
        split = sharing.split(
            settings, [changes[each.name] for each in planned.protected], [Decimal(1)] * len(settings), n
        )  # fmt: skip
    except (ValueError, ArithmeticError):
        return None
    return Ways(split, None)


def _read_changes(request: HttpRequest, planned: Planned) -> tuple[dict[str, Decimal], int, list[str]]:
    form = StudyForm(
        {**_study_data(planned, None), "n": request.POST.get("n", "")} if planned.protected else {},
        limits=planned.limits,
        questions=planned.protected,
    )
    problems = [] if form.is_valid() else [str(error) for found in form.errors.values() for error in found]
    changes = {}
    for each in planned.protected:
        try:
            changes[each.name] = AMOUNT.clean(request.POST.get(f"epsilon_{each.name}", str(each.epsilon)))
        except ValidationError:
            problems.append(_("ε of “%(question)s” is no number.") % {"question": each.label})
    return changes, form.cleaned_data.get("n") or planned.expected, problems


def _save(request: HttpRequest, found: Study, changes: dict[str, Decimal], expected: int) -> None:
    drafts.set_protections(
        study_id=found.pk,
        epsilons=changes,
        expected=expected,
        who=who(request),
        why=_("planned for %(n)s answers") % {"n": count(expected)},
        now=datetime.datetime.now(datetime.UTC),
    )
