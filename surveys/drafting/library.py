"""Questions about sensitive topics, worded with care, in every language that a study can be asked in.

Neutral wording, a time that it asks about, choices that everybody finds themselves in. Where the wording is a standard
one, its source is told; “after” it where ours differs. Each has the protection that we would begin with.
"""

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy

from surveys.design.models import Study

TOPICS: dict[str, Any] = {
    "health": gettext_lazy("Health and mood"),
    "loneliness": gettext_lazy("Loneliness"),
    "substances": gettext_lazy("Alcohol, drugs and gambling"),
    "sexual_health": gettext_lazy("Sexual health"),
    "violence": gettext_lazy("Violence at home"),
    "money": gettext_lazy("Income and tax"),
    "honesty": gettext_lazy("Cheating and misconduct"),
    "corruption": gettext_lazy("Corruption and elections"),
    "work": gettext_lazy("Discrimination and harassment at work"),
}
BY_NAME: dict[str, dict[str, Any]] = {
    each["name"]: each for each in json.loads((Path(__file__).parent / "library.json").read_text())
}
PLAIN = ("name", "kind", "group", "least", "most", "wanted")  # fields that are the same in every language
TEXTS = {"text": "text", "label": "label", "help": "help", "unit": "unit", "group_text": "group"}  # field: translation


@dataclass(frozen=True, slots=True)
class Offer:
    """One question of the library, as the list shows it."""

    name: str
    kind: str
    text: str
    choices: list[str]
    source: str
    epsilon: Decimal


def topics(language: str) -> list[tuple[str, list[Offer]]]:
    """Return the library by topic, in a language."""
    return [
        (str(title), [_offer(each, language) for each in BY_NAME.values() if each["topic"] == topic])
        for topic, title in TOPICS.items()
    ]


def _offer(each: dict[str, Any], language: str) -> Offer:
    choices = each.get("choices", {}).get(language, [])
    return Offer(each["name"], each["kind"], each["text"][language], choices, each["source"], Decimal(each["epsilon"]))


def fields_of(name: str, language: str) -> dict[str, Any]:
    """Return a question of the library as the fields of a draft's."""
    each = BY_NAME[name]
    fields = {field: each[field][language] for field in TEXTS if field in each}
    plain: dict[str, Any] = {field: each[field] for field in PLAIN if field in each}
    choices = "\n".join(each.get("choices", {}).get(language, []))
    return {**plain, **fields, "choices": choices, "may_decline": each["decline"], "epsilon": each["epsilon"]}


def translated(content: dict[str, Any], names: dict[str, str], language: str) -> dict[str, Any]:
    """Return a translation's content with the library's own texts for questions just added: name there to name here."""
    questions = dict(content.get("questions", {}))
    for name, template in names.items():
        each = BY_NAME[template]
        texts = {key: each[field][language] for field, key in TEXTS.items() if field in each}
        if "choices" in each:
            texts["choices"] = each["choices"][language]
        questions[name] = texts
    return {**content, "questions": questions}


def known(study: Study, language: str) -> dict[str, Any]:
    """Return what the library says in a language of a study's questions that are worded as it words them."""
    names = {}
    for question in study.questions.all():
        for each in BY_NAME.values():
            choices = "\n".join(each.get("choices", {}).get(study.language, []))
            if (question.text, question.choices) == (each["text"][study.language], choices):
                names[question.name] = each["name"]
    return translated({}, names, language)
