"""A study's texts in another language, beside the ones they say the same as."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from surveys.design import services
from surveys.design.models import Language, Study
from surveys.drafting import library
from surveys.drafting.access import now, study_for, who
from surveys.people.models import Right


@login_required
@require_POST
def add(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask in one more language. Texts that were dropped in this visit come back, and the library's own are there."""
    study = study_for(request, slug, Right.EDIT)
    language = _language(study, request.POST.get("language", ""))
    if not study.translations.filter(language=language).exists():
        kept = request.session.pop(_kept(slug, language), None)
        _save(request, study, language, kept or library.known(study, language))
    return redirect("drafting:translate", slug, language)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def translate(request: HttpRequest, slug: str, language: str) -> HttpResponse:
    """Write the texts of one language. They can be kept half done; only a launch needs all of them."""
    study = study_for(request, slug, Right.EDIT)
    _language(study, language)
    kept = study.translations.filter(language=language).first()
    content = kept.content if kept else {}
    refused, status = "", 200
    if request.method == "POST":
        content = services.content_from(study, {name: request.POST.get(name, "") for name in request.POST})
        if not (refused := _problem(study, content) or _save(request, study, language, content)):
            return redirect("drafting:build", slug)
        status = 400
    parts = services.parts(study, content)
    context = {
        "study": study,
        "code": language,
        "language": Language(language).label,
        "parts": parts,
        "lacking": [part for part in parts if part.is_missing],
        "is_kept": kept is not None,
        "refused": refused,
    }
    return render(request, "drafting/translate.html", context, status=status)


@login_required
@require_POST
def drop(request: HttpRequest, slug: str, language: str) -> HttpResponse:
    """Ask in this language no more. The texts stay in this visit's session, and come back when it is added again."""
    study = study_for(request, slug, Right.EDIT)
    get_object_or_404(study.translations, language=language)
    dropped = services.drop_translation(study_id=study.pk, language=language, who=who(request), now=now())
    request.session[_kept(slug, language)] = dropped
    return redirect("drafting:build", slug)


def _save(request: HttpRequest, study: Study, language: str, content: dict[str, Any]) -> str:
    try:
        services.save_translation(study_id=study.pk, language=language, content=content, who=who(request), now=now())
    except services.Refused as refusal:
        return str(refusal)
    return ""


def _problem(study: Study, content: dict[str, Any]) -> str:
    """Return why texts cannot be kept: one is too long, or two choices of a question are the same."""
    parts = services.parts(study, content)
    for part in parts:
        if len(part.translated) > part.longest:
            values = {"question": part.question, "name": part.name, "most": part.longest}
            return _("%(question)s %(name)s is longer than %(most)s characters.") % values
    for name, texts in content["questions"].items():
        choices = [choice for choice in texts.get("choices", []) if choice]
        if len(set(choices)) < len(choices):
            return _("%(question)s has two choices that say the same.") % {"question": name}
    return ""


def _kept(slug: str, language: str) -> str:
    return f"texts:{slug}:{language}"


def _language(study: Study, code: str) -> str:
    if code not in Language.values or code == study.language:
        raise Http404("no such language of this study")
    return code
