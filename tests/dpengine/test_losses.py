"""Reached on every release's page: “How much it tells of one person” (or of what else is protected)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from dpengine.accounting import composition, concentrated
from dpengine.central.gaussian import delta_of_continuous
from dpengine.contraction import contracted
from dpengine.losses import LossLaw


def enumerated(scale, steps):
    """Return losses and chances of discrete Laplace noise on numbers that move by these steps."""
    p = math.exp(-1 / scale)
    reach = range(-60, 61)
    law = {0.0: 1.0}
    for step in steps:
        after = {}
        for loss, chance in law.items():
            for z in reach:
                at = round(loss + (abs(z + step) - abs(z)) / scale, 9)
                after[at] = after.get(at, 0.0) + chance * (1 - p) / (1 + p) * p ** abs(z)
        law = after
    return np.array(sorted(law)), np.array([law[loss] for loss in sorted(law)])


@pytest.mark.parametrize("steps", [(1,), (2,), (1, 1), (5,), (3, 3, 3)])
@pytest.mark.parametrize("scale", [0.9, 2.0])
def test_noise_of_laplace_by_enumeration(scale, steps):
    law = LossLaw.laplace(scale, steps[0]).times(len(steps))
    losses, chances = enumerated(scale, steps)
    assert law.losses == pytest.approx(losses, abs=1e-8)
    assert law.chances == pytest.approx(chances, abs=1e-8)
    assert law.greatest == pytest.approx(sum(steps) / scale)
    assert law.is_exact


def test_the_examples_by_hand():
    law = LossLaw.laplace(2.0, 2)
    assert law.losses.tolist() == [-1, 0, 1]
    assert law.chances == pytest.approx([0.2290, 0.1486, 0.6225], abs=1e-4)
    assert law.mean == pytest.approx(0.3935, abs=1e-4)
    assert LossLaw.laplace(2.0, 1).losses == pytest.approx(LossLaw.coin(0.5).losses)
    assert LossLaw.laplace(2.0, 1).chances == pytest.approx(LossLaw.coin(0.5).chances)
    assert LossLaw.coin(0.5).times(2).losses == pytest.approx([-1, 0, 1])
    assert LossLaw.coin(math.log(3)).through(3).greatest == pytest.approx(math.log(5 / 3))


@pytest.mark.parametrize("step", [10**3, 10**6])
def test_a_number_that_moves_far_keeps_its_ends_and_its_mean(step):
    """The mean loss of Laplace noise of ε = 1 is e^−1, to a cell."""
    law = LossLaw.laplace(float(step), step)
    assert len(law.losses) < 300
    assert (law.losses[0], law.greatest) == (-1, 1)
    assert law.chances.sum() == pytest.approx(1)
    assert law.mean == pytest.approx(math.exp(-1), abs=0.005)


@pytest.mark.parametrize("rho", [0.001, 0.02, 0.5])
def test_noise_of_gauss_has_its_mean_and_its_delta(rho):
    law = LossLaw.gaussian(rho)
    assert law.mean == pytest.approx(rho)
    assert law.chances.sum() == pytest.approx(1)
    epsilon = law.epsilon(1e-6)
    assert delta_of_continuous(1 / math.sqrt(2 * rho), epsilon) == pytest.approx(1e-6, rel=0.02)
    assert epsilon < float(concentrated.epsilon_of(Fraction(rho), Fraction(1, 10**6)))


def test_sums_of_gauss_are_of_gauss():
    added, whole = LossLaw.gaussian(0.02) + LossLaw.gaussian(0.03), LossLaw.gaussian(0.05)
    assert added.mean == pytest.approx(whole.mean, abs=0.005)
    for share in (0.1, 0.5, 0.99):
        assert added.at_most(share) == pytest.approx(whole.at_most(share), abs=0.01)


@pytest.mark.parametrize("chance", [0.01, 1e-6, 1e-10])
def test_a_normal_loss_is_passed_as_often_as_said_and_more_often_than_its_epsilon(chance):
    """An ε that holds with δ is passed more often than δ; ε + ln 2 at most twice as often."""
    law = LossLaw.gaussian(0.18)
    at = 0.18 + 0.6 * -special.ndtri(chance)
    assert law.at_most(1 - chance) == pytest.approx(at, abs=0.01)
    epsilon = law.epsilon(chance)
    assert special.ndtr((0.18 - epsilon) / 0.6) > chance
    assert special.ndtr((0.18 - epsilon - math.log(2)) / 0.6) <= 2 * chance


@pytest.mark.parametrize("delta", [1e-3, 1e-12])
def test_the_share_that_has_a_bound_ends_at_it(delta):
    law = LossLaw.coin(2.0, delta)
    assert law.at_most(1 - delta) == 2
    assert law.at_most(1 - delta / 2) == math.inf


def test_the_whole_of_many_draws_ends_at_the_greatest():
    law = LossLaw.coin(0.1).times(30)
    assert law.at_most(1) == law.greatest


@pytest.mark.parametrize(("epsilon", "many"), [(0.1, 30), (0.5, 4)])
def test_coins_add_up_as_optimal_composition_says(epsilon, many):
    law = LossLaw.coin(epsilon).times(many)
    exact = composition.optimal(Fraction(epsilon), many, Fraction(1, 1000))
    assert law.epsilon(1e-3) == pytest.approx(float(exact), abs=1e-6)
    assert not law.is_exact


@pytest.mark.parametrize("law", [LossLaw.laplace(2.0, 2), LossLaw.laplace(1.5, 1).times(2)])
def test_no_pure_noise_loses_more_than_the_coin_of_its_epsilon(law):
    coin = LossLaw.coin(law.greatest)
    for epsilon in np.linspace(0, law.greatest, 20):
        assert law.delta(epsilon) <= coin.delta(epsilon) + 1e-12


@pytest.mark.parametrize("odds", [1.0, 1.5, 20.0])
def test_through_a_device_as_the_accounts_say(odds):
    """And each outcome's chances are mixtures, by enumeration."""
    law = LossLaw.laplace(2.0, 3)
    through = law.through(odds)
    ends = contracted(Fraction(3, 2), Fraction(odds))
    assert through.greatest == pytest.approx(float(ends), abs=1e-9)
    one, other = law.chances, law.chances * np.exp(-law.losses)
    mixed = (odds * one + other) / (1 + odds), (one + odds * other) / (1 + odds)
    if odds > 1:
        assert through.chances == pytest.approx(mixed[0])
        assert through.losses == pytest.approx(np.log(mixed[0] / mixed[1]))
    assert through.chances.sum() == pytest.approx(1)


def test_what_has_no_bound_is_kept_apart():
    law = LossLaw.coin(1.0, 0.001)
    assert law.at_most(0.99) == 1
    assert law.at_most(0.9999) == math.inf
    assert law.delta(1.0) == pytest.approx(0.001)
    assert law.epsilon(1e-4) == math.inf
    assert (law + law).unbounded == pytest.approx(0.001999)
    assert law.through(3).unbounded == 0
    assert law.through(3).greatest == pytest.approx(math.log(3))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: LossLaw.coin(0.0), "epsilon must be above 0, got 0.0"),
        (lambda: LossLaw.laplace(0.0, 1), "scale and step must be above 0, got 0.0, 1"),
        (lambda: LossLaw.gaussian(-1.0), "rho must be above 0, got -1.0"),
        (lambda: LossLaw.coin(1.0).times(0), "many must be 1 or more, got 0"),
        (lambda: LossLaw.coin(1.0).through(0.5), "odds must be 1 or more, got 0.5"),
    ],
)
def test_what_is_no_law_is_refused(made, words):
    with pytest.raises(ValueError, match=words):
        made()
