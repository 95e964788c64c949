"""The anchor's correction against the R package cWise's own example, and in simulated surveys."""

import numpy as np
import pytest

from dpengine.inference.anchor import anchored_crosswise


def rows(cells):
    """Return same and anchor columns from counts of (0, 0), (0, 1), (1, 0), (1, 1)."""
    return np.repeat([0, 0, 1, 1], cells), np.repeat([0, 1, 0, 1], cells)


def survey(rng, n, share, attentive, p, anchor_p):
    """Return the reports of n people, of whom some attend, and the rest guess."""
    attend, has = rng.random(n) < attentive, rng.random(n) < share
    same = np.where(attend, rng.random(n) < np.where(has, p, 1 - p), rng.random(n) < 0.5)
    return same, np.where(attend, rng.random(n) < 1 - anchor_p, rng.random(n) < 0.5)


def test_the_example_of_cwise():
    """Documentation of bc.est in YukiAtsusaka/cWise on its cmdata, n = 2,000, both odds .15.

    Naive .1950 (error .0144, n − 1), corrected .1054 (.0208 from 200 bootstrap samples: ± 10 %),
    .7729 attend. The cells' margins are cmdata's; how they cross is made up.
    """
    result = anchored_crosswise(*rows([140, 433, 319, 1108]), 0.15, 0.15)
    assert (result["pi"].moment, result["attentive"].moment) == (
        pytest.approx(0.1053604, abs=1e-6),
        pytest.approx(0.7728571, abs=1e-6),
    )
    assert result["uncorrected"].moment == pytest.approx(0.195)
    naive = anchored_crosswise(*rows([140, 433, 319, 1108]), 0.15, 0.15)[
        "uncorrected"
    ].standard_error
    assert naive == pytest.approx(0.01444624, rel=0.02)
    assert result["pi"].standard_error == pytest.approx(0.0208, rel=0.1)


def test_the_moment_estimator_is_the_papers_and_its_delta_method_has_the_covariance():
    same, anchor = rows([150, 420, 330, 1100])
    p, anchor_p = 0.15, 0.2
    result = anchored_crosswise(same, anchor, p, anchor_p)
    y, a = same.mean() - 0.5, anchor.mean() - 0.5
    attentive = a / (0.5 - anchor_p)
    assert result["pi"].moment == pytest.approx(0.5 - y / (0.5 - p) / attentive / 2)
    covariance = np.cov(same, anchor, bias=True) / len(same)
    slope = np.array([1 / a, -y / a**2]) * (0.5 - anchor_p) / (0.5 - p) / 2
    # likelihood's
    assert result["pi"].standard_error == pytest.approx(
        (slope @ covariance @ slope) ** 0.5, rel=0.15
    )


def test_the_moment_error_at_the_edge_is_the_delta_methods():
    same, anchor = rows([10, 140, 90, 760])  # more attend than there are people
    result = anchored_crosswise(same, anchor, 0.15, 0.15)
    assert result["attentive"].moment > 1
    assert result["attentive"].maximum_likelihood == pytest.approx(1)
    assert result["attentive"].standard_error == pytest.approx(anchor.std() / 1000**0.5 / 0.35)
    assert any("maximum likelihood is at the edge" in note for note in result.warnings)


def test_all_four_cells_are_fitted_so_that_one_degree_of_freedom_tests_who_attends():
    assert anchored_crosswise(*rows([140, 433, 319, 1108]), 0.15, 0.15).fit.df == 1
    # who errs in one is careful in the other
    two_kinds = anchored_crosswise(*rows([20, 553, 439, 988]), 0.15, 0.15)
    assert two_kinds.fit.p < 0.001


def test_a_known_prevalence_of_the_anchor_is_used():
    """A tenth of people say yes to the anchor truthfully: counts in proportion to the chances
    give the truth back.
    """
    share, attentive, p, anchor_p, known = 0.2, 0.8, 0.1, 0.2, 0.1
    yes = known * anchor_p + (1 - known) * (1 - anchor_p)
    same = share * p + (1 - share) * (1 - p)
    chances = attentive * np.outer([1 - same, same], [1 - yes, yes]) + (1 - attentive) / 4
    result = anchored_crosswise(
        *rows((chances.ravel() * 1e5).round().astype(int)), p, anchor_p, prevalence=known
    )
    assert result["pi"].maximum_likelihood == pytest.approx(share, abs=1e-4)
    assert result["attentive"].maximum_likelihood == pytest.approx(attentive, abs=1e-4)


def test_two_arms_with_turned_chances_are_one_survey():
    rng = np.random.default_rng(12)
    p = rng.choice([0.15, 0.85], 4000)
    same, anchor = survey(rng, 4000, 0.1, 0.85, p, 0.15)
    result = anchored_crosswise(same, anchor, p, 0.15)
    assert result.fit.df == 6 - 2
    assert result["pi"].moment == pytest.approx(0.1, abs=4 * result["pi"].standard_error)  # seed 12


def test_the_correction_is_right_where_the_plain_crosswise_estimate_is_not():
    """150 surveys of 800, 75 % attend: means within 4 standard errors, intervals hold in 134 at
    least.

    False alarms: 1 in 5,000 and 1 in 400.
    """
    rng, found, held = np.random.default_rng(3), [], 0
    for _ in range(150):
        result = anchored_crosswise(*survey(rng, 800, 0.1, 0.75, 0.15, 0.15), 0.15, 0.15)
        low, high = result["pi"].interval
        held += low <= 0.1 <= high
        found.append([result[name].moment for name in ("pi", "attentive", "uncorrected")])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / 150**0.5
    assert (np.abs(mean - [0.1, 0.75, 0.75 * 0.1 + 0.25 / 2]) < 4 * error).all()
    assert held >= 134


def test_weights_count_people():
    same, anchor = rows([140, 433, 319, 1108])
    weights = np.where(same == anchor, 2.0, 1.0)
    weighted = anchored_crosswise(same, anchor, 0.15, 0.15, weights=weights)
    y, a = (np.average(each, weights=weights) - 0.5 for each in (same, anchor))
    assert weighted["pi"].moment == pytest.approx(0.5 - y / a / 2)
    assert weighted.n == 2000


def test_an_anchor_that_shows_no_attention_says_so():
    result = anchored_crosswise(*rows([250, 250, 250, 250]), 0.15, 0.15)
    assert any("does not show that anyone attends" in note for note in result.warnings)
    assert result["pi"].interval == (0, 1)


def test_few_who_attend_and_odds_near_a_half_are_said():
    notes = anchored_crosswise(*rows([1800, 2600, 2500, 3100]), 0.15, 0.15).warnings
    assert any("fewer than half attend" in note for note in notes)
    notes = anchored_crosswise(*rows([140, 433, 319, 1108]), 0.48, 0.15).warnings
    assert any(note.startswith("p is near 1/2") for note in notes)
    assert not any(note.startswith("anchor_p is near") for note in notes)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 1], [0, 1], 0.5, 0.2), "p must not be 1/2"),
        (([0, 1], [0, 1], 0.2, 0.5), "anchor_p must not be 1/2"),
        (([0, 1], [0, 1], 0.2, 0.2, 0.5), "prevalence must not be 1/2"),
        (([0, 1], [0, 1], 0.2, 0.2, 1.5), r"prevalence must be from 0 to 1, got 1\.5"),
        (([0, 1], [0, 1], 0, 0.2), "p must be between 0 and 1, got 0"),
        (([0, 1], [0], 0.2, 0.2), "anchor must be one for each of 2 rows, got 1"),
        (([0, 2], [0, 1], 0.2, 0.2), "same must be whole numbers from 0 to 1"),
        (([0, 1], [0, float("nan")], 0.2, 0.2), "anchor must be finite"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(ValueError, match=words):
        anchored_crosswise(*arguments)
