"""Tables of other programs say the same as CSV, or what to do with them."""

import gzip
import io
import json

import pandas
import pyreadstat
import pytest
from openpyxl import Workbook

from dpengine.cli.main import main

ROWS = [("smoked", "age"), *[(1, 20 + at) for at in range(12)], *[(0, 30 + at) for at in range(20)]]


def csv(rows=ROWS, separator=","):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def xlsx(rows=ROWS):
    book, file = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def table(rows=ROWS):
    return pandas.DataFrame(rows[1:], columns=rows[0])


@pytest.fixture
def analysed(tmp_path, capsys):
    def analyse(content, *words, name="answers.csv", outcome="smoked"):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        main(["analyse", str(path), "--outcome", outcome, "--design", "coin", "--json", *words])
        return json.loads(capsys.readouterr().out)

    return analyse


def test_every_format_says_the_same(analysed, tmp_path):
    plain = analysed(csv())
    assert plain["n"] == 32
    others = {
        "answers.xlsx": xlsx(),
        "answers.csv.gz": gzip.compress(csv().encode()),
        "answers.xlsx.gz": gzip.compress(xlsx()),
        "utf16.csv": csv(separator="\t").encode("utf-16"),
        "named.txt": xlsx(),
    }
    for name, content in others.items():
        assert analysed(content, name=name) == plain, name
    pyreadstat.write_sav(table(), str(tmp_path / "answers.sav"))
    pyreadstat.write_dta(table(), str(tmp_path / "answers.dta"))
    table().to_stata(tmp_path / "older.dta", write_index=False, version=114)
    for name in ("answers.sav", "answers.dta", "older.dta"):
        assert analysed(None, name=name) == plain, name


def test_what_is_declared_missing_in_spss_is_a_blank(analysed, tmp_path):
    path = tmp_path / "declared.sav"
    pyreadstat.write_sav(table([*ROWS, (9, 40)]), str(path), missing_ranges={"smoked": [9]})
    assert analysed(None, name="declared.sav")["n"] == 32


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "save it as .xlsx or CSV"),
        (b"PAR1 and more", "save it as CSV"),
        (gzip.compress(b"RDX3\nX\n" + b"\0" * 9, mtime=0), "write.csv"),
        (b"%PDF-1.7", "save the table as CSV"),
        (b"PK\x03\x04 cut short", "save it as .xlsx or CSV"),
        (b"$FL2 cut short", "it is damaged: save it as CSV"),
        (gzip.compress(csv().encode(), mtime=0)[:40], "ends too early, or is damaged"),
        (xlsx([*ROWS, ("=1+0", 5)]), "row 34, column 1: a formula"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_do(analysed, content, remedy):
    with pytest.raises(SystemExit, match=remedy):
        analysed(content)


def test_codes_that_are_missing_are_left_out_in_all_columns_or_in_one(analysed):
    rows = [*ROWS, (9, 50), (1, 999), (0, 9)]
    assert analysed(csv(rows), "--missing", "9.0,99")["n"] == 34
    assert analysed(csv(rows), "--missing", "9.0,99", "--covariates", "age")["n"] == 33
    both = analysed(
        csv(rows), "--missing", "smoked=9", "--missing", "age=999", "--covariates", "age"
    )
    assert both["n"] == 33
    with pytest.raises(SystemExit, match="--missing: expected codes such as 9,99"):
        analysed(csv(), "--missing", "9,,99")


def test_a_word_of_another_language_is_yes_where_it_is_said(analysed):
    rows = [("smoked",), *[("Ja",)] * 7, *[("nein",)] * 9, (" ja ",)]
    found = analysed(csv(rows), "--yes", "Ja")
    assert found["n"] == 17
    assert found["estimate"] == pytest.approx((8 / 17 - 1 / 4) / (1 / 2))
    with pytest.raises(SystemExit, match="got 3 different values: say with --missing"):
        analysed(csv([*rows, ("weiß nicht",)]), "--yes", "Ja")
    assert analysed(csv([*rows, ("-",)]), "--yes", "Ja", "--missing", "-")["n"] == 17
    with pytest.raises(SystemExit, match="and not that word"):
        analysed(csv(rows), "--yes", "oui")


@pytest.mark.parametrize("income", ["1,000", "12,500", "0,5"])
def test_marks_between_thousands_are_named_and_no_category(analysed, income):
    rows = [("smoked", "income"), *[(at % 2, f'"{income}"') for at in range(20)]]
    with pytest.raises(SystemExit, match="marks between thousands, or with a decimal comma"):
        analysed(csv(rows), "--covariates", "income")


def test_commas_and_full_stops_in_one_column_are_named(analysed):
    rows = [("smoked", "income"), *[(at % 2, at) for at in range(20)], (1, "0,5"), (0, "1.000")]
    with pytest.raises(SystemExit, match="some numbers have a comma and some a full stop"):
        analysed(csv(rows, ";"), "--covariates", "income")


def hints(found):
    return [each for each in found["warnings"] if "--missing" in each]


def test_a_code_far_from_all_other_values_of_a_covariate_is_hinted_at(analysed):
    strange = analysed(csv([*ROWS, (1, 999)]), "--covariates", "age")
    assert hints(strange) == [
        "age has 999 far from its other values: if that stands for no answer, say --missing age=999."
    ]
    assert hints(analysed(csv([*ROWS, (1, 77), (0, 99)]), "--covariates", "age")) == []
    assert hints(analysed(csv([*ROWS, (1, 999)]), "--covariates", "age", "--missing", "999")) == []


def test_a_number_with_marks_between_thousands_is_named_among_numbers(analysed):
    rows = [*ROWS, (1, '"1,000"')]
    with pytest.raises(SystemExit, match=r"marks between thousands"):
        analysed(csv(rows), "--weights", "age")
