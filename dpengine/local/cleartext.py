"""An answer sent in the clear: the channel that changes nothing.

Privacy    None on the way: whoever can read what the server keeps reads the answer, so its local ε
           is ∞. Its only protection is chance added to what is published (the trusted curator of
           Dwork and Roth 2014, § 1).
Estimate   ĉ = r people, when r of n reports hold the choice: a = 1, b = 0 in the words of
           dpengine.estimates. A number is not counted: a histogram would give rare values away.
Variance   c·(1 − c/n) of sampling alone, and what a publication adds.
By hand    40 reports of 100 hold a choice: 40 people.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import Counts, Margin
from dpengine.local.channel import Bounds, Channel, Codes, Document, Features, Learns, whole
from dpengine.privacy import Neighbours
from dpengine.randomness import Stream, system_stream

CERTAIN = Margin(truth=Fraction(1), lie=Fraction(0))


@dataclass(frozen=True, slots=True)
class Cleartext(Channel):
    """The whole numbers that one question takes: indices of its choices, or within its bounds."""

    kind: ClassVar[str] = "cleartext"
    parts: ClassVar[str] = "choices kind least most"
    learns: ClassVar[Learns] = Learns.SHARES
    is_random: ClassVar[bool] = False

    least: int
    most: int
    choices: int  # 0 where the answer is a number

    @classmethod
    def of_choices(cls, choices: int) -> "Cleartext":
        return cls(0, choices - 1, choices)

    @classmethod
    def of_numbers(cls, least: int, most: int) -> "Cleartext":
        return cls(least, most, 0)

    @classmethod
    def from_document(cls, document: Document, bounds: Bounds | None = None) -> "Cleartext":
        return cls(*(whole(document, name) for name in ("least", "most", "choices")))

    def document(self) -> dict[str, object]:
        return {"kind": self.kind, "least": self.least, "most": self.most, "choices": self.choices}

    @property
    def loss(self) -> Fraction:
        raise ValueError("an answer in the clear has no finite loss")

    @property
    def answers(self) -> int:
        return self.most - self.least + 1

    @property
    def is_number(self) -> bool:
        return not self.choices

    def randomise(self, answer: int, words: Stream = system_stream) -> int:
        """Return the answer itself, and take no word."""
        require(self.accepts(answer), "answer must be {}", self.expects())
        return answer

    def accepts(self, report: Any) -> bool:
        return type(report) is int and self.least <= report <= self.most

    def expects(self) -> str:
        return f"an integer from {self.least} to {self.most}"

    @property
    def width(self) -> int:
        return 8 if self.is_number else 1

    def pack(self, reports: Sequence[int]) -> bytes:
        return np.asarray(reports, dtype=self._dtype).tobytes()

    def unpack(self, packed: bytes) -> npt.NDArray[np.int64]:
        """Return the packed answers."""
        return np.frombuffer(packed, dtype=self._dtype).astype(np.int64)

    @property
    def _dtype(self) -> str:
        return "<i8" if self.is_number else "<u1"

    def codes(self, packed: bytes) -> Codes:
        values, codes = np.unique(self.unpack(packed), return_inverse=True)
        return values.tolist(), codes

    @property
    def cells(self) -> int:
        return self.choices

    def tally(self, packed: bytes) -> Counts:
        """Return how many packed answers are each of the choices."""
        counts: Counts = np.bincount(self.unpack(packed), minlength=self.choices).tolist()
        require(
            len(counts) == self.choices,
            "packed must hold choices below {}, got another",
            self.choices,
        )
        return counts

    def is_one_count(self, neighbours: Neighbours) -> bool:
        return self.choices == 2 and neighbours is Neighbours.CHANGE_ONE

    def margins(self) -> list[Margin]:
        return [CERTAIN] * self.choices

    def features(self) -> Features:
        own = np.eye(self.choices)
        return Features(1, own, own, own, (own.min(axis=1), own.max(axis=1)), is_exact=True)
