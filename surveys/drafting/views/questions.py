"""Write one question, and see while typing what its protection does; or add templates."""

from copy import copy
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from surveys.design import revisions
from surveys.design.drafts import save_question
from surveys.design.merging import Merged, if_deleted, merge
from surveys.design.models import Question, Study
from surveys.design.readiness import Consequence, consequence_in_draft, consequence_of
from surveys.design.refusals import Refused
from surveys.design.revisions import Since
from surveys.drafting import drafts, library
from surveys.drafting.forms import QuestionForm
from surveys.drafting.views.ways import to_build
from surveys.people.access import author, of_study
from surveys.people.models import Right


@of_study(Right.EDIT)
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest, study: Study) -> HttpResponse:
    """Write a new question."""
    kind = request.GET.get("kind", "")
    known = kind if kind in Question.Kind.values else Question.Kind.YES_NO
    return _edit(request, Question(study=study, kind=known), revisions.read(study))


@of_study(Right.EDIT)
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Change a question. Its page knows it by its number too: others may change its name."""
    key = request.POST.get("question", "")
    is_known = key.isascii() and key.isdigit() and len(key) < 19
    revision = revisions.read(study)
    if not is_known:
        return _edit(request, get_object_or_404(study.questions, name=name), revision)
    own = study.questions.filter(pk=int(key)).first()
    return _edit(request, own or Question(study=study, pk=int(key)), revision)


def _edit(request: HttpRequest, question: Question, revision: int) -> HttpResponse:
    study, is_new, saved_as = question.study, question.pk is None, question.name
    context: dict[str, Any] = {"revision": revision, "question": question}
    if request.method == "POST":
        try:
            typed = revisions.edit(
                study_id=study.pk,
                revision=request.POST.get("revision"),
                change=lambda held, since: _save(request, held, since, question.pk),
            )
        except Refused as refusal:  # it is no draft any more
            typed = {"form": QuestionForm(request.POST, request.FILES, instance=question)}
            typed["form"].add_error(None, str(refusal))
        if isinstance(typed, Question):
            return to_build(request, study, at=f"#edit-{typed.name}")
        if typed is None:
            return to_build(request, study)
        context |= typed
    else:
        context["form"] = QuestionForm(instance=question)
    form, question = context["form"], context["question"]
    more = (question.group, question.asked_if, question.picture, question.drawn_in, question.codes)
    context |= {
        "study": study,
        "saved_as": saved_as,
        "title": _("New question") if is_new else _("Change a question"),
        "is_more_open": form.errors or any(more),
    }
    if question.text or not is_new:
        context["consequence"] = consequence_of(question)
    status = 409 if context.get("conflicts") else 400
    return render(
        request,
        "drafting/question.html",
        context,
        status=status if request.method == "POST" else 200,
    )


def _save(
    request: HttpRequest, study: Study, since: Since, key: int | None
) -> Question | dict[str, Any] | None:
    """Save a question as it was typed, merged with what others saved; or return what the page
    shows instead, or nothing if it is left deleted.
    """
    question = Question(study=study) if key is None else study.questions.filter(pk=key).first()
    merged, read = Merged(request.POST.copy()), since.question(key) if key else None
    if question is None:
        question = read or Question(study=study)
        question.study, question.pk, question._state.adding = study, None, True
        merged = if_deleted(request.POST, _("This question"), since.last(f"q{key}."))
        if merged.is_dropped:
            return None
    elif read is not None:
        merged = merge(
            read=QuestionForm(instance=read),
            now=QuestionForm(instance=copy(question)),
            data=request.POST,
            files=request.FILES,
            last=lambda name: since.last(f"q{key}.{name}") or since.last(f"q{key}."),
        )
    form = QuestionForm(merged.data, request.FILES, instance=question)
    if form.is_valid() and not merged.conflicts:
        try:
            return save_question(question=question, is_share=form.is_share, **author(request))
        except Refused as refusal:
            form.add_error(None, str(refusal))
    shown = {"conflicts": merged.conflicts, "revision": since.number, "key": key or ""}
    return {"form": form, "question": question, **shown}


@of_study(Right.EDIT)
@require_POST
def odds(request: HttpRequest, study: Study) -> HttpResponse:
    """Say what the protection of a question that is being written would do in the draft as it would
    be with it; nothing is saved. `of` in the address is the key of a question that is changed.
    """
    saved = study.questions.filter(name=request.GET.get("of", "")).first()
    question = saved or Question(study=study)
    typed = {**request.POST.dict(), "text": "?", "label": "?"}
    form = QuestionForm(typed, instance=question)
    fields = ("epsilon", "choices", "least", "most")
    problems = [problem for name in fields for problem in form.errors.get(name, [])]
    if problems or form.non_field_errors():
        first = [*problems, *form.non_field_errors()][0]
        consequence = Consequence(problem=str(first))
    else:
        consequence = consequence_in_draft(question, is_share=form.is_share)
    context = {"question": question, "consequence": consequence}
    return render(request, "drafting/odds.html", context)


@of_study(Right.EDIT)
@require_http_methods(["GET", "HEAD", "POST"])
def add_templates(request: HttpRequest, study: Study) -> HttpResponse:
    """Add questions of the library to a draft."""
    refused = ""
    if request.method == "POST":
        names = [name for name in request.POST.getlist("template") if name in library.BY_NAME]
        questions = [library.BY_NAME[name].draft(study.language) for name in names]
        texts = library.translations(names)
        try:
            added = drafts.add_questions(study, questions, texts, author(request))
            if added:
                return to_build(request, study, at=f"#edit-{added[0].name}")
            refused = _("Choose a question to add.")
        except Refused as refusal:
            refused = str(refusal)
    context = {"study": study, "topics": library.topics(study.language), "refused": refused}
    return render(request, "drafting/templates.html", context, status=400 if refused else 200)
