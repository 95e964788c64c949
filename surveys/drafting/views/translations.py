"""A study's texts in another language, beside the ones they say the same as."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from surveys import languages
from surveys.design import revisions, texts as design_texts
from surveys.design.drafts import drop_translation, save_translation
from surveys.design.merging import if_deleted, merge_texts
from surveys.design.models import Study
from surveys.design.refusals import Refused
from surveys.design.revisions import Overtaken, Since
from surveys.drafting import library
from surveys.drafting.views.ways import to_build
from surveys.people.access import author, of_study
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
    other = _other_language(study, language)
    if request.method != "POST":
        return _show(request, study, other)
    try:
        typed = revisions.edit(
            study_id=study.pk,
            revision=request.POST.get("revision"),
            change=lambda held, since: _save(request, held, since, other),
        )
    except Refused as refusal:  # it is no draft any more
        content = design_texts.content_from(study, request.POST.dict())
        typed = {"refused": str(refusal), "content": content}
    return _show(request, study, other, **typed) if typed else to_build(request, study)


def _show(request: HttpRequest, study: Study, language: str, **typed: Any) -> HttpResponse:
    """Show the texts as they are saved, or as they were typed and why they were not saved."""
    revision = revisions.read(study)
    stored = study.translations.filter(language=language).first()
    parts = design_texts.parts(study, typed.get("content", stored.content if stored else {}))
    context = {
        "revision": revision,
        "study": study,
        "code": language,
        "language": languages.name(language),
        "parts": parts,
        "lacking": [part for part in parts if part.is_missing],
        "is_kept": stored is not None,
        **typed,
    }
    is_overtaken = typed.get("conflicts") or typed.get("overtaken")
    status = 409 if is_overtaken else 400 if typed else 200
    return render(request, "drafting/translate.html", context, status=status)


def _save(request: HttpRequest, study: Study, since: Since, language: str) -> dict[str, Any]:
    """Save texts as they were typed, merged with what others saved; or return what the page shows
    instead.
    """
    now, save = study.translations.filter(language=language).first(), since.last(language)
    was = since.before.get(language)
    if now is None and was is not None:
        merged = if_deleted(request.POST, languages.name(language), save)
        if merged.is_dropped:
            return {}
    else:
        typed = _under_present_names(request.POST, study, since)
        parts = design_texts.parts(study, now.content if now else {})
        merged = merge_texts(
            read={each.key: each.translated for each in design_texts.parts(since.draft, was or {})},
            now={each.key: each.translated for each in parts},
            labels={each.key: f"{each.question} {each.name}".strip() for each in parts},
            data=typed,
            save=save,
        )
    content = design_texts.content_from(study, {key: str(merged.data[key]) for key in merged.data})
    refused = _problem(study, content)
    if not refused and not merged.conflicts:
        try:
            save_translation(
                study_id=study.pk, language=language, content=content, **author(request)
            )
            return {}
        except Refused as refusal:
            refused = str(refusal)
    shown = {"conflicts": merged.conflicts, "revision": since.number}
    return {"content": content, "refused": refused, **shown}


def _under_present_names(typed: QueryDict, study: Study, since: Since) -> QueryDict:
    """Return what was typed with the names that questions have now."""
    typed, names = typed.copy(), dict(study.questions.values_list("pk", "name"))
    moved = {each.name: names[each.pk] for each in since.draft.questions.all() if each.pk in names}
    for key in list(typed):
        name, dot, part = key.partition(".")
        if dot and moved.get(name, name) != name:
            typed.setlist(f"{moved[name]}.{part}", typed.pop(key))
    return typed


def _problem(study: Study, content: Mapping[str, Any]) -> str:
    """Return why texts cannot be kept: one is too long, or two choices of a question are equal."""
    for part in design_texts.parts(study, dict(content)):
        if len(part.translated) > part.longest:
            return _("%(question)s %(name)s is longer than %(most)s characters.") % {
                "question": part.question,
                "name": part.name,
                "most": part.longest,
            }
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

    def forget(held: Study, since: Since) -> dict[str, Any]:
        since.refuse(language)
        return drop_translation(study_id=held.pk, language=language, **author(request))

    revision = request.POST.get("revision")
    try:
        dropped = revisions.edit(study_id=study.pk, revision=revision, change=forget)
    except Refused as refusal:
        save = refusal.save if isinstance(refusal, Overtaken) else None
        return _show(request, study, language, refused=str(refusal), overtaken=save)
    request.session[f"texts:{study.slug}:{language}"] = dropped
    return to_build(request, study)


def _other_language(study: Study, code: str) -> str:
    if languages.problem(code) or code == study.language:
        raise Http404("no such language of this study")
    return code
