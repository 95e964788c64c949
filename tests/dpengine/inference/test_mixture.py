"""The engine of the imported designs: profiles that end at the edges, errors, warnings."""

import numpy as np
import pytest

from dpengine.inference.mixture import Arm, analyse, target


def arm(counts, yes):
    """Return an arm of reports no, yes, given each class's chance of yes."""
    filled = np.asarray(counts, dtype=np.float64)
    return Arm(filled, filled, np.column_stack([1 - np.asarray(yes), yes]))


def test_the_case_by_hand():
    result = analyse([arm([30, 70], [1, 0.25])], [target("pi", [1, 0])])
    assert result.n == 100
    assert result["pi"].moment == pytest.approx(0.6)
    assert result["pi"].maximum_likelihood == pytest.approx(0.6)
    assert result["pi"].standard_error == pytest.approx((0.7 * 0.3 / 100) ** 0.5 / 0.75)
    assert result.log_likelihood == pytest.approx(30 * np.log(0.3) + 70 * np.log(0.7))
    assert (result.fit.g2, result.fit.df, result.warnings) == (pytest.approx(0, abs=1e-9), 0, ())


def test_the_profile_of_a_binary_share_is_its_own_formula():
    low, high = analyse([arm([30, 70], [1, 0.25])], [target("pi", [1, 0])])["pi"].interval
    for limit in (low, high):
        yes = 0.25 + 0.75 * limit
        deviance = 2 * (70 * np.log(0.7 / yes) + 30 * np.log(0.3 / (1 - yes)))
        assert deviance == pytest.approx(3.841459, abs=1e-4)


def test_beyond_the_edge_the_summit_is_at_it_and_says_so():
    result = analyse([arm([80, 20], [1, 0.25])], [target("pi", [1, 0])])  # .20 yes, below .25
    pi = result["pi"]
    assert pi.moment == pytest.approx(-0.0667, abs=1e-4)
    assert pi.maximum_likelihood == 0
    assert pi.interval[0] == 0 < pi.interval[1]
    assert pi.standard_error == pytest.approx(0.4 / 10 / 0.75)
    assert "the moment estimate of pi is -0.0667, outside 0 to 1" in result.warnings
    assert any("no further than chance takes them (G2 = 1.40)" in note for note in result.warnings)


def test_far_beyond_the_edge_is_further_than_chance():
    notes = analyse([arm([95, 5], [1, 0.25])], [target("pi", [1, 0])]).warnings
    assert any(
        "further than chance takes them" in note and "no further" not in note for note in notes
    )


def test_reports_that_all_agree_leave_doubt():
    result = analyse([arm([0, 40], [1, 0.25])], [target("pi", [1, 0])])
    share = 0.5 / 41  # one person more, half of each kind
    assert result["pi"].standard_error == pytest.approx((share * (1 - share) / 41) ** 0.5 / 0.75)
    assert result["pi"].maximum_likelihood == pytest.approx(1)
    assert any("decode alike" in note for note in result.warnings)


def test_what_reports_cannot_tell_is_refused():
    with pytest.raises(ValueError, match="pi cannot be told from these reports"):
        analyse([arm([40, 60], [0.3, 0.3])], [target("pi", [1, 0])])


def test_two_arms_of_one_class_structure_are_tested_against_each_other():
    result = analyse([arm([50, 50], [1, 0.25]), arm([80, 20], [0.8, 0.1])], [target("pi", [1, 0])])
    assert result.fit.df == 1
    assert result.fit.p < 0.05
    assert any("does not fit the reports" in note for note in result.warnings)


def test_a_design_effect_divides_the_fits_statistic():
    plain = [arm([50, 50], [1, 0.25]), arm([80, 20], [0.8, 0.1])]
    weighted = [Arm(each.counts, each.squares * 2, each.chances) for each in plain]
    g2 = [analyse(arms, [target("pi", [1, 0])]).fit.g2 for arms in (plain, weighted)]
    assert g2[1] == pytest.approx(g2[0] / 2)


@pytest.mark.parametrize("confidence", [0, 1, float("nan")])
def test_confidence_is_a_chance(confidence):
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        analyse([arm([1, 1], [1, 0])], [target("pi", [1, 0])], confidence=confidence)


def test_a_design_effect_widens_error_and_interval_by_its_root():
    plain = analyse([arm([30, 70], [1, 0.25])], [target("pi", [1, 0])])["pi"]
    counts = np.array([30.0, 70.0])
    # Σw² half as large again: design effect 1.5
    unequal = Arm(counts, counts * 1.5, arm([1, 1], [1, 0.25]).chances)
    wide = analyse([unequal], [target("pi", [1, 0])])["pi"]
    assert wide.standard_error == pytest.approx(plain.standard_error * 1.5**0.5)
    assert wide.interval[0] < plain.interval[0] < plain.interval[1] < wide.interval[1]


def test_odds_of_each_row_make_cells_too_small_to_judge():
    """40 people with odds of their own each: G² of single reports is no chi-square."""
    odds = np.linspace(0.1, 0.4, 40)
    arms = [arm([row % 2, 1 - row % 2], [1 - p, p]) for row, p in enumerate(odds)]
    result = analyse(arms, [target("pi", [1, 0])])
    assert result.fit is None
    assert not any("does not fit" in note for note in result.warnings)


def test_beyond_the_edge_without_a_fit_nothing_is_said_of_chance():
    arms = [arm([1, 0], [1 - p, p]) for p in np.linspace(0.1, 0.4, 40)]
    notes = analyse(arms, [target("pi", [1, 0])]).warnings
    assert any(
        "the reports lie beyond what the design allows: maximum likelihood" in note
        for note in notes
    )
