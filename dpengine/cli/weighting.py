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
import numpy.typing as npt

from dpengine.cli.files import Flags, Sheet, more_lines, read_csv
from dpengine.inference.weights import Margin, raked

FEW = 5  # respondents of a category that stand for its part of the population
ROUNDED = 0.005  # by which printed shares may miss 1

Floats = npt.NDArray[np.float64]


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
    if not equals or not column.strip() or not path.strip():
        raise ValueError(f"--poststratify: expected COL=shares.csv, got {text!r}")
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
    if (wrong := met < 0).any():
        raise ValueError(
            f"column {column!r}, line {sheet.lines[wrong][0]}: expected a value that has a share "
            f"in {name}: {', '.join(map(repr, labels))}{more_lines(int(wrong.sum()) - 1)}"
        )
    if missing := set(labels) - set(values):
        raise ValueError(
            f"{name}: {min(missing)!r} has a share of the population and no respondent in column "
            f"{column!r}: join it with another"
        )
    return Margin.of(column, met, shares), labels


def _shares(path: str) -> tuple[list[str], Floats]:
    """Return the values of a column and their shares of the population."""
    name, table = Path(path).name, read_csv(path)
    if len(table.columns) != 2:
        raise ValueError(
            f"{name}: expected two columns, the values and their shares, got {len(table.columns)}"
        )
    column, share = table.columns
    labels = [label.strip() for label in table.column(column)]
    if len(set(labels)) < len(labels) or len(labels) < 2:
        came = f"{len(labels)} lines of {len(set(labels))} values"
        raise ValueError(f"{name}: expected a line for each of two values or more, got {came}")
    shares = table.numbers(share)
    if shares.min() <= 0:
        line = table.lines[int(np.argmin(shares))]
        raise ValueError(f"{name}, line {line}: a share of the population must be above 0")
    if np.all(shares == np.round(shares)):  # people
        return labels, np.asarray(shares / shares.sum(), dtype=np.float64)
    if abs(float(shares.sum()) - 1) > ROUNDED:
        raise ValueError(
            f"{name}: shares must add up to 1, or be whole numbers of people, got sum "
            f"{shares.sum():g}"
        )
    return labels, np.asarray(shares / shares.sum(), dtype=np.float64)
