"""Held against enumeration: exact losses of small sets of people, all answers, adaptively."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from dpengine.bounds import exp_below
from dpengine.contraction import (
    Noise,
    Reading,
    ceiling,
    contracted,
    loss_of,
    noise_within,
    shared_out,
)

E1 = exp_below(Fraction(1))


def reading(losses, *noises):
    made = [Noise(frozenset(names), epsilon) for names, epsilon in noises]
    return Reading(dict(zip("abcdef", losses, strict=False)), made)


def both(epsilon, local):
    """Return f from its other form."""
    return 2 * math.atanh(math.tanh(epsilon / 2) * math.tanh(local / 2))


def test_by_hand():
    assert contracted(Fraction(math.log(2)), Fraction(3)) == pytest.approx(math.log(7 / 5))
    assert float(contracted(Fraction(1, 4), E1)) == pytest.approx(0.1150, abs=1e-4)
    assert float(noise_within(Fraction(1, 4), E1)) == pytest.approx(0.5517, abs=1e-4)


@pytest.mark.parametrize("local", ["0.01", "0.5", "1", "3", "8"])
@pytest.mark.parametrize("epsilon", ["0.000000001", "0.01", "0.25", "1", "4", "20"])
def test_both_forms_agree_and_the_bound_is_from_above(epsilon, local):
    loss, given = exp_below(Fraction(local)), Fraction(epsilon)
    found = contracted(given, loss)
    assert float(found) == pytest.approx(both(float(given), float(Fraction(local))), rel=1e-9)
    assert found <= given
    assert found <= ceiling(loss)
    if (least := noise_within(given, loss)) is not None:
        assert least >= given
        assert contracted(least, loss) <= given
        assert float(contracted(least, loss)) == pytest.approx(float(given), rel=1e-9)
    else:
        assert given >= ceiling(loss)


def test_what_has_no_chance_of_its_own_is_not_contracted():
    assert contracted(Fraction(1, 4), None) == Fraction(1, 4)
    assert contracted(None, None) is None
    assert noise_within(Fraction(1, 4), None) == Fraction(1, 4)
    assert contracted(None, Fraction(3)) == ceiling(Fraction(3))
    assert contracted(Fraction(1), Fraction(1)) == 0
    assert noise_within(Fraction(1), Fraction(1)) is None


def test_parts_are_even_and_nobody_gets_more_than_their_ceiling():
    losses = [Fraction(3), exp_below(Fraction(1, 10)), None]
    parts = shared_out(Fraction(3, 2), losses)
    assert float(parts[1]) == pytest.approx(0.1)
    assert parts[0] == parts[2]
    assert sum(parts) <= Fraction(3, 2)
    assert float(sum(parts)) == pytest.approx(1.5)
    at_most = shared_out(Fraction(20), losses[:2])
    assert at_most == [ceiling(Fraction(3)), ceiling(losses[1])]


# The account of several releases


def test_the_ceiling_is_the_product_of_losses_exactly():
    losses = [Fraction(3), Fraction(7, 2), Fraction(9, 8)]
    everything = reading(losses, ("a", None), ("b", None), ("c", None))
    assert loss_of([everything]) == ceiling(Fraction(3) * Fraction(7, 2) * Fraction(9, 8))
    more = reading(losses, ("abc", Fraction(5)), ("ab", None))
    assert loss_of([everything, more, more]) == loss_of([everything])


@pytest.mark.parametrize("seed", range(40))
def test_an_account_grows_and_never_passes_what_noise_and_devices_lose_by_themselves(seed):
    chance = random.Random(seed)
    names = "abcd"[: chance.randint(1, 4)]
    losses = [chance.choice([Fraction(3, 2), E1, Fraction(20), None]) for _ in names]
    readings, before = [], Fraction(0)
    for _ in range(4):
        covered = chance.sample(names, chance.randint(1, len(names)))
        epsilon = chance.choice([Fraction(1, 10), Fraction(1), Fraction(6)])
        readings.append(reading(losses, (covered, epsilon)))
        total = loss_of(readings)
        assert before <= total <= sum(noise.epsilon for one in readings for noise in one.noises)
        if None not in losses:
            assert total <= ceiling(math.prod(losses))
        before = total


def test_a_noise_over_a_report_in_the_clear_counts_in_full_where_that_is_less():
    both_read = reading([E1, None], ("ab", Fraction(1, 2)))
    one = reading([E1], ("a", noise_within(Fraction(1, 4), E1)))
    total = loss_of([both_read, one])
    assert total <= Fraction(3, 4)
    assert float(total) == pytest.approx(0.75)


def test_many_tables_of_many_questions_are_added_up_with_few_steps():
    names = [f"q{number}" for number in range(40)]
    readings = [
        Reading({one: E1, other: E1}, [Noise(frozenset({one, other}), Fraction(1, 10))])
        for one, other in itertools.combinations(names, 2)
    ]
    assert loss_of(readings) <= min(Fraction(len(readings), 10), 40 * ceiling(E1))


def randomised(local):
    """Return the law of a report of one bit."""
    kept = Fraction(local, 1 + local)
    return [[kept, 1 - kept], [1 - kept, kept]]


def noisy(count, odds, reach):
    """Return the law of a count with two-sided geometric noise, held within ±reach."""
    p = 1 / odds
    law = {z: (1 - p) / (1 + p) * p ** abs(z - count) for z in range(1 - reach, reach)}
    ends = {end: p ** abs(end - count) / (1 + p) for end in (-reach, reach)}
    return {**law, **ends}


def odds_of(outcomes):
    """Return the exact greatest odds between two answers, of laws by outcome."""
    return max(
        one[outcome] / other[outcome]
        for one, other in itertools.permutations(outcomes, 2)
        for outcome in one
    )


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("local", [(2, 3), (3, 20)])
def test_adaptive_releases_on_two_reports_in_every_order_lose_what_is_charged(order, local):
    """Three releases: of the first bit, of whether both are held, and of the one that the first
    outcome chose. One person's reports; everybody else's are known, so counts differ by theirs.
    """
    odds = [Fraction(3, 2), Fraction(2), Fraction(5, 4)]
    noises = [[noisy(count, each, 3) for count in range(2)] for each in odds]
    laws = [randomised(each) for each in local]

    def path(drawn, reports):
        chance = Fraction(1)
        for place, which in enumerate(order):
            chosen = reports[drawn[0] % 2 if place else 0]
            count = (reports[0], reports[0] * reports[1], chosen)[which]
            chance *= noises[which][count][drawn[place]]
        return chance

    pairs = list(itertools.product(range(2), repeat=2))
    outcomes = [
        {
            drawn: sum(
                laws[0][answers[0]][reports[0]]
                * laws[1][answers[1]][reports[1]]
                * path(drawn, reports)
                for reports in pairs
            )
            for drawn in itertools.product(range(-3, 4), repeat=3)
        }
        for answers in pairs
    ]
    found = odds_of(outcomes)
    logs = [Fraction(math.log(each)) + Fraction(1, 10**9) for each in odds]
    losses = [Fraction(each) for each in local]
    charges = [
        loss_of(
            [
                reading(losses, ("a", logs[0])),
                reading(losses, ("ab", logs[1])),
                reading(losses, (third, logs[2])),
            ]
        )
        for third in "ab"
    ]
    assert 0.6 * float(min(charges)) < math.log(found) <= float(max(charges))


@pytest.mark.parametrize("local", [Fraction(3, 2), Fraction(3), Fraction(20)])
@pytest.mark.parametrize("odds", [Fraction(5, 4), Fraction(2), Fraction(9)])
@pytest.mark.parametrize("n", [1, 4])
def test_one_noisy_count_of_n_reports_loses_the_charge_within_a_hundredth(local, odds, n):
    """All data sets of n people who differ in one; the law of the noisy count, exactly."""
    law, reach = randomised(local), 4 * n

    def counts(answers):
        found = {0: Fraction(1)}
        for answer in answers:
            moved = {}
            for count, chance in found.items():
                for bit in range(2):
                    moved[count + bit] = moved.get(count + bit, 0) + chance * law[answer][bit]
            found = moved
        laws = {count: noisy(count, odds, reach) for count in found}
        return {
            outcome: sum(chance * laws[count][outcome] for count, chance in found.items())
            for outcome in range(-reach, reach + 1)
        }

    worst = max(
        odds_of([counts((0, *others)), counts((1, *others))])
        for others in itertools.combinations_with_replacement(range(2), n - 1)
    )
    charged = contracted(Fraction(math.log(odds)) + Fraction(1, 10**12), local)
    assert math.log(worst) <= charged
    if n == 1:
        assert math.log(worst) >= 0.99 * float(charged)


def test_reports_of_another_loss_are_not_the_same_report():
    with pytest.raises(ValueError, match="one loss of report a"):
        loss_of([reading([Fraction(3)], ("a", None)), reading([Fraction(2)], ("a", None))])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Noise(frozenset(), Fraction(1)), "reports must name"),
        (lambda: Noise(frozenset("a"), Fraction(0)), "epsilon must be above 0"),
        (lambda: Reading({}, [Noise(frozenset("a"), None)]), "losses must name"),
        (lambda: reading([Fraction(1, 2)], ("a", None)), "loss of a must be 1 or more"),
        (lambda: noise_within(Fraction(0), None), "epsilon must be above 0"),
        (lambda: shared_out(Fraction(1), []), "one report or more"),
    ],
)
def test_what_cannot_be_is_named(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_no_release_loses_nothing():
    assert loss_of([]) == 0
