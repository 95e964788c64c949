"""Shares weighted to a population: by hand where it can be done, else by measuring coverage."""

from fractions import Fraction

import numpy as np
import pytest

from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import NoNoise, with_known_sum
from dpengine.local.channel import Features
from dpengine.local.cleartext import Cleartext
from dpengine.local.subset import Subset
from surveys.aggregation import weighting
from surveys.aggregation.crosstabs import Table

HALVES = {0: 0.5, 1: 0.5}
THREE = Subset(3, 1, int(0.7 * 2**32)).features()
PAIR = Subset(5, 2, 3 * 2**30).features()


def as_given(answers: int) -> Features:
    return Cleartext.of_choices(answers).features()


def plainly(counts: list[list[int]]) -> Table:
    """Return a table of answers by groups that nothing changed."""
    n = sum(map(sum, counts))
    return Table.of(counts, as_given(len(counts)), as_given(len(counts[0])), NoNoise(), n)


def test_by_hand_ten_of_forty_and_thirty_of_sixty_in_halves() -> None:
    table = plainly([[30, 30], [10, 30]])
    assert weighting.plain_share(table, 1).value == pytest.approx(0.4)
    found = weighting.weighted_share(table, 1, HALVES)
    assert found.value == pytest.approx(0.375)
    variance = (0.25 * 0.75 / 40 + 0.5 * 0.5 / 60) / 4
    assert found.standard_error == pytest.approx(variance**0.5)
    # ∓ 1.96 standard errors is .282 to .468
    assert (found.low, found.high) == (pytest.approx(0.29, abs=0.01), pytest.approx(0.47, abs=0.01))


def test_a_population_like_the_sample_changes_nothing() -> None:
    table = plainly([[30, 20, 10], [10, 40, 20]])
    shares = {0: 40 / 130, 1: 60 / 130, 2: 30 / 130}
    plain, found = weighting.plain_share(table, 1), weighting.weighted_share(table, 1, shares)
    assert found.value == pytest.approx(plain.value)


def test_a_group_without_a_share_is_left_out() -> None:
    table = plainly([[30, 30, 500], [10, 30, 0]])
    assert weighting.weighted_share(table, 1, HALVES).value == pytest.approx(0.375)


def test_a_group_that_cannot_be_told_leaves_nothing_to_weight() -> None:
    noise = DiscreteLaplace.for_epsilon(Fraction(1, 10), 2)
    table = Table.of([[40, 1], [40, 0]], as_given(2), as_given(2), noise, 81)
    found = weighting.weighted_share(table, 1, HALVES)
    assert (found.value, found.low, found.high, found.standard_error) == (None, 0.0, 1.0, None)


def test_a_mean_by_hand_is_of_those_who_have_a_score() -> None:
    """Scores 0, ½ and 1 of 10, 20, 10 and of 0, 20, 20 people; the last answer declines."""
    table = plainly([[10, 0], [20, 20], [10, 20], [5, 50]])
    scores = np.linspace(0, 1, 3)
    assert weighting.plain_mean(table, scores).value == pytest.approx(50 / 80)
    found = weighting.weighted_mean(table, scores, HALVES)
    assert found.value == pytest.approx((0.5 + 0.75) / 2)
    # within 40 people each the scores vary by 1/8 and 1/16
    assert found.standard_error == pytest.approx(((1 / 8 + 1 / 16) / 40 / 4) ** 0.5)


def test_people_of_one_opinion_are_not_certain() -> None:
    found = weighting.weighted_mean(plainly([[0, 0], [9, 9], [0, 0]]), np.linspace(0, 1, 3), HALVES)
    assert found.value == pytest.approx(0.5)
    assert found.high - found.low > 0.1


@pytest.mark.parametrize("right", [as_given(3), THREE], ids=["open groups", "changed groups"])
def test_intervals_of_weighted_numbers_hold_in_95_of_100_studies(right: Features) -> None:
    """400 studies of 2,000 people, five answers: at 95 %, fewer than 365 has chance .0004, more than
    391 .002. Changed groups share their errors: as if they did not, 392 and 394 held. Seed 7.
    """
    rng, n = np.random.default_rng(7), 2000
    groups, scores = np.array([0.5, 0.3, 0.2]), np.linspace(0, 1, 5)
    answers = np.array([[1, 2, 3, 2, 2], [3, 3, 2, 1, 1], [1, 1, 1, 3, 4]]) / 10
    laws = np.einsum("b,ba->ab", groups, answers)
    left = Subset(5, 1, int(0.7 * 2**32)).features()
    population = {0: 0.2, 1: 0.3, 2: 0.5}
    truth = np.array(list(population.values())) @ answers
    noise = DiscreteLaplace.for_epsilon(Fraction(1, 2), 2)
    stop, law = 1 - np.exp(-1 / noise.scale), with_known_sum(noise, 15)
    chances = (left.chances.T @ laws @ right.chances).ravel()
    held, means = 0, 0
    for _ in range(400):
        counts = rng.multinomial(n, chances).reshape(5, 3)
        counts = counts + rng.geometric(stop, (5, 3)) - rng.geometric(stop, (5, 3))
        table = Table.of(counts.tolist(), left, right, law, n)
        share = weighting.weighted_share(table, 4, population)
        mean = weighting.weighted_mean(table, scores, population)
        held += share.low <= truth[4] <= share.high
        means += mean.low <= truth @ scores <= mean.high
    assert 365 <= held <= 391
    assert 365 <= means <= 391


def test_covariances_of_many_sums_are_those_of_every_two() -> None:
    law = with_known_sum(DiscreteLaplace(4.0, 2), 15)
    counts = np.arange(15).reshape(5, 3) * 20 + 100
    table = Table.of(counts.tolist(), PAIR, THREE, law, int(counts.sum()) // 2)
    sums = [(PAIR.first[answer], THREE.first[group]) for answer in (0, 3) for group in range(3)]
    found = table.covariances(sums)
    answers, publication = table.variances
    expected = [answers[a, b] + publication[a, b] for a in (0, 3) for b in range(3)]
    assert np.diagonal(found) == pytest.approx(np.array(expected))
    assert found[1, 5] == pytest.approx(table.covariance(sums[5], sums[1]))
