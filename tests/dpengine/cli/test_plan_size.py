import math

import numpy as np
import pytest
from scipy import stats

from dpengine.cli import plan_size
from dpengine.cli.specs import parse
from dpengine.inference.intervals import Groups, exact_interval
from dpengine.inference.power import Target
from dpengine.inference.shares import binary_share

FORCED = "forced:p=2/3,yes=1/6,no=1/6"


def power(*specs, null=0.10, alternative=0.15, target=Target(), **options):  # noqa: B008 (it is frozen)
    return plan_size.plan_power(specs, null, alternative, target, **options)


def test_the_published_example_needs_1299():
    plan = power(FORCED)
    assert plan.result["n"] == 1299
    assert plan.result["power"] >= 0.8 > plan.result["power_at_n_minus_1"]
    assert plan.result["exact_power"] == pytest.approx(0.7904, abs=1e-4)
    assert plan.warnings == ()


def test_the_exact_test_needs_more():
    assert (power(FORCED, exact=True).result["n"], power(FORCED, exact=True).result["first_n"]) == (
        1367,
        1324,
    )


def test_two_samples_are_counted_each_and_together():
    plan = power(FORCED, two_sample=True)
    assert plan.result["samples"] == [2648, 2648]
    assert (plan.result["n"], plan.result["n_total"]) == (2648, 5296)
    uneven = power(FORCED, two_sample=True, ratio=1.5).result
    assert uneven["samples"] == [uneven["n"], math.ceil(1.5 * uneven["n"])]
    assert uneven["n_total"] == sum(uneven["samples"])


def test_arms_share_the_people_and_no_arm_is_short():
    plan = power(FORCED, "direct", shares=[4, 3])
    sizes = [arm["n"] for arm in plan.result["arms"]]
    assert sizes == [math.ceil(plan.result["n"] * share) for share in (4 / 7, 3 / 7)]
    assert plan.result["n"] % 7  # else nothing is rounded
    assert power("direct").result["n"] < plan.result["n"] < power(FORCED).result["n"]
    assert power(FORCED, FORCED).result["n"] == 1299


def test_an_approximation_that_promises_too_much_says_so():
    plan = power("direct", null=0.0, alternative=0.05)
    assert plan.result["n"] == 14
    assert plan.warnings == (
        "The exact binomial test has power 0.512 with n = 14: plan with --exact.",
    )
    # too many people to try
    assert power("direct", null=0.3, alternative=0.3001).result["exact_power"] is None


def test_a_choice_of_several_is_planned_by_its_margins():
    """keep = 3/5 of k = 5: a = .6, b = .1; a share of 0 has λ = .1, so n = .1·.9/(.5·.02)² =
    900.
    """
    plan = plan_size.plan_standard_error("kary:k=5,keep=3/5", 0.02, 0.0)
    assert plan.result["n"] == 900
    assert plan.result["standard_error"] <= 0.02 < plan.result["standard_error_at_n_minus_1"]


def test_constants_that_are_numbers_can_be_planned():
    assert power("affine:c0=1/6,c1=2/3").result["n"] == 1299


def test_half_widths():
    plan = plan_size.plan_half_width(FORCED, 0.03, 0.10, 0.95)
    assert plan.result["n"] == 1765
    assert plan.method == "Clopper-Pearson interval, mean half-width"
    worst = plan_size.plan_half_width(FORCED, 0.03, None, 0.95)
    assert worst.result["n"] == 2449
    assert worst.method.endswith("largest half-width")


@pytest.mark.parametrize(
    ("design", "wanted", "at", "n"),
    [("direct", 0.02, 0.02, 236), ("coin", 0.15, 0.02, 142), (FORCED, 0.12, 0.3, None)],
)
def test_a_planned_half_width_is_that_of_the_interval_that_an_analysis_prints(
    design, wanted, at, n
):
    """Its mean over all counts, of intervals that are not cut at 0 or 1; what is cut is narrower"""
    result = plan_size.plan_half_width(design, wanted, at, 0.95).result
    assert n in (result["n"], None)
    c0, c1 = (float(part) for part in parse(design).affine)

    def mean(n):
        total = printed = 0.0
        for count, chance in enumerate(stats.binom(n, c0 + c1 * at).pmf(range(n + 1))):
            if chance < 1e-12:
                continue
            groups = Groups(*(np.array([float(each)]) for each in (c0, c1, n, count)))
            low, high = exact_interval(groups, 0.95)
            total += chance * (high - low) / 2
            low, high = binary_share([1] * count + [0] * (n - count), c0, c1).interval
            printed += chance * (high - low) / 2
        assert printed <= total + 1e-9
        return total

    assert mean(result["n"]) == pytest.approx(result["half_width"], abs=1e-9)
    assert mean(result["n"]) <= wanted < mean(result["n"] - 1)


def test_epsilon_for_an_accuracy():
    plan = plan_size.plan_epsilon(0.03, 2000, 0.10, 5, 0.95)
    assert plan.result["epsilon"] == 1.879
    assert plan.result["half_width"] <= 0.03
    assert "randomised response" in plan_size.plan_epsilon(0.05, 2000, None, 2, 0.95).method


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            lambda: power(FORCED, "coin", exact=True),
            "the exact test is for one sample through one design",
        ),
        (lambda: power(FORCED, two_sample=True, exact=True), "the exact test is for one sample"),
        (
            lambda: power(FORCED, "coin", two_sample=True),
            "two samples are asked through one design, got 2",
        ),
        (lambda: power(FORCED, ratio=2.0), "ratio is of two samples: add --two-sample"),
        (lambda: power(FORCED, shares=[1, 2]), "shares must be one for each of 1 designs, got 2"),
        (
            lambda: power("affine:c0=a,c1=b"),
            "a plan needs numbers, as in affine:c0=1/6,c1=2/3; columns are for data",
        ),
        (lambda: power("sld:p=a"), "design sld can be analysed, not planned"),
        (lambda: power(FORCED, null=0.15), "the two shares must differ, got 0.15 twice"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


def test_choices_that_are_treated_differently_have_no_one_plan(tmp_path):
    (tmp_path / "table.json").write_text("[[4, 1, 1], [1, 3, 2], [1, 1, 4]]")
    with pytest.raises(ValueError, match="all choices treated alike"):
        power(f"table:{tmp_path / 'table.json'}")
    (tmp_path / "wide.json").write_text("[[2, 1, 1], [1, 1, 2]]")
    with pytest.raises(ValueError, match="one report per choice"):
        power(f"table:{tmp_path / 'wide.json'}")
