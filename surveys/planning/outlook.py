"""What will be learned: the ± of each question, of a draft or an open Plan, for so many responses.

A function of n, the channels and the Plan only, never of a count: `precision_of` for half who say
yes, with the sampling, the devices' chance and the noise that the Plan's rule adds within its cap.

Reach      a ± is told as a part of all that is possible: of 1 for a share, of most less least for a
           mean. So the widest of several questions is one, whatever they ask.
Little     a ± above a quarter of what is possible says next to nothing: 50 of 100, give or take 25.
Enough     the least n that brings the widest ± to ten points, or a tenth of a mean's range: looked
           for between powers of two, as a ± falls with n.
By hand    Two of six yes/no questions drawn and sent as one of four answers, ε = 2, 300 people: 100
           are asked each; 1.96·√(1/4/100)/.615 = .159: ± 15.9 points, 16.5 as an exact interval.
           ± 10 takes (16.5/10)² times as many: 810.
"""

from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _, ngettext

from dpengine.privacy import Neighbours
from surveys.design.sharing import USUAL_EXPECTED
from surveys.plan.content import PlanContent
from surveys.planning.precision import Precision, noise_of, precision_of
from surveys.planning.questions import (
    HALF,
    QuestionAtEpsilon,
    is_on_request,
    others_of,
)
from surveys.planning.wording import count, decimal_text

LITTLE = 0.25  # of what is possible: a ± above it says next to nothing
WANTED = 0.1  # of what is possible: a ± that most people can use
MAX_PEOPLE = 10_000_000


@dataclass(frozen=True, slots=True)
class Learned:
    """What is learned of one question: its ±, as a part of what is possible and for people."""

    label: str
    precision: Precision

    @property
    def part(self) -> float:
        return min(1.0, self.precision.half / self.precision.question.reach)

    @property
    def is_little(self) -> bool:
        return self.part > LITTLE

    @property
    def half(self) -> str:
        """Return the ± for people, without a place that says nothing beside what is possible."""
        if self.precision.is_mean:
            return self.precision.said
        points = 100 * self.part
        return decimal_text(points, 0 if points >= 10 else 1)

    @property
    def unit(self) -> str:
        return self.precision.unit


@dataclass(frozen=True)
class Outlook:
    """What so many responses to a Plan would tell, by question, and what would be enough."""

    content: PlanContent
    n: int
    is_whole_list: bool = False  # more were expected than a list has people

    @cached_property
    def questions(self) -> list[Learned]:
        """Return what is learned of every question that the rule publishes."""
        return [self._learned(each, self.n) for each in self._published]

    def of(self, names: Container[str]) -> list[Learned]:
        """Return what is learned of these questions."""
        return [
            self._learned(each, self.n) for each in self._published if each.content.name in names
        ]

    @cached_property
    def widest(self) -> Learned | None:
        """Return the question of which least is learned; None if no rule publishes one."""
        return max(self.questions, key=lambda each: each.part, default=None)

    @property
    def part(self) -> float:
        """Return the widest ± as a part of what is possible."""
        return self.widest.part if self.widest else 0.0

    @property
    def value(self) -> str:
        """Return the widest ± in points of what is possible, for machines."""
        return f"{100 * self.part:.1f}"

    @property
    def is_little(self) -> bool:
        """Tell whether some question would be told next to nothing of."""
        return any(each.is_little for each in self.questions)

    @property
    def least(self) -> int:
        """Return how many responses are published from."""
        return self.content.publication.smallest_batch

    @property
    def is_too_few(self) -> bool:
        """Tell whether so many responses are too few to be published."""
        return self.n < self.least

    @property
    def is_worthless(self) -> bool:
        """Tell whether somebody should know before it is too late."""
        return self.is_too_few or self.is_little

    @cached_property
    def enough(self) -> int | None:
        """Return with how many responses every ± is a tenth of what is possible, about, and they
        can be published; None if they would be too many.
        """
        if self.widest is None:
            return None
        high = max(self.n, 1)
        while not self._is_enough(high):
            high *= 2
            if high > MAX_PEOPLE:
                return None
        low = high // 2
        while high - low > max(1, high // 100):
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_enough(middle) else (middle, high)
        return max(_rounded_up(high), self.least)

    def _is_enough(self, n: int) -> bool:
        return all(self._learned(each, n).part <= WANTED for each in self._published)

    @cached_property
    def _published(self) -> list[QuestionAtEpsilon]:
        neighbours = Neighbours(self.content.neighbours)
        return [
            QuestionAtEpsilon(each, neighbours)
            for each in self.content.questions
            if not is_on_request(each)
        ]

    def _learned(self, question: QuestionAtEpsilon, n: int) -> Learned:
        content, name = self.content, question.content.name
        asked = max(1, round(n * content.part_asked([name])))
        noise = noise_of(
            question, others_of(question, self._published, content.records), content.of_shares
        )
        return Learned(question.content.label, precision_of(question, noise, asked, HALF))

    # In words

    @property
    def said(self) -> str:
        """Say in one line what will be learned, and what would be enough."""
        parts = [self._said_of_list] if self.is_whole_list else []
        parts.append(self._said_of_widest)
        if self.is_too_few:
            text = _("Fewer than %(least)s responses are not published.")
            parts.append(text % {"least": count(self.least)})
        is_told_as_wanted = round(self.part, 2) <= WANTED and not self.is_too_few
        if self.widest is not None and not is_told_as_wanted:
            parts.append(self._said_of_enough)
        return " ".join(parts)

    @property
    def _said_of_list(self) -> str:
        return ngettext(
            "%(n)s person is on your list.", "%(n)s people are on your list.", self.n
        ) % {"n": count(self.n)}

    @property
    def _said_of_widest(self) -> str:
        widest = self.widest
        if widest is None:
            return _("What you learn depends on the queries that you make.")
        if self.n < 1:
            return _("No responses yet.")
        text = ngettext(
            "With %(n)s response, every result has a margin of error of ± %(half)s %(unit)s.",
            "With %(n)s responses, every result has a margin of error of ± %(half)s %(unit)s.",
            self.n,
        )
        if len({each.half for each in self.questions}) > 1:
            text = ngettext(
                "With %(n)s response, the widest margin of error is ± %(half)s %(unit)s "
                "(“%(label)s”).",
                "With %(n)s responses, the widest margin of error is ± %(half)s %(unit)s "
                "(“%(label)s”).",
                self.n,
            )
        values = {"n": count(self.n), "label": widest.label}
        return text % {**values, "half": widest.half, "unit": widest.unit}

    @property
    def _said_of_enough(self) -> str:
        if self.enough is None:
            return _("No number of people that could be asked brings it to ± 10 points.")
        if self.widest is not None and self.widest.precision.is_mean:
            text = _("For a tenth of the scale you need %(n)s.")
        else:
            text = _("For ± 10 points you need %(n)s.")
        return text % {"n": count(self.enough)}


def outlook(content: PlanContent, expected: int | None, listed: int | None = None) -> Outlook:
    """Return what a Plan would tell with as many responses as its author expects; of a list, not
    more than it has people. `listed`: how many a draft's list has now, 0 while there is none.
    """
    n = expected or USUAL_EXPECTED
    if listed is None and content.invited is not None:
        listed = sum(each.people for each in content.invited.strata)
    return Outlook(content, min(n, listed or n), is_whole_list=0 < (listed or 0) < n)


def _rounded_up(n: int) -> int:
    """Return a number with two digits that count: more would say that they are known."""
    step: int = 10 ** max(0, len(str(n)) - 2)
    return -(-n // step) * step
