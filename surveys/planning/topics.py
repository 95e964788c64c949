"""A question as far as its precision depends on it, and what is expected to be published of it.

The channel at an ε is the one that would be frozen: `documents` makes it, in integers rounded towards privacy.
What is planned for is one number of the question: the share of one answer, or the mean of the numbers.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

from dpengine.estimates import Estimate, Noise, share
from dpengine.local.channels import PlanChannel
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.privacy import Neighbours, epsilon_above
from surveys.aggregation.tallies import PublicTally, tally_of
from surveys.design import documents
from surveys.design.models import Question

KEPT = 4096  # estimates that are remembered: a curve asks for the same ones again as a dial is turned
HALF = Fraction(1, 2)
NUMBERS = (Question.Kind.NUMBER, Question.Kind.MONTH)


Reader = PlanChannel | documents.Given


def counts_of(channel: PlanChannel, n: int, at: Fraction) -> list[int]:
    """Return about the counts of n reports; of a mean, if a share of `at` is at the far end, the rest at the near."""
    if isinstance(channel, NumberChannel):
        near, far = channel.table.weights[0], channel.table.weights[-1]
        chances = [(one + at * (other - one)) / channel.table.total for one, other in zip(near, far, strict=True)]
        return rounded([n * Fraction(chance) for chance in chances], n)
    return rounded([Fraction(n, channel.reports)] * channel.reports, n)  # type: ignore[union-attr]


def rounded(expected: Sequence[Fraction], n: int) -> list[int]:
    """Return whole counts next to the expected ones that add up to n: largest remainders first."""
    whole = [int(count) for count in expected]
    by_rest = sorted(range(len(whole)), key=lambda place: expected[place] - whole[place], reverse=True)
    for place in by_rest[: n - sum(whole)]:
        whole[place] += 1
    return whole


def published(channel: Reader, n: int, at: Fraction, noise: Noise) -> Estimate:
    """Return what n answers would publish if they were as is assumed."""
    if isinstance(channel, Distribution):
        return _below_the_middle(channel, n, noise)
    if isinstance(channel, NumberChannel):
        return channel.mean(counts_of(channel, n, at), n, noise)
    margin = channel.margins()[0]
    reported = margin.lie + at * (margin.truth - margin.lie)
    if isinstance(channel, OneOf):
        return channel.share(round(Fraction(n, channel.options) * (2 * reported - 1)), n, noise)
    return share(round(n * reported), n, margin, noise)


_remembered = lru_cache(maxsize=KEPT)(published)  # dials are turned to and fro


def _below_the_middle(channel: Distribution, n: int, noise: Noise) -> Estimate:
    """Return the share below the middle, if answers are spread evenly: its limits, and the doubt they are made of."""
    counts, middle = counts_of(channel, n, HALF), channel.bins // 2 - 1
    found = channel.share_within(0, middle, counts, n, noise)
    return Estimate(found.value, found.low, found.high, channel.doubt(0, middle, counts, n, noise), found.confidence)


@dataclass(frozen=True)
class Drawn:
    """A question with the channel that it has at an ε, and its tally."""

    content: dict[str, Any]
    tally: PublicTally

    @property
    def loss(self) -> Fraction:
        """Return e^ε of one answer, exactly; 1 where nothing is changed on the way, for no ε says what that gives."""
        return documents.loss_of_question(self.content) if "loss" in self.content else Fraction(1)

    @property
    def epsilon(self) -> Decimal:
        """Return the ε of the channel's integers, not the one that was asked for."""
        return epsilon_above(self.loss)

    @property
    def is_mean(self) -> bool:
        return isinstance(self.tally.channel, NumberChannel)

    @property
    def is_distribution(self) -> bool:
        return isinstance(self.tally.channel, Distribution)

    @property
    def is_slow(self) -> bool:
        """Tell whether its channel, or its interval, takes a tenth of a second to find."""
        return self.is_mean or self.is_distribution

    @property
    def reach(self) -> Fraction:
        """Return the whole scale: 1 of a share, most less least of a number."""
        return Fraction(self.content["most"] - self.content["least"]) if self.is_mean else Fraction(1)

    def expected(self, n: int, at: Fraction, noise: Noise) -> Estimate:
        return _remembered(self.tally.channel, n, at, noise)  # type: ignore[arg-type] # a law is a frozen value

    def spread(self, at: Fraction) -> float:
        """Return the variance of one person's answer, as is assumed."""
        return float(at * (1 - at) * self.reach**2)


@dataclass(frozen=True)
class Topic:
    """A question that may have any ε. Its row need not be saved."""

    question: Question
    neighbours: Neighbours = Neighbours.CHANGE_ONE

    @classmethod
    def made_up(
        cls, kind: str, *, choices: int = 5, least: int = 0, most: int = 100, wanted: str = "",
        neighbours: Neighbours = Neighbours.CHANGE_ONE,
    ) -> Self:  # fmt: skip
        """Return a question of this kind that nobody has written yet."""
        asked = Question(name="q", kind=kind, text="?", label="?", epsilon=Decimal(1))
        if kind in NUMBERS:
            asked.least, asked.most, asked.wanted = least, most, wanted or Question.Wanted.MEAN
        elif kind != Question.Kind.YES_NO:
            asked.choices = "\n".join(str(number) for number in range(1, choices + 1))
        return cls(asked, neighbours)

    @property
    def is_given(self) -> bool:
        return self.question.protection == Question.Protection.PUBLICATION

    def at(self, epsilon: Decimal) -> Drawn:
        """Return the question with the channel that would be frozen at this ε. ValueError says why there is none."""
        asked = copy.copy(self.question)
        asked.epsilon = epsilon
        return drawn_of(documents.content_of(asked), self.neighbours)


def drawn_of(content: dict[str, Any], neighbours: Neighbours) -> Drawn:
    """Return a Plan's question with its tally."""
    return Drawn(content, tally_of(content, neighbours))


def is_on_request(content: dict[str, Any]) -> bool:
    """Tell whether no rule publishes a question, for it has no tally: a number that is sent as given."""
    return content["kind"] in NUMBERS and content["protection"] == documents.PUBLICATION
