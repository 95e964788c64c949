"""Rows that are alike, each said once with how many people it stands for.

Sums over people are sums over rows, each times its count: of a million people who differ in age and
sex a few hundred rows are left. Rows are in the order in which people came.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """For each row the first person whose row it is, counted from 0, and how many there are."""

    first: Ints
    counts: Floats

    @classmethod
    def of(cls, repeats: "Repeats | None", rows: int) -> "Repeats":
        """Return these, which must be one a row; without any, everybody has a row of their own."""
        if repeats is None:
            return cls(np.arange(rows), np.broadcast_to(1.0, rows))
        require(
            len(repeats.first) == len(repeats.counts) == rows,
            "repeats must be one for each of {} rows, got {}",
            rows,
            len(repeats.counts),
        )
        return repeats

    @property
    def people(self) -> int:
        return int(self.counts.sum())

    def among(self, people: int) -> int:
        """Return how many rows the first so many people have."""
        return int(np.searchsorted(self.first, people))

    def only(self, rows: npt.NDArray[np.bool_]) -> "Repeats":
        return Repeats(self.first[rows], self.counts[rows])
