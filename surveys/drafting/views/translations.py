"""A study's texts in another language, beside the ones they say the same as."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from surveys.design import texts as design_texts
from surveys.design.drafts import drop_translation, save_translation
from surveys.design.models import Language, Study
from surveys.design.refusals import Refused
from surveys.drafting import library
from surveys.drafting.access import author, of_study
from surveys.people.models import Right


@of_study(Right.EDIT)
@require_POST
def add(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask in one more language. Texts that were dropped in this visit come back, and the
    library's own are there.
    """
    language = _other_language(study, request.POST.get("language", ""))
    if not study.translations.filter(language=language).exists():
        dropped = request.session.pop(f"texts:{study.slug}:{language}", None)
        content = dropped or dict(library.known(study, language))
        save_translation(study_id=study.pk, language=language, content=content, **author(request))
    return redirect("drafting:translate", study.slug, language)


@of_study(Right.EDIT)
@require_http_methods(["GET", "HEAD", "POST"])
def translate(request: HttpRequest, study: Study, language: str) -> HttpResponse:
    """Write the texts of one language. They can be kept half done; only a launch needs all of
    them.
    """
    stored = study.translations.filter(language=_other_language(study, language)).first()
    content, refused = stored.content if stored else {}, ""
    if request.method == "POST":
        content = design_texts.content_from(study, request.POST.dict())
        refused = _problem(study, content)
        if not refused:
            try:
                save_translation(
                    study_id=study.pk, language=language, content=content, **author(request)
                )
                return redirect("drafting:build", study.slug)
            except Refused as refusal:
                refused = str(refusal)
    parts = design_texts.parts(study, content)
    context = {
        "study": study,
        "code": language,
        "language": Language(language).label,
        "parts": parts,
        "lacking": [part for part in parts if part.is_missing],
        "is_kept": stored is not None,
        "refused": refused,
    }
    status = 400 if refused else 200
    return render(request, "drafting/translate.html", context, status=status)


def _problem(study: Study, content: Mapping[str, Any]) -> str:
    """Return why texts cannot be kept: one is too long, or two choices of a question are equal."""
    for part in design_texts.parts(study, dict(content)):
        if len(part.translated) > part.longest:
            values = {"question": part.question, "name": part.name, "most": part.longest}
            return _("%(question)s %(name)s is longer than %(most)s characters.") % values
    for name, texts in content["questions"].items():
        choices = [choice for choice in texts.get("choices", []) if choice]
        if len(set(choices)) < len(choices):
            return _("%(question)s has two choices that say the same.") % {"question": name}
    return ""


@of_study(Right.EDIT)
@require_POST
def drop(request: HttpRequest, study: Study, language: str) -> HttpResponse:
    """Ask in this language no more. The texts stay in this visit's session, and come back when
    it is added again.
    """
    get_object_or_404(study.translations, language=language)
    dropped = drop_translation(study_id=study.pk, language=language, **author(request))
    request.session[f"texts:{study.slug}:{language}"] = dropped
    return redirect("drafting:build", study.slug)


def _other_language(study: Study, code: str) -> str:
    if code not in Language.values or code == study.language:
        raise Http404("no such language of this study")
    return code
