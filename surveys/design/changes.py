"""What of a study or a panel touches ε, said in words, so that old and new can stand side by side."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import models
from django.utils import translation

from dpengine.privacy import plain
from surveys.design.models import Panel, Question, Study

STUDY_TERMS = (
    "unit",
    "neighbours",
    "cap",
    "cap_delta",
    "panel",
    "epsilon_floor",
    "epsilon_ceiling",
    "given_cap",
    "given_batch",
    "rule",
    "horizon",
    "hours",
    "release_epsilon",
    "retires_on",
)
PANEL_TERMS = ("neighbours", "cap", "cap_delta", "local_cap")
QUESTION_TERMS = ("name", "protection", "epsilon")
NOTHING = "none"

Terms = dict[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    what: str
    old: str
    new: str


def terms_of(study: Study) -> Terms:
    """Return a saved study's terms, and those of its questions, in English, whoever asks."""
    with translation.override("en"):
        found = {_name(study, field): _said(study, field) for field in STUDY_TERMS}
    return found | {f"ε of {question.name}": _protection(question) for question in study.questions.all()}


def terms_of_panel(panel: Panel) -> Terms:
    with translation.override("en"):
        return {_name(panel, field): _said(panel, field) for field in PANEL_TERMS}


def differences(before: Terms, after: Terms) -> list[Change]:
    """Return what differs, in the order of the terms; what is new was “none”, and what is gone is."""
    names = [*before, *(name for name in after if name not in before)]
    pairs = ((name, before.get(name, NOTHING), after.get(name, NOTHING)) for name in names)
    return [Change(name, old, new) for name, old, new in pairs if old != new]


def _name(owner: models.Model, field: str) -> str:
    return str(owner._meta.get_field(field).verbose_name)  # type: ignore[union-attr]


def _said(owner: models.Model, field: str) -> str:
    value: Any = getattr(owner, field)
    if value is None:
        return NOTHING
    if isinstance(value, Panel):
        return value.slug
    return str(plain(value)) if isinstance(value, Decimal) else str(value)


def _protection(question: Question) -> str:
    if question.protection == Question.Protection.PUBLICATION:
        return "sent as given: no finite ε on the way"
    return f"{plain(question.epsilon)}, changed on the device"
