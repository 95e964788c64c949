"""What a library or a file brings into a draft: questions, and their texts in other languages."""

import itertools
from collections.abc import Container, Mapping, Sequence
from decimal import Decimal

import msgspec
from django.db import transaction

from surveys.design import drafts as design
from surveys.design.models import Question, Study
from surveys.design.texts import Stored
from surveys.people.access import Author

QuestionTexts = dict[str, str | list[str]]  # its text, label, help…, and its choices


class QuestionDraft(msgspec.Struct):
    """A question that is not yet in a draft."""

    name: str = ""
    kind: str = ""
    text: str = ""
    label: str = ""
    help: str = ""
    choices: str = ""  # one a line
    codes: str = ""  # of the choices and of declining, one a line
    may_decline: bool = False
    least: int | None = None
    most: int | None = None
    unit: str = ""
    wanted: str = "mean"
    protection: str = "device"
    epsilon: Decimal | None = None  # none: a share of the person's, or the usual one
    group: str = ""
    group_text: str = ""
    asked_if: str = ""
    asked_if_answers: list[int] = []
    together: str = ""  # what it is sent in as one answer with others
    drawn_in: str = ""  # what it stays together in with others
    matters: str = "useful"

    def fields(self) -> dict[str, object]:
        """Return its fields as the model of a draft's question has them."""
        return msgspec.structs.asdict(self)


@transaction.atomic
def add_questions(
    study: Study,
    questions: Sequence[QuestionDraft],
    translations: Mapping[str, Stored],
    author: Author,
) -> list[Question]:
    """Put questions at the end of a draft, with their texts in the languages that it has already.

    A question whose name is taken gets another one; its texts follow.
    """
    added = design.add_questions(
        study_id=study.pk, questions=[question.fields() for question in questions], **author
    )
    for translation in study.translations.all():
        texts = translations.get(translation.language, {}).get("questions", {})
        named = {
            question.name: texts[draft.name]
            for draft, question in zip(questions, added, strict=True)
            if draft.name in texts
        }
        if named:
            present = translation.content.get("questions", {})
            content = {**translation.content, "questions": present | named}
            design.save_translation(
                study_id=study.pk, language=translation.language, content=content, **author
            )
    return added


def untaken(name: str, taken: Container[str]) -> str:
    """Return a key that is not taken: the name, or the name with a number after it."""
    numbered = (f"{name[:17]}_{number}" for number in itertools.count(2))
    return next(key for key in itertools.chain([name], numbered) if key not in taken)
