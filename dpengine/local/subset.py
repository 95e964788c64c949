"""Subset selection: report w of the k choices, the true one among them more often than by chance.

A word, uniform below W = 2³², decides whether the answer is among the w; the
others are drawn without replacement, each as likely as the next.

    a = keep / W                          chance that the true choice is reported
    b = (a(w − 1) + (1 − a)w) / (k − 1)   chance that a given other choice is

Privacy    e^ε = keep·(k − w) / ((W − keep)·w), when one answer changes to any other.
Estimate   ĉ = (r − n·b) / (a − b) people, when r of n reports hold the choice. Unbiased.
Variance   (c·a(1 − a) + (n − c)·b(1 − b)) / (a − b)² people², for true count c.
By hand    k = 2, w = 1, a = 3/4: ε = ln 3; 40 reports of 100 estimate 30 people.
Sources    Ye and Barg 2018 (optimal); w = 1, Kairouz et al. 2016; k = 2, Warner 1965.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from dpengine.estimates import Counts, Margin
from dpengine.local.bits import column_counts
from dpengine.privacy import Neighbours, exponential_below
from dpengine.randomness import WORD, Words, sample, system_words

MOST_CHOICES = 1024


@dataclass(frozen=True, slots=True)
class Subset:
    choices: int  # k
    size: int  # w
    keep: int  # words below this, out of 2**32, put the answer into the report

    def __post_init__(self) -> None:
        if not 2 <= self.choices <= MOST_CHOICES:
            raise ValueError(f"choices must be 2 to {MOST_CHOICES}, got {self.choices}")
        if not 1 <= self.size < self.choices:
            raise ValueError(f"size must be 1 to {self.choices - 1}, got {self.size}")
        if not self.size * WORD < self.keep * self.choices < WORD * self.choices:
            raise ValueError(f"keep must favour the truth, not reveal it: {self.keep}")

    @classmethod
    def for_epsilon(cls, choices: int, epsilon: Decimal) -> "Subset":
        """Return the subset channel of least variance whose loss is at most e^ε, if only by a hair.

        The best size is next to k/(e^ε + 1) (Ye and Barg 2018, § IV); of the two neighbours the one
        with the smaller variance for a rare choice is taken.
        """
        if choices < 2:
            raise ValueError(f"choices must be 2 or more, got {choices}")
        loss = exponential_below(epsilon)
        near = int(choices / (loss + 1))
        sizes = {min(max(size, 1), choices - 1) for size in (near, near + 1)}
        return min((cls._of_size(choices, size, loss) for size in sorted(sizes)), key=lambda s: s.margin.rare_variance)

    @classmethod
    def _of_size(cls, choices: int, size: int, loss: Fraction) -> "Subset":
        keep = int(WORD * (size * loss) / (size * loss + choices - size))  # rounded down: towards privacy
        return cls(choices=choices, size=size, keep=keep)

    @property
    def loss(self) -> Fraction:
        """Return e^ε, exactly: how much likelier one answer can make a report than another."""
        others = self.choices - self.size
        return Fraction(self.keep * others, (WORD - self.keep) * self.size)

    @property
    def margin(self) -> Margin:
        """Return a and b: how often a report holds a choice that is true, and one that is not."""
        kept = Fraction(self.keep, WORD)
        other = (kept * (self.size - 1) + (1 - kept) * self.size) / (self.choices - 1)
        return Margin(truth=kept, lie=other)

    def margins(self) -> list[Margin]:
        return [self.margin] * self.choices

    def randomise(self, answer: int, words: Words = system_words) -> list[int]:
        if not 0 <= answer < self.choices:
            raise ValueError(f"answer must be one of {self.choices} choices")
        kept = words() < self.keep
        others = [choice for choice in range(self.choices) if choice != answer]
        return sorted([answer] * kept + sample(others, self.size - kept, words))

    def accepts(self, report: Any) -> bool:
        """Tell whether a browser with this channel can have sent this value."""
        return (
            isinstance(report, list)
            and len(report) == self.size
            and all(type(choice) is int and 0 <= choice < self.choices for choice in report)
            and all(left < right for left, right in pairwise(report))
        )

    @property
    def width(self) -> int:
        """Return the bytes of one packed report: a bit for every choice, the first is the highest of the first byte."""
        return (self.choices + 7) // 8

    def pack(self, reports: Sequence[Sequence[int]]) -> bytes:
        """Pack reports into rows of `width` bytes."""
        bits = np.zeros((len(reports), self.choices), dtype=np.uint8)
        rows = np.repeat(np.arange(len(reports)), self.size)
        bits[rows, np.asarray(reports, dtype=np.int64).reshape(-1)] = 1
        return np.packbits(bits, axis=1).tobytes()

    def tally(self, packed: bytes) -> Counts:
        """Return for every choice how many of the packed reports hold it."""
        held = column_counts(packed, self.width)
        if held[self.choices :].any():
            raise ValueError(f"packed must hold choices below {self.choices}, got another")
        counts: Counts = held[: self.choices].tolist()
        return counts

    def sensitivity(self, neighbours: Neighbours) -> int:
        """Return the largest L1 distance between the tallies of two neighbours: a report holds w choices."""
        if neighbours is Neighbours.ADD_REMOVE:
            return self.size
        return 2 * min(self.size, self.choices - self.size)

    def document(self) -> dict[str, Any]:
        return {"kind": "subset", "choices": self.choices, "size": self.size, "keep": self.keep}

    def probabilities(self, reports: Iterable[Sequence[int]]) -> list[list[Fraction]]:
        """Return Pr[report | answer], a row an answer: what enumeration tests and auditors compare."""
        inside = math.comb(self.choices - 1, self.size - 1)
        outside = math.comb(self.choices - 1, self.size)
        kept, turned = Fraction(self.keep, WORD * inside), Fraction(WORD - self.keep, WORD * outside)
        listed = [set(report) for report in reports]
        return [[kept if answer in held else turned for held in listed] for answer in range(self.choices)]
