"""Made-up people: what they would answer, drawn from shares that somebody assumed. Never from a
real answer.

A question's assumed shares are whole ten-thousandths: of each choice; of each option, ticked or not
by itself; of each part of a number's scale, evenly within it. Who is not asked says so, through the
channel, as on the form. “Does not apply” is a choice like others.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

    def person(self, words: Stream) -> dict[str, Answer]:
        """Return one person's true answers."""
        answers: dict[str, Answer] = {}
        for question in self.questions:
            condition = question.asked_if
            if condition is None or answers[condition.question] in condition.answers:
                answer = _answer(question, self.shares[question.name], words)
            else:
                last = len(question.choices) - 1  # “Not asked”
                answer = [last] if question.kind == "multiple" else last
            answers[question.name] = answer
        return answers

    def truths(self) -> dict[str, list[Fraction]]:
        """Return, exactly, what estimates should come to: a share of each row, or a mean."""
        truths: dict[str, list[Fraction]] = {}
        for question in self.questions:
            own = _expected(question, self.shares[question.name])
            if condition := question.asked_if:
                before = truths[condition.question]
                asked = sum((before[answer] for answer in condition.answers), Fraction(0))
                own = [*(asked * share for share in own), 1 - asked]
            truths[question.name] = own
        return truths


def population_of(content: PlanContent, shares: Mapping[str, Shares]) -> Population:
    """Return the people for a Plan, without numbers that are published only on request."""
    return Population(
        tuple(question for question in content.questions if not is_on_request(question)), shares
    )


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
