"""The Plan as a document: compose it from a study, write it down canonically, prove its losses.

Canonical JSON: keys sorted, no spaces, UTF-8 as it is; only objects, lists, strings and
integers, and integers above 2⁵³ − 1 as decimal strings, so that every reader sees the same
numbers. The digest is the SHA-256 of these bytes. `verify` is the twin of intake/verify.js.
"""

import hashlib
import json
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpengine.local.channels import Channel, channel_for, channel_from
from dpengine.privacy import LARGEST_EPSILON, loss_of_all
from surveys.ledger.models import plain

if TYPE_CHECKING:
    from surveys.design.models import Question, Study

FORMAT = 1
LARGEST_NUMBER = 2**53 - 1  # that every JSON reader keeps exactly
MAXIMUM_TOTAL = Fraction(
    2980
)  # greatest e^ε of all answers together: ε = 8, rounded down. Also compiled into verify.js
DECLINE = "Prefer not to say"
USUAL_CHOICES = {
    "yes_no": ["No", "Yes"],
    "likert": ["Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"],
}
LEAST_CHOICES = {"yes_no": 2, "single": 2, "likert": 3}
MOST_CHOICES = {"yes_no": 2, "single": 50, "likert": 11}


class Unsound(Exception):
    """A Plan that must not be served or answered: which part, what was expected, what came."""


def channel_of(question: "Question") -> Channel:
    """Return the most precise channel within the question's ε. ValueError says why there is none."""
    options = question.options
    given = len(options) - question.may_decline
    least, most = LEAST_CHOICES[question.kind], MOST_CHOICES[question.kind]
    if not least <= given <= most:
        raise ValueError(f"choices must be {least} to {most}, one a line, got {given}")
    if len(set(options)) != len(options):
        raise ValueError("choices must differ from one another")
    return channel_for(len(options), question.epsilon)


def compose(study: "Study") -> dict[str, Any]:
    """Return the Plan's content for a study as it stands."""
    questions = [_question(question) for question in study.questions.all()]
    return {
        "caps": {"central_epsilon": f"{plain(study.cap)}"},
        "contact": study.contact,
        "format": FORMAT,
        "language": "en",
        "loss": _pair(loss_of_all(_fraction(question["loss"]) for question in questions)),
        "neighbours": str(study.neighbours),
        "organisation": study.organisation,
        "publication": {
            "epsilon": f"{plain(study.release_epsilon)}",
            "rule": str(study.rule),
            "smallest_batch": study.smallest_batch,
            **({"hours": study.hours} if study.rule == "every" else {}),
        },
        "purpose": study.purpose,
        "questions": questions,
        "results": str(study.results),
        "slug": study.slug,
        "title": study.title,
        "unit": str(study.unit),
        "wave": study.wave,
    }


def _question(question: "Question") -> dict[str, Any]:
    channel = channel_of(question)
    return {
        "channel": channel.document(),
        "choices": question.options,
        "decline": int(question.may_decline),
        "help": question.help,
        "kind": str(question.kind),
        "label": question.label,
        "loss": _pair(channel.loss),
        "name": question.name,
        "protection": "device",
        "text": question.text,
    }


def canonical(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(document: str) -> str:
    return hashlib.sha256(document.encode()).hexdigest()


def read(document: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(document)
    return content


def channels(content: dict[str, Any]) -> dict[str, Channel]:
    """Return the channel of every question, by name, in order."""
    return {question["name"]: channel_from(question["channel"]) for question in content["questions"]}


def loss_of_plan(content: dict[str, Any]) -> Fraction:
    """Return the declared e^ε of all answers together."""
    return _fraction(content["loss"])


def loss_of_question(question: dict[str, Any]) -> Fraction:
    """Return the declared e^ε of one answer."""
    return _fraction(question["loss"])


def verify(content: dict[str, Any]) -> None:
    """Prove that no answer, and no person, loses more than the Plan declares. Unsound says what does."""
    found = []
    if not content["questions"]:
        raise Unsound("questions: expected one or more, got none")
    for question in content["questions"]:
        found.append(_verify_question(question))
    if not 0 < Decimal(content["caps"]["central_epsilon"]) <= LARGEST_EPSILON:
        raise Unsound(f"central_epsilon: expected above 0 and at most {LARGEST_EPSILON}")
    declared, total = _fraction(content["loss"]), loss_of_all(found)
    if declared < total:
        raise Unsound(f"loss: declared {_say(declared)}, but the questions together lose {_say(total)}")
    if declared > MAXIMUM_TOTAL:
        raise Unsound(f"loss: expected at most {_say(MAXIMUM_TOTAL)} for all questions together, got {_say(declared)}")


def _verify_question(question: dict[str, Any]) -> Fraction:
    name = question["name"]
    if question["protection"] != "device":
        raise Unsound(f"{name}: expected protection device, got {question['protection']}")
    try:
        channel = channel_from(question["channel"])
    except ValueError as error:
        raise Unsound(f"{name}: {error}") from error
    if channel.choices != len(question["choices"]):
        raise Unsound(f"{name}: expected {len(question['choices'])} choices in its channel, got {channel.choices}")
    if (declared := _fraction(question["loss"])) < channel.loss:
        raise Unsound(f"{name}: declared loss {_say(declared)}, but its channel has {_say(channel.loss)}")
    return channel.loss


def _pair(fraction: Fraction) -> list[int | str]:
    return [part if part <= LARGEST_NUMBER else str(part) for part in fraction.as_integer_ratio()]


def _fraction(pair: list[int | str]) -> Fraction:
    numerator, denominator = (int(part) for part in pair)
    if numerator < 1 or denominator < 1:
        raise Unsound("loss: expected two numbers of 1 or more")
    return Fraction(numerator, denominator)


def _say(loss: Fraction) -> str:
    return f"{float(loss):.6g} to 1"
