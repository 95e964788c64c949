from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpengine import designs
from dpengine.local.decoder import inverse
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from tests.tables import kary

COIN = Table.coin()
WIDE = Table(((8, 4, 2, 1, 1), (2, 6, 5, 2, 1), (1, 1, 2, 4, 8)))  # more reports than answers
SQUARE = Table(((4, 1, 1), (1, 4, 1), (2, 1, 3)))  # not all other answers alike
SWAPPED = Table(((1, 1, 4), (2, 2, 2), (1, 3, 2)))  # whose second pivot is 0
TABLES = [
    COIN,
    WIDE,
    SQUARE,
    SWAPPED,
    Table.of(designs.forced("2/3", "1/4", "1/12")),
    kary(7, Decimal(1)),
    Table.binary(Decimal(2)),
]


def averages(table):
    """Σ_r P[r | a]·decoder[c][r], written out again."""
    return [
        [
            sum(Fraction(w, table.total) * v for w, v in zip(row, values, strict=True))
            for row in table.weights
        ]
        for values in inverse(table.weights)
    ]


def identity(size):
    return [[int(row == column) for column in range(size)] for row in range(size)]


def decoded(table, counts):
    return [
        sum(value * count for value, count in zip(row, counts, strict=True))
        for row in inverse(table.weights)
    ]


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_an_inverse_counts_each_answer_once_and_no_other_exactly(table):
    assert averages(table) == identity(table.choices)


def test_the_coins_decoder_is_the_one_by_hand():
    assert decoded(COIN, [2, 0]) == [3, -1]
    assert decoded(COIN, [40, 60]) == [30, 70]


@pytest.mark.parametrize("table", [COIN, kary(5, Decimal(1))], ids=str)
def test_it_decodes_as_the_margins_do(table):
    counts = [7 * report + 3 for report in range(table.reports)]
    by_margins = [
        (r - sum(counts) * m.lie) / (m.truth - m.lie)
        for r, m in zip(counts, table.margins(), strict=True)
    ]
    assert decoded(table, counts) == by_margins


@pytest.mark.parametrize("table", TABLES[:5], ids=str)
def test_estimates_of_all_outcomes_average_to_the_people_who_answered(table):
    """Two people's reports, every pair with its exact chance: no bias at all."""
    decoder = inverse(table.weights)
    for people in product(range(table.choices), repeat=2):
        expected = [Fraction(0)] * table.choices
        for drawn in product(range(table.reports), repeat=2):
            chance = Fraction(1)
            for person, report in zip(people, drawn, strict=True):
                chance *= Fraction(table.weights[person][report], table.total)
            expected = [
                total + chance * sum(row[report] for report in drawn)
                for total, row in zip(expected, decoder, strict=True)
            ]
        assert expected == [people.count(choice) for choice in range(table.choices)]


def test_of_all_left_inverses_it_takes_the_one_of_least_variance_for_even_answers():
    """Aitken's theorem, tried: moving along the kernel of the table only ever adds variance."""
    weights = np.array(WIDE.weights, dtype=float)
    kernel = np.linalg.svd(weights)[2][WIDE.choices :]
    common = weights.sum(axis=0) / weights.sum()
    for row in inverse(WIDE.weights):
        values = np.array([float(value) for value in row])
        least = common @ values**2
        for direction in (*kernel, -kernel[0]):
            assert common @ (values + 1e-2 * direction) ** 2 > least


def test_a_subset_written_out_as_a_table_decodes_as_the_subset_does():
    """Ten reports, five answers: the inverse of a symmetric table is the formula of the subset."""
    subset = Subset(choices=5, size=2, keep=3 * 2**30)
    sets = [[i, j] for i in range(5) for j in range(i + 1, 5)]
    table = Table.of(subset.probabilities(sets))
    assert table.loss == subset.loss
    for choice, values in enumerate(inverse(table.weights)):
        worth = {
            (Fraction(choice in held) - subset.margin.lie)
            / (subset.margin.truth - subset.margin.lie)
            for held in sets
        }
        assert set(values) == worth


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (((3, 1), (3, 1), (1, 3)), "rows 0 and 1 are equal: these answers cannot be told apart"),
        (((4, 1, 3), (2, 3, 3), (3, 2, 3)), "row 2 depends on the rows before it"),
        (((4, 1, 3, 8), (2, 3, 3, 8), (3, 2, 3, 8)), "row 2 depends on the rows before it"),
        (((3, 1), (2, 2), (1, 3)), "row 2 depends on the rows before it"),
    ],
)
def test_rows_that_depend_on_one_another_are_refused_by_number(weights, message):
    with pytest.raises(ValueError, match=message):
        inverse(weights)


def test_a_large_table_is_inverted_exactly_and_at_once():
    assert averages(kary(40, Decimal(1))) == identity(40)
