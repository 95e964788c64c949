"""The page on which a draft is put together: its texts, its questions, their order, and the form beside them."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surveys.design import documents, services
from surveys.design.models import Language, Question, Study
from surveys.drafting.access import now, study_for, today, who
from surveys.drafting.forms import TextsForm
from surveys.people import queries as people
from surveys.people.models import Right


@login_required
@never_cache
@require_safe
def build(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the draft: what it asks, what that gives away, and what it still lacks."""
    study = study_for(request, slug, Right.READ)
    if study.plan is not None or study.is_retired:
        return render(request, "drafting/frozen.html", {"study": study, "plan": study.plan})
    if not people.may(request.user, Right.EDIT, study):
        study_for(request, slug, Right.EDIT)
    return render(request, "drafting/build.html", page_of(request, study))


def page_of(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return what the page shows."""
    problems = services.problems_of(study, today())
    content = services.draft_content(study)
    return {
        "study": study,
        "items": items_of(study, problems),
        "problems": problems,
        "of_study": [problem for problem in problems if not problem.question],
        "loss": services.Consequence(loss=services.loss_of_plan(content)) if content else None,
        "languages": languages_of(study, problems),
        "deleted": request.session.get(f"deleted:{study.slug}"),
        "moved": request.GET.get("moved", ""),
        "moved_to": request.GET.get("to", ""),
        "focus": request.GET.get("focus", ""),
        "imported": request.session.pop(f"imported:{study.slug}", None),
        "may_launch": people.may(request.user, Right.LAUNCH, study),
        "preview": preview_of(study, content),
    }


def preview_of(study: Study, content: dict[str, Any] | None) -> str:
    """Return the preview's address, with the fingerprint that its form checks: another one for each state."""
    seen = documents.digest(documents.canonical(content)) if content else ""
    return f"{reverse('drafting:preview', args=[study.slug])}?draft={seen[:12]}#{seen}"


def items_of(study: Study, problems: list[services.Problem]) -> list[dict[str, Any]]:
    """Return the questions with what their protection does and what is wrong with them."""
    questions = list(study.questions.all())
    labels = {question.name: question.label for question in questions}
    return [
        {
            "question": question,
            "consequence": services.consequence_of(question),
            "problem": next((problem.text for problem in problems if problem.question == question.name), ""),
            "after": labels.get(question.asked_if, question.asked_if),
            "is_first": place == 1,
            "is_last": place == len(questions),
            "number": place,
        }
        for place, question in enumerate(questions, start=1)
    ]


def languages_of(study: Study, problems: list[services.Problem]) -> list[dict[str, Any]]:
    """Return the languages that the study is or could be asked in."""
    kept = set(study.translations.values_list("language", flat=True))
    lacking = {problem.language for problem in problems if problem.language}
    return [
        {"code": code, "name": name, "is_kept": code in kept, "is_whole": code in kept and code not in lacking}
        for code, name in Language.choices
        if code != study.language
    ]


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def texts(request: HttpRequest, slug: str) -> HttpResponse:
    """Edit the study's own texts, and its terms."""
    study = study_for(request, slug, Right.EDIT)
    form = TextsForm(request.POST or None, instance=study)
    status = 200
    if request.method == "POST":
        refused = _saved(request, study, form) if form.is_valid() else ""
        if form.is_valid() and not refused:
            return redirect("drafting:build", slug)
        if refused:
            form.add_error(None, refused)
        form.mark()
        status = 400
    return render(request, "drafting/texts.html", {"study": study, "form": form}, status=status)


def _saved(request: HttpRequest, study: Study, form: TextsForm) -> str:
    """Save what was typed; return why not, if it is refused."""
    changed = [name for name in form.changed_data if name in form.fields]
    try:
        services.save_study(study=study, fields=changed, who=who(request), now=now())
    except services.Refused as refusal:
        return str(refusal)
    return ""


@login_required
@require_POST
def order(request: HttpRequest, slug: str) -> HttpResponse:
    """Put the questions in the order in which they were dragged."""
    study = study_for(request, slug, Right.EDIT)
    names = request.POST.get("names", "").split(",")
    by: dict[str, Any] = {"who": who(request), "now": now()}
    return _answer(request, study, lambda: services.order_questions(study_id=study.pk, names=names, **by))


@login_required
@require_POST
def act(request: HttpRequest, slug: str, name: str, act: str) -> HttpResponse:
    """Move a question up or down, copy it, or delete it."""
    study = study_for(request, slug, Right.EDIT)
    if not study.questions.filter(name=name).exists():
        raise Http404("no question of this name")
    does = {
        "up": lambda: _move(request, study, name, -1),
        "down": lambda: _move(request, study, name, 1),
        "duplicate": lambda: _duplicate(request, study, name),
        "delete": lambda: _delete(request, study, name),
    }.get(act)
    if does is None:
        raise Http404("no act of this name")
    return _answer(request, study, does)


def _move(request: HttpRequest, study: Study, name: str, by: int) -> dict[str, Any]:
    place = services.move_question(study_id=study.pk, name=name, by=by, who=who(request), now=now())
    return {"moved": name, "to": place, "focus": f"{'up' if by < 0 else 'down'}-{name}"}


def _duplicate(request: HttpRequest, study: Study, name: str) -> dict[str, Any]:
    made = services.duplicate_question(study_id=study.pk, name=name, who=who(request), now=now())
    return {"focus": f"edit-{made.name}"}


def _delete(request: HttpRequest, study: Study, name: str) -> dict[str, Any]:
    kept = services.delete_question(study_id=study.pk, name=name, who=who(request), now=now())
    request.session[f"deleted:{study.slug}"] = kept
    return {"focus": "undo"}


@login_required
@require_POST
def undo(request: HttpRequest, slug: str) -> HttpResponse:
    """Bring back the question that was deleted last."""
    study = study_for(request, slug, Right.EDIT)
    kept = request.session.pop(f"deleted:{study.slug}", None)
    if kept is None:
        return redirect("drafting:build", slug)

    def restore() -> dict[str, Any]:
        made: Question = services.restore_question(study_id=study.pk, fields=kept, who=who(request), now=now())
        return {"focus": f"edit-{made.name}"}

    return _answer(request, study, restore)


def _answer(request: HttpRequest, study: Study, does: Callable[[], dict[str, Any] | None]) -> HttpResponse:
    """Do it, and show the draft as it is now; without scripts, with the focus where it was."""
    try:
        said = does() or {}
    except services.Refused as refusal:
        said = {"refused": str(refusal)}
    except Question.DoesNotExist as gone:  # somebody else deleted it meanwhile
        raise Http404("no question of this name") from gone
    if getattr(request, "htmx", False):
        context = page_of(request, study) | said | {"moved_to": said.get("to", "")}
        return render(request, "drafting/list.html", context)
    if "refused" in said:
        return render(request, "drafting/build.html", page_of(request, study) | said, status=409)
    address = reverse("drafting:build", args=[study.slug])
    anchor = f"#{said['focus']}" if said.get("focus") else ""
    return HttpResponseRedirect(f"{address}?{urlencode(said)}{anchor}")
