"""Arithmetic over columns, as in `age/10` or `1-doping_p`: read here, computed by formulaic.

Formulaic computes what it is given as Python, so nothing reaches it but numbers, names of columns, + − * / ^ ** and
brackets, and four functions by name; columns are renamed on the way. `^` is power. A column whose name is not a plain
word stands in backticks: `age in years`; a name alone may do without.
"""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surveys.planning.files import Sheet, more_lines

LONGEST = 300  # characters of an expression
FUNCTIONS = ("log", "exp", "sqrt", "abs")
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,2})?)|(?P<name>[^\W\d][\w.]*)|`(?P<quoted>[^`]+)`"
    r"|(?P<sign>\*\*|[-+*/^()]))"
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Expression:
    """What was typed, the same in Python with columns renamed, and the columns by their new names."""

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
    if not typed or len(typed) > LONGEST:
        raise ValueError(f"an expression must have 1 to {LONGEST} characters, got {len(typed)}")
    names: dict[str, str] = {}
    words, place = [], 0
    while place < len(typed):
        found = TOKEN.match(typed, place)
        if not found:
            raise ValueError(
                f"{typed!r}: expected numbers, columns, + - * / ^ and brackets, got {typed[place:].strip()[:1]!r}"
            )
        place = found.end()
        words.append(_word(found, typed, sheet, names))
    python = " ".join(words)  # spaces, lest two words become one
    _check(python, typed)
    return Expression(typed, python, {new: old for old, new in names.items()})


def _word(found: re.Match[str], typed: str, sheet: Sheet, names: dict[str, str]) -> str:
    if found["number"]:
        return repr(float(found["number"]))  # a whole number's powers could be endless
    if found["sign"]:
        return "**" if found["sign"] == "^" else found["sign"]
    name = found["name"] or found["quoted"]
    if found["name"] in FUNCTIONS and typed[found.end() :].lstrip().startswith("("):
        return name
    if name not in sheet.columns:
        called = typed[found.end() :].lstrip().startswith("(")
        known = (
            f"one of the functions {', '.join(FUNCTIONS)}" if called else f"a column, one of {', '.join(sheet.columns)}"
        )
        raise ValueError(f"{typed!r}: expected {known}, got {name!r}")
    return names.setdefault(name, f"column_{len(names)}")


def _check(python: str, typed: str) -> None:
    try:
        compile(python, "expression", "eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(f"{typed!r} is not an expression such as (age/10)^2") from None


def values_of(expression: Expression, sheet: Sheet) -> Floats:
    """Return the expression in every row. ValueError names the line where it is no number, never what stands there."""
    if expression.column is not None:
        return np.array(sheet.numbers(expression.column), dtype=np.float64)
    data = {new: np.array(sheet.numbers(old), dtype=np.float64) for new, old in expression.columns.items()}
    found = _computed(expression, data, len(sheet))
    wrong = np.nonzero(~np.isfinite(found))[0]
    if wrong.size:
        more = more_lines(wrong.size - 1)
        raise ValueError(f"{expression.typed!r}, line {sheet.lines[int(wrong[0])]}: not a finite number{more}")
    return found


def _computed(expression: Expression, data: dict[str, Floats], rows: int) -> Floats:
    from formulaic import model_matrix  # here, because it brings pandas: half a second that most analyses do not need
    from pandas import DataFrame

    frame = DataFrame({"one": np.ones(rows), **data})
    functions = {name: getattr(np, name) for name in FUNCTIONS}
    try:
        with np.errstate(all="ignore"):
            matrix = model_matrix(f"0 + {{one * ({expression.python})}}", frame, context=functions, na_action="ignore")
    except Exception as error:  # formulaic wraps what the arithmetic raised
        raise ValueError(f"{expression.typed!r} cannot be computed: {_reason(error)}") from None
    return np.asarray(matrix.to_numpy(dtype=np.float64)[:, 0], dtype=np.float64)


def _reason(error: BaseException) -> str:
    """Return the arithmetic's own words, which hold no data: data are columns, and columns give no exceptions."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error.args[-1]) if isinstance(error, ArithmeticError) and error.args else type(error).__name__
