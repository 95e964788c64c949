import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from dpengine.central.laplace import LARGEST_COUNT, DiscreteLaplace
from dpengine.privacy import Cost

DRAWS = 20_000


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 4), Fraction(1, 3), Fraction(1, 7), Fraction("0.45") / 3, Fraction(2)]
)
@pytest.mark.parametrize("sensitivity", [1, 2, 26])
def test_it_never_costs_more_than_was_asked_for(epsilon, sensitivity):
    mechanism = DiscreteLaplace.for_epsilon(epsilon, sensitivity)
    assert epsilon * (1 - Fraction(1, 2**50)) < mechanism.epsilon <= epsilon


@pytest.mark.parametrize("scale", [0.5, 1 / math.log(3), 4.0])
def test_a_neighbouring_count_makes_no_output_likelier_than_the_loss(scale):
    """Enumerated from the claimed law: e^ε is reached and not passed."""
    mechanism = DiscreteLaplace(scale, 1)
    outputs = np.arange(-6, 7)  # farther out, subtracting tails loses its digits
    law = mechanism.tail(outputs) - mechanism.tail(outputs + 1)
    beside = mechanism.tail(outputs - 1) - mechanism.tail(outputs)
    assert np.max(np.abs(np.log(law / beside))) == pytest.approx(1 / scale, rel=1e-6)


@pytest.mark.parametrize("scale", [0.7, 4.0, 30.0])
def test_what_is_drawn_follows_the_law_that_intervals_count_on(scale):
    """Chi-square of 20,000 draws against the tail formula; a false alarm once in a million runs."""
    mechanism = DiscreteLaplace(scale, 1)
    drawn = np.array(mechanism.release([1000] * DRAWS)) - 1000
    reach = max(2, int(3 * scale))
    edges = np.arange(-reach, reach + 2)
    inner = mechanism.tail(edges[:-1]) - mechanism.tail(edges[1:])
    expected = (
        np.array([1 - mechanism.tail(edges[:1])[0], *inner, mechanism.tail(edges[-1:])[0]]) * DRAWS
    )
    counts = [
        np.sum(drawn < edges[0]),
        *(np.sum(drawn == edge) for edge in edges[:-1]),
        np.sum(drawn >= edges[-1]),
    ]
    assert stats.chisquare(counts, expected).pvalue > 1e-6


def test_its_variance_is_that_of_its_law():
    assert DiscreteLaplace(1 / math.log(3), 1).variance == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("scale", "sensitivity"), [(0.0, 1), (-1.0, 1), (math.inf, 1), (math.nan, 1), (1.0, 0)]
)
def test_a_mechanism_without_protection_is_refused(scale, sensitivity):
    with pytest.raises(ValueError, match="must be"):
        DiscreteLaplace(scale, sensitivity)


def test_an_epsilon_of_nothing_is_refused():
    with pytest.raises(ValueError, match="epsilon must be above 0, got 0"):
        DiscreteLaplace.for_epsilon(Fraction(0), 1)


def test_its_cost_and_its_mean_error_are_those_of_its_law():
    mechanism = DiscreteLaplace(2.0, 3)
    assert mechanism.cost == Cost(rho=mechanism.rho, epsilon=Fraction(3, 2))
    assert float(mechanism.rho) == pytest.approx(0.754579, abs=1e-6)  # ε²/2 is 1.125
    at = np.arange(-200, 201)
    chances = mechanism.tail(at) - mechanism.tail(at + 1)
    assert mechanism.mean_absolute_error == pytest.approx(float(chances @ np.abs(at)), rel=1e-9)
    assert DiscreteLaplace(1 / math.log(3), 1).mean_absolute_error == pytest.approx(0.75)


@pytest.mark.parametrize("count", [2**62 + 1, 2**63 - 1, 2**63, 10**30, -(2**63), -(10**30)])
def test_counts_that_64_bits_cannot_hold_are_held_at_the_edge_and_are_no_error(count):
    """An error, or a sign that turns over, would tell of the data."""
    (noisy,) = DiscreteLaplace(1.0, 1).release([count])
    edge = LARGEST_COUNT if count > 0 else -LARGEST_COUNT
    assert abs(noisy - edge) < 60  # beyond: a chance of e^−60


def test_nobody_and_no_counts_are_counts_too():
    mechanism = DiscreteLaplace(0.01, 1)  # noise is 0 but for a chance of e^−100
    assert mechanism.release([]) == []
    assert mechanism.release([0]) == [0]
    assert mechanism.release([0, 1]) == [0, 1]


def test_noise_that_64_bits_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="scale must be at most"):
        DiscreteLaplace(2.0**51, 1)


def divergence(order: float, step: float, moved: int) -> float:
    """Return D_α of discrete Laplace noise with t = 1/scale on a count that moves, summed term by
    term.
    """
    reach = math.ceil(200 / step) + moved
    z = np.arange(-reach, reach + moved + 1)
    terms = -step * (order * np.abs(z) + (1 - order) * np.abs(z - moved))
    law = math.log(math.tanh(step / 2))
    return float((special.logsumexp(terms) + law) / (order - 1))


ORDERS = 1 + np.geomspace(1e-4, 300, 60)


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0, 5.5, 40.0])
@pytest.mark.parametrize("moved", [1, 2, 3, 7, 30])
def test_its_rho_bounds_every_renyi_divergence_and_is_reached(scale, moved):
    """Enumerated at 60 orders: none is above ρα, and near 1 they come as near as can be."""
    mechanism = DiscreteLaplace(scale, moved)
    rho = float(mechanism.cost.rho)
    parts = [divergence(order, 1 / scale, moved) / (order * rho) for order in ORDERS]
    assert max(parts) <= 1 + 1e-8
    assert parts[0] > 1 - 1e-3
    of_any = Cost.pure_exactly(mechanism.epsilon).rho
    assert mechanism.cost.rho <= of_any * (1 + Fraction(1, 10**40))  # both rounded up


@pytest.mark.parametrize("moves", [(1, 1), (2, 1), (5, 2, 1), (1,) * 8])
def test_counts_that_move_together_lose_less_than_one_that_moves_by_all(moves):
    rho = float(DiscreteLaplace(3.0, sum(moves)).cost.rho)
    for order in ORDERS:
        assert sum(divergence(order, 1 / 3, moved) for moved in moves) < order * rho


def test_its_rho_is_that_of_the_proof_sheet():
    assert float(DiscreteLaplace(2.0, 2).cost.rho) == pytest.approx(0.393469, abs=1e-6)
    assert float(DiscreteLaplace(1.0, 1).cost.rho) == pytest.approx(math.tanh(0.5))
    fine = DiscreteLaplace(2.0**40, 2**40)  # ε = 1, as continuous noise
    assert float(fine.cost.rho) == pytest.approx(math.exp(-1))


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 0.005, 0.02, 2.0**50])
def test_its_rho_stays_within_its_bounds_at_the_ends(scale):
    mechanism = DiscreteLaplace(scale, 1)
    assert 0 < mechanism.cost.rho <= min(mechanism.epsilon, mechanism.epsilon**2 / 2)
