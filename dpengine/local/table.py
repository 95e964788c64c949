"""A channel written out: weights[answer][report], every row summing to the same W ≤ 2³².

    Pr[report | answer] = weights[answer][report] / W

Privacy    e^ε = max over reports of (largest / smallest weight of its column), when one answer
           changes to any other. A report that some answers can make and others cannot would
           give them away: refused.
Estimate   ĉ = (r − n·b) / (a − b) people for a choice whose own report has weight a·W in its row
           and b·W in all others (margins). Unbiased. Other tables have a decoder (decoder.py): their
           inverse, or any that comes with them, for a mean say.
Variance   (c·a(1 − a) + (n − c)·b(1 − b)) / (a − b)² people², for true count c. Others: decoder.py.
By hand    The coin of the book, [[3, 1], [1, 3]]: ε = ln 3, share of yes = 2·(yes/n) − 1/2.
Sources    Warner 1965; Dwork and Roth 2014, § 3.2 (the coin); any channel of finite range, Def. 2.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from dpengine.estimates import Counts, Margin
from dpengine.local.decoder import Decoder, inverse
from dpengine.privacy import Neighbours, exponential_below, loss_of_table
from dpengine.randomness import WORD, Words, below, system_words

MOST_CELLS = 4096  # of a table; larger ones would not fit a phone's first page
AT_ONCE = 2**16  # reports counted together: bincount widens them to 8 bytes each, which then stay in a core's cache


@dataclass(frozen=True, slots=True)
class Table:
    weights: tuple[tuple[int, ...], ...]  # [answer][report]
    decoder: Decoder | None = None  # what its counts are for, where that is not the share of every choice

    def __post_init__(self) -> None:
        rows = len(self.weights)
        if rows < 2 or any(len(row) != len(self.weights[0]) for row in self.weights) or len(self.weights[0]) < 2:
            raise ValueError("weights must have two rows or more, all of the same length of two or more")
        if rows * len(self.weights[0]) > MOST_CELLS:
            raise ValueError(f"weights must have at most {MOST_CELLS} cells, got {rows * len(self.weights[0])}")
        if any(type(weight) is not int or weight < 0 for row in self.weights for weight in row):
            raise ValueError("weights must be integers of 0 or more")
        totals = {sum(row) for row in self.weights}
        if len(totals) != 1 or not 1 <= max(totals) <= WORD:
            raise ValueError(f"every row must have the same sum, at most 2**32, got {sorted(totals)}")
        for report, column in enumerate(zip(*self.weights, strict=True)):
            if min(column) == 0:
                raise ValueError(
                    f"report {report} must be possible after every answer, or it gives some away: "
                    f"who sends it cannot have answered {column.index(0)}"
                )
        if len(set(self.weights)) == 1:
            raise ValueError("rows must differ: nothing can be learned from equal ones")
        if self.decoder and self.decoder.reports != self.reports:
            raise ValueError(f"decoder must have {self.reports} columns, one a report, got {self.decoder.reports}")

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

    @property
    def choices(self) -> int:
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
        """Return e^ε, exactly: how much likelier one answer can make a report than another."""
        return loss_of_table(self.weights)

    def margins(self) -> list[Margin]:
        """Return a and b of every choice, for tables where one report stands for each choice."""
        if self.reports != self.choices:
            raise ValueError(f"expected one report for each of {self.choices} choices, got {self.reports}")
        margins = []
        for choice, column in enumerate(zip(*self.weights, strict=True)):
            others = {weight for answer, weight in enumerate(column) if answer != choice}
            if len(others) != 1:
                raise ValueError(f"report {choice} must be equally likely after every answer but its own")
            margins.append(Margin(Fraction(column[choice], self.total), Fraction(others.pop(), self.total)))
        return margins

    def inverse(self) -> Decoder:
        """Return the decoder of every choice's share, for any table whose rows do not depend on one another."""
        return inverse(self.weights)

    def randomise(self, answer: int, words: Words = system_words) -> int:
        if not 0 <= answer < self.choices:
            raise ValueError(f"answer must be one of {self.choices} choices")
        drawn = below(self.total, words)
        return next(report for report, limit in enumerate(accumulate(self.weights[answer])) if drawn < limit)

    def accepts(self, report: Any) -> bool:
        """Tell whether a browser with this channel can have sent this value."""
        return type(report) is int and 0 <= report < self.reports

    @property
    def width(self) -> int:
        """Return the bytes of one packed report."""
        return 1 if self.reports <= 256 else 2

    def pack(self, reports: Sequence[int]) -> bytes:
        """Pack reports into `width` bytes each, the lower one first."""
        return np.asarray(reports, dtype=f"<u{self.width}").tobytes()

    def tally(self, packed: bytes) -> Counts:
        """Return for every report how often it is among the packed ones."""
        reports = np.frombuffer(packed, dtype=f"<u{self.width}")
        counts = np.zeros(self.reports, dtype=np.int64)
        for start in range(0, len(reports), AT_ONCE):
            counted = np.bincount(reports[start : start + AT_ONCE], minlength=self.reports)
            if len(counted) > self.reports:
                raise ValueError(f"packed must hold reports below {self.reports}, got another")
            counts += counted
        found: Counts = counts.tolist()
        return found

    def sensitivity(self, neighbours: Neighbours) -> int:
        """Return the largest L1 distance between the tallies of two neighbours."""
        return 1 if neighbours is Neighbours.ADD_REMOVE else 2

    def document(self) -> dict[str, Any]:
        decoder = {"decoder": self.decoder.document()} if self.decoder else {}
        return {"kind": "table", "weights": [list(row) for row in self.weights], **decoder}
