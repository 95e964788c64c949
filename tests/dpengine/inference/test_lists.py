"""The list experiment against R's `list` on its own data, and against mistakes it can show.

1991 National Race and Politics Survey, "a black family moving next door" (data set `race` of R's
list, Blair and Imai): counts by answer from Blair and Imai 2012, table 1. The package's tests
(testthat/test-ictreg.R, "diff in means works") hold .068 and 2.134 with standard errors .050 and
.033; the paper's table of types, −.017 (.008).
"""

import numpy as np
import pytest

from dpengine.inference import lists
from dpengine.inference.lists import list_experiment

CONTROL, TREATED = [8, 132, 222, 227], [19, 123, 229, 219, 34]


def rows(control, treated):
    counts = [np.repeat(np.arange(len(group)), group) for group in (control, treated)]
    return np.concatenate(counts), np.repeat([0, 1], [len(group) for group in counts])


def test_the_race_survey_as_published():
    result = list_experiment(*rows(CONTROL, TREATED), items=3)
    pi = result["pi"]
    assert result.n == 1213
    assert (round(pi.moment, 3), round(pi.standard_error, 3)) == (0.068, 0.050)
    assert pi.interval == (0, pytest.approx(0.0678 + 1.96 * 0.0495, abs=1e-3))
    assert any("ceiling: 39% of the control group count all 3" in note for note in result.warnings)


def types_of(control, treated):
    counts, group = rows(control, treated)
    return lists._types(*lists._arms(counts, group, len(control) - 1, None))


def test_the_types_of_the_race_survey_as_published():
    types = {(kind.items, kind.sensitive): kind for kind in types_of(CONTROL, TREATED)}
    assert round(types[0, True].share, 3) == -0.017
    assert round(types[0, True].standard_error, 3) == 0.008
    assert types[3, True].share == pytest.approx(34 / 624)
    assert types[1, False].share == pytest.approx((19 + 123) / 624 - 8 / 589)
    assert sum(kind.share for kind in types.values()) == pytest.approx(1)


def test_the_least_likely_type_is_two_errors_below_zero():
    """−.0169 is 2.015 errors below 0: one-sided .0220; times 8 types, no cause for alarm."""
    chances = [lists._below_zero(kind) for kind in types_of(CONTROL, TREATED)]
    assert min(chances) == pytest.approx(0.0220, abs=1e-4)
    notes = list_experiment(*rows(CONTROL, TREATED), items=3).warnings
    assert not any("design effect" in note for note in notes)


def test_a_survey_whose_types_all_exist_has_the_difference_in_means_for_its_likelihood():
    result = list_experiment(*rows([100, 300, 100], [70, 250, 140, 40]), items=2)
    assert result["pi"].moment == pytest.approx((250 + 280 + 120) / 500 - 1)
    assert result["pi"].maximum_likelihood == pytest.approx(result["pi"].moment)
    assert (result.fit.g2, result.fit.df) == (pytest.approx(0, abs=1e-9), 0)


def test_an_item_that_changes_other_answers_shows():
    result = list_experiment(*rows([50, 300, 150], [200, 200, 80, 20]), items=2)
    note = next(note for note in result.warnings if "design effect" in note)
    assert "the share of people with 0 items and the sensitive one came out at -0.3000" in note
    assert result["pi"].moment == pytest.approx(-0.36)
    assert result["pi"].interval[0] == 0 < result["pi"].interval[1]


def test_a_treated_group_that_counts_too_much_shows_on_the_other_side():
    result = list_experiment(*rows([200, 200, 100], [0, 20, 200, 280]), items=2)
    assert any("not the sensitive one came out at -0.3600" in note for note in result.warnings)
    assert result["pi"].interval[1] == 1


def test_a_floor_is_said():
    result = list_experiment(*rows([80, 20, 0], [70, 25, 5, 0]), items=2)
    assert any(
        note.startswith("floor: 80% of the control group count 0") for note in result.warnings
    )


def test_a_group_that_counts_alike_leaves_doubt():
    pi = list_experiment(*rows([0, 40, 0], [0, 0, 40, 0]), items=2)["pi"]
    assert pi.moment == pytest.approx(1)
    assert pi.standard_error > 0.02
    assert pi.interval[0] < 1


def test_weights_stand_for_people():
    counts, treated = rows([100, 300, 100], [70, 250, 140, 40])
    weights = 1.0 + counts  # who counts more stands for more
    pi = list_experiment(counts, treated, 2, weights)["pi"]
    means = [np.average(counts[treated == arm], weights=weights[treated == arm]) for arm in (0, 1)]
    assert pi.moment == pytest.approx(means[1] - means[0])


@pytest.mark.parametrize(
    ("count", "treated", "items", "words"),
    [
        ([0, 3], [0, 1], 0, "items must be 1 or more, got 0"),
        ([0, 4], [0, 1], 2, "count must be whole numbers from 0 to 3"),
        ([3, 0], [0, 1], 2, "count must be 0 to 2 in the control group"),
        ([0, 1], [0, 2], 2, "treated must be whole numbers from 0 to 1"),
        ([0, 1], [1, 1], 2, "the control group has no one"),
        ([0, 1], [0, 0], 2, "the treated group has no one"),
        ([0, 1], [0], 2, "treated must be one for each of 2 rows, got 1"),
    ],
)
def test_refusals(count, treated, items, words):
    with pytest.raises(ValueError, match=words):
        list_experiment(count, treated, items)
