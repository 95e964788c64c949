"""Revisions of a draft: what each save changed, so that none erases what another had saved.

A page that shows a draft carries the number of the revision that it was read at. `edit` holds the
study and hands what is saved on it a `Since`: the draft as that page showed it, and each save
since then. merging.py compares the two with what was typed.
"""

import datetime
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Field, Max
from django.utils.translation import gettext as _

from surveys.design.locks import lock_draft
from surveys.design.models import Question, Revision, Study
from surveys.design.refusals import Refused

# A draft by paths: of the study "title", of its question 12 "q12.text", of its texts in another
# language "zh-hans". What is not there has no path; in a revision it is null.
Fields = dict[str, Any]
T = TypeVar("T")

OF_STUDY: dict[str, "Field[Any, Any]"] = {
    field.attname: field
    for field in Study._meta.concrete_fields
    if (field.editable or field.name == "is_planned") and field.name not in ("id", "slug")
}
OF_QUESTION: dict[str, "Field[Any, Any]"] = {
    field.attname: field
    for field in Question._meta.concrete_fields
    if field.attname not in ("id", "study_id")
}


class Overtaken(Refused):
    """Somebody else has changed the same since it was shown."""

    def __init__(self, save: Revision) -> None:
        super().__init__(_("This has changed meanwhile. Nothing was changed: look at it again."))
        self.save = save


@dataclass(frozen=True)
class Since:
    """What was saved of a draft since somebody read it."""

    study: Study
    saves: list[Revision]  # the newest first

    @property
    def number(self) -> int:
        """Return the number of the draft's revision now."""
        return self.saves[0].number if self.saves else number(self.study)

    def last(self, *paths: str) -> Revision | None:
        """Return the last save since then of one of these fields; "q12." is all of a question."""
        for save in self.saves:
            for changed in save.changed:
                if any(
                    changed.startswith(path) if path.endswith(".") else changed == path
                    for path in paths
                ):
                    return save
        return None

    def refuse(self, *paths: str) -> None:
        """Refuse an act on what has changed since its page was shown."""
        if save := self.last(*paths):
            raise Overtaken(save)

    @cached_property
    def before(self) -> Fields:
        """Return the draft as it was read."""
        fields = content(self.study)
        for save in self.saves:
            for path, (old, _new) in save.changed.items():
                fields[path] = old
        return fields

    @cached_property
    def draft(self) -> Study:
        """Return the study as it was read, with its questions; it cannot be saved."""
        study = copy(self.study)
        study._state = copy(study._state)
        study._state.fields_cache = {}
        study._prefetched_objects_cache = {}  # type: ignore[attr-defined]
        for name, field in OF_STUDY.items():
            setattr(study, name, field.to_python(self.before[name]))
        questions = [self._question(study, key) for key in _questions_of(self.before)]
        there = sorted(questions, key=lambda question: (question.position, question.pk))
        found = study.questions.all()
        found._result_cache, found._prefetch_done = there, True  # type: ignore[attr-defined]
        study._prefetched_objects_cache["questions"] = found  # type: ignore[attr-defined]
        return study

    def question(self, pk: int) -> Question | None:
        """Return a question as it was read, or None if it was not there yet."""
        return next((each for each in self.draft.questions.all() if each.pk == pk), None)

    def _question(self, study: Study, pk: int) -> Question:
        question = Question(pk=pk, study=study)
        for name, field in OF_QUESTION.items():
            setattr(question, name, field.to_python(self.before.get(f"q{pk}.{name}")))
        return question


def _questions_of(fields: Fields) -> list[int]:
    named = (path.partition(".") for path, value in fields.items() if value is not None)
    return [int(key[1:]) for key, _dot, name in named if name == "name" and key[1:].isdigit()]


def number(study: Study) -> int:
    """Return the number of a draft's last revision; 0 if nothing was ever saved of it."""
    return study.revisions.aggregate(last=Max("number"))["last"] or 0


def read(study: Study) -> int:
    """Read a draft for a page: return its revision, which is never newer than what is shown."""
    present = number(study)
    study.refresh_from_db()
    return present


def content(study: Study) -> Fields:
    """Return all that a saved draft says, by its paths."""
    fields: Fields = {name: getattr(study, name) for name in OF_STUDY}
    for question in study.questions.all():
        for name in OF_QUESTION:
            fields[f"q{question.pk}.{name}"] = getattr(question, name)
    for translation in study.translations.all():
        fields[translation.language] = translation.content
    return fields


def since(study: Study, read: str | None) -> Since:
    """Return what was saved of a draft since the revision of a page; of a page that names none,
    nothing.
    """
    saves = study.revisions.order_by("-number")
    known = read is not None and read.isascii() and read.isdigit() and len(read) < 10
    return Since(study, list(saves.filter(number__gt=int(read or 0)) if known else saves.none()))


@transaction.atomic
def edit(*, study_id: int, revision: str | None, change: Callable[[Study, Since], T]) -> T:
    """Change a draft, held so that nobody else saves it meanwhile; return what the change does.

    `revision`: of the page that it was typed on. CannotOpen if it is no draft any more.
    """
    study = lock_draft(study_id=study_id)
    return change(study, since(study, revision))


@contextmanager
def recorded(study: Study, *, who: str, now: datetime.datetime) -> Iterator[None]:
    """Write down what of a held draft is changed herein, as its next revision."""
    before = content(Study.objects.get(pk=study.pk))
    yield
    saved = Study.objects.get(pk=study.pk)
    after = content(saved)
    changed = {
        path: [_stored(before.get(path)), _stored(after.get(path))]
        for path in before | after
        if before.get(path) != after.get(path)
    }
    if changed:
        saved.revisions.create(number=number(saved) + 1, who=who, at=now, changed=changed)


def _stored(value: Any) -> Any:
    """Return a value as JSON has it: a decimal and a day are text."""
    if value is None or isinstance(value, bool | int | str | list | dict):
        return value
    return DjangoJSONEncoder().default(value)
