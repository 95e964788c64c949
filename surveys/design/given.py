"""An answer that is sent as given: what a browser may send, and how it is packed, counted and published.

Privacy    None on the way: whoever can read what the server keeps reads the answer, so its local ε is ∞.
           Its only protection is chance added to what is published (the trusted curator of Dwork and Roth 2014, § 1).
Estimate   ĉ = r people, when r of n reports hold the choice: a = 1, b = 0 in the words of dpengine.estimates.
Variance   c·(1 − c/n) of sampling alone, and what a publication adds.
By hand    40 reports of 100 hold a choice: 40 people.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpengine.estimates import Margin
from dpengine.privacy import Neighbours

CERTAIN = Margin(truth=Fraction(1), lie=Fraction(0))


@dataclass(frozen=True, slots=True)
class Given:
    """The whole numbers that one question takes: the indices of its choices, or those within its bounds."""

    least: int
    most: int
    choices: int  # 0 where the answer is a number

    @classmethod
    def from_question(cls, question: dict[str, Any]) -> "Given":
        if question["kind"] == "number":
            return cls(question["least"], question["most"], choices=0)
        return cls(0, len(question["choices"]) - 1, choices=len(question["choices"]))

    @property
    def is_number(self) -> bool:
        return not self.choices

    @property
    def reports(self) -> int:
        """Return how many different values a choice question takes."""
        return self.choices

    def accepts(self, value: Any) -> bool:
        """Tell whether an honest browser can have sent this value."""
        return type(value) is int and self.least <= value <= self.most

    @property
    def width(self) -> int:
        """Return the bytes of one packed answer: the same for all, so that no length tells an answer."""
        return 8 if self.is_number else 1

    def pack(self, values: Sequence[int]) -> bytes:
        return np.asarray(values, dtype=self._dtype).tobytes()

    def unpack(self, packed: bytes) -> npt.NDArray[np.int64]:
        return np.frombuffer(packed, dtype=self._dtype).astype(np.int64)

    @property
    def _dtype(self) -> str:
        return "<i8" if self.is_number else "<u1"

    def tally(self, packed: bytes) -> list[int]:
        """Return how many packed answers are each of the choices."""
        counts: list[int] = np.bincount(self.unpack(packed), minlength=self.choices).tolist()
        if len(counts) != self.choices:
            raise ValueError(f"packed must hold choices below {self.choices}, got another")
        return counts

    def margins(self) -> list[Margin]:
        return [CERTAIN] * self.choices

    def sensitivity(self, neighbours: Neighbours) -> int:
        """Return the largest L1 distance between the tallies of two neighbours."""
        return 1 if neighbours is Neighbours.ADD_REMOVE else 2
