"""A draft's texts, and which of them are missing in another language."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from surveys.design.models import Question, Study

STUDY_PARTS: dict[str, Any] = {
    "title": gettext_lazy("Title"),
    "organisation": gettext_lazy("Who asks"),
    "purpose": gettext_lazy("Why"),
}
QUESTION_PARTS: dict[str, tuple[str, Any]] = {  # in a translation: the field of the question, and what it is called
    "text": ("text", gettext_lazy("Question")),
    "label": ("label", gettext_lazy("Short form")),
    "help": ("help", pgettext_lazy("beside a question", "Help")),
    "unit": ("unit", gettext_lazy("Unit")),
    "group": ("group_text", gettext_lazy("Above the matrix")),
    "picture": ("picture_text", gettext_lazy("What the picture shows")),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One text to translate: its address in the translation, what it is, and what it says now."""

    key: str  # "title", "q1.text", "q1.choices.0"
    name: str
    said: str
    longest: int
    translated: str
    question: str = ""

    @property
    def is_missing(self) -> bool:
        return not self.translated.strip()


def parts(study: Study, content: dict[str, Any]) -> list[Part]:
    """Return every text of a draft that a translation must have, with what it has."""
    own = [_of_study(study, key, str(name), content) for key, name in STUDY_PARTS.items()]
    return own + [part for question in study.questions.all() for part in parts_of(question, content)]


def _of_study(study: Study, key: str, name: str, content: dict[str, Any]) -> Part:
    longest = Study._meta.get_field(key).max_length or 0  # type: ignore[union-attr]
    return Part(key, name, str(getattr(study, key)), longest, str(content.get(key, "")))


def parts_of(question: Question, content: dict[str, Any]) -> list[Part]:
    """Return the texts of one question. Usual choices are every language's own: they need no translation."""
    kept = content.get("questions", {}).get(question.name, {})
    found = []
    for key, (field, name) in QUESTION_PARTS.items():
        if said := _said(question, key, field):
            longest = Question._meta.get_field(field).max_length or 0  # type: ignore[union-attr]
            found.append(Part(f"{question.name}.{key}", str(name), said, longest, kept.get(key, ""), question.name))
    lines = [line.strip() for line in question.choices.splitlines() if line.strip()]
    translated = [*kept.get("choices", []), *[""] * len(lines)]
    for place, line in enumerate(lines):
        called = _("Choice %(number)s") % {"number": place + 1}
        found.append(Part(f"{question.name}.choices.{place}", called, line, 120, translated[place], question.name))
    return found


def _said(question: Question, key: str, field: str) -> str:
    if key == "group" and not question.group:
        return ""
    if key == "picture" and question.picture_id is None:
        return ""
    if key == "unit" and question.kind != Question.Kind.NUMBER:
        return ""
    return str(getattr(question, field)).strip()


def content_from(study: Study, typed: dict[str, str]) -> dict[str, Any]:
    """Return a translation's content from what was typed, by the parts' keys."""
    typed = {key: text.replace("\0", "").strip() for key, text in typed.items()}  # no database keeps a NUL
    content: dict[str, Any] = {key: typed.get(key, "") for key in STUDY_PARTS}
    content["questions"] = {}
    for question in study.questions.all():
        mine: dict[str, Any] = {}
        for part in parts_of(question, {}):
            key, said = part.key.split(".")[1:], typed.get(part.key, "")
            if key[0] == "choices":
                mine.setdefault("choices", []).append(said)
            else:
                mine[key[0]] = said
        content["questions"][question.name] = mine
    return content


def missing(study: Study, content: dict[str, Any]) -> list[Part]:
    """Return what a translation lacks."""
    return [part for part in parts(study, content) if part.is_missing]
