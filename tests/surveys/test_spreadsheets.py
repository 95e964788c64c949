"""No text in a table is taken for a formula, and there is one place that sees to it."""

import csv
import io
from pathlib import Path

import pytest

from surveys.spreadsheets import csv_line, csv_lines

HOUSE = Path(__file__).parents[2] / "surveys"
FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff201",
]


def read(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
def test_a_text_that_a_spreadsheet_would_reckon_with_gets_an_apostrophe(text):
    assert read(csv_line(["row", text])) == [["row", f"'{text}"]]
    assert read(csv_lines([text], [[text]])) == [[f"'{text}"], [f"'{text}"]]


@pytest.mark.parametrize("text", ["+49 170 1234567", "+49 (0)170/123-45.67", "-1.5", "-2"])
def test_a_number_is_no_formula_and_leaves_as_it_came(text):
    assert read(csv_line([text])) == [[text]]


@pytest.mark.parametrize("text", ["+", "- ", "+1+A1", "-1-cmd", "+49*2", "+49 170\n=1"])
def test_what_only_begins_like_a_number_is_guarded(text):
    assert read(csv_line([text])) == [[f"'{text}"]]


def test_everything_else_stays_as_it_is():
    assert read(csv_line([-1.5, -2, None, "", "a=b", 'say "a, b"'])) == [
        ["-1.5", "-2", "", "", "a=b", 'say "a, b"']
    ]


def test_nothing_else_writes_such_files():
    writers = [
        path.relative_to(HOUSE) for path in HOUSE.rglob("*.py") if "csv.writer(" in path.read_text()
    ]
    assert writers == [Path("spreadsheets.py")]
