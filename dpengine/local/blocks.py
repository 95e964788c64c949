"""Which questions a person is asked: a device draws one set of blocks, and looks at no answer.

A block is some questions that are drawn as one; a set is some blocks that one person is asked. Set
S has a whole weight, and is drawn with chance weight/Σ weights: a word, uniform below the sum, by
rejection.

Privacy    Which set was drawn is seen by everyone. For answers x and x', a set S and its reports r

               Pr[S, r | x] / Pr[S, r | x'] = Π_{i ∈ S} Pr[r_i | x_i] / Pr[r_i | x'_i] ≤ Π_{i ∈ S}
               loss_i

           because the chance of S cancels: weights are nobody's secret and cost nothing. Equality
           is reached: x and x' may differ in every question, and each r_i be the report that tells
           most. So e^ε is the largest product over the sets, and never less: hiding the average
           would need a set that nobody sees. One set of all blocks is a split (basic composition,
           Thm 3.14); all s-subsets lose the product of the s largest.
Variance   Of n people about n·p_i are asked block i, p_i the weights of the sets that hold it over
           all weights. How many they are is public and drawn without looking: estimates take it as
           it came. A question's variance, sampling and device, grows by 1/p_i, that of a table of
           two by one over the chance that both are drawn.
Designs    All s-subsets of q if they are 100 at most. Else cyclic ones: some first sets, each moved
           around the ring of q, so that every block is in as many; first sets take the differences
           that were taken least, so that as many pairs meet as can.
Chances    p_i that are wanted become weights by w_S ∝ Π_{i ∈ S} θ_i, θ found by turns (maximum
           entropy: nothing else is favoured), rounded so that the largest is 1,000. What is charged
           and estimated comes from the whole weights.
By hand    Three blocks of loss 3, 2 and 5, pairs drawn: the largest product is 15. Weights 1, 1, 2
           of the sets {0, 1}, {0, 2}, {1, 2}: p = 1/2, 3/4, 3/4.
Sources    Sampling of attributes: Nguyên et al. 2016, Wang et al. 2019. Maximum entropy samples:
           Chen, Dempster and Liu 1994. Cyclic designs: John 1966.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations, pairwise

import numpy as np

from dpengine.checks import require
from dpengine.privacy import loss_of_all
from dpengine.randomness import Stream, below, system_stream

MAX_SETS = 100
MAX_BLOCKS = 100
MAX_WEIGHT = 2**20
MOST = 0.95  # of the chances of a block that is not in every set
FINE = 1000  # the largest weight that is made from chances
TURNS = 200

Set = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The sets that can be drawn, each rising numbers of blocks, and how often."""

    sets: tuple[Set, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        require(
            1 <= len(self.sets) <= MAX_SETS,
            "sets must be 1 to {}, got {}",
            MAX_SETS,
            len(self.sets),
        )
        require(len(set(self.sets)) == len(self.sets), "sets must differ")
        for number, each in enumerate(self.sets):
            require(
                each and each[0] >= 0 and all(left < right for left, right in pairwise(each)),
                "set {} must be blocks in rising order, one or more",
                number,
            )
        require(
            {block for each in self.sets for block in each} == set(range(self.blocks)),
            "each of {} blocks must be in a set",
            self.blocks,
        )
        require(
            self.blocks <= MAX_BLOCKS, "blocks must be at most {}, got {}", MAX_BLOCKS, self.blocks
        )
        require(
            len(self.weights) == len(self.sets)
            and all(type(weight) is int and 1 <= weight <= MAX_WEIGHT for weight in self.weights),
            "weights must be one for each set, integers from 1 to {}",
            MAX_WEIGHT,
        )

    @classmethod
    def evenly(cls, sets: Sequence[Set]) -> "Drawn":
        return cls(tuple(sets), (1,) * len(sets))

    @classmethod
    def all_of(cls, blocks: int) -> "Drawn":
        """Return what splits: everybody is asked every block."""
        return cls.evenly([tuple(range(blocks))])

    @classmethod
    def some_of(cls, blocks: int, size: int) -> "Drawn":
        """Return so many of the blocks, each as likely as the next."""
        return cls.evenly(subsets(blocks, size))

    @property
    def blocks(self) -> int:
        return 1 + max(max(each, default=0) for each in self.sets)

    def loss(self, losses: Sequence[Fraction]) -> Fraction:
        """Return e^ε of a person, exactly, from those of the blocks."""
        require(
            len(losses) == self.blocks,
            "losses must be those of {} blocks, got {}",
            self.blocks,
            len(losses),
        )
        return max(loss_of_all(losses[block] for block in each) for each in self.sets)

    def chance(self, *blocks: int) -> Fraction:
        """Return how often all these blocks are drawn."""
        holding = (
            weight
            for each, weight in zip(self.sets, self.weights, strict=True)
            if set(blocks) <= set(each)
        )
        return Fraction(sum(holding), sum(self.weights))

    def draw(self, words: Stream = system_stream) -> int:
        """Return which set this device asks. Twin of `draw` in intake/blocks.js."""
        drawn = below(sum(self.weights), words)
        return next(place for place, end in enumerate(accumulate(self.weights)) if drawn < end)


def subsets(count: int, size: int) -> list[Set]:
    """Return sets of so many of `count` things, each thing in as many: all, or cyclic ones."""
    require(1 <= size <= count, "size must be 1 to {}, got {}", count, size)
    require(count <= MAX_BLOCKS, "blocks must be at most {}, got {}", MAX_BLOCKS, count)
    if math.comb(count, size) <= MAX_SETS:
        return list(combinations(range(count), size))
    found: dict[Set, None] = {}
    taken = Counter[int]()
    while len(found) + count <= MAX_SETS:
        before = len(found)
        found |= dict.fromkeys(cyclic(count, size, taken))
        if len(found) == before:
            break
    return list(found)


def cyclic(count: int, size: int, taken: Counter[int] | None = None) -> list[Set]:
    """Return a first set and all that come of moving it around a ring of so many things.

    Its differences are those that `taken` has least, where they are then counted.
    """
    require(1 <= size <= count, "size must be 1 to {}, got {}", count, size)
    taken = Counter() if taken is None else taken
    first = [0]
    while len(first) < size:
        added = min(
            (each for each in range(count) if each not in first),
            key=lambda each: sum(taken[_apart(each, other, count)] for other in first),
        )
        taken.update(_apart(added, other, count) for other in first)
        first.append(added)
    moved = (tuple(sorted((each + step) % count for each in first)) for step in range(count))
    return list(dict.fromkeys(moved))


def _apart(one: int, other: int, count: int) -> int:
    return min((one - other) % count, (other - one) % count)


def chances_for(needs: Sequence[float], asked: int) -> list[float]:
    """Return chances in proportion to what blocks need, that add up to the blocks of a set.

    None above MOST, unless everybody is asked everything.
    """
    if asked == len(needs):
        return [1.0] * asked
    top = max(MOST, asked / len(needs))
    chances = np.zeros(len(needs))
    free = np.ones(len(needs), dtype=bool)
    need = np.asarray(needs, dtype=np.float64)
    while True:  # what is free last is as asked for as MOST
        left = asked - top * float((~free).sum())
        chances[free] = left * need[free] / float(need[free].sum())
        above = free & (chances > top)
        if not above.any():
            break
        chances[above], free = top, free & ~above
    return [float(chance) for chance in chances]


def together(names: Sequence[str], links: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the least groups of these questions in which each stands with what it is linked to."""
    groups = {name: [name] for name in names}
    for one, other in links:
        if one in groups and other in groups and groups[one] is not groups[other]:
            joined = groups[one] + groups[other]
            groups |= dict.fromkeys(joined, joined)
    found = {id(group): group for group in groups.values()}.values()
    return [[name for name in names if name in group] for group in found]


def weighted(sets: Sequence[Set], chances: Sequence[float]) -> Drawn:
    """Return the sets with weights that ask each block about as often as wanted."""
    holds = np.zeros((len(sets), len(chances)))
    for place, each in enumerate(sets):
        holds[place, list(each)] = 1.0
    inside = np.ascontiguousarray(holds.T > 0)
    weights, wanted = np.full(len(sets), 1 / len(sets)), np.asarray(chances, dtype=np.float64)
    for _ in range(TURNS):
        found = weights @ holds
        if np.abs(found - wanted).max() < 1e-9 or (wanted >= 1).any():
            break
        for block, want in enumerate(wanted):
            part = float(weights @ holds[:, block])
            weights *= np.where(inside[block], want / part, (1 - want) / (1 - part))
    scaled = np.rint(weights / weights.max() * FINE).astype(np.int64)
    whole = [max(1, int(weight)) for weight in scaled]
    divisor = math.gcd(*whole)
    return Drawn(tuple(sets), tuple(weight // divisor for weight in whole))
