"""Formulas over the columns of a file, as in `age/10` or `1-doping_p` (dpengine.expressions).

A name alone may do without the backticks that a name of several words needs in a formula.

Covariates of a regression, as in `age/10,(age/10)^2,education`: a column of numbers, or arithmetic
over such columns, is one covariate under the name that was typed. A column of words is a category
in treatment coding, its first value in alphabetical order being the base: `education[T.high]`.
`C(wave)` makes categories of a column of numbers. The constant is `Intercept`.
"""

import re
from dataclasses import dataclass, replace

import numpy as np

from dpengine.checks import require
from dpengine.cli.files import Sheet, more_lines
from dpengine.cli.specs import NUMBER, number, split
from dpengine.estimates import Floats
from dpengine.expressions import Formula, read

MAX_LEVELS = 100  # values of an open column
# 1,000 and 0,5: numbers to a reader, and words to a program
MARKED = re.compile(r"[+-]?(?:\d{1,3}(?:[,.' ]\d{3})+(?:[.,]\d+)?|\d+,\d+)")
CATEGORY = re.compile(r"C\((?P<column>.+)\)")


def read_expression(text: str, sheet: Sheet) -> Formula:
    """Return a formula over the sheet's columns. ValueError says which part cannot be read."""
    return read(text, dict.fromkeys(sheet.columns))


def values_of(expression: Formula, sheet: Sheet) -> Floats:
    """Return the formula in every row. ValueError names the line where it is no number, never
    what stands there.
    """
    if expression.column is not None:
        return sheet.numbers(expression.column)
    if not expression.columns and NUMBER.fullmatch(expression.typed):
        return np.full(len(sheet), float(number(repr(expression.typed), expression.typed)))
    columns = {name: sheet.numbers(name) for name in expression.columns.values()}
    values = expression.values(columns, len(sheet))
    wrong = ~np.isfinite(values)
    require(
        not wrong.any(),
        "{!r}, line {}: not a finite number{}",
        expression.typed,
        sheet.lines[int(np.argmax(wrong))],
        more_lines(int(wrong.sum()) - 1),
    )
    return values


@dataclass(frozen=True, slots=True)
class Covariate:
    """One term as it was typed: arithmetic over columns, or one that is a category."""

    typed: str
    columns: list[str]
    expression: Formula | None = None


def read_covariates(text: str, sheet: Sheet) -> list[Covariate]:
    """Return the terms between the commas."""
    covariates = []
    for term in _terms(text, sheet):
        column = term.expression.column if term.expression else None
        is_category = column is not None and _holds_words(sheet, column)
        covariates.append(replace(term, expression=None) if is_category else term)
    return covariates


def columns_of(text: str, sheet: Sheet) -> list[str]:
    """Return the columns of the terms between the commas: no row is looked at."""
    return [name for term in _terms(text, sheet) for name in term.columns]


def _terms(text: str, sheet: Sheet) -> list[Covariate]:
    """Return the terms between the commas, as if no column held words."""
    terms = [term.strip() for term in split(text)]
    for term in terms:
        require(
            term and terms.count(term) == 1,
            "covariates must differ and not be empty, got {!r}{}",
            term,
            " twice" * bool(term),
        )
    return [_term(term, sheet) for term in terms]


def _term(term: str, sheet: Sheet) -> Covariate:
    named = CATEGORY.fullmatch(term)
    if named and term not in sheet.columns:
        column = named["column"].strip().strip("`")
        sheet.place(column)
        return Covariate(term, [column])
    expression = read_expression(term, sheet)
    return Covariate(term, list(expression.columns.values()), expression)


def _holds_words(sheet: Sheet, name: str) -> bool:
    """Tell words from numbers. A column of both is more likely a slip than a category."""
    numbers = words = 0
    for value in sheet.cells[sheet.place(name)]:
        if sheet.reading.is_blank(name, value):
            continue
        try:
            sheet.number(value)
            numbers += 1
        except (ValueError, OverflowError):
            words += 1
            if MARKED.fullmatch(value.strip()):
                raise ValueError(
                    f"column {name!r} has numbers with marks between thousands, or with a decimal "
                    f"comma: write 1000 and 0.5, or C({name}) for categories"
                ) from None
    require(
        not numbers or not words,
        "column {!r} holds {} numbers and {} words: mend it, or write C({}) for categories",
        name,
        numbers,
        words,
        name,
    )
    return words > 0


def design_matrix(covariates: list[Covariate], sheet: Sheet) -> tuple[Floats, list[str]]:
    """Return a column for the constant and for every covariate, and their names."""
    columns, names = [np.ones((len(sheet), 1))], ["Intercept"]
    for covariate in covariates:
        if covariate.expression is not None:
            columns.append(values_of(covariate.expression, sheet)[:, np.newaxis])
            names.append(covariate.typed)
        else:
            places, levels = sheet.factor(covariate.columns[0])
            require(
                2 <= len(levels) <= MAX_LEVELS,
                "covariate {!r} must have 2 to {} different values, got {}",
                covariate.typed,
                MAX_LEVELS,
                len(levels),
            )
            coded = places[:, np.newaxis] == np.arange(1, len(levels))
            columns.append(coded.astype(np.float64))
            names.extend(f"{covariate.typed}[T.{level}]" for level in levels[1:])
    return np.hstack(columns), names
