"""The designs against R's RRreg, by formula, and against moments solved by hand.

RRreg's moment estimates and standard errors are those of `RRuni` in its R/RRuni_models.R (Heck and
Moshagen 2018), written out here; it divides by n − 1 where we divide by n. Simulated people come
from written seeds: the tests' outcome is fixed, and the chance of a false alarm is that of another
seed.
"""

import numpy as np
import pytest

from dpengine.inference import designs

TWO_GROUPS = [
    designs.unrelated_unknown,
    designs.stochastic_lie_detector,
    designs.cheating_detection,
    designs.extended_crosswise,
]
N1, N2 = 400, 600


def rows_of_counts(yes, n, *odds):
    """Return the rows behind a published table: `yes` of `n` people in each group, and odds."""
    columns = [np.repeat([1.0, 0.0], [count, m - count]) for count, m in zip(yes, n, strict=True)]
    return np.concatenate(columns), *(np.repeat(each, n) for each in odds)


def named(analysis):
    return {each.name: (each.moment, each.standard_error) for each in analysis.parameters}


def proportion_variances(yes1, yes2):
    first, second = yes1 / N1, yes2 / N2
    return first, second, first * (1 - first) / N1, second * (1 - second) / N2


def test_triangular_as_rrreg_and_by_hand():
    pi = designs.triangular(*rows_of_counts([370], [1000], [0.25]))["pi"]
    assert pi.moment == pytest.approx(1 - (1 - 0.37) / (1 - 0.25)) == pytest.approx(0.16)
    assert pi.standard_error == pytest.approx((0.37 * 0.63 / 1000) ** 0.5 / 0.75)


def test_mangat_as_rrreg_and_by_hand():
    pi = designs.mangat(*rows_of_counts([440], [1000], [0.7]))["pi"]
    assert pi.moment == pytest.approx((0.44 - 1 + 0.7) / 0.7) == pytest.approx(0.2)
    assert pi.standard_error == pytest.approx((0.44 * 0.56 / 1000) ** 0.5 / 0.7)


def test_unrelated_question_with_unknown_prevalence_as_rrreg():
    p1, p2 = 0.7, 0.3
    first, second, v1, v2 = proportion_variances(152, 252)
    expected = {
        "pi": (
            (first * (1 - p2) - second * (1 - p1)) / (p1 - p2),
            (v1 * (1 - p2) ** 2 + v2 * (1 - p1) ** 2) ** 0.5 / (p1 - p2),
        ),
        "q": ((p2 * first - p1 * second) / (p2 - p1), (p2**2 * v1 + p1**2 * v2) ** 0.5 / (p1 - p2)),
    }
    found = named(designs.unrelated_unknown(*rows_of_counts([152, 252], [N1, N2], [p1, p2])))
    assert found == {name: pytest.approx(pair) for name, pair in expected.items()}
    assert found["pi"][0] == pytest.approx(0.35)  # by hand
    assert found["q"][0] == pytest.approx(0.45)


def test_stochastic_lie_detector_as_rrreg():
    p1, p2 = 0.4, 0.7
    first, second, v1, v2 = proportion_variances(200, 192)
    t_slopes = (
        (p1 - p2) * (p2 + second - 1) / (p1 - p2 + first - second) ** 2,
        (p1 - p2) * (p1 + first - 1) / (p1 - p2 + first - second) ** 2,
    )
    expected = {
        "pi": (((second - first) + (p2 - p1)) / (p2 - p1), ((v1 + v2) / (p1 - p2) ** 2) ** 0.5),
        "t": (
            (second * (1 - p1) - first * (1 - p2)) / ((second - first) + (p2 - p1)),
            (v1 * t_slopes[0] ** 2 + v2 * t_slopes[1] ** 2) ** 0.5,
        ),
    }
    found = named(designs.stochastic_lie_detector(*rows_of_counts([200, 192], [N1, N2], [p1, p2])))
    assert found == {name: pytest.approx(pair) for name, pair in expected.items()}
    assert found["pi"][0] == pytest.approx(0.4)  # by hand
    assert found["t"][0] == pytest.approx(0.35)


def test_cheating_detection_as_rrreg():
    p1, p2 = 0.25, 0.75
    first, second, v1, v2 = proportion_variances(176, 384)
    expected = {
        "pi": (
            (p2 * first - p1 * second) / (p2 - p1),
            ((p1**2 * v2 + p2**2 * v1) / (p1 - p2) ** 2) ** 0.5,
        ),
        "beta": ((second - first) / (p2 - p1), ((v2 + v1) / (p1 - p2) ** 2) ** 0.5),
        "gamma": (
            1 + ((p2 - 1) * first + (1 - p1) * second) / (p1 - p2),
            (((p2 - 1) ** 2 * v1 + (1 - p1) ** 2 * v2) / (p1 - p2) ** 2) ** 0.5,
        ),
    }
    found = named(designs.cheating_detection(*rows_of_counts([176, 384], [N1, N2], [p1, p2])))
    assert found == {name: pytest.approx(pair) for name, pair in expected.items()}
    # by hand
    assert [found[name][0] for name in ("pi", "beta", "gamma")] == pytest.approx([0.34, 0.4, 0.26])


def test_symmetric_cheating_detection_as_rrreg():
    p = (0.25, 0.1, 0.7, 0.2)  # directed yes and no in group 1, yes and no in group 2
    first, second, v1, v2 = proportion_variances(150, 330)
    scale = p[2] * (1 - p[1]) - p[0] * (1 - p[3])
    pi = (p[2] * first - p[0] * second) / scale
    gamma = ((p[0] - first) * (1 - p[2] - p[3]) - (p[2] - second) * (1 - p[0] - p[1])) / -scale
    pi_error = (p[2] ** 2 * v1 + p[0] ** 2 * v2) ** 0.5 / scale
    gamma_error = ((1 - p[2] - p[3]) ** 2 * v1 + (1 - p[0] - p[1]) ** 2 * v2) ** 0.5 / scale
    yes, yes_odds, no_odds = rows_of_counts([150, 330], [N1, N2], p[::2], p[1::2])
    found = named(designs.cheating_detection(yes, yes_odds, no=no_odds))
    assert found["pi"] == pytest.approx((pi, pi_error))
    assert found["gamma"] == pytest.approx((gamma, gamma_error))


def test_kuk_with_repeats_has_rrregs_moment_and_a_sharper_likelihood():
    red = np.repeat(np.arange(6), [60, 100, 80, 70, 90, 100])
    pi = designs.kuk(red, 0.8, 0.2, repeats=5)["pi"]
    share, mean = (red.mean() / 5 - 0.2) / 0.6, red.mean() / 5
    rrreg = (
        mean * (1 - mean) / (5 * len(red) * 0.36) + 0.8 * share * (1 - share) / len(red)
    ) ** 0.5
    assert pi.moment == pytest.approx(share)
    assert pi.standard_error < rrreg  # the counts tell more than their mean


def test_kuk_with_one_draw_is_the_binary_share():
    kuk = designs.kuk(np.repeat([0, 1], [60, 40]), 0.7, 0.2)["pi"]
    assert kuk.moment == pytest.approx((0.4 - 0.2) / 0.5)
    assert kuk.standard_error == pytest.approx((0.4 * 0.6 / 100) ** 0.5 / 0.5)


def test_kuk_refuses_reports_that_no_pack_can_make():
    with pytest.raises(
        ValueError, match="a report is impossible: nobody would make it under this design"
    ):
        designs.kuk([0, 1, 3], 1.0, 0.0, repeats=3)


def test_kuk_says_when_the_cards_were_not_told_as_they_were():
    result = designs.kuk(np.repeat(np.arange(6), [90, 10, 100, 100, 10, 90]), 0.8, 0.2, repeats=5)
    assert (result.fit.df, result.fit.p < 1e-6) == (4, True)
    assert any("does not fit" in note for note in result.warnings)


def test_extended_crosswise_by_hand():
    rows = rows_of_counts([712, 388], [1000, 1000], [0.2, 0.8])
    found = named(designs.extended_crosswise(*rows))
    assert found["pi"][0] == pytest.approx(0.2)
    assert found["always"][0] == pytest.approx(0.1)
    assert found["always"][1] == pytest.approx(((0.712 * 0.288 + 0.388 * 0.612) / 1000) ** 0.5)
    mirrored = designs.extended_crosswise(1 - rows[0], rows[1], always="different")
    assert mirrored["always"].moment == pytest.approx(0.1)
    # whose reports are turned over has the trait turned over
    assert mirrored["pi"].moment == pytest.approx(0.8)


def test_the_doping_item_of_a_wada_survey():
    """579 of 768 and 241 of 738 answered same: item `doping` of `monkey` in MaartenCruyff/wada
    (MIT).
    """
    result = designs.extended_crosswise(*rows_of_counts([579, 241], [768, 738], [0.2, 0.8]))
    stuck = 579 / 768 + 241 / 738 - 1
    assert result["always"].moment == pytest.approx(stuck)
    assert result["pi"].moment == pytest.approx((0.8 - (579 / 768 - stuck) / (1 - stuck)) / 0.6)
    assert result["always"].interval[0] > 0.03  # some do


def test_a_random_answerer_in_crosswise_looks_like_a_share_nearer_to_half():
    """People at .5 in both groups: no share that always says the same is found, which is why an
    anchor is needed.
    """
    guessing, p = 0.4, np.array([0.2, 0.8])
    same = (1 - guessing) * (0.1 * p + 0.9 * (1 - p)) + guessing / 2
    found = named(
        designs.extended_crosswise(
            *rows_of_counts((same * 1000).round().astype(int), [1000, 1000], p)
        )
    )
    assert found["always"][0] == pytest.approx(0, abs=1e-9)
    assert found["pi"][0] == pytest.approx(0.6 * 0.1 + 0.4 / 2)


def test_liars_who_would_be_more_than_all_are_put_at_the_edge():
    result = designs.stochastic_lie_detector(*rows_of_counts([640, 420], [1000, 1000], [0.5, 0.8]))
    t, pi = result["t"], result["pi"]
    assert t.moment == pytest.approx((0.42 * 0.5 - 0.64 * 0.2) / (0.42 - 0.64 + 0.3))  # 1.025
    assert t.maximum_likelihood == pytest.approx(1)
    assert t.interval[1] == 1
    assert 0 < result.fit.g2 < 1
    assert result.fit.p is None
    grid = np.linspace(0.2, 0.4, 200_001)  # of π, with t = 1
    heights = 640 * np.log(0.5 + 0.5 * grid) + 360 * np.log(0.5 - 0.5 * grid)
    heights += 420 * np.log(0.2 + 0.8 * grid) + 580 * np.log(0.8 - 0.8 * grid)
    assert pi.maximum_likelihood == pytest.approx(grid[heights.argmax()], abs=2e-6)
    assert any("maximum likelihood is at the edge" in note for note in result.warnings)


def test_nobody_with_the_trait_leaves_no_one_to_lie():
    result = designs.stochastic_lie_detector(*rows_of_counts([600, 300], [1000, 1000], [0.4, 0.7]))
    assert result["pi"].moment == pytest.approx(0, abs=1e-9)
    assert result["t"].moment is None
    assert result["t"].maximum_likelihood is None
    assert result["t"].interval == (0, 1)
    assert any(note.startswith("t has no estimate") for note in result.warnings)
    assert "the reports say nothing about t: its interval is all of 0 to 1" in result.warnings


def test_fewer_than_nobody_with_the_trait_leaves_a_moment_and_no_likelihood_of_truth():
    result = designs.stochastic_lie_detector(*rows_of_counts([650, 250], [1000, 1000], [0.4, 0.7]))
    assert result["pi"].moment == pytest.approx(-0.1 / 0.3)
    assert result["t"].moment == pytest.approx((0.25 * 0.6 - 0.65 * 0.3) / -0.1)
    assert (result["pi"].maximum_likelihood, result["t"].maximum_likelihood) == (0, None)


def test_a_moment_of_nobody_may_have_a_likelihood_of_somebody():
    result = designs.stochastic_lie_detector(*rows_of_counts([600, 300], [1000, 1000], [0.5, 0.8]))
    assert (result["t"].moment, result["t"].standard_error) == (None, None)
    assert result["t"].maximum_likelihood == pytest.approx(1)
    assert any(note.startswith("t has no moment estimate") for note in result.warnings)


@pytest.mark.parametrize("design", TWO_GROUPS)
def test_equal_odds_in_both_groups_tell_nothing_apart(design):
    with pytest.raises(
        ValueError, match=r"cannot be told apart: two groups .*, got p 0\.3 in all of 2"
    ):
        design([0, 1, 0, 1], 0.3, ["a", "a", "b", "b"])


@pytest.mark.parametrize("design", TWO_GROUPS)
def test_one_group_tells_nothing_apart(design):
    with pytest.raises(ValueError, match="in all of 1"):
        design([0, 1, 0, 1], 0.3)


@pytest.mark.parametrize("design", [*TWO_GROUPS, designs.triangular, designs.mangat])
def test_odds_are_chances_and_reports_are_reports(design):
    with pytest.raises(ValueError, match=r"p must be between 0 and 1, got 1\.2"):
        design([0, 1], [0.2, 1.2])
    with pytest.raises(ValueError, match="must be finite"):
        design([0, float("nan")], [0.2, 0.8])


def test_directions_to_yes_and_no_leave_room():
    with pytest.raises(ValueError, match=r"p and no must add up to at most 1, got 1\.1"):
        designs.cheating_detection([0, 1], [0.2, 0.8], no=0.3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 1], 0.5, 0.5), r"p1 and p2 are both 0\.5"),
        (([0, 1], 0.5, 1.5), r"p2 must be from 0 to 1, got 1\.5"),
        (([0, 3], 0.5, 0.2, 2), "red must be whole numbers from 0 to 2"),
        (([0, 1], 0.5, 0.2, 0), "repeats must be 1 or more, got 0"),
    ],
)
def test_kuk_refuses(arguments, words):
    with pytest.raises(ValueError, match=words):
        designs.kuk(*arguments)


def test_who_always_answers_alike_answers_same_or_different():
    with pytest.raises(ValueError, match="always must be same or different, got 'never'"):
        designs.extended_crosswise([0, 1], [0.2, 0.8], always="never")


def test_weights_of_two_are_rows_twice_but_for_their_doubt():
    """Weighted estimates are those of the repeated rows; errors know that nobody was asked
    twice.
    """
    rows = rows_of_counts([200, 192], [N1, N2], [0.4, 0.7])
    weights = np.where(np.arange(N1 + N2) % 2, 1.0, 2.0)
    weighted = designs.stochastic_lie_detector(*rows, weights=weights)
    repeated = designs.stochastic_lie_detector(
        *(np.repeat(each, weights.astype(int)) for each in rows)
    )
    for name in ("pi", "t"):
        assert weighted[name].moment == pytest.approx(repeated[name].moment)
        assert weighted[name].maximum_likelihood == pytest.approx(repeated[name].maximum_likelihood)
        assert weighted[name].standard_error > 1.05 * repeated[name].standard_error
        assert weighted[name].interval[0] < repeated[name].interval[0]
    assert weighted.n == N1 + N2


def test_weighted_errors_are_what_repeated_surveys_spread_by():
    """200 surveys, weights that go with the trait: spread within 20 % of the mean error (false
    alarm 1 in 10,000).
    """
    rng = np.random.default_rng(7)
    p = np.repeat([0.25, 0.75], 400)
    found = []
    for _ in range(200):
        honest, weight = rng.random(800) < 0.3, rng.choice([0.5, 1.0, 2.5], 800)
        yes = np.where(honest & (weight > 1), True, rng.random(800) < p)
        pi = designs.cheating_detection(yes, p, weights=weight)["pi"]
        found.append((pi.moment, pi.standard_error))
    moments, errors = np.transpose(found)
    truth = 0.3 * 2.5 / 4  # weighted share of the honest carriers
    assert moments.mean() == pytest.approx(truth, abs=4 * moments.std() / 200**0.5)
    assert moments.std() == pytest.approx(errors.mean(), rel=0.2)


def test_intervals_hold_in_simulated_surveys():
    """200 surveys of 2 × 300: 95 % intervals of π and t hold in 90 % at least (false alarm below
    1 in 500 each).
    """
    rng, held = np.random.default_rng(1), np.zeros(2)
    for _ in range(200):
        yes = rng.binomial(300, [0.3 * 0.6 + 0.7 * 0.7, 0.3 * 0.6 + 0.7 * 0.2])
        result = designs.stochastic_lie_detector(*rows_of_counts(yes, [300, 300], [0.3, 0.8]))
        for place, (name, truth) in enumerate((("pi", 0.3), ("t", 0.6))):
            low, high = result[name].interval
            held[place] += low <= truth <= high
    assert (held >= 180).all()
