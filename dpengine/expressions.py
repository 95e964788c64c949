"""Formulas that people write over columns of numbers: read here, and computed by numpy.

A formula is + − * / ^ ** and brackets over numbers and columns, comparisons, `and`, `or`, `not`,
`A if C else B`, and four functions of a row: log, exp, sqrt, abs. `^` is power; what holds is 1,
what does not is 0, and any number but 0 holds. A column whose name is not a plain word, or is one
of the words above, stands in backticks: `age in years`.

Row by row it is a column of its own. Of all rows together it is one number: columns then stand in
mean, sum, count (how many rows it holds in), min, max, median, quantile (which, as a number from 0
to 1, after a comma) or correlation (of two). Inside these it is computed row by row, for all rows;
they may stand in one another: mean((x − mean(x))^2).

Totality   There are no loops, names, attributes, texts or calls besides these, so nothing but
           arithmetic can happen: each part of a formula is computed once, on at most all rows. So
           it ends, with a value that depends on the formula and its columns only, and `cells`
           times the rows bounds the work. Arithmetic raises nothing: what has no finite value
           (1/0, log 0, the mean of no rows, 10^999) is undefined, NaN, and whatever is computed
           from it is too. The sides of `if`, `and` and `or` that are not reached are not computed.
By hand    x = 0, 1, 2: 1/x is NaN, 1, 0.5; 1/x if x else 5 is 5, 1, 0.5; mean(x > 0) = 2/3;
           quantile(x, 0.25) = 0.5, between the two nearest in rank.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt

from dpengine.checks import require

MAX_LENGTH = 300  # characters
MAX_LEVELS = 150  # of parts in one another: a sum of so many, too
SORTING = 20  # as much work as so many sums
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,2})?)|(?P<name>[^\W\d][\w.]*)|`(?P<quoted>[^`]+)`"
    r"|(?P<sign>\*\*|[<>=!]=|[-+*/^(),<>]))"
)
PARTS = "numbers, columns, + - * / ^ and brackets"
WORDS = ("and", "or", "not", "if", "else")
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

OF_ROWS: dict[str, Callable[[Floats], Floats]] = {
    "log": np.log,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "abs": np.abs,
}
SIGNS: dict[type[ast.AST], Callable[..., Floats]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.UAdd: np.positive,
    ast.USub: np.negative,
    ast.Not: np.logical_not,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
UNDEFINED = np.array(np.nan)


def correlation(one: Floats, other: Floats) -> float:
    """Return Pearson's correlation; NaN where a column is all the same."""
    one, other = one - one.mean(), other - other.mean()
    spread = np.sqrt((one @ one) * (other @ other))
    return float(one @ other / spread) if spread > 0 else np.nan


OF_ALL: dict[str, Callable[..., float]] = {
    "mean": np.mean,
    "sum": np.sum,
    "count": lambda column: np.sum(np.where(np.isnan(column), column, column != 0)),
    "min": np.min,
    "max": np.max,
    "median": np.median,
    "quantile": np.quantile,
    "correlation": correlation,
}
PAIRS = ("quantile", "correlation")  # with two arguments
OF_NOBODY = ("sum", "count")  # have a value where there are no rows
SORTED = ("median", "quantile")


@dataclass(frozen=True, slots=True)
class Formula:
    """What was typed, as a tree, and its columns by the names that they have in the tree."""

    typed: str
    tree: ast.expr
    columns: dict[str, str]

    @property
    def column(self) -> str | None:
        """Return the column that this is, if it is one and nothing else."""
        return self.columns[self.tree.id] if isinstance(self.tree, ast.Name) else None

    @property
    def cells(self) -> int:
        """Return how much is computed for one row, in cells of a column, at most."""
        return sum(SORTING if _called(node) in SORTED else 1 for node in ast.walk(self.tree))

    def values(self, columns: Mapping[str, Floats], rows: int) -> Floats:
        """Return it in each of so many rows; NaN where it has no finite value."""
        computed = _Computation({new: columns[old] for new, old in self.columns.items()}, rows)
        with np.errstate(all="ignore"):
            return np.array(np.broadcast_to(computed.value(self.tree), rows))

    def of_all(self, columns: Mapping[str, Floats], rows: int) -> float:
        """Return it of all rows together; NaN where it has no finite value."""
        computed = _Computation({new: columns[old] for new, old in self.columns.items()}, rows)
        with np.errstate(all="ignore"):
            return float(computed.value(self.tree))


def read(typed: str, columns: Mapping[str, object], *, of_all: bool = False) -> Formula:
    """Return a formula over these columns, row by row or of all rows together.

    ValueError says what cannot be read: it looks at nothing but the text and the columns' names.
    """
    typed = typed.strip()
    if typed in columns and not of_all:
        return Formula(typed, ast.Name("column_0"), {"column_0": typed})
    require(
        0 < len(typed) <= MAX_LENGTH,
        "an expression must have 1 to {} characters, got {}",
        MAX_LENGTH,
        len(typed),
    )
    functions = (*OF_ROWS, *OF_ALL) if of_all else tuple(OF_ROWS)
    names: dict[str, str] = {}
    words, place = [], 0
    while place < len(typed):
        token = TOKEN.match(typed, place)
        if not token:
            got = typed[place:].strip()[:1]
            raise ValueError(f"{typed!r}: expected {PARTS}, got {got!r}")
        place = token.end()
        words.append(_word(token, typed, columns, functions, names))
    tree = _tree(" ".join(words), typed)  # spaces, lest two words become one
    problem = next(_problems(tree, functions), "")
    require(not problem, "{!r}: {}", typed, problem)
    require(
        not of_all or not _is_of_rows(tree),
        "{!r} must be one number: put columns into one of {}",
        typed,
        ", ".join(OF_ALL),
    )
    return Formula(typed, tree, {new: old for old, new in names.items()})


def _word(
    token: re.Match[str],
    typed: str,
    columns: Mapping[str, object],
    functions: tuple[str, ...],
    names: dict[str, str],
) -> str:
    if token["number"]:
        value = float(token["number"])  # a whole number's powers could be endless
        require(math.isfinite(value), "{!r}: expected numbers below 1e308, got a larger one", typed)
        return repr(value)
    if token["sign"]:
        return "**" if token["sign"] == "^" else token["sign"]
    name = token["name"] or token["quoted"]
    called = typed[token.end() :].lstrip().startswith("(")
    if token["name"] in WORDS or (token["name"] in functions and called):
        return name
    known = "one of the functions " if called else "a column, one of "
    known += ", ".join(functions if called else columns)
    require(name in columns, "{!r}: expected {}, got {!r}", typed, known, name)
    return names.setdefault(name, f"column_{len(names)}")


def _tree(python: str, typed: str) -> ast.expr:
    try:
        return ast.parse(python, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(f"{typed!r} is not an expression such as (age/10)^2") from None


def _problems(node: ast.expr, functions: tuple[str, ...], levels: int = 1) -> Iterator[str]:
    """Yield what is no formula though it is Python. The words let through few other things."""
    parts: list[ast.expr] = []
    match node:
        case _ if levels > MAX_LEVELS:
            yield f"expected at most {MAX_LEVELS} parts in one another"
        case ast.Call():
            name = _called(node)
            many = 2 if name in PAIRS else 1
            if name not in functions:
                yield f"expected one of the functions {', '.join(functions)} before a bracket"
            elif node.keywords:  # only ** makes one
                yield f"expected {PARTS}, got '**'"
            elif len(node.args) != many:
                yield f"{name} takes {many} in its brackets, got {len(node.args)}"
            elif name == "quantile" and not _is_share(node.args[1]):
                yield "quantile takes a number from 0 to 1 after the comma"
            parts = node.args
        case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare() | ast.IfExp():
            parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        case ast.Name() | ast.Constant():
            pass
        case _:
            yield "a comma stands outside a function's brackets"
    for part in parts:
        yield from _problems(part, functions, levels + 1)


def _called(node: ast.AST) -> str:
    """Return the name of the function that this calls, if it does."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _is_share(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and 0 <= node.value <= 1  # type: ignore[operator]


def _is_of_rows(node: ast.expr) -> bool:
    """Tell whether it differs from row to row."""
    if _called(node) in OF_ALL:
        return False
    parts = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    own = isinstance(node, ast.Name)
    return own or any(_is_of_rows(part) for part in parts if isinstance(part, ast.expr))


@dataclass(frozen=True, slots=True)
class _Computation:
    """Values over some rows: one number, or one for each of the rows that it is asked for."""

    columns: Mapping[str, Floats]
    rows: int

    def value(self, node: ast.expr, at: Ints | None = None) -> Floats:
        """Return a part of the formula in these rows, in all if none are named."""
        match node:
            case ast.Constant():
                return np.array(node.value, dtype=np.float64)
            case ast.Name():
                column = self.columns[node.id]
                return column if at is None else column[at]
            case ast.BinOp():
                return _defined(
                    SIGNS[type(node.op)], self.value(node.left, at), self.value(node.right, at)
                )
            case ast.UnaryOp():
                return _defined(SIGNS[type(node.op)], self.value(node.operand, at))
            case ast.Compare():
                return self._compared(node, at)
            case ast.IfExp():
                return self._chosen(node.test, node.body, node.orelse, at)
            case ast.BoolOp():
                return self._joined(node, at)
            case ast.Call() if _called(node) in OF_ALL:
                return self._of_all(node)
            case _:  # a call of one of OF_ROWS: `_problems` lets nothing else through
                call = cast(ast.Call, node)
                return _defined(OF_ROWS[_called(call)], self.value(call.args[0], at))

    def _compared(self, node: ast.Compare, at: Ints | None) -> Floats:
        """Return whether each stands to the next as its sign says, as in 1 < x < 3."""
        values = [self.value(part, at) for part in (node.left, *node.comparators)]
        holds = [
            _defined(SIGNS[type(sign)], one, other)
            for sign, (one, other) in zip(node.ops, pairwise(values), strict=True)
        ]
        return np.asarray(np.prod(np.broadcast_arrays(*holds), axis=0))

    def _chosen(self, test: ast.expr, body: ast.expr, other: ast.expr, at: Ints | None) -> Floats:
        """Return one part where a test holds, another where not, each computed only there."""
        holds = self.value(test, at)
        if holds.ndim == 0:
            return UNDEFINED if np.isnan(holds) else self.value(body if holds else other, at)
        rows = np.arange(self.rows) if at is None else at
        chosen = np.full(len(rows), np.nan)
        for part, here in ((body, (holds != 0) & ~np.isnan(holds)), (other, holds == 0)):
            if here.any():
                chosen[here] = self.value(part, rows[here])
        return chosen

    def _joined(self, node: ast.BoolOp, at: Ints | None) -> Floats:
        """Return A and B as `B ≠ 0 if A else 0`, A or B as `1 if A else B ≠ 0`."""
        first, *more = node.values
        rest = ast.BoolOp(node.op, more) if len(more) > 1 else more[0]
        rest = ast.Compare(rest, [ast.NotEq()], [ast.Constant(0.0)])
        if isinstance(node.op, ast.Or):
            return self._chosen(first, ast.Constant(1.0), rest, at)
        return self._chosen(first, rest, ast.Constant(0.0), at)

    def _of_all(self, node: ast.Call) -> Floats:
        name = _called(node)
        if not self.rows and name not in OF_NOBODY:
            return UNDEFINED
        first, *more = (self.value(part) for part in node.args)
        if name == "correlation":
            more = [np.broadcast_to(more[0], self.rows)]
        return _defined(OF_ALL[name], np.broadcast_to(first, self.rows), *more)


def _defined(of: Callable[..., object], *values: Floats) -> Floats:
    """Return what is computed of some values; NaN where one of them is, or it is not finite."""
    found = np.asarray(of(*values), dtype=np.float64)
    for value in (found, *values):
        if found.ndim or not value.ndim:
            found = np.where(np.isfinite(value), found, np.nan)
    return found
