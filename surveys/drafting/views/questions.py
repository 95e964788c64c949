"""Write one question, and see while typing what its protection does; or add templates."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from surveys.design.drafts import save_question
from surveys.design.models import Question, Study
from surveys.design.readiness import Consequence, consequence_in_draft, consequence_of
from surveys.design.refusals import Refused
from surveys.drafting import drafts, library
from surveys.drafting.access import author, of_study
from surveys.drafting.forms import QuestionForm
from surveys.people.models import Right


@of_study(Right.EDIT)
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest, study: Study) -> HttpResponse:
    """Write a new question."""
    kind = request.GET.get("kind", "")
    known = kind if kind in Question.Kind.values else Question.Kind.YES_NO
    return _edit(request, Question(study=study, kind=known))


@of_study(Right.EDIT)
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Change a question."""
    return _edit(request, get_object_or_404(study.questions, name=name))


def _edit(request: HttpRequest, question: Question) -> HttpResponse:
    study, is_new, saved_as = question.study, question.pk is None, question.name
    form = QuestionForm(request.POST or None, request.FILES or None, instance=question)
    if form.is_valid():
        try:
            saved = save_question(question=question, is_share=form.is_share, **author(request))
            return _to_question(study, saved)
        except Refused as refusal:
            form.add_error(None, str(refusal))
    more = (question.group, question.asked_if, question.picture, question.drawn_in)
    context = {
        "study": study,
        "question": question,
        "saved_as": saved_as,
        "form": form,
        "title": _("New question") if is_new else _("Change a question"),
        "is_more_open": form.errors or any(more),
    }
    if question.text or not is_new:
        context["consequence"] = consequence_of(question)
    status = 400 if request.method == "POST" else 200
    return render(request, "drafting/question.html", context, status=status)


def _to_question(study: Study, question: Question) -> HttpResponse:
    response = redirect("drafting:build", study.slug)
    response["Location"] += f"#edit-{question.name}"
    return response


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
                return _to_question(study, added[0])
            refused = _("Choose a question to add.")
        except Refused as refusal:
            refused = str(refusal)
    context = {"study": study, "topics": library.topics(study.language), "refused": refused}
    return render(request, "drafting/templates.html", context, status=400 if refused else 200)
