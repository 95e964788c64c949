import importlib
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest

from dpengine.cli.main import main

HOUSE = Path(__file__).parents[3]
FORCED = "forced:p=2/3,yes=1/6,no=1/6"


def run(*words):
    with redirect_stdout(StringIO()) as out:
        main(words)
    return out.getvalue()


def alone(tmp_path, *words):
    """Run a command in a process of its own, with output that knows ASCII only."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(HOUSE),
        "PYTHONIOENCODING": "ascii",
    }
    command = [sys.executable, "-m", "dpengine", *words]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )


def test_analyse_prints_json(published):
    answer = json.loads(
        run("analyse", published, "--outcome", "smoked", "--design", FORCED, "--json")
    )
    assert answer["n"] == 350
    assert answer["estimate"] == pytest.approx(-0.0271, abs=1e-4)


def test_analyse_prints_what_a_methodologist_reads(published):
    text = run("analyse", published, "--outcome", "smoked", "--design", FORCED)
    assert f"smoked by {FORCED}: 350 reports, ε = 1.609 a report" in text
    assert "moment estimate     −0.0271" in text
    assert "95 % interval       0.0000 to 0.0353" in text
    assert "Warnings\n- The moment estimate" in text


@pytest.mark.parametrize(
    ("design", "options", "is_exact"),
    [
        ("coin", [], True),
        ("coin", ["--weights", "same"], True),
        ("coin", ["--weights", "weight"], False),
        ("affine:c0=odds,c1=.5", [], False),
        ("affine:c0=same/10,c1=.5", [], True),
        ("forced:p=1/3,yes=2/3,no=0", [], False),  # too few yes: profile likelihood stands in
    ],
)
def test_exact_is_said_of_people_asked_alike_who_count_alike(write, design, options, is_exact):
    rows = range(90)
    columns = {
        "said": [i % 3 % 2 for i in rows],
        "weight": [1 + i % 4 for i in rows],
        "same": [1 for _ in rows],
        "odds": [(1 + i % 2) / 10 for i in rows],
    }
    text = run("analyse", write(columns), "--outcome", "said", "--design", design, *options)
    assert ("exact, through the design" in text) is is_exact
    assert ("approximate, through the design" in text) is not is_exact


def test_regressions_groups_choices_and_parameters_have_tables(write):
    path = write(
        {
            "y": [0, 1, 1, 0, 1] * 30,
            "often": [0, 1, 2, 0, 1] * 30,
            "age": range(150),
            "wave": [1, 2] * 75,
            "p": [0.3, 0.7] * 75,
        }
    )
    text = run(
        "analyse",
        path,
        "--outcome",
        "y",
        "--design",
        "coin",
        "--covariates",
        "age/10",
        "--by",
        "wave",
    )
    assert "coefficient  log odds  std. error" in text
    assert "all covariates together: G² = " in text
    assert "one value for all groups: G² = " in text
    assert "parameter" in run("analyse", path, "--outcome", "y", "--design", "sld:p=p")
    text = run(
        "analyse", path, "--outcome", "often", "--design", "kary:k=3,keep=1/2", "--by", "wave"
    )
    assert "simultaneous" in text
    assert "group   n  choice" in text
    assert "ε is infinite or unknown" in run(
        "analyse", path, "--outcome", "y", "--design", "direct"
    )


def test_contrasts_cross_tables_and_weights_have_words(write):
    path = write(
        {"y": [0, 1, 1, 0, 1, 1] * 30, "z": ["1 2", "2 3", "1 3"] * 60, "g": [*"aab"] * 60}
    )
    margin = write({"g": ["a", "b"], "people": [30, 70]}, "g.csv")
    words = ["analyse", path, "--outcome", "y", "--design", "coin", "--by", "g"]
    more = ["--cross", "z:subset:k=3,size=2,keep=4/5,first=1", "--poststratify", f"g={margin}"]
    text = run(*words, *more)
    assert "180 reports worth 112 unweighted" in text
    assert "groups  difference" in text
    assert "b : a" in text
    assert re.search(r"y  z +moment", text)
    assert "answers independent of one another: G² = " in text
    assert "ε of both reports together: 1.792" in text  # ln 3 and ln 2
    assert "odds ratio infinite, 95 % interval" in run(*words[:6], "--cross", "g")
    again = json.loads(run(*words, *more, "--json"))
    assert len(again["cross"]["cells"]) == 6
    with pytest.raises(SystemExit, match=r"--poststratify: expected COL=shares\.csv, got 'g'"):
        run(*words, "--poststratify", "g")


def test_a_regression_on_a_randomised_answer_has_words(write):
    path = write({"x": [0.5, 1, 2, 4.5] * 50, "sad": [0, 1, 1, 0, 1] * 40, "d": [0, 0, 1, 1] * 50})
    words = ["analyse", path, "--design", "direct", "--predictor", "d:kary:k=2,keep=9/10"]
    text = run(*words, "--outcome", "x")
    assert "mean                2.0000" in text
    assert re.search(r"coefficient +units  std. error", text)
    assert "likeliest, if errors were normal" in text
    assert "log likelihood" not in text
    text = run(*words, "--outcome", "sad")
    assert "d=1" in text
    assert "log odds" in text
    with pytest.raises(SystemExit, match="--predictor: expected COL:SPEC"):
        run(*words[:-1], "d", "--outcome", "x")


def test_infinite_errors_and_tiny_chances_have_words(write):
    path = write(
        {
            "y": [0] * 50 + [1] * 50,
            "x": range(100),
            "g": [0] * 50 + [1] * 50,
            "c": [0] * 50 + [1] * 50,
        }
    )
    text = run(
        "analyse", path, "--outcome", "y", "--design", "direct", "--covariates", "x", "--by", "c"
    )
    assert "infinite" in text
    assert "p < 0.0001" in text
    assert "Warnings of groups" in text


def test_weighted_choices_have_no_test_to_print(write):
    path = write({"c": [0, 1, 2] * 30, "g": [*"ab"] * 45, "w": [1, 2, 3] * 30})
    text = run(
        "analyse",
        path,
        "--outcome",
        "c",
        "--design",
        "kary:k=3,keep=4/5",
        "--by",
        "g",
        "--weights",
        "w",
    )
    assert "one value for all groups" not in text


def test_plan_size_prints_json_and_words():
    words = ["plan-size", "--design", FORCED, "--from", "0.10", "--to", "0.15", "--power", "0.80"]
    plan = json.loads(run(*words, "--json"))
    assert plan["n"] == 1299
    assert plan["power"] >= 0.80 > plan["power_at_n_minus_1"]
    assert "n                   1299" in run(*words)
    assert json.loads(run(*words, "--exact", "--json"))["n"] == 1367
    assert json.loads(run(*words, "--two-sample", "--json"))["n"] == 2648
    assert json.loads(run(*words, "--alpha", "0.1", "--json")) == {
        **json.loads(run(*words, "--sides", "1", "--json")),
        "alpha": 0.1,
        "sides": 2,
    }


def test_plan_size_has_other_goals():
    words = ["plan-size", "--design", "coin", "--half-width", "3/100"]
    assert json.loads(run(*words, "--at", "0.10", "--json"))["n"] == 3649
    assert "worst" in run(*words, "--exact")
    one = json.loads(
        run("plan-size", "--design", "direct", "--at", "0.3", "--standard-error", "0.49", "--json")
    )
    assert (one["n"], one["standard_error_at_n_minus_1"]) == (1, None)
    assert "standard error at n minus 1  none" in run(
        "plan-size", "--design", "direct", "--at", "0.3", "--standard-error", "0.49"
    )
    epsilon = json.loads(
        run(
            "plan-size",
            "--half-width",
            "0.03",
            "--at",
            "0.1",
            "--n",
            "2000",
            "--choices",
            "5",
            "--json",
        )
    )
    assert epsilon["epsilon"] == 1.879
    arms = run(
        "plan-size",
        "--design",
        "coin",
        "--design",
        "direct",
        "--shares",
        "2,1",
        "--from",
        "0.1",
        "--to",
        "0.15",
    )
    assert " by coin, " in arms
    assert "plan with --exact" in run(
        "plan-size", "--design", "direct", "--from", "0", "--to", "0.05"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected one of --from and --to, --half-width, --standard-error, got none"),
        (
            ["--design", "coin", "--from", "0.1", "--half-width", "0.1"],
            "got --from and --to and --half-width",
        ),
        (["--design", "coin", "--from", "0.1"], "--to is missing"),
        (["--design", "coin", "--to", "0.1"], "--from is missing"),
        (["--from", "0.1", "--to", "0.2"], "--design is missing"),
        (
            ["--design", "coin", "--from", "ten", "--to", "0.2"],
            "--from must be a number such as 2/3 or 0.25",
        ),
        (
            ["--design", "coin", "--from", "0.1", "--to", "1.2"],
            "--to must be a share, from 0 to 1, got 1.2",
        ),
        (
            ["--design", "coin", "--from", "0.1", "--to", "0.2", "--sides", "1.5"],
            "--sides must be a whole number",
        ),
        (
            ["--design", "coin", "--from", "0.1", "--to", "0.2", "--power", "nan"],
            "--power must be a number",
        ),
        (
            ["--design", "coin", "--from", "0.1", "--to", "0.2", "--power", "0.05"],
            "power must be above alpha",
        ),
        (
            ["--design", "coin", "--from", "0.1", "--to", "0.2", "--shares", "a"],
            "--shares must be a number",
        ),
        (
            ["--design", "coin", "--half-width", "0.1", "--ratio", "2"],
            "--ratio has no meaning with --half-width",
        ),
        (
            ["--design", "coin", "--half-width", "0.1", "--two-sample"],
            "--two-sample has no meaning with --half-width",
        ),
        (
            ["--design", "coin", "--standard-error", "0.1", "--exact"],
            "--exact has no meaning with --standard-error",
        ),
        (
            ["--design", "coin", "--half-width", "0.1", "--power", "0.9"],
            "--power has no meaning with --half-width",
        ),
        (
            ["--design", "coin", "--half-width", "0.1", "--alpha", "0.01"],
            "--alpha has no meaning with --half-width",
        ),
        (
            ["--design", "coin", "--half-width", "0.1", "--choices", "5"],
            "--choices has no meaning with --half-width",
        ),
        (
            ["--design", "coin", "--half-width", "0.1", "--at", "2"],
            "--at must be a share, from 0 to 1, got 2",
        ),
        (
            ["--design", "coin", "--standard-error", "0.1", "--confidence", "0.9"],
            "--confidence has no meaning",
        ),
        (
            ["--design", "coin", "--from", "0.1", "--to", "0.2", "--at", "0.1"],
            "--at has no meaning with --from",
        ),
        (["--half-width", "0.1", "--n", "99", "--exact"], "--exact has no meaning with --n"),
        (
            ["--half-width", "0.1", "--n", "99", "--two-sample"],
            "--two-sample has no meaning with --n",
        ),
        (
            ["--design", "coin", "--design", "direct", "--half-width", "0.1"],
            "--half-width is of one design, got 2",
        ),
        (["--design", "coin", "--half-width", "0.1", "--n", "10"], "--n finds an epsilon"),
        (["--standard-error", "0.1", "--n", "10"], "--n finds an epsilon"),
        (["--half-width", "0.0001", "--n", "10"], "ask more people"),
        (["--design", "coin", "--half-width", "0"], "above 0 and below 0.5, got 0"),
    ],
)
def test_a_plan_that_cannot_be_is_one_sentence(words, said):
    with pytest.raises(SystemExit) as error:
        run("plan-size", *words)
    assert said in str(error.value)


def test_bad_input_is_one_sentence_without_an_answer(write):
    with pytest.raises(SystemExit, match="column 'y', line 3: expected 0 or 1") as error:
        run("analyse", write({"y": [1, 77177]}), "--outcome", "y", "--design", "coin")
    assert "77177" not in str(error.value)


def test_a_terminal_without_our_signs_gets_their_codes(tmp_path, published):
    done = alone(tmp_path, "analyse", published, "--outcome", "smoked", "--design", FORCED)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u03b5 = 1.609 a report" in done.stdout


def test_what_is_wrong_is_said_in_one_line(tmp_path):
    done = alone(tmp_path, "plan-size", "--design", "coin:p=1", "--from", "0.1", "--to", "0.2")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "dpengine: design coin: expected no parts, got 'p' too\n"


def test_help_tells_what_yes_means_for_every_design(capsys):
    with pytest.raises(SystemExit):
        main(["analyse", "--help"])
    said = capsys.readouterr().out
    for words in (
        "P(1 | yes)",
        "crosswise:p=1/4",
        "“same”",
        "unrelated:p=1/2,q=1/12",
        "list:treated=COL,items=4",
    ):
        assert words in said


def piped(monkeypatch, text, *words):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
    return run("analyse", "-", "--design", "coin", "--outcome", "y", *words)


def test_a_minus_is_standard_input(monkeypatch):
    assert json.loads(piped(monkeypatch, "y\n1\n0\n1\n", "--json"))["n"] == 3
    with pytest.raises(
        SystemExit, match="standard input is empty: expected a line of column names"
    ):
        piped(monkeypatch, "")


@pytest.mark.parametrize(
    "words",
    [("--covariates", "x,y^2"), ("--covariates", "C(y)"), ("--by", "y"), ("--weights", "y")],
    ids=" ".join,
)
def test_an_outcome_that_explains_itself_is_refused_by_the_name_of_the_option(monkeypatch, words):
    text = f"{words[0]}: expected other columns than the outcome, got column 'y'"
    with pytest.raises(SystemExit, match=re.escape(text)):
        piped(monkeypatch, "y,x\n1,2\n0,1\n1,1\n0,2\n", *words)


def test_an_outcome_that_is_a_part_of_its_design_is_refused(monkeypatch):
    with pytest.raises(
        SystemExit, match=re.escape("--design: expected other columns than the outcome")
    ):
        piped(monkeypatch, "y,x\n1,2\n0,1\n", "--design", "affine:c0=y/4,c1=1/2")


@pytest.mark.parametrize("width", ["2", "0.5", "1/2", "0", "-0.1"])
@pytest.mark.parametrize("goal", ["--half-width", "--standard-error"])
def test_a_width_that_no_share_has_is_refused(goal, width):
    with pytest.raises(
        SystemExit, match=f"{goal} must be a share, above 0 and below 0.5, got {width}"
    ):
        run("plan-size", "--design", "coin", goal + "=" + width)
    if goal == "--half-width":
        with pytest.raises(SystemExit, match="--half-width must be a share"):
            run("plan-size", "--n", "100", goal + "=" + width)


def test_the_package_is_the_command():
    assert importlib.import_module("dpengine.__main__").main is main
