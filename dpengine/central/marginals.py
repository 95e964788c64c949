"""Tables of one column, and of two, of the same data set, all published at once.

Model      A row is one person's values in some columns, column c one of sizes[c] cells. A marginal
           is the count of every combination of cells in its columns.
Mechanism  Exact noise on every marginal on its own (counts.py): Laplace for ε, Laplace or Gaussian
           for ρ, whichever has the smaller variance. A third of the budget goes to the single
           columns, two thirds to the pairs, each split equally; with one column all of it is that
           column's.
Privacy    One person is in one cell of every marginal, so the costs of all add up (basic
           composition), exactly.
Error      Each cell on its own: E|Z| and Var Z of that marginal's noise, the same for every n and
           every data set.
By hand    Two columns of 2 and 3 cells, change-one, ε = 3/2: ε = 1/4 for each column, 1 for the
           pair. The first is one count (n is public), sensitivity 1: scale 4. The second has scale
           8, the pair 2 and E|Z| = 1.92 a cell.
Sources    Barak, Chaudhuri, Dwork, Kale, McSherry and Talwar 2007; the split is that of McKenna,
           Miklau and Sheldon 2021 without its third for choosing pairs: all are published.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from dpengine.central import counts
from dpengine.checks import require
from dpengine.privacy import Cost, Neighbours

SINGLES = Fraction(1, 3)  # of the budget
MAX_COLUMNS = 20
MAX_CELLS = 2**17  # of all columns together

Cells = tuple[int, ...]
Data = Mapping[Cells, int]  # how many rows have these cells


@dataclass(frozen=True, slots=True)
class Marginal:
    """Which columns, and the noise for the counts of their cells."""

    columns: tuple[int, ...]
    shape: tuple[int, ...]
    choice: counts.Choice

    @property
    def cells(self) -> int:
        return math.prod(self.shape)

    def exact(self, data: Data) -> list[int]:
        """Return the counts of the cells, the last column's running fastest. Never shown."""
        counts = [0] * self.cells
        for cells, people in data.items():
            counts[self.place(cells)] += people
        return counts

    def place(self, cells: Cells) -> int:
        return int(np.ravel_multi_index([cells[column] for column in self.columns], self.shape))


@dataclass(frozen=True, slots=True)
class Marginals:
    """All tables of one and of two columns, and what publishing them costs."""

    sizes: tuple[int, ...]
    neighbours: Neighbours
    tables: tuple[Marginal, ...]

    @classmethod
    def for_epsilon(
        cls, epsilon: Fraction, sizes: Sequence[int], neighbours: Neighbours
    ) -> "Marginals":
        """Return the tables with Laplace noise that cost at most ε together."""
        return cls._of(
            sizes, neighbours, lambda tally, part: counts.for_epsilon([tally], epsilon * part)
        )

    @classmethod
    def for_rho(cls, rho: Fraction, sizes: Sequence[int], neighbours: Neighbours) -> "Marginals":
        """Return the tables that cost at most ρ together."""
        return cls._of(sizes, neighbours, lambda tally, part: counts.for_rho([tally], rho * part))

    @classmethod
    def _of(
        cls,
        sizes: Sequence[int],
        neighbours: Neighbours,
        calibrated: Callable[[counts.Tally, Fraction], counts.Choice],
    ) -> "Marginals":
        require(
            1 <= len(sizes) <= MAX_COLUMNS,
            "sizes must be those of 1 to {} columns, got {}",
            MAX_COLUMNS,
            len(sizes),
        )
        require(min(sizes) >= 2, "sizes must be 2 cells or more, got {}", min(sizes))
        require(
            math.prod(sizes) <= MAX_CELLS,
            "sizes must multiply to at most {} cells, got {}",
            MAX_CELLS,
            math.prod(sizes),
        )
        tables = []
        for columns, part in _parts(len(sizes)):
            shape = tuple(sizes[column] for column in columns)
            tally = counts.Tally(math.prod(shape), neighbours, held=1)
            tables.append(Marginal(columns, shape, calibrated(tally, part)))
        return cls(tuple(sizes), neighbours, tuple(tables))

    @property
    def cost(self) -> Cost:
        first, *others = [table.choice.mechanism.cost for table in self.tables]
        return sum(others, start=first)

    def release(self, data: Data) -> list[list[int]]:
        """Return every table with noise. Publish once: a second draw is a second release."""
        require(
            all(len(cells) == len(self.sizes) for cells in data),
            "rows must have {} columns",
            len(self.sizes),
        )
        n = sum(data.values())  # used where n is public
        return [table.choice.release([table.exact(data)], n)[0] for table in self.tables]


def _parts(columns: int) -> list[tuple[tuple[int, ...], Fraction]]:
    """Return every table's columns and its part of the budget."""
    singles = [(column,) for column in range(columns)]
    pairs = list(combinations(range(columns), 2))
    if not pairs:
        return [(single, Fraction(1)) for single in singles]
    return [
        *((single, SINGLES / len(singles)) for single in singles),
        *((pair, (1 - SINGLES) / len(pairs)) for pair in pairs),
    ]
