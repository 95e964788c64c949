import json
import math
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpengine.cli import files
from dpengine.cli.analyse import Request, analyse
from dpengine.cli.results import document
from dpengine.cli.specs import parse, parse_asked
from dpengine.inference.designs import cheating_detection, stochastic_lie_detector
from dpengine.inference.logistic import logistic
from dpengine.inference.multinomial import multinomial
from dpengine.inference.shares import binary_share, category_shares

WADA = Path(__file__).parents[2] / "data" / "wada_monkey.csv"
FORCED = "forced:p=2/3,yes=1/6,no=1/6"
KEYS = {
    "n",
    "estimate",
    "maximum_likelihood",
    "standard_error",
    "interval",
    "confidence",
    "epsilon",
    "coefficients",
    "log_likelihood",
    "deviance",
    "fit",
    "warnings",
}


def found(path, outcome, design, **options):
    """Return the JSON of an analysis, proved to be JSON."""
    text = json.dumps(
        document(analyse(path, Request(outcome, parse(design), **options))), allow_nan=False
    )
    return json.loads(text)


def people(seed=20260517, n=600):
    """Made-up respondents: an age, a school, and whether they smoke, which age decides in part."""
    rng = np.random.default_rng(seed)
    age, school = rng.integers(18, 70, n), rng.choice(["arts", "law", "physics"], n)
    smokes = rng.random(n) < 1 / (1 + np.exp(2 - age / 30))
    return rng, {"age": age, "school": school}, smokes


def test_the_published_example(published):
    """52 yes of 350: moment −0.027, likeliest 0, Clopper-Pearson to 0.035, profile to 0.039
    (Issue 3).
    """
    answer = found(published, "smoked", FORCED)
    assert set(answer) == KEYS | {"profile"}
    assert answer["n"] == 350
    assert answer["estimate"] == pytest.approx((52 / 350 - 1 / 6) * 1.5)
    assert answer["maximum_likelihood"] == 0
    assert answer["standard_error"] == pytest.approx(math.sqrt(52 * 298 / 350**3) * 1.5)
    assert answer["interval"] == pytest.approx([0, 0.0353], abs=1e-4)
    assert answer["profile"] == pytest.approx([0, 0.0392], abs=1e-4)
    assert answer["epsilon"] == pytest.approx(math.log(5))
    assert answer["deviance"] == -2 * answer["log_likelihood"]
    assert answer["coefficients"] == []
    assert "outside 0 to 1" in answer["warnings"][0]
    assert all(words[0].isupper() and words.endswith(".") for words in answer["warnings"])


def test_direct_answers_have_no_finite_epsilon(published):
    answer = found(published, "smoked", "direct")
    assert answer["estimate"] == pytest.approx(52 / 350)
    assert answer["epsilon"] is None
    assert any("psilon is infinite" in words for words in answer["warnings"])


def test_confidence_is_passed_on(published):
    narrow, wide = (
        found(published, "smoked", "direct", confidence=c)["interval"] for c in (0.5, 0.99)
    )
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    with pytest.raises(ValueError, match="confidence must be between 0 and 1, got 95"):
        found(published, "smoked", "direct", confidence=95)


def test_blanks_are_counted_and_said(write):
    path = write(
        {"y": ["1", "", "0", "NA", "yes"], "age": [1, 2, "", 3, 4], "unused": ["", "", "", "", ""]}
    )
    assert found(path, "y", "coin")["n"] == 3
    answer = found(path, "y", "coin", by="age")
    assert answer["n"] == 2
    assert "3 of 5 rows were left out: blank or NA in y (2), age (1)." in answer["warnings"]


@pytest.mark.parametrize(
    ("outcome", "design", "words"),
    [
        ("x", FORCED, "column 'x' is not in the file"),
        ("odd", FORCED, "column 'odd', line 3: expected 0 or 1"),
        ("odd", "kary:k=3,epsilon=1", "column 'odd', line 3: expected a whole number from 0 to 2"),
        ("empty", FORCED, "n = 0: all 2 of 2 rows were left out: blank or NA in empty"),
        (
            "y",
            "affine:c0=odd,c1=1",
            "design affine, line 3: c0 must be a chance, from 0 to 1, got 7",
        ),
        ("y", "affine:c0=p,c1=2*p", "line 3: c0 \\+ c1 must be a chance, from 0 to 1, got 1.5"),
        ("y", "affine:c0=p,c1=0", "nothing can be learned"),
        ("y", "affine:c0=q,c1=p", "expected a column, one of .*, got 'q'"),
        ("y", "sld:p=0.3", "cannot be told apart"),
        ("y", "sld:p=p,group=p+1", "design sld: group must be a column, got 'p\\+1'"),
        ("y", "list:treated=odd,items=3", "column 'odd', line 3"),
    ],
)
def test_what_cannot_be_analysed_is_refused_by_name(write, outcome, design, words):
    path = write({"y": [1, 0], "odd": [0, 7], "p": [0.1, 0.5], "empty": ["", "NA"]})
    with pytest.raises(ValueError, match=words):
        found(path, outcome, design)


def test_affine_constants_of_each_row(write):
    rng, columns, smokes = people()
    columns["p"] = np.where(rng.random(len(smokes)) < 0.5, 0.2, 0.8)
    columns["same"] = np.where(rng.random(len(smokes)) < columns["p"], smokes, ~smokes).astype(int)
    answer = found(write(columns), "same", "affine:c0=1-p,c1=2*p-1")
    expected = binary_share(columns["same"], 1 - columns["p"], 2 * columns["p"] - 1)
    assert answer["estimate"] == pytest.approx(expected.moment)
    assert answer["maximum_likelihood"] == pytest.approx(expected.maximum_likelihood)
    assert answer["interval"] == pytest.approx(expected.interval)
    assert answer["fit"] == {
        "G2": pytest.approx(expected.fit.g2),
        "df": 1,
        "p": pytest.approx(expected.fit.p),
    }
    assert answer["epsilon"] == pytest.approx(math.log(4))
    # .2 and .8 give away the same
    assert not any("gives away most" in words for words in answer["warnings"])


@pytest.mark.parametrize(
    ("c0", "c1", "epsilon"),
    [
        ([0.25, 0.1], [0.5, 0.8], math.log(9)),
        ([0.25, 0], [0.5, 1], None),
        ([0.25, 0.5], [0.5, 0], math.log(3)),
    ],
)
def test_epsilon_is_the_largest_of_any_row(write, c0, c1, epsilon):
    answer = found(write({"y": [1, 0], "a": c0, "b": c1}), "y", "affine:c0=a,c1=b")
    assert answer["epsilon"] == (None if epsilon is None else pytest.approx(epsilon))
    assert any("the row that gives away most" in words for words in answer["warnings"])


@pytest.mark.parametrize(
    ("item", "share", "g2"),
    [
        ("tested", 0.2997, 6.67),
        ("supplements", 0.4834, 0.47),
        ("psychoactive", 0.4812, 0.47),
        ("doping", 0.1425, 11.96),
    ],
)
def test_the_doping_survey(item, share, g2):
    """Shares and G² of tests/bench/wada.py: the same file, as arrays."""
    answer = found(str(WADA), f"{item}_same", f"affine:c0=1-{item}_p,c1=2*{item}_p-1")
    assert (answer["n"], answer["fit"]["df"]) == (1506, 1)
    assert answer["estimate"] == pytest.approx(share, abs=1e-4)
    assert answer["fit"]["G2"] == pytest.approx(g2, abs=0.01)


def test_choices_are_lists(write):
    codes = [1, 2, 2, 3, 3, 3] * 20
    answer = found(write({"often": codes}), "often", "kary:k=3,keep=4/5,first=1")
    expected = category_shares(np.array(codes) - 1, [np.full((3, 3), 0.1) + 0.7 * np.eye(3)])
    assert set(answer) == KEYS | {"choices", "simultaneous"}
    assert answer["choices"] == [1, 2, 3]
    assert answer["estimate"] == pytest.approx(expected.moments)
    assert answer["standard_error"] == pytest.approx(expected.standard_errors)
    assert np.array(answer["interval"]) == pytest.approx(np.array(expected.intervals))
    assert np.array(answer["simultaneous"]) == pytest.approx(np.array(expected.simultaneous))
    assert answer["epsilon"] == pytest.approx(math.log(8))


def test_a_table_of_two_answers_and_three_reports(write, tmp_path):
    (tmp_path / "table.json").write_text("[[2, 1, 1], [1, 1, 2]]")
    answer = found(
        write({"report": [0, 0, 0, 1, 2] * 10}), "report", f"table:{tmp_path / 'table.json'}"
    )
    assert answer["choices"] == [0, 1]
    assert sum(answer["estimate"]) == pytest.approx(1)


def test_a_binary_table_may_have_codes_from_one(write, tmp_path):
    (tmp_path / "coin.json").write_text("[[3, 1], [1, 3]]")
    path = write({"report": [1, 1, 2]})
    assert found(path, "report", f"table:{tmp_path / 'coin.json'},first=1")[
        "estimate"
    ] == pytest.approx(1 / 6)


def test_covariates_give_the_regression_of_the_same_columns(write):
    rng, columns, smokes = people()
    columns["y"] = np.where(rng.random(len(smokes)) < 0.75, smokes, ~smokes).astype(int)
    answer = found(write(columns), "y", "coin", covariates="age/10,(age/10)^2,school")
    age = columns["age"] / 10
    design = np.column_stack(
        [np.ones(600), age, age**2, columns["school"] == "law", columns["school"] == "physics"]
    )
    names = ["Intercept", "age/10", "(age/10)^2", "school[T.law]", "school[T.physics]"]
    expected = logistic(columns["y"], design, names, 0.25, 0.5)
    assert [each["name"] for each in answer["coefficients"]] == names
    for each, coefficient in zip(answer["coefficients"], expected.coefficients, strict=True):
        assert each["estimate"] == pytest.approx(coefficient.estimate)
        assert each["standard_error"] == pytest.approx(coefficient.standard_error)
        assert each["z"] == pytest.approx(coefficient.z)
        assert each["p_value"] == pytest.approx(coefficient.p)
        reach = 1.959964 * coefficient.standard_error
        ends = (coefficient.estimate - reach, coefficient.estimate + reach)
        assert each["interval"] == pytest.approx(ends)
    assert answer["log_likelihood"] == pytest.approx(expected.log_likelihood)
    assert answer["deviance"] == pytest.approx(-2 * expected.log_likelihood)
    share = binary_share(columns["y"], 0.25, 0.5)
    assert answer["estimate"] == pytest.approx(share.moment)
    assert answer["covariates_test"]["df"] == 4
    assert answer["covariates_test"]["G2"] == pytest.approx(
        2 * (expected.log_likelihood - share.log_likelihood)
    )


def test_covariates_of_a_question_with_choices(write):
    rng, columns, smokes = people()
    often = np.where(smokes, 1 + rng.integers(0, 2, len(smokes)), 0)
    columns["often"] = (
        np.where(rng.random(len(smokes)) < 0.7, often, rng.integers(0, 3, len(smokes))) + 1
    )
    answer = found(write(columns), "often", "kary:k=3,keep=4/5,first=1", covariates="age/10")
    design = np.column_stack([np.ones(600), columns["age"] / 10])
    expected = multinomial(
        columns["often"] - 1,
        design,
        ["Intercept", "age/10"],
        [np.full((3, 3), 0.1) + 0.7 * np.eye(3)],
    )
    assert [each["name"] for each in answer["coefficients"]] == [
        "2: Intercept",
        "2: age/10",
        "3: Intercept",
        "3: age/10",
    ]
    estimates = [each["estimate"] for each in answer["coefficients"]]
    assert estimates == pytest.approx([each.estimate for each in expected.coefficients])
    assert answer["covariates_test"]["df"] == 2


def test_separated_covariates_have_null_for_infinity_and_a_warning(write):
    answer = found(write({"y": [0] * 20 + [1] * 20, "x": range(40)}), "y", "direct", covariates="x")
    assert answer["coefficients"][1]["standard_error"] is None
    assert answer["coefficients"][1]["interval"] == [None, None]
    # not p = 1
    assert (answer["coefficients"][1]["z"], answer["coefficients"][1]["p_value"]) == (None, None)
    # its own name
    assert any(words.startswith("x: no finite estimate") for words in answer["warnings"])
    assert any("separation" in words for words in answer["warnings"])


def test_warnings_name_the_codes_of_the_file(write):
    path = write({"c": [1, 2] * 40, "x": [*range(8)] * 10})
    answer = found(path, "c", "kary:k=3,epsilon=3,first=1", covariates="x")
    assert [each["name"] for each in answer["coefficients"]] == [
        "2: Intercept",
        "2: x",
        "3: Intercept",
        "3: x",
    ]
    assert any(words.startswith("3: x: no finite estimate") for words in answer["warnings"])
    assert any("1 of 3 choices lie outside 0 to 1 (3)" in words for words in answer["warnings"])


def test_a_covariate_that_is_told_by_others_is_refused(write):
    with pytest.raises(ValueError, match="2\\*x"):
        found(write({"y": [0, 1, 0, 1], "x": [1, 2, 3, 5]}), "y", "coin", covariates="x,2*x")


def test_groups_are_analysed_alone_and_tested_together(write):
    path = write({"y": [1] * 30 + [0] * 30 + [1] * 10 + [0] * 50, "wave": ["10"] * 60 + ["9"] * 60})
    answer = found(path, "y", "coin", by="wave")
    (against,) = answer["contrasts"]
    assert (against["value"], against["base"]) == ("10", "9")
    assert against["difference"] == pytest.approx(0.5)  # of likeliest shares: 0 and .5
    assert against["difference_interval"][0] > 0.1
    assert (against["ratio"], against["odds_ratio"]) == (None, None)  # infinite
    assert against["odds_ratio_interval"][1] is None
    assert [group["value"] for group in answer["groups"]] == ["9", "10"]
    assert [group["estimate"] for group in answer["groups"]] == pytest.approx(
        [(1 / 6 - 0.25) * 2, 0.5]
    )
    likelihoods = [group["log_likelihood"] for group in answer["groups"]]
    assert answer["groups_test"]["G2"] == pytest.approx(
        2 * (sum(likelihoods) - answer["log_likelihood"])
    )
    assert answer["groups_test"]["df"] == 1
    assert answer["groups_test"]["p"] < 0.001


def test_groups_of_choices_are_tested_on_all_of_them(write):
    answer = found(
        write({"c": [0, 1, 2] * 30, "g": [*"ab"] * 45}), "c", "kary:k=3,keep=4/5", by="g"
    )
    assert answer["groups_test"]["df"] == 2
    assert answer["groups_test"]["p"] > 0.5
    assert [(each["value"], each["choice"]) for each in answer["contrasts"]] == [
        ("b", 0), ("b", 1), ("b", 2),
    ]  # fmt: skip
    assert answer["contrasts"][2]["odds_ratio_interval"][0] < 1


def test_a_second_column_is_crossed_through_its_own_channel(write):
    path = write({"y": [0, 1, 1, 0] * 30, "c": [1, 2, 3, 3] * 30, "g": ["a", "b"] * 60})
    drug = parse_asked("--cross", "c:kary:k=3,keep=4/5,first=1")
    answer = found(path, "y", "coin", cross=drug, by="g")
    assert set(answer["cross"]) == {"column", "cells", "independence", "odds_ratio", "epsilon"}
    assert answer["cross"]["epsilon"] == pytest.approx(math.log(3) + math.log(8))
    assert len(answer["cross"]["cells"]) == 6
    assert sum(cell["estimate"] for cell in answer["cross"]["cells"]) == pytest.approx(1)
    assert answer["cross"]["independence"]["df"] == 2
    assert answer["groups"][0]["cross"]["column"] == "c"
    with pytest.raises(ValueError, match="--cross: expected other columns than the outcome, got"):
        found(path, "y", "coin", cross=parse_asked("--cross", "y:coin"))
    with pytest.raises(ValueError, match="--cross: a table through ecwm is not possible"):
        found(path, "y", "ecwm:p=1/4", cross=drug)


def test_rows_are_weighted_to_the_population(write):
    rng, columns, smokes = people()
    columns["y"] = np.where(rng.random(len(smokes)) < 0.75, smokes, ~smokes).astype(int)
    shares = write({"value": ["arts", "law", "physics"], "share": [0.6, 0.3, 0.1]}, "school.csv")
    path = write(columns)
    answer = found(path, "y", "coin", population=(("school", shares),), covariates="age")
    plain = found(path, "y", "coin", by="school")
    parts = [group["estimate"] for group in plain["groups"]]
    assert answer["estimate"] == pytest.approx(np.dot([0.6, 0.3, 0.1], parts))
    assert answer["effective_n"] < 600
    assert "covariates_test" not in answer
    assert "effective_n" not in plain
    with pytest.raises(ValueError, match="--poststratify: expected other columns than the outcome"):
        found(path, "y", "coin", population=(("y", shares),))


def test_a_group_too_small_for_the_regression_says_so_and_is_still_estimated(write):
    path = write({"y": [0, 1, 1, 0, 1, 0, 1, 0], "x": [1, 2, 3, 4, 4, 3, 1, 7], "g": [*"aaaaaaab"]})
    answer = found(path, "y", "coin", covariates="x", by="g")
    assert len(answer["groups"][0]["coefficients"]) == 2
    assert answer["groups"][1]["coefficients"] == []
    assert answer["groups"][1]["warnings"][0].startswith("No regression of this group: ")


def test_groups_must_be_some(write):
    path = write({"y": [0, 1] * 60, "one": [1] * 120, "id": range(120), "p": [0.2, 0.3] * 60})
    for by, came in (("one", 1), ("id", 120)):
        with pytest.raises(
            ValueError, match=f"column '{by}' must have 2 to 100 different values, got {came}"
        ):
            found(path, "y", "coin", by=by)
    with pytest.raises(ValueError, match=r"p = 0\.2: .* cannot be told apart"):
        found(path, "y", "sld:p=p", by="p")


def test_weights_are_those_of_the_shares_and_of_the_regression(write):
    rng, columns, smokes = people()
    columns["y"] = np.where(rng.random(len(smokes)) < 0.75, smokes, ~smokes).astype(int)
    columns["w"] = np.round(rng.random(len(smokes)) + 0.5, 3)
    answer = found(write(columns), "y", "coin", covariates="age", weights="w", by="school")
    share = binary_share(columns["y"], 0.25, 0.5, columns["w"])
    assert answer["estimate"] == pytest.approx(share.moment)
    assert answer["standard_error"] == pytest.approx(share.standard_error)
    design = np.column_stack([np.ones(600), columns["age"]])
    fitted = logistic(columns["y"], design, ["Intercept", "age"], 0.25, 0.5, columns["w"])
    assert answer["coefficients"][1]["standard_error"] == pytest.approx(
        fitted.coefficients[1].standard_error
    )
    assert "covariates_test" not in answer
    errors = np.array([group["standard_error"] for group in answer["groups"]])
    values = np.array([group["estimate"] for group in answer["groups"]])
    mean = (values / errors**2).sum() / (1 / errors**2).sum()
    assert answer["groups_test"]["G2"] == pytest.approx((((values - mean) / errors) ** 2).sum())
    assert answer["groups_test"]["df"] == 2


def test_weights_of_nought_are_left_out_and_said(write):
    path = write({"y": [1, 0, 1, 0], "w": [1, 0, 2, 1], "neg": [1, -1, 1, 1], "none": [0] * 4})
    answer = found(path, "y", "coin", weights="w")
    assert answer["n"] == 3
    assert "1 row was left out: weight 0." in answer["warnings"]
    with pytest.raises(ValueError, match="column 'neg', line 3: weights must be 0 or more"):
        found(path, "y", "coin", weights="neg")
    with pytest.raises(ValueError, match="n = 0: every weight in column 'none' is 0"):
        found(path, "y", "coin", weights="none")


def test_choices_with_weights_have_no_test_of_groups(write):
    path = write({"c": [0, 1, 2] * 30, "g": [*"ab"] * 45, "w": [1, 2, 3] * 30})
    answer = found(path, "c", "kary:k=3,keep=4/5", by="g", weights="w")
    assert "groups_test" not in answer
    assert any("No test that the groups share one value" in words for words in answer["warnings"])


def lie_detector():
    """yes .5 at p = .4 and .32 at p = .7: π̂ = .4, t̂ = .35 (designs.py)."""
    yes, halves = [1] * 50 + [0] * 50 + [1] * 32 + [0] * 68, [*"a" * 100, *"b" * 100]
    return {"yes": yes, "odds": [0.4 if half == "a" else 0.7 for half in halves], "half": halves}


def test_the_stochastic_lie_detector(write):
    columns = lie_detector()
    answer = found(write(columns), "yes", "sld:p=odds,group=half")
    expected = stochastic_lie_detector(columns["yes"], columns["odds"], columns["half"])
    assert set(answer) == KEYS | {"parameters"}
    assert [each["name"] for each in answer["parameters"]] == ["pi", "t"]
    assert answer["estimate"] == answer["parameters"][0]["estimate"] == pytest.approx(0.4)
    assert answer["parameters"][1]["estimate"] == pytest.approx(0.35)
    assert answer["interval"] == pytest.approx(expected["pi"].interval)
    assert answer["epsilon"] is None
    with pytest.raises(ValueError, match="covariates: a regression through sld is not possible"):
        found(write(columns), "yes", "sld:p=odds", covariates="odds")


def test_groups_of_a_two_parameter_design_are_tested_on_the_share(write):
    columns = {name: values * 2 for name, values in lie_detector().items()}
    columns["wave"] = [1] * 200 + [2] * 200
    answer = found(write(columns), "yes", "sld:p=odds", by="wave")
    assert answer["groups_test"] == {"G2": pytest.approx(0), "df": 1, "p": pytest.approx(1)}


def test_the_other_imported_designs(write):
    """By-hand values from designs.py, anchor.py and lists.py."""
    halves = [0.25] * 100 + [0.75] * 100
    cheating = write({"y": [1] * 44 + [0] * 56 + [1] * 64 + [0] * 36, "p": halves}, "cdm.csv")
    answer = found(cheating, "y", "cdm:p=p")
    assert [each["name"] for each in answer["parameters"]] == ["pi", "beta", "gamma"]
    assert [each["estimate"] for each in answer["parameters"]] == pytest.approx([0.34, 0.4, 0.26])
    assert found(cheating, "y", "cdm:p=p,no=1/10")["estimate"] == pytest.approx(
        cheating_detection([1] * 44 + [0] * 56 + [1] * 64 + [0] * 36, halves, no=0.1)["pi"].moment
    )
    unrelated = write(
        {"y": [1] * 38 + [0] * 62 + [1] * 42 + [0] * 58, "p": [0.7] * 100 + [0.3] * 100}, "two.csv"
    )
    assert found(unrelated, "y", "unrelated2:p=p")["estimate"] == pytest.approx(0.35)
    crosswise = write(
        {"y": [1] * 712 + [0] * 288 + [1] * 388 + [0] * 612, "p": [0.2] * 1000 + [0.8] * 1000},
        "ecwm.csv",
    )
    assert found(crosswise, "y", "ecwm:p=p,group=p")["estimate"] == pytest.approx(0.2)
    cards = write({"red": [0, 1, 2, 3] * 10})
    answer = found(cards, "red", "kuk:p1=4/5,p2=1/5,repeats=3")
    assert (answer["estimate"], answer["epsilon"]) == (
        pytest.approx(0.5),
        pytest.approx(3 * math.log(4)),
    )
    answer = found(cards, "red", "kuk:p1=1,p2=1/5,repeats=3")
    assert answer["epsilon"] is None
    assert "Epsilon is infinite: some reports prove or rule out an answer." in answer["warnings"]
    counts = write({"count": [1, 2, 2, 3] * 10, "treated": ["no", "no", "yes", "yes"] * 10})
    assert found(counts, "count", "list:treated=treated,items=3")["estimate"] == pytest.approx(1.0)
    anchored = write({"y": [1, 1, 0, 0, 1] * 20, "check": [1, 1, 1, 0, 1] * 20})
    assert (
        found(anchored, "y", "anchored:p=1/4,anchor=check,anchor_p=1/5")["parameters"][1]["name"]
        == "attentive"
    )


def test_intervals_that_hold_together_are_wider_by_as_many_as_there_are(tmp_path):
    """By hand: 1 of all, 4 of groups, 3 of each contrast; and 2 coefficients for all and each."""
    path = tmp_path / "answers.csv"
    rows = [f"{i % 5 % 2},{i % 4},{i % 7}" for i in range(400)]
    path.write_text("\n".join(["said,team,age", *rows]))
    request = Request("said", parse("coin"), by="team", simultaneous=True)
    together = analyse(str(path), request)
    each = analyse(str(path), Request("said", parse("coin"), by="team", confidence=1 - 0.05 / 14))
    assert together.intervals == 14
    assert together.confidence == pytest.approx(1 - 0.05 / 14)
    for one, other in zip(together.groups, each.groups, strict=True):
        assert one.interval == pytest.approx(other.interval)
    assert together.warnings[0] == (
        "All 14 intervals hold together with 95 % (Bonferroni): each has a confidence of 99.6429 %."
    )
    assert "also drawn" in each.warnings[0]  # whose intervals hold on average over the groups
    assert each.warnings[1:] == together.warnings[1:]
    several = analyse(str(path), replace(request, covariates="age"))
    assert several.intervals == 24
    crossed = analyse(
        str(path), replace(request, by="", cross=parse_asked("", "age:kary:k=7,keep=1/2"))
    )
    assert crossed.intervals == 15  # cells of 2 by 7
    alone = analyse(str(path), replace(request, by=""))
    assert (alone.confidence, alone.intervals, alone.warnings) == (0.95, 1, ())


BYTES = 120  # a row: 90 are used; lists of words and numbers would be 400 and more


@pytest.mark.parametrize(("spec", "weights"), [(FORCED, "weight"), ("affine:c0=c0,c1=.5", "")])
def test_memory_is_of_a_few_bytes_a_row_of_the_columns_that_are_used(tmp_path, spec, weights):
    rows, path = 50_000, tmp_path / "answers.csv"
    lines = [f"{i % 3 % 2},{1 + i / rows:.6f},.{i % 2 + 1},{i:0100}" for i in range(rows)]
    request = Request("said", parse(spec), weights=weights)
    for used in (100, rows):  # a few rows first: what is loaded then is no row's
        path.write_text("\n".join(["said,weight,c0,unused", *lines[:used]]))
        tracemalloc.start()
        try:
            assert analyse(str(path), request).n == used
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < BYTES * rows


@pytest.mark.parametrize("design", ["forced:p=2/3,yes=1/6,no=1/6", "kary:k=3,keep=1/2"])
@pytest.mark.parametrize("options", [{}, {"weights": "w"}])
def test_rows_that_are_alike_count_once_each_and_change_no_regression(
    write, monkeypatch, design, options
):
    """A million of them take a few hundred rows; a row each is what it is compared with."""
    rng = np.random.default_rng(5)
    answers = 3 if design.startswith("kary") else 2
    path = write(
        {
            "said": rng.integers(0, answers, 1500),
            "age": rng.integers(20, 40, 1500),
            "sex": rng.choice(["f", "m"], 1500),
            "w": rng.choice([0, 1, 2.5], 1500),
        }
    )
    once = found(path, "said", design, covariates="age/10,sex", **options)
    monkeypatch.setattr(files, "MOST_DIFFERENT", 0)
    each = found(path, "said", design, covariates="age/10,sex", **options)
    for one, other in zip(once.pop("coefficients"), each.pop("coefficients"), strict=True):
        assert one.pop("name") == other.pop("name")
        assert one.pop("interval") == pytest.approx(other.pop("interval"), rel=1e-8)
        assert one == pytest.approx(other, rel=1e-8)
    for name in ("fit", "covariates_test"):
        assert (once.pop(name, None) or {}) == pytest.approx(each.pop(name, None) or {}, rel=1e-6)
    for name in ("log_likelihood", "deviance"):
        assert once.pop(name) == pytest.approx(each.pop(name), rel=1e-12)
    assert once == each


def test_lines_that_are_wrong_are_all_counted_though_they_are_alike(write):
    path = write({"said": [0, 1] * 20, "age": [0, 1, 2, 3] * 10})
    with pytest.raises(ValueError, match=r"line 2: not a finite number \(and 9 more lines\)"):
        found(path, "said", "direct", covariates="1/age")
