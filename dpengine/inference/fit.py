"""How well a model fits the cells of the table that its reports fall into.

    G² = 2 Σ observed · ln(observed / expected), chi-square with df = cells free − parameters fitted

when the model holds and cells are not small (Wilks 1938). A large G² where two channels asked the
same question says that one share cannot explain both: non-compliance may be at work.

A cell of a regression is one kind of report among the people of one group: the same covariates,
asked through the same channel. df = Σ over groups of (possible reports − 1) − parameters.
G² is judged where no expected cell is below 1 and at most a fifth are below 5 (Cochran 1954).
"""

from dataclasses import dataclass

import numpy as np
import scipy

from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.inference.repeats import Repeats

ALARM = 0.05  # a fit less likely than this is warned of
LOOK = 1000  # rows are looked at first: no table if they fall into more than GROUPS
GROUPS = 200
MIN_CELL, SMALL_CELL, FEW_SMALL = 1.0, 5.0, 0.2


@dataclass(frozen=True, slots=True)
class Fit:
    g2: float
    df: int

    @property
    def p(self) -> float | None:
        """Return the chance of so large a G² under the model; None if nothing is left to test."""
        return float(scipy.special.chdtrc(self.df, max(self.g2, 0.0))) if self.df > 0 else None

    @property
    def is_poor(self) -> bool:
        return self.p is not None and self.p < ALARM


def fit_of(observed: Floats, expected: Floats, df: int) -> Fit:
    """Return G² of observed against expected counts, arrays of one shape. Empty cells add 0."""
    require(
        observed.shape == expected.shape,
        "expected as many cells as observed, got {} and {}",
        expected.size,
        observed.size,
    )
    return Fit(g2=2 * float(scipy.special.rel_entr(observed, expected).ravel().sum()), df=df)


def are_filled(cells: Floats) -> bool:
    """Tell whether expected cells, 0 for impossible ones, are large enough for a chi-square."""
    possible = cells[cells > 0]
    return bool(possible.min() >= MIN_CELL and (possible < SMALL_CELL).mean() <= FEW_SMALL)


def judged(observed: Floats, expected: Floats, df: int) -> Fit | None:
    """Return G², at least 0; None where something is left to test and cells are too small."""
    if df > 0 and not are_filled(expected):
        return None
    return Fit(max(fit_of(observed, expected, df).g2, 0.0), df)


def fit_of_table(
    design: Floats,
    channel: Ints,
    reports: Ints,
    chances: Floats,
    parameters: int,
    repeats: Repeats | None = None,
) -> Fit | None:
    """Return G² of reports, given each row's fitted chances [row, report] and its channel."""
    repeats = Repeats.of(repeats, len(design))
    rows = np.column_stack([design, channel])
    if len(np.unique(rows[: repeats.among(LOOK)], axis=0)) > GROUPS:
        return None
    groups, place = np.unique(rows, axis=0, return_inverse=True)
    expected = np.zeros((len(groups), chances.shape[1]))
    observed = np.zeros_like(expected)
    np.add.at(expected, place, chances * repeats.counts[:, np.newaxis])
    np.add.at(observed, (place, reports), repeats.counts)
    if not are_filled(expected):
        return None
    possible = expected > 0
    free = int(possible.sum()) - len(groups) - parameters
    return fit_of(observed[possible], expected[possible], df=max(free, 0))
