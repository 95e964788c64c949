import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from dpengine.central import counts
from dpengine.central.counts import Tally
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.privacy import Neighbours

CHANGE, ADD = Neighbours.CHANGE_ONE, Neighbours.ADD_REMOVE
TEN = Tally(10, CHANGE, held=1)
ONE = Fraction(1)


@pytest.mark.parametrize(("cells", "held"), [(2, 1), (3, 1), (5, 2), (5, 4), (6, 3)])
def test_one_person_moves_the_published_counts_by_as_much_as_stated(cells, held):
    """By enumeration of everything that one report can be, and be changed to."""
    reports = [
        [int(cell in inside) for cell in range(cells)]
        for inside in combinations(range(cells), held)
    ]
    change, add = Tally(cells, CHANGE, held), Tally(cells, ADD, held)
    apart = [
        [a - b for a, b in zip(change.vector(one), change.vector(other), strict=True)]
        for one, other in product(reports, repeat=2)
    ]
    assert (
        change.moved
        == max(sum(map(abs, d)) for d in apart)
        == max(sum(x * x for x in d) for d in apart)
    )
    assert add.moved == max(sum(add.vector(one)) for one in reports)


def test_two_cells_are_one_count_only_where_n_is_public():
    yes_no = Tally(2, CHANGE, held=1)
    assert (yes_no.published, yes_no.vector([3, 4]), yes_no.counts([6], 7)) == (1, [4], [1, 6])
    without = Tally(2, ADD, held=1)
    assert (without.published, without.vector([3, 4]), without.counts([6, 5], 7)) == (
        2,
        [3, 4],
        [6, 5],
    )


def test_the_case_by_hand():
    pure, concentrated = counts.for_epsilon([TEN], ONE), counts.for_rho([TEN], ONE / 2)
    assert pure.mechanism == DiscreteLaplace(2.0, 2)
    assert pure.mechanism.variance == pytest.approx(7.84, abs=0.01)
    assert concentrated.mechanism == DiscreteGaussian(math.sqrt(2), 2)


@pytest.mark.parametrize("many", [1, 3, 8, 30])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), ONE, Fraction(6)])
def test_the_noise_of_smaller_variance_is_chosen_and_costs_no_more(many, epsilon):
    laplace = DiscreteLaplace.for_epsilon(epsilon, 2 * many)
    concentrated = counts.for_rho([TEN] * many, epsilon**2 / 2)
    assert concentrated.mechanism.variance <= laplace.variance
    assert concentrated.mechanism.cost.rho <= epsilon**2 / 2
    name = "Laplace" if isinstance(concentrated.mechanism, DiscreteLaplace) else "Gaussian"
    assert concentrated.why.startswith(f"{name}: the smaller standard error")


def test_laplace_noise_is_chosen_where_it_is_the_smaller():
    laplace = DiscreteLaplace(0.1, 2)
    assert counts._lesser(laplace, DiscreteGaussian(1.0, 2)) is laplace


def test_several_tallies_get_their_own_noise_back_in_their_own_shape():
    # noise is 0 but for a chance of e^−133
    choice = counts.for_epsilon([Tally(2, CHANGE, held=1), TEN], Fraction(400))
    assert choice.release([[3, 4], list(range(10))], 7) == [[3, 4], list(range(10))]


def test_the_largest_error_is_passed_as_often_as_stated():
    """10,000 histograms of 10 cells; the bound is passed in at most 5 % of them, fewer since it
    adds up chances.
    """
    choice = counts.for_epsilon([TEN], ONE)
    drawn = np.array(choice.mechanism.release([0] * 100_000)).reshape(-1, 10)
    passed = float(
        np.mean(
            np.abs(drawn).max(axis=1)
            > counts.largest_error(
                choice.mechanism, sum(tally.published for tally in choice.tallies)
            )
        )
    )
    assert 0.015 < passed < 0.05 + 0.011  # five standard errors
    assert counts.largest_error(DiscreteGaussian(0.02, 1), 1) == 0


@pytest.mark.parametrize(("cells", "held"), [(3, 0), (3, 4), (1, 1)])
def test_tallies_that_are_none_are_refused(cells, held):
    with pytest.raises(ValueError, match=r"held must be|the same cells"):
        Tally(cells, CHANGE, held)


def test_vectors_of_another_shape_and_empty_choices_are_refused():
    with pytest.raises(ValueError, match="expected 10 counts, got 2"):
        TEN.vector([1, 2])
    with pytest.raises(ValueError, match="expected one tally or more"):
        counts.for_epsilon([], ONE)
    with pytest.raises(ValueError, match="expected 1 count or more"):
        counts.largest_error(DiscreteLaplace(1.0, 1), 0)
