import numpy as np
import pytest

from dpengine.cli.files import read_csv


@pytest.fixture
def sheet(tmp_path):
    def read(text, encoding="utf-8"):
        path = tmp_path / "answers.csv"
        path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
        return read_csv(str(path))

    return read


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_separators_marks_and_line_ends_do_not_matter(sheet, separator, encoding, end):
    lines = [["smoked", "“où, dit-elle”"], ["1", "a"], ["0", "b"]]
    read = sheet(
        end.join(separator.join(f'"{cell}"' for cell in line) for line in lines) + end, encoding
    )
    assert read.columns == ("smoked", "“où, dit-elle”")
    assert read.answers("smoked").tolist() == [1, 0]
    assert read.lines.tolist() == [2, 3]


def test_quotes_hold_separators_lines_and_quotes(sheet):
    read = sheet('yes,said\n1,"a, ""b""\nc"\n0,d\n')
    assert read.column("said") == ['a, "b"\nc', "d"]
    assert read.lines.tolist() == [3, 4]  # where the rows end


def test_semicolons_allow_decimal_commas(sheet):
    assert sheet("a;b\n0,5;1\n").numbers("a").tolist() == [0.5]


@pytest.mark.parametrize("yes", ["1", "yes", "YES", " True ", "1.0"])
@pytest.mark.parametrize("no", ["0", "No", "false", "0.0"])
def test_yes_and_no_have_many_spellings(sheet, yes, no):
    assert sheet(f"a,b\n{yes},1\n{no},1\n").answers("a").tolist() == [1, 0]


def test_codes_are_counted_from_nought(sheet):
    assert sheet("a,b\n1,1\n3.0,1\n").codes("a", 3, first=1).tolist() == [0, 2]
    assert sheet("a,b\n1,1\n2,1\n").codes("a", 3).tolist() == [1, 2]


def test_blanks_are_left_out_counted_and_said(sheet):
    read = sheet("a,b,c\n1,2,x\n,2,x\nNA,,x\n0,n/a,\n1,1,.\n1,NaN,x\n")
    kept, said = read.complete(["a", "b", "a"])
    assert kept.column("a") == ["1", "1"]
    assert kept.lines.tolist() == [2, 6]
    assert said == ["4 of 6 rows were left out: blank or NA in a (2), b (3)"]
    assert read.complete(["c"])[1] == ["2 of 6 rows were left out: blank or NA in c (2)"]
    assert kept.complete(["a"]) == (kept, [])


def test_nothing_but_blanks_is_no_answer(sheet):
    with pytest.raises(ValueError, match="n = 0: all 2 of 2 rows were left out"):
        sheet("a,b\n,1\nNA,1\n").complete(["a"])


def test_an_empty_line_is_a_blank_answer_only_where_there_is_one_column(sheet):
    assert sheet("a\n1\n\n0\n\n\n").column("a") == ["1", "", "0"]
    assert sheet("a,b\n1,2\n\n0,2\n").column("a") == ["1", "0"]


def test_blanks_at_the_end_of_the_last_row_are_blanks(sheet):
    assert sheet("a\tb\n1\t2\n0\t\n").column("b") == ["2", ""]
    assert sheet("a,b\n1,2\n  \n").column("b") == ["2"]
    assert sheet("a\n1\n\n").complete(["a"])[1] == []


def test_a_none_that_is_an_answer_is_no_blank(sheet):
    kept, said = sheet("Depressed,x\nNone,1\nMost,1\n").complete(["Depressed"])
    assert (len(kept), said) == (2, [])


SECRET = "77177"


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (
            lambda s: s.answers("a"),
            r"column 'a', line 3: expected 0 or 1, no or yes, false or true \(and 1 more line\)",
        ),
        (lambda s: s.codes("a", 5), "column 'a', line 3: expected a whole number from 0 to 4"),
        (
            lambda s: s.codes("b", 5, first=1),
            "column 'b', line 4: expected a whole number from 1 to 5",
        ),
        (lambda s: s.numbers("b"), "column 'b', line 4: expected a number$"),
        (lambda s: s.column("z"), "column 'z' is not in the file, which has 'a', 'b', 'c', 'c'"),
        (lambda s: s.column("c"), "column 'c' is in the file 2 times"),
    ],
)
def test_an_error_names_column_and_line_but_never_an_answer(sheet, read, words):
    with pytest.raises(ValueError, match=words) as error:
        read(sheet(f"a,b,c,c\n1,1,1,1\n{SECRET},2,1,1\n{SECRET},x{SECRET},1,1\n"))
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("value", ["inf", "1_0", "1e999", "0x1", "٣x", "--1"])
def test_what_is_no_finite_number_is_refused(sheet, value):
    with pytest.raises(ValueError, match="line 2: expected a number"):
        sheet(f"a,b\n{value},1\n").numbers("a")
    with pytest.raises(ValueError, match="line 2"):
        sheet(f"a,b\n{value},1\n").codes("a", 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "answers.csv is empty"),
        ("\n\n", "answers.csv is empty"),
        ("a,b\n", "n = 0: answers.csv has column names but no rows"),
        ("a,b\n1,2\n1\n", "answers.csv, line 3: expected 2 values as in the first line, got 1"),
        ("a,b\n1,2,77177\n", "line 2: expected 2 values as in the first line, got 3"),
        ('a,b\n1,"2\n', "answers.csv, line 2: quotes or signs"),
        ("a,b\n1,\xe9".encode("latin-1"), "answers.csv, line 2: expected UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(sheet, text, words):
    with pytest.raises(ValueError, match=words) as error:
        sheet(text)
    assert SECRET not in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read .*nowhere\.csv: No such file"):
        read_csv(str(tmp_path / "nowhere.csv"))
    with pytest.raises(ValueError, match="Is a directory"):
        read_csv(str(tmp_path))


def test_long_cells_are_kept_whole_beside_short_ones(sheet):
    words = ["a", "b" * 255, "c" * 256, "", "é" * 200]
    found = sheet("\n".join(["x,y", *(f"{word},1" for word in words)]))
    assert found.column("x") == words
    kept = found.only(np.array([True, False, True, False, True]))
    assert kept.column("x") == words[::2]


def test_rows_with_the_same_cells_are_found_at_their_first(sheet):
    found = sheet("x,y,z\n1,a,7\n2,a,8\n1,a,9\n1,b,7\n2,a,7\n")
    repeats = found.repeats(["x", "y"])
    assert repeats.first.tolist() == [0, 1, 3]
    assert repeats.counts.tolist() == [2, 2, 1]
    assert [repeats.among(people) for people in (0, 1, 3, 4, 5)] == [0, 1, 2, 3, 3]
