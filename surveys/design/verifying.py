"""Prove a Plan's losses from its integers. Twin of intake/verify.js: the same accepts, the same refusals.

`tests/vectors/plans.json` holds Plans that both judge, and tests/surveys/design/test_twin.py thousands of broken ones.
"""

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.privacy import LARGEST_EPSILON, loss_of_all
from surveys.design import kinds
from surveys.design.kinds import DEVICE, NAME, NUMBER, PUBLICATION, WITH_STEPS
from surveys.design.parts import parts_of

FORMAT = 1
MOST_QUESTIONS = 100  # a phone checks them all before it asks the first; also in verify.js
POSITIVE = re.compile("[1-9][0-9]{0,999}")
AMOUNT = re.compile("[0-9]+(?:[.]([0-9]+))?")
DIGEST, PICTURE = re.compile("[0-9a-f]{64}"), re.compile("image/(png|jpeg|webp|gif)")
WIDEST = 10_000  # pixels of a picture's side
PLACES, FINE_PLACES = 9, 12  # decimals of ε; of δ and ρ
MOST_GIVEN = 256  # choices that are sent as given: one byte each, where they are kept
LARGEST_RHO = LARGEST_EPSILON**2 / 2  # what the largest ε costs, in concentrated terms
LARGEST_NUMBER = 2**53 - 1  # that every JSON reader keeps exactly
MAXIMUM_TOTAL = Fraction(
    2980
)  # greatest e^ε of all answers together: ε = 8, rounded down. Also compiled into verify.js


class Unsound(Exception):
    """A Plan that must not be served or answered: which part, what was expected, what came."""


def verify(content: dict[str, Any]) -> None:
    """Prove that no answer, and no person, loses more than the Plan declares. Unsound says what does."""
    try:
        _verify(content)
    except (KeyError, TypeError, AttributeError) as error:
        raise Unsound(f"expected a Plan's parts and types, got others ({error})") from error


def _verify(content: dict[str, Any]) -> None:
    _expect(_is_whole(content["format"]) and content["format"] == FORMAT, "format", f"{FORMAT}")
    questions = content["questions"]
    _expect(isinstance(questions, list) and 0 < len(questions) <= MOST_QUESTIONS, "questions", f"1 to {MOST_QUESTIONS}")
    _verify_parts(content)
    found = [_verify_question(question, questions[:index]) for index, question in enumerate(questions)]
    names = [question["name"] for question in questions]
    _expect(len(set(names)) == len(names), "questions", "each named once")
    for index, question in enumerate(questions):
        if "group" in question:
            _verify_group(question, questions[:index])
    declared, total = fraction(content["loss"]), loss_of_all(found)
    if declared < total:
        raise Unsound(f"loss: declared {_say(declared)}, but the questions together lose {_say(total)}")
    if declared > MAXIMUM_TOTAL:
        raise Unsound(f"loss: expected at most {_say(MAXIMUM_TOTAL)} for all questions together, got {_say(declared)}")
    _verify_publication(content["caps"], content["publication"])


def _verify_parts(content: dict[str, Any]) -> None:
    """Refuse a part that nothing here verifies, wherever it stands."""
    for place, part, allowed in parts_of(content):
        _expect(isinstance(part, dict), place, "an object with parts")
        extra = next((name for name in part if name not in allowed.split()), None)
        if extra is not None:
            raise Unsound(f"{place}: expected no parts but {', '.join(allowed.split())}; got {extra}")


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


def _verify_question(question: dict[str, Any], earlier: list[dict[str, Any]]) -> Fraction:
    """Return what one answer loses on its way; 1, nothing told of it, for one that is sent as given."""
    name, kind, protection, decline = (question[part] for part in ("name", "kind", "protection", "decline"))
    _expect(_is_name(name), name, "small letters, digits and _")
    _expect(protection in (DEVICE, PUBLICATION), name, f"protection {DEVICE} or {PUBLICATION}")
    _expect(_is_whole(decline) and decline in (0, 1), name, "decline 0 or 1")
    if "skipped" in question:
        _verify_skipped(question)
    if "asked_if" in question:
        _verify_condition(question, earlier)
    if "picture" in question:
        _verify_picture(name, question["picture"])
    if protection == PUBLICATION:
        _verify_given(question)
        return Fraction(1)
    if kind in WITH_STEPS:
        _verify_steps(question)
        return _verify_loss(question)
    return _verify_loss(question, _verify_choices(question, (*kinds.CONDITIONS, kinds.MULTIPLE)))


def _verify_given(question: dict[str, Any]) -> None:
    name = question["name"]
    if question["kind"] == NUMBER:
        _verify_number(question, kinds.GREATEST_ANSWER)
    else:
        _expect(_verify_choices(question, kinds.CONDITIONS) <= MOST_GIVEN, name, f"at most {MOST_GIVEN} choices")


def _verify_skipped(question: dict[str, Any]) -> None:
    """The last answer says that a question does not apply, or was not asked, and goes the way of all answers."""
    skipped = _is_whole(question["skipped"]) and question["skipped"] == 1
    concerns = "an answer for whom it does not concern, which no number has"
    _expect(skipped and question["kind"] not in WITH_STEPS, question["name"], concerns)


def _verify_condition(question: dict[str, Any], earlier: list[dict[str, Any]]) -> None:
    """A question that is not always asked has "Not asked" as its last answer."""
    name, condition = question["name"], question["asked_if"]
    _expect("skipped" in question, name, "an answer “Not asked”")
    other = next((before for before in earlier if before["name"] == condition["question"]), None)
    if other is None or other["kind"] not in kinds.CONDITIONS:
        raise Unsound(f"{name}: expected an earlier question of choices to depend on")
    hidden = question["protection"] == DEVICE or other["protection"] == PUBLICATION
    _expect(hidden, name, "to be changed on the device, like what it depends on: “Not asked” as given would tell")
    answers, last = condition["answers"], len(other["choices"]) - 1 - other.get("skipped", 0)
    _expect(isinstance(answers, list) and len(answers) > 0, name, "one answer or more after which it is asked")
    rises = all(_is_within(answer, 0, last) for answer in answers) and answers == sorted(set(answers))
    _expect(rises, name, f"answers of {other['name']} from 0 to {last}, in rising order")


def _verify_picture(name: str, picture: dict[str, Any]) -> None:
    digest, media, text = picture["sha256"], picture["type"], picture["text"]
    _expect(isinstance(digest, str) and DIGEST.fullmatch(digest) is not None, name, "a picture's SHA-256")
    _expect(
        isinstance(media, str) and PICTURE.fullmatch(media) is not None, name, "a picture of a type all browsers know"
    )
    _expect(isinstance(text, str), name, "a picture in words")
    _expect(all(_is_within(picture[side], 1, WIDEST) for side in ("width", "height")), name, "a picture's size")


def _verify_group(question: dict[str, Any], earlier: list[dict[str, Any]]) -> None:
    """Rows of one matrix stand together, and are answered alike."""
    name, group = question["name"], question["group"]
    words = isinstance(group["name"], str) and NAME.fullmatch(group["name"]) and isinstance(group["text"], str)
    _expect(question["kind"] == "likert" and bool(words), name, "a group of scales, with a name and a text")
    names = [before["group"]["name"] if "group" in before else None for before in earlier]
    if names and names[-1] == group["name"]:
        _expect(_answered(earlier[-1]) == _answered(question), name, "the choices of the other rows of its group")
    else:
        _expect(group["name"] not in names, name, "the rows of its group right before it")


def _answered(question: dict[str, Any]) -> list[Any]:
    condition = question.get("asked_if", {})
    shown = [*(question[part] for part in ("choices", "decline", "protection")), question.get("skipped")]
    return [*shown, condition.get("question"), condition.get("answers"), question["group"]["text"]]


def _verify_choices(question: dict[str, Any], allowed: tuple[str, ...]) -> int:
    name, kind, choices = question["name"], question["kind"], question["choices"]
    _expect(isinstance(kind, str) and kind in allowed, name, f"kind {', '.join(allowed)}")
    texts = isinstance(choices, list) and all(isinstance(choice, str) and choice for choice in choices)
    _expect(texts and len(set(choices)) == len(choices), name, "choices that are texts and differ")
    given = len(choices) - question["decline"] - question.get("skipped", 0)
    _expect(given == 2 if kind == "yes_no" else given >= 2, name, "two choices (or more, unless yes or no)")
    return len(choices)


def _verify_number(question: dict[str, Any], greatest: int, lowest: int | None = None) -> None:
    name, least, most = question["name"], question["least"], question["most"]
    _expect(question["choices"] == [] and question["decline"] == 0, name, "no choices")
    _expect(isinstance(question["unit"], str), name, "a unit in words")
    low = -greatest if lowest is None else lowest
    bounds = all(_is_within(bound, low, greatest) for bound in (least, most))
    _expect(bounds and least < most, name, f"least below most, from {low:,} to {greatest:,}")


def _verify_steps(question: dict[str, Any]) -> None:
    """A number or a month that is changed on the device: its steps, and its bins where its spread is wanted."""
    name, wanted = question["name"], question["wanted"]
    is_month = question["kind"] == kinds.MONTH
    _verify_number(question, *((kinds.LAST_MONTH, kinds.FIRST_MONTH) if is_month else (kinds.GREATEST_ANSWER, None)))
    steps = question["most"] - question["least"]
    _expect(steps <= kinds.MOST_STEPS, name, f"at most {kinds.MOST_STEPS:,} steps")
    _expect(wanted in (kinds.MEAN, kinds.DISTRIBUTION), name, "a mean or a distribution wanted")
    if wanted == kinds.DISTRIBUTION:
        most = min(kinds.MOST_BINS, steps + 1)
        _expect(_is_within(question["bins"], 2, most), name, f"2 to {most} bins")
    else:
        _expect(
            len(question["channel"]["grid"]) <= kinds.MOST_ROWS, name, f"at most {kinds.MOST_ROWS} points of a grid"
        )


def _verify_loss(question: dict[str, Any], choices: int = 0) -> Fraction:
    """Prove a channel's loss, and that what is wanted can be estimated from its reports."""
    name = question["name"]
    try:
        channel = kinds.channel_of(question)
        if isinstance(channel, NumberChannel):
            _verify_decoder(channel, question)
        elif not isinstance(channel, Distribution):
            _expect(
                (question["kind"] == kinds.MULTIPLE) == isinstance(channel, OneOf), name, "one_of for several ticks"
            )
            channel.margins()  # or no share could be estimated
            _expect(channel.choices == choices, name, f"{choices} choices in its channel, got {channel.choices}")
    except ValueError as error:
        raise Unsound(f"{name}: {error}") from error
    if (declared := fraction(question["loss"])) < channel.loss:
        raise Unsound(f"{name}: declared loss {_say(declared)}, but its channel has {_say(channel.loss)}")
    return channel.loss


def _verify_decoder(channel: NumberChannel, question: dict[str, Any]) -> None:
    """The channel has proved that its decoder is right on average; an interval needs it to hold small numbers too."""
    name, steps = question["name"], question["most"] - question["least"]
    _expect(channel.steps == steps, name, f"a grid from 0 to {steps}")
    apart = [2 * worth - channel.scale * steps for worth in channel.decoder]
    _expect(max(map(abs, apart)) <= kinds.FARTHEST * math.gcd(*apart), name, "reports that stand for small numbers")


def _expect(holds: bool, name: str, expected: str) -> None:
    if not holds:
        raise Unsound(f"{name}: expected {expected}")


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and NAME.fullmatch(name) is not None


def _is_whole(value: Any) -> bool:
    return type(value) is int


def _is_within(value: Any, least: int, most: int) -> bool:
    return _is_whole(value) and least <= value <= most


def _amount(text: Any, name: str, places: int = PLACES) -> Decimal:
    """Read an ε, δ or ρ: a decimal string of at most so many places."""
    found = AMOUNT.fullmatch(text) if isinstance(text, str) else None
    _expect(
        found is not None and len(found[1] or "") <= places, name, f"a decimal of at most {places} places, in quotes"
    )
    return Decimal(text)


def pair(found: Fraction) -> list[int | str]:
    """Write a loss down: two integers, above 2⁵³ − 1 as decimal strings."""
    return [part if part <= LARGEST_NUMBER else str(part) for part in found.as_integer_ratio()]


def fraction(written: Any) -> Fraction:
    """Read a loss: two positive integers, as numbers or, above 2⁵³ − 1, as decimal strings."""
    right = isinstance(written, list) and len(written) == 2
    _expect(right and all(_is_part(part) for part in written), "loss", "two whole numbers of 1 or more")
    numerator, denominator = (int(part) for part in written)
    return Fraction(numerator, denominator)


def _is_part(part: Any) -> bool:
    if isinstance(part, str):
        return POSITIVE.fullmatch(part) is not None
    return _is_whole(part) and 1 <= part <= LARGEST_NUMBER


def _say(loss: Fraction) -> str:
    return f"{Decimal(loss.numerator) / loss.denominator:.6g} to 1"  # which a float may be too small for
