"""Made-up people: what they would answer, drawn from shares that somebody assumed. Never from a real answer.

A question's assumed shares are whole ten-thousandths: of each choice; of each option, ticked or not by itself; of each
part of a number's scale, evenly within it. Who is not asked says so, through the channel, as on the form. “Does not
apply” is a choice like others.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from dpengine.randomness import Words, below
from surveys.design import documents
from surveys.planning.topics import NUMBERS, is_on_request

WHOLE = 10_000  # of all people
PARTS = 4  # of a number's scale
TICKED, DECLINED = 3_000, 500  # assumed of each option, and of declining, unless somebody says otherwise

Answer = Any  # a choice, the ticked options, or whole steps from the least number
Shares = Sequence[int]


@dataclass(frozen=True)
class Crowd:
    """The questions of a Plan, and the assumed shares of each by name."""

    questions: tuple[dict[str, Any], ...]
    shares: Mapping[str, Shares]

    def person(self, words: Words) -> dict[str, Answer]:
        """Return one person's true answers."""
        found: dict[str, Answer] = {}
        for question in self.questions:
            if is_asked(question, found):
                found[question["name"]] = _answer(question, self.shares[question["name"]], words)
            else:
                found[question["name"]] = _not_asked(question)
        return found

    def truths(self) -> dict[str, list[Fraction]]:
        """Return, exactly, what estimates should come to: a share of each row, or a mean."""
        found: dict[str, list[Fraction]] = {}
        for question in self.questions:
            chance = self._chance_to_be_asked(question, found)
            own = _expected(question, self.shares[question["name"]])
            if "asked_if" in question:
                own = [*(chance * share for share in own), 1 - chance]
            found[question["name"]] = own
        return found

    def _chance_to_be_asked(self, question: dict[str, Any], earlier: Mapping[str, list[Fraction]]) -> Fraction:
        condition = question.get("asked_if")
        if condition is None:
            return Fraction(1)
        before = earlier[condition["question"]]
        return sum((before[answer] for answer in condition["answers"]), Fraction(0))


def crowd_of(content: dict[str, Any], shares: Mapping[str, Shares]) -> Crowd:
    """Return the people for a Plan's content; numbers that are published only on request are left out."""
    return Crowd(tuple(each for each in content["questions"] if not is_on_request(each)), shares)


def is_asked(question: dict[str, Any], answers: Mapping[str, Answer]) -> bool:
    condition = question.get("asked_if")
    return condition is None or answers[condition["question"]] in condition["answers"]


def rows_of(question: dict[str, Any]) -> list[str]:
    """Return what shares are assumed of: a question's choices but for "Not asked", or parts of its scale."""
    if question["kind"] not in NUMBERS:
        choices: list[str] = question["choices"]
        return choices[: len(choices) - ("asked_if" in question)]
    said = documents.said_month if question["kind"] == "month" else str
    ends = [(said(question["least"] + first), said(question["least"] + last)) for first, last in parts_of(question)]
    return [first if first == last else f"{first} – {last}" for first, last in ends]


def usual(question: dict[str, Any]) -> list[int]:
    """Return shares that are about even: a beginning, and plainly invented."""
    rows = len(rows_of(question))
    if question["kind"] == "multiple":
        return [TICKED] * (rows - _alone(question)) + [DECLINED] * _alone(question)
    each = WHOLE // 100 // rows * 100
    return [WHOLE - each * (rows - 1), *[each] * (rows - 1)]


def steps_of(question: dict[str, Any]) -> int:
    """Return how many whole numbers a question takes."""
    return int(question["most"] - question["least"] + 1)


def parts_of(question: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the first and last step of each part of a number's scale; of a distribution parts hold whole bins."""
    steps = steps_of(question)
    bins = question["bins"] if question.get("wanted") == "distribution" else steps
    edges = [-(-(bins * part // min(PARTS, bins)) * steps // bins) for part in range(min(PARTS, bins) + 1)]
    return [(first, after - 1) for first, after in pairwise(edges)]


def _answer(question: dict[str, Any], shares: Shares, words: Words) -> Answer:
    if question["kind"] == "multiple":
        return _ticks(question, shares, words)
    part = _one_of(shares, words)
    if question["kind"] not in NUMBERS:
        return part
    first, last = parts_of(question)[part]
    return first + below(last - first + 1, words)


def _ticks(question: dict[str, Any], shares: Shares, words: Words) -> list[int]:
    """Return the ticked options, or one that excludes all others."""
    options = len(shares) - _alone(question)
    for alone in range(options, len(shares)):
        if below(WHOLE, words) < shares[alone]:
            return [alone]
    return [option for option in range(options) if below(WHOLE, words) < shares[option]]


def _one_of(shares: Shares, words: Words) -> int:
    ends = list(accumulate(shares))
    return bisect_right(ends, below(ends[-1], words))


def _not_asked(question: dict[str, Any]) -> Answer:
    last = len(question["choices"]) - 1
    return [last] if question["kind"] == "multiple" else last


def _expected(question: dict[str, Any], shares: Shares) -> list[Fraction]:
    if question["kind"] == "multiple":
        return _expected_ticks(question, shares)
    chances = [Fraction(share, sum(shares)) for share in shares]
    if question.get("wanted") != "mean" or question["kind"] not in NUMBERS:
        return chances
    middles = [question["least"] + Fraction(first + last, 2) for first, last in parts_of(question)]
    return [sum((chance * middle for chance, middle in zip(chances, middles, strict=True)), Fraction(0))]


def _expected_ticks(question: dict[str, Any], shares: Shares) -> list[Fraction]:
    chances = [Fraction(share, WHOLE) for share in shares]
    options, left, found = len(chances) - _alone(question), Fraction(1), []
    for chance in chances[options:]:
        found.append(left * chance)
        left -= found[-1]
    return [*(chance * left for chance in chances[:options]), *found]


def _alone(question: dict[str, Any]) -> int:
    """Return how many of the choices exclude all others: declining, and “Does not apply”."""
    return documents.beside(question) - ("asked_if" in question)
