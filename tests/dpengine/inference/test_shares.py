"""Shares of yes and of choices: by hand, on published data, against one another, and in
simulated surveys.
"""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from dpengine.estimates import clopper_pearson
from dpengine.inference.intervals import agreed_error
from dpengine.inference.shares import binary_share, category_shares

DATA = Path(__file__).parents[2] / "data"
COIN = np.array([[0.75, 0.25], [0.25, 0.75]])
KARY = np.full((7, 7), 0.1) + np.eye(7) * 0.3  # keeps .4
DIRECT = np.eye(2)


def yes_no(yes, n):
    return np.repeat([1, 0], [yes, n - yes])


def wada(item):
    with (DATA / "wada_monkey.csv").open() as file:
        answers = [
            (int(row[f"{item}_same"]), float(row[f"{item}_p"])) for row in csv.DictReader(file)
        ]
    same, p = np.array(answers).T
    return same, 1 - p, 2 * p - 1


def test_the_published_forced_response_example():
    found = binary_share(yes_no(52, 350), 1 / 6, 2 / 3)
    assert found.moment == pytest.approx(-0.02714, abs=1e-5)
    assert found.maximum_likelihood == 0
    assert found.interval == (0, pytest.approx(0.03534, abs=1e-5))
    assert found.profile == (0, pytest.approx(0.03920, abs=1e-5))
    # Warner's
    assert found.standard_error == pytest.approx(math.sqrt(52 / 350 * 298 / 350 / 350) * 3 / 2)
    assert found.fit.df == 0
    assert found.fit.p is None
    assert found.fit.g2 == pytest.approx(
        2 * (52 * math.log(52 / 350 * 6) + 298 * math.log(298 / 350 * 6 / 5))
    )
    assert "non-compliance" in found.warnings[0]


def test_direct_answers_have_clopper_and_pearsons_interval():
    found = binary_share(yes_no(10, 100), 0, 1)
    assert found.moment == found.maximum_likelihood == 0.1
    assert found.standard_error == pytest.approx(0.03)
    assert found.interval == pytest.approx(clopper_pearson(10, 100))
    assert found.log_likelihood == pytest.approx(10 * math.log(0.1) + 90 * math.log(0.9))
    assert found.warnings == ()


def test_a_negative_constant_is_a_yes_that_means_no():
    """Crosswise with p = 1/4: 60 of 100 say the same."""
    found = binary_share(yes_no(60, 100), 0.75, -0.5)
    plain = binary_share(yes_no(40, 100), 0.25, 0.5)
    assert found.moment == pytest.approx(plain.moment) == pytest.approx(0.3)
    assert found.interval == pytest.approx(plain.interval)
    assert found.standard_error == pytest.approx(plain.standard_error)


@pytest.mark.parametrize(
    ("item", "share", "g2"),
    [
        ("tested", 0.29969, 6.6714),
        ("supplements", 0.48340, 0.4701),
        ("psychoactive", 0.48119, 0.4730),
        ("doping", 0.14254, 11.9613),
    ],
)
def test_the_doping_survey(item, share, g2):
    """One group's "same" and the other's "different" speak for yes, both with chance .2 + .6·π:
    their share inverts.

    The likelihood is that of `logistic` in github MaartenCruyff/wada. G² by hand from the four
    counts: doping has 241 same of 738 and 189 different of 768, where 738λ and 768λ are expected, λ
    = 430/1506.
    """
    same, c0, c1 = wada(item)
    found = binary_share(same, c0, c1)
    favouring = np.where(c1 > 0, same, 1 - same).sum()
    assert found.maximum_likelihood == pytest.approx((favouring / 1506 - 0.2) / 0.6)
    assert found.maximum_likelihood == pytest.approx(share, abs=1e-5)
    assert found.moment == pytest.approx(found.maximum_likelihood)
    assert found.fit.g2 == pytest.approx(g2, abs=1e-4)
    assert found.fit.df == 1
    assert [
        warning for warning in found.warnings if "non-compliance may be at work" in warning
    ] == list(found.warnings)
    assert bool(found.warnings) == (found.fit.p < 0.05)


def test_the_likeliest_share_of_two_arms_is_what_a_general_optimiser_finds():
    yes, c0, c1 = (
        np.repeat([1, 0, 1, 0], [30, 70, 6, 94]),
        np.repeat([0.25, 0], 100),
        np.repeat([0.5, 1], 100),
    )

    def minus(share):
        reported = c0 + c1 * share
        return -np.sum(np.log(np.where(yes == 1, reported, 1 - reported)))

    best = optimize.minimize_scalar(
        minus, bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-10}
    )
    found = binary_share(yes, c0, c1)
    assert found.maximum_likelihood == pytest.approx(best.x, abs=1e-7)
    assert found.log_likelihood == pytest.approx(-best.fun)
    h = 1e-4
    curvature = (minus(best.x + h) - 2 * minus(best.x) + minus(best.x - h)) / h**2
    assert found.standard_error == pytest.approx(curvature**-0.5, rel=1e-4)


def test_several_constants_have_an_unbiased_moment_estimate():
    """Its mean over all reports that could come, weighted by their chances, is the share."""
    c0, c1, share = np.array([0.25, 0.0, 0.8]), np.array([0.5, 1.0, -0.6]), 0.3
    mean = 0.0
    for reports in np.ndindex(2, 2, 2):
        chances = np.where(np.array(reports) == 1, c0 + c1 * share, 1 - c0 - c1 * share)
        mean += chances.prod() * binary_share(reports, c0, c1).moment
    assert mean == pytest.approx(share)


def test_arms_of_a_binary_question_are_the_same_as_categories():
    rng = np.random.default_rng(3)
    arm, yes = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    c0, c1 = np.where(arm == 1, 0, 0.25), np.where(arm == 1, 1, 0.5)
    binary, both = binary_share(yes, c0, c1), category_shares(yes, [COIN, DIRECT], arm)
    assert both.maximum_likelihood[1] == pytest.approx(binary.maximum_likelihood, abs=1e-6)
    assert both.moments[1] == pytest.approx(binary.moment)
    assert both.standard_errors[1] == pytest.approx(binary.standard_error, rel=1e-5)
    assert both.log_likelihood == pytest.approx(binary.log_likelihood)
    assert (both.fit.g2, both.fit.df) == (pytest.approx(binary.fit.g2), binary.fit.df)


@pytest.mark.parametrize("scale", [1, 7.5])
def test_equal_weights_change_nothing(scale):
    yes, c0, c1 = (
        np.repeat([1, 0, 1, 0], [30, 70, 6, 94]),
        np.repeat([0.25, 0], 100),
        np.repeat([0.5, 1], 100),
    )
    assert binary_share(yes, c0, c1, np.full(200, scale)) == binary_share(yes, c0, c1)


def test_weights_by_hand():
    """Two reports of weight 3 and two of 1, coin: λ̂ = 3/4; V = 4/3·Σ w²(yes − λ̂)²/64 over the
    contrast squared.
    """
    found = binary_share([1, 0, 1, 0], 0.25, 0.5, [3, 1, 3, 1])
    assert found.moment == pytest.approx((0.75 - 0.25) / 0.5)
    variance = 4 / 3 * (2 * 9 * 0.25**2 + 2 * 1 * 0.75**2) / 64 / 0.25
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    effective = 0.75 * 0.25 / (variance * 0.25)
    reported = clopper_pearson(0.75 * min(effective, 4), min(effective, 4))
    assert found.interval == pytest.approx(
        tuple(min(max((limit - 0.25) / 0.5, 0), 1) for limit in reported)
    )


@pytest.mark.parametrize(("arms", "runs", "least"), [(1, 600, 553), (2, 150, 133)])
def test_weighted_intervals_hold_as_often_as_they_say(arms, runs, least):
    """Surveys of 200 with gamma weights, seed 11. 95 % less 3.5 standard errors: chance falls
    below in 0.02 %.
    """
    rng, held = np.random.default_rng(11), 0
    for _ in range(runs):
        direct = rng.random(200) < (arms - 1) / 2
        c0, c1 = np.where(direct, 0, 0.25), np.where(direct, 1, 0.5)
        found = binary_share(rng.random(200) < c0 + c1 * 0.2, c0, c1, rng.gamma(3, 1, 200))
        held += found.interval[0] <= 0.2 <= found.interval[1]
    assert held >= least


def test_an_interval_wholly_outside_gives_way_to_one_with_a_width():
    found = binary_share(yes_no(20, 350), 1 / 6, 2 / 3)
    assert found.interval == found.profile
    assert found.interval[1] > 0
    assert any("lies wholly outside 0 to 1" in warning for warning in found.warnings)


@pytest.mark.parametrize(("yes", "edge"), [(1, 1), (0, 0)])
def test_several_constants_keep_a_width_where_every_share_is_rejected(yes, edge):
    """10 yes of λ ≤ .75: .5⁴·.6³·.75³ = .0057 < .025 even at π = 1, so bisection ends at the
    edge itself.
    """
    c0 = np.array([0, 0.1, 0.25] * 3 + [0])
    found = binary_share([yes] * 10, c0 if yes else 0.5 - c0, 0.5)
    assert found.interval == found.profile
    assert found.interval[edge] == edge
    assert found.interval[1] - found.interval[0] > 0.1
    assert any("lies wholly outside 0 to 1" in warning for warning in found.warnings)


def test_no_yes_at_all_under_forced_response_keeps_a_width():
    """0 of 350: Clopper-Pearson's upper limit .0105 maps to −.234."""
    found = binary_share(yes_no(0, 350), 1 / 6, 2 / 3)
    assert found.interval == found.profile
    assert found.interval[1] == pytest.approx(0.00684, abs=1e-5)


def test_constants_of_each_row_do_not_raise_false_alarms():
    """200 surveys of 400 rows with a c0 each, seed 12: 5 % alarms are 10, more than 24 in 1 of
    100,000 seeds.
    """
    rng, alarms = np.random.default_rng(12), 0
    for _ in range(200):
        c0, c1 = rng.uniform(0.05, 0.45, 400), rng.choice([0.3, 0.5], 400)
        found = binary_share(rng.random(400) < c0 + c1 * 0.2, c0, c1)
        assert 5 < found.fit.df < 10
        alarms += found.fit.p < 0.05
    assert alarms <= 24


def test_constants_of_nearly_each_row_and_small_groups_do_not_either():
    """40 surveys of 2,000 rows with a c0 each, and 100 of 150 groups of 6 rows, λ near .1, seed 13:
    7 alarms expected, more than 18 in 1 of 10,000 seeds."""
    rng, alarms = np.random.default_rng(13), 0
    for n, each, runs in ((2000, 1, 40), (900, 6, 100)):
        for _ in range(runs):
            c0 = np.repeat(rng.uniform(0.01, 0.15, n // each), each)
            fit = binary_share(rng.random(n) < c0 + 0.5 * 0.05, c0, 0.5).fit
            alarms += fit.p < 0.05
    assert alarms <= 18


def test_groups_too_small_to_be_taken_together_are_not_judged():
    assert binary_share([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], 0.5).fit is None


def test_constants_of_each_row_still_raise_true_alarms():
    c0 = np.linspace(0.05, 0.45, 400)
    # whatever the odds, yes from 30 %
    found = binary_share(np.random.default_rng(12).random(400) < 0.3, c0, 0.5)
    assert any("non-compliance may be at work" in warning for warning in found.warnings)


@pytest.mark.parametrize("yes", [0, 12])
def test_one_class_only_is_said_and_has_a_standard_error(yes):
    found = binary_share(yes_no(yes, 12), 0, 1)
    assert found.standard_error == pytest.approx(math.sqrt(2 * 14 / 16) / 16)
    assert [warning.split(":")[0] for warning in found.warnings] == ["one class only", "small n"]
    assert found.interval == pytest.approx(clopper_pearson(yes, 12))


@pytest.mark.parametrize("weights", [None, [1, 2, 3]])
def test_one_class_only_in_two_arms_is_not_certain_either(weights):
    found = binary_share([0, 0, 0], [0.25, 0, 0], [0.5, 1, 1], weights)
    assert found.maximum_likelihood == 0
    assert found.standard_error > 0.2
    assert found.interval[1] > 0.5


def test_weights_with_one_class_only():
    found, effective = binary_share([0, 0, 0], 0, 1, [1, 2, 3]), 3 * 12 / 14  # Kish: (Σw)²/Σw²
    assert found.standard_error == pytest.approx(agreed_error(effective))
    both = category_shares([0, 0, 0], [DIRECT], weights=[1, 2, 3])
    assert both.standard_errors == pytest.approx((agreed_error(effective),) * 2)
    assert both.intervals[1] == pytest.approx(clopper_pearson(0, effective))
    assert found.interval == pytest.approx(clopper_pearson(0, 3 * 12 / 14))


def test_one_matrix_is_inverted_by_hand():
    """Reports 40, 30, 30 of 100 through a channel that keeps .6 of three: π = (r − .2)/.4."""
    channel = np.full((3, 3), 0.2) + np.eye(3) * 0.4
    found = category_shares(np.repeat([0, 1, 2], [40, 30, 30]), [channel])
    assert found.moments == pytest.approx((0.5, 0.25, 0.25))
    assert found.maximum_likelihood == pytest.approx((0.5, 0.25, 0.25), abs=1e-5)
    assert found.standard_errors[0] == pytest.approx(math.sqrt(0.4 * 0.6 / 100) / 0.4)
    assert found.intervals[0] == pytest.approx(
        tuple((limit - 0.2) / 0.4 for limit in clopper_pearson(40, 100))
    )
    assert found.simultaneous[0] == pytest.approx(
        tuple((limit - 0.2) / 0.4 for limit in clopper_pearson(40, 100, 1 - 0.05 / 3))
    )
    assert (found.fit.g2, found.fit.df) == (pytest.approx(0, abs=1e-6), 0)


def test_more_reports_than_answers_leave_something_to_test():
    """A disguised "don't know": three reports, two answers, df = 1; the reports fit the shares
    .5 exactly.
    """
    channel = np.array([[0.7, 0.1, 0.2], [0.1, 0.5, 0.4]])
    found = category_shares(np.repeat([0, 1, 2], [40, 30, 30]), [channel])
    assert found.fit.df == 1
    assert found.fit.g2 == pytest.approx(0, abs=1e-6)
    assert found.moments == pytest.approx((0.5, 0.5))
    assert category_shares(np.repeat([0, 1, 2], [50, 40, 10]), [channel]).fit.p < 0.001


def test_an_arm_that_nobody_is_in_does_not_count():
    reports = np.repeat([0, 1], [60, 40])
    assert category_shares(reports, [DIRECT, COIN], np.ones(100)) == category_shares(
        reports, [COIN]
    )


def test_arms_may_have_different_reports():
    """Direct answers beside a channel with a third report: 40 answers .5/.5, 60 reports as
    shares of .5 make them.
    """
    channel = np.array([[0.7, 0.1, 0.2], [0.1, 0.5, 0.4]])
    reports = np.repeat([0, 1, 0, 1, 2], [20, 20, 24, 18, 18])
    found = category_shares(reports, [DIRECT, channel], np.repeat([0, 1], [40, 60]))
    assert found.moments == pytest.approx((0.5, 0.5))
    assert (found.fit.g2, found.fit.df) == (pytest.approx(0, abs=1e-6), 2)


def test_misfit_between_arms_of_categories_raises_the_alarm():
    reports = np.repeat([0, 1, 0, 1], [90, 10, 50, 50])
    found = category_shares(reports, [COIN, DIRECT], np.repeat([0, 1], [100, 100]))
    assert any("non-compliance may be at work" in warning for warning in found.warnings)


def test_few_reports_in_a_cell_are_not_judged():
    reports = np.repeat([0, 1, 0, 1], [8, 0, 1, 7])
    found = category_shares(reports, [np.eye(2) * 0.98 + 0.01, DIRECT], np.repeat([0, 1], [8, 8]))
    assert found.fit is None
    assert not any("explain" in warning for warning in found.warnings)


def test_a_misfit_names_what_there_is():
    """Two arms; or one of more reports than answers, where there are no groups to disagree."""
    arms = category_shares(
        np.repeat([0, 1, 0, 1], [90, 10, 50, 50]), [COIN, DIRECT], np.repeat([0, 1], [100, 100])
    )
    one = category_shares(np.repeat([0, 1, 2], [50, 40, 10]), [[[0.7, 0.1, 0.2], [0.1, 0.5, 0.4]]])
    said = [
        next(words.split(":")[0] for words in found.warnings if "explain" in words)
        for found in (arms, one)
    ]
    assert said == [
        "the same shares do not explain the reports of all arms",
        "no shares explain the reports",
    ]


def kary(k, epsilon):
    return np.full((k, k), 1 / (math.exp(epsilon) + k - 1)) + np.eye(k) * (
        math.exp(epsilon) - 1
    ) / (math.exp(epsilon) + k - 1)


@pytest.mark.parametrize("weights", [None, "halves"])
@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
@pytest.mark.parametrize("k", [3, 4, 7, 50])
def test_choices_nobody_reported_have_clopper_and_pearsons_interval(k, epsilon, weights):
    """The reports are binomial: 0 of 200 maps to 0 to (upper − lie)/(truth − lie), or wholly
    below 0.
    """
    channel = kary(k, epsilon)
    found = category_shares(
        np.repeat([0, 1], [120, 80]),
        [channel],
        weights=None if weights is None else np.repeat([1, 2], [120, 80]),
    )
    assert min(found.standard_errors) > 1e-3
    assert all(0 <= low < high <= 1 for low, high in (*found.intervals, *found.simultaneous))
    upper = (clopper_pearson(0, 200)[1] - channel[0, 1]) / (channel[0, 0] - channel[0, 1])
    if weights is None and upper > 0:
        assert found.intervals[2:] == ((0, pytest.approx(upper)),) * (k - 2)
    if weights is None:
        ends = [
            (limit - channel[0, 1]) / (channel[0, 0] - channel[0, 1])
            for limit in clopper_pearson(120, 200)
        ]
        assert ends[0] >= 1 or found.intervals[0] == pytest.approx(
            tuple(min(max(end, 0), 1) for end in ends)
        )


def test_a_choice_nobody_reported_by_hand():
    """k = 4, ε = 2: e²/(e² + 3) = .711 and .0963; SE as if of four more two said it."""
    found = category_shares(np.repeat([0, 1], [120, 80]), [kary(4, 2)])
    assert found.standard_errors[2] == pytest.approx(0.01122, abs=1e-5)
    # around the edge: 0 itself is rejected
    assert found.intervals[2] == (0, pytest.approx(0.0806, abs=1e-4))


def test_reports_that_leave_the_shares_open_have_the_moments_errors():
    """[[.7, .2, .1], [.1, .2, .7]], report 1 only: it is as likely after either answer."""
    found = category_shares([1] * 20, [[[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]])
    assert found.moments == pytest.approx((0.5, 0.5))
    assert min(found.standard_errors) > 0.05
    assert any("other shares are as likely" in words for words in found.warnings)


@pytest.mark.parametrize("report", [0, 2])
@pytest.mark.parametrize("n", [1, 20, 1000])
def test_one_report_only_of_more_than_answers_is_not_certain(report, n):
    found = category_shares([report] * n, [[[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]])
    assert min(found.standard_errors) > 1e-3
    assert all(high - low > 1e-3 for low, high in found.intervals)


def test_warnings_call_choices_by_their_names():
    found = category_shares(
        np.repeat([0, 1], [60, 40]), [np.full((3, 3), 0.1) + 0.7 * np.eye(3)], names="123"
    )
    assert any("1 of 3 choices lie outside 0 to 1 (3)" in words for words in found.warnings)


def test_one_heavy_weight_is_said_and_is_not_certain():
    weights, yes = [1e-6] * 30 + [100], [0] * 30 + [1]
    for found in (
        binary_share(yes, 0, 1, weights),
        binary_share(yes, 0.25, [0.5] * 30 + [0.6], weights),
    ):
        assert found.standard_error > 0.4
        assert found.interval[1] - found.interval[0] > 0.9
        assert any("an effective n of 1.0" in words for words in found.warnings)
    found = category_shares(yes, [DIRECT], weights=weights)
    assert found.standard_errors == pytest.approx((0.5, 0.5), abs=1e-5)  # sqrt(½·½/1)
    assert all(high - low > 0.9 for low, high in found.intervals)
    assert any("an effective n of 1.0" in words for words in found.warnings)


def test_light_weights_alone_do_not_say_how_heavy_ones_vary():
    """Five of weight 1 say no, five of 1e-6 say yes: an effective n of 5, of which next to none
    is a yes.
    """
    yes, weights = [0] * 5 + [1] * 5, [1] * 5 + [1e-6] * 5
    found, both = binary_share(yes, 0, 1, weights), category_shares(yes, [DIRECT], weights=weights)
    assert found.standard_error == pytest.approx(agreed_error(5), rel=1e-4)
    assert found.interval == pytest.approx(clopper_pearson(0, 5), abs=1e-4)
    assert both.standard_errors == pytest.approx((found.standard_error,) * 2)
    assert both.intervals[1] == pytest.approx(found.interval, abs=1e-4)


def test_rows_of_weight_0_are_left_out():
    yes, weights, kept = [1, 0, 1, 0, 1], [1, 2, 0, 1, 0], [0, 1, 3]
    found, same = (
        binary_share(np.array(yes)[rows], 0.25, 0.5, np.array(weights)[rows])
        for rows in (range(5), kept)
    )
    assert found.warnings[0] == "2 rows of weight 0 are left out"
    assert (found.n, found.standard_error, found.interval) == (
        3,
        same.standard_error,
        same.interval,
    )
    found, same = (
        category_shares(np.array(yes)[rows], [COIN], None, np.array(weights)[rows])
        for rows in (range(5), kept)
    )
    assert found.warnings[0] == "2 rows of weight 0 are left out"
    assert (found.n, found.standard_errors, found.intervals) == (
        3,
        same.standard_errors,
        same.intervals,
    )


def test_all_reports_alike_are_said_and_leave_a_standard_error():
    found = category_shares([1] * 40, [np.eye(3)])
    assert found.maximum_likelihood == (0, 1, 0)
    assert min(found.standard_errors) > 0
    assert found.warnings == ("one class only: every report is the same",)
    assert found.intervals[1] == pytest.approx(clopper_pearson(40, 40))


def test_weighted_categories_by_hand():
    found = category_shares([0, 1, 2, 0], [np.eye(3)], weights=[1, 2, 3, 2])
    assert found.moments == pytest.approx((3 / 8, 2 / 8, 3 / 8))
    spread = (
        4 / 3 * (1 * (5 / 8) ** 2 + 4 * (3 / 8) ** 2 + 9 * (3 / 8) ** 2 + 4 * (5 / 8) ** 2) / 64
    )
    assert found.standard_errors[0] == pytest.approx(math.sqrt(spread))


def test_many_moments_outside_are_counted_not_listed():
    found = category_shares(np.repeat(np.arange(7), [30, 0, 0, 0, 0, 0, 0]), [KARY])
    assert "of 7 choices lie outside 0 to 1 (0, 1, 2, 3, 4, …)" in found.warnings[0]
    assert all(low < high for low, high in found.intervals)


def test_randomised_again_and_again_the_real_column_is_found():
    """Cannabis use of 1,885 people in 7 classes, 200 times through k-ary response that keeps .4,
    seed 21.

    The answers are fixed, so that only the channel's chance spreads the estimates: Var = Σ
    π(E[u²|answer] − 1 or 0)/n. Mean within 4.5 standard errors, spread within 23 %: a false alarm
    in some 2,000 runs.
    """
    with (DATA / "uci_drug_consumption_dq.csv").open() as file:
        answers = np.array([int(row["cannabis"]) for row in csv.DictReader(file)])
    rng, n = np.random.default_rng(21), len(answers)
    truth = np.bincount(answers, minlength=7) / n
    chances = KARY[answers].cumsum(axis=1)
    found = [
        category_shares((rng.random(n)[:, None] > chances).sum(axis=1), [KARY]) for _ in range(200)
    ]
    moments = np.array([one.moments for one in found])
    device = (KARY @ (np.linalg.inv(KARY).T ** 2) - np.eye(7)).T @ truth / n
    assert np.all(np.abs(moments.mean(axis=0) - truth) < 4.5 * np.sqrt(device / 200))
    assert moments.std(axis=0, ddof=1) == pytest.approx(np.sqrt(device), rel=0.23)
    errors = np.array([one.standard_errors for one in found]).mean(axis=0)
    assert errors == pytest.approx(np.sqrt(device + truth * (1 - truth) / n), rel=0.02)


@pytest.mark.parametrize(
    ("yes", "c0", "c1", "weights", "message"),
    [
        ([], 0, 1, None, "n must be 1 or more, got 0"),
        ([0, 2], 0, 1, None, "yes must be 0 or 1 in every row"),
        ([0, math.nan], 0, 1, None, "yes must be finite, got NaN or infinity in 1 rows"),
        (["no", "yes"], 0, 1, None, "yes must be numbers"),
        ([[0], [1]], 0, 1, None, "yes must be one column, got 2 dimensions"),
        ([0, 1], 0.5, 0, None, "c1 must not be 0 in every row: .* nothing can be learned"),
        ([0, 1], 0.5, 0.6, None, r"c0 \+ c1 must be between 0 and 1, got 1.1 to 1.1"),
        ([0, 1], -0.1, 0.6, None, "c0 must be between 0 and 1, got -0.1"),
        ([0, 1], [0.5], 0.5, None, "c0 must have as many rows as there are reports, 2, got 1"),
        ([0, 1], [0, 0.5], [0.5, math.nan], None, "c1 must be finite"),
        ([1, 1], [0, 0.5], [0, 0.5], None, "a report is impossible: its row has c1 = 0"),
        ([0, 1], 0, 1, [1], "weights must have as many rows as there are reports, 2, got 1"),
        ([0, 1], 0, 1, [1, -1], "weights must be 0 or more, and not all 0"),
    ],
)
def test_nonsense_is_refused_by_name(yes, c0, c1, weights, message):
    with pytest.raises(ValueError, match=message):
        binary_share(yes, c0, c1, weights)


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_a_confidence_is_a_share(confidence):
    with pytest.raises(ValueError, match=f"confidence must be between 0 and 1, got {confidence}"):
        binary_share([0, 1], 0, 1, confidence=confidence)


@pytest.mark.parametrize(
    ("reports", "matrices", "arm", "message"),
    [
        ([], [COIN], None, "n must be 1 or more, got 0"),
        ([0, 2], [COIN], None, "reports must be whole numbers from 0 to 1"),
        ([0, 0.5], [COIN], None, "reports must be whole numbers from 0 to 1"),
        ([0, 1], [], None, "matrices must be one or more, got 0"),
        ([0, 1], [COIN, DIRECT], None, "arm must say which of the 2 matrices"),
        ([0, 1], [COIN, DIRECT], [0, 2], "arm must be whole numbers from 0 to 1"),
        ([0, 1], [COIN, DIRECT], [0], "arm must have as many rows as there are reports, 2, got 1"),
        (
            [0, 1],
            [COIN, np.eye(3)],
            [0, 1],
            r"matrices must have the same number of rows, the answers, got \[2, 3\]",
        ),
        (
            [2, 1],
            [COIN, [[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]]],
            [0, 1],
            "reports of arm 0 must be .* 0 to 1",
        ),
        (
            [0, 1],
            [[[0.5, 0.4], [0.1, 0.9]]],
            None,
            r"matrices\[0\] must have rows that add up to 1, got 0.9",
        ),
        (
            [0, 1],
            [[[1.5, -0.5], [0.1, 0.9]]],
            None,
            r"matrices\[0\] must hold chances between 0 and 1",
        ),
        (
            [0, 1],
            [[[math.nan, 0.5], [0.1, 0.9]]],
            None,
            r"matrices\[0\] must hold chances between 0 and 1",
        ),
        (
            [0, 1],
            [[0.5, 0.5]],
            None,
            r"matrices\[0\] must have a row for each of two answers or more",
        ),
        ([0, 1], [[[0.5, 0.5], [0.5, 0.5]]], None, "equal rows: .* nothing can be learned"),
        ([0, 1], [[[0.5, 0.5], [0.2, 0.8], [0.8, 0.2]]], None, "2 independent rows, expected 3"),
        (
            [2, 1],
            [[[0.5, 0.5, 0], [0.2, 0.8, 0]]],
            None,
            "a report is impossible: its column of the matrix is 0",
        ),
    ],
)
def test_channels_that_are_none_are_refused_by_name(reports, matrices, arm, message):
    with pytest.raises(ValueError, match=message):
        category_shares(reports, matrices, arm)
