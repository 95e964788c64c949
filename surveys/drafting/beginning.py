"""Begin a study: from nothing, from a template, or from an XLSForm. Whoever begins it owns it."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from surveys.design import services
from surveys.design.models import Language, Study
from surveys.drafting import library, xlsform
from surveys.drafting.access import now, who
from surveys.drafting.forms import BeginForm
from surveys.drafting.importing import FromFileForm, sealed
from surveys.people import services as people
from surveys.people.models import Role, User

WAYS = ("blank", "template", "file")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Ask what a study is about, and how to begin."""
    if request.method != "POST":
        form = BeginForm(initial={"language": usual_language()})
        return show(request, form, way=request.GET.get("way", "blank"))
    way = request.POST.get("way", "blank")
    if way == "file":
        return from_file(request)
    form = BeginForm(request.POST)
    chosen = [name for name in request.POST.getlist("template") if name in library.BY_NAME] if way == "template" else []
    form.full_clean()
    if way == "template" and not chosen:
        form.add_error(None, _("Choose one of the questions below, or begin from nothing."))
    if not form.is_valid():
        form.mark()
        return show(request, form, way=way, chosen=chosen, status=400)
    language = form.cleaned_data["language"]
    study = begin(request, dict(form.cleaned_data), [library.fields_of(name, language) for name in chosen])
    return redirect("drafting:build", study.slug)


def from_file(request: HttpRequest) -> HttpResponse:
    """Make a study of a workbook, whole or not at all."""
    form = FromFileForm(request.POST, request.FILES)
    found = form.found() if form.is_valid() else xlsform.Found()
    if form.is_valid() and not found.problems:
        texts = form.texts_with(found.texts)
        if form.is_valid():
            try:
                study = begin_imported(request, found, texts)
            except services.Refused as refusal:
                found.problems.append(xlsform.Remark("", str(refusal)))
            else:
                request.session[f"imported:{study.slug}"] = [vars_of(remark) for remark in found.remarks]
                return redirect("drafting:build", study.slug)
    form.mark()
    empty = BeginForm(initial={"language": usual_language()})
    rest = sealed(found.rest) if found.rest else ""
    return show(request, empty, way="file", file=form, found=found, sealed=rest, status=400)


def vars_of(remark: xlsform.Remark) -> dict[str, Any]:
    return {"where": remark.where, "text": remark.text}


def begin(request: HttpRequest, texts: dict[str, Any], questions: list[dict[str, Any]]) -> Study:
    """Make the draft, and its owner."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    with transaction.atomic():
        study = services.new_draft(texts=texts, questions=questions)
        people.share(study=study, user=request.user, role=Role.OWNER)
    return study


def begin_imported(request: HttpRequest, found: xlsform.Found, texts: dict[str, Any]) -> Study:
    """Make the draft that a workbook holds, with its translations."""
    by: dict[str, Any] = {"who": who(request), "now": now()}
    with transaction.atomic():
        study = begin(request, texts, found.questions)
        for language, content in found.translations.items():
            services.save_translation(study_id=study.pk, language=language, content=content, **by)
    return study


def usual_language() -> str:
    """Return the reader's own language, if a study can be asked in it."""
    present = get_language() or ""
    return present if present in Language.values else Language.ENGLISH


def show(request: HttpRequest, form: BeginForm, *, way: str, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "form": form,
        "way": way if way in WAYS else "blank",
        "file": FromFileForm(),
        "topics": library.topics(usual_language()),
        **more,
    }
    return render(request, "drafting/new.html", context, status=status)
