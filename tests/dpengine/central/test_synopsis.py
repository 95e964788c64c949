from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from dpengine.central import graphical, marginals as marginals_module, synopsis
from dpengine.central.marginals import Marginals
from dpengine.central.synopsis import filled, spread
from dpengine.privacy import Neighbours
from dpengine.randomness import WORD

CHANCE = np.random.default_rng(20261121)  # of people, not of noise
SURE = Fraction(500)  # ε at which noise is 0


def people(n, sizes):
    """People whose columns go together: each follows one hidden number, with a doubt of its own."""
    hidden = CHANCE.normal(size=n)
    columns = [
        np.clip((hidden + CHANCE.normal(size=n)) / 4 * size + size / 2, 0, size - 1).astype(int)
        for size in sizes
    ]
    return Counter(map(tuple, np.array(columns).T.tolist()))


def tables_of(published, rows):
    """The tables of these rows, of the columns of those published."""
    exact = marginals_module._Exact(published.sizes, rows)
    return lambda fit: exact.counts(fit.columns).ravel()


def test_without_noise_tables_come_back():
    """Of 24 combinations each is rounded by less than 1 person at every step, and the solver stops
    within 1 of a table's cell.
    """
    marginals = Marginals.for_epsilon(SURE * 10, (3, 4, 2), Neighbours.CHANGE_ONE)
    data = people(5000, (3, 4, 2))
    drawn = synopsis.draw(marginals, data)
    assert sum(drawn.rows.values()) == 5000
    for fit in drawn.fits:
        true = tables_of(marginals, data)(fit)
        assert fit.noisy == tuple(true)
        assert np.max(np.abs(np.array(fit.synthetic) - true)) <= 24 / len(true) + 2


def test_what_no_table_asks_for_is_as_even_as_can_be():
    """Exclusive or: no two columns tell of it, so the synthetic rows hold all eight combinations
    alike.
    """
    data = Counter({(a, b, a ^ b): 250 for a in (0, 1) for b in (0, 1)})
    drawn = synopsis.draw(Marginals.for_epsilon(SURE, (2, 2, 2), Neighbours.CHANGE_ONE), data)
    assert all(abs(many - 125) <= 2 for many in drawn.rows.values())


@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_distances_beside_the_tables_are_those_of_the_rows(neighbours):
    marginals = Marginals.for_epsilon(Fraction(1), (4, 3, 3), neighbours)
    drawn = synopsis.draw(marginals, people(2000, (4, 3, 3)))
    for fit in drawn.fits:
        synthetic = tables_of(marginals, drawn.rows)(fit)
        assert fit.synthetic == tuple(synthetic)
        assert fit.distance == pytest.approx(np.mean(np.abs(synthetic - np.array(fit.noisy))))


def test_the_true_tables_are_no_farther_than_both_errors_together():
    """Averaged over all tables; it is nearer by far, because tables mend each other."""
    sizes = (4,) * 5
    marginals = Marginals.for_epsilon(Fraction(1), sizes, Neighbours.CHANGE_ONE)
    data = people(5000, sizes)
    drawn = synopsis.draw(marginals, data)
    true = tables_of(marginals, data)
    off = [np.mean(np.abs(np.array(fit.synthetic) - true(fit))) for fit in drawn.fits]
    assert np.mean(off) < np.mean([fit.noise for fit in drawn.fits])


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize(
    "data", [{}, {(1, 0, 0): 1}, {(2, 1, 1): 400}], ids=["nobody", "one", "all alike"]
)
def test_no_people_one_and_all_alike_make_a_synthetic_set(neighbours, data):
    drawn = synopsis.draw(Marginals.for_epsilon(Fraction(1), (3, 2, 2), neighbours), data)
    assert neighbours is Neighbours.ADD_REMOVE or sum(drawn.rows.values()) == sum(data.values())
    assert all(people > 0 for people in drawn.rows.values())


def test_where_n_is_protected_it_is_told_from_the_noisy_tables():
    """Its standard error is below 6 people here; a false alarm at 60 is beyond 1e-6."""
    marginals = Marginals.for_epsilon(Fraction(1), (2, 2), Neighbours.ADD_REMOVE)
    drawn = synopsis.draw(marginals, people(3000, (2, 2)))
    assert sum(drawn.rows.values()) != 0
    assert abs(sum(drawn.rows.values()) - 3000) <= 60


def test_columns_side_by_side_go_together_in_the_rows_and_across_the_tree_by_them():
    """A chain of three cliques: what a clique shares decides the rest, dealt in random order."""
    same = np.eye(3) / 3
    model = graphical.fit(
        (3, 3, 3, 2),
        {(0, 1): same, (1, 2): same, (3,): np.array([0.5, 0.5])},
        dict.fromkeys([(0, 1), (1, 2), (3,)], 1e-9),
        500,
    )
    rows = synopsis.sampled(model, 999)
    assert np.mean(rows[:, 0] == rows[:, 2]) > 0.99
    assert np.bincount(rows[:, 0]).tolist() == pytest.approx([333] * 3, abs=3)
    # independent of the others: 166 of each, with a standard deviation of at most 7
    for value in range(3):
        assert abs(np.sum((rows[:, 0] == value) & (rows[:, 3] == 0)) - 166.5) < 45


@pytest.mark.parametrize("offset", [0, 1, 2**31, WORD - 1])
@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_rows_are_spread_within_one_of_their_shares(n, offset):
    shares = CHANCE.dirichlet(np.full(12, 0.5)).reshape(3, 4)
    rows = spread(shares, n, lambda: offset)
    assert rows.sum() == n
    assert np.max(np.abs(rows - n * shares)) < 1.0001


def test_a_cell_is_rounded_up_as_often_as_its_share_says():
    """All offsets, in steps of 2²²: shares of .3 and .7 of one row are exact to a step."""
    rows = [
        spread(np.array([0.3, 0.7]), 1, lambda word=word: word)[0] for word in range(0, WORD, 2**22)
    ]
    assert np.mean(rows) == pytest.approx(0.3, abs=0.001)


def test_cells_are_filled_with_their_values_all_as_likely():
    words = iter(range(1000))
    found = filled(
        {(0, 1): 60, (1, 0): 5},
        [[range(3, 4), range(4, 5)], [range(9, 10), range(6)]],
        lambda: next(words),
    )
    assert found == Counter({(4, 9): 5} | {(3, value): 10 for value in range(6)})


@pytest.mark.parametrize("n", [-1, 2**24 + 1])
def test_a_number_of_rows_that_cannot_be_is_refused(n):
    model = graphical.fit((2,), {(0,): np.array([0.5, 0.5])}, {(0,): 1.0}, 10)
    with pytest.raises(ValueError, match="n must be 0 to"):
        synopsis.sampled(model, n)


def test_what_the_model_holds_for_impossible_is_as_even_as_can_be():
    assert spread(np.zeros(4), 8).tolist() == [2, 2, 2, 2]


def test_under_add_remove_there_are_as_many_rows_as_the_noisy_tables_tell():
    """Noise of thousands: exactly 1,000 rows in all three once in 10⁹ runs."""
    marginals = Marginals.for_epsilon(Fraction(1, 1000), (2, 2), Neighbours.ADD_REMOVE)
    drawn = [synopsis.draw(marginals, {(0, 1): 400, (1, 1): 600}) for _ in range(3)]
    assert {sum(each.rows.values()) for each in drawn} != {1000}
