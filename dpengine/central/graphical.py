"""A distribution over many columns that is never written out: a log-linear model on a junction
tree.

Model      p(x) = exp(Σ_t θ_t[x_t]) / Z, one term θ_t for every table t, a set of columns. The graph
           that joins the columns of each table is triangulated (the column that makes the fewest
           cells goes first). Its cliques are joined into a tree, along the largest sets of columns
           that two of them share. What is held is the cells of the cliques: a sum, not the
           product of all columns.
Marginals  exact, by two sweeps (sum-product): messages to the root give p(clique | what it shares
           with its parent) and Z, the way back multiplies with the parent's marginal.
Fit        θ maximises the concave Σ_t (θ_t·ŷ_t − (w_t/2)·‖θ_t‖²) − ln Z, ŷ_t the shares that table
           t is said to have; its slope is ŷ_t − p_t − w_t·θ_t. It is the dual of: least
           KL(p ‖ even) + Σ_t ‖p_t − ŷ_t‖²/(2w_t). So of all p that fit alike the one of the
           greatest entropy is taken, and what w explains is left as even as can be.
By hand    Three columns of 2 cells and the tables {0, 1} and {1, 2}: two cliques, 8 cells, joined
           by column 1; p(x) = p(x₀, x₁)·p(x₂ | x₁).
Sources    Lauritzen and Spiegelhalter 1988 (junction trees); McKenna, Sheldon and Miklau 2019
           (Private-PGM); Dudík, Phillips and Schapire 2007 (relaxed maximum entropy, its dual).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy

from dpengine.estimates import Floats

Columns = tuple[int, ...]  # of a table or a clique, in order


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Cliques of columns, each after its parent; the first is the root."""

    sizes: tuple[int, ...]  # cells of each column
    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]  # places among the cliques; −1 for the root
    shared: tuple[Columns, ...]  # by each clique with its parent

    @classmethod
    def of(cls, sizes: Sequence[int], tables: Iterable[Columns]) -> "JunctionTree":
        """Return a tree whose cliques hold every column, and the columns of every table."""
        first, *left = _cliques(sizes, tables)
        cliques, parents = [first], [-1]
        while left:  # the heaviest spanning tree, by Prim
            _, parent, nearest = max(
                (len({*clique} & {*other}), place, clique)
                for clique in left
                for place, other in enumerate(cliques)
            )
            left.remove(nearest)
            cliques.append(nearest)
            parents.append(parent)
        shared = [
            tuple(column for column in clique if parent >= 0 and column in cliques[parent])
            for clique, parent in zip(cliques, parents, strict=True)
        ]
        return cls(tuple(sizes), tuple(cliques), tuple(parents), tuple(shared))

    @property
    def cells(self) -> int:
        return sum(math.prod(self.shape(clique)) for clique in self.cliques)

    def shape(self, columns: Columns) -> tuple[int, ...]:
        return tuple(self.sizes[column] for column in columns)

    def home(self, columns: Columns) -> int | None:
        """Return the place of the smallest clique that holds these columns, if one does."""
        holding = [place for place, clique in enumerate(self.cliques) if {*columns} <= {*clique}]
        return min(
            holding, key=lambda place: math.prod(self.shape(self.cliques[place])), default=None
        )


@dataclass(frozen=True, slots=True)
class Model:
    """A distribution: of every clique, and of every clique given what its parent shares."""

    tree: JunctionTree
    terms: Mapping[Columns, Floats]  # θ, by table
    shares: Sequence[Floats]
    given: Sequence[Floats]

    def marginal(self, columns: Columns) -> Floats:
        """Return the shares of all combinations of these columns, an axis a column."""
        tree, home = self.tree, self.tree.home(columns)
        if home is not None:
            return sum_over(self.shares[home], tree.cliques[home], columns)
        # from the leaves up, all that is neither wanted nor shared is summed out
        carried: dict[int, list[tuple[Floats, Columns]]] = {}
        for place in range(len(tree.cliques) - 1, -1, -1):
            factors = [(self.given[place], tree.cliques[place]), *carried.pop(place, [])]
            held = {column for _, own in factors for column in own}
            kept = tuple(sorted(held & {*columns, *tree.shared[place]}))
            if place and kept == tree.shared[place]:
                continue  # it adds up to 1
            arguments: list[Any] = [part for values, own in factors for part in (values, list(own))]
            arguments.append(list(kept))
            product = np.asarray(np.einsum(*arguments, optimize=True), dtype=np.float64)
            carried.setdefault(tree.parents[place], []).append((product, kept))
        return carried[-1][0][0]


def fit(
    sizes: Sequence[int],
    wanted: Mapping[Columns, Floats],
    weights: Mapping[Columns, float],
    steps: int,
    start: Mapping[Columns, Floats] | None = None,
) -> Model:
    """Return the model of the tables `wanted`, by so many steps of L-BFGS from θ = `start`.

    `wanted` has an axis for each column of a table; `weights` are w, above 0.
    """
    tree = JunctionTree.of(sizes, wanted)
    tables = [(table, tree.shape(table), tree.home(table) or 0) for table in wanted]
    ends = np.cumsum([math.prod(shape) for _, shape, _ in tables])[:-1]
    target = np.concatenate([shares.ravel() for shares in wanted.values()])
    weight = np.concatenate(
        [np.full(shares.size, weights[table]) for table, shares in wanted.items()]
    )

    def terms_of(flat: Floats) -> dict[Columns, Floats]:
        parts = zip(tables, np.split(flat, ends), strict=True)
        return {table: part.reshape(shape) for (table, shape, _), part in parts}

    def logarithms(flat: Floats) -> list[Floats]:
        found = [np.zeros(tree.shape(clique)) for clique in tree.cliques]
        for (table, _, home), term in zip(tables, terms_of(flat).values(), strict=True):
            found[home] += spread_out(term, table, tree.cliques[home])
        return found

    def loss(flat: Floats) -> tuple[float, Floats]:
        shares, _, log_total = calibrate(tree, logarithms(flat))
        found = [sum_over(shares[home], tree.cliques[home], table) for table, _, home in tables]
        pull = weight * flat
        slope = np.concatenate([own.ravel() for own in found]) - target + pull
        return float(log_total - flat @ target + pull @ flat / 2), slope

    begun = [(start or {}).get(table, np.zeros(shape)).ravel() for table, shape, _ in tables]
    best = scipy.optimize.minimize(
        loss,
        np.concatenate(begun),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": steps, "ftol": 1e-12, "gtol": 1e-7},
    ).x
    shares, given, _ = calibrate(tree, logarithms(best))
    return Model(tree, terms_of(best), shares, given)


def calibrate(
    tree: JunctionTree, logarithms: Sequence[Floats]
) -> tuple[list[Floats], list[Floats], float]:
    """Return p of every clique, p given the columns that it shares with its parent, and ln Z;
    from the summands of ln p, one array for each clique.
    """
    totals, given, log_total = list(logarithms), list(logarithms), 0.0
    for place in range(len(tree.cliques) - 1, -1, -1):
        clique, shared, parent = tree.cliques[place], tree.shared[place], tree.parents[place]
        top = np.max(totals[place])
        raw = np.exp(totals[place] - top)
        message = sum_over(raw, clique, shared)
        # shares e⁷⁰⁸ times smaller than the largest are 0
        message = np.maximum(message, np.finfo(np.float64).tiny)
        given[place] = raw / spread_out(message, shared, clique)
        if place == 0:
            log_total = float(top + np.log(message))
        else:
            told = spread_out(top + np.log(message), shared, tree.cliques[parent])
            totals[parent] = totals[parent] + told
    shares = given[:1]
    for place in range(1, len(tree.cliques)):
        clique, shared, parent = tree.cliques[place], tree.shared[place], tree.parents[place]
        above = sum_over(shares[parent], tree.cliques[parent], shared)
        shares.append(given[place] * spread_out(above, shared, clique))
    return shares, given, log_total


def sum_over(values: Floats, columns: Columns, kept: Columns) -> Floats:
    """Return the sums over all columns but those kept."""
    others = tuple(axis for axis, column in enumerate(columns) if column not in kept)
    return np.asarray(values.sum(axis=others), dtype=np.float64)


def spread_out(values: Floats, columns: Columns, among: Columns) -> Floats:
    """Return values of some columns, shaped to be combined with those of more."""
    lengths = iter(values.shape)
    return values.reshape([next(lengths) if column in columns else 1 for column in among])


def _cliques(sizes: Sequence[int], tables: Iterable[Columns]) -> list[Columns]:
    """Return the cliques of the triangulated graph that are in no other, the last found first."""
    beside: dict[int, set[int]] = {column: set() for column in range(len(sizes))}
    for table in tables:
        for one, other in combinations(table, 2):
            beside[one].add(other)
            beside[other].add(one)
    found: list[set[int]] = []
    while beside:
        cells = {c: math.prod(sizes[o] for o in others | {c}) for c, others in beside.items()}
        gone = min(cells, key=lambda column: (cells[column], column))
        others = beside.pop(gone)
        for one in others:
            beside[one] = (beside[one] | others) - {one, gone}
        if not any(others | {gone} <= clique for clique in found):
            found.append(others | {gone})
    return [tuple(sorted(clique)) for clique in reversed(found)]
