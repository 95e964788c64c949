"""Which parts a Plan has, and everything in it: these and no others. Twin of intake/parts.js.

What nothing verifies must not be there to be read. A channel of 19 : 1 with a `keep` of its own, which a table has not,
once made the honest page say 51 of 100.
"""

from collections.abc import Iterator
from typing import Any

from surveys.design.kinds import DEVICE, DISTRIBUTION, WITH_STEPS

Part = tuple[str, Any, str]  # where it stands, what it is, which parts it may have

PLAN = (
    "caps contact format language layout loss neighbours organisation publication purpose questions results slug title "
    "translations unit wave"
)
CAPS = "central_delta central_epsilon central_rho panel"
PUBLICATION = "epsilon rho rule smallest_batch"
OF_RULE = {"every": " hours", "continual": " horizon hours"}
QUESTION = "asked_if choices decline group help kind label name picture protection skipped text"
INSIDE = {"asked_if": "answers question", "group": "name text", "picture": "height sha256 text type width"}
CHANNELS = {
    "table": "kind weights",
    "subset": "choices keep kind size",
    "one_of": "keep kind options",
    "number": "decoder grid kind scale weights",
}
TEXTS, TEXTS_OF_QUESTION = "organisation purpose questions title", "choices group help label picture text unit"
LANGUAGES = "en zh-hans"


def parts_of(plan: dict[str, Any]) -> Iterator[Part]:
    """Yield every object of a Plan, the outer ones first."""
    yield "plan", plan, PLAN
    yield "caps", plan["caps"], CAPS
    rule = plan["publication"].get("rule")
    yield "publication", plan["publication"], PUBLICATION + (OF_RULE.get(rule, "") if isinstance(rule, str) else "")
    for question in plan["questions"]:
        yield from _of_question(question)
    if "translations" in plan:
        yield from _of_translations(plan["translations"], [question["name"] for question in plan["questions"]])


def _of_question(question: dict[str, Any]) -> Iterator[Part]:
    name = f"{question['name']}"
    counted, changed = question["kind"] in WITH_STEPS, question["protection"] == DEVICE
    wanted = " bins wanted" if question.get("wanted") == DISTRIBUTION else " wanted"
    own = (" least most unit" if counted else "") + (" channel loss" if changed else "")
    yield name, question, QUESTION + own + (wanted if counted and changed else "")
    for part, allowed in INSIDE.items():
        if part in question:
            yield f"{name}, {part}", question[part], allowed
    if changed and question["channel"]["kind"] in CHANNELS:
        yield f"{name}, channel", question["channel"], CHANNELS[question["channel"]["kind"]]


def _of_translations(translations: dict[str, Any], names: list[str]) -> Iterator[Part]:
    yield "translations", translations, LANGUAGES
    for language, texts in translations.items():
        yield language, texts, TEXTS
        if "questions" in texts:
            yield f"{language}, questions", texts["questions"], " ".join(names)
            for name, said in texts["questions"].items():
                yield f"{language}, {name}", said, TEXTS_OF_QUESTION
