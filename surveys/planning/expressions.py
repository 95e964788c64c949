"""Arithmetic over columns, as in `age/10` or `1-doping_p`: read here, computed by formulaic.

Formulaic computes what it is given as Python, so nothing reaches it but numbers, names of columns,
+ − * / ^ ** and brackets, and four functions by name; columns are renamed on the way. `^` is power.
A column whose name is not a plain word stands in backticks: `age in years`; a name alone may do
without.

Covariates of a regression, as in `age/10,(age/10)^2,education`: a column of numbers, or arithmetic
over such columns, is one covariate under the name that was typed. A column of words is a category
in treatment coding, its first value in alphabetical order being the base: `education[T.high]`.
`C(wave)` makes categories of a column of numbers. The constant is `Intercept`.
"""

import re
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from surveys.planning.files import Sheet, is_blank, more_lines
from surveys.planning.specs import NUMBER, number, split

MAX_LENGTH = 300  # characters of an expression
MAX_LEVELS = 100
CATEGORY = re.compile(r"C\((?P<column>.+)\)")
FUNCTIONS = ("log", "exp", "sqrt", "abs")
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,2})?)|(?P<name>[^\W\d][\w.]*)|`(?P<quoted>[^`]+)`"
    r"|(?P<sign>\*\*|[-+*/^()]))"
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Expression:
    """What was typed, the same in Python with renamed columns, and those columns' names."""

    typed: str
    python: str
    columns: dict[str, str]

    @property
    def column(self) -> str | None:
        """Return the column that this is, if it is one and nothing else."""
        return self.columns.get(self.python)


def read_expression(text: str, sheet: Sheet) -> Expression:
    """Return an expression over the sheet's columns. ValueError says which part cannot be read."""
    typed = text.strip()
    if typed in sheet.columns:
        return Expression(typed, "column_0", {"column_0": typed})
    if not typed or len(typed) > MAX_LENGTH:
        raise ValueError(f"an expression must have 1 to {MAX_LENGTH} characters, got {len(typed)}")
    names: dict[str, str] = {}
    words, place = [], 0
    while place < len(typed):
        token = TOKEN.match(typed, place)
        if not token:
            raise ValueError(
                f"{typed!r}: expected numbers, columns, + - * / ^ and brackets, got "
                f"{typed[place:].strip()[:1]!r}"
            )
        place = token.end()
        words.append(_word(token, typed, sheet, names))
    python = " ".join(words)  # spaces, lest two words become one
    try:
        compile(python, "expression", "eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(f"{typed!r} is not an expression such as (age/10)^2") from None
    return Expression(typed, python, {new: old for old, new in names.items()})


def _word(token: re.Match[str], typed: str, sheet: Sheet, names: dict[str, str]) -> str:
    if token["number"]:
        return repr(float(token["number"]))  # a whole number's powers could be endless
    if token["sign"]:
        return "**" if token["sign"] == "^" else token["sign"]
    name = token["name"] or token["quoted"]
    called = typed[token.end() :].lstrip().startswith("(")
    if token["name"] in FUNCTIONS and called:
        return name
    if name not in sheet.columns:
        known = (
            f"one of the functions {', '.join(FUNCTIONS)}"
            if called
            else f"a column, one of {', '.join(sheet.columns)}"
        )
        raise ValueError(f"{typed!r}: expected {known}, got {name!r}")
    return names.setdefault(name, f"column_{len(names)}")


def values_of(expression: Expression, sheet: Sheet) -> Floats:
    """Return the expression in every row. ValueError names the line where it is no number, never
    what stands there.
    """
    if expression.column is not None:
        return sheet.numbers(expression.column)
    if not expression.columns and NUMBER.fullmatch(expression.typed):
        return np.full(len(sheet), float(number(repr(expression.typed), expression.typed)))
    data = {new: sheet.numbers(old) for new, old in expression.columns.items()}
    values = _computed(expression, data, len(sheet))
    wrong = np.nonzero(~np.isfinite(values))[0]
    if wrong.size:
        more = more_lines(wrong.size - 1)
        raise ValueError(
            f"{expression.typed!r}, line {sheet.lines[int(wrong[0])]}: not a finite number{more}"
        )
    return values


def _computed(expression: Expression, data: dict[str, Floats], rows: int) -> Floats:
    from formulaic import (
        model_matrix,
    )  # here, because it brings pandas: half a second that most analyses do not need
    from pandas import DataFrame

    frame = DataFrame({"one": np.ones(rows), **data})
    functions = {name: getattr(np, name) for name in FUNCTIONS}
    try:
        with np.errstate(all="ignore"):
            matrix = model_matrix(
                f"0 + {{one * ({expression.python})}}", frame, context=functions, na_action="ignore"
            )
    except Exception as error:  # formulaic wraps what the arithmetic raised
        raise ValueError(f"{expression.typed!r} cannot be computed: {_reason(error)}") from None
    return np.asarray(matrix.to_numpy(dtype=np.float64)[:, 0], dtype=np.float64)


def _reason(error: BaseException) -> str:
    """Return the arithmetic's own words, which hold no data: data are columns, and columns give
    no exceptions.
    """
    while error.__cause__ is not None:
        error = error.__cause__
    return (
        str(error.args[-1])
        if isinstance(error, ArithmeticError) and error.args
        else type(error).__name__
    )


@dataclass(frozen=True, slots=True)
class Covariate:
    """One term as it was typed: arithmetic over columns, or one that is a category."""

    typed: str
    columns: list[str]
    expression: Expression | None = None


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
        if not term or terms.count(term) > 1:
            raise ValueError(
                f"covariates must differ and not be empty, got {term!r}" + " twice" * bool(term)
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
        try:
            sheet.number(value)
            numbers += 1
        except (ValueError, OverflowError):
            words += not is_blank(value)
    if numbers and words:
        raise ValueError(
            f"column {name!r} holds {numbers} numbers and {words} words: mend it, or write "
            f"C({name}) for categories"
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
            if not 2 <= len(levels) <= MAX_LEVELS:
                raise ValueError(
                    f"covariate {covariate.typed!r} must have 2 to {MAX_LEVELS} different values, "
                    f"got {len(levels)}"
                )
            coded = places[:, np.newaxis] == np.arange(1, len(levels))
            columns.append(coded.astype(np.float64))
            names.extend(f"{covariate.typed}[T.{level}]" for level in levels[1:])
    return np.hstack(columns), names
