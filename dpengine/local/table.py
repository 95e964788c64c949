"""A channel written out: weights[answer][report], every row summing to the same W ≤ 2³².

    Pr[report | answer] = weights[answer][report] / W

Privacy    e^ε = max over reports of (largest / smallest weight of its column), when one answer
           changes to any other. A report that some answers can make and others cannot would
           give them away: refused.
Estimate   ĉ = (r − n·b) / (a − b) people for a choice whose own report has weight a·W in its row
           and b·W in all others (margins). Unbiased. Other tables have an inverse
           (decoder.py).
Variance   (c·a(1 − a) + (n − c)·b(1 − b)) / (a − b)² people², for true count c.
By hand    The coin of the book, [[3, 1], [1, 3]]: ε = ln 3, share of yes = 2·(yes/n) − 1/2.
Sources    Warner 1965; Dwork and Roth 2014, § 3.2 (the coin); any channel of finite range, Def.
           2.2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar, Self

import numpy as np

from dpengine.checks import require
from dpengine.estimates import Margin
from dpengine.local.channel import Bounds, Document, Features, Learns, WholeNumbers
from dpengine.local.decoder import inverse
from dpengine.privacy import Neighbours, exponential_below, loss_of_table
from dpengine.randomness import WORD, Stream, below, system_stream

MAX_CELLS = 4096  # of a table; larger ones would not fit a phone's first page


@dataclass(frozen=True, slots=True)
class Table(WholeNumbers):
    kind: ClassVar[str] = "table"
    parts: ClassVar[str] = "kind weights"
    learns: ClassVar[Learns] = Learns.SHARES

    weights: tuple[tuple[int, ...], ...]  # [answer][report]

    @classmethod
    def of(cls, chances: Sequence[Sequence[Fraction]]) -> Self:
        """Return the table with these chances, exactly: W is their least common denominator."""
        total = math.lcm(*(chance.denominator for row in chances for chance in row))
        return cls(tuple(tuple(int(chance * total) for chance in row) for row in chances))

    def __post_init__(self) -> None:
        rows = len(self.weights)
        require(
            rows >= 2
            and all(len(row) == len(self.weights[0]) for row in self.weights)
            and (len(self.weights[0]) >= 2),
            "weights must have two rows or more, all of the same length of two or more",
        )
        require(
            rows * len(self.weights[0]) <= MAX_CELLS,
            "weights must have at most {} cells, got {}",
            MAX_CELLS,
            rows * len(self.weights[0]),
        )
        require(
            all(type(weight) is int and weight >= 0 for row in self.weights for weight in row),
            "weights must be integers of 0 or more",
        )
        totals = {sum(row) for row in self.weights}
        require(
            len(totals) == 1 and 1 <= max(totals) <= WORD,
            "every row must have the same sum, at most 2**32, got {}",
            sorted(totals),
        )
        for report, column in enumerate(zip(*self.weights, strict=True)):
            if min(column) == 0:
                raise ValueError(
                    f"report {report} must be possible after every answer, or it gives some away: "
                    f"who sends it cannot have answered {column.index(0)}"
                )
        require(
            len(set(self.weights)) != 1, "rows must differ: nothing can be learned from equal ones"
        )

    @classmethod
    def coin(cls) -> "Table":
        """Return the coin of the book: tell the truth on heads, else answer by a second coin."""
        return cls(((3, 1), (1, 3)))

    @classmethod
    def binary(cls, epsilon: Decimal) -> "Table":
        """Return the yes/no channel whose loss is at most e^ε, if only by a hair."""
        loss = exponential_below(epsilon)
        keep = int(WORD * loss / (1 + loss))  # rounded down: towards privacy
        return cls(((keep, WORD - keep), (WORD - keep, keep)))

    @classmethod
    def from_document(cls, document: Document, bounds: Bounds | None = None) -> Self:
        rows: Any = document.get("weights")
        require(
            isinstance(rows, list) and all(isinstance(row, list) for row in rows),
            "weights must be a list of lists",
        )
        return cls(tuple(tuple(row) for row in rows))

    def document(self) -> dict[str, object]:
        return {"kind": "table", "weights": [list(row) for row in self.weights]}

    @property
    def choices(self) -> int:
        return len(self.weights)

    @property
    def answers(self) -> int:
        return len(self.weights)

    @property
    def reports(self) -> int:
        return len(self.weights[0])

    @property
    def total(self) -> int:
        """Return W, the sum of every row."""
        return sum(self.weights[0])

    @property
    def loss(self) -> Fraction:
        return loss_of_table(self.weights)

    @property
    def common(self) -> Fraction:
        """Return c of a table of two weights, 0 of any other.

        Each row has as many large weights, for their sums are equal. Of two rows let n reports have
        a large one in the first only, and as many in the second only: c is what the others have
        together, in small weights, over n. It is least where n is most.
        """
        values = np.array(self.weights)
        large = (values == values.max()).astype(np.int64)
        if len(np.unique(values)) > 2:
            return Fraction(0)
        apart = int((large @ (1 - large).T).max())
        both = int(large[0].sum()) - apart
        neither = self.reports - 2 * apart - both
        return (self.loss * both + neither) / apart

    def margins(self) -> list[Margin]:
        """Return a and b of every choice, for tables where one report stands for each choice."""
        require(
            self.reports == self.choices,
            "expected one report for each of {} choices, got {}",
            self.choices,
            self.reports,
        )
        margins = []
        for choice, column in enumerate(zip(*self.weights, strict=True)):
            others = {weight for answer, weight in enumerate(column) if answer != choice}
            require(
                len(others) == 1,
                "report {} must be equally likely after every answer but its own",
                choice,
            )
            margins.append(
                Margin(Fraction(column[choice], self.total), Fraction(others.pop(), self.total))
            )
        return margins

    def randomise(self, answer: int, words: Stream = system_stream) -> int:
        require(0 <= answer < self.choices, "answer must be one of {} choices", self.choices)
        drawn = below(self.total, words)
        return next(
            report for report, limit in enumerate(accumulate(self.weights[answer])) if drawn < limit
        )

    def is_one_count(self, neighbours: Neighbours) -> bool:
        return self.reports == 2 and neighbours is Neighbours.CHANGE_ONE

    def features(self) -> Features:
        """Return the reports themselves, and their inverse U = P⁻¹."""
        first = np.array([[float(value) for value in row] for row in inverse(self.weights)])
        chances = np.array(self.weights, dtype=np.float64) / self.total
        return Features(1, first, first**2, chances, (first.min(axis=1), first.max(axis=1)))
