import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpengine.local import linear_program
from dpengine.local.linear_program import best, grid_of, least_variance, whole
from dpengine.privacy import exponential_below

ENDS = [Fraction(-1), Fraction(1)]


def test_two_inputs_and_two_outputs_are_duchis_mechanism():
    reach = (math.e + 1) / (math.e - 1)
    variance, lows = least_variance(
        np.array([-1.0, 1.0]), np.array([-reach, reach]), math.e, between=False
    )
    assert variance == pytest.approx(reach**2 - 1)
    assert lows == pytest.approx([1 / (math.e + 1)] * 2)


def test_two_inputs_are_whole_by_one_bit():
    made = whole(ENDS, Fraction(3), 1.0, between=False)
    assert made.weights == ((25_000, 75_000)[::-1], (25_000, 75_000))
    assert made.outputs == (-1, 1)
    assert made.unit == 2
    assert made.worst_variance(ENDS, between=False) == pytest.approx(3)


def test_variance_between_inputs_is_counted():
    """Answers 0 rounded to ±1 vary by 1 more than the reports of ±1 do about them."""
    made = whole(ENDS, Fraction(3), 1.0, between=False)
    assert made.worst_variance(ENDS, between=True) == pytest.approx(4)


@pytest.mark.parametrize("epsilon", ["0.003", "0.3", "1", "2.5", "5"])
@pytest.mark.parametrize("steps", [2, 3, 9, 31, 77])
def test_whole_rows_keep_sum_mean_and_loss_exactly(epsilon, steps):
    loss = exponential_below(Decimal(epsilon))
    grid, made = best(steps, Decimal(epsilon), 2)
    for point, row in zip(grid, made.weights, strict=True):
        assert sum(row) == sum(made.weights[0])
        moment = sum(weight * output for weight, output in zip(row, made.outputs, strict=True))
        assert moment * made.unit == (Fraction(2 * point, steps) - 1) * sum(row)
    assert (
        max(Fraction(max(column), min(column)) for column in zip(*made.weights, strict=True))
        <= loss
    )


@pytest.mark.parametrize("steps", [1, 4, 5, 40, 97])
@pytest.mark.parametrize("points", [3, 7, 25])
def test_a_grid_is_symmetric_from_end_to_end(steps, points):
    grid = grid_of(steps, points)
    assert grid[0] == 0
    assert grid[-1] == steps
    assert sorted(steps - point for point in grid) == list(grid)
    assert len(grid) <= points + 1


def test_lows_that_leave_no_whole_row_are_tried_again_with_more_headroom(monkeypatch):
    """Without headroom high and low of four outputs are used up to the last unit, and no unit is
    left to move.
    """
    tried = []
    solve = linear_program.least_variance
    monkeypatch.setattr(
        linear_program, "least_variance", lambda *args: tried.append(args) or solve(*args)
    )
    monkeypatch.setattr(linear_program, "SLACKS", (0.0, 3e-4))
    whole(
        [Fraction(-1), Fraction(0), Fraction(1)],
        exponential_below(Decimal("0.25")),
        1.508,
        between=True,
    )
    assert len(tried) == 2


def test_no_whole_table_at_all_is_an_error(monkeypatch):
    monkeypatch.setattr(linear_program, "SLACKS", ())
    with pytest.raises(ArithmeticError, match="no whole table was found for 3 inputs"):
        whole([Fraction(-1), Fraction(0), Fraction(1)], Fraction(3), 0.5, between=True)


@pytest.mark.parametrize("mean", [-60, 60])
def test_a_mean_out_of_reach_is_found_out(mean):
    with pytest.raises(linear_program._OutOfReach):
        linear_program._row(mean, 10, (5, 5, 5), (5, 5, 5), (-2, 0, 2))


def test_a_distance_that_no_moves_add_up_to_is_found_out():
    with pytest.raises(linear_program._OutOfReach):
        linear_program._path(3, [2, -2])
    assert linear_program._path(0, []) == []
    assert sorted(linear_program._path(3, [1, 2])) == [1, 2]


def test_a_move_without_room_is_found_out():
    """Two outputs, one unit of room: +2 once is possible, twice is not."""
    with pytest.raises(linear_program._OutOfReach):
        linear_program._moved((6, 5), 4, (5, 5), (1, 1), (-1, 1))


def test_weights_that_would_pass_a_word_are_refused():
    with pytest.raises(ValueError, match=r"sum of at most 2\*\*32"):
        linear_program._total([Fraction(1, 2**32 + 1)], Fraction(2), (-1, 0, 1), Fraction(1, 3))
