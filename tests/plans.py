"""Whole Plans from the few parts that a test is about: not stored, and not verified."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from dpengine.local.joint import Joint
from dpengine.privacy import loss_of_all
from surveys.plan.content import (
    Block,
    DrawnSet,
    PlanContent,
    PlanQuestion,
    canonical,
    read,
    to_document,
)

PARTS: dict[str, Any] = {
    "caps": {},
    "contact": "asks@example.org",
    "format": 1,
    "language": "en",
    "loss": [1, 1],
    "neighbours": "change-one",
    "organisation": "Brightwater College",
    "publication": {},
    "purpose": "To learn.",
    "questions": [],
    "results": "public",
    "slug": "study",
    "title": "Study",
    "unit": "respondent-in-study",
    "wave": 1,
}
CAPS = {"central_epsilon": "2"}
PUBLICATION = {"epsilon": "1", "rule": "when-closed", "smallest_batch": 10}
QUESTION: dict[str, Any] = {"text": "Asked?", "label": "", "help": "", "decline": 0}


def whole_question(question: Any) -> dict[str, Any]:
    """Return a question with the texts that its Plan must have."""
    return QUESTION | to_document(question)


def planned(question: dict[str, Any]) -> PlanQuestion:
    """Return a question as a Plan that holds it says it."""
    return read(whole(questions=[question])).questions[0]


def whole(**parts: Any) -> str:
    """Return the bytes of a Plan with these parts, and usual ones for all others."""
    document = PARTS | parts
    document["caps"] = CAPS | document["caps"]
    document["publication"] = PUBLICATION | document["publication"]
    document["questions"] = [whole_question(question) for question in document["questions"]]
    return canonical(document)


def sent_as_one(content: PlanContent, names: list[str], epsilon: str, name: str) -> PlanContent:
    """Return a Plan that sends these questions as one answer, and asks each person them or all the
    others.
    """
    own = [content.question(each) for each in names]
    joint = Joint.for_epsilon([len(each.choices) for each in own], Decimal(epsilon))
    block = Block(
        channel_document=joint.document(), loss=joint.loss, name=name, questions=list(names)
    )
    others = [each for each in content.channels if each not in names]
    questions = [
        replace(each, own_loss=None, channel_document=None) if each.name in names else each
        for each in content.questions
    ]
    rest = loss_of_all(content.question(each).loss or Fraction(1) for each in others)
    return replace(
        content,
        blocks=[block, Block(questions=others)],
        drawn=[DrawnSet(blocks=[0], weight=1), DrawnSet(blocks=[1], weight=1)],
        loss=max(joint.loss, rest),
        questions=questions,
    )
