"""A draft's texts, and which of them are missing in another language."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from surveys.design.models import Question, Study
from surveys.design.questions import MAX_CHOICE, lines
from surveys.plan.kinds import KINDS

# A translation as it is stored: title, organisation, purpose, and questions by their names.
Stored = dict[str, Any]
STUDY_PARTS: dict[str, Any] = {
    "title": gettext_lazy("Title"),
    "organisation": gettext_lazy("Organisation"),
    "purpose": gettext_lazy("Why"),
}
# in a translation: the field of the question, and what it is called
QUESTION_PARTS: dict[str, tuple[str, Any]] = {
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


def parts(study: Study, content: Stored) -> list[Part]:
    """Return every text of a draft that a translation must have, with what it has."""
    texts = [
        Part(key, str(name), str(getattr(study, key)), _longest(Study, key), content.get(key, ""))
        for key, name in STUDY_PARTS.items()
    ]
    for question in study.questions.all():
        texts += parts_of(question, content)
    return texts


def parts_of(question: Question, content: Stored) -> list[Part]:
    """Return the texts of one question. Usual choices are every language's own."""
    translated = content.get("questions", {}).get(question.name, {})
    has_part = {  # of those that only some questions have
        "group": bool(question.group),
        "picture": question.picture_id is not None,
        "unit": KINDS[question.kind].has_unit,
    }
    parts = []
    for key, (field, name) in QUESTION_PARTS.items():
        text = str(getattr(question, field)).strip()
        if text and has_part.get(key, True):
            address, longest = f"{question.name}.{key}", _longest(Question, field)
            own = translated.get(key, "")
            parts.append(Part(address, str(name), text, longest, own, question.name))
    written = lines(question.choices)
    choices = [*translated.get("choices", []), *[""] * len(written)]
    for place, line in enumerate(written):
        address, name = f"{question.name}.choices.{place}", _("Choice %(number)s")
        name %= {"number": place + 1}
        parts.append(Part(address, name, line, MAX_CHOICE, choices[place], question.name))
    return parts


def _longest(model: type[Study | Question], field: str) -> int:
    return model._meta.get_field(field).max_length or 0  # type: ignore[union-attr]


def content_from(study: Study, typed: dict[str, str]) -> Stored:
    """Return a translation's content from what was typed, by the parts' keys."""
    # no database keeps a NUL
    typed = {key: text.replace("\0", "").strip() for key, text in typed.items()}
    content: Stored = {key: typed.get(key, "") for key in STUDY_PARTS}
    content["questions"] = {}
    for question in study.questions.all():
        texts: dict[str, Any] = {}
        for part in parts_of(question, {}):
            key, text = part.key.split(".")[1], typed.get(part.key, "")
            if key == "choices":
                texts.setdefault("choices", []).append(text)
            else:
                texts[key] = text
        content["questions"][question.name] = texts
    return content


def missing(study: Study, content: Stored) -> list[Part]:
    """Return what a translation lacks."""
    return [part for part in parts(study, content) if part.is_missing]
