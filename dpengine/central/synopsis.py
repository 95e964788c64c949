"""A synthetic data set: made-up people with the columns of the real ones, drawn from noisy tables
alone.

Mechanism  1. Noisy tables of every column and every pair (marginals.py): the only look at the data,
           and the whole cost.
           2. A distribution p over all combinations of cells: the log-linear model with a term
              for every table, chosen so that Σ_tables ‖n·M p − noisy table‖² / Var Z is least.
              The search (L-BFGS) starts at equal shares and has no term that no table asks for, so
              p has the greatest entropy among those with the same tables (the family of
              Private-PGM; McKenna, Sheldon and Miklau 2019).
           3. n·p rows: each combination as often as n·p says, up or down to a whole number by one
              random offset (systematic sampling) in whole numbers of 2⁻³², drawn by
              dpengine.randomness.
           n is the public number (change-one), or the average total of the noisy tables
           (add-remove).
Privacy    That of the tables: 2 and 3 see nothing else (post-processing).
Error      For every table: noise, E|Z| a cell on average, known before; and the distance between
           the synthetic and the noisy table, seen after. The truth is no farther from the synthetic
           table than their sum, on average. Only tables of one and two columns are kept to: what
           three columns do together is not in them.
By hand    One column of two cells, 30 and 70 people, noise 0: p = (.3, .7), and 100 rows are 30 and
           70 of them.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize

from dpengine.central.marginals import Cells, Data, Marginal, Marginals
from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.privacy import Neighbours
from dpengine.randomness import WORD, Stream, below, system_stream

STEPS = 300  # of L-BFGS; what it has not fitted by then is in the distances
SCALE = 1e4  # of the loss, so that the solver's stopping rules see small differences
LARGEST_N = 2**30  # rows: n times a word fits 64 bits


@dataclass(frozen=True, slots=True)
class Fit:
    """One table: how far off it is."""

    columns: tuple[int, ...]
    noise: float  # expected distance of the noisy from the true count, people a cell
    distance: float  # of the synthetic from the noisy count, people a cell, averaged
    noisy: tuple[int, ...]
    synthetic: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Synopsis:
    rows: dict[Cells, int]  # how many synthetic people have these cells
    fits: tuple[Fit, ...]


def draw(marginals: Marginals, data: Data, stream: Stream = system_stream) -> Synopsis:
    """Draw the tables and, from them, a synthetic data set. A second call is a second release."""
    noisy = marginals.release(data)
    n = (
        sum(data.values())
        if marginals.neighbours is Neighbours.CHANGE_ONE
        else rows_told(marginals, noisy)
    )
    return synthesise(marginals, noisy, n, stream)


def rows_told(marginals: Marginals, noisy: Sequence[Sequence[int]]) -> int:
    """Return how many rows noisy tables tell of: the mean of totals, by inverse variance."""
    weights = [1 / (table.cells * table.choice.mechanism.variance) for table in marginals.tables]
    totals = [sum(counts) for counts in noisy]
    return max(
        0,
        round(
            sum(weight * total for weight, total in zip(weights, totals, strict=True))
            / sum(weights)
        ),
    )


def synthesise(
    marginals: Marginals, noisy: Sequence[Sequence[int]], n: int, stream: Stream = system_stream
) -> Synopsis:
    """Return n synthetic rows from noisy tables, and how far each of their tables is off."""
    require(0 <= n <= LARGEST_N, "n must be 0 to {}, got {}", LARGEST_N, n)
    counts = (
        spread(_distribution(marginals, noisy, n), n, stream)
        if n
        else np.zeros(marginals.sizes, dtype=np.int64)
    )
    fits = tuple(
        _fit(table, own, counts) for table, own in zip(marginals.tables, noisy, strict=True)
    )
    filled_cells = map(tuple, np.argwhere(counts > 0).tolist())
    return Synopsis({cells: int(counts[cells]) for cells in filled_cells}, fits)


def spread(shares: Floats, n: int, stream: Stream = system_stream) -> Ints:
    """Return n rows spread over cells by their shares.

    Each cell gets n times its share, rounded up or down at random.

    Row i falls where (i·2³² + offset)/n lies on a line that the cells divide by their shares:
    all whole numbers.
    """
    ends = np.rint(np.cumsum(shares.ravel()) * (WORD / math.fsum(shares.ravel()))).astype(np.int64)
    ends[-1] = WORD  # the shares add up to 1 but for rounding
    offset = below(WORD, stream)
    before = -((offset - np.minimum(ends, WORD) * n) // WORD)  # rows with i·2³² + offset < n·end
    rows = np.diff(np.clip(before, 0, n), prepend=0)
    return np.asarray(rows.reshape(shares.shape), dtype=np.int64)


def filled(
    rows: Data, cuts: Sequence[Sequence[range]], stream: Stream = system_stream
) -> Counter[Cells]:
    """Return rows with each cell's value drawn from cuts[column][cell], all as likely."""
    drawn: Counter[Cells] = Counter()
    for cells, people in rows.items():
        within = [cuts[column][cell] for column, cell in enumerate(cells)]
        if all(len(values) == 1 for values in within):
            drawn[tuple(values[0] for values in within)] += people
            continue
        for _ in range(people):
            drawn[tuple(values[below(len(values), stream)] for values in within)] += 1
    return drawn


def _fit(table: Marginal, noisy: Sequence[int], counts: Ints) -> Fit:
    synthetic = _margin(counts, table)
    apart = np.abs(synthetic - np.array(noisy, dtype=np.int64))
    return Fit(
        columns=table.columns,
        noise=float(table.choice.mechanism.mean_absolute_error),
        distance=float(np.mean(apart)),
        noisy=tuple(int(count) for count in noisy),
        synthetic=tuple(int(count) for count in synthetic),
    )


def _margin(cube: npt.NDArray[np.float64] | Ints, table: Marginal) -> npt.NDArray[np.float64]:
    """Return the sums of a cube's cells that a table has."""
    others = tuple(axis for axis in range(cube.ndim) if axis not in table.columns)
    return np.asarray(cube.sum(axis=others).ravel())


def _distribution(marginals: Marginals, noisy: Sequence[Sequence[int]], n: int) -> Floats:
    """Return the shares of all combinations that fit the noisy tables best."""
    wanted = [np.array(counts, dtype=np.float64) / n for counts in noisy]
    precisions = np.array([1 / table.choice.mechanism.variance for table in marginals.tables])
    weights = precisions / precisions.sum()
    ends = np.cumsum([table.cells for table in marginals.tables])[:-1]

    def loss(flat: Floats) -> tuple[float, Floats]:
        shares = _shares(marginals, np.split(flat, ends))
        misses = [
            _margin(shares, table) - want
            for table, want in zip(marginals.tables, wanted, strict=True)
        ]
        value = sum(
            weight * float(miss @ miss) for weight, miss in zip(weights, misses, strict=True)
        )
        pull = _cube(
            marginals, [2 * weight * miss for weight, miss in zip(weights, misses, strict=True)]
        )
        slope = shares * (pull - np.sum(shares * pull))
        return value * SCALE, SCALE * np.concatenate(
            [_margin(slope, table) for table in marginals.tables]
        )

    start = np.zeros(sum(table.cells for table in marginals.tables))
    best = optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "ftol": 1e-12}
    )
    return _shares(marginals, np.split(best.x, ends))


def _shares(marginals: Marginals, terms: Sequence[Floats]) -> Floats:
    """Return the distribution whose logarithm is a sum of one term for each table."""
    logarithms = _cube(marginals, terms)
    raw = np.exp(logarithms - np.max(logarithms))
    return np.asarray(raw / raw.sum(), dtype=np.float64)


def _cube(marginals: Marginals, terms: Sequence[Floats]) -> Floats:
    """Return, for every combination of cells, the sum of the tables' terms there."""
    total = np.zeros(marginals.sizes)
    for table, term in zip(marginals.tables, terms, strict=True):
        shape = [size if axis in table.columns else 1 for axis, size in enumerate(marginals.sizes)]
        total += term.reshape(shape)  # columns are in order, so a table's cells are too
    return total
