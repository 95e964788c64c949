"""The outcome and a second column, each through a channel of its own: the table of true answers."""

from dataclasses import dataclass

from dpengine.cli.channels import question_of
from dpengine.cli.files import Sheet
from dpengine.cli.specs import AnyDesign, Asked
from dpengine.cli.weighting import Weighting
from dpengine.estimates import Interval
from dpengine.inference.cross_tables import OddsRatio, cross_table
from dpengine.inference.fit import Fit


@dataclass(frozen=True, slots=True)
class Cell:
    """The share of people with this answer to the outcome and that one to the second column."""

    outcome: str
    column: str
    estimate: float
    maximum_likelihood: float
    standard_error: float
    interval: Interval
    simultaneous: Interval


@dataclass(frozen=True, slots=True)
class Cross:
    column: str
    cells: tuple[Cell, ...]
    independence: Fit
    odds_ratio: OddsRatio | None
    epsilon: float | None  # of both reports together


def cross_table_of(
    sheet: Sheet,
    outcome: tuple[str, AnyDesign],
    asked: Asked,
    weighting: Weighting,
    confidence: float,
) -> tuple[Cross, tuple[str, ...]]:
    """Return the table of complete rows, and what to beware of."""
    first, rows, epsilon = question_of(sheet, Asked(*outcome))
    second, columns, more = question_of(sheet, asked)
    pairs = [(row, column) for row in rows for column in columns]
    names = [f"{outcome[0]} {row} & {asked.column} {column}" for row, column in pairs]
    table = cross_table(first, second, weighting.weights, confidence, names, weighting.margins)
    cells = table.cells
    numbers = zip(
        pairs,
        cells.moments,
        cells.maximum_likelihood,
        cells.standard_errors,
        cells.intervals,
        cells.simultaneous,
        strict=True,
    )
    return Cross(
        column=asked.column,
        cells=tuple(Cell(*pair, *each) for pair, *each in numbers),
        independence=table.independence,
        odds_ratio=table.odds_ratio,
        epsilon=None if epsilon is None or more is None else epsilon + more,
    ), cells.warnings
