import math
from fractions import Fraction

import numpy as np
import pytest

from dpengine.central import workload
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.workload import LinearQueries, merge
from dpengine.privacy import Neighbours

CHANCE = np.random.default_rng(20261121)  # of workloads and people, not of noise
OVERLAPPING = [
    [int(first <= age <= last) for age in range(60)]
    for first, last in ((0, 20), (21, 59), (0, 59), (10, 40))
]
RANDOM = CHANCE.integers(0, 2, (12, 9)).tolist()
PREFIXES = np.tril(np.ones((24, 24), dtype=int)).tolist()


def one_by_one(epsilon, queries):
    """The total squared error of asking one query after another, each with an equal part of ε."""
    return len(queries) * DiscreteLaplace.for_epsilon(epsilon / len(queries), 1).variance


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(12)], ids=str)
@pytest.mark.parametrize(
    "queries", [OVERLAPPING, RANDOM, PREFIXES], ids=["overlapping", "random", "prefixes"]
)
@pytest.mark.parametrize("neighbours", Neighbours)
def test_it_is_never_worse_than_one_by_one_or_cell_by_cell(queries, epsilon, neighbours):
    mechanism = LinearQueries.for_epsilon(epsilon, queries, neighbours)
    total = (mechanism.standard_errors**2).sum()
    moved = 1 if neighbours is Neighbours.ADD_REMOVE else 2
    cells = DiscreteLaplace.for_epsilon(epsilon, moved).variance * np.sum(mechanism.queries**2)
    assert total <= one_by_one(epsilon, queries) * (1 + 1e-9)
    assert total <= cells * (1 + 1e-9)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_gaussian_noise_is_never_worse_than_one_by_one(neighbours):
    rho = Fraction(1, 8)
    mechanism = LinearQueries.for_rho(rho, PREFIXES, neighbours)
    assert (mechanism.standard_errors**2).sum() < len(PREFIXES) * len(PREFIXES) / (
        2 * float(rho)
    ) / 5
    assert rho * (1 - Fraction(1, 2**40)) < mechanism.cost.rho <= rho


def test_it_never_costs_more_than_was_asked_for():
    for epsilon in (Fraction(1, 3), Fraction("0.7")):
        cost = LinearQueries.for_epsilon(epsilon, PREFIXES, Neighbours.CHANGE_ONE).cost
        assert epsilon * (1 - Fraction(1, 2**40)) < cost.epsilon <= epsilon


def test_yes_and_no_by_hand():
    mechanism = LinearQueries.for_epsilon(Fraction(1), [[1, 0], [0, 1]], Neighbours.CHANGE_ONE)
    assert mechanism.noise.scale == 1
    assert mechanism.standard_errors**2 == pytest.approx(DiscreteLaplace(1.0, 1).variance)
    assert sum(mechanism.release([30, 70])) == pytest.approx(100)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_a_range_is_the_sum_of_its_parts(neighbours):
    mechanism = LinearQueries.for_epsilon(Fraction(1), OVERLAPPING, neighbours)
    young, old, everybody, _ = mechanism.release([7] * 60)
    assert young + old == pytest.approx(everybody, abs=1e-6)
    assert neighbours is Neighbours.ADD_REMOVE or everybody == pytest.approx(420, abs=1e-6)


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize(
    "made", [LinearQueries.for_epsilon, LinearQueries.for_rho], ids=["Laplace", "Gaussian"]
)
def test_answers_are_off_as_the_formula_says_and_lie_in_their_intervals(made, neighbours):
    """2,500 draws: a mean square off by 27 % is six standard errors, a coverage of 92.4 % too."""
    mechanism = made(Fraction(1, 2), RANDOM, neighbours)
    people = CHANCE.integers(0, 300, 9).tolist()
    truth = np.array(RANDOM) @ people
    drawn = [mechanism.release(people) for _ in range(2500)]
    off = np.array(drawn) - truth
    errors = mechanism.standard_errors**2
    assert np.sqrt(errors) == pytest.approx(mechanism.standard_errors)
    assert np.mean(off**2, axis=0) == pytest.approx(errors, rel=0.27, abs=1e-9)
    assert np.max(np.abs(np.mean(off, axis=0))) < 6 * np.sqrt(np.max(errors) / 2500) + 1e-6
    held = [
        [
            low <= true <= high
            for (low, high), true in zip(mechanism.intervals(answers), truth, strict=True)
        ]
        for answers in drawn
    ]
    assert np.min(np.mean(held, axis=0)) > 0.924


def test_an_interval_of_one_laplace_count_is_its_own():
    mechanism = LinearQueries.for_epsilon(Fraction(1, 20), [[1]], Neighbours.ADD_REMOVE)
    reach = math.log(20) * 20  # P(|Z| > 20 ln 20) = 5 %
    assert mechanism.half_widths[0] == pytest.approx(reach, rel=0.03)
    assert mechanism.half_widths[0] > reach


@pytest.mark.parametrize("make", [LinearQueries.for_epsilon, LinearQueries.for_rho])
def test_a_query_for_everybody_among_others_is_public_and_exact(make):
    mechanism = make(Fraction(1), [[1, 0], [1, 1]], Neighbours.CHANGE_ONE)
    assert mechanism.half_widths[0] > 0
    assert mechanism.half_widths[1] == pytest.approx(0, abs=1e-9)
    answers = mechanism.release([30, 70])
    assert answers[1] == pytest.approx(100)
    assert mechanism.intervals(answers)[1] == (100, 100)


def test_cells_that_no_query_tells_apart_are_one():
    merged, places = merge(np.array([[1, 1, 0, 0, 1], [0, 0, 0, 0, 1]]), Neighbours.CHANGE_ONE)
    assert merged.tolist() == [[1, 0, 1], [0, 0, 1]]
    assert places.tolist() == [0, 0, 1, 1, 2]


def test_under_add_remove_a_cell_that_nobody_asks_for_is_left_out():
    merged, places = merge(np.array([[0, 1, 0, 1]]), Neighbours.ADD_REMOVE)
    assert merged.tolist() == [[1]]
    assert places.tolist() == [-1, 0, -1, 0]


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("people", [[0, 0], [1, 0], [50, 0]])
def test_no_people_one_and_all_alike_are_answered(people, neighbours):
    answers = LinearQueries.for_epsilon(Fraction(1), [[1, 0], [0, 1]], neighbours).release(people)
    assert all(math.isfinite(answer) for answer in answers)


@pytest.mark.parametrize(
    ("queries", "neighbours", "message"),
    [
        ([], Neighbours.CHANGE_ONE, "queries must be 1 to"),
        ([[]], Neighbours.CHANGE_ONE, "queries must have the same cells"),
        ([[1001]], Neighbours.ADD_REMOVE, "weigh a cell by at most 1000"),
        ([[0, 0]], Neighbours.ADD_REMOVE, "not public already"),
        ([[1, 1]], Neighbours.CHANGE_ONE, "not public already"),
        (
            np.eye(401, dtype=int).tolist(),
            Neighbours.ADD_REMOVE,
            "at most 400 parts of the domain apart, got 401",
        ),
    ],
)
def test_queries_that_cannot_be_answered_are_refused(queries, neighbours, message):
    with pytest.raises(ValueError, match=message):
        LinearQueries.for_epsilon(Fraction(1), queries, neighbours)


def test_counts_of_other_cells_are_refused():
    with pytest.raises(ValueError, match="counts must be 2, one a cell, got 3"):
        LinearQueries.for_epsilon(Fraction(1), [[1, 0]], Neighbours.CHANGE_ONE).release([1, 2, 3])


def test_strategies_are_the_same_at_every_call():
    workload.strategies._found.cache_clear()
    first = LinearQueries.for_epsilon(Fraction(1), PREFIXES, Neighbours.CHANGE_ONE)
    workload.strategies._found.cache_clear()
    second = LinearQueries.for_epsilon(Fraction(1), PREFIXES, Neighbours.CHANGE_ONE)
    assert np.array_equal(first.strategy.matrix, second.strategy.matrix)
