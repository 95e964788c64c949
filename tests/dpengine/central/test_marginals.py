from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from dpengine.central import marginals as module
from dpengine.central.counts import Tally
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.marginals import Marginals
from dpengine.central.selection import Selection
from dpengine.privacy import Cost, Neighbours

DATA = Counter({(0, 2): 5, (1, 0): 7, (1, 2): 1})
SMALL, FEW = (2, 3, 2), Counter({(0, 2, 0): 5, (1, 0, 1): 7, (1, 2, 1): 1})
CHANCE = np.random.default_rng(20261123)  # of people, not of noise
MAKERS = pytest.mark.parametrize("make", [Marginals.for_epsilon, Marginals.for_rho])


def chained(n, sizes):
    """People whose neighbouring columns go together."""
    columns = [CHANCE.integers(0, sizes[0], n)]
    for size in sizes[1:]:
        keeps = CHANCE.random(n) < 0.8
        columns.append(np.where(keeps, columns[-1] % size, CHANCE.integers(0, size, n)))
    return Counter(map(tuple, np.array(columns).T.tolist()))


@pytest.fixture
def drawn(monkeypatch):
    """Keep each sampler's mechanism and what it is given."""
    found = []
    for sampler in (DiscreteLaplace, DiscreteGaussian, Selection):

        def keep(mechanism, numbers, release=sampler.release):
            found.append((mechanism, list(numbers)))
            return release(mechanism, numbers)

        monkeypatch.setattr(sampler, "release", keep)
    return found


def test_columns_and_pairs_by_hand():
    marginals = Marginals.for_epsilon(Fraction(5, 2), (2, 3), Neighbours.CHANGE_ONE)
    tables = [*marginals.singles, *marginals.first_pairs]
    assert [table.columns for table in tables] == [(0,), (1,), (0, 1)]
    assert [table.choice.mechanism.scale for table in tables] == [4, 8, 1]
    assert marginals.selection is None
    three = Marginals.for_epsilon(Fraction(15, 4), (2, 3, 4), Neighbours.CHANGE_ONE)
    assert (three.selection.spread, three.selection.scale) == (4, 40)
    assert three.first_pairs[0].choice.mechanism.epsilon == pytest.approx(9 / 10)


def test_noise_of_nothing_leaves_the_true_tables(monkeypatch):
    monkeypatch.setattr(DiscreteLaplace, "release", lambda _, counts: counts)
    published = Marginals.for_epsilon(Fraction(1), (2, 3), Neighbours.CHANGE_ONE).release(DATA)
    assert [table.counts.tolist() for table in published.tables.values()] == [
        [5, 8],
        [7, 0, 6],
        [[0, 0, 5], [7, 0, 1]],
    ]
    assert published.n == 13


@MAKERS
@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("sizes", [(2,), (4, 2), (5, 5, 5, 2)], ids=str)
def test_all_draws_together_cost_what_was_asked_for_however_rounds_go(
    make, sizes, neighbours, drawn
):
    marginals = make(Fraction(1, 10), sizes, neighbours)
    for people in ({}, chained(3000, sizes)):
        drawn.clear()
        marginals.release(people)
        first, *others = [mechanism.cost for mechanism, _ in drawn]
        paid = sum(others, start=first)
        spent, budget = (
            (paid.epsilon, marginals.cost.epsilon)
            if make == Marginals.for_epsilon
            else (paid.rho, marginals.cost.rho)
        )
        assert Fraction(1, 10) * (1 - Fraction(1, 2**40)) < spent <= budget <= Fraction(1, 10)
        assert paid.rho <= marginals.cost.rho


def test_the_rho_of_a_pure_budget_holds_for_any_rounds():
    """All of the pairs' budget in one round is the worst."""
    marginals = Marginals.for_epsilon(Fraction(5), (3, 3, 3), Neighbours.ADD_REMOVE)
    singles = sum((table.choice.mechanism.cost.rho for table in marginals.singles), Fraction(0))
    assert marginals.cost.rho == singles + Cost.pure(Fraction(4)).rho


def beside(people, neighbours):
    """All data sets with one person's answers changed, or one person more."""
    for new in [(a, b, c) for a in range(2) for b in range(3) for c in range(2)]:
        for old in people if neighbours is Neighbours.CHANGE_ONE else [None]:
            moved = Counter(people)
            moved[new] += 1
            if old:
                moved[old] -= 1
            yield moved


@pytest.mark.parametrize("neighbours", Neighbours)
def test_one_person_moves_a_table_by_no_more_than_its_noise_is_for(neighbours):
    marginals = Marginals.for_rho(Fraction(1, 2), SMALL, neighbours)
    for table in [*marginals.singles, *marginals.first_pairs]:

        def vector(data, table=table):
            own = module._Exact(SMALL, data).counts(table.columns).ravel()
            return np.array(table.choice.tallies[0].vector(own.tolist()))

        moved = [int(np.sum((vector(data) - vector(FEW)) ** 2)) for data in beside(FEW, neighbours)]
        assert max(moved) == table.choice.mechanism.sensitivity_squared


@pytest.mark.parametrize("neighbours", Neighbours)
def test_scores_of_neighbours_are_apart_by_no_more_than_the_spread(neighbours, monkeypatch):
    """What was published before is the same for both: the tables and the model of one of them."""
    marginals = Marginals.for_rho(Fraction(1, 2), SMALL, neighbours)
    published = marginals.release(FEW)
    given = []
    monkeypatch.setattr(
        Selection, "release", lambda _, scores: given.append(np.array(scores)) or [0]
    )

    def scores_of(data):
        exact = module._Exact(SMALL, data)
        marginals._chosen(Fraction(1, 10), exact, {}, published.model, published.n)
        return given[-1]

    here = scores_of(FEW)
    apart = [scores_of(data) - here for data in beside(FEW, neighbours)]
    assert max(int(each.max() - each.min()) for each in apart) == marginals.selection.spread


def test_columns_that_go_together_are_chosen():
    """Four pairs of ten go together by far the most; noise would have to be 50 times as large."""
    marginals = Marginals.for_rho(Fraction(1, 2), (4,) * 5, Neighbours.CHANGE_ONE)
    published = marginals.release(chained(20_000, (4,) * 5))
    assert {(0, 1), (1, 2), (2, 3), (3, 4)} <= published.tables.keys()


def test_where_noise_drowns_people_few_pairs_have_all_that_is_left():
    sizes = (5,) * 7
    few = Marginals.for_rho(Fraction(1, 1000), sizes, Neighbours.ADD_REMOVE)
    tables = few.release(chained(500, sizes)).tables
    assert len(tables) <= 7 + 8  # of 21 pairs
    best = min(table.noise for table in tables.values() if len(table.columns) == 2)
    assert best < few.first_pairs[0].noise / 2


def test_a_model_holds_no_more_cells_than_it_may():
    sizes = (40,) * 4
    marginals = Marginals.for_rho(Fraction(20), sizes, Neighbours.CHANGE_ONE)
    published = marginals.release(chained(2000, sizes))
    assert published.model.tree.cells <= module.MAX_CELLS


def test_published_tables_are_off_as_their_noise_says():
    """A mean square of 24,000 cells off by 10 % is more than six standard errors."""
    marginals = Marginals.for_epsilon(Fraction(1), (20, 20), Neighbours.ADD_REMOVE)
    mechanism = marginals.first_pairs[0].choice.mechanism
    drawn = np.array([marginals.release({(3, 4): 90}).tables[0, 1].counts for _ in range(60)])
    drawn[:, 3, 4] -= 90
    assert np.mean(drawn**2) == pytest.approx(mechanism.variance, rel=0.1)


def test_a_pair_that_is_published_again_is_averaged():
    one = module.Noisy((0, 1), np.array([[10.0, 20.0]]), 4.0, 1.6)
    other = module.Noisy((0, 1), np.array([[13.0, 26.0]]), 2.0, 1.1)
    both = one.with_again(other)
    assert both.counts[0].tolist() == pytest.approx([12, 24])
    assert both.variance == pytest.approx(4 / 3)


def test_rows_of_other_columns_are_refused():
    with pytest.raises(ValueError, match="rows must have 2 columns"):
        Marginals.for_epsilon(Fraction(1), (2, 2), Neighbours.ADD_REMOVE).release({(1,): 3})


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((), "1 to 20 columns, got 0"),
        ((2,) * 21, "1 to 20 columns, got 21"),
        ((3, 1), "2 cells or more, got 1"),
        ((512, 2, 512), "at most 131072 cells, the two largest multiplied, got 262146"),
    ],
)
def test_columns_that_cannot_be_tabulated_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        Marginals.for_epsilon(Fraction(1), sizes, Neighbours.CHANGE_ONE)


@MAKERS
def test_a_budget_of_nothing_is_refused(make):
    with pytest.raises(ValueError, match="budget must be above 0, got 0"):
        make(Fraction(0), (2, 2), Neighbours.CHANGE_ONE)


def test_a_budget_that_a_round_could_not_spend_is_refused_before_any_is_drawn():
    with pytest.raises(ValueError, match="scale must be from 1/64"):
        Marginals.for_rho(Fraction(10_000), (2, 2, 2), Neighbours.CHANGE_ONE)


def test_one_column_is_a_histogram():
    marginals = Marginals.for_rho(Fraction(1, 2), (4,), Neighbours.ADD_REMOVE)
    assert marginals.singles[0].choice.tallies == (Tally(4, Neighbours.ADD_REMOVE, held=1),)
    assert marginals.cost == marginals.singles[0].choice.mechanism.cost
    assert [*marginals.release({(1,): 7}).tables] == [(0,)]
