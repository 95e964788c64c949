"""Write one question, and see while typing what its protection does."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from surveys.design import services
from surveys.design.models import Question, Study
from surveys.drafting import library
from surveys.drafting.access import now, study_for, who
from surveys.drafting.forms import QuestionForm
from surveys.people.models import Right


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest, slug: str) -> HttpResponse:
    """Write a new question."""
    study = study_for(request, slug, Right.EDIT)
    kind = request.GET.get("kind", "")
    asked = Question(study=study, kind=kind if kind in Question.Kind.values else Question.Kind.YES_NO)
    return _edit(request, study, asked)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Change a question."""
    study = study_for(request, slug, Right.EDIT)
    return _edit(request, study, get_object_or_404(study.questions, name=name))


def _edit(request: HttpRequest, study: Study, asked: Question) -> HttpResponse:
    old = asked.name
    if request.method != "POST":
        return _show(request, study, QuestionForm(instance=asked), old)
    form = QuestionForm(request.POST, request.FILES, instance=asked)
    if form.is_valid():
        try:
            saved = services.save_question(question=form.instance, who=who(request), now=now())
        except services.Refused as refusal:
            form.add_error(None, str(refusal))
        else:
            address = redirect("drafting:build", study.slug)
            address["Location"] += f"#edit-{saved.name}"
            return address
    form.mark()
    return _show(request, study, form, old, status=400)


def _show(request: HttpRequest, study: Study, form: QuestionForm, old: str, status: int = 200) -> HttpResponse:
    context = {
        "study": study,
        "form": form,
        "name": old,
        "consequence": services.consequence_of(form.instance) if form.instance.text or old else None,
        "title": _("Change a question") if old else _("New question"),
    }
    return render(request, "drafting/question.html", context, status=status)


@login_required
@require_POST
def odds(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what the protection of a question that is being written would do. Nothing is saved."""
    study = study_for(request, slug, Right.EDIT)
    asked = Question(study=study, text="?", label="?", name="q1")
    form = QuestionForm({**_typed(request), "text": "?", "name": "", "condition": ""}, instance=asked)
    form.is_valid()
    problems = [error for name in ("epsilon", "choices", "least", "most") for error in form.errors.get(name, [])]
    if not problems and form.non_field_errors():
        problems = list(form.non_field_errors())
    consequence = services.Consequence(problem=str(problems[0])) if problems else services.consequence_of(asked)
    return render(request, "drafting/odds.html", {"consequence": consequence, "question": asked})


def _typed(request: HttpRequest) -> dict[str, Any]:
    return {name: request.POST[name] for name in request.POST if name != "csrfmiddlewaretoken"}


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def add_templates(request: HttpRequest, slug: str) -> HttpResponse:
    """Add questions of the library to a draft."""
    study = study_for(request, slug, Right.EDIT)
    refused = ""
    if request.method == "POST":
        chosen = [name for name in request.POST.getlist("template") if name in library.BY_NAME]
        asked = [library.fields_of(name, study.language) for name in chosen]
        try:
            made = services.add_questions(study_id=study.pk, questions=asked, who=who(request), now=now())
        except services.Refused as refusal:
            refused = str(refusal)
        else:
            if made:
                _translate(request, study, dict(zip([each.name for each in made], chosen, strict=True)))
                address = redirect("drafting:build", slug)
                address["Location"] += f"#edit-{made[0].name}"
                return address
            refused = _("Choose a question to add.")
    context = {"study": study, "topics": library.topics(study.language), "refused": refused}
    return render(request, "drafting/templates.html", context, status=400 if refused else 200)


def _translate(request: HttpRequest, study: Study, names: dict[str, str]) -> None:
    """Bring the library's texts in the languages in which the study is asked already."""
    by: dict[str, Any] = {"who": who(request), "now": now()}
    for each in study.translations.all():
        content = library.translated(each.content, names, each.language)
        services.save_translation(study_id=study.pk, language=each.language, content=content, **by)
