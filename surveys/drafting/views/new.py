"""Begin a study: from nothing, a template, an XLSForm, or a plan. Whoever begins it owns it.

And the XLSForms that go in and out of a draft.
"""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language, gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from surveys import languages
from surveys.design.drafts import new_draft, save_study, save_translation
from surveys.design.models import Study
from surveys.design.refusals import Refused
from surveys.design.sharing import USUAL_EXPECTED
from surveys.drafting import drafts, library
from surveys.drafting.forms import BeginForm, WordsForm
from surveys.drafting.import_forms import FromFileForm, ImportForm
from surveys.drafting.views.ways import to_build
from surveys.drafting.xlsform import reader, writer
from surveys.people import services as people
from surveys.people.access import author, of_study
from surveys.people.models import Right, Role, User
from surveys.planning import selectors as planning

WAYS = ("blank", "template", "file", "plan")
WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Ask what a study is about, and how to begin."""
    if request.method != "POST":
        if request.GET.get("way") == "plan":
            return _from_plan(request)
        return _show(request, way=request.GET.get("way", "blank"))
    way = request.POST.get("way", "blank")
    if way == "file":
        return _from_file(request)
    if way == "plan":
        return _from_plan(request)
    form = BeginForm(request.POST)
    chosen = request.POST.getlist("template") if way == "template" else []
    templates = [library.BY_NAME[name] for name in chosen if name in library.BY_NAME]
    if way == "template" and not templates:
        form.add_error(None, _("Choose one of the questions below, or begin from nothing."))
    if not form.is_valid():
        return _show(request, way=way, form=form, chosen=chosen, status=400)
    questions = [template.draft(form.cleaned_data["language"]) for template in templates]
    return to_build(request, _begin(request, form.cleaned_data, questions))


def _from_plan(request: HttpRequest) -> HttpResponse:
    """Make a study of what the planner's address holds; its questions are worded here."""
    wishes = planning.FreeWishes.of(request.GET)
    if wishes.outcome is None:  # the planner says what is wrong, and mends it
        return redirect(f"{reverse('planning:free')}?{wishes.query()}")
    is_sent = request.method == "POST"
    goal = wishes.outcome.goal
    initial = {"language": _language(), "expected": goal.n}
    form = BeginForm(request.POST if is_sent else None, initial=initial)
    words = [
        WordsForm(request.POST if is_sent else None, prefix=f"q{at}", kind=topic.kind)
        for at, topic in enumerate(goal.topics, start=1)
    ]
    more: dict[str, Any] = {"form": form, "words": words, "planned": wishes.query()}
    if not is_sent:
        return _show(request, way="plan", **more)
    if not all([form.is_valid(), *(each.is_valid() for each in words)]):
        return _show(request, way="plan", status=400, **more)
    planned = planning.Planned(wishes.outcome)
    declined = [{"may_decline": topic.declines} for topic in goal.topics]
    ways = map(operator.or_, planned.ways, declined)
    questions = [
        each.draft(None if planned.fields["person"] else epsilon, way)
        for each, epsilon, way in zip(words, planned.epsilons, ways, strict=True)
    ]
    texts = {**form.cleaned_data, "expected": form.cleaned_data["expected"] or goal.n}
    # of as many as were typed here; what follows from that has followed
    stays = ("expected", "smallest_batch")
    fields = {name: value for name, value in planned.fields.items() if name not in stays}
    fields |= {"is_planned": planned.is_planned}
    try:
        with transaction.atomic():
            study = _begin(request, texts, questions)
            for name, value in fields.items():
                setattr(study, name, value)
            save_study(study=study, fields=list(fields), **author(request))
    except Refused as refusal:
        form.add_error(None, str(refusal))
        return _show(request, way="plan", status=400, **more)
    return redirect("drafting:launch", study.slug)


def _from_file(request: HttpRequest) -> HttpResponse:
    """Make a study of a workbook, with its translations: whole or not at all."""
    form = FromFileForm(request.POST, request.FILES)
    if form.is_valid() and not form.imported.problems:
        try:
            with transaction.atomic():
                texts = {**form.imported.texts, "expected": form.cleaned_data["expected"]}
                study = _begin(request, texts, form.imported.questions)
                for language, spoken in form.imported.translations.items():
                    save_translation(
                        study_id=study.pk,
                        language=language,
                        content=dict(spoken),
                        **author(request),
                    )
            return _imported(request, study, form)
        except Refused as refusal:
            form.imported.problems.append(reader.Remark("", str(refusal)))
    return _show(request, way="file", file=form, status=400)


def _begin(
    request: HttpRequest, texts: Mapping[str, Any], questions: Sequence[drafts.QuestionDraft]
) -> Study:
    """Make the draft, and its owner."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    with transaction.atomic():
        study = new_draft(
            texts=dict(texts), questions=[question.fields() for question in questions]
        )
        people.share(study=study, user=request.user, role=Role.OWNER)
    return study


def _show(request: HttpRequest, *, way: str, status: int = 200, **forms: Any) -> HttpResponse:
    language = _language()
    context = {
        "form": BeginForm(initial={"language": language, "expected": USUAL_EXPECTED}),
        "file": FromFileForm(),
        "way": way if way in WAYS else "blank",
        "ways": [
            ("blank", "?way=blank", _("From scratch")),
            ("template", "?way=template", _("From templates")),
            ("plan", reverse("planning:free"), _("From a plan")),
            ("file", "?way=file", _("From an XLSForm")),
        ],
        "topics": library.topics(language),
        **forms,
    }
    return render(request, "drafting/new.html", context, status=status)


def _language() -> str:
    """Return the reader's own language, if a study can be asked in it."""
    present = get_language() or ""
    return present if languages.words_of(present) else languages.SOURCE


def _imported(request: HttpRequest, study: Study, form: ImportForm) -> HttpResponse:
    """Show the draft, and once what of the file is otherwise in it."""
    remarks = [{"where": remark.where, "text": remark.text} for remark in form.imported.remarks]
    request.session[f"imported:{study.slug}"] = remarks
    return to_build(request, study)


@of_study(Right.EDIT)
@require_http_methods(["GET", "HEAD", "POST"])
def import_into(request: HttpRequest, study: Study) -> HttpResponse:
    """Add the questions of a workbook to a draft, all of them or none."""
    form = ImportForm(request.POST or None, request.FILES or None)
    if form.is_valid() and not form.imported.problems:
        pairs = study.questions.values_list("name", "together", "drawn_in")
        found = reader.renamed(form.imported, {name for pair in pairs for name in pair})
        try:
            drafts.add_questions(study, found.questions, found.translations, author(request))
            return _imported(request, study, form)
        except Refused as refusal:
            form.imported.problems.append(reader.Remark("", str(refusal)))
    status = 400 if request.method == "POST" else 200
    return render(request, "drafting/import.html", {"study": study, "file": form}, status=status)


@of_study(Right.READ)
@require_safe
def export(request: HttpRequest, study: Study) -> HttpResponse:
    """Give the draft as a workbook."""
    return _workbook(writer.workbook_of(study), study.slug)


@login_required
@require_safe
def example(request: HttpRequest) -> HttpResponse:
    """Give a form with every kind of question that can be asked, to begin from."""
    return _workbook(writer.example(), "candor-example")


def _workbook(content: bytes, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=WORKBOOK)
    response["Content-Disposition"] = f'attachment; filename="{name}.xlsx"'
    return response
