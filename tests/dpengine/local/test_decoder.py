import json
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpengine.estimates import NoNoise
from dpengine.local import decoder as decoders
from dpengine.local import designs
from dpengine.local.decoder import Decoder, decoder_from, inverse
from dpengine.local.subset import Subset
from dpengine.local.table import Table

COIN = Table.coin()
WIDE = Table(((8, 4, 2, 1, 1), (2, 6, 5, 2, 1), (1, 1, 2, 4, 8)))  # more reports than answers
SQUARE = Table(((4, 1, 1), (1, 4, 1), (2, 1, 3)))  # not all other answers alike
SWAPPED = Table(((1, 1, 4), (2, 2, 2), (1, 3, 2)))  # whose second pivot is 0
TABLES = [
    COIN,
    WIDE,
    SQUARE,
    SWAPPED,
    designs.forced("2/3", "1/4", "1/12"),
    designs.kary(7, Decimal(1)),
    Table.binary(Decimal(2)),
]


def identity(size):
    return [[int(row == column) for column in range(size)] for row in range(size)]


def averages(decoder, table):
    """Σ_r P[r | a]·rows[c][r]/scale, written out again."""
    return [
        [sum(Fraction(w, table.total) * Fraction(v, decoder.scale) for w, v in zip(row, values, strict=True))
         for row in table.weights]
        for values in decoder.rows
    ]  # fmt: skip


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_an_inverse_counts_each_answer_once_and_no_other_exactly(table):
    decoder = table.inverse()
    assert averages(decoder, table) == identity(table.choices)
    decoder.check(table.weights, identity(table.choices))
    assert all(type(number) is int for row in decoder.rows for number in row)


def test_the_coins_decoder_is_the_one_by_hand():
    assert COIN.inverse() == Decoder(((3, -1), (-1, 3)), 2)
    assert COIN.inverse().decode([40, 60]) == [30, 70]


@pytest.mark.parametrize("table", [COIN, designs.kary(5, Decimal(1))], ids=str)
def test_it_decodes_as_the_margins_do(table):
    counts = [7 * report + 3 for report in range(table.reports)]
    by_margins = [(r - sum(counts) * m.lie) / (m.truth - m.lie) for r, m in zip(counts, table.margins(), strict=True)]
    assert table.inverse().decode(counts) == by_margins


@pytest.mark.parametrize("table", TABLES[:5], ids=str)
def test_estimates_of_all_outcomes_average_to_the_people_who_answered(table):
    """Two people's reports, every pair with its exact chance: no bias at all."""
    decoder = table.inverse()
    for people in product(range(table.choices), repeat=2):
        expected = [Fraction(0)] * table.choices
        for drawn in product(range(table.reports), repeat=2):
            chance = Fraction(1)
            for person, report in zip(people, drawn, strict=True):
                chance *= Fraction(table.weights[person][report], table.total)
            found = decoder.decode([drawn.count(report) for report in range(table.reports)])
            expected = [total + chance * value for total, value in zip(expected, found, strict=True)]
        assert expected == [people.count(choice) for choice in range(table.choices)]


def test_any_target_can_be_had_a_mean_too():
    grid = [[Fraction(-1), Fraction(1, 3), Fraction(2)]]
    decoder = inverse(WIDE.weights, grid)
    assert averages(decoder, WIDE) == grid
    decoder.check(WIDE.weights, grid)


def test_fewer_reports_than_answers_can_still_tell_a_mean_with_a_decoder_of_ones_own():
    table = Table(((3, 1), (2, 2), (1, 3)))
    decoder = Decoder(((-2, 2),), 1)
    decoder.check(table.weights, [[-1, 0, 1]])
    with pytest.raises(ValueError, match="row 0 must average to 1/2 after answer 1, got 0"):
        decoder.check(table.weights, [[-1, Fraction(1, 2), 1]])


def test_of_all_left_inverses_it_takes_the_one_of_least_variance_for_even_answers():
    """Aitken's theorem, tried: moving along the kernel of the table only ever adds variance."""
    decoder = WIDE.inverse()
    weights = np.array(WIDE.weights, dtype=float)
    kernel = np.linalg.svd(weights)[2][WIDE.choices :]
    common = weights.sum(axis=0) / weights.sum()
    for row in range(WIDE.choices):
        values = np.array([float(value) for value in decoder.values(row)])
        least = common @ values**2
        for direction in (*kernel, -kernel[0]):
            assert common @ (values + 1e-2 * direction) ** 2 > least


def test_device_variances_are_those_of_each_answers_reports():
    decoder = WIDE.inverse()
    for row, found in zip(decoder.rows, decoder.device_variances(WIDE.weights), strict=True):
        for answer, variance in enumerate(found):
            chances = [Fraction(w, WIDE.total) for w in WIDE.weights[answer]]
            values = [Fraction(v, decoder.scale) for v in row]
            mean = sum(p * v for p, v in zip(chances, values, strict=True))
            assert variance == sum(p * (v - mean) ** 2 for p, v in zip(chances, values, strict=True))


def test_variances_add_up_to_that_of_the_reports():
    """Sampling and device together are the variance of one report's worth, over n; noise comes on top."""
    shares, n = [0.5, 0.3, 0.2], 250
    decoder = WIDE.inverse()
    reported = np.array(shares) @ np.array(WIDE.weights) / WIDE.total

    class Noise(NoNoise):
        variance = 6.0

    for row, found in enumerate(decoder.variances(WIDE.weights, shares, n, Noise())):
        values = np.array([float(value) for value in decoder.values(row)])
        spread = reported @ values**2 - (reported @ values) ** 2
        assert found.sampling == pytest.approx(shares[row] * (1 - shares[row]) / n)
        assert found.sampling + found.device == pytest.approx(spread / n)
        assert found.publication == pytest.approx(6.0 * (values**2).sum() / n**2)
    assert decoder.variances(WIDE.weights, shares, n)[0].publication == 0


def test_a_subset_written_out_as_a_table_decodes_as_the_subset_does():
    """Ten reports, five answers: the least-variance inverse of a symmetric table is the formula of the subset."""
    subset = Subset(choices=5, size=2, keep=3 * 2**30)
    sets = [[i, j] for i in range(5) for j in range(i + 1, 5)]
    chances = subset.probabilities(sets)
    table = designs.custom(chances)
    assert table.loss == subset.loss
    for choice, values in enumerate(table.inverse().values(row) for row in range(5)):
        worth = {
            (Fraction(choice in held) - subset.margin.lie) / (subset.margin.truth - subset.margin.lie) for held in sets
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
        Table(weights).inverse()


@pytest.mark.parametrize(
    ("rows", "scale", "message"),
    [
        ((), 1, "decoder must have one row or more"),
        (((),), 1, "decoder must have one row or more"),
        (((1, 2), (1,)), 1, "all of the same length"),
        (((1, 2.0),), 1, "decoder must hold integers"),
        (((1, True),), 1, "decoder must hold integers"),
        (((1, 2),), 0, "scale must be 1 or more"),
        (((1, 2),), "1", "decoder must hold integers"),
        (((10**1000, 2),), 1, "at most 1000 digits"),
    ],
)
def test_a_decoder_that_makes_no_sense_is_refused_by_name(rows, scale, message):
    with pytest.raises(ValueError, match=message):
        Decoder(rows, scale)


def test_what_does_not_fit_is_refused_by_name():
    decoder = COIN.inverse()
    with pytest.raises(ValueError, match="counts must be 2, one for each report, got 3"):
        decoder.decode([1, 2, 3])
    with pytest.raises(ValueError, match="target must have 2 rows of 2 answers"):
        decoder.check(COIN.weights, [[1, 0]])
    with pytest.raises(ValueError, match="decoder must have 3 columns, one for each report, got 2"):
        decoder.check(((1, 2, 3), (3, 2, 1)), identity(2))
    with pytest.raises(ValueError, match="decoder must have 3 columns, one a report, got 2"):
        Table(((1, 2, 3), (3, 2, 1)), decoder)


def test_large_integers_are_written_as_decimal_strings_and_read_back():
    decoder = Decoder(((2**53 - 1, -(2**53)), (0, 1)), 2**60)
    written = json.loads(json.dumps(decoder.document()))
    assert written == {"rows": [[2**53 - 1, str(-(2**53))], [0, 1]], "scale": str(2**60)}
    assert decoder_from(written) == decoder


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"rows": [1], "scale": 1}, {"rows": [[1]]}, {"rows": [[1]], "scale": 2**53}]
    + [{"rows": [[odd]], "scale": 1} for odd in (1.0, True, "", "-", "01", "-0", "1.0", " 1", "٣", "9" * 1001)],
)
def test_a_document_that_is_no_decoder_is_refused(document):
    with pytest.raises(ValueError, match="decoder must"):
        decoder_from(document)


def test_a_table_carries_its_decoder_in_its_document():
    table = Table(WIDE.weights, WIDE.inverse())
    assert table.document()["decoder"] == WIDE.inverse().document()
    assert "decoder" not in WIDE.document()


def test_a_large_table_is_inverted_exactly_and_at_once():
    table = designs.kary(40, Decimal(1))
    decoder = decoders.inverse(table.weights)
    decoder.check(table.weights, identity(40))
