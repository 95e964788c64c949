"""Noisy tables of the columns of a data set, and of those pairs of columns that tell the most.

Model      A row is one person's values in some columns, column c one of sizes[c] cells. A marginal
           is the count of every combination of cells in its columns. Wanted are all pairs (the
           workload).
Mechanism  AIM: tables of the single columns, then of pairs in rounds, of a budget b that is ε or ρ.
           1. A fifth of b for the columns, split equally.
           2. Four fifths for pairs; the first round costs 4b/(5R), R the number of pairs, at
              most three for each column. In every round
              a. the model (graphical.py) is fitted to the tables so far, and x̂ are its counts, to
                 the nearest whole: n times its shares, n the public number (change-one) or the
                 average total of the tables (add-remove);
              b. with a tenth of the round a pair is chosen (selection.py) by its score
                 Σ_cells |x − x̂| − ½·E|Z|·cells, Z the noise that its table would get, among those
                 with which the model is not too large;
              c. with the rest it is published. Where that moved the model's counts of the pair by
                 no more than E|Z|·cells, its noise told more than people: the next rounds have
                 half as much (ρ·4, ε·2). A round that would leave less than it costs takes all.
           With one pair only there is nothing to choose: it has the four fifths. With one column
           all of b is that column's. A pair that is published again is averaged by inverse
           variance. Noise is that of counts.py; the law of the choice that of selection.py (report
           noisy max for ε; for ρ the exponential mechanism, up to where that is better).
Privacy    One person is in one cell of every marginal. A cell more or less moves a score by 1, so
           scores of neighbours are apart by −1 to 1 each: spread 2 (add-remove), or −2 to 2:
           spread 4 (change-one, where n is public). x̂, the noise and the candidates follow from
           what was published before.
           A release with the budget b left loses at most b, by induction on the rounds left: what
           this round costs, r ≤ b, is fixed by what was published before it, choice and table cost
           at most r, and whatever they publish, the rest loses at most b − r (adaptive composition:
           Dwork and Roth 2014, Thm 3.16, for ε; Bun and Steinke 2016, Lemma 2.3, for ρ). Every
           round costs at least the first, so there are at most R. The ρ of a budget ε is that of
           the columns, and that of pure 4ε/5 for the pairs: however rounds divide it, it is
           what they lose together.
Error      Each cell on its own: E|Z| and Var Z of its table's noise. The noise of a column is known
           before, for every n and every data set; that of a pair is at most the first round's.
By hand    Two columns of 2 and 3 cells, change-one, ε = 5/2: ε = 1/4 for each column, 2 for the
           pair. The first is one count (n is public), sensitivity 1: scale 4. The second has scale
           8, the pair 1. Three columns, ε = 15/4: three pairs, the first round has ε = 1, a tenth
           of it for the choice (spread 4: scale 40) and nine tenths for the table.
Sources    McKenna, Mullins, Sheldon and Miklau 2022 (AIM), with fewer rounds, and half its penalty
           for large tables, for the fit makes noise even; McKenna, Miklau and Sheldon 2021 (MST).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from dpengine.central import counts, graphical
from dpengine.central.graphical import Columns, JunctionTree, Model
from dpengine.central.selection import Selection
from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.privacy import Cost, Neighbours

SINGLES = Fraction(1, 5)  # of the budget
CHOOSING = Fraction(1, 10)  # of a round
ROUNDS = 3  # for each column, before any is given more than the first
MAX_COLUMNS = 20
MAX_CELLS = 2**15  # of a model's cliques, or as many as its largest pair needs
MAX_PAIR = 2**17  # cells of the two largest columns, and of the others
EVEN = 16  # by how many people's worth of evidence the model is drawn to even shares
ROUND_STEPS, LAST_STEPS = 100, 300  # of a fit; what it has not fitted by then is in the distances
LEAST_VARIANCE = 1e-3  # of a count, for the fit: no table is taken to be exact

Cells = tuple[int, ...]
Data = Mapping[Cells, int]  # how many rows have these cells


@dataclass(frozen=True, slots=True)
class Marginal:
    """Which columns, and the noise for the counts of their cells."""

    columns: Columns
    shape: tuple[int, ...]
    choice: counts.Choice

    @property
    def cells(self) -> int:
        return math.prod(self.shape)

    @property
    def noise(self) -> float:
        """Return E|Z|, people a cell."""
        return float(self.choice.mechanism.mean_absolute_error)


@dataclass(frozen=True, slots=True)
class Noisy:
    """A table as it was published."""

    columns: Columns
    counts: Floats  # an axis a column
    variance: float  # of each
    noise: float  # E|Z|, people a cell

    def with_again(self, again: "Noisy") -> "Noisy":
        """Return the average with a second table of the same columns, by inverse variance."""
        variance = 1 / (1 / self.variance + 1 / again.variance)
        average = variance * (self.counts / self.variance + again.counts / again.variance)
        noise = math.sqrt(2 * variance / math.pi)  # normal, for both are nearly so
        return Noisy(self.columns, average, variance, noise)


@dataclass(frozen=True, slots=True)
class Published:
    """All tables of one release, and the model of them."""

    tables: Mapping[Columns, Noisy]
    model: Model
    n: float  # the number of rows, or what the tables tell of it


@dataclass(frozen=True, slots=True)
class Marginals:
    """Tables of all columns and of chosen pairs, within a budget."""

    sizes: tuple[int, ...]
    neighbours: Neighbours
    budget: Fraction
    is_pure: bool  # whether it is ε, else ρ

    def __post_init__(self) -> None:
        sizes = self.sizes
        require(
            1 <= len(sizes) <= MAX_COLUMNS,
            "sizes must be those of 1 to {} columns, got {}",
            MAX_COLUMNS,
            len(sizes),
        )
        require(min(sizes) >= 2, "sizes must be 2 cells or more, got {}", min(sizes))
        require(
            self._widest <= MAX_PAIR,
            "sizes must make at most {} cells, the two largest multiplied, got {}",
            MAX_PAIR,
            self._widest,
        )
        require(self.budget > 0, "budget must be above 0, got {}", self.budget)
        for pair in self.pairs[:1]:  # a round that noise is too small for is refused before any
            self._table(pair, self.budget)

    @classmethod
    def for_epsilon(
        cls, epsilon: Fraction, sizes: Sequence[int], neighbours: Neighbours
    ) -> "Marginals":
        """Return the tables that cost at most ε together: Laplace noise, report noisy max."""
        return cls(tuple(sizes), neighbours, Fraction(epsilon), is_pure=True)

    @classmethod
    def for_rho(cls, rho: Fraction, sizes: Sequence[int], neighbours: Neighbours) -> "Marginals":
        """Return the tables that cost at most ρ together."""
        return cls(tuple(sizes), neighbours, Fraction(rho), is_pure=False)

    @property
    def pairs(self) -> list[Columns]:
        return list(combinations(range(len(self.sizes)), 2))

    @property
    def singles(self) -> list[Marginal]:
        """Return the tables of the single columns, whose noise is known before."""
        share = (SINGLES if self.pairs else 1) / Fraction(len(self.sizes))
        return [self._table((column,), self.budget * share) for column in range(len(self.sizes))]

    @property
    def first_pairs(self) -> list[Marginal]:
        """Return the tables of the pairs with the noise of the first round, which is the most."""
        return [self._table(pair, self._for_table(self._first_round)) for pair in self.pairs]

    @property
    def selection(self) -> Selection | None:
        """Return how the first round chooses; None where there is one pair at most."""
        return self._selection(self._first_round) if len(self.pairs) > 1 else None

    @property
    def cost(self) -> Cost:
        """Return what a release costs at most, however its rounds go."""
        if not self.pairs:
            return self.singles[0].choice.mechanism.cost
        if not self.is_pure:
            return Cost.concentrated(self.budget)
        first, *others = [table.choice.mechanism.cost for table in self.singles]
        return sum(others, start=first) + Cost.pure(self.budget * (1 - SINGLES))

    def release(self, data: Data) -> Published:
        """Return the tables and their model. Publish once: a second draw is a second release."""
        require(
            all(len(cells) == len(self.sizes) for cells in data),
            "rows must have {} columns",
            len(self.sizes),
        )
        exact = _Exact(self.sizes, data)
        tables: dict[Columns, Noisy] = {}
        for single in self.singles:
            self._publish(single, exact, tables)
        model, n = self._fitted(tables, exact.n, None, ROUND_STEPS)
        left, cost = self.budget * (1 - SINGLES), self._first_round
        while self.pairs and left:
            if left < 2 * cost:
                cost = left
            left -= cost
            pair = self._chosen(cost, exact, tables, model, n)
            before = model.marginal(pair.columns)
            self._publish(pair, exact, tables)
            model, n = self._fitted(tables, exact.n, model, ROUND_STEPS)
            moved = n * float(np.sum(np.abs(model.marginal(pair.columns) - before)))
            if moved <= pair.noise * pair.cells:
                cost *= 2 if self.is_pure else 4
        return Published(tables, *self._fitted(tables, exact.n, model, LAST_STEPS))

    @property
    def _first_round(self) -> Fraction:
        rounds = min(len(self.pairs), ROUNDS * len(self.sizes))
        return self.budget * (1 - SINGLES) / max(rounds, 1)

    @property
    def _widest(self) -> int:
        """Return the cells of a model with one table of a pair at most."""
        *others, second, first = sorted(self.sizes) if self.pairs else (1, *self.sizes)
        return first * second + sum(others)

    def _for_table(self, cost: Fraction) -> Fraction:
        return cost * (1 - CHOOSING) if len(self.pairs) > 1 else cost

    def _table(self, columns: Columns, cost: Fraction) -> Marginal:
        shape = tuple(self.sizes[column] for column in columns)
        tally = counts.Tally(math.prod(shape), self.neighbours, held=1)
        calibrated = counts.for_epsilon if self.is_pure else counts.for_rho
        return Marginal(columns, shape, calibrated([tally], cost))

    def _selection(self, cost: Fraction) -> Selection:
        spread = 4 if self.neighbours is Neighbours.CHANGE_ONE else 2
        calibrated = Selection.for_epsilon if self.is_pure else Selection.for_rho
        return calibrated(cost * CHOOSING, spread)

    def _publish(self, table: Marginal, exact: "_Exact", tables: dict[Columns, Noisy]) -> None:
        own = [exact.counts(table.columns).ravel().tolist()]
        drawn = np.array(table.choice.release(own, exact.n)[0], dtype=np.float64)
        variance = max(float(table.choice.mechanism.variance), LEAST_VARIANCE)
        noisy = Noisy(table.columns, drawn.reshape(table.shape), variance, table.noise)
        before = tables.get(table.columns)
        tables[table.columns] = before.with_again(noisy) if before else noisy

    def _chosen(
        self,
        cost: Fraction,
        exact: "_Exact",
        tables: Mapping[Columns, Noisy],
        model: Model,
        n: float,
    ) -> Marginal:
        """Return the pair that a round of this cost publishes."""
        most = max(MAX_CELLS, self._widest)
        candidates = [
            self._table(pair, self._for_table(cost))
            for pair in self.pairs
            if model.tree.home(pair) is not None
            or JunctionTree.of(self.sizes, [*tables, pair]).cells <= most
        ]
        if len(self.pairs) == 1:
            return candidates[0]
        scores = []
        for table in candidates:
            told = np.rint(n * model.marginal(table.columns)).astype(np.int64)
            off = int(np.sum(np.abs(exact.counts(table.columns) - told)))
            scores.append(off - round(table.noise * table.cells / 2))
        return candidates[self._selection(cost).release(scores)[0]]

    def _fitted(
        self, tables: Mapping[Columns, Noisy], n: int, start: Model | None, steps: int
    ) -> tuple[Model, float]:
        """Return the model of these tables, and of how many rows it is."""
        told = float(n) if self.neighbours is Neighbours.CHANGE_ONE else _rows_told(tables.values())
        people = max(told, 1.0)
        model = graphical.fit(
            self.sizes,
            {columns: table.counts / people for columns, table in tables.items()},
            {columns: EVEN * table.variance / people**2 for columns, table in tables.items()},
            steps,
            start.terms if start else None,
        )
        return model, told


class _Exact:
    """The true tables, counted as they are needed. Never shown."""

    def __init__(self, sizes: Sequence[int], data: Data) -> None:
        self.sizes, self.n = sizes, sum(data.values())
        self._cells = np.array(list(data), dtype=np.int64).reshape(-1, len(sizes))
        self._people = np.array(list(data.values()), dtype=np.int64)

    def counts(self, columns: Columns) -> Ints:
        shape = tuple(self.sizes[column] for column in columns)
        found = np.zeros(shape, dtype=np.int64)
        np.add.at(found, tuple(self._cells[:, column] for column in columns), self._people)
        return found


def _rows_told(tables: Iterable[Noisy]) -> float:
    """Return how many rows noisy tables tell of: the mean of totals, by inverse variance."""
    told = [(float(table.counts.sum()), table.variance * table.counts.size) for table in tables]
    weights = sum(1 / variance for _, variance in told)
    return max(0.0, sum(total / variance for total, variance in told) / weights)
