import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.randomness import WORD
from tests.dpengine.accounting import divergences

COIN = ([3, 1], [1, 3])
ORDERS = [0, 0.25, 0.5, 0.999999, 1, 1.000001, 2, 5.5, 80, math.inf]


def matrix(channel: Subset) -> list[list[int]]:
    """Return exact weights: of the words that keep the truth, and of those that do not, shared
    among the sets.
    """
    rows = []
    for answer in range(channel.choices):
        sets = list(combinations(range(channel.choices), channel.size))
        held = sum(answer in reported for reported in sets)
        kept, not_kept = channel.keep * (len(sets) - held), (WORD - channel.keep) * held
        rows.append([kept if answer in reported else not_kept for reported in sets])
    return rows


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("choices", [3, 5, 8])
def test_the_epsilon_of_a_channel_is_its_max_divergence(choices, epsilon):
    channel = Subset.for_epsilon(choices, Decimal(epsilon))
    assert divergences.loss_of_channel(matrix(channel)) == channel.loss
    assert math.isclose(
        divergences.of_channel(matrix(channel), math.inf), math.log(channel.loss), rel_tol=1e-12
    )


@pytest.mark.parametrize(
    "table",
    [
        Table.binary(Decimal("0.8")),
        Table(((3, 1), (1, 3))),
        Table(((5, 1, 2), (2, 4, 2), (1, 1, 6))),
    ],
    ids=str,
)
def test_the_epsilon_of_a_table_is_its_max_divergence(table):
    assert divergences.loss_of_channel(table.weights) == table.loss


def test_the_coin_by_hand():
    found = [divergences.renyi(*COIN, order) for order in (0, 1, 2, math.inf)]
    assert found == pytest.approx([0, math.log(3) / 2, math.log(7 / 3), math.log(3)], rel=1e-14)
    assert divergences.kullback_leibler(*COIN) == found[1]
    assert divergences.max_loss(*COIN) == 3
    assert [divergences.hockey_stick(*COIN, Fraction(loss)) for loss in (1, 2, 3)] == [
        Fraction(1, 2),
        Fraction(1, 4),
        0,
    ]
    entropies = [divergences.entropy(COIN[0], order) for order in (0, 1, 2, math.inf)]
    assert entropies == pytest.approx(
        [math.log(2), 0.562335, math.log(8 / 5), math.log(4 / 3)], rel=1e-6
    )


def test_kl_and_max_are_the_limits_of_renyi():
    true, false = [5, 1, 2, 0], [2, 4, 1, 1]
    kl, largest = (divergences.renyi(true, false, order) for order in (1, math.inf))
    assert divergences.renyi(true, false, 1 + 1e-7) == pytest.approx(kl, rel=1e-6)
    assert divergences.renyi(true, false, 1 - 1e-7) == pytest.approx(kl, rel=1e-6)
    assert divergences.renyi(true, false, 1e4) == pytest.approx(largest, rel=1e-3)
    assert divergences.renyi(true, false, 1e-9) == pytest.approx(
        divergences.renyi(true, false, 0), rel=1e-6
    )


def test_divergence_grows_with_its_order_and_entropy_falls():
    true, false = [5, 1, 2, 3], [2, 4, 1, 1]
    grows = [divergences.renyi(true, false, order) for order in ORDERS]
    falls = [divergences.entropy(true, order) for order in ORDERS]
    assert all(left <= right + 1e-12 for left, right in pairwise(grows))
    assert all(left >= right - 1e-12 for left, right in pairwise(falls))


def test_what_only_one_of_them_has_is_infinitely_far():
    assert [divergences.renyi([1, 1], [1, 0], order) for order in (1, 2, math.inf)] == [
        math.inf
    ] * 3
    assert divergences.max_loss([1, 1], [1, 0]) is None
    assert divergences.loss_of_channel([[1, 1], [1, 0]]) is None
    assert divergences.cross_entropy([1, 1], [1, 0]) == math.inf
    assert divergences.renyi([1, 1], [1, 0], 0.5) == pytest.approx(math.log(2))
    assert [divergences.renyi([1, 0], [0, 1], order) for order in (0, 0.5)] == [math.inf] * 2


def test_cross_entropy_is_entropy_and_divergence():
    true, false = [5, 1, 2, 0], [2, 4, 1, 1]
    both = divergences.entropy(true) + divergences.kullback_leibler(true, false)
    assert divergences.cross_entropy(true, false) == pytest.approx(both, rel=1e-14)


def test_hartley_entropy_counts_only_what_can_happen():
    """log n in the text is right only where all n outcomes can."""
    assert divergences.entropy([1, 1, 0, 2], 0) == pytest.approx(math.log(3))


def test_numbers_too_long_for_a_double_and_too_near_each_other_are_told_apart():
    huge = 10**400
    assert divergences.renyi([huge, 1], [1, huge], math.inf) == pytest.approx(400 * math.log(10))
    assert divergences.renyi([10**20 + 1, 10**20], [10**20, 10**20 + 1], math.inf) == pytest.approx(
        1e-20
    )


@pytest.mark.parametrize("weights", [[0, 0], [-1, 2], []])
def test_what_is_no_distribution_is_refused(weights):
    with pytest.raises(ValueError, match="weights must be 0 or more, and one of them above 0"):
        divergences.chances(weights)


@pytest.mark.parametrize("order", [-0.1, math.nan])
def test_what_is_no_order_is_refused(order):
    with pytest.raises(ValueError, match="order must be from 0 to infinity"):
        divergences.renyi(*COIN, order)


def test_a_channel_of_one_answer_tells_nothing_apart_and_is_refused():
    with pytest.raises(ValueError, match="channel must have two answers or more, got 1"):
        divergences.of_channel([[1, 1]], 1)


def test_odds_pass_twice_their_bound_with_a_chance_of_twice_delta_at_most():
    """What the registry says of a cap with a δ: of 200 random pairs, exactly. One pair attains
    it in the limit.
    """
    rng = np.random.default_rng(8)
    for _ in range(200):
        true, false = (list(map(int, rng.integers(1, 100, 6))) for _ in range(2))
        loss = Fraction(int(rng.integers(2, 8)), 2)
        delta = divergences.hockey_stick(true, false, loss)
        pairs = list(zip(divergences.chances(true), divergences.chances(false), strict=True))
        assert sum((p for p, q in pairs if p > 2 * loss * q), Fraction(0)) <= 2 * delta
    rare = Fraction(1, 1000)
    true, false = (
        [2 * rare, 1 - 2 * rare],
        [rare * Fraction(999, 1000), 1 - rare * Fraction(999, 1000)],
    )
    assert (
        2 * rare
        <= 2 * divergences.hockey_stick(true, false, Fraction(1))
        <= Fraction(1001, 1000) * 2 * rare
    )
