"""From what is wanted to how it is asked: how many people, how safe one of them, what matters most.

    goal       n people, ε of one of them, what is asked and how important it is; if wanted, a ±
    way        how a person's ε is spent: `dpengine.local.budget` finds the one that tells most
    outcome    that way, what of it a draft holds, and what would reach the ±

What is wanted is of the questions that matter most. A ± is 1.96 standard errors at even shares, of
answers as devices send them; of a number, in hundredths of its range.

Bounded    n says only which ways ask anybody twice, so ways are found once for each doubling of n,
           and kept. A search for ε is a binary one over its tenths. A number's channel takes a
           tenth of a second, so its ε is taken down to a step of 2 %.
By hand    Six yes/no questions, 800 people, ε = 2. One of six drawn: 133 answers a question, the
           coin for ε = 2 tells yes from no by .762, √(1/4/133)/.762 = .0568: ± 11.1 points. Two of
           six drawn and sent as one of four answers: 267 people, the true one is sent with chance
           .711, another with .096, √(1/4/267)/(.711 − .096) = .0498: ± 9.8 points.
"""

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache, partial

from dpengine.local import budget
from dpengine.local.blocks import Set
from dpengine.local.channel import Channel, Learns
from dpengine.local.ways import Importance, Kind, Proposal, Question, Way
from dpengine.privacy import exponential_below, round_down
from surveys.design.models import Question as Drafted
from surveys.design.questions import content_of, options_of
from surveys.guesses import LIKELY
from surveys.plan.kinds import KINDS

MAX_ANSWERS = 10_000_000
LARGEST_KEY = 2**14  # people, from which on every way asks somebody everything
TENTH = Decimal("0.1")
STEP = 1.02  # of the ε at which a number's channel is looked for


@dataclass(frozen=True)
class Topic:
    """What a question asks for, as far as its precision depends on it."""

    kind: str
    choices: int = 0  # of choices, declining included
    least: int = 0
    most: int = 0
    wanted: str = ""
    importance: Importance = Importance.USEFUL
    declines: bool = False  # whether the last of the choices is to decline

    @classmethod
    def of(
        cls, drafted: Drafted, importance: Importance, among: Iterable[Drafted] | None = None
    ) -> "Topic":
        """Return what a drafted question asks for. ValueError says why it cannot be asked yet."""
        alone = copy.copy(drafted)
        alone.epsilon, alone.together = Decimal(1), ""
        content_of(alone, among)  # refuses what is not whole
        if KINDS[drafted.kind].is_counted:
            bounds = (drafted.least or 0, drafted.most or 0)
            return cls(drafted.kind, 0, *bounds, str(drafted.wanted), importance)
        options = len(options_of(drafted))
        return cls(drafted.kind, options, importance=importance, declines=drafted.may_decline)

    def that_declines(self, *, declines: bool) -> "Topic":
        """Return it with declining among its choices, or without; as it is if it has none."""
        if KINDS[self.kind].learns is not Learns.SHARES:
            return self
        choices = self.choices + declines - self.declines
        return replace(self, choices=choices, declines=declines)

    @property
    def row(self) -> Drafted:
        """Return a question that asks for it, in no words."""
        row = Drafted(name="q", kind=self.kind, text="?", label="?", epsilon=Decimal(1))
        if KINDS[self.kind].is_counted:
            row.least, row.most = self.least, self.most
            row.wanted = self.wanted or Drafted.Wanted.MEAN
        elif self.kind != Drafted.Kind.YES_NO:
            row.choices = "\n".join(str(number) for number in range(1, self.choices + 1))
        return row

    @property
    def question(self) -> Question:
        if KINDS[self.kind].learns is Learns.SHARES:
            return Question(self.choices, self.importance, self.declines)
        asked = replace(self, importance=Importance.USEFUL)
        channel, spread = partial(_channel_at, asked), partial(_spread, asked)
        return Question(self.choices, self.importance, channel=channel, spread=spread)


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
    row = topic.row
    row.epsilon = epsilon
    return content_of(row).channel


@lru_cache(maxsize=512)
def _spread(topic: Topic, channel: Channel) -> float:
    """Return variance × n, in squared parts of the scale."""
    return budget.spread(channel, topic.most - topic.least if channel.learns is Learns.MEAN else 1)


@dataclass(frozen=True)
class Goal:
    """What is wanted."""

    n: int
    epsilon: Decimal  # of a person
    topics: tuple[Topic, ...]
    kept: tuple[Set, ...] = ()  # places of questions that stay together
    half: Decimal | None = None  # ± wanted, in points; None: the best there is
    asked: int | None = None  # questions of each person; None: as many as is best
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
    def proposal(self) -> Proposal:
        """Return the best way that a Plan can hold, and the best of each kind."""
        goal = self.goal
        found = _compared(goal.epsilon, goal.topics, goal.kept, _key(goal.n))
        return replace(found, n=goal.n)

    @cached_property
    def way(self) -> Way:
        """Return the best way, or the best where each person is asked as many as was said."""
        goal = self.goal
        if not goal.can_draw:
            return self.proposal.kinds[Kind.SPLIT]
        if goal.asked is not None:
            return _asking(goal.epsilon, goal.topics, goal.kept, min(goal.asked, goal.units))
        return self.proposal.way

    @property
    def asked(self) -> int | None:
        """Return how many blocks a draft says that each person is asked; None: everything."""
        drawn = len(self.way.drawn.sets[0])
        return None if drawn == len(self.way.blocks) else drawn

    @property
    def together(self) -> list[Set]:
        """Return the places of questions that are sent as one answer, for each such answer."""
        return [block.questions for block in self.way.blocks if block.is_joint]

    @property
    def questions_asked(self) -> tuple[int, int]:
        """Return how many questions each person is asked, at least and at most: what stays together
        counts as one, unless it is sent as one answer.
        """
        sizes = [len(each.questions) if each.is_joint else 1 for each in self.way.blocks]
        found = [sum(sizes[at] for at in each) for each in self.way.drawn.sets]
        return min(found), max(found)

    @property
    def epsilons(self) -> list[Decimal]:
        """Return the ε of what each question is sent in, in a set of them."""
        goal = self.goal
        if self.way.kind is Kind.SPLIT:
            roots = [Decimal(topic.importance).sqrt() for topic in goal.topics]
            return budget.split(goal.epsilon, roots)
        part = budget.split(goal.epsilon, [1] * len(self.way.drawn.sets[0]))[0]
        shared = {place: len(block) for block in goal.kept for place in block}
        return [round_down(Fraction(part) / shared.get(at, 1)) for at in range(len(goal.topics))]

    def half(self, way: Way | None = None) -> float:
        """Return the widest ± of what matters most, in points: of this way, or of another."""
        most = max(topic.importance for topic in self.goal.topics)
        places = [at for at, topic in enumerate(self.goal.topics) if topic.importance == most]
        return 100 * max((way or self.way).half(place, self.goal.n) for place in places)

    def that_declines(self, *, declines: bool) -> "Outcome":
        """Return what becomes of it where each question can be declined, or none can."""
        topics = (topic.that_declines(declines=declines) for topic in self.goal.topics)
        return Outcome(replace(self.goal, topics=tuple(topics)))

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
        return free.questions_asked[1] if free.half() < self.half() else None

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


@lru_cache(maxsize=512)
def _compared(
    epsilon: Decimal, topics: tuple[Topic, ...], kept: tuple[Set, ...], people: int
) -> Proposal:
    return budget.cheapest(
        epsilon, [topic.question for topic in topics], people, kept, in_one_block=True
    )


@lru_cache(maxsize=2048)
def _asking(epsilon: Decimal, topics: tuple[Topic, ...], kept: tuple[Set, ...], asked: int) -> Way:
    """Return the best way in which a person is asked so many questions, or a few less: each sent by
    itself, or in answers of as many as go into them.
    """
    questions = [topic.question for topic in topics]
    units = len(topics) - sum(len(block) - 1 for block in kept)
    ways = [
        budget.split_way(epsilon, questions, kept)
        if asked >= units
        else budget.apart(epsilon, questions, asked, kept)
    ]
    for many in (size for size in range(2, asked + 1) if asked % size == 0):
        joined = budget.parted(epsilon, questions, asked // many, kept, many)
        ways += [] if joined is None else [joined]
    return min(ways, key=lambda way: way.worst(LARGEST_KEY))
