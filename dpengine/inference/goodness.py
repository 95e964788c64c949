"""Whether shares or a regression fit the cells of their table, when rows fall into a table, and what to think of G².

A cell is one kind of report among the people of one group: the same covariates, asked through the same channel.
    df = Σ over groups of (possible reports − 1) − parameters
G² is judged where no expected cell is below 1 and at most a fifth are below 5 (Cochran 1954), else it is None. Where
two channels asked the same question a large G² says that no one model explains both.
"""

import numpy as np
import numpy.typing as npt

from dpengine.inference.fit import Fit, fit_of
from dpengine.inference.inputs import Floats, Ints

ALARM = 0.05  # a fit less likely than this is said
LOOK = 1000  # rows are looked at first: no table if they fall into more than GROUPS
GROUPS = 200
LEAST_CELL, SMALL_CELL, FEW_SMALL = 1.0, 5.0, 0.2


def are_filled(cells: npt.NDArray[np.float64]) -> bool:
    """Tell whether these expected cells, 0 for impossible ones, are large enough for G² to be chi-square."""
    possible = cells[cells > 0]
    return bool(possible.min() >= LEAST_CELL and (possible < SMALL_CELL).mean() <= FEW_SMALL)


def judged(observed: Floats, expected: Floats, df: int) -> Fit | None:
    """Return G², not below 0; None where there is something to test and cells are too small for it."""
    if df > 0 and not are_filled(expected):
        return None
    return Fit(max(fit_of(observed.ravel().tolist(), expected.ravel().tolist(), df).g2, 0.0), df)


def fit_of_table(design: Floats, channel: Ints, reports: Ints, chances: Floats, parameters: int) -> Fit | None:
    """Return G² of the reports, given each row's fitted chances [row, report] and the channel it was asked through."""
    rows = np.column_stack([design, channel])
    if len(np.unique(rows[:LOOK], axis=0)) > GROUPS:
        return None
    groups, place = np.unique(rows, axis=0, return_inverse=True)
    expected = np.zeros((len(groups), chances.shape[1]))
    observed = np.zeros_like(expected)
    np.add.at(expected, place, chances)
    np.add.at(observed, (place, reports), 1.0)
    possible = expected > 0
    if not are_filled(expected):
        return None
    free = int(possible.sum()) - len(groups) - parameters
    return fit_of(observed[possible].tolist(), expected[possible].tolist(), df=max(free, 0))


def alarms(fit: Fit | None, channels: int) -> list[str]:
    if fit is None or fit.p is None or fit.p >= ALARM:
        return []
    poor = f"the model does not fit the reports (G2 = {fit.g2:.2f}, df = {fit.df}, p = {fit.p:.2g}): "
    if channels > 1:
        return [poor + "people asked in different ways do not agree; non-compliance may be at work"]
    return [poor + "a term may be missing"]
