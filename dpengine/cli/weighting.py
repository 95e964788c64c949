"""Weights of rows: survey weights of a column, raked to the known margins of a population.

    --poststratify sex=shares.csv     a file of two columns: the values of sex, and the population's
                                      share of each (adding up to 1), or whole numbers of people

With one margin this is post-stratification; with several, rows are raked to each in turn until all
are met.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpengine.checks import require
from dpengine.cli.files import Flags, Sheet, more_lines, read_csv
from dpengine.estimates import Floats
from dpengine.inference.weights import Margin, raked

FEW = 5  # respondents of a category that stand for its part of the population
ROUNDED = 0.005  # by which printed shares may miss 1


@dataclass(frozen=True, slots=True)
class Weighting:
    """A weight for each row, None where all count alike, and the margins that the weights meet."""

    weights: Floats | None = None
    margins: tuple[Margin, ...] = ()

    @property
    def effective_n(self) -> float | None:
        """Return how many rows of one weight would be as many (Kish); None without weights."""
        weights = self.weights
        return None if weights is None else float(weights.sum() ** 2 / (weights @ weights))

    def only(self, keep: Flags) -> "Weighting":
        """Return the weights of these rows: of a part, whose own margins nobody knows."""
        return Weighting(None if self.weights is None else self.weights[keep])


def split_option(text: str) -> tuple[str, str]:
    """Return the column and the file of --poststratify COL=FILE.csv."""
    column, equals, path = text.partition("=")
    require(
        equals and column.strip() and path.strip(),
        "--poststratify: expected COL=shares.csv, got {!r}",
        text,
    )
    return column.strip().strip("`"), path.strip()


def weighting_of(
    sheet: Sheet, weights: str, population: Sequence[tuple[str, str]]
) -> tuple[Weighting, list[str]]:
    """Return the weights of complete rows, and a warning for every category of few."""
    before = sheet.numbers(weights) if weights else None
    if not population:
        return Weighting(before), []
    margins, notes = [], []
    for column, path in population:
        margin, labels = _margin(sheet, column, path)
        margins.append(margin)
        held = np.bincount(margin.places, minlength=len(labels))
        notes += [
            f"--poststratify {column}: {people} respondent{'s' * (people > 1)} stand for all of "
            f"{label!r}; join it with another"
            for people, label in zip(held.tolist(), labels, strict=True)
            if people < FEW
        ]
    start = np.ones(len(sheet)) if before is None else before * (len(sheet) / before.sum())
    return Weighting(raked(start, margins), tuple(margins)), notes


def _margin(sheet: Sheet, column: str, path: str) -> tuple[Margin, list[str]]:
    name = Path(path).name
    labels, shares = _shares(path)
    places, values = sheet.factor(column)
    order = {label: place for place, label in enumerate(labels)}
    met = np.array([order.get(value, -1) for value in values])[places]
    require(
        not (wrong := met < 0).any(),
        "column {!r}, line {}: expected a value that has a share in {}: {}{}",
        column,
        sheet.lines[int(np.argmax(wrong))],
        name,
        ", ".join(map(repr, labels)),
        more_lines(int(wrong.sum()) - 1),
    )
    missing = min(set(labels) - set(values), default=None)
    require(
        missing is None,
        "{}: {!r} has a share of the population and no respondent in column {!r}: join it with "
        "another",
        name,
        missing,
        column,
    )
    return Margin.of(column, met, shares), labels


def _shares(path: str) -> tuple[list[str], Floats]:
    """Return the values of a column and their shares of the population."""
    name, table = Path(path).name, read_csv(path)
    require(
        len(table.columns) == 2,
        "{}: expected two columns, the values and their shares, got {}",
        name,
        len(table.columns),
    )
    column, share = table.columns
    labels = [label.strip() for label in table.column(column)]
    require(
        len(set(labels)) == len(labels) >= 2,
        "{}: expected a line for each of two values or more, got {} lines of {} values",
        name,
        len(labels),
        len(set(labels)),
    )
    shares = table.numbers(share)
    require(
        shares.min() > 0,
        "{}, line {}: a share of the population must be above 0",
        name,
        table.lines[int(np.argmin(shares))],
    )
    are_people = np.all(shares == np.round(shares))
    require(
        are_people or abs(float(shares.sum()) - 1) <= ROUNDED,
        "{}: shares must add up to 1, or be whole numbers of people, got sum {:g}",
        name,
        shares.sum(),
    )
    return labels, np.asarray(shares / shares.sum(), dtype=np.float64)
