"""An open outcome on a randomised answer, from a file."""

import numpy as np
import pytest

from dpengine.cli.analyse import Request, analyse
from dpengine.cli.files import read_csv
from dpengine.cli.predictors import regression_of
from dpengine.cli.results import document
from dpengine.cli.specs import parse, parse_asked
from dpengine.cli.weighting import Weighting
from dpengine.inference.logistic_predictor import logistic_predictor
from dpengine.inference.predictor import linear_predictor
from dpengine.inference.shares import binary_share
from dpengine.inference.weights import Margin, left_variances, raked

COIN = np.array([[0.75, 0.25], [0.25, 0.75]])
DRUG = parse_asked("--predictor", "drug:coin")


def people(n=400):
    rng = np.random.default_rng(6)
    drug, age = rng.random(n) < 0.4, rng.integers(18, 70, n)
    reports = np.where(rng.random(n) < 0.75, drug, ~drug).astype(int)
    drinks = np.round(2 + 3 * drug + rng.exponential(1, n), 4)
    sad = (rng.random(n) < 0.2 + 0.4 * drug).astype(int)
    return {"drug": reports, "age": age, "drinks": drinks, "sad": sad}


def design(columns):
    return np.column_stack([np.ones(len(columns["age"])), columns["age"]])


def test_a_number_has_the_librarys_linear_regression(write):
    columns = people()
    found = regression_of(read_csv(write(columns)), "drinks", DRUG, "age", Weighting(), 0.9)
    names = ["Intercept", "age"]
    expected = linear_predictor(
        columns["drinks"], columns["drug"], design(columns), names, [COIN], label="drug"
    )
    assert [term.name for term in found.coefficients] == [*names, "drug=1"]
    for terms, theirs in (
        (found.coefficients, expected.coefficients),
        (found.likeliest, expected.likeliest),
    ):
        for term, each in zip(terms, theirs, strict=True):
            assert (term.estimate, term.standard_error) == pytest.approx(
                (each.estimate, each.standard_error)
            )
    reach = 1.644854 * found.coefficients[2].standard_error
    assert found.coefficients[2].interval[1] == pytest.approx(
        found.coefficients[2].estimate + reach
    )
    low, high = found.coefficients[2].interval
    assert low < 3 < high
    assert found.estimate == pytest.approx(columns["drinks"].mean())
    assert found.standard_error == pytest.approx(columns["drinks"].std(ddof=1) / 20)
    assert found.epsilon == pytest.approx(np.log(3))
    assert document(found)["log_likelihood"] is None


def test_a_yes_or_no_has_the_librarys_logistic_regression(write):
    columns = people()
    found = regression_of(read_csv(write(columns)), "sad", DRUG, "", Weighting(), 0.95)
    ones = np.ones((400, 1))
    expected = logistic_predictor(
        columns["sad"], columns["drug"], ones, ["Intercept"], [COIN], label="drug"
    )
    assert [term.estimate for term in found.coefficients] == pytest.approx(
        [each.estimate for each in expected.coefficients]
    )
    share = binary_share(columns["sad"], 0, 1)
    assert (found.estimate, found.interval) == (share.moment, share.interval)
    assert found.share_log_likelihood == share.log_likelihood
    assert found.likeliest is None


def test_codes_from_one_name_the_coefficients(write):
    columns = people()
    columns["drug"] = columns["drug"] + 1
    asked = parse_asked("--predictor", "drug:kary:k=2,keep=3/4,first=1")
    found = regression_of(read_csv(write(columns)), "drinks", asked, "", Weighting(), 0.95)
    assert [term.name for term in found.coefficients] == ["Intercept", "drug=2"]


def test_the_means_error_knows_the_margins(write):
    columns = people()
    young = (columns["age"] < 40).astype(int)
    margin = Margin.of("young", young, np.array([0.3, 0.7]))
    weights = raked(np.ones(400), [margin])
    found = regression_of(
        read_csv(write(columns)), "drinks", DRUG, "", Weighting(weights, (margin,)), 0.95
    )
    values = np.array(columns["drinks"])
    means = [values[young == place].mean() for place in (0, 1)]
    assert found.estimate == pytest.approx(np.dot([0.3, 0.7], means))
    variance = left_variances([values.copy()], weights / 400, [margin])[0]
    assert found.standard_error == pytest.approx(variance**0.5)


def test_groups_of_means_are_tested_by_wald_and_not_contrasted(write):
    columns = people() | {"school": ["arts", "law"] * 200}
    request = Request("drinks", parse("direct"), predictor=DRUG, by="school")
    found = analyse(write(columns), request)
    assert found.groups_test.df == 1
    assert found.contrasts == ()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"design": "coin"}, "--predictor: expected an outcome that was given openly, .* got coin"),
        ({"cross": "age"}, "--cross has no meaning with --predictor"),
        ({"outcome": "drug"}, "--predictor: expected other columns than the outcome"),
        ({"outcome": "word"}, "column 'word', line 2: expected a number"),
        ({"predictor": "nothing:coin"}, "column 'nothing' is not in the file"),
        ({"predictor": "age:coin"}, "column 'age', line 2: expected 0 or 1"),
        ({"outcome": "flat"}, "outcome must not be the same in every row"),
    ],
)
def test_what_has_no_regression_is_refused_by_name(write, options, words):
    columns = people() | {"word": ["a"] * 400, "flat": [7] * 400}
    cross = options.get("cross")
    request = Request(
        options.get("outcome", "drinks"),
        parse(options.get("design", "direct")),
        cross=parse_asked("--cross", cross, is_open=True) if cross else None,
        predictor=parse_asked("--predictor", options.get("predictor", "drug:coin")),
    )
    with pytest.raises(ValueError, match=words):
        analyse(write(columns), request)
