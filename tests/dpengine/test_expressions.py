"""Reached on the ask page, “A statistic that you write”, and by `analyse --covariates`."""

import math

import numpy as np
import pytest

from dpengine import expressions
from dpengine.expressions import MAX_LEVELS, OF_ALL, read

X, Y = np.array([0.0, 1, 2, 5]), np.array([4.0, 2, 1, 0])
COLUMNS = {"x": X, "y": Y, "in years": X, "if": Y}
NAN = math.nan


def of_all(text, columns=COLUMNS, rows=4):
    return read(text, columns, of_all=True).of_all(columns, rows)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > 1", [0, 0, 1, 1]),
        ("0 < x <= 2", [0, 1, 1, 0]),
        ("x != 1 and y", [1, 0, 1, 0]),
        ("not x or y == 1", [1, 0, 1, 0]),
        ("x and y and x + y == 3", [0, 1, 1, 0]),
        ("1/x", [NAN, 1, 0.5, 0.2]),
        ("1/x if x else 9", [9, 1, 0.5, 0.2]),
        ("x != 0 and 1/x > .4", [0, 1, 1, 0]),
        ("9 if 1/x > 0 else 8", [NAN, 9, 9, 9]),
        ("1/(1/x)", [NAN, 1, 2, 5]),
        ("not (1/x)", [NAN, 0, 0, 0]),
        ("1 if x > 0 else 2 if y > 3 else 3", [2, 1, 1, 1]),
        ("log(x - 1) if x > 1 else sqrt(-1)", [NAN, NAN, 0, math.log(4)]),
        ("exp(999) * 0 + x", [NAN] * 4),
        ("`in years` - `if`", [-4, -1, 1, 5]),
        ("5", [5] * 4),
    ],
)
def test_row_by_row(text, expected):
    assert read(text, COLUMNS).values(COLUMNS, 4) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mean(x)", 2),
        ("sum(x*y)", 4),
        ("count(x > 1 and y < 1)", 1),
        ("min(x) - max(y)", -4),
        ("median(x)", 1.5),
        ("quantile(x, 0.75)", 2.75),
        ("correlation(x, 3 - 2*x)", -1),
        ("mean((x - mean(x))^2)", 3.5),
        ("sum(x if y > 1 else 0)/count(y > 1)", 0.5),
        ("mean(x) if count(y) > 2 else 7", 2),
        ("mean(x) if count(y) > 9 else 1/0", NAN),
        ("7 if count(y) > 2 else 1/0", 7),
        ("count(1)", 4),
        ("mean(1/x)", NAN),
        ("max(1/x)", NAN),
        ("count(1/x)", NAN),
        ("quantile(1/x, 0.5)", NAN),
        ("correlation(x, 3)", NAN),
        ("correlation(1/x, y)", NAN),
        ("10^10^10 + sum(x)", NAN),
        ("sum(x*mean(x) if x > 1 else mean(1/x))", NAN),
    ],
)
def test_of_all_rows_together(text, expected):
    assert of_all(text) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", OF_ALL)
def test_nobody_has_a_sum_and_a_count_and_nothing_else(name):
    second = {"quantile": ", 0.5", "correlation": ", x"}.get(name, "")
    found = of_all(f"{name}(x{second})", {"x": X[:0]}, 0)
    assert found == 0 if name in ("sum", "count") else math.isnan(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must have 1 to 300 characters, got 0"),
        ("1+" * 200 + "1", "got 401"),
        ("x", "'x' must be one number: put columns into one of mean, sum,"),
        ("mean(x) + y", "must be one number"),
        ("mean(x) if y else 1", "must be one number"),
        ("mean(z)", "expected a column, one of x, y, in years, if, got 'z'"),
        ("while 1", "got 'while'"),
        ("[x for x in x]", "got '\\['"),
        ("lambda: 1", "got 'lambda'"),
        ("__import__('os')", "one of the functions log, .*, got '__import__'"),
        ("open(x)", "got 'open'"),
        ("x.mean()", "got 'x.mean'"),
        ("mean(x).real", "expected numbers, columns, .*, got '.'"),
        ("'a' * 9", "expected numbers, columns"),
        ("x = 1", "expected numbers, columns, .*, got '='"),
        ("`mean`(x)", "got 'mean'"),
        ("`x`(1)", "before a bracket"),
        ("(mean)(x)", "expected a column"),
        ("mean(x)(x)", "expected one of the functions .* before a bracket"),
        ("mean(x, y)", "mean takes 1 in its brackets, got 2"),
        ("mean()", "mean takes 1 in its brackets, got 0"),
        ("correlation(x)", "correlation takes 2 in its brackets, got 1"),
        ("quantile(x, 2)", "quantile takes a number from 0 to 1"),
        ("quantile(x, mean(y))", "quantile takes a number from 0 to 1"),
        ("mean(x), mean(y)", "a comma stands outside"),
        ("mean((x, y))", "a comma stands outside"),
        ("mean(*x)", "a comma|is not an expression"),
        ("mean(x, **y)", r"expected numbers, columns, .*, got '\*\*'"),
        ("quantile(x, 0.5, **y)", r"got '\*\*'"),
        ("mean(**x)", r"got '\*\*'"),
        ("mean(x", "is not an expression"),
        ("mean(x) mean(y)", "is not an expression"),
        ("mean(x) // 2", "is not an expression"),
        ("(" * 120 + "1", "is not an expression"),
        ("-" * 200 + "mean(x)", "at most 150 parts"),
    ],
)
def test_nothing_else_is_read(text, words):
    with pytest.raises(ValueError, match=words):
        read(text, COLUMNS, of_all=True)


def test_row_by_row_nothing_is_asked_of_all_rows():
    with pytest.raises(ValueError, match="functions log, exp, sqrt, abs, got 'mean'"):
        read("x - mean(x)", COLUMNS)


def test_a_column_alone_is_that_column_and_nothing_else_is():
    assert [read(text, COLUMNS).column for text in ("in years", "`if`", "x + 0")] == [
        "in years",
        "if",
        None,
    ]


LONG = (
    f"sum({'+'.join(['x'] * 147)})",
    "-" * 140 + "mean(x)",
    f"count({' and '.join(['x'] * 40)} or y)",
    f"count({' or '.join(['x'] * 40)} and y)",
    "mean(" * 20 + "x" + ")" * 20,
    f"sum({'x if y else ' * 20}y)",
    "median(x if x > median(y) else quantile(y, 0.1)) < 3 < mean(x)",
    f"count({' < '.join(['x'] * 60)})",
)


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_every_part_is_computed_at_most_once(text, monkeypatch):
    """So that the work is bounded before any data is read."""
    formula, computed = read(text, COLUMNS, of_all=True), []
    value = expressions._Computation.value

    def counted(self, node, at=None):
        computed.append(node)
        return value(self, node, at)

    monkeypatch.setattr(expressions._Computation, "value", counted)
    formula.of_all(COLUMNS, 4)
    assert 0 < len(computed) <= 2 * formula.cells


def test_parts_in_one_another_are_counted():
    with pytest.raises(ValueError, match=f"at most {MAX_LEVELS} parts in one another"):
        read("-" * (MAX_LEVELS + 1) + "x", COLUMNS)
