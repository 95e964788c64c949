"""Made-up people: what they would answer, drawn from shares that somebody assumed. Never from a
real answer.

A question's assumed shares are whole ten-thousandths: of each choice; of each option, ticked or not
by itself; of each part of a number's scale, evenly within it. Who is not asked says so, through the
channel, as on the form. “Does not apply” is a choice like others. Where declining is one answer of
several questions, so many decline them as are assumed of the first; all else is assumed of those
who do not.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from dpengine.randomness import Stream, below
from surveys.design.calendars import amount_text
from surveys.plan.content import PlanContent, PlanQuestion
from surveys.plan.kinds import KINDS
from surveys.planning.questions import is_on_request

WHOLE = 10_000  # of all people
PARTS = 4  # of a number's scale
TICKED, DECLINED = 3_000, 500  # assumed unless somebody says otherwise

Answer = Any  # a choice, the ticked options, or whole steps from the least number
Shares = Sequence[int]


@dataclass(frozen=True)
class Population:
    """The questions of a Plan, and the assumed shares of each by name."""

    questions: tuple[PlanQuestion, ...]
    shares: Mapping[str, Shares]
    # the first of those that a question is declined with, where declining is one answer of them
    first: Mapping[str, PlanQuestion] = field(default_factory=dict)

    def person(self, words: Stream) -> dict[str, Answer]:
        """Return one person's true answers."""
        answers: dict[str, Answer] = {}
        declined: dict[str, bool] = {}
        for question in self.questions:
            condition, first = question.asked_if, self.first.get(question.name)
            if first is not None and first.name not in declined:
                part = self._declining(first)
                declined[first.name] = below(part.denominator, words) < part.numerator
            if first is not None and declined[first.name]:
                answer: Answer = question.declined
            elif condition is None or answers[condition.question] in condition.answers:
                answer = _answer(question, self._told(question), words)
            else:
                last = len(question.choices) - 1  # “Not asked”
                answer = [last] if question.kind == "multiple" else last
            answers[question.name] = answer
        return answers

    def truths(self) -> dict[str, list[Fraction]]:
        """Return, exactly, what estimates should come to: a share of each row, or a mean."""
        truths: dict[str, list[Fraction]] = {}
        told: dict[str, list[Fraction]] = {}  # of those who do not decline with others
        for question in self.questions:
            own = _expected(question, self._told(question))
            if condition := question.asked_if:
                before = told[condition.question]
                asked = sum((before[answer] for answer in condition.answers), Fraction(0))
                own = [*(asked * share for share in own), 1 - asked]
            told[question.name] = truths[question.name] = own
            if (first := self.first.get(question.name)) is not None:
                declined = self._declining(first)
                truths[question.name] = [(1 - declined) * share for share in own]
                truths[question.name][question.declined] = declined
        return truths

    def _declining(self, first: PlanQuestion) -> Fraction:
        shares = self.shares[first.name]
        return Fraction(shares[first.declined], sum(shares))

    def _told(self, question: PlanQuestion) -> Shares:
        """Return the shares of those who do not decline with others; even, if there are none."""
        shares = list(self.shares[question.name])
        if question.name not in self.first:
            return shares
        others = [share * (at != question.declined) for at, share in enumerate(shares)]
        return (
            others if any(others) else [int(at != question.declined) for at in range(len(shares))]
        )


def population_of(content: PlanContent, shares: Mapping[str, Shares]) -> Population:
    """Return the people for a Plan, without numbers that are published only on request."""
    questions = [question for question in content.questions if not is_on_request(question)]
    first = {
        name: content.question(block.questions[0])
        for block in content.blocks
        if block.decline
        for name in block.questions
    }
    return Population(tuple(questions), shares, first)


def rows_of(question: PlanQuestion) -> list[str]:
    """Return what shares are assumed of: choices but for “Not asked”, or parts of a scale."""
    if not KINDS[question.kind].is_counted or question.choices:
        return question.choices[:-1] if question.asked_if else question.choices
    ends = [
        [amount_text(question, question.least + step) for step in part]
        for part in parts_of(question)
    ]
    return [first if first == last else f"{first} – {last}" for first, last in ends]


def usual(question: PlanQuestion) -> list[int]:
    """Return shares that are about even: a beginning, and plainly invented."""
    rows = len(rows_of(question))
    if question.kind == "multiple":
        exclusive = _exclusive(question)
        return [TICKED] * (rows - exclusive) + [DECLINED] * exclusive
    each = WHOLE // 100 // rows * 100
    return [WHOLE - each * (rows - 1), *[each] * (rows - 1)]


def parts_of(question: PlanQuestion) -> list[tuple[int, int]]:
    """Return the first and last step of each part of a number's scale; parts hold whole bins."""
    steps = question.most - question.least + 1
    bins = question.bins if question.wanted == "distribution" else steps
    parts = bins if question.choices else min(PARTS, bins)
    edges = [-(-(bins * part // parts) * steps // bins) for part in range(parts + 1)]
    return [(first, after - 1) for first, after in pairwise(edges)]


def _answer(question: PlanQuestion, shares: Shares, words: Stream) -> Answer:
    if question.kind == "multiple":
        options = len(shares) - _exclusive(question)
        for exclusive in range(options, len(shares)):
            if below(WHOLE, words) < shares[exclusive]:
                return [exclusive]
        return [option for option in range(options) if below(WHOLE, words) < shares[option]]
    ends = list(accumulate(shares))
    row = bisect_right(ends, below(ends[-1], words))
    if not KINDS[question.kind].is_counted:
        return row
    first, last = parts_of(question)[row]
    return first + below(last - first + 1, words)


def _expected(question: PlanQuestion, shares: Shares) -> list[Fraction]:
    """Return the share of each row, or the mean, of people who are asked."""
    if question.kind == "multiple":
        chances = [Fraction(share, WHOLE) for share in shares]
        options, left, excluding = len(chances) - _exclusive(question), Fraction(1), []
        for chance in chances[options:]:
            excluding.append(left * chance)
            left -= excluding[-1]
        return [*(chance * left for chance in chances[:options]), *excluding]
    chances = [Fraction(share, sum(shares)) for share in shares]
    if question.wanted != "mean" or not KINDS[question.kind].is_counted:
        return chances
    middles = [question.least + Fraction(first + last, 2) for first, last in parts_of(question)]
    return [sum((c * middle for c, middle in zip(chances, middles, strict=True)), Fraction(0))]


def _exclusive(question: PlanQuestion) -> int:
    """Return how many of the choices exclude all others: declining, and “Does not apply”."""
    return question.beside - bool(question.asked_if)
