"""Prove a Plan's losses from its integers. Twin of intake/verify.js: they accept and refuse alike.

`tests/vectors/plans.json` holds Plans that both judge, and tests/surveys/plan/test_twin.py makes
thousands of broken ones. What is judged here may be any JSON: nothing is taken for granted.

Every object has a closed set of parts, those of its value in content.py: what nothing verifies
must not be there to be read. A channel of 19 : 1 with a `keep` of its own, which a table has not,
once made the honest page say 51 of 100.
"""

import re
from collections.abc import Container, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec

from dpengine.local.channels import CHANNELS
from dpengine.privacy import LARGEST_EPSILON, Neighbours
from surveys.plan import drawing, invited, kinds
from surveys.plan.checks import expect, is_within, matches, names_in
from surveys.plan.content import (
    ANSWERS,
    COMMON,
    FRESH,
    KEPT,
    LARGEST_NUMBER,
    Caps,
    Condition,
    Group,
    Picture,
    PlanContent,
    PlanQuestion,
    PublicationTerms,
    QuestionTexts,
    Texts,
    Unsound,
    fraction,
    to_document,
)
from surveys.plan.kinds import DEVICE, DISTRIBUTION, KINDS, MEAN, NAME, NUMBER, PUBLICATION, Kind
from surveys.plan.records import ONE_ANSWER, WHOLE

FORMAT = 1
MAX_WAVES = 99  # that a study plans
MAX_QUESTIONS = 100  # a phone checks them all before it asks the first; also in verify.js
AMOUNT = re.compile("[0-9]+(?:[.]([0-9]+))?")
DIGEST, MEDIA = re.compile("[0-9a-f]{64}"), re.compile("image/(png|jpeg|webp|gif)")
WIDEST = 10_000  # pixels of a picture's side
PLACES, FINE_PLACES = 9, 12  # decimals of ε; of δ and ρ
MAX_RHO = LARGEST_EPSILON**2 / 2  # what the largest ε costs, in concentrated terms
# The greatest e^ε of all answers together: e⁸, rounded up, so that an ε of 8 in all can be asked
# for. Also compiled into verify.js.
MAXIMUM_TOTAL = Fraction(2_980_957_987_042, 10**9)

OF_SOME_RULES = {"every": {"hours"}, "continual": {"horizon", "hours"}}
OF_SOME_QUESTIONS = {"least", "most", "unit", "channel", "loss", "wanted", "bins"}
INSIDE: dict[str, type[msgspec.Struct]] = {
    "asked_if": Condition,
    "group": Group,
    "picture": Picture,
}
PARTS_OF_CHANNEL = {
    name: set(kind.parts.split()) for kinds in CHANNELS.values() for name, kind in kinds.items()
}
LANGUAGE = re.compile("[a-z]{2,3}(-[a-z0-9]{1,8}){0,3}")  # a tag of BCP 47, in small letters


def verify(plan: Any) -> None:
    """Prove that no answer, and no person, loses more than the Plan declares.

    Unsound says which part is wrong, what was expected, and what came.
    """
    try:
        _verify(to_document(plan))
    except (KeyError, TypeError, AttributeError) as error:
        raise Unsound(f"expected a Plan's parts and types, got others ({error})") from error


def _verify(plan: Any) -> None:
    expect(type(plan["format"]) is int and plan["format"] == FORMAT, "format", f"{FORMAT}")
    questions = plan["questions"]
    is_list = isinstance(questions, list) and 0 < len(questions) <= MAX_QUESTIONS
    expect(is_list, "questions", f"1 to {MAX_QUESTIONS}")
    for place, part, allowed in _parts_of(plan):
        expect(isinstance(part, dict), place, "an object with parts")
        if extra := set(part) - set(allowed):
            known = ", ".join(sorted(allowed))
            raise Unsound(f"{place}: expected no parts but {known}; got {min(extra)}")
    together = drawing.sent_together(plan)
    losses = [_verify_question(each, questions[:at], together) for at, each in enumerate(questions)]
    names = {question["name"] for question in questions}
    expect(len(names) == len(questions), "questions", "each named once")
    for at, question in enumerate(questions):
        if "group" in question:
            _verify_group(question, questions[:at])
    by_name = {question["name"]: loss for question, loss in zip(questions, losses, strict=True)}
    declared, total, most = fraction(plan["loss"]), drawing.verify(plan, by_name), MAXIMUM_TOTAL
    if declared < total:
        text = f"loss: declared {_said(declared)}, but the questions together lose {_said(total)}"
        raise Unsound(text)
    expect(
        declared <= most,
        "loss",
        f"at most {_said(most)} for all questions together, got {_said(declared)}",
    )
    _verify_publication(plan["caps"], plan["publication"])
    if plan.get("unit") == ONE_ANSWER:
        is_fixed = plan["neighbours"] == Neighbours.CHANGE_ONE
        text = "another one than one answer, unless change-one with a cap on ε alone"
        expect(is_fixed and "central_delta" not in plan["caps"], "unit", text)
    if "waves" in plan or "draws" in plan:
        _verify_waves(plan)
    if "counts" in plan["publication"]:
        _verify_counts(plan)
    if "accounting" in plan["publication"]:
        is_counted = "counts" in plan["publication"]
        is_known = is_counted and is_within(plan["publication"]["accounting"], COMMON, COMMON)
        expect(is_known, "accounting", f"{COMMON}, where what answers lose is counted")
    if "invited" in plan:
        invited.verify(plan["invited"])


def _parts_of(plan: Any) -> Iterator[tuple[str, Any, set[str]]]:
    """Yield every object of a Plan, the outer ones first: its place, itself, its allowed parts."""
    yield "plan", plan, names_in(PlanContent)
    yield "caps", plan["caps"], names_in(Caps)
    rule = plan["publication"].get("rule")
    more = OF_SOME_RULES.get(rule, set()) if isinstance(rule, str) else set()
    yield (
        "publication",
        plan["publication"],
        names_in(PublicationTerms) - OF_SOME_RULES["continual"] | more,
    )
    together = drawing.sent_together(plan)
    for question in plan["questions"]:
        yield from _parts_of_question(question, together)
    yield from drawing.parts_of(plan)
    yield from invited.parts_of(plan)
    if "translations" in plan:
        tags = {tag for tag in plan["translations"] if matches(tag, LANGUAGE)}
        yield "translations", plan["translations"], tags
        names = {str(question["name"]) for question in plan["questions"]}
        for language, texts in plan["translations"].items():
            yield language, texts, names_in(Texts)
            if "questions" in texts:
                yield f"{language}, questions", texts["questions"], names
                for name, own in texts["questions"].items():
                    yield f"{language}, {name}", own, names_in(QuestionTexts)


def _parts_of_question(
    question: Any, together: Container[str]
) -> Iterator[tuple[str, Any, set[str]]]:
    name, kind = f"{question['name']}", _kind_of(question)
    allowed = names_in(PlanQuestion) - OF_SOME_QUESTIONS | (kind.parts if kind else set())
    has_channel = question["protection"] == DEVICE and question["name"] not in together
    if has_channel:
        allowed |= {"channel", "loss"}
        if kind and kind.is_counted:
            allowed |= {"wanted", "bins"} if question.get("wanted") == DISTRIBUTION else {"wanted"}
    yield name, question, allowed
    for part, value in INSIDE.items():
        if part in question:
            yield f"{name}, {part}", question[part], names_in(value)
    if has_channel and question["channel"]["kind"] in PARTS_OF_CHANNEL:
        yield f"{name}, channel", question["channel"], PARTS_OF_CHANNEL[question["channel"]["kind"]]


def _kind_of(question: Any) -> Kind | None:
    kind = question["kind"]
    return KINDS.get(kind) if isinstance(kind, str) else None


def _verify_publication(caps: Any, publication: Any) -> None:
    cap = _amount(caps["central_epsilon"], "central_epsilon")
    epsilon = _amount(publication["epsilon"], "epsilon")
    expect(0 < cap <= LARGEST_EPSILON, "central_epsilon", f"above 0 and at most {LARGEST_EPSILON}")
    expect(0 < epsilon <= cap, "epsilon of a publication", f"above 0 and at most the cap of {cap}")
    least = publication["smallest_batch"]
    is_batch = is_within(least, 1, LARGEST_NUMBER)
    expect(is_batch, "smallest_batch", "a whole number of 1 or more")
    is_share = "widest" not in publication or is_within(publication["widest"], 1, 99)
    expect(is_share, "widest", "a whole number from 1 to 99")
    if "central_delta" in caps or "central_rho" in caps or "rho" in publication:
        # A cap that may fail with a small chance has all three of its amounts, or none.
        delta = _amount(caps["central_delta"], "central_delta", FINE_PLACES)
        cap = _amount(caps["central_rho"], "central_rho", FINE_PLACES)
        rho = _amount(publication["rho"], "rho", FINE_PLACES)
        expect(0 < delta < 1, "central_delta", "above 0 and below 1")
        expect(0 < cap <= MAX_RHO, "central_rho", f"above 0 and at most {MAX_RHO}")
        expect(0 < rho <= cap, "rho of a publication", f"above 0 and at most the cap of {cap}")


def _verify_waves(plan: Any) -> None:
    """A Plan says of how many waves it is one, and how chance falls in them; older ones neither.

    A key that stays on the device serves later waves, and would tell who fetched which ticket.
    """
    waves, draws = plan.get("waves"), plan.get("draws")
    expect(is_within(waves, 1, MAX_WAVES), "waves", f"a whole number from 1 to {MAX_WAVES}")
    expect(is_within(plan["wave"], 1, waves), "wave", f"one of the {waves} that are planned")
    is_kept = draws == KEPT and waves > 1 and "invited" not in plan
    text = "fresh; or kept, of two waves or more, whose people are on no list"
    expect(draws == FRESH or is_kept, "draws", text)


def _verify_counts(plan: Any) -> None:
    """What answers lose is known where all that one record is can change, and nothing else can.

    Proof: dpengine.contraction. A later wave repeats the draws of an earlier one, unless they are
    fresh.
    """
    expected = (
        "answers, of a first wave or fresh draws, change-one, of people or answers, with a cap on "
        "ε alone"
    )
    is_whole = plan["unit"] in (WHOLE, ONE_ANSWER)
    is_known = plan["neighbours"] == Neighbours.CHANGE_ONE and is_whole
    is_apart = is_within(plan["wave"], 1, 1) or plan.get("draws") == FRESH
    is_apart = is_apart and "central_delta" not in plan["caps"]
    is_answers = plan["publication"]["counts"] == ANSWERS
    expect(is_answers and is_known and is_apart, "counts", expected)


def _verify_question(question: Any, earlier: Sequence[Any], together: Container[str]) -> Fraction:
    """Return what one answer loses on its way; 1, nothing told of it, for one in the clear, or
    that its block sends.
    """
    name, protection, decline = (question[part] for part in ("name", "protection", "decline"))
    expect(matches(name, NAME), name, "small letters, digits and _")
    expect(protection in (DEVICE, PUBLICATION), name, f"protection {DEVICE} or {PUBLICATION}")
    expect(is_within(decline, 0, 1), name, "decline 0 or 1")
    on_device = protection == DEVICE
    kind = _kind_of(question)
    if kind is None or (kind.only_on_device and not on_device):
        raise Unsound(f"{name}: expected kind {', '.join(KINDS)}, the device's own there only")
    if "skipped" in question:
        # The last answer is for whom it does not concern, and goes the way of all answers.
        skipped = is_within(question["skipped"], 1, 1) and not kind.is_counted
        expect(skipped, name, "an answer for whom it does not concern, which no number has")
    if "asked_if" in question:
        _verify_condition(question, earlier)
    if "follows" in question:
        is_earlier = any(before["name"] == question["follows"] for before in earlier)
        follows = is_earlier and "skipped" in question and "asked_if" not in question
        expect(follows, name, "an earlier question that it follows from, and is asked of all")
    if "picture" in question:
        _verify_picture(name, question["picture"])
    if "codes" in question:
        _verify_codes(question, kind)
    verify_kind = _verify_counted if kind.is_counted else _verify_choices
    answers = verify_kind(question, kind)
    is_alone = on_device and name not in together
    return _verify_loss(question, answers) if is_alone else Fraction(1)


def _verify_condition(question: Any, earlier: Sequence[Any]) -> None:
    """A question that is not always asked has "Not asked" as its last answer."""
    name, condition = question["name"], question["asked_if"]
    expect("skipped" in question, name, "an answer “Not asked”")
    other = next((before for before in earlier if before["name"] == condition["question"]), None)
    if other is None or not KINDS[other["kind"]].is_condition:
        raise Unsound(f"{name}: expected an earlier question of choices to depend on")
    hidden = question["protection"] == DEVICE or other["protection"] == PUBLICATION
    text = "to be changed on the device, like what it depends on: “Not asked” as given would tell"
    expect(hidden, name, text)
    answers, last = condition["answers"], len(other["choices"]) - 1 - other.get("skipped", 0)
    is_list = isinstance(answers, list) and len(answers) > 0
    expect(is_list, name, "one answer or more after which it is asked")
    rises = all(is_within(answer, 0, last) for answer in answers)
    rises = rises and answers == sorted(set(answers))
    expect(rises, name, f"answers of {other['name']} from 0 to {last}, in rising order")


def _verify_codes(question: Any, kind: Kind) -> None:
    """Each choice has a code of its own, and declining may have one."""
    codes, decline = question["codes"], question["decline"]
    own = len(question["choices"]) - question.get("skipped", 0)
    is_sound = (
        not kind.is_counted
        and isinstance(codes, list)
        and own - decline <= len(codes) <= own
        and all(matches(code, kinds.CODE) for code in codes)
        and len(set(codes)) == len(codes)
    )
    expect(is_sound, question["name"], "a code for each choice, and all different")


def _verify_picture(name: str, picture: Any) -> None:
    expect(matches(picture["sha256"], DIGEST), name, "a picture's SHA-256")
    expect(matches(picture["type"], MEDIA), name, "a picture of a type all browsers know")
    expect(isinstance(picture["text"], str), name, "a picture in words")
    sides = all(is_within(picture[side], 1, WIDEST) for side in ("width", "height"))
    expect(sides, name, "a picture's size")


def _verify_group(question: Any, earlier: Sequence[Any]) -> None:
    """Rows of one matrix stand together, and are answered alike."""
    name, group = question["name"], question["group"]
    is_group = matches(group["name"], NAME) and isinstance(group["text"], str)
    is_row = is_group and (KINDS[question["kind"]].is_matrix or _is_scored(question))
    expect(is_row, name, "a group of scales, with a name and a text")
    names = [before["group"]["name"] if "group" in before else None for before in earlier]
    if names and names[-1] == group["name"]:
        alike = _answered(earlier[-1]) == _answered(question)
        expect(alike, name, "the choices of the other rows of its group")
    else:
        expect(group["name"] not in names, name, "the rows of its group right before it")


def _answered(question: Any) -> list[Any]:
    parts = ("choices", "decline", "protection", "skipped")
    condition = question.get("asked_if", {})
    shown = [question.get(part) for part in parts]
    return [*shown, condition.get("question"), condition.get("answers"), question["group"]["text"]]


def _is_scored(question: Any) -> bool:
    """Tell whether the answers to a number are words: a scale whose mean is wanted."""
    return bool(question["kind"] == NUMBER and question["choices"] != [])


def _verify_choices(question: Any, kind: Kind) -> int:
    """Return how many choices a question has."""
    name, choices, protection = (question[part] for part in ("name", "choices", "protection"))
    _verify_texts(name, choices)
    own = len(choices) - question["decline"] - question.get("skipped", 0)
    is_enough = own == 2 if kind.max_choices == 2 else own >= 2
    expect(is_enough, name, "two choices (or more, unless yes or no)")
    most = kinds.MAX_OPTIONS[PUBLICATION]
    expect(protection == DEVICE or len(choices) <= most, name, f"at most {most} choices")
    return len(choices)


def _verify_texts(name: str, choices: Any) -> None:
    texts = isinstance(choices, list) and all(
        isinstance(choice, str) and choice for choice in choices
    )
    expect(texts and len(set(choices)) == len(choices), name, "choices that are texts and differ")


def _verify_scored(question: Any) -> None:
    """Each value of a number has a word of its own, if any has one."""
    name, choices = question["name"], question["choices"]
    _verify_texts(name, choices)
    is_mean = question["protection"] == DEVICE and question["wanted"] == MEAN
    expect(is_mean, name, "choices of a number only where its mean is wanted")
    points = question["most"] - question["least"] + 1
    expect(len(choices) == points, name, f"{points} choices, one for each number")


def _verify_counted(question: Any, kind: Kind) -> int:
    """Return how many answers a number has: on the device its steps, or bins for its spread."""
    name, least, most = question["name"], question["least"], question["most"]
    is_plain = question["choices"] == [] or _is_scored(question)
    expect(is_plain and question["decline"] == 0, name, "no choices")
    expect(isinstance(question["unit"], str), name, "a unit in words")
    bounds = all(is_within(bound, kind.first, kind.last) for bound in (least, most))
    text = f"least below most, from {kind.first:,} to {kind.last:,}"
    expect(bounds and least < most, name, text)
    if _is_scored(question):
        _verify_scored(question)
    if question["protection"] == PUBLICATION:
        return int(most - least) + 1
    wanted, steps = question["wanted"], most - least
    expect(steps <= kinds.MAX_STEPS, name, f"at most {kinds.MAX_STEPS:,} steps")
    expect(wanted in (MEAN, DISTRIBUTION), name, "a mean or a distribution wanted")
    if wanted == DISTRIBUTION:
        most_bins = min(kinds.MAX_BINS, steps + 1)
        expect(is_within(question["bins"], 2, most_bins), name, f"2 to {most_bins} bins")
        return int(question["bins"])
    points = len(question["channel"]["grid"])
    expect(points <= kinds.MAX_ROWS, name, f"at most {kinds.MAX_ROWS} points of a grid")
    return int(steps) + 1


def _verify_loss(question: Any, answers: int) -> Fraction:
    """Prove a channel's loss, and that what is wanted can be estimated from its reports."""
    name = question["name"]
    try:
        kind = KINDS[question["kind"]]
        bounds = (question["least"], question["most"]) if kind.is_counted else (0, 0)
        channel = kind.channel(question["channel"], question.get("wanted", ""), *bounds)
        channel.check()  # or nothing could be estimated
    except ValueError as error:
        raise Unsound(f"{name}: {error}") from error
    text = f"{answers} answers in its channel, got {channel.answers}"
    expect(channel.answers == answers, name, text)
    if (declared := fraction(question["loss"])) < channel.loss:
        text = f"declared loss {_said(declared)}, but its channel has {_said(channel.loss)}"
        raise Unsound(f"{name}: {text}")
    return channel.loss


def _amount(text: Any, name: str, places: int = PLACES) -> Decimal:
    """Read an ε, δ or ρ: a decimal string of at most so many places."""
    match = AMOUNT.fullmatch(text) if isinstance(text, str) else None
    is_amount = match is not None and len(match[1] or "") <= places
    expect(is_amount, name, f"a decimal of at most {places} places, in quotes")
    return Decimal(text)


def _said(loss: Fraction) -> str:
    # which a float may be too small for
    return f"{Decimal(loss.numerator) / loss.denominator:.6g} to 1"
