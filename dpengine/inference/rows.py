"""From rows of a file to arms of a mixture: groups by odds, and counts. Columns are checked in
inputs.py.

A row is one person: a report (an integer below the number of kinds), the odds it was asked with, a
weight. An arm is the people of one group; without groups, the people with one and the same odds.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.inference.inputs import constants
from dpengine.inference.mixture import Arm


def chances_of(values: npt.ArrayLike, rows: int, name: str, closed: bool = False) -> Floats:
    """Return a chance per row from one for all or one each; 0 and 1 themselves only if `closed`."""
    column = constants(values, name, rows)
    wrong = ~((column >= 0) & (column <= 1)) if closed else ~((column > 0) & (column < 1))
    require(
        not wrong.any(),
        "{} must be {}, got {:g}",
        name,
        "from 0 to 1" if closed else "between 0 and 1",
        column[int(np.argmax(wrong))],
    )
    return column


def groups_of(
    rows: int, odds: Mapping[str, Floats], group: npt.ArrayLike | None = None
) -> tuple[list[Floats], Ints]:
    """Return every group's one set of odds, in the order of names, and each row's group."""
    table = np.column_stack(list(odds.values()))
    if group is None:
        distinct, index = np.unique(table, axis=0, return_inverse=True)
        return list(distinct), index.astype(np.int64)
    labels = np.asarray(group)
    require(
        labels.shape == (rows,),
        "group must be one for each of {} rows, got shape {}",
        rows,
        labels.shape,
    )
    names, index = np.unique(labels, return_inverse=True)
    distinct_odds = [np.unique(table[index == position], axis=0) for position in range(len(names))]
    for name, each in zip(names.tolist(), distinct_odds, strict=True):
        require(
            len(each) <= 1,
            "group {!r} must have one {}, got {}",
            name,
            " and ".join(odds),
            len(each),
        )
    return [each[0] for each in distinct_odds], index.astype(np.int64)


def two_of(groups: Sequence[Floats], odds: str, parameters: Sequence[str]) -> None:
    """Refuse groups all asked with the same odds, which cannot tell the parameters apart."""
    require(
        not all(np.allclose(each, groups[0], atol=1e-09) for each in groups),
        "{} cannot be told apart: two groups with different {} are needed, got {} {:g} in all of "
        "{}",
        ", ".join(parameters),
        odds,
        odds,
        groups[0][0],
        len(groups),
    )


def arm_of(reports: Ints, weights: Floats, chances: npt.ArrayLike) -> Arm:
    """Return the counts of these people's reports beside the chances [class, report]."""
    table = np.asarray(chances, dtype=np.float64)
    kinds = table.shape[1]
    return Arm(
        counts=np.asarray(np.bincount(reports, weights, minlength=kinds), dtype=np.float64),
        squares=np.asarray(np.bincount(reports, weights**2, minlength=kinds), dtype=np.float64),
        chances=table,
    )
