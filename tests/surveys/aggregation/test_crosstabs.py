from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import NoNoise, share, with_known_sum
from dpengine.local.channels import channel_for
from dpengine.local.cleartext import Cleartext
from dpengine.local.joint import Joint
from dpengine.local.subset import Subset
from dpengine.local.table import Table as Channel
from surveys.aggregation.crosstabs import CERTAIN, Table, Within, together
from tests.surveys.releases.queries.browsers import COLOURS, device, given, plan_with, reported

COIN = Channel(((3, 1), (1, 3))).features()
SUBSET = Subset(5, 2, 3 * 2**30).features()
OPEN = Cleartext.of_choices(3).features()
ALONE = Cleartext.of_choices(1).features()
SIDES = [COIN, SUBSET, OPEN]
PLAN = plan_with(
    device("moon", ["No", "Yes"], "1.5", "yes_no"),
    device("colour", COLOURS),
    given("team", ["A", "B", "C"]),
)


def law_of(side, answer):
    """Return every report after this answer, as features, with its chance."""
    if side is not SUBSET:
        return [
            ((feature,), chance) for feature, chance in enumerate(side.chances[answer]) if chance
        ]
    sets = list(combinations(range(5), 2))
    return [(held, 0.75 / 4 if answer in held else 0.25 / 6) for held in sets]


@pytest.mark.parametrize("side", SIDES, ids=["table", "subset", "given"])
def test_indicators_and_their_squares_are_right_on_average_and_within_their_ends(side):
    """By enumeration of every report."""
    for answer in range(side.answers):
        mean, square, both = 0.0, 0.0, 0.0
        for features, chance in law_of(side, answer):
            u = side.first[:, list(features)].sum(axis=1)
            assert u.sum() == pytest.approx(1)
            assert side.one[list(features)].sum() == pytest.approx(1)
            assert np.all(u >= side.ends[0] - 1e-12)
            assert np.all(u <= side.ends[1] + 1e-12)
            assert side.second[:, list(features)].sum(axis=1) == pytest.approx(u**2)
            mean, square, both = mean + chance * u, square + chance * u**2, both + chance
        assert both == pytest.approx(1)
        assert mean == pytest.approx(np.eye(side.answers)[answer])
        assert side.second @ side.chances[answer] == pytest.approx(square)


def test_the_case_by_hand():
    table = Table.of([[0, 0], [0, 100]], COIN, COIN, NoNoise(), 100)
    assert table.shares == pytest.approx(np.array([[1 / 4, -3 / 4], [-3 / 4, 9 / 4]]))


def test_features_that_come_together_are_counted_once_each():
    counts = Counter({(1, (0, 2)): 3, (0, (2, 4)): 1})
    assert together(counts, COIN, SUBSET) == [[0, 0, 1, 0, 1], [3, 0, 3, 0, 0]]


def test_a_question_of_a_joint_answer_meets_another_question():
    """All reports of both, for people of two other joint answers: the table is right on average,
    its variance that of one report, and two questions of one joint answer the channel's own.
    """
    joint = Joint.of(Subset(6, 2, 3 * 2**30), (2, 3))
    view, held = joint.view(1), list(combinations(range(6), 2))
    laws = joint.channel.probabilities(held)
    true = Counter({(1, 0): 0.2, (4, 0): 0.1, (0, 1): 0.3, (5, 1): 0.15, (2, 0): 0.05, (3, 1): 0.2})
    counted, square = np.zeros((6, 2)), np.zeros((3, 2))
    for (cell, answer), share_of in true.items():
        for report, chance in zip(held, laws[cell], strict=True):
            for other, odds in enumerate((0.75, 0.25) if answer == 0 else (0.25, 0.75)):
                one = np.array([feature in report for feature in range(6)], dtype=float)
                chance_of = share_of * float(chance) * odds
                counted += chance_of * np.outer(one, np.eye(2)[other])
                u = np.outer(view.features().first @ one, COIN.first[:, other])
                square += chance_of * u**2
    table = Table(view.features(), COIN, counted, 1, True, NoNoise())
    expected = np.zeros((3, 2))
    for (cell, answer), share_of in true.items():
        expected[joint.decode(cell)[1], answer] += share_of
    assert table.shares == pytest.approx(expected)
    assert table.variances[0] == pytest.approx(square - expected**2)
    part = (view.features().first[0], COIN.first[1])
    assert table.covariance(part, part) == pytest.approx(square[0, 1] - expected[0, 1] ** 2)
    counts = [30, 31, 32, 33, 34, 36]
    alone = Table.of([[count] for count in counts], joint.features(), ALONE, NoNoise(), 98)
    own = joint.estimates(counts, 98, NoNoise())
    assert alone.shares.ravel() == pytest.approx([each.value for each in own])


def test_two_questions_as_given_have_the_exact_intervals_of_their_counts():
    noise = DiscreteLaplace(2.0, 2)
    table = Table.of([[40, 3, -2], [10, 5, 44], [0, 0, 0]], OPEN, OPEN, noise, 100)
    found = share(10, 100, CERTAIN, noise)
    assert table.intervals()[1][0] == pytest.approx((found.low, found.high))
    assert table.intervals()[0][2][0] == 0  # a noisy count below 0 is nobody, or a few


@pytest.mark.parametrize(
    "names", [("moon", "colour"), ("moon", "team"), ("colour", "team"), ("moon", "moon2")]
)
@pytest.mark.parametrize("known", [True, False], ids=["n public", "n noisy"])
def test_intervals_of_cells_and_groups_hold_as_often_as_stated(names, known):
    """150 studies of 3,000 people, seed 9; in 1,500 of them 93.6 to 96.0 % of each cell and group
    held.

    Here each may fall six standard errors below, and all together a fourth of that.
    """
    plan = plan_with(*PLAN.content.questions, device("moon2", ["No", "Yes"], "1", "yes_no"))
    left, right = (plan.content.question(name).channel.features() for name in names)
    shape = left.answers, right.answers
    true = np.arange(1, 1 + shape[0] * shape[1], dtype=float).reshape(shape) / sum(
        range(1, 1 + shape[0] * shape[1])
    )
    draw, noise = np.random.default_rng(9), DiscreteLaplace(6.0, 2)
    cells, groups = [], []
    for study in range(150):
        answers = np.stack(
            np.unravel_index(draw.choice(true.size, 3000, p=true.ravel()), shape), axis=1
        )
        counts = together(reported(plan, names, answers, study), left, right)
        noisy = np.array(noise.release(np.ravel(counts))).reshape(np.shape(counts))
        table = Table.of(noisy.tolist(), left, right, noise, 3000 if known else None)
        limits = np.array(table.intervals())
        cells.append((limits[..., 0] <= true) & (true <= limits[..., 1]))
        within = [[table.within(a, b) for b in range(shape[1])] for a in range(shape[0])]
        inside = true / true.sum(axis=0)
        groups.append(
            [
                [w.low <= inside[a, b] <= w.high for b, w in enumerate(row)]
                for a, row in enumerate(within)
            ]
        )
    for held in (np.mean(cells, axis=0), np.mean(groups, axis=0)):
        assert held.min() >= 0.84
        assert held.mean() >= 0.925


def test_counts_with_a_known_sum_move_two_shares_as_is_said():
    """By moving every count a little: of two sums together, and so of their difference."""
    drawn, n = DiscreteLaplace(2.0, 4), 10**10
    noise = with_known_sum(drawn, 10)
    counts = np.rint(n * COIN.chances.T @ np.full((2, 5), 0.1) @ SUBSET.chances).astype(int)
    sums = [(COIN.first[0], SUBSET.first[1]), (COIN.one, SUBSET.first[3])]

    def moved(place, more):
        changed = counts + more * (np.arange(10) == place).reshape(2, 5)
        table = Table.of(changed, COIN, SUBSET, noise, n)
        return np.array([table.sum(each) for each in sums])

    step = 2 * 10**5
    slopes = np.array([(moved(place, step) - moved(place, 0)) / step for place in range(10)])
    free, left = (Table.of(counts, COIN, SUBSET, law, n) for law in (NoNoise(), noise))
    for one, first in zip(sums, slopes.T, strict=True):
        for other, second in zip(sums, slopes.T, strict=True):
            added = left.covariance(one, other) - free.covariance(one, other)
            assert added == pytest.approx(
                drawn.variance * float(first @ second), rel=1e-4, abs=1e-23
            )


def test_cells_of_answers_as_given_add_up_where_n_is_public():
    noise = with_known_sum(DiscreteLaplace(2.0, 2), 9)
    table = Table.of([[40, 3, -2], [10, 5, 44], [0, 0, 9]], OPEN, OPEN, noise, 100)
    assert table.shares.sum() == pytest.approx(1)
    assert table.shares[1, 0] == pytest.approx(0.09)
    found = share(9, 100, CERTAIN, noise)
    assert table.intervals()[1][0] == pytest.approx((found.low, found.high))


def test_standard_errors_are_those_of_many_studies():
    """700 studies of 2,000 people: within a fifth (seven standard errors; noise is real chance),
    n public and not.
    """
    left, right = (PLAN.content.question(name).channel.features() for name in ("moon", "colour"))
    draw, noise = np.random.default_rng(4), DiscreteLaplace(20.0, 4)
    for n in (2000, None):
        found, said = [], []
        for study in range(700):
            answers = np.stack([draw.integers(0, 2, 2000), draw.integers(0, 5, 2000)], axis=1)
            counts = together(reported(PLAN, ("moon", "colour"), answers, study), left, right)
            noisy = np.array(noise.release(np.ravel(counts))).reshape(2, 5)
            table = Table.of(noisy.tolist(), left, right, noise, n)
            found.append(table.shares)
            said.append(table.standard_errors)
        assert np.std(found, axis=0) == pytest.approx(np.mean(said, axis=0), rel=0.2)


def test_a_group_too_small_to_be_told_from_nobody_has_no_share():
    under = np.array([1e-3, 0.0, 0.0, 0.0])
    assert Within.of(0.01, 0.02, 1e-3, under, 1.96) == Within(None, 0.0, 1.0, None)
    assert Within.of(0.01, -0.02, 1e-6, under, 1.96).value is None


def test_under_a_share_of_a_group_as_many_give_each_answer():
    """By hand: of 50 in the group 30 say 0, and 10 of the other 50. If none of the group did, all
    40 who say 0 are among the others.
    """
    given = Cleartext.of_choices(2).features()
    table = Table.of([[30, 10], [20, 40]], given, given, NoNoise(), 100)
    own, inside = np.array([[1, 0], [0, 0]]), np.array([[1, 0], [1, 0]])
    assert table._with(inside - own, inside) == pytest.approx(np.array([[0, 0.4], [0.5, 0.1]]))
    assert table._with(own, inside) == pytest.approx(np.array([[0.5, 0], [0, 0.5]])), (
        "40 are too few"
    )


def test_a_share_of_a_group_has_wilson_s_interval_where_nothing_is_changed():
    """20 of 40 people are asked; 2 of them say yes: 2.8 to 30.1 % (Wilson 1927, by hand)."""
    side = Cleartext.of_choices(2).features()
    table = Table.of([[18, 10], [2, 10]], side, side, NoNoise(), 40)
    found = table.within(1, 0)
    assert (found.low, found.high) == pytest.approx((0.0279, 0.3010), abs=1e-4)
    other = table.within(0, 0)
    assert (1 - other.high, 1 - other.low) == pytest.approx((found.low, found.high))


def test_rare_answers_of_small_groups_are_held_as_often_as_stated():
    """600 studies of 40 people, five choices by two groups, little changed. With errors as they are
    at the estimate .5 and .15 of 28 people were held in 548 and 552. Seed 40.
    """
    rng, runs = np.random.default_rng(40), 600
    channels = [channel_for(5, Decimal(3)), channel_for(2, Decimal(3))]
    left, right = (channel.features() for channel in channels)
    true = np.array([[0.02, 0.588, 0.294, 0.098, 0.0], [0.5, 0.3, 0.15, 0.05, 0.0]]).T * [0.3, 0.7]
    law = left.chances.T @ true @ right.chances
    held = np.zeros((2, 5, 2))
    for counts in rng.multinomial(40, law.ravel() / law.sum(), size=runs).reshape(runs, 5, 2):
        table = Table.of(counts, left, right, NoNoise(), 40)
        intervals = table.intervals()
        for a, b in product(range(5), range(2)):
            (low, high), within = intervals[a][b], table.within(a, b)
            held[0, a, b] += low <= true[a, b] <= high
            held[1, a, b] += within.low <= true[a, b] / true[:, b].sum() <= within.high
    assert left.held == right.held == 1
    assert held.min() >= 560


def test_a_table_of_nobody_is_refused_and_one_of_noise_alone_is_of_one():
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        Table.of([[0, 0], [0, 0]], COIN, COIN, NoNoise(), 0)
    assert (
        Table.of([[-3, 0], [0, 1]], COIN, COIN, DiscreteLaplace.for_epsilon(Fraction(1), 2)).n == 1
    )


@pytest.mark.parametrize("known", ["n noisy", "n public", "known sum"])
def test_publication_adds_what_the_noise_of_every_count_moves_the_shares_by(known):
    """By moving every count a little, in a table so large that n is not rounded."""
    drawn = DiscreteLaplace(2.0, 4)
    noise = with_known_sum(drawn, 10) if known == "known sum" else drawn
    n, true = 10**10, np.array([[5, 1, 2, 1, 3], [1, 2, 1, 3, 1]]) / 20
    counts = np.rint(n * COIN.chances.T @ true @ SUBSET.chances).astype(int).tolist()

    def table(row=0, column=0, more=0):
        moved = [
            [count + more * ((i, j) == (row, column)) for j, count in enumerate(line)]
            for i, line in enumerate(counts)
        ]
        return Table.of(moved, COIN, SUBSET, noise, None if known == "n noisy" else n)

    whole, step = table(), 2 * 10**5
    slopes = [(table(i, j, step).shares - whole.shares) / step for i in range(2) for j in range(5)]
    expected = drawn.variance * sum(slope**2 for slope in slopes)
    assert whole.shares == pytest.approx(true)
    assert whole.variances[1] == pytest.approx(expected, rel=1e-4, abs=0)
