"""Reached on the ask page: “A statistic of raw answers, group by group”."""

import math
import signal
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from dpengine.central import subsample
from dpengine.central.subsample import Subsample
from dpengine.expressions import read
from dpengine.privacy import Neighbours

CHANGE, ADD = Neighbours.CHANGE_ONE, Neighbours.ADD_REMOVE


def groups(neighbours=CHANGE, epsilon=Fraction(1), blocks=20, least=0, most=10):
    return Subsample.for_epsilon(epsilon, blocks, least, most, neighbours)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_everybody_is_in_one_group_and_one_person_is_in_no_other(neighbours):
    """With the same chance a changed person, or one more at the end, moves one group only."""
    rows = [(value,) for value in range(100)]
    beside = [*rows[:-1], (500,)] if neighbours is CHANGE else [*rows, (500,)]
    replayed = [np.random.default_rng(8) for _ in range(2)]
    dealt = [
        groups(neighbours).deal(data, lambda generator=generator: int(generator.integers(2**32)))
        for data, generator in zip((rows, beside), replayed, strict=True)
    ]
    assert sorted(row for block in dealt[0] for row in block) == rows
    assert sum(one != other for one, other in zip(*dealt, strict=True)) == 1


def test_groups_are_of_one_size_where_n_is_public():
    sizes = {len(block) for block in groups().deal([(1,)] * 107)}
    assert sizes == {5, 6}


@pytest.mark.parametrize("neighbours", Neighbours)
def test_it_costs_what_was_asked_whatever_is_computed(neighbours):
    cost = groups(neighbours, Fraction(7, 10)).cost
    assert Fraction(7, 10) * (1 - Fraction(1, 10**12)) < cost.epsilon <= Fraction(7, 10)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_typical_result_of_a_group_is_found(neighbours):
    rows = [(value % 7,) for value in range(4000)]
    found = groups(neighbours, Fraction(8), 80).release(rows, subsample.mean)
    assert found.low <= 3 <= found.high
    assert abs(found.value - 3) < 0.6
    assert found.high - found.low < 3


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None, "text"], ids=str)
def test_a_group_whose_statistic_is_no_number_counts_as_the_middle(bad):
    assert groups().results([[(1,)]], lambda rows: bad) == [50]


class Unheard(BaseException):
    """Of no known family."""


@pytest.mark.parametrize(
    "failure",
    [
        ZeroDivisionError,
        SystemExit,
        GeneratorExit,
        KeyboardInterrupt,
        RecursionError,
        MemoryError,
        Unheard,
    ],
)
def test_however_a_statistic_fails_it_does_not_tell(failure):
    """For this one person only: the group counts as the middle, the others as they are, and
    nothing is raised.
    """

    def failing(rows):
        if (7,) in rows:
            raise failure("person 7")
        return rows[0][0]

    assert groups().results([[(1,)], [(7,)], [(3,)]], failing) == [10, 50, 30]
    assert 0 <= groups().release([(7,)] * 40, failing).value <= 10


def test_a_number_that_fails_when_it_is_read_does_not_tell():
    class Trap:
        def __float__(self):
            raise SystemExit

    assert groups().results([[(1,)]], lambda rows: Trap()) == [50]


def test_who_runs_it_can_interrupt_it():
    """A signal comes to the thread that waits, and not to the program: so the two cannot be
    taken for one another.
    """
    done = []

    def interrupted(rows):
        signal.raise_signal(signal.SIGINT)
        done.append(rows)
        return 1.0

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            groups().release([(1,)] * 40, interrupted)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(done) < 20


@pytest.mark.parametrize("beyond", [1e300, -1e300])
def test_results_are_clamped(beyond):
    assert groups().results([[]], lambda rows: beyond) in ([0], [100])


def test_the_statistics_are_what_their_names_say():
    rows = [(value, 3 - 2 * value) for value in (0, 1, 1, 2, 3, 4, 5, 6, 7, 71)]
    assert subsample.mean(rows) == 10
    assert subsample.trimmed_mean(rows) == 29 / 8
    assert subsample.mode(rows) == 1
    assert subsample.correlation(rows) == pytest.approx(-1)
    assert subsample.standard_deviation(rows) == pytest.approx(
        np.std([row[0] for row in rows], ddof=1)
    )


@pytest.mark.parametrize(
    "statistic",
    [
        subsample.mean,
        subsample.trimmed_mean,
        subsample.mode,
        subsample.standard_deviation,
        subsample.correlation,
    ],
)
def test_nobody_and_all_the_same_have_a_result(statistic):
    for rows in ([], [(4, 4)], [(4, 4)] * 30):
        assert 0 <= groups().results([rows], statistic)[0] <= 100


@pytest.mark.parametrize("values", [[], [(2**63,)]], ids=["nobody", "far out"])
@pytest.mark.parametrize("neighbours", Neighbours)
def test_hard_data_are_answered(neighbours, values):
    assert 0 <= groups(neighbours).release(values, subsample.mean).value <= 10


def test_too_few_groups_are_refused():
    with pytest.raises(ValueError, match="blocks must be 10 or more, got 9"):
        groups(blocks=9)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_median_of_groups_hides_a_group_that_changes(neighbours):
    """From the exact law; how many groups there are is public for both neighbours."""
    mechanism = groups(neighbours)
    point, most = mechanism.aggregate.points[0], mechanism.bounds.most
    one, other = (point.law([0] * (20 - high) + [most] * high) for high in (10, 11))
    assert max(abs(math.log(p / q)) for p, q in zip(one, other, strict=True)) <= point.cost.epsilon
    assert point.cost + mechanism.aggregate.limits.cost == mechanism.cost


@pytest.mark.parametrize("otherwise", [None, Fraction(1, 3)])
def test_fractions_are_kept_exactly(otherwise):
    mechanism = Subsample.for_epsilon(
        Fraction(1), 20, Fraction(-1, 8), Fraction(1, 2), CHANGE, otherwise
    )
    assert Fraction(mechanism.bounds.least, mechanism.scale) == Fraction(-1, 8)
    assert Fraction(mechanism.bounds.most, mechanism.scale) == Fraction(1, 2)
    neutral = Fraction(mechanism.otherwise, mechanism.scale)
    assert abs(neutral - (Fraction(3, 16) if otherwise is None else otherwise)) < Fraction(1, 100)


def test_what_a_block_counts_as_otherwise_is_possible():
    with pytest.raises(ValueError, match="otherwise must be from 0 to 1, got 2"):
        Subsample.for_epsilon(Fraction(1), 20, 0, 1, CHANGE, 2)
    with pytest.raises(ValueError, match="least must be below most, got 1 and 1"):
        Subsample.for_epsilon(Fraction(1), 20, 1, 1, CHANGE)


def test_the_exact_loss_of_every_small_data_set_of_a_formula_that_can_fail():
    """All answers of four people, all deals into two groups, the chosen point’s exact law.

    The formula fails in a group where somebody answers 0, and there alone.
    """
    formula = read("mean(2/x) + max(x)", {"x": None}, of_all=True)
    made = Subsample.for_epsilon(Fraction(3, 2), 10, 0, 6, CHANGE, 1)
    mechanism = replace(made, blocks=2)
    deals = [(pair, tuple(set(range(4)) - set(pair))) for pair in combinations(range(4), 2)]

    def compute(blocks):
        return [formula.of_all({"x": np.array(block, dtype=float)}, len(block)) for block in blocks]

    chosen = cache(lambda results: mechanism.aggregate.points[0].law(results))

    @cache
    def law(answers):
        """Return the law over all deals, which are all as likely."""
        dealt = ([[answers[at] for at in block] for block in deal] for deal in deals)
        results = (tuple(sorted(mechanism.whole(compute(blocks)))) for blocks in dealt)
        return np.mean([chosen(numbers) for numbers in results], axis=0)

    worst = 0.0
    for answers in product(range(4), repeat=4):
        for person, other in product(range(4), repeat=2):
            beside = (*answers[:person], other, *answers[person + 1 :])
            worst = max(worst, float(np.abs(np.log(law(answers) / law(beside))).max()))
    assert 0.6 * 0.5 < worst <= mechanism.aggregate.points[0].cost.epsilon <= 0.5
