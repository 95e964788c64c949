"""The Plan as a document: compose it from a study, write it down canonically, prove its losses.

A question is protected on the device, by its channel, whose loss it declares; or in publications only: then its
answer is sent as given, it has neither channel nor loss (its local ε is ∞), and the Plan's total is of the others.

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
from dpengine.privacy import LARGEST_EPSILON, loss_of_all
from surveys.design import terms
from surveys.design.given import Given as Given

if TYPE_CHECKING:
    from surveys.design.models import Question, Study

FORMAT = 1
DEVICE, PUBLICATION = (
    "device",
    "publication",
)  # what protects an answer: chance on the device, or only in what is published
NAME = re.compile("[a-z][a-z0-9_]{0,19}")
POSITIVE = re.compile("[1-9][0-9]{0,999}")
AMOUNT = re.compile("[0-9]+(?:[.]([0-9]+))?")
PLACES, FINE_PLACES = 9, 12  # decimals of ε; of δ and ρ
LONGEST_CHOICE = 120  # characters
GREATEST_ANSWER = 2**31  # that a number question may take, either side of 0
MOST_GIVEN = 256  # choices that are sent as given: one byte each, where they are kept
LARGEST_RHO = LARGEST_EPSILON**2 / 2  # what the largest ε costs, in concentrated terms
LARGEST_NUMBER = 2**53 - 1  # that every JSON reader keeps exactly
MAXIMUM_TOTAL = Fraction(
    2980
)  # greatest e^ε of all answers together: ε = 8, rounded down. Also compiled into verify.js
DECLINE = "Prefer not to say"
USUAL_CHOICES = {
    "yes_no": ["No", "Yes"],
    "likert": ["Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"],
}
NUMBER = "number"
LEAST_CHOICES = {"yes_no": 2, "single": 2, "likert": 3}
MOST_CHOICES = {"yes_no": 2, "single": 50, "likert": 11}


class Unsound(Exception):
    """A Plan that must not be served or answered: which part, what was expected, what came."""


def channel_of(question: "Question") -> Channel:
    """Return the most precise channel within the question's ε. ValueError says why there is none."""
    check_choices(question)
    return channel_for(len(question.options), question.epsilon)


def check(question: "Question") -> None:
    """Refuse, with a ValueError, a question that no Plan can hold."""
    if question.kind == NUMBER and question.protection == DEVICE:
        raise ValueError("a number can only be sent as given: choose that protection, or offer ranges as choices")
    _question(question)


def check_choices(question: "Question") -> None:
    """Refuse choices that are too few or many, that do not differ, or that nobody could read."""
    if question.kind not in LEAST_CHOICES:
        raise ValueError(f"kind must be {', '.join(LEAST_CHOICES)} to be changed by chance, got {question.kind}")
    options = question.options
    given = len(options) - question.may_decline
    least, most = LEAST_CHOICES[question.kind], MOST_CHOICES[question.kind]
    if not least <= given <= most:
        raise ValueError(f"choices must be {least} to {most}, one a line, got {given}")
    if len(set(options)) != len(options):
        raise ValueError("choices must differ from one another")
    if not all(option.isprintable() and len(option) <= LONGEST_CHOICE for option in options):
        raise ValueError(f"choices must be visible characters, at most {LONGEST_CHOICE} each")


def check_number(question: "Question") -> None:
    """Refuse a number question without bounds: it would take anything, and nothing could be published of it."""
    if question.least is None or question.most is None:
        raise ValueError("a number needs its least and its greatest value: they say how much one person can weigh")
    if not -GREATEST_ANSWER <= question.least < question.most <= GREATEST_ANSWER:
        raise ValueError(
            f"expected least below most, neither beyond {GREATEST_ANSWER:,}, got {question.least} and {question.most}"
        )
    if question.choices.strip() or question.may_decline:
        raise ValueError("a number has no choices, and none of them is “Prefer not to say”")
    if not question.unit.isprintable():
        raise ValueError("unit must be visible characters")


def reason_for_channel(question: "Question") -> str:
    """Return in one sentence why a question's channel is the one it is, and what the next best would cost."""
    return cheapest(Asked(Kind.SINGLE, choices=len(question.options)), question.epsilon).why


def compose(study: "Study") -> dict[str, Any]:
    """Return the Plan's content for a study as it stands."""
    questions = [_question(question) for question in study.questions.all()]
    if questions and study.rule != "on-request" and all(question["kind"] == NUMBER for question in questions):
        raise ValueError("Numbers are published only as a researcher asks about them: choose the rule that says so.")
    return {
        "caps": terms.caps(study),
        "contact": study.contact,
        "format": FORMAT,
        "language": "en",
        "loss": _pair(loss_of_all(_fraction(question["loss"]) for question in questions if "loss" in question)),
        "neighbours": str(study.neighbours),
        "organisation": study.organisation,
        "publication": terms.publication(study),
        "purpose": study.purpose,
        "questions": questions,
        "results": str(study.results),
        "slug": study.slug,
        "title": study.title,
        "unit": str(study.unit),
        "wave": study.wave,
    }


def _question(question: "Question") -> dict[str, Any]:
    content = {
        "choices": [] if question.kind == NUMBER else question.options,
        "decline": int(question.may_decline),
        "help": question.help,
        "kind": str(question.kind),
        "label": question.label,
        "name": question.name,
        "protection": str(question.protection),
        "text": question.text,
    }
    if question.protection == DEVICE:
        channel = channel_of(question)
        return content | {"channel": channel.document(), "loss": _pair(channel.loss)}
    if question.kind != NUMBER:
        check_choices(question)
        return content
    check_number(question)
    return content | {"least": question.least, "most": question.most, "unit": question.unit}


def canonical(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(document: str) -> str:
    return hashlib.sha256(document.encode()).hexdigest()


def read(document: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(document)
    return content


def channels(content: dict[str, Any]) -> dict[str, Channel]:
    """Return the channel of every question that is protected on the device, by name, in order."""
    return {
        question["name"]: choice_channel_from(question["channel"])
        for question in content["questions"]
        if question["protection"] == DEVICE
    }


def given(content: dict[str, Any]) -> dict[str, Given]:
    """Return what every question that is sent as given takes, by name, in order."""
    return {
        question["name"]: Given.from_question(question)
        for question in content["questions"]
        if question["protection"] == PUBLICATION
    }


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
    if "central_delta" in caps or "central_rho" in caps or "rho" in publication:
        _verify_concentrated(caps, publication)


def _verify_concentrated(caps: dict[str, Any], publication: dict[str, Any]) -> None:
    """A cap that may fail with a small chance has all three of its amounts, or none."""
    delta = _amount(caps["central_delta"], "central_delta", FINE_PLACES)
    cap = _amount(caps["central_rho"], "central_rho", FINE_PLACES)
    rho = _amount(publication["rho"], "rho", FINE_PLACES)
    _expect(0 < delta < 1, "central_delta", "above 0 and below 1")
    _expect(0 < cap <= LARGEST_RHO, "central_rho", f"above 0 and at most {LARGEST_RHO}")
    _expect(0 < rho <= cap, "rho of a publication", f"above 0 and at most the cap of {cap}")


def _verify_question(question: dict[str, Any]) -> Fraction:
    """Return what one answer loses on its way; 1, nothing told of it, for one that is sent as given."""
    name, kind, protection, decline = (question[part] for part in ("name", "kind", "protection", "decline"))
    _expect(isinstance(name, str) and NAME.fullmatch(name) is not None, name, "small letters, digits and _")
    _expect(protection in (DEVICE, PUBLICATION), name, f"protection {DEVICE} or {PUBLICATION}")
    _expect(_is_whole(decline) and decline in (0, 1), name, "decline 0 or 1")
    if protection == PUBLICATION:
        _expect("channel" not in question and "loss" not in question, name, "neither channel nor loss")
        if kind == NUMBER:
            _verify_number(question)
        else:
            _expect(_verify_choices(question) <= MOST_GIVEN, name, f"at most {MOST_GIVEN} choices")
        return Fraction(1)
    return _verify_loss(question, _verify_choices(question))


def _verify_choices(question: dict[str, Any]) -> int:
    name, kind, choices = question["name"], question["kind"], question["choices"]
    _expect(isinstance(kind, str) and kind in LEAST_CHOICES, name, f"kind {', '.join(LEAST_CHOICES)}")
    texts = isinstance(choices, list) and all(isinstance(choice, str) and choice for choice in choices)
    _expect(texts and len(set(choices)) == len(choices), name, "choices that are texts and differ")
    given = len(choices) - question["decline"]
    _expect(given == 2 if kind == "yes_no" else given >= 2, name, "two choices (or more, unless yes or no)")
    return len(choices)


def _verify_number(question: dict[str, Any]) -> None:
    name, least, most = question["name"], question["least"], question["most"]
    _expect(question["choices"] == [] and question["decline"] == 0, name, "no choices")
    _expect(isinstance(question["unit"], str), name, "a unit in words")
    bounds = all(_is_whole(bound) and abs(bound) <= GREATEST_ANSWER for bound in (least, most))
    _expect(bounds and least < most, name, f"least below most, neither beyond {GREATEST_ANSWER:,}")


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


def _amount(text: Any, name: str, places: int = PLACES) -> Decimal:
    """Read an ε, δ or ρ: a decimal string of at most so many places."""
    found = AMOUNT.fullmatch(text) if isinstance(text, str) else None
    _expect(
        found is not None and len(found[1] or "") <= places, name, f"a decimal of at most {places} places, in quotes"
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
