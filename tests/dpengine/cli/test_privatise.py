import sys
from fractions import Fraction
from io import BytesIO, TextIOWrapper

import pytest

from dpengine.cli.main import main
from dpengine.cli.specs import parse
from dpengine.local import channel_for, number_for

SECRET = "77177"


@pytest.fixture
def chance(monkeypatch):
    """Let the operating system's generator say one byte again and again."""

    def say(byte):
        monkeypatch.setattr("dpengine.randomness.os.urandom", lambda count: bytes([byte] * count))

    return say


@pytest.fixture
def lines(capsys):
    def privatise(*words):
        main(["privatise", *map(str, words)])
        return capsys.readouterr().out.splitlines()

    return privatise


def test_the_operating_systems_chance_decides_every_report(chance, lines, write):
    words = write({"y": ["yes", "no", 1, 0], "z": "abcd"}), "--column", "y", "--epsilon", "1"
    chance(0)
    assert lines(*words) == ["y", "0", "0", "0", "0"]
    chance(255)
    assert lines(*words) == ["y", "1", "1", "1", "1"]


def test_choices_have_the_codes_of_the_file_and_a_report_may_hold_several(chance, lines, write):
    chance(0)  # the answer is kept, and the first of the others comes with it
    words = write({"c": [3, 1, 5]}), "--column", "c", "--choices", "5", "--first", "1"
    assert lines(*words, "--epsilon", "2") == ["c", "3", "1", "5"]
    assert lines(*words, "--epsilon", "1/2") == ["c", "1 3", "1 2", "1 5"]


@pytest.mark.parametrize("byte", [0, 127])  # above, words could be thrown away for ever
def test_a_number_becomes_one_whose_mean_is_the_number(chance, lines, write, byte):
    chance(byte)
    channel = number_for(18, 20, 1)
    words = write({"age": [18, 19, 20]}), "--column", "age", "--epsilon", "1"
    worth = [
        float(Fraction(channel.decoder[channel.randomise(step)], channel.scale) + 18)
        for step in range(3)
    ]
    assert lines(*words, "--least", "18", "--most", "20")[1:] == [repr(each) for each in worth]


def test_a_line_is_an_answer_where_no_column_is_named(chance, lines, monkeypatch, tmp_path):
    chance(255)
    path = tmp_path / "answers.txt"
    path.write_text("Ja\nnein\nJa\n")
    assert lines(path, "--epsilon", "1", "--yes", "Ja") == ["1", "1", "1"]
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"1\n0\n")))
    assert lines("-", "--epsilon", "1") == ["1", "1"]


@pytest.mark.parametrize("options", [[], ["--choices", "2", "--first", "1"], ["--choices", "5"]])
def test_it_says_with_which_design_its_reports_are_analysed(write, capsys, options):
    main(["privatise", write({"y": [1, 1]}), "--column", "y", "--epsilon", "0.5", *options])
    said, spec = capsys.readouterr().err.strip().split("; analyse them with --design ")
    assert said == "ε = 0.500000 a report"
    channel, design = channel_for(5 if "5" in options else 2, 0.5), parse(spec)
    assert design.loss == channel.loss
    assert (len(design.chances), design.size) == (channel.answers, channel.held)
    assert design.first == ("1" in options)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (f"y\n1\n{SECRET}\n", ["--column", "y"], "column 'y', line 3: expected 0 or 1"),
        (f"{SECRET}\n1\n", ["--column", "y"], "column 'y' must stand in the first line, once"),
        (f"{SECRET}\n1\n", [], "column 'answer', line 1: expected 0 or 1"),
        (f"y\n{SECRET}\n", ["--column", "y", "--choices", "5"], "a whole number from 0 to 4"),
        (
            f"y\n{SECRET}\n",
            ["--column", "y", "--least", "18", "--most", "99"],
            "a whole number from 18 to 99",
        ),
        (f"y,z\n{SECRET},1\n,1\n", ["--column", "y"], "some answers are blank"),
        (f"{SECRET}\n1,2\n", [], "line 2: expected 1 values as in the first line, got 2"),
        ("y\n1\n", ["--column", "y", "--least", "1"], "--most is missing"),
        ("y\n1\n", ["--column", "y", "--most", "1"], "--least is missing"),
        (
            "y\n1\n",
            ["--column", "y", "--least", "1", "--most", "2", "--choices", "2"],
            "--choices has no meaning with --least",
        ),
        (
            "y\n1\n",
            ["--column", "y", "--least", "1", "--most", "2", "--first", "1"],
            "--first has no meaning with --least",
        ),
        ("y\n1\n", ["--column", "y", "--choices", "3", "--yes", "Ja"], "--yes is of two choices"),
        ("y\n1\n", ["--column", "y", "--choices", "1"], "choices must be 2 or more, got 1"),
        ("y\n1\n", ["--column", "y", "--choices", "5.5"], "--choices must be a whole number"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_without_an_answer(tmp_path, text, options, said):
    path = tmp_path / "answers.csv"
    path.write_text(text)
    with pytest.raises(SystemExit, match=said) as error:
        main(["privatise", str(path), "--epsilon", "1", *options])
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("epsilon", ["0", "-1", "one"])
def test_an_epsilon_must_be_above_nought(write, epsilon):
    with pytest.raises(SystemExit, match="epsilon must be"):
        main(["privatise", write({"y": [1]}), "--column", "y", f"--epsilon={epsilon}"])


@pytest.mark.parametrize(
    ("name", "begins", "module"),
    [("a.xlsx", b"PK\x03\x04", "openpyxl"), ("a.sav", b"$FL2", "pyreadstat")],
)
def test_a_reader_that_is_not_installed_is_named_with_its_extra(
    tmp_path, monkeypatch, name, begins, module
):
    path = tmp_path / name
    path.write_bytes(begins)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SystemExit, match=rf"{module} is not .* pip install 'dpengine\[files\]'"):
        main(["privatise", str(path), "--column", "y", "--epsilon", "1"])
