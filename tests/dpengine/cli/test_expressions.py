import numpy as np
import pytest

from dpengine.cli.expressions import (
    design_matrix,
    read_covariates,
    read_expression,
    values_of,
)
from dpengine.cli.files import read_csv


@pytest.fixture
def sheet(write):
    return read_csv(
        write(
            {
                "age": [20, 30, 40, 50],
                "cov.age": [1, 2, 3, 4],
                "age in years": [5, 6, 7, 8],
                "education": ["low", "high", "low", "mid"],
                "wave": [10, 9, 9, 11],
                "mixed": ["1", "2", "3", "many"],
                "one": [1, 1, 1, 1],
                "log": [1, 2, 3, 4],
                "__import__": [1, 2, 3, 4],
                "(odd)/name": [4, 3, 2, 1],
            }
        )
    )


AGE = np.array([20.0, 30, 40, 50])
SMALL = np.array([1.0, 2, 3, 4])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age", AGE),
        ("age/10", AGE / 10),
        ("(age/10)^2", (AGE / 10) ** 2),
        ("(age/10)**2", (AGE / 10) ** 2),
        ("-age^2", -(AGE**2)),
        ("2^3^2 + 0*age", np.full(4, 512.0)),
        ("1 - cov.age * .5e0", 1 - SMALL / 2),
        ("`age in years` - 5", np.arange(4.0)),
        ("age in years", np.arange(5.0, 9)),
        ("(odd)/name", SMALL[::-1]),
        ("log(age) + sqrt(abs(-age)) + exp(0)", np.log(AGE) + np.sqrt(AGE) + 1),
        ("log + log(log)", SMALL + np.log(SMALL)),
        ("`log`", SMALL),
        ("1/6", np.full(4, 1 / 6)),
        ("__import__", SMALL),
        ("age > 30", np.array([0.0, 0, 1, 1])),
        ("1/(wave-9) if wave != 9 else 0", np.array([1, 0, 0, 0.5])),
    ],
)
def test_arithmetic_over_columns(sheet, text, expected):
    assert values_of(read_expression(text, sheet), sheet) == pytest.approx(expected)


def test_a_zero_beside_the_constant_is_still_a_column_for_every_row(sheet):
    assert values_of(read_expression("0", sheet), sheet).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "an expression must have 1 to 300 characters, got 0"),
        ("1+" * 200 + "1", "an expression must have 1 to 300 characters, got 401"),
        ("height", "expected a column, one of age, cov.age, .*, got 'height'"),
        ("age.mean()", "expected one of the functions log, exp, sqrt, abs, got 'age.mean'"),
        ("open('x')", "expected one of the functions log, exp, sqrt, abs, got 'open'"),
        ("__import__('os').system('id')", "expected numbers, columns"),
        ("__import__(1)", "expected one of the functions log, exp, sqrt, abs"),
        ("mean(age)", "expected one of the functions log, exp, sqrt, abs, got 'mean'"),
        ("age['x']", "expected numbers, columns, .*, got '\\['"),
        ("age; age", "got ';'"),
        ("age if age", "is not an expression"),
        ("lambda: 1", "got 'lambda'"),
        ("age\\.real", "expected numbers"),
        ("age .real", "expected numbers, columns, .*, got '.'"),
        ("{age}", "got '{'"),
        ("age ~ 1", "got '~'"),
        ("age:wave", "got ':'"),
        ("age @ wave", "got '@'"),
        ("(age", "is not an expression"),
        ("age age", "is not an expression"),
        ("()", "a comma stands outside"),
        ("age//10", "is not an expression"),
        ("9^9^9^9", "line 2: not a finite number \\(and 3 more lines\\)"),
        ("1/0", "must be a number such as 2/3"),
        ("log(age-20)", "line 2: not a finite number$"),
        ("1/(wave-9)", "line 3: not a finite number \\(and 1 more line\\)"),
        ("education/2", "column 'education', line 2: expected a number"),
    ],
)
def test_nothing_else_is_computed(sheet, text, words):
    with pytest.raises(ValueError, match=words):
        values_of(read_expression(text, sheet), sheet)


def test_covariates_are_named_as_they_were_typed(sheet):
    matrix, names = design_matrix(
        read_covariates("age/10, (age/10)^2,education ,C(wave)", sheet), sheet
    )
    assert names == [
        "Intercept",
        "age/10",
        "(age/10)^2",
        "education[T.low]",
        "education[T.mid]",
        "C(wave)[T.10]",
        "C(wave)[T.11]",
    ]
    assert matrix.T.tolist() == [
        [1, 1, 1, 1],
        [2, 3, 4, 5],
        [4, 9, 16, 25],
        [1, 0, 1, 0],
        [0, 0, 0, 1],
        [1, 0, 0, 0],
        [0, 0, 0, 1],
    ]


def test_a_category_s_column_may_stand_in_backticks(sheet):
    assert design_matrix(read_covariates("C(`age in years`)", sheet), sheet)[0].shape == (4, 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("age,,wave", "covariates must differ and not be empty, got ''"),
        ("age,age", "covariates must differ and not be empty, got 'age' twice"),
        (
            "mixed",
            "column 'mixed' holds 3 numbers and 1 words: mend it, or write C\\(mixed\\) for "
            "categories",
        ),
        ("C(height)", "column 'height' is not in the file"),
        ("C(one)", "covariate 'C\\(one\\)' must have 2 to 100 different values, got 1"),
    ],
)
def test_covariates_that_cannot_be_are_refused(sheet, text, words):
    with pytest.raises(ValueError, match=words):
        design_matrix(read_covariates(text, sheet), sheet)
