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
from typing import Any, ClassVar, Self

import numpy as np

from dpengine.checks import require
from dpengine.estimates import Counts, Margin
from dpengine.local.bits import column_counts
from dpengine.local.channel import Bounds, Channel, Codes, Document, Features, Learns, Moved, whole
from dpengine.privacy import exponential_below
from dpengine.randomness import WORD, Stream, sample, system_stream

MAX_CHOICES = 1024


@dataclass(frozen=True, slots=True)
class Subset(Channel):
    kind: ClassVar[str] = "subset"
    parts: ClassVar[str] = "choices keep kind size"
    learns: ClassVar[Learns] = Learns.SHARES

    choices: int  # k
    size: int  # w
    keep: int  # words below this, out of 2**32, put the answer into the report

    def __post_init__(self) -> None:
        require(
            2 <= self.choices <= MAX_CHOICES,
            "choices must be 2 to {}, got {}",
            MAX_CHOICES,
            self.choices,
        )
        require(
            1 <= self.size < self.choices,
            "size must be 1 to {}, got {}",
            self.choices - 1,
            self.size,
        )
        require(
            self.size * WORD < self.keep * self.choices < WORD * self.choices,
            "keep must favour the truth, not reveal it: {}",
            self.keep,
        )

    @classmethod
    def for_epsilon(cls, choices: int, epsilon: Decimal) -> "Subset":
        """Return the subset channel of least variance whose loss is at most e^ε, if only by a hair.

        The best size is next to k/(e^ε + 1) (Ye and Barg 2018, § IV); of the two neighbours the one
        with the smaller variance for a rare choice is taken.
        """
        require(choices >= 2, "choices must be 2 or more, got {}", choices)
        loss = exponential_below(epsilon)
        near = int(choices / (loss + 1))
        sizes = {min(max(size, 1), choices - 1) for size in (near, near + 1)}
        return min(
            (cls.of_size(choices, size, epsilon) for size in sorted(sizes)),
            key=lambda s: s.margin.rare_variance,
        )

    @classmethod
    def of_size(cls, choices: int, size: int, epsilon: Decimal) -> "Subset":
        """Return the channel that names so many choices, whose loss is at most e^ε by a hair."""
        loss = exponential_below(epsilon)
        # Rounded down: towards privacy.
        keep = int(WORD * (size * loss) / (size * loss + choices - size))
        return cls(choices=choices, size=size, keep=keep)

    @classmethod
    def from_document(cls, document: Document, bounds: Bounds | None = None) -> Self:
        return cls(*(whole(document, name) for name in ("choices", "size", "keep")))

    def document(self) -> dict[str, object]:
        return {"kind": "subset", "choices": self.choices, "size": self.size, "keep": self.keep}

    @property
    def answers(self) -> int:
        return self.choices

    @property
    def loss(self) -> Fraction:
        others = self.choices - self.size
        return Fraction(self.keep * others, (WORD - self.keep) * self.size)

    @property
    def common(self) -> Fraction:
        others = self.choices - self.size
        return self.loss * Fraction(self.size - 1, others) + Fraction(others - 1, self.size)

    @property
    def margin(self) -> Margin:
        """Return a and b: how often a report holds a choice that is true, and one that is not."""
        kept = Fraction(self.keep, WORD)
        other = (kept * (self.size - 1) + (1 - kept) * self.size) / (self.choices - 1)
        return Margin(truth=kept, lie=other)

    def margins(self) -> list[Margin]:
        return [self.margin] * self.choices

    def randomise(self, answer: int, words: Stream = system_stream) -> list[int]:
        require(0 <= answer < self.choices, "answer must be one of {} choices", self.choices)
        kept = words() < self.keep
        others = [choice for choice in range(self.choices) if choice != answer]
        return sorted([answer] * kept + sample(others, self.size - kept, words))

    def accepts(self, report: Any) -> bool:
        return (
            isinstance(report, list)
            and len(report) == self.size
            and all(type(choice) is int and 0 <= choice < self.choices for choice in report)
            and all(left < right for left, right in pairwise(report))
        )

    def expects(self) -> str:
        return f"{self.size} different integers from 0 to {self.choices - 1} in rising order"

    @property
    def width(self) -> int:
        """Return the bytes of a report: a bit a choice, the first is the highest of the first."""
        return (self.choices + 7) // 8

    def pack(self, reports: Sequence[Sequence[int]]) -> bytes:
        bits = np.zeros((len(reports), self.choices), dtype=np.uint8)
        rows = np.repeat(np.arange(len(reports)), self.size)
        bits[rows, np.asarray(reports, dtype=np.int64).reshape(-1)] = 1
        return np.packbits(bits, axis=1).tobytes()

    def codes(self, packed: bytes) -> Codes:
        rows = np.frombuffer(packed, dtype=np.dtype((np.void, self.width)))
        different, codes = np.unique(rows, return_inverse=True)
        bits = np.unpackbits(different.view(np.uint8).reshape(-1, self.width), axis=1)
        held = bits[:, : self.choices]
        return [tuple(np.flatnonzero(row).tolist()) for row in held], codes

    @property
    def cells(self) -> int:
        return self.choices

    @property
    def held(self) -> int:
        return self.size

    def tally(self, packed: bytes) -> Counts:
        """Return for every choice how many of the packed reports hold it."""
        held = column_counts(packed, self.width)
        require(
            not held[self.choices :].any(),
            "packed must hold choices below {}, got another",
            self.choices,
        )
        counts: Counts = held[: self.choices].tolist()
        return counts

    def swapped(self) -> Moved:
        """Return how far apart a report is from the one with the choices a and b swapped: by those
        two counts, for Pr[S | a] depends on whether S holds a only.
        """
        return Moved(self.choices, 2, 2)

    def features(self) -> Features:
        """Return the choices that a report holds.

        u = (held − b)/(a − b), which Σ held = w makes linear, and u² = (held·(1 − 2b) +
        b²)/(a − b)², held being 0 or 1.
        """
        truth, lie = float(self.margin.truth), float(self.margin.lie)
        contrast = self.margin.contrast
        own, every = np.eye(self.choices), np.ones((self.choices, self.choices)) / self.size
        ends = (
            np.full(self.choices, -lie / contrast),
            np.full(self.choices, (1 - lie) / contrast),
        )
        return Features(
            held=self.size,
            first=(own - lie * every) / contrast,
            second=(own * (1 - 2 * lie) + lie**2 * every) / contrast**2,
            chances=lie + (truth - lie) * own,
            ends=ends,
        )

    def probabilities(self, reports: Iterable[Sequence[int]]) -> list[list[Fraction]]:
        """Return Pr[report | answer], a row an answer: what tests and auditors enumerate."""
        inside = math.comb(self.choices - 1, self.size - 1)
        outside = math.comb(self.choices - 1, self.size)
        kept, turned = (
            Fraction(self.keep, WORD * inside),
            Fraction(WORD - self.keep, WORD * outside),
        )
        listed = [set(report) for report in reports]
        return [
            [kept if answer in held else turned for held in listed]
            for answer in range(self.choices)
        ]
