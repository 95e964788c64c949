from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from dpengine.central.marginals import Marginals
from dpengine.privacy import Neighbours

DATA = Counter({(0, 2): 5, (1, 0): 7, (1, 2): 1})


def test_columns_and_pairs_by_hand():
    tables = Marginals.for_epsilon(Fraction(3, 2), (2, 3), Neighbours.CHANGE_ONE).tables
    assert [table.columns for table in tables] == [(0,), (1,), (0, 1)]
    assert [table.choice.mechanism.scale for table in tables] == [4, 8, 2]
    assert tables[2].choice.mechanism.mean_absolute_error == pytest.approx(1.92, abs=0.005)
    assert [table.exact(DATA) for table in tables] == [[5, 8], [7, 0, 6], [0, 0, 5, 7, 0, 1]]


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("sizes", [(2,), (4, 2), (5, 5, 5, 2)], ids=str)
def test_all_tables_together_cost_no_more_than_was_asked_for(sizes, neighbours):
    pure = Marginals.for_epsilon(Fraction(7, 10), sizes, neighbours).cost
    concentrated = Marginals.for_rho(Fraction(1, 10), sizes, neighbours).cost
    assert Fraction(7, 10) * (1 - Fraction(1, 2**40)) < pure.epsilon <= Fraction(7, 10)
    assert Fraction(1, 10) * (1 - Fraction(1, 2**40)) < concentrated.rho <= Fraction(1, 10)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_one_person_moves_a_table_by_no_more_than_its_noise_is_for(neighbours):
    """Enumerated: every person moved to every combination, or added to it."""
    tables = Marginals.for_epsilon(Fraction(1), (2, 3), neighbours).tables
    combinations = [(a, b) for a in range(2) for b in range(3)]
    for table in tables:
        tally = table.choice.tallies[0]
        before = np.array(tally.vector(table.exact(DATA)))
        moved = []
        for new in combinations:
            for old in DATA if neighbours is Neighbours.CHANGE_ONE else [None]:
                beside = Counter(DATA)
                beside[new] += 1
                if old:
                    beside[old] -= 1
                moved.append(
                    int(np.sum(np.abs(np.array(tally.vector(table.exact(beside))) - before)))
                )
        assert max(moved) == table.choice.mechanism.sensitivity


def test_published_tables_are_off_as_their_noise_says():
    """A mean square of 24,000 cells off by 10 % is more than six standard errors."""
    marginals = Marginals.for_epsilon(Fraction(1), (20, 20), Neighbours.ADD_REMOVE)
    pair = marginals.tables[2]
    drawn = np.array([marginals.release({(3, 4): 90})[2] for _ in range(60)]) - pair.exact(
        {(3, 4): 90}
    )
    assert np.mean(drawn.astype(float) ** 2) == pytest.approx(
        pair.choice.mechanism.variance, rel=0.1
    )


def test_rows_of_other_columns_are_refused():
    with pytest.raises(ValueError, match="rows must have 2 columns"):
        Marginals.for_epsilon(Fraction(1), (2, 2), Neighbours.ADD_REMOVE).release({(1,): 3})


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((), "1 to 20 columns, got 0"),
        ((2,) * 21, "1 to 20 columns, got 21"),
        ((3, 1), "2 cells or more, got 1"),
        ((512, 512), "at most 131072 cells, got 262144"),
    ],
)
def test_columns_that_cannot_be_tabulated_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        Marginals.for_epsilon(Fraction(1), sizes, Neighbours.CHANGE_ONE)
