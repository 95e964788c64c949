"""A question as far as its precision depends on it, and what is expected to be published of it.

The channel at an ε is the one that would be frozen: `documents` makes it, in integers rounded
towards privacy. What is planned for is one number of the question: the share of one answer, or the
mean of the numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from django.utils.translation import gettext as _

from dpengine.estimates import Estimate, Noise
from dpengine.local.channel import Channel, Learns
from dpengine.privacy import Neighbours
from surveys.design.calendars import calendar_of
from surveys.design.models import Question
from surveys.plan.content import PlanQuestion
from surveys.plan.kinds import KINDS, PUBLICATION
from surveys.planning.wording import decimal_text

REMEMBERED = 4096  # estimates: a curve asks for the same ones again as a dial is turned
HALF = Fraction(1, 2)


@lru_cache(maxsize=REMEMBERED)
def forecast(channel: Channel, n: int, at: Fraction, noise: Noise) -> Estimate:
    """Return what n answers would publish if they were as is assumed."""
    return channel.forecast(n, at, noise)


@dataclass(frozen=True)
class QuestionAtEpsilon:
    """A question with the channel that it has at one ε, and whose neighbours are protected."""

    content: PlanQuestion
    neighbours: Neighbours

    @property
    def channel(self) -> Channel:
        return self.content.channel

    @property
    def is_mean(self) -> bool:
        return self.channel.learns is Learns.MEAN

    @property
    def reach(self) -> int:
        """Return the whole scale: 1 of a share, most less least of a number."""
        return self.content.most - self.content.least if self.is_mean else 1

    @property
    def unit(self) -> str:
        """Return the word after a ±."""
        if not self.is_mean:
            return _("points")
        calendar = calendar_of(self.content)
        return _(calendar.steps()) if calendar else self.content.unit or _("units")

    def half_width_text(self, half: float) -> str:
        """Return a ± in points, or in the number's own unit with three digits that count; never
        more than is possible.
        """
        half = min(half, self.reach)
        if not self.is_mean:
            return decimal_text(100 * half, 1)
        return decimal_text(half, max(0, 2 - math.floor(math.log10(half))) if half > 0 else 2)


def others_of(
    question: QuestionAtEpsilon,
    among: Sequence[QuestionAtEpsilon],
    records: Sequence[frozenset[str]] = (),
) -> list[Fraction | None]:
    """Return e^ε₀ of all questions that a record answers beside one, and not in one with it."""
    left_out, own = not_beside(question.content.name, records), question.content.sent_in
    return [
        other.content.loss
        for other in among
        if other is not question
        and other.content.name not in left_out
        and other.content.sent_in != own
    ]


def not_beside(name: str, records: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return the questions that a record that answers this one does not, of those that not all
    answer: in the largest record that holds it.
    """
    some = frozenset[str]().union(*records)
    return some - max([each for each in records if name in each] or records, key=len, default=some)


def part_asked(name: str, sets: Sequence[frozenset[str]], weights: Sequence[int] = ()) -> Fraction:
    """Return the share of people who are asked a question, of sets with these weights; without
    them, each is as likely.
    """
    drawn = list(zip(sets, weights or [1] * len(sets), strict=True))
    held = sum(weight for each, weight in drawn if name in each)
    return Fraction(held, sum(weight for _set, weight in drawn)) if held else Fraction(1)


def is_on_request(question: Question | PlanQuestion) -> bool:
    """Tell whether no rule publishes a question: a number that is sent as given has no tally."""
    return KINDS[question.kind].is_counted and question.protection == PUBLICATION
