"""Differences of shares and shares of a part: by hand where it can be done, else by measuring
coverage.
"""

from fractions import Fraction

import numpy as np
import pytest

from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import Estimate, NoNoise, Variance, with_known_sum
from dpengine.inference.shrinkage import shrink
from dpengine.local.channel import Features
from dpengine.local.cleartext import Cleartext
from dpengine.local.subset import Subset
from dpengine.local.table import Table as Weights
from surveys.aggregation import contrasts
from surveys.aggregation.crosstabs import Table

COIN = Weights(((3, 1), (1, 3))).features()
SUBSET = Subset(5, 2, 3 * 2**30).features()
ASKED = Subset(3, 1, int(2**32 * 0.6)).features()  # no, yes, not asked


def as_given(answers: int) -> Features:
    return Cleartext.of_choices(answers).features()


def test_by_hand_thirty_of_fifty_against_twenty_of_fifty_is_twenty_points() -> None:
    table = Table.of([[20, 30], [30, 20]], as_given(2), as_given(2), NoNoise(), 100)
    found = contrasts.difference(table, 0, (1, 0))
    assert found.value == pytest.approx(0.2)
    # Newcombe's interval for independent groups of 50 is 0.006 to 0.376; theirs come from Fieller
    assert found.low == pytest.approx(0.006, abs=0.02)
    assert found.high == pytest.approx(0.376, abs=0.02)
    assert found.odds_ratio is not None
    ratio, low, high = found.odds_ratio
    assert ratio == pytest.approx(2.25)
    # Wald's exp(ln 2.25 ∓ 1.96·√(2/30 + 2/20)) is 1.01 to 5.01
    assert (low, high) == (pytest.approx(1.01, abs=0.05), pytest.approx(5.01, abs=0.6))


def test_odds_of_shares_at_one_edge_have_no_ratio() -> None:
    assert contrasts.odds_ratio((-0.1, -0.3, 0.1), (0.0, -0.1, 0.1)) is None
    assert contrasts.odds_ratio((-0.1, -0.3, 0.1), (0.5, 0.4, 0.6)) == (
        0,
        0,
        pytest.approx((0.1 / 0.9) / (0.4 / 0.6)),
    )


def test_the_difference_turns_round_with_its_groups() -> None:
    table = Table.of([[900, 700], [800, 1600]], COIN, as_given(2), NoNoise(), 4000)
    one, other = contrasts.difference(table, 1, (0, 1)), contrasts.difference(table, 1, (1, 0))
    assert one.value == pytest.approx(-(other.value or 0))
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_a_difference_holds_all_that_no_two_groups_could_be_refused() -> None:
    """Groups of about 50 told by a coin of .73: MOVER takes their errors for one line, and ends
    sooner than the farthest of all sums that are within 1.96 of their errors.
    """
    coin = Weights(((731, 269), (269, 731))).features()
    table = Table.of([[22, 27], [31, 20]], coin, coin, NoNoise(), 100)
    found = contrasts.difference(table, 0, (0, 1))
    own = coin.first[0], coin.one
    mover = contrasts.put_together(
        found.one.came_out,
        found.other.came_out,
        table.correlation(*(contrasts.linearised(table, *own, group) for group in (0, 1))),
    )
    assert found.value is not None
    assert found.low < max(mover[1], -1.0) or found.high > min(mover[2], 1.0)


def test_groups_told_by_what_devices_changed_share_their_chance() -> None:
    """Σ u = 1 for every report: what is counted too much in one group is missing in the other."""
    side = COIN
    table = Table.of([[1200, 800], [700, 1300]], side, side, NoNoise(), 4000)
    own = np.array([0.5, 0.5])
    assert table.correlation((own, side.first[0]), (own, side.first[1])) < -0.5


def test_a_covariance_with_itself_is_the_variance_that_the_table_says() -> None:
    side, noise = COIN, DiscreteLaplace.for_epsilon(Fraction(1, 2), 2)
    table = Table.of([[1200, 800], [700, 1300]], side, side, noise, 4000)
    answers, publication = table.variances
    one = (side.first[0], side.first[1])
    found = table.covariance(one, one)
    assert found == pytest.approx(float(answers[0, 1] + publication[0, 1]), rel=1e-9)


@pytest.mark.parametrize(("choices", "size"), [(5, 2), (4, 3), (10, 1)])
def test_pairs_of_a_subset_add_up_to_what_a_report_holds(choices: int, size: int) -> None:
    keep = 2**32 * (size + 1) // (choices + 1) + 2**30 // choices
    side = Subset(choices, size, keep).features()
    found = side.pairs
    for true in range(choices):
        assert np.diag(found[true]) == pytest.approx(side.chances[true])
        # a report of w choices has w² ordered pairs
        assert found[true].sum() == pytest.approx(size**2)


def test_too_small_a_group_has_no_difference() -> None:
    table = Table.of(
        [[40, 1], [40, 0]],
        as_given(2),
        as_given(2),
        DiscreteLaplace.for_epsilon(Fraction(1, 10), 2),
        81,
    )
    found = contrasts.difference(table, 0, (0, 1))
    assert found.value is None
    assert (found.low, found.high) == (-1.0, 1.0)
    assert found.odds_ratio is None


def test_intervals_of_differences_hold_in_95_of_100_studies() -> None:
    """400 studies of 4,000 people, both questions changed: at 95 %, fewer than 365 has chance
    0.0004. Seed 11.
    """
    rng = np.random.default_rng(11)
    side, noise = COIN, DiscreteLaplace.for_epsilon(Fraction(1, 5), 2)
    stop = 1 - np.exp(-1 / noise.scale)
    held, ratios = 0, 0
    for _ in range(400):
        group = rng.random(4000) < 0.5
        answer = rng.random(4000) < np.where(group, 0.4, 0.3)
        one, other = (
            np.where(rng.random(4000) < 0.75, truth, ~truth).astype(int)
            for truth in (answer, group)
        )
        counts = np.bincount(2 * one + other, minlength=4).reshape(2, 2)
        drawn = rng.geometric(stop, (2, 2)) - rng.geometric(stop, (2, 2))
        found = contrasts.difference(
            Table.of((counts + drawn).tolist(), side, side, noise, 4000), 1, (1, 0)
        )
        held += found.value is not None and found.low <= 0.1 <= found.high
        if found.odds_ratio is not None:
            _, low, high = found.odds_ratio
            ratios += low <= (0.4 / 0.6) / (0.3 / 0.7) <= high
    assert min(held, ratios) >= 365


def test_waves_of_separate_noise_add_their_half_widths_as_squares() -> None:
    one, other = (
        Estimate(value, value - 0.03, value + 0.03, Variance(0, 0, 0)) for value in (0.3, 0.2)
    )
    found = contrasts.between(one, other)
    assert found == pytest.approx((0.1, 0.1 - 0.03 * 2**0.5, 0.1 + 0.03 * 2**0.5))


def test_the_share_among_those_asked_by_hand() -> None:
    """No chance: 30 yes, 20 no, 50 not asked: 40 and 60 of 100 of those asked, by Fieller as a
    share of a part.
    """
    found = contrasts.among([20, 30, 50], as_given(3), NoNoise(), 100)
    assert [share.value for share in found] == pytest.approx([0.4, 0.6])
    assert found[1].low == pytest.approx(1 - found[0].high)
    assert found[0].low < 0.3 < 0.5 < found[0].high + 0.05


def test_shares_among_those_asked_hold_in_95_of_100_studies() -> None:
    """400 studies of 3,000 people, k-ary randomised response: fewer than 365 has chance 0.0004.
    Seed 5.
    """
    rng = np.random.default_rng(5)
    side = ASKED
    noise = DiscreteLaplace.for_epsilon(Fraction(1, 2), 2)
    stop, held = 1 - np.exp(-1 / noise.scale), 0
    for _ in range(400):
        true = rng.choice(3, 3000, p=[0.4, 0.2, 0.4])
        sent = np.where(rng.random(3000) < 0.6, true, (true + rng.integers(1, 3, 3000)) % 3)
        counts = np.bincount(sent, minlength=3) + rng.geometric(stop, 3) - rng.geometric(stop, 3)
        share = contrasts.among(counts.tolist(), side, noise, 3000)[1]
        held += share.low <= 1 / 3 <= share.high
    assert held >= 365


def test_a_share_that_chance_threw_far_below_0_keeps_an_interval() -> None:
    """−3 of 10 people, little noise: all that Fieller allows is below 0. A point at 0 would
    promise certainty.
    """
    side = ASKED
    found = contrasts.among(
        [60, 500, 440], side, DiscreteLaplace.for_epsilon(Fraction(2), 2), 1000
    )[0]
    assert found.value == 0.0
    assert found.low == 0.0
    assert found.high > 0.05


def test_groups_that_were_told_openly_are_drawn_as_if_their_errors_were_alike() -> None:
    """Of 50, 100, 200 and 400 people: variances p(1 − p)/n at the share of all, .3."""
    sizes, yes = np.array([50, 100, 200, 400]), np.array([20, 40, 65, 100])
    table = Table.of(
        [(sizes - yes).tolist(), yes.tolist()], as_given(2), as_given(4), NoNoise(), 750
    )
    expected = shrink(yes / sizes, 0.3 * 0.7 / sizes, possible=(0, 1)).groups
    found = contrasts.towards_mean(table, 1)
    assert [found[group].value for group in range(4)] == pytest.approx([g.value for g in expected])
    assert [found[group].high for group in range(4)] == pytest.approx([g.high for g in expected])
    others = contrasts.towards_mean(table, 0)
    assert others[2].value == pytest.approx(1 - found[2].value)


def test_what_devices_and_publication_add_is_counted_and_shared() -> None:
    """The covariance if all are alike is that of `Table.covariance` of a table where they are."""
    law = with_known_sum(DiscreteLaplace(4.0, 2), 10)
    even = np.outer(COIN.chances.T @ [0.8, 0.2], SUBSET.chances.T @ [0.1, 0.2, 0.3, 0.2, 0.2])
    table = Table.of(np.round(even * 1e6).astype(int).tolist(), COIN, SUBSET, law, 10**6)
    for own in (COIN.first[1] - float(table.nearest[1].sum()) * COIN.one, COIN.one):
        sums = [(own, first) for first in SUBSET.first]
        expected = np.array([[table.covariance(one, other) for other in sums] for one in sums])
        values, covariance = table.over_groups(own)
        assert values == pytest.approx(np.array([table.sum(one) for one in sums]))
        assert covariance == pytest.approx(expected, rel=1e-3, abs=1e-12)
    assert (expected[~np.eye(5, dtype=bool)] < 0).any()


def test_nothing_is_drawn_of_fewer_than_four_groups_or_where_no_error_is_left() -> None:
    three = Table.of([[30, 20, 10], [10, 20, 30]], as_given(2), as_given(3), NoNoise(), 120)
    # of four groups, one so small that it cannot be told
    small = [[30000, 20000, 10000, 30], [10000, 20000, 30000, 10]]
    law = DiscreteLaplace(1000.0, 2)
    untold = Table.of(small, as_given(2), as_given(4), law, 120040)
    nobody = Table.of([[30] * 4, [0] * 4], as_given(2), as_given(4), NoNoise(), 120)
    assert [contrasts.towards_mean(table, 1) for table in (three, untold, nobody)] == [{}, {}, {}]


def test_twenty_open_groups_of_fifty_through_one_device_and_noise() -> None:
    """ε = 1, a fifth say yes, .08 between groups, groups of any size, noise of scale 2 on counts;
    40 surveys: the error halves, and intervals hold in 94.5 % on average over groups.
    """
    rng, errors, held = np.random.default_rng(5), [], []
    coin, law = Weights(((2718, 1000), (1000, 2718))).features(), DiscreteLaplace(2.0, 2)
    for _ in range(40):
        true = rng.beta(4.8, 19.2, 20)
        group = rng.integers(0, 20, 1000)
        answer = (rng.random(1000) < true[group]).astype(int)
        report = (rng.random(1000) < coin.chances[answer, 1]).astype(int)
        counts = np.zeros((2, 20), dtype=int)
        np.add.at(counts, (report, group), 1)
        noisy = law.release(counts.ravel().tolist())
        table = Table.of(np.reshape(noisy, (2, 20)).tolist(), coin, as_given(20), law, 1000)
        for place, share in contrasts.towards_mean(table, 1).items():
            plain = table.within(1, place).came_out[0]
            errors.append(((plain - true[place]) ** 2, (share.value - true[place]) ** 2))
            held.append(share.low <= true[place] <= share.high)
    before, after = np.sqrt(np.mean(errors, axis=0))
    assert after < 0.6 * before
    assert np.mean(held) >= 0.945
