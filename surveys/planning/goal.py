"""From what is wanted to how it is asked: how many people, how safe one of them, what matters most.

    goal       n people, ε of one of them, what is asked and how important it is; if wanted, a ±
    way        how a person's ε is spent: `dpengine.local.budget` finds the one that tells most
    outcome    the way that a Plan can hold, the best there is, and what would reach the ±

What is wanted is of the questions that matter most. A ± is 1.96 standard errors at even shares, of
answers as devices send them; of a number, in hundredths of its range.

Bounded    n says only which ways ask anybody twice, so ways are found once for each doubling of n,
           and kept. A search for ε is a binary one over its tenths. A number's channel takes a
           tenth of a second, so its ε is taken down to a step of 2 %.
By hand    Six yes/no questions, 800 people, ε = 2. One of six drawn: 133 answers a question, the
           coin for ε = 2 tells yes from no by .762, √(1/4/133)/.762 = .0568: ± 11.1 points.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache, partial

from dpengine.estimates import CONFIDENCE, NoNoise, normal_quantile
from dpengine.local import budget
from dpengine.local.blocks import Set
from dpengine.local.budget import Importance, Kind, Proposal, Way
from dpengine.local.channel import Channel, Learns
from dpengine.privacy import exponential_below, round_down
from surveys.design.questions import options_of
from surveys.guesses import LIKELY
from surveys.plan.kinds import KINDS
from surveys.planning.questions import HALF, PlannedQuestion, forecast

CAN_LAUNCH_TOGETHER = False  # whether a Plan can hold blocks whose questions are sent as one
MAX_ANSWERS = 10_000_000
LEAST_ASKED = 2  # people whom a question can expect, below which a way is not proposed
LARGEST_KEY = 2**14  # people, from which on every way asks somebody everything
TENTH = Decimal("0.1")
NO_NOISE = NoNoise()
STEP = 1.02  # of the ε at which a number's channel is looked for
TRIED = 1000  # answers, at which the ± of a channel without shares is looked at


@dataclass(frozen=True)
class Topic:
    """What a question asks for, as far as its precision depends on it."""

    kind: str
    choices: int = 0  # of choices, declining included
    least: int = 0
    most: int = 0
    wanted: str = ""
    importance: Importance = Importance.USEFUL

    @classmethod
    def of(cls, planned: PlannedQuestion, importance: Importance) -> "Topic":
        """Return what a drafted question asks for. ValueError says why it cannot be asked yet."""
        row = planned.row
        planned.at(Decimal(1))  # refuses what is not whole
        if KINDS[row.kind].is_counted:
            bounds = (row.least or 0, row.most or 0)
            return cls(row.kind, 0, *bounds, str(row.wanted), importance)
        return cls(row.kind, len(options_of(row)), importance=importance)

    @property
    def question(self) -> budget.Question:
        if KINDS[self.kind].learns is Learns.SHARES:
            return budget.Question(self.choices, self.importance)
        asked = replace(self, importance=Importance.USEFUL)
        return budget.Question(
            self.choices, self.importance, partial(_channel_at, asked), partial(_spread, asked)
        )


def _channel_at(topic: Topic, epsilon: Decimal) -> Channel:
    """Return the channel of a question without shares: a number's at the step below, so that there
    are few to find and its ± is no narrower than it will be.
    """
    if KINDS[topic.kind].is_counted:
        epsilon = round_down(Fraction(STEP ** math.floor(math.log(epsilon) / math.log(STEP))))
    return _channel(topic, epsilon)


@lru_cache(maxsize=1024)
def _channel(topic: Topic, epsilon: Decimal) -> Channel:
    """Return the channel that a Plan would freeze: a number's takes a tenth of a second to find."""
    asked = PlannedQuestion.made_up(
        topic.kind, choices=topic.choices, least=topic.least, most=topic.most, wanted=topic.wanted
    )
    return asked.at(epsilon).channel


@lru_cache(maxsize=512)
def _spread(topic: Topic, channel: Channel) -> float:
    """Return variance × n, in squared parts of the scale, from the ± that would be published."""
    scale = topic.most - topic.least if channel.learns is Learns.MEAN else 1
    estimate = forecast(channel, TRIED, HALF, NO_NOISE)
    half = (estimate.high - estimate.low) / 2 / scale
    return TRIED * (half / normal_quantile(CONFIDENCE)) ** 2


@dataclass(frozen=True)
class Goal:
    """What is wanted."""

    n: int
    epsilon: Decimal  # of a person
    topics: tuple[Topic, ...]
    kept: tuple[Set, ...] = ()  # places of questions that stay together
    half: Decimal | None = None  # ± wanted, in points; None: the best there is
    asked: int | None = None  # blocks of each person; None: as many as is best
    can_draw: bool = True  # whether devices may draw what they ask

    @property
    def units(self) -> int:
        """Return how many blocks can be drawn: a question each, or those that stay together."""
        return len(self.topics) - sum(len(block) - 1 for block in self.kept)


@dataclass(frozen=True)
class Outcome:
    """What becomes of a goal."""

    goal: Goal

    @cached_property
    def best(self) -> Proposal:
        """Return the best of all ways, sent together or not."""
        goal = self.goal
        found = _compared(goal.epsilon, goal.topics, goal.kept, _key(goal.n))
        return replace(found, n=goal.n)

    @cached_property
    def way(self) -> Way:
        """Return the best way that a Plan can hold, or the one with as many asked as was said."""
        goal = self.goal
        if not goal.can_draw:
            return _asking(goal.epsilon, goal.topics, goal.kept, goal.units)
        if goal.asked is not None:
            return _asking(goal.epsilon, goal.topics, goal.kept, min(goal.asked, goal.units))
        if CAN_LAUNCH_TOGETHER:
            return self.best.way
        ways = (
            _asking(goal.epsilon, goal.topics, goal.kept, asked)
            for asked in _worth_asking(goal.epsilon, goal.units)
        )
        enough = [
            way for way in ways if way.kind is Kind.SPLIT or way.least_asked(goal.n) >= LEAST_ASKED
        ]
        return min(enough, key=lambda way: way.worst(goal.n))

    @property
    def asked(self) -> int | None:
        """Return how many blocks a draft says that each person is asked; None: everything."""
        return None if self.way.kind is Kind.SPLIT else len(self.way.drawn.sets[0])

    @property
    def epsilons(self) -> list[Decimal]:
        """Return the ε of each question, in a set of them."""
        goal = self.goal
        if self.way.kind is Kind.SPLIT:
            roots = [Decimal(topic.importance).sqrt() for topic in goal.topics]
            return budget.split(goal.epsilon, roots)
        part = budget.split(goal.epsilon, [1] * (self.asked or 1))[0]
        shared = {place: len(block) for block in goal.kept for place in block}
        return [round_down(Fraction(part) / shared.get(at, 1)) for at in range(len(goal.topics))]

    def half(self, way: Way | None = None) -> float:
        """Return the widest ± of what matters most, in points: of this way, or of another."""
        most = max(topic.importance for topic in self.goal.topics)
        places = [at for at, topic in enumerate(self.goal.topics) if topic.importance == most]
        return 100 * max((way or self.way).half(place, self.goal.n) for place in places)

    @property
    def is_reached(self) -> bool:
        return self.goal.half is None or self.half() <= float(self.goal.half)

    # What would reach it

    @property
    def half_to_be_had(self) -> Decimal:
        """Return the ± that there is, rounded up to a tenth."""
        return Decimal(math.ceil(10 * self.half())) / 10

    @property
    def people_needed(self) -> int | None:
        """Return how many people this way needs; None if more than there are."""
        wanted = float(self.goal.half or self.half_to_be_had)
        needed = math.ceil(self.goal.n * (self.half() / wanted) ** 2)
        return needed if needed <= MAX_ANSWERS else None

    @property
    def better_asked(self) -> int | None:
        """Return how many each person is better asked, where somebody said how many."""
        if self.goal.asked is None or not self.goal.can_draw:
            return None
        free = Outcome(replace(self.goal, asked=None))
        return (free.asked or self.goal.units) if free.half() < self.half() else None

    def epsilon_needed(self, most: Decimal) -> Decimal | None:
        """Return the least tenth of ε that reaches it, and leaves a guess right 95 of 100 times.

        None too where a number is asked for: its channels are slow to find.
        """
        if any(KINDS[topic.kind].is_counted for topic in self.goal.topics):
            return None
        low, high = int(self.goal.epsilon / TENTH), int(most / TENTH)
        while high > 0 and exponential_below(high * TENTH) > LIKELY:
            high -= 1
        if high <= low or not self._reached_at(high * TENTH):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._reached_at(middle * TENTH) else (middle, high)
        return high * TENTH

    def _reached_at(self, epsilon: Decimal) -> bool:
        return Outcome(replace(self.goal, epsilon=epsilon)).is_reached


def _key(n: int) -> int:
    """Return n as far as it decides which ways there are."""
    return min(1 << (n.bit_length() - 1), LARGEST_KEY)


def _worth_asking(epsilon: Decimal, units: int) -> Sequence[int]:
    """Return how many blocks to try: more at once than ε and one have never been best."""
    return [*range(1, min(units - 1, math.ceil(epsilon) + 1) + 1), units]


@lru_cache(maxsize=512)
def _compared(
    epsilon: Decimal, topics: tuple[Topic, ...], kept: tuple[Set, ...], people: int
) -> Proposal:
    return budget.cheapest(epsilon, [topic.question for topic in topics], people, kept)


@lru_cache(maxsize=2048)
def _asking(epsilon: Decimal, topics: tuple[Topic, ...], kept: tuple[Set, ...], asked: int) -> Way:
    """Return what comes of asking so many blocks, drawn evenly as a draft has them drawn."""
    questions = [topic.question for topic in topics]
    if asked >= len(topics) - sum(len(block) - 1 for block in kept):
        return budget.split_way(epsilon, questions, kept)
    return budget.apart(epsilon, questions, asked, kept, evenly=True)
