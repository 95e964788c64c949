"""Whole Plans from the few parts that a test is about: not stored, and not verified."""

from typing import Any

from surveys.plan.content import PlanQuestion, canonical, read, to_document

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
