"""The Plan as a document: compose it from a study, write it down canonically, prove its losses.

Canonical JSON: keys sorted, no spaces, UTF-8 as it is; only objects, lists, strings and
integers, and integers above 2⁵³ − 1 as decimal strings, so that every reader sees the same
numbers. The digest is the SHA-256 of these bytes. `verify` is the twin of intake/verify.js.
"""

import hashlib
import json
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpengine.local.channels import Channel, channel_for, choice_channel_from
from dpengine.local.choose import Asked, Kind, cheapest
from dpengine.privacy import LARGEST_EPSILON, loss_of_all, plain

if TYPE_CHECKING:
    from surveys.design.models import Question, Study

FORMAT = 1
NAME = re.compile("[a-z][a-z0-9_]{0,19}")
POSITIVE = re.compile("[1-9][0-9]{0,999}")
AMOUNT = re.compile("[0-9]+([.][0-9]{1,9})?")
LONGEST_CHOICE = 120  # characters
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
    if not all(option.isprintable() and len(option) <= LONGEST_CHOICE for option in options):
        raise ValueError(f"choices must be visible characters, at most {LONGEST_CHOICE} each")
    return channel_for(len(options), question.epsilon)


def reason_for_channel(question: "Question") -> str:
    """Return in one sentence why a question's channel is the one it is, and what the next best would cost."""
    return cheapest(Asked(Kind.SINGLE, choices=len(question.options)), question.epsilon).why


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
    return {question["name"]: choice_channel_from(question["channel"]) for question in content["questions"]}


def loss_of_plan(content: dict[str, Any]) -> Fraction:
    """Return the declared e^ε of all answers together."""
    return _fraction(content["loss"])


def loss_of_question(question: dict[str, Any]) -> Fraction:
    """Return the declared e^ε of one answer."""
    return _fraction(question["loss"])


def verify(content: dict[str, Any]) -> None:
    """Prove that no answer, and no person, loses more than the Plan declares. Unsound says what does."""
    try:
        _verify(content)
    except (KeyError, TypeError, AttributeError) as error:
        raise Unsound(f"expected a Plan's parts and types, got others ({error})") from error


def _verify(content: dict[str, Any]) -> None:
    _expect(_is_whole(content["format"]) and content["format"] == FORMAT, "format", f"{FORMAT}")
    questions = content["questions"]
    _expect(isinstance(questions, list) and len(questions) > 0, "questions", "one or more")
    found = [_verify_question(question) for question in questions]
    names = [question["name"] for question in questions]
    _expect(len(set(names)) == len(names), "questions", "each named once")
    declared, total = _fraction(content["loss"]), loss_of_all(found)
    if declared < total:
        raise Unsound(f"loss: declared {_say(declared)}, but the questions together lose {_say(total)}")
    if declared > MAXIMUM_TOTAL:
        raise Unsound(f"loss: expected at most {_say(MAXIMUM_TOTAL)} for all questions together, got {_say(declared)}")
    _verify_publication(content["caps"], content["publication"])


def _verify_publication(caps: dict[str, Any], publication: dict[str, Any]) -> None:
    cap, epsilon = _amount(caps["central_epsilon"], "central_epsilon"), _amount(publication["epsilon"], "epsilon")
    _expect(0 < cap <= LARGEST_EPSILON, "central_epsilon", f"above 0 and at most {LARGEST_EPSILON}")
    _expect(0 < epsilon <= cap, "epsilon of a publication", f"above 0 and at most the cap of {cap}")
    least = publication["smallest_batch"]
    _expect(_is_whole(least) and 1 <= least <= LARGEST_NUMBER, "smallest_batch", "a whole number of 1 or more")


def _verify_question(question: dict[str, Any]) -> Fraction:
    name, kind, choices, decline = (question[part] for part in ("name", "kind", "choices", "decline"))
    _expect(isinstance(name, str) and NAME.fullmatch(name) is not None, "name", "small letters, digits and _")
    _expect(question["protection"] == "device", name, "protection device")
    _expect(kind in LEAST_CHOICES, name, f"kind {', '.join(LEAST_CHOICES)}")
    texts = isinstance(choices, list) and all(isinstance(choice, str) and choice for choice in choices)
    _expect(texts and len(set(choices)) == len(choices), name, "choices that are texts and differ")
    _expect(_is_whole(decline) and decline in (0, 1), name, "decline 0 or 1")
    given = len(choices) - decline
    _expect(given == 2 if kind == "yes_no" else given >= 2, name, "two choices (or more, unless yes or no)")
    return _verify_loss(question, len(choices))


def _verify_loss(question: dict[str, Any], choices: int) -> Fraction:
    name = question["name"]
    try:
        channel = choice_channel_from(question["channel"])
        channel.margins()  # or no share could be estimated
    except ValueError as error:
        raise Unsound(f"{name}: {error}") from error
    _expect(channel.choices == choices, name, f"{choices} choices in its channel, got {channel.choices}")
    _expect("decoder" not in question["channel"], name, "no decoder: these counts are people's choices")
    if (declared := _fraction(question["loss"])) < channel.loss:
        raise Unsound(f"{name}: declared loss {_say(declared)}, but its channel has {_say(channel.loss)}")
    return channel.loss


def _expect(holds: bool, name: str, expected: str) -> None:
    if not holds:
        raise Unsound(f"{name}: expected {expected}")


def _is_whole(value: Any) -> bool:
    return type(value) is int


def _amount(text: Any, name: str) -> Decimal:
    """Read an ε: a decimal string of at most nine places."""
    _expect(
        isinstance(text, str) and AMOUNT.fullmatch(text) is not None, name, "a decimal of at most 9 places, in quotes"
    )
    return Decimal(text)


def _pair(fraction: Fraction) -> list[int | str]:
    return [part if part <= LARGEST_NUMBER else str(part) for part in fraction.as_integer_ratio()]


def _fraction(pair: Any) -> Fraction:
    """Read a loss: two positive integers, as numbers or, above 2⁵³ − 1, as decimal strings."""
    right = isinstance(pair, list) and len(pair) == 2
    _expect(right and all(_is_part(part) for part in pair), "loss", "two whole numbers of 1 or more")
    numerator, denominator = (int(part) for part in pair)
    return Fraction(numerator, denominator)


def _is_part(part: Any) -> bool:
    if isinstance(part, str):
        return POSITIVE.fullmatch(part) is not None
    return _is_whole(part) and 1 <= part <= LARGEST_NUMBER


def _say(loss: Fraction) -> str:
    return f"{Decimal(loss.numerator) / loss.denominator:.6g} to 1"  # which a float may be too small for
