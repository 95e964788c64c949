import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy import stats

from dpengine.inference.power import (
    Arm,
    Response,
    Separation,
    Target,
    arms,
    one_sample,
    two_samples,
)
from dpengine.inference.power_exact import exact_power, exact_size

DIRECT = Response(0, 1)
COIN = Response(1 / 4, 1 / 2)
FORCED = Response(1 / 6, 2 / 3)  # truth with 2/3, a forced yes with 1/6
CROSSWISE = Response(3 / 4, -1 / 2)  # fewer “same” the more have it
SHARES = st.floats(0.01, 0.99)
RESPONSES = st.sampled_from([DIRECT, COIN, FORCED, CROSSWISE])
TARGETS = st.builds(
    Target,
    power=st.floats(0.3, 0.99),
    alpha=st.sampled_from([0.001, 0.01, 0.05, 0.1]),
    sides=st.sampled_from([1, 2]),
)


def test_the_published_example_needs_33_people_more_than_rr_says():
    """rr 1.4.1, R/power.R, stops at the first n whose power is within .01 of what was asked."""
    size = one_sample(FORCED, 0.10, 0.15).smallest(Target(power=0.80))
    assert size.n == 1299
    assert (size.power, size.power_at_n_minus_1) == pytest.approx((0.80015, 0.79986), abs=1e-5)
    assert one_sample(FORCED, 0.10, 0.15).power(1266, Target()) == pytest.approx(0.790, abs=5e-4)


def test_one_side_by_hand():
    """Direct answers, .5 against .6: ((1.6449·.5 + .8416·√.24)/.1)² = 152.5."""
    assert one_sample(DIRECT, 0.5, 0.6).smallest(Target(sides=1)).n == 153


def test_two_samples_by_hand():
    """Fleiss, Levin and Paik's formula without correction: .10 against .15 of direct answers,
    686 in each.
    """
    size = two_samples(DIRECT, 0.10, 0.15).smallest(Target())
    pooled, z, b = 0.125, 1.959964, 0.841621
    by_hand = (
        z * math.sqrt(2 * pooled * (1 - pooled)) + b * math.sqrt(0.1 * 0.9 + 0.15 * 0.85)
    ) ** 2 / 0.05**2
    assert size.n == math.ceil(by_hand) == 686


def test_a_second_sample_three_times_the_first():
    separation = two_samples(FORCED, 0.2, 0.1, ratio=3)
    size = separation.smallest(Target())
    assert size.n < two_samples(FORCED, 0.2, 0.1).smallest(Target()).n < 3 * size.n
    first, second, pooled = (FORCED.reported(share) for share in (0.2, 0.1, 0.125))
    error = math.sqrt(pooled * (1 - pooled) * (1 / size.n + 1 / (3 * size.n)))
    spread = math.sqrt(first * (1 - first) / size.n + second * (1 - second) / (3 * size.n))
    by_hand = stats.norm.cdf((abs(first - second) - 1.959964 * error) / spread)
    assert size.power == pytest.approx(by_hand, abs=1e-6)


@settings(max_examples=200)
@given(RESPONSES, SHARES, SHARES, TARGETS)
def test_n_is_the_smallest_and_more_people_never_hurt(response, null, alternative, target):
    assume(abs(null - alternative) > 1e-3)
    separation = one_sample(response, null, alternative)
    size = separation.smallest(target)
    assert size.power >= target.power > size.power_at_n_minus_1
    around = [
        separation.power(size.n + step, target) for step in range(-3, 20) if size.n + step > 0
    ]
    assert around == sorted(around)


@settings(max_examples=100)
@given(SHARES, SHARES, TARGETS)
def test_a_test_of_yes_is_a_test_of_no(null, alternative, target):
    assume(abs(null - alternative) > 1e-3)
    mirrored = one_sample(FORCED, 1 - null, 1 - alternative).smallest(target)
    # rounding, at a tie
    assert abs(one_sample(FORCED, null, alternative).smallest(target).n - mirrored.n) <= 1
    assert one_sample(Response(1, -1), null, alternative).power(50, target) == pytest.approx(
        one_sample(DIRECT, null, alternative).power(50, target)
    )


def test_what_is_asked_for_costs_people():
    def size(response=FORCED, null=0.1, alternative=0.15, **target):
        return one_sample(response, null, alternative).smallest(Target(**target)).n

    assert size(power=0.9) > size(power=0.8)
    assert size(alpha=0.01) > size(alpha=0.05) > size(alpha=0.05, sides=1)
    assert size(COIN) > size(FORCED) > size(DIRECT)
    assert size(alternative=0.12) > size(alternative=0.15)


def test_one_arm_is_one_sample_and_equal_arms_are_too():
    alone = one_sample(FORCED, 0.1, 0.15).smallest(Target())
    assert arms([Arm(FORCED, 7)], 0.1, 0.15).smallest(Target()).n == alone.n
    assert arms([Arm(FORCED, 1), Arm(FORCED, 2)], 0.1, 0.15).smallest(Target()).n == alone.n


def test_arms_by_hand():
    """The crosswise survey's two arms, .2 and .8, are mirror images: each tells as much as the
    other, and as one.
    """
    mirrored = [Arm(Response(0.8, -0.6), 1), Arm(Response(0.2, 0.6), 1)]
    assert (
        arms(mirrored, 0.1, 0.2).smallest(Target()).n
        == one_sample(mirrored[0].response, 0.1, 0.2).smallest(Target()).n
    )
    better = arms([Arm(DIRECT, 1), Arm(COIN, 1)], 0.1, 0.2).smallest(Target()).n
    assert (
        one_sample(DIRECT, 0.1, 0.2).smallest(Target()).n
        < better
        < one_sample(COIN, 0.1, 0.2).smallest(Target()).n
    )


def test_certain_reports_have_no_spread():
    """All say yes under the alternative: n with √n·.1 > 1.96·.3 is 35."""
    assert one_sample(DIRECT, 0.9, 1).smallest(Target()).n == 35
    assert one_sample(DIRECT, 0.9, 1).power(0, Target()) == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: one_sample(FORCED, 0.1, 0.1), "the two shares must differ, got 0.1 twice"),
        (lambda: one_sample(FORCED, 0.1, 1.5), "share must be from 0 to 1, got 1.5"),
        (lambda: one_sample(FORCED, math.nan, 0.5), "share must be from 0 to 1, got nan"),
        (lambda: Response(0.5, 0.6), "c0 \\+ c1 must be a chance, from 0 to 1, got 1.1"),
        (lambda: Response(-0.5, 0.6), "c0 must be a chance"),
        (lambda: Response(math.nan, 0.6), "c0 must be a chance"),
        (lambda: Response(0.5, 0), "c1 must not be 0"),
        (lambda: Target(power=0.05), "power must be above alpha \\(0.05\\) and below 1, got 0.05"),
        (lambda: Target(power=1), "power must be above alpha"),
        (lambda: Target(alpha=0), "alpha must be between 0 and 1, got 0"),
        (lambda: Target(sides=3), "sides must be 1 or 2, got 3"),
        (lambda: two_samples(FORCED, 0.1, 0.2, ratio=0), "ratio must be above 0, got 0"),
        (lambda: arms([], 0.1, 0.2), "every arm must have a share"),
        (lambda: arms([Arm(FORCED, -1)], 0.1, 0.2), "every arm must have a share"),
        (lambda: arms([Arm(DIRECT, 1)], 0, 0.2), "an arm's reports are certain at a share of 0"),
        (lambda: one_sample(FORCED, 0.1, 0.1 + 1e-9).smallest(Target()), "too close to tell apart"),
        (lambda: exact_size(FORCED, 0.1, 0.1 + 1e-6, Target()), "more than 10000000 people"),
        (lambda: exact_size(FORCED, 0.1, 0.1, Target()), "the two shares must differ"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


def brute_power(null: Fraction, alternative: Fraction, n: int, error: Fraction) -> Fraction:
    """The exact test in fractions, towards a larger share of yes."""

    def at_least(count: int, chance: Fraction) -> Fraction:
        return sum(
            (math.comb(n, x) * chance**x * (1 - chance) ** (n - x) for x in range(count, n + 1)),
            Fraction(0),
        )

    critical = next(count for count in range(n + 2) if at_least(count, null) <= error)
    return at_least(critical, alternative)


@pytest.mark.parametrize(
    ("null", "alternative", "alpha", "sides"),
    [
        ("1/4", "1/2", "1/20", 2),
        ("1/2", "3/4", "1/16", 1),
        ("0", "1/10", "1/20", 1),
        ("3/5", "1", "1/100", 2),
    ],
)
def test_the_exact_power_is_that_of_fractions(null, alternative, alpha, sides):
    null, alternative, alpha = Fraction(null), Fraction(alternative), Fraction(alpha)
    target = Target(power=0.8, alpha=float(alpha), sides=sides)
    for n in range(1, 40):
        expected = float(brute_power(null, alternative, n, alpha / sides))
        assert exact_power(DIRECT, float(null), float(alternative), n, target) == pytest.approx(
            expected, abs=1e-12
        )
        assert exact_power(
            DIRECT, 1 - float(null), 1 - float(alternative), n, target
        ) == pytest.approx(expected)


@settings(max_examples=40)
@given(RESPONSES, SHARES, SHARES, TARGETS)
def test_the_exact_n_and_every_larger_n_have_the_power_and_n_minus_1_has_not(
    response, null, alternative, target
):
    assume(abs(null - alternative) > 0.15)
    size = exact_size(response, null, alternative, target)
    assert size.power >= target.power > size.power_at_n_minus_1
    assert size.first <= size.n
    for n in range(size.n, 3 * size.n + 50, max(1, size.n // 25)):
        assert exact_power(response, null, alternative, n, target) >= target.power
    for n in range(1, size.first):
        assert exact_power(response, null, alternative, n, target) < target.power
    assert exact_power(response, null, alternative, size.first, target) >= target.power


def test_the_saw_teeth_are_all_tried():
    size = exact_size(FORCED, 0.10, 0.15, Target())
    assert (size.first, size.n) == (1324, 1367)
    assert all(exact_power(FORCED, 0.10, 0.15, n, Target()) >= 0.8 for n in range(1367, 2500))


def test_one_yes_of_direct_answers_rejects_nobody():
    """0 against .05: 1 − .95ⁿ ≥ .80 from n = 32, where the normal approximation would say 14."""
    assert exact_size(DIRECT, 0, 0.05, Target()).n == 32
    assert one_sample(DIRECT, 0, 0.05).smallest(Target()).n == 14


def test_certain_reports_reject_once_the_count_can():
    """.9ⁿ ≤ .025 from n = 36."""
    size = exact_size(DIRECT, 0.9, 1, Target(power=0.99))
    assert (size.n, size.first, size.power, size.power_at_n_minus_1) == (36, 36, 1.0, 0.0)


def test_one_person_can_be_enough():
    size = exact_size(DIRECT, 0, 1, Target())
    assert (size.n, size.power_at_n_minus_1) == (1, 0.0)


@pytest.mark.parametrize(
    ("separation", "target"),
    [
        (Separation(0.34252693498569503, 1.6753183733494832, 0.5), Target(alpha=0.1)),
        (Separation(0.17529977347380155, 1.0, 0.5), Target(power=0.9, alpha=0.1)),
    ],
    ids=["one too few", "one too many"],
)
def test_a_size_is_the_smallest_where_rounding_puts_the_formula_beside_it(separation, target):
    size = separation.smallest(target)
    assert size.power >= target.power > size.power_at_n_minus_1


def test_an_exact_test_rejects_from_the_first_count_that_is_rare_enough():
    """All of 12: .53¹² = .00049. The normal guess is 13, which nobody can answer."""
    power = exact_power(DIRECT, 0.53, 0.9, 12, Target(alpha=0.001))
    assert power == pytest.approx(0.9**12)
