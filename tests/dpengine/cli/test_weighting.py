"""Raking a file's rows to the margins of a population: what is read, and what is refused."""

import numpy as np
import pytest

from dpengine.cli.files import read_csv
from dpengine.cli.weighting import split_option, weighting_of
from dpengine.inference.shares import binary_share
from dpengine.inference.weights import Margin, raked

SEX = ["f"] * 30 + ["m"] * 10
AGE = ["old", "young"] * 20


def sheet(write, **columns):
    return read_csv(write({"y": [0, 1, 1, 0] * 10, "sex": SEX, "age": AGE, **columns}))


def shares(write, values, name="sex.csv"):
    return write({"value": values.keys(), "share": values.values()}, name)


def test_weights_meet_the_margins(write):
    files = [
        ("sex", shares(write, {"f": 0.5, "m": 0.5})),
        ("age", shares(write, {"young": 300, "old": 100}, "age.csv")),
    ]
    found, notes = weighting_of(sheet(write), "", files)
    assert notes == []
    assert found.weights.sum() == pytest.approx(40)
    assert found.weights[np.array(SEX) == "m"].sum() == pytest.approx(20)
    assert found.weights[np.array(AGE) == "old"].sum() == pytest.approx(10)
    assert [margin.name for margin in found.margins] == ["sex", "age"]


def test_survey_weights_come_first(write):
    before = [1, 2, 3, 4] * 10
    rows = sheet(write, w=before)
    found, _ = weighting_of(rows, "w", [("sex", shares(write, {"f": 0.5, "m": 0.5}))])
    assert found.weights[1] / found.weights[0] == pytest.approx(2)
    assert weighting_of(rows, "w", [])[0].weights.tolist() == before
    assert weighting_of(rows, "", [])[0].weights is None


def test_a_part_keeps_its_weights_and_has_no_margins(write):
    found, _ = weighting_of(sheet(write), "", [("sex", shares(write, {"f": 0.5, "m": 0.5}))])
    part = found.only(np.arange(40) < 5)
    assert part.weights == pytest.approx(found.weights[:5])
    assert part.margins == ()


def test_a_category_of_few_is_said(write):
    rows = read_csv(write({"y": [0, 1] * 10, "sex": ["f"] * 18 + ["m"] * 2}))
    _, notes = weighting_of(rows, "", [("sex", shares(write, {"f": 0.5, "m": 0.5}))])
    assert notes == ["--poststratify sex: 2 respondents stand for all of 'm'; join it with another"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {"f": 0.5, "x": 0.5},
            "column 'sex', line 32: expected a value that has a share in "
            r"sex\.csv: 'f', 'x' \(and 9 more lines\)",
        ),
        (
            {"f": 0.4, "m": 0.4, "x": 0.2},
            "sex.csv: 'x' has a share of the population and no respondent in column 'sex'",
        ),
        ({"f": 0.5, "m": 0.4}, r"sex\.csv: shares must add up to 1, .* got sum 0\.9"),
        ({"f": 1.2, "m": -0.2}, r"sex\.csv, line 3: a share of the population must be above 0"),
        ({"f": 1}, r"sex\.csv: expected a line for each of two values or more, got 1 lines"),
        ({"f": 0.5, "m": "half"}, "column 'share', line 3: expected a number"),
    ],
)
def test_wrong_shares_are_refused_by_name(write, values, words):
    rows = sheet(write)
    with pytest.raises(ValueError, match=words):
        weighting_of(rows, "", [("sex", shares(write, values))])


def test_a_file_of_other_columns_or_none_is_refused(write):
    rows, odd = sheet(write), write({"value": ["f", "m"]}, "odd.csv")
    with pytest.raises(ValueError, match=r"odd\.csv: expected two columns, .*, got 1"):
        weighting_of(rows, "", [("sex", odd)])
    with pytest.raises(ValueError, match=r"cannot read nowhere\.csv: No such file"):
        weighting_of(rows, "", [("sex", "nowhere.csv")])
    twice = write({"value": ["f", "f"], "share": [0.5, 0.5]}, "twice.csv")
    with pytest.raises(ValueError, match="got 2 lines of 1 values"):
        weighting_of(rows, "", [("sex", twice)])


@pytest.mark.parametrize("text", ["sex", "=sex.csv", "sex=", ""])
def test_the_option_names_a_column_and_a_file(text):
    with pytest.raises(ValueError, match=r"--poststratify: expected COL=shares\.csv, got"):
        split_option(text)


def test_a_column_that_is_no_plain_word_stands_in_backticks():
    assert split_option("`age in years`=a=b.csv") == ("age in years", "a=b.csv")


def test_the_shares_are_those_of_the_library(write):
    found, _ = weighting_of(sheet(write), "", [("sex", shares(write, {"f": 0.5, "m": 0.5}))])
    margin = Margin.of("sex", (np.array(SEX) == "m").astype(int), np.array([0.5, 0.5]))
    expected = raked(np.ones(40), [margin])
    assert found.weights == pytest.approx(expected)
    yes = np.array([0.0, 1.0, 1.0, 0.0] * 10)
    one, other = (
        binary_share(yes, 0.25, 0.5, weights, margins=margins)
        for weights, margins in ((found.weights, found.margins), (expected, [margin]))
    )
    assert one == other
