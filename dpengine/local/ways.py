"""What comes of one way to spend a person's ε: its blocks, what is drawn of them, how sure it is.

The ways themselves, and which is best, are in budget.py.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from dpengine.estimates import CONFIDENCE, normal_quantile
from dpengine.local.blocks import Drawn, Set
from dpengine.local.channel import Channel
from dpengine.local.channels import channel_for
from dpengine.local.joint import Joint
from dpengine.privacy import loss_of_all


class Importance(IntEnum):
    """How many people a question is worth, beside another that needs as many."""

    NICE = 1
    USEFUL = 2
    DECISIVE = 4


class Kind(StrEnum):
    """The way in which ε is spent."""

    SPLIT = "split"
    APART = "apart"
    TOGETHER = "together"


@dataclass(frozen=True)
class Question:
    """What is asked. Without a `channel` it is one of so many choices, and may be joined."""

    choices: int = 0
    importance: Importance = Importance.USEFUL
    declines: bool = False  # whether its last choice declines, as one of all that is sent with it
    channel: Callable[[Decimal], Channel] | None = None
    # variance × n of what is least sure, in squared parts of the question's scale
    spread: Callable[[Channel], float] | None = None

    def within(self, epsilon: Decimal) -> Channel:
        return self.channel(epsilon) if self.channel else channel_for(self.choices, epsilon)

    def variance(self, channel: Channel) -> float:
        if self.spread:
            return self.spread(channel)
        return float(channel.variance(Fraction(1, self.choices - self.declines)))

    @property
    def can_be_joined(self) -> bool:
        return self.channel is None


@dataclass(frozen=True)
class Block:
    """Questions that are drawn as one: each through its channel, or all through a joint one."""

    questions: Set
    channels: tuple[Channel, ...]
    variances: tuple[float, ...]  # × n who are asked, of each question

    @property
    def is_joint(self) -> bool:
        return isinstance(self.channels[0], Joint)

    @property
    def loss(self) -> Fraction:
        return loss_of_all(channel.loss for channel in self.channels)


@dataclass(frozen=True)
class Way:
    """One way to spend a person's ε: blocks, the sets of them, and what comes of it."""

    kind: Kind
    questions: tuple[Question, ...]
    blocks: tuple[Block, ...]
    drawn: Drawn

    @cached_property
    def loss(self) -> Fraction:
        """Return e^ε of a person, exactly."""
        return self.drawn.loss([block.loss for block in self.blocks])

    @cached_property
    def variances(self) -> tuple[float, ...]:
        """Return variance × n of every question, from all blocks that hold it."""
        told = [0.0] * len(self.questions)
        for number, block in enumerate(self.blocks):
            chance = float(self.drawn.chance(number))
            for question, variance in zip(block.questions, block.variances, strict=True):
                told[question] += chance / variance
        return tuple(1 / part for part in told)

    @cached_property
    def chances(self) -> tuple[float, ...]:
        """Return how often each question is asked."""
        asked = [0.0] * len(self.questions)
        for number, block in enumerate(self.blocks):
            for question in block.questions:
                asked[question] += float(self.drawn.chance(number))
        return tuple(asked)

    @property
    def asked(self) -> tuple[int, int]:
        """Return how many questions a person is asked, at least and at most."""
        counts = [
            sum(len(self.blocks[block].questions) for block in each) for each in self.drawn.sets
        ]
        return min(counts), max(counts)

    @property
    def met(self) -> int:
        """Return how many pairs of questions some people are asked both of."""
        return len(
            {
                pair
                for each in self.drawn.sets
                for pair in combinations(
                    sorted(question for block in each for question in self.blocks[block].questions),
                    2,
                )
            }
        )

    def half(self, question: int, n: int) -> float:
        """Return the ± of a question, as a part of its scale: 1.96 standard errors."""
        return normal_quantile(CONFIDENCE) * math.sqrt(self.variances[question] / n)

    def worst(self, n: int) -> float:
        """Return the widest ±, a decisive question's counted √2 times, a useful one's once."""
        return max(
            self.half(number, n) * math.sqrt(question.importance / Importance.USEFUL)
            for number, question in enumerate(self.questions)
        )

    def least_asked(self, n: int) -> float:
        """Return how many people the question that fewest are asked can expect."""
        return n * min(self.chances)


@dataclass(frozen=True)
class Proposal:
    """The best way, and the best of each kind, which it is compared with."""

    way: Way
    n: int
    kinds: dict[Kind, Way]

    @property
    def figures(self) -> dict[str, float]:
        """Return what a sentence about it takes: numbers of questions, and ± in points.

        asked, of: questions of one person, at most, and in all; joined: in the largest joint
        block, or 1; half, and split, apart, together: the worst ± of the proposal, and of the best
        way of each kind that there is.
        """
        joined = max(len(block.questions) if block.is_joint else 1 for block in self.way.blocks)
        return {
            "asked": self.way.asked[1],
            "of": len(self.way.questions),
            "joined": joined,
            "half": 100 * self.way.worst(self.n),
            **{kind.value: 100 * way.worst(self.n) for kind, way in self.kinds.items()},
        }
