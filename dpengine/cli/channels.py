"""A column of a file as reports, and the channels that they came through.

A report is a code, from the design's first, or a set of codes with spaces between them: 1 3. A
column that was given openly has its own values for choices, in order, and is changed by nothing.
"""

import math

import numpy as np

from dpengine.checks import require
from dpengine.cli.expressions import MAX_LEVELS, read_expression, values_of
from dpengine.cli.files import Sheet
from dpengine.cli.specs import AnyDesign, Asked, Imported
from dpengine.designs import Design
from dpengine.estimates import Floats, Ints
from dpengine.inference.cross_tables import Question
from dpengine.inference.intervals import distinct

DECIMALS = 12  # of c0 and c1: 1 − .8 and .2 are one number


def design_columns(design: AnyDesign | None, sheet: Sheet) -> list[str]:
    """Return the columns that a design takes its odds from."""
    parts = design.parts.values() if isinstance(design, Imported) else ()
    return [name for part in parts for name in read_expression(part, sheet).columns.values()]


def reports_of(sheet: Sheet, column: str, design: AnyDesign) -> Ints:
    """Return a column's reports, counted from 0."""
    if isinstance(design, Imported) or (design.is_binary and not design.first):
        return sheet.answers(column)
    choices = len(design.chances)
    if design.size > 1:
        return sheet.sets(column, choices, design.size, design.first)
    return sheet.codes(column, len(design.chances[0]), design.first)


def question_of(sheet: Sheet, asked: Asked) -> tuple[Question, list[str], float | None]:
    """Return a column's reports with their channels, its choices by name, and its ε, None where
    that is infinite; of a column that was given openly 0, since it is no report.
    """
    column, design = asked.column, asked.design
    if design is None:
        places, levels = sheet.factor(column)
        require(
            2 <= len(levels) <= MAX_LEVELS,
            "column {!r} must have 2 to {} different values, got {}",
            column,
            MAX_LEVELS,
            len(levels),
        )
        return Question(places, [np.eye(len(levels))]), levels, 0.0
    reports = reports_of(sheet, column, design)
    if isinstance(design, Design):
        names = [str(design.first + choice) for choice in range(len(design.chances))]
        chances = np.array(design.chances, dtype=np.float64)
        return Question(reports, [chances]), names, design.epsilon
    c0, c1 = constants_of(design, sheet)
    odds, arm = np.unique(np.column_stack([c0, c1]), axis=0, return_inverse=True)
    matrices = [[[1 - low, low], [1 - low - way, low + way]] for low, way in odds.tolist()]
    return Question(reports, matrices, arm.ravel()), ["0", "1"], epsilons_of(c0, c1)[1]


def constants_of(design: AnyDesign, sheet: Sheet) -> tuple[Floats, Floats]:
    """Return c0 and c1 of every row."""
    if isinstance(design, Design):  # the same ones, in memory once
        return tuple(np.broadcast_to(float(each), len(sheet)) for each in design.affine)  # type: ignore[return-value]
    c0, c1 = (
        np.round(values_of(read_expression(part, sheet), sheet), DECIMALS)
        for part in design.parts.values()
    )
    for name, chances in (("c0", c0), ("c0 + c1", np.round(c0 + c1, DECIMALS))):
        at = int(np.argmax((chances < 0) | (chances > 1)))  # the first that is wrong, if one is
        require(
            0 <= chances[at] <= 1,
            "design affine, line {}: {} must be a chance, from 0 to 1, got {:g}",
            sheet.lines[at],
            name,
            chances[at],
        )
    return c0, c1


def epsilons_of(c0: Floats, c1: Floats) -> tuple[float | None, float | None]:
    """Return the smallest and the largest ε of any row, None where it is infinite."""
    first, _ = distinct(c0, c1)
    c0, c1 = c0[first], c1[first]
    ends = np.unique(np.round(np.column_stack([c0, c0 + c1]), DECIMALS), axis=0)
    reports = np.stack([ends, 1 - ends])  # [report, row, answer]
    most, least = reports.max(axis=2), reports.min(axis=2)
    ratios = np.divide(most, least, out=np.where(most > 0, np.inf, 1.0), where=least > 0)
    losses = ratios.max(axis=0)
    low, high = np.round(np.log([losses.min(), losses.max()]), DECIMALS).tolist()
    return (low if math.isfinite(low) else None), (high if math.isfinite(high) else None)
