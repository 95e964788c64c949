"""A column as reports and the channels they came through."""

import math

import numpy as np
import pytest

from dpengine.cli.channels import design_columns, question_of, reports_of
from dpengine.cli.files import read_csv
from dpengine.cli.specs import parse, parse_asked


def asked(text):
    return parse_asked("--cross", text, is_open=True)


def test_codes_of_every_kind_of_design(write):
    sheet = read_csv(write({"y": ["yes", "no"], "c": [3, 1], "s": ["3 1", "2  1"]}))
    assert reports_of(sheet, "y", parse("coin")).tolist() == [1, 0]
    assert reports_of(sheet, "c", parse("kary:k=3,keep=1/2,first=1")).tolist() == [2, 0]
    sets = parse("subset:k=3,size=2,keep=4/5,first=1")  # 1 2, 1 3, 2 3
    assert reports_of(sheet, "s", sets).tolist() == [1, 0]


@pytest.mark.parametrize("value", ["1", "1 1", "1 2 3", "0 1", "1 4", "1,2", "one two"])
def test_sets_of_another_size_or_other_codes_are_refused_by_line(write, value):
    sheet = read_csv(write({"s": ["1 2", f'"{value}"']}))
    words = "column 's', line 3: expected 2 different whole numbers from 1 to 3, with spaces"
    with pytest.raises(ValueError, match=words):
        reports_of(sheet, "s", parse("subset:k=3,size=2,keep=4/5,first=1"))


def test_an_open_column_has_its_values_for_choices(write):
    sheet = read_csv(write({"school": ["law", " arts", "law"]}))
    question, names, epsilon = question_of(sheet, asked("school"))
    assert (names, epsilon) == (["arts", "law"], 0)
    assert question.reports.tolist() == [1, 0, 1]
    assert np.array_equal(question.matrices, [np.eye(2)])
    with pytest.raises(ValueError, match="column 'school' must have 2 to 100 different values"):
        question_of(sheet.only(np.array([False, True, False])), asked("school"))


def test_odds_of_each_row_are_arms(write):
    sheet = read_csv(write({"y": [1, 0, 1], "p": [0.2, 0.8, 0.2]}))
    question, names, epsilon = question_of(sheet, asked("y:affine:c0=1-p,c1=2*p-1"))
    assert names == ["0", "1"]
    assert epsilon == pytest.approx(math.log(4))
    assert question.arm.tolist() == [1, 0, 1]
    assert question.matrices[1] == pytest.approx(np.array([[0.2, 0.8], [0.8, 0.2]]))
    assert design_columns(asked("y:affine:c0=1-p,c1=2*p-1").design, sheet) == ["p", "p"]
    assert design_columns(parse("coin"), sheet) == []
