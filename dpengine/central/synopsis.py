"""A synthetic data set: made-up people with the columns of the real ones, drawn from noisy tables
alone.

Mechanism  1. Noisy tables of every column and of chosen pairs (marginals.py): the only look at the
              data, and the whole cost; and p, the model of them (graphical.py).
           2. n·p rows, clique after clique of the model's tree: the root's combinations each as
              often as n·p says, up or down to a whole number by one random offset (systematic
              sampling) in whole numbers of 2⁻³², drawn by dpengine.randomness; then, for all rows
              that are alike in what the next clique shares, its other columns in the same way, by
              p given what is shared. They are dealt so that rows that are alike in more get them as
              evenly as others: in the order of the multiples of the golden ratio, from a random one
              on (a Kronecker sequence).
           n is the public number (change-one), or the average total of the noisy tables
           (add-remove).
Privacy    That of the tables: 2 sees nothing else (post-processing).
Error      For every table: noise, E|Z| a cell on average; and the distance between the synthetic
           and the noisy table, seen after. The truth is no farther from the synthetic table than
           their sum, on average. Pairs without a table are as the model has them: independent but
           for what the tables between them tell. What three columns do together is not kept to.
By hand    One column of two cells, 30 and 70 people, noise 0: p = (.3, .7), and 100 rows are 30 and
           70 of them.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpengine.central.graphical import Columns, Model
from dpengine.central.marginals import Cells, Data, Marginals
from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.randomness import WORD, Stream, below, system_stream

STRIDE = 2654435769  # 2³² divided by the golden ratio: its multiples lie evenly in any run
LARGEST_N = 2**24  # rows, which are in memory all at once


@dataclass(frozen=True, slots=True)
class Fit:
    """One table: how far off it is."""

    columns: Columns
    noise: float  # expected distance of the noisy from the true count, people a cell
    distance: float  # of the synthetic from the noisy count, people a cell, averaged
    noisy: tuple[float, ...]  # the last column's cells running fastest
    synthetic: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Synopsis:
    rows: dict[Cells, int]  # how many synthetic people have these cells
    fits: tuple[Fit, ...]


def draw(marginals: Marginals, data: Data, stream: Stream = system_stream) -> Synopsis:
    """Draw the tables and, from them, a synthetic data set. A second call is a second release."""
    published = marginals.release(data)
    rows = sampled(published.model, round(published.n), stream)
    fits = []
    for table in published.tables.values():
        synthetic = np.zeros(table.counts.shape, dtype=np.int64)
        np.add.at(synthetic, tuple(rows[:, column] for column in table.columns), 1)
        fits.append(
            Fit(
                columns=table.columns,
                noise=table.noise,
                distance=float(np.mean(np.abs(synthetic - table.counts))),
                noisy=tuple(table.counts.ravel().tolist()),
                synthetic=tuple(synthetic.ravel().tolist()),
            )
        )
    combinations, people = np.unique(rows, axis=0, return_counts=True)
    found = zip(map(tuple, combinations.tolist()), people.tolist(), strict=True)
    return Synopsis(dict(found), tuple(fits))


def sampled(model: Model, n: int, stream: Stream = system_stream) -> Ints:
    """Return n rows of a model's columns, as near its shares as whole rows can be."""
    require(0 <= n <= LARGEST_N, "n must be 0 to {}, got {}", LARGEST_N, n)
    tree = model.tree
    rows = np.zeros((n, len(tree.sizes)), dtype=np.int64)
    if n == 0:
        return rows
    for clique, shared, given in zip(tree.cliques, tree.shared, model.given, strict=True):
        new = [column for column in clique if column not in shared]
        # what is shared first: a row of `chances` for each of its combinations
        chances = np.moveaxis(
            given, [clique.index(column) for column in shared], list(range(len(shared)))
        ).reshape(math.prod(tree.shape(shared)), -1)
        alike = (
            np.ravel_multi_index([rows[:, column] for column in shared], tree.shape(shared))
            if shared
            else np.zeros(n, dtype=np.int64)
        )
        groups, starts, people = np.unique(np.sort(alike), return_index=True, return_counts=True)
        # rows alike in what is shared, side by side with those alike in the rest
        order = np.lexsort((*rows.T[::-1], alike))
        turns = np.arange(n) - np.repeat(starts, people)
        offsets = np.array([stream() for _ in groups], dtype=np.int64)
        keys = (turns * STRIDE + np.repeat(offsets, people)) % WORD
        order = order[np.lexsort((keys, alike[order]))]
        drawn = np.concatenate(
            [
                np.repeat(np.arange(chances.shape[1]), spread(chances[group], int(many), stream))
                for group, many in zip(groups, people, strict=True)
            ]
        )
        cells = np.unravel_index(drawn, tree.shape(tuple(new)))
        for column, values in zip(new, cells, strict=True):
            rows[order, column] = values
    return rows


def spread(shares: Floats, n: int, stream: Stream = system_stream) -> Ints:
    """Return n rows spread over cells by their shares.

    Each cell gets n times its share, rounded up or down at random.

    Row i falls where (i·2³² + offset)/n lies on a line that the cells divide by their shares:
    all whole numbers.
    """
    total = math.fsum(shares.ravel())
    if total <= 0:  # what the model holds for impossible: as even as can be
        return spread(np.ones_like(shares), n, stream)
    ends = np.rint(np.cumsum(shares.ravel()) * (WORD / total)).astype(np.int64)
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
