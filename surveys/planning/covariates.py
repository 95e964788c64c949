"""Covariates of a regression, as typed: `age/10,(age/10)^2,education`.

A column of numbers, or arithmetic over such columns, is one covariate under the name that was typed. A column of words
is a category in treatment coding, its first value in alphabetical order being the base: `education[T.high]`. `C(wave)`
makes categories of a column of numbers. The constant is `Intercept`.
"""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surveys.planning.expressions import Expression, read_expression, values_of
from surveys.planning.files import Sheet, is_blank
from surveys.planning.specs import split

MOST_LEVELS = 100
CATEGORY = re.compile(r"C\((?P<column>.+)\)")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Covariate:
    """One term as it was typed: arithmetic, or the column that is a category."""

    typed: str
    expression: Expression | None
    category: str | None

    @property
    def columns(self) -> list[str]:
        return [self.category] if self.category is not None else list(self.expression.columns.values())  # type: ignore[union-attr]


def read_covariates(text: str, sheet: Sheet) -> list[Covariate]:
    """Return the terms between the commas."""
    terms = [term.strip() for term in split(text)]
    for term in terms:
        if not term or terms.count(term) > 1:
            raise ValueError(f"covariates must differ and not be empty, got {term!r}" + " twice" * bool(term))
    return [_covariate(term, sheet) for term in terms]


def _covariate(term: str, sheet: Sheet) -> Covariate:
    named = CATEGORY.fullmatch(term)
    if named and term not in sheet.columns:
        column = named["column"].strip().strip("`")
        sheet.place(column)
        return Covariate(term, None, column)
    expression = read_expression(term, sheet)
    if expression.column is not None and _holds_words(sheet, expression.column):
        return Covariate(term, None, expression.column)
    return Covariate(term, expression, None)


def _holds_words(sheet: Sheet, name: str) -> bool:
    """Tell words from numbers. A column of both is more likely a slip than a category."""
    numbers = words = 0
    for value in sheet.column(name):
        try:
            sheet.number(value)
            numbers += 1
        except (ValueError, OverflowError):
            words += not is_blank(value)
    if numbers and words:
        raise ValueError(
            f"column {name!r} holds {numbers} numbers and {words} words: mend it, or write C({name}) for categories"
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
            coded, levels = _coded(covariate, sheet)
            columns.append(coded)
            names.extend(f"{covariate.typed}[T.{level}]" for level in levels)
    return np.hstack(columns), names


def _coded(covariate: Covariate, sheet: Sheet) -> tuple[Floats, list[str]]:
    """Return a column of 0 and 1 for every level but the first."""
    from formulaic import model_matrix
    from pandas import Categorical, DataFrame

    values = [value.strip() for value in sheet.column(str(covariate.category))]
    levels = sorted(set(values), key=_order)
    if not 2 <= len(levels) <= MOST_LEVELS:
        raise ValueError(
            f"covariate {covariate.typed!r} must have 2 to {MOST_LEVELS} different values, got {len(levels)}"
        )
    coded = model_matrix("1 + values", DataFrame({"values": Categorical(values, categories=levels)}))
    return np.asarray(coded.to_numpy(dtype=np.float64)[:, 1:], dtype=np.float64), levels[1:]


def _order(level: str) -> tuple[float, str]:
    """Return what sorts numbers by size and words by the alphabet."""
    try:
        return float(level), level
    except ValueError:
        return float("inf"), level
