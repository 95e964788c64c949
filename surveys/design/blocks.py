"""What of a draft is drawn as one, and what of that is sent as one answer.

Drawn as one    a question and all that follow from it, all that are sent as one answer, and all
                with the same `drawn_in`
Sent as one     questions of one choice with the same `together`: their ε is that of their one
                answer, which is one of all combinations of theirs. Where each of them may be
                declined, declining is one answer beside these: of all of them at once

plan/drawing.py proves the finished Plan again.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from dpengine.local.blocks import together
from dpengine.local.joint import MAX_JOINT, Joint
from dpengine.local.ways import Importance
from surveys.plan.content import Block, Together
from surveys.plan.kinds import DEVICE, KINDS, PUBLICATION

if TYPE_CHECKING:
    from surveys.design.models import Question, Study

IMPORTANCES = {
    "decisive": Importance.DECISIVE,
    "useful": Importance.USEFUL,
    "nice": Importance.NICE,
}


def blocks(questions: "Iterable[Question]", *, sent_apart: bool = False) -> list[Block]:
    """Return what of a draft is drawn as one, of what is changed on the device; with the name of
    its one answer where it is sent so. `sent_apart`: as if nothing were.
    """
    changed = [question for question in questions if question.protection != PUBLICATION]
    links = [(question.name, question.asked_if) for question in changed]
    found = {} if sent_apart else groups(changed)
    links += [(own[0].name, each.name) for own in found.values() for each in own]
    links += [
        (own[0].name, each.name) for own in groups(changed, "drawn_in").values() for each in own
    ]
    sent = {each.name: name for name, own in found.items() for each in own}
    drawn = together([question.name for question in changed], links)
    return [Block(questions=names, name=sent.get(names[0], "")) for names in drawn]


def groups(questions: "Iterable[Question]", by: str = "together") -> "dict[str, list[Question]]":
    """Return the questions that are sent as one answer, by its name; or that stay together because
    somebody said so, by `drawn_in`.
    """
    found: dict[str, list[Question]] = {}
    for question in questions:
        if name := getattr(question, by):
            found.setdefault(name, []).append(question)
    return found


def staying(questions: "Iterable[Question]", among: "Sequence[Question]") -> list[tuple[int, ...]]:
    """Return the places in `among` of those that are drawn as one whatever is sent as one answer: a
    condition and what follows from it, and what stays together because somebody said so.
    """
    places = {each.name: at for at, each in enumerate(among)}
    drawn = blocks(questions, sent_apart=True)
    found = [tuple(places[name] for name in each.questions if name in places) for each in drawn]
    return [block for block in found if len(block) > 1]


def can_be_joined(question: "Question") -> bool:
    """Tell whether a question can be sent as one answer with others."""
    kind = KINDS.get(question.kind)
    return question.protection == DEVICE and kind is not None and kind.is_condition


def sent_with(question: "Question", among: "Iterable[Question]") -> Together | None:
    """Return the one answer that a question is sent in with others; None if it is sent by itself,
    or if what it is to be sent with makes no answer.
    """
    if not question.together:
        return None
    own = [
        question if question.name == each.name or (each.pk and each.pk == question.pk) else each
        for each in among
        if each.together == question.together or each.pk == question.pk
    ]
    if question not in own or any(_problems_of(own)):
        return None
    joint = _joint(*_sizes(own), question.epsilon)
    return Together(joint, joint.loss, question.together, own.index(question))


@lru_cache(maxsize=256)  # a page of a draft asks for the same ones again and again
def _joint(sizes: tuple[int, ...], declining: tuple[int, ...], epsilon: Decimal) -> Joint:
    return Joint.for_epsilon(sizes, epsilon, declining)


def _sizes(own: "Sequence[Question]") -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how many choices questions have that are sent as one; and where declining stands among
    those of each, if it is one of all: else it is a choice like any other.
    """
    sizes = tuple(len(each.options) for each in own)
    if not all(each.may_decline for each in own):
        return sizes, ()
    declining = (size - 1 - bool(each.asked_if) for size, each in zip(sizes, own, strict=True))
    return tuple(size - 1 for size in sizes), tuple(declining)


def problems(questions: "Iterable[Question]") -> "Iterator[tuple[str, str]]":
    """Yield why some of a draft's questions cannot be sent as one answer, each with the name of the
    question that it is about.
    """
    questions = list(questions)
    sent, named = groups(questions), {each.name: each for each in questions}
    for own in sent.values():
        yield from _problems_of(own)
    for each in questions:
        parent = named.get(each.asked_if)
        if parent is not None and parent.together != each.together:
            text = _(
                "“%(question)s” follows from “%(parent)s”: both must be sent in the same answer, "
                "or each by itself."
            )
            yield each.name, text % {"question": each.label, "parent": parent.label}
    changed = [each for each in questions if each.protection == DEVICE]
    for own in groups(changed, "drawn_in").values():
        text = _(
            "“%(question)s” stays together with “%(other)s”: both must be sent in the same "
            "answer, or each by itself."
        )
        for each in own:
            if each.together != own[0].together:
                yield each.name, text % {"question": each.label, "other": own[0].label}
    for name in [name for name in sent if name in named]:
        text = _("“%(name)s” is a question’s key and cannot name an answer.")
        yield sent[name][0].name, text % {"name": name}


def _problems_of(own: "Sequence[Question]") -> "Iterator[tuple[str, str]]":
    """Yield why these cannot be sent as one answer, each with the name of a question."""
    first, found = own[0], False
    for each in own:
        text = _unfit_for_one(each, first)
        if text:
            found = True
            yield each.name, text % {"question": each.label, "other": first.label}
    if len(own) < 2:
        text = _(
            "“%(question)s” is to be sent as one answer with others, but has "
            "none: choose one more, or send it separately."
        )
        yield first.name, text % {"question": first.label}
        return
    sizes, declining = _sizes(own)
    cells = math.prod(sizes) + bool(declining)
    if not found and cells > MAX_JOINT:
        text = _(
            "%(questions)s have %(cells)s combinations of answers: at most %(most)s can be sent as "
            "one answer. Take a question out of it."
        )
        values = {"cells": f"{cells:,}", "most": f"{MAX_JOINT:,}"}
        shown = ", ".join(f"“{each.label}”" for each in own)
        yield first.name, text % {"questions": shown, **values}


def _unfit_for_one(question: "Question", first: "Question") -> str:
    """Return why a question cannot be sent in one answer with the first, with holes for both."""
    if question.protection != DEVICE:
        return _("“%(question)s” is not randomised: only randomised answers can be sent as one.")
    if not can_be_joined(question):
        return _(
            "“%(question)s” is not a question of one choice: only those can be sent as one answer."
        )
    if question.epsilon != first.epsilon:
        return _(
            "“%(question)s” and “%(other)s” are sent as one answer, which has one ε: give both "
            "the same."
        )
    return ""


def problem_of_asked(study: "Study", questions: "Iterable[Question]") -> str:
    """Return why each person cannot be asked so many of the questions, or nothing."""
    if study.asked is None or study.asked <= (count := len(blocks(questions))):
        return ""
    return _(
        "Questions for each person: %(asked)s, but only %(count)s can be drawn: those that are "
        "randomised on the device, each with all that follow from it or are sent with it."
    ) % {"asked": study.asked, "count": count}


def problem_of_weights(questions: "Iterable[Question]") -> str:
    """Return why devices could not draw by how much each question matters, or nothing."""
    changed = [each for each in questions if each.protection == DEVICE]
    if not changed or any(each.matters != "nice" for each in changed):
        return ""
    return _("All questions are nice to have: something must be useful or decisive.")
