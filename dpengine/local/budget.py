"""One ε of a person over several questions: split it, draw questions, or draw some and send them as
one.

Split      Every question is reported, question i with ε_i ∝ √importance, Σ ε_i = ε. Shares are
           rounded down to nine places: never above.
Apart      s blocks of the questions are drawn, each then with ε/s (blocks.py). For small ε a
           variance is about c/ε²: q/s·c·s²/ε² = q·s·c/ε², least at s = 1; for large ε only people
           count, and s = q wins.
Together   Blocks of several questions go as one answer over their joint choices (joint.py). Yes/no
           questions gain by it, up to e^ε of joint answers or so; questions with more choices do so
           late, as a channel over many cells loses more than the people who are asked bring.
Chances    A question that is asked of n·p people has variance v/p: the worst Σ is least where p is
           in proportion to importance·v, v that at even shares, a yes/no one's worst. Then it is
           Σ importance·v/s for the blocks of one set of s.
Blocks     Questions with as many choices and as important go around in cyclic blocks, so that each
           is in as many, of the size that needs least. Or all are merged by twos, as long as a
           merged block needs less than its two. A block whose questions must stay together is
           neither.
Proposal   The least of the worst ±·√(importance/useful) of split, s drawn apart for each s, s
           blocks of merged questions, and cyclic blocks; ± is 1.96 standard errors at even shares.
By hand    Four yes/no questions, ε = ln 81: split, the coin for each (3⁴ = 81), variance × n where
           half say yes 1 each; s = 1: odds 81 to 1, 4·(1/4)/(80/82)² = 1.05; s = 2: odds 9 to 1,
           2·(1/4)/(8/10)² = 0.78; all four as one of 16 answers: a = 81/96, b = 1/96,
           (1/4)/(80/96)² = 0.36, the best.
Sources    Basic composition: Dwork and Roth 2014; sampling of attributes: Nguyên et al. 2016; how
           many: Wang et al. 2019, § 5: about ε/2.5 of them; subsets: Ye and Barg 2018.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations

from dpengine.checks import require
from dpengine.estimates import CONFIDENCE, normal_quantile
from dpengine.local.blocks import MAX_BLOCKS, Drawn, Set, chances_for, cyclic, subsets, weighted
from dpengine.local.channel import Channel
from dpengine.local.channels import channel_for
from dpengine.local.joint import MAX_JOINT, Joint, variances
from dpengine.privacy import exponential_below, loss_of_all, round_down

MIN_ASKED = 2  # people of a question, below which a way is not proposed


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
    channel: Callable[[Decimal], Channel] | None = None
    # variance × n of what is least sure, in squared parts of the question's scale
    spread: Callable[[Channel], float] | None = None

    def within(self, epsilon: Decimal) -> Channel:
        return self.channel(epsilon) if self.channel else channel_for(self.choices, epsilon)

    def variance(self, channel: Channel) -> float:
        if self.spread:
            return self.spread(channel)
        return float(channel.variance(Fraction(1, self.choices)))

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


def cheapest(
    total: Decimal, questions: Sequence[Question], n: int, kept: Sequence[Set] = ()
) -> Proposal:
    """Return the way that tells most of so many people. `kept` must each stay in one block."""
    require(n >= MIN_ASKED, "n must be {} or more, got {}", MIN_ASKED, n)
    _check(questions, kept)
    kinds: dict[Kind, Way] = {}
    for way in _ways(total, questions, kept):
        best = kinds.get(way.kind)
        enough = way.least_asked(n) >= MIN_ASKED or way.kind is Kind.SPLIT
        if enough and (best is None or way.worst(n) < best.worst(n)):
            kinds[way.kind] = way
    return Proposal(min(kinds.values(), key=lambda way: way.worst(n)), n, kinds)


def split_way(total: Decimal, questions: Sequence[Question], kept: Sequence[Set] = ()) -> Way:
    """Return what comes of asking everybody everything."""
    roots = [Decimal(question.importance).sqrt() for question in questions]
    parts = split(total, roots)
    blocks = tuple(
        _apart(unit, questions, [parts[question] for question in unit])
        for unit in _units(questions, kept)
    )
    return Way(Kind.SPLIT, tuple(questions), blocks, Drawn.all_of(len(blocks)))


def apart(
    total: Decimal,
    questions: Sequence[Question],
    asked: int,
    kept: Sequence[Set] = (),
    *,
    evenly: bool = False,
) -> Way:
    """Return what comes of drawing so many questions, or kept blocks, each sent by itself."""
    units = _units(questions, kept)
    epsilon = split(total, [1] * asked)[0]
    blocks = [_block(unit, questions, epsilon, kept) for unit in units]
    return _way(Kind.APART, questions, blocks, subsets(len(units), asked), evenly=evenly)


def together(
    total: Decimal, questions: Sequence[Question], size: int, *, evenly: bool = False
) -> Way:
    """Return what comes of drawing one cyclic block of so many questions, sent as one."""
    blocks = [_block(each, questions, total) for each in cyclic(len(questions), size)]
    return _way(Kind.TOGETHER, questions, blocks, subsets(len(blocks), 1), evenly=evenly)


def split(total: Decimal, weights: Sequence[int | Fraction | Decimal]) -> list[Decimal]:
    """Return an ε for every question, in proportion to its weight, rounded down.

    Together at most the total.
    """
    exponential_below(total)  # refuses what is no ε
    parts = [_weight(number, weight) for number, weight in enumerate(weights)]
    require(parts, "weights must be one or more, got none")
    epsilons = [round_down(Fraction(total) * part / sum(parts)) for part in parts]
    if not all(epsilons):
        raise ValueError(
            f"question {epsilons.index(Decimal(0))} must get a billionth of ε or more, got less"
        )
    return epsilons


def _ways(total: Decimal, questions: Sequence[Question], kept: Sequence[Set]) -> Iterator[Way]:
    yield split_way(total, questions, kept)
    units = _units(questions, kept)
    many = math.ceil(total) + 1  # more at once have never been best
    for asked in range(1, min(len(units) - 1, many) + 1):
        yield apart(total, questions, asked, kept)
    if (circled := _cyclic(total, questions, kept)) is not None:
        yield circled
    for asked in range(1, min(len(units), many) + 1):
        epsilon = split(total, [1] * asked)[0]
        merged = _merged(units, questions, epsilon, kept)
        if len(merged) == len(units) or len(merged) < asked:
            continue
        blocks = [_block(each, questions, epsilon, kept) for each in merged]
        yield _way(Kind.TOGETHER, questions, blocks, subsets(len(blocks), asked))


def _cyclic(total: Decimal, questions: Sequence[Question], kept: Sequence[Set]) -> Way | None:
    """Return one block drawn, questions that are alike in cyclic blocks of the size they need."""
    units = _units(questions, kept)
    alike: dict[object, list[int]] = {}
    for unit in units:
        first = questions[unit[0]]
        joins = unit not in kept and first.can_be_joined
        alike.setdefault((first.choices, first.importance) if joins else unit, []).extend(unit)
    found: list[Set] = []
    for places in alike.values():
        if tuple(places) in units:
            found.append(tuple(places))
            continue
        choices = questions[places[0]].choices
        sizes = (size for size in range(1, len(places) + 1) if choices**size <= MAX_JOINT)
        best = min(sizes, key=lambda size: _joint_variance((choices,) * size, total) / size)
        found += [tuple(places[each] for each in block) for block in cyclic(len(places), best)]
    if len(found) > MAX_BLOCKS or all(each in units for each in found):
        return None
    blocks = [_block(each, questions, total, kept) for each in found]
    return _way(Kind.TOGETHER, questions, blocks, subsets(len(blocks), 1))


def _merged(
    units: Sequence[Set], questions: Sequence[Question], epsilon: Decimal, kept: Sequence[Set]
) -> list[Set]:
    """Return blocks merged by twos, always those two that gain most by it."""

    def need(block: Set) -> float:
        choices = tuple(questions[each].choices for each in block)
        return _joint_variance(choices, epsilon) * max(questions[each].importance for each in block)

    fixed = [unit for unit in units if unit in kept or not questions[unit[0]].can_be_joined]
    blocks = {unit: need(unit) for unit in units if unit not in fixed}
    while len(blocks) > 1:
        gains = {
            (one, other): blocks[one] + blocks[other] - need(tuple(sorted(one + other)))
            for one, other in combinations(blocks, 2)
            if math.prod(questions[each].choices for each in one + other) <= MAX_JOINT
        }
        pair = max(gains, key=lambda pair: gains[pair], default=None)
        if pair is None or gains[pair] <= 0:
            break
        both = tuple(sorted(pair[0] + pair[1]))
        blocks = {each: part for each, part in blocks.items() if each not in pair}
        blocks[both] = need(both)
    return sorted([*fixed, *blocks])


@lru_cache(maxsize=4096)
def _joint_variance(choices: tuple[int, ...], epsilon: Decimal) -> float:
    """Return about variance × n of the worst of questions sent as one."""
    cells = math.prod(choices)
    return float(variances(tuple(sorted(set(choices))), cells, epsilon).min())


def _way(
    kind: Kind,
    questions: Sequence[Question],
    blocks: Sequence[Block],
    sets: Sequence[Set],
    *,
    evenly: bool = False,
) -> Way:
    """Return the way whose blocks are drawn as often as they need, or all alike."""
    needs = [
        max(
            questions[question].importance * variance
            for question, variance in zip(block.questions, block.variances, strict=True)
        )
        for block in blocks
    ]
    asked = len(sets[0])
    is_even = evenly or max(needs) <= min(needs) * (1 + 1e-6)
    drawn = Drawn.evenly(sets) if is_even else weighted(sets, chances_for(needs, asked))
    return Way(kind, tuple(questions), tuple(blocks), drawn)


def _block(
    places: Set, questions: Sequence[Question], epsilon: Decimal, kept: Sequence[Set] = ()
) -> Block:
    """Return the block of these questions with so much ε: joint, unless they are kept apart."""
    if len(places) == 1 or places in kept:
        return _apart(places, questions, split(epsilon, [1] * len(places)))
    choices = [questions[place].choices for place in places]
    joint = Joint.for_epsilon(choices, epsilon)
    views = (joint.view(place) for place in range(len(places)))
    found = tuple(
        float(view.variance(Fraction(1, count))) for view, count in zip(views, choices, strict=True)
    )
    return Block(places, (joint,), found)


def _apart(places: Set, questions: Sequence[Question], epsilons: Sequence[Decimal]) -> Block:
    channels = tuple(
        questions[place].within(epsilon) for place, epsilon in zip(places, epsilons, strict=True)
    )
    found = tuple(
        questions[place].variance(channel) for place, channel in zip(places, channels, strict=True)
    )
    return Block(places, channels, found)


def _units(questions: Sequence[Question], kept: Sequence[Set]) -> list[Set]:
    """Return what is drawn as one at least: kept blocks, and every other question."""
    held = {question for block in kept for question in block}
    return sorted([*kept, *((place,) for place in range(len(questions)) if place not in held)])


def _check(questions: Sequence[Question], kept: Sequence[Set]) -> None:
    require(
        1 <= len(questions) <= MAX_BLOCKS,
        "questions must be 1 to {}, got {}",
        MAX_BLOCKS,
        len(questions),
    )
    require(
        any(question.importance > Importance.NICE for question in questions),
        "a question at least must be useful or decisive: all are nice to have",
    )
    places = [question for block in kept for question in block]
    require(
        len(set(places)) == len(places)
        and all(0 <= place < len(questions) for place in places)
        and all(tuple(sorted(block)) == tuple(block) for block in kept),
        "kept blocks must be of different questions, in rising order",
    )


def _weight(number: int, weight: int | Fraction | Decimal) -> Fraction:
    if isinstance(weight, bool) or not isinstance(weight, int | Fraction | Decimal):
        raise TypeError(
            f"weight {number} must be an integer, Fraction or Decimal, got a "
            f"{type(weight).__name__}"
        )
    require(
        (not isinstance(weight, Decimal) or weight.is_finite()) and weight > 0,
        "weight {} must be above 0, got {}",
        number,
        weight,
    )
    return Fraction(weight)
