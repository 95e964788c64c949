"""From rows of a file to arms of a mixture: groups by odds, and counts. Columns are checked in inputs.py.

A row is one person: a report (an integer below the number of kinds), the odds it was asked with, a weight.
An arm is the people of one group; without groups, the people with one and the same odds.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from dpengine.inference.inputs import Ints, constants
from dpengine.inference.mixture import Arm, Array


def chances_of(values: npt.ArrayLike, rows: int, name: str, closed: bool = False) -> Array:
    """Return a chance per row from one for all or one each; 0 and 1 themselves only if `closed`."""
    column = constants(values, name, rows)
    wrong = ~((column >= 0) & (column <= 1)) if closed else ~((column > 0) & (column < 1))
    if wrong.any():
        words = "from 0 to 1" if closed else "between 0 and 1"
        raise ValueError(f"{name} must be {words}, got {column[wrong][0]:g}")
    return column


def groups_of(rows: int, odds: Mapping[str, Array], group: npt.ArrayLike | None = None) -> tuple[list[Array], Ints]:
    """Return the odds of every group, in the order of their names, and each row's group. A group has one set."""
    table = np.column_stack(list(odds.values()))
    if group is None:
        distinct, index = np.unique(table, axis=0, return_inverse=True)
        return list(distinct), index.astype(np.int64)
    labels = np.asarray(group)
    if labels.shape != (rows,):
        raise ValueError(f"group must be one for each of {rows} rows, got shape {labels.shape}")
    names, index = np.unique(labels, return_inverse=True)
    found = [np.unique(table[index == position], axis=0) for position in range(len(names))]
    for name, each in zip(names.tolist(), found, strict=True):
        if len(each) > 1:
            raise ValueError(f"group {name!r} must have one {' and '.join(odds)}, got {len(each)}")
    return [each[0] for each in found], index.astype(np.int64)


def two_of(groups: Sequence[Array], odds: str, parameters: Sequence[str]) -> None:
    """Refuse groups that were all asked with the same odds: their reports cannot tell the parameters apart."""
    if all(np.allclose(each, groups[0], atol=1e-9) for each in groups):
        raise ValueError(
            f"{', '.join(parameters)} cannot be told apart: two groups with different {odds} are needed, "
            f"got {odds} {groups[0][0]:g} in all of {len(groups)}"
        )


def arm_of(reports: Ints, weights: Array, chances: npt.ArrayLike) -> Arm:
    """Return the counts of these people's reports beside the chances [class, report]."""
    table = np.asarray(chances, dtype=np.float64)
    kinds = table.shape[1]
    return Arm(
        counts=np.asarray(np.bincount(reports, weights, minlength=kinds), dtype=np.float64),
        squares=np.asarray(np.bincount(reports, weights**2, minlength=kinds), dtype=np.float64),
        chances=table,
    )


def yes_or_no(chances_of_yes: npt.ArrayLike) -> Array:
    """Return the chances [class, report] of a question with two reports: no, yes."""
    yes = np.asarray(chances_of_yes, dtype=np.float64)
    return np.column_stack([1 - yes, yes])


def rows_of_counts(yes: Sequence[int], n: Sequence[int], *odds: Sequence[float]) -> tuple[npt.NDArray[np.float64], ...]:
    """Return the rows behind a published table: `yes` of `n` people in each group, and the groups' odds, row by row."""
    for group, (count, people) in enumerate(zip(yes, n, strict=True), start=1):
        if people < 1:
            raise ValueError(f"n must be 1 or more in every group, got {people} in group {group}")
        if not 0 <= count <= people:
            raise ValueError(f"yes must be 0 to {people} in group {group}")
    columns = [np.repeat([1.0, 0.0], [count, people - count]) for count, people in zip(yes, n, strict=True)]
    return (np.concatenate(columns), *(np.repeat(np.asarray(each, dtype=np.float64), n) for each in odds))
