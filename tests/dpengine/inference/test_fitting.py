import numpy as np
import pytest

from dpengine.inference import fitting
from dpengine.inference.fitting import climb, highest


class TwoPeaks:
    """−(x² − 1)² + x/10 − 10y²: peaks near x = ±1, the right one higher, a saddle between them."""

    def height(self, at):
        return float(-((at[0] ** 2 - 1) ** 2) + at[0] / 10 - 10 * at[1] ** 2)

    def slopes(self, at):
        gradient = np.array([-4 * at[0] * (at[0] ** 2 - 1) + 0.1, -20 * at[1]])
        return self.height(at), gradient, np.diag([4 - 12 * at[0] ** 2, -20.0])


class Ridge:
    """−e^(−x) − y² rises with x for ever."""

    def height(self, at):
        return float(-np.exp(-at[0]) - at[1] ** 2)

    def slopes(self, at):
        return (
            self.height(at),
            np.array([np.exp(-at[0]), -2 * at[1]]),
            np.diag([-np.exp(-at[0]), -2.0]),
        )


class Cliff(Ridge):
    """Promises a rise that never comes."""

    def height(self, at):
        return -float(np.abs(at).sum())


def test_a_climb_leads_up_from_a_hollow_and_ends_where_nothing_is_left_to_win():
    top = climb(TwoPeaks(), np.array([0.01, 3.0]))
    assert top.at == pytest.approx([1.0123, 0], abs=1e-4)
    assert np.abs(top.gradient).max() < 1e-12
    assert top.weak.size == 0


def test_the_highest_of_several_summits_is_found_by_starts_around_the_first():
    best, found = highest(TwoPeaks(), [np.array([-2.0, 0])])
    assert climb(TwoPeaks(), np.array([-2.0, 0])).at[0] < 0 < best.at[0]
    assert len(found) == 7


def test_further_starts_are_tried_only_where_one_summit_may_not_be_all(monkeypatch):
    monkeypatch.setattr(fitting, "STEEP", 1.0)
    left, right = np.array([-2.0, 0]), np.array([2.0, 0])
    assert len(highest(TwoPeaks(), [right])[1]) == 1
    assert len(highest(TwoPeaks(), [right, left])[1]) == 8


def test_further_starts_lie_to_either_side_in_the_weakest_direction():
    top = climb(TwoPeaks(), np.array([2.0, 0]))  # curvatures 8.3 along x and 20 along y
    ways = np.array(top.around()) - top.at
    assert np.abs(ways[:, 0]) == pytest.approx(
        np.repeat([3, 8, 20], 2) / np.sqrt(12 * top.at[0] ** 2 - 4)
    )
    assert ways.sum(axis=0) == pytest.approx([0, 0])
    assert (
        np.abs(
            climb(Ridge(), np.array([0.0, 1.0])).around()[1]
            - climb(Ridge(), np.array([0.0, 1.0])).at
        ).max()
        == 15
    )


def test_a_ridge_has_a_weak_direction_that_is_left_out_of_the_covariance():
    top = climb(Ridge(), np.array([0.0, 1.0]))
    assert np.abs(top.weak) == pytest.approx(np.array([[1.0], [0.0]]))
    assert top.covariance() == pytest.approx(np.diag([0, 0.5]))
    assert top.covariance(meat=np.eye(2)) == pytest.approx(np.diag([0, 0.25]))


class Foothill(TwoPeaks):
    """A summit at x = −3 with a ridge to its right that ends higher by `rise`."""

    def __init__(self, rise):
        self.rise = rise

    def height(self, at):
        return self.slopes(at)[0]

    def slopes(self, at):
        bump, sigmoid = np.exp(-((at[0] + 3) ** 2) * 20), 1 / (1 + np.exp(-at[0]))
        height = bump + (1 + self.rise) * sigmoid - at[1] ** 2
        first = -40 * (at[0] + 3) * bump + (1 + self.rise) * sigmoid * (1 - sigmoid)
        second = (1600 * (at[0] + 3) ** 2 - 40) * bump + (1 + self.rise) * sigmoid * (
            1 - sigmoid
        ) * (1 - 2 * sigmoid)
        return float(height), np.array([first, -2 * at[1]]), np.diag([second, -2.0])


@pytest.mark.parametrize(("rise", "summit_wins"), [(2.0, True), (5.0, False)])
def test_a_ridge_counts_only_if_it_is_higher_than_chance_makes_it(rise, summit_wins):
    # chi-square .05, 2 df: 2 × 3.0
    best, _ = highest(Foothill(rise), [np.array([-3.0, 0]), np.array([2.0, 0])])
    assert (best.weak.size == 0) == summit_wins
    assert (best.at[0] < 0) == summit_wins


def test_a_climb_that_does_not_end_is_an_error_that_says_so():
    with pytest.raises(
        ArithmeticError, match="not maximised in 300 rounds: one more still promises 1"
    ):
        highest(Cliff(), [np.zeros(2)])


def test_a_climb_without_end_stops_after_its_rounds(monkeypatch):
    monkeypatch.setattr(fitting, "ROUNDS", 2)
    assert climb(TwoPeaks(), np.array([-9.0, 3.0])).gain > 1
