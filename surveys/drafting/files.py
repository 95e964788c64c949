"""XLSForms in and out of a draft."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from surveys.design import services
from surveys.design.models import Study
from surveys.drafting import xlsform, xlsform_out
from surveys.drafting.access import now, study_for, who
from surveys.drafting.example import example_workbook
from surveys.drafting.importing import ImportForm, sealed
from surveys.people.models import Right

WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@login_required
@never_cache
@require_safe
def export(request: HttpRequest, slug: str) -> HttpResponse:
    """Give the draft as a workbook."""
    study = study_for(request, slug, Right.READ)
    return _file(xlsform_out.workbook_of(study), f"{slug}.xlsx")


@login_required
@require_safe
def example(request: HttpRequest) -> HttpResponse:
    """Give a form with every kind of question, to fill in."""
    return _file(example_workbook(), "candor-example.xlsx")


def _file(content: bytes, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=WORKBOOK)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def import_into(request: HttpRequest, slug: str) -> HttpResponse:
    """Add the questions of a workbook to a draft, all of them or none."""
    study = study_for(request, slug, Right.EDIT)
    form = ImportForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = {"study": study, "file": form}
    if request.method != "POST":
        return render(request, "drafting/import.html", context)
    if form.is_valid():
        found = form.found()
        if not found.problems:
            try:
                add(request, study, found)
            except services.Refused as refusal:
                found.problems.append(xlsform.Remark("", str(refusal)))
            else:
                said = [{"where": remark.where, "text": remark.text} for remark in found.remarks]
                request.session[f"imported:{slug}"] = said
                return redirect("drafting:build", slug)
        context |= {"found": found, "sealed": sealed(found.rest) if found.rest else ""}
    form.mark()
    return render(request, "drafting/import.html", context, status=400)


@transaction.atomic
def add(request: HttpRequest, study: Study, found: xlsform.Found) -> None:
    """Add questions and what is said of them in the languages that the study is asked in already."""
    by: dict[str, Any] = {"who": who(request), "now": now()}
    made = services.add_questions(study_id=study.pk, questions=xlsform.renamed(found, study), **by)
    names = dict(zip([each["name"] for each in found.questions], [each.name for each in made], strict=True))
    for translation in study.translations.all():
        texts = found.translations.get(translation.language, {}).get("questions", {})
        if texts:
            kept = translation.content.get("questions", {}) | {names[name]: said for name, said in texts.items()}
            content = {**translation.content, "questions": kept}
            services.save_translation(study_id=study.pk, language=translation.language, content=content, **by)
