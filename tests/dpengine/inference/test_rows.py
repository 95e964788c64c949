import numpy as np
import pytest

from dpengine.inference.inputs import weights_of
from dpengine.inference.rows import chances_of, groups_of, two_of


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, [0.2, 1.2]])
def test_a_chance_is_between_0_and_1(p):
    with pytest.raises(ValueError, match="p must be between 0 and 1, got"):
        chances_of(p, 2, "p")


def test_a_closed_chance_may_be_0_or_1():
    assert chances_of([0, 1], 2, "no", closed=True).tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"no must be from 0 to 1, got 1\.1"):
        chances_of(1.1, 2, "no", closed=True)


def test_chances_are_one_for_all_or_one_each():
    assert chances_of(0.3, 3, "p").tolist() == [0.3] * 3
    with pytest.raises(ValueError, match="p must have as many rows as there are reports, 3, got 2"):
        chances_of([0.3, 0.4], 3, "p")


def test_weights_add_up_to_the_rows():
    assert weights_of([1, 3], 2).tolist() == [0.5, 1.5]
    assert weights_of(None, 2).tolist() == [1, 1]


@pytest.mark.parametrize("weights", [[1, 0], [1, -1]])
def test_a_weight_is_above_0_where_rows_make_groups(weights):
    with pytest.raises(ValueError, match="weights must be above 0, got"):
        weights_of(weights, 2, positive=True)


@pytest.mark.parametrize("weights", [[1, float("nan")], [1, float("inf")]])
def test_a_weight_is_finite(weights):
    with pytest.raises(ValueError, match="weights must be finite"):
        weights_of(weights, 2)


def test_every_row_has_a_weight():
    with pytest.raises(
        ValueError, match="weights must have as many rows as there are reports, 3, got 2"
    ):
        weights_of([1, 1], 3)


def test_groups_are_named_or_have_equal_odds():
    odds = {"p": np.array([0.2, 0.8, 0.2])}
    groups, index = groups_of(3, odds)
    assert ([each.tolist() for each in groups], index.tolist()) == ([[0.2], [0.8]], [0, 1, 0])
    groups, index = groups_of(3, odds, ["x", "y", "z"])
    assert (len(groups), index.tolist()) == (3, [0, 1, 2])


def test_a_group_has_one_set_of_odds():
    with pytest.raises(ValueError, match="group 'a' must have one p, got 2"):
        groups_of(3, {"p": np.array([0.2, 0.8, 0.2])}, ["a", "a", "b"])
    with pytest.raises(ValueError, match="group must be one for each of 3 rows"):
        groups_of(3, {"p": np.array([0.2, 0.8, 0.2])}, ["a", "b"])


def test_one_set_of_odds_cannot_tell_two_parameters_apart():
    with pytest.raises(
        ValueError, match=r"pi, t cannot be told apart: two groups .* got p 0\.3 in all of 1"
    ):
        two_of([np.array([0.3])], "p", ["pi", "t"])
