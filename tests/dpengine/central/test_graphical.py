import numpy as np
import pytest

from dpengine.central.graphical import JunctionTree, fit

CHANCE = np.random.default_rng(20261123)  # of shares, not of noise
SIZES = (2, 3, 2, 4, 2)
CYCLE = [(0, 1), (1, 2), (2, 3), (0, 3), (4,)]
EXACT = 1e-9  # w, at which tables are fitted all but exactly


def shares_of(tables):
    """The tables of one distribution, so that they agree."""
    whole = CHANCE.dirichlet(np.ones(np.prod(SIZES))).reshape(SIZES)
    return {table: np.einsum(whole, range(5), table) for table in tables}


def model_of(tables, weight=EXACT, steps=2000):
    wanted = shares_of(tables)
    return wanted, fit(SIZES, wanted, dict.fromkeys(wanted, weight), steps)


def whole_of(model):
    """The distribution written out, from its terms alone."""
    logarithms = np.zeros(SIZES)
    for table, term in model.terms.items():
        logarithms += term.reshape([SIZES[axis] if axis in table else 1 for axis in range(5)])
    raw = np.exp(logarithms)
    return raw / raw.sum()


def test_a_chain_by_hand():
    tree = JunctionTree.of((2, 2, 2), [(0, 1), (1, 2)])
    assert sorted(tree.cliques) == [(0, 1), (1, 2)]
    assert tree.shared == ((), (1,))
    assert tree.cells == 8


def test_a_cycle_is_triangulated_and_columns_alone_are_cliques_of_their_own():
    tree = JunctionTree.of(SIZES, CYCLE)
    assert sorted(map(len, tree.cliques)) == [1, 3, 3]
    assert tree.parents[0] == -1
    assert all(0 <= parent < place for place, parent in enumerate(tree.parents) if place)
    for place in range(1, 3):
        first = next(
            at for at, clique in enumerate(tree.cliques) if {*clique} & {*tree.cliques[place]}
        )
        assert first == place or tree.shared[place] != ()  # neighbours share what they can


@pytest.mark.parametrize("columns", [(0,), (0, 1), (1, 3), (0, 4), (0, 1, 3), (0, 1, 2, 3, 4)])
def test_marginals_are_those_of_the_distribution_written_out(columns):
    _, model = model_of(CYCLE)
    exact = np.einsum(whole_of(model), range(5), columns)
    assert model.marginal(columns) == pytest.approx(exact, abs=1e-12)


def test_tables_that_agree_come_back():
    wanted, model = model_of(CYCLE)
    for table, shares in wanted.items():
        assert model.marginal(table) == pytest.approx(shares, abs=1e-4)


def test_the_slope_is_nil_where_the_search_ends():
    """ŷ − p − w·θ = 0, to the solver's last step."""
    wanted, model = model_of(CYCLE, weight=0.01)
    for table, shares in wanted.items():
        left = shares - model.marginal(table) - 0.01 * model.terms[table]
        assert left == pytest.approx(np.zeros(shares.shape), abs=1e-5)


def test_what_weights_explain_is_even():
    _, model = model_of([(0, 1), (2, 3)], weight=1e6)
    assert model.marginal((0, 1)) == pytest.approx(np.full((2, 3), 1 / 6), abs=1e-4)


def test_a_search_that_goes_on_from_another_has_less_to_do():
    wanted, model = model_of(CYCLE, weight=1e-3)
    weights = dict.fromkeys(wanted, 1e-3)
    few = fit(SIZES, wanted, weights, 1, model.terms)
    for table in wanted:
        assert few.marginal(table) == pytest.approx(model.marginal(table), abs=1e-4)


def test_twenty_columns_are_held_by_their_cliques():
    """2²⁰ times 5²⁰ combinations, and 19 cliques of 100 cells."""
    sizes = (10,) * 20
    pairs = [(column, column + 1) for column in range(19)]
    wanted = {pair: CHANCE.dirichlet(np.ones(100)).reshape(10, 10) for pair in pairs}
    model = fit(sizes, wanted, dict.fromkeys(pairs, 0.1), 20)
    assert model.tree.cells == 1900
    far = model.marginal((0, 19))
    assert far.sum() == pytest.approx(1)
    assert far.sum(axis=1) == pytest.approx(model.marginal((0,)))
