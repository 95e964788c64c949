"""What sequences of releases lose exactly, by an accountant that is not ours: privacy loss
distributions.

dp-accounting composes the distributions themselves. Losses are rounded up to a grid; ε that are
multiples of the grid stay as they are. Its events are not used: its accountant ignores `count` for
randomised response and doubles the sensitivity of Gaussian noise under replace-one.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np
from dp_accounting.pld import common, privacy_loss_distribution as pld

from dpengine.accounting.concentrated import epsilon_of, rho_of
from dpengine.accounting.filters import (
    EVERYONE,
    Charge,
    ConcentratedFilter,
    EitherFilter,
    Filter,
    PureFilter,
)
from dpengine.privacy import Cost

DELTA = Fraction(1, 10**6)
# a power of two: multiples of it are exact doubles, and no loss is rounded to a neighbour
GRID = Fraction(1, 128)
PURE = ("coin", "laplace")
KINDS = (*PURE, "gaussian")
Event = tuple[str, Cost]


@cache
def loss_of(kind: str, cost: Cost) -> pld.PrivacyLossDistribution:
    """Return the loss of one release of a count with sensitivity 1, or of one answer of a coin."""
    grid = float(GRID)
    if kind == "gaussian":
        return pld.from_gaussian_mechanism(
            math.sqrt(1 / (2 * cost.rho)), value_discretization_interval=grid
        )
    epsilon = float(cost.epsilon or 0)
    if kind == "laplace":
        return pld.from_discrete_laplace_mechanism(
            epsilon, value_discretization_interval=grid, use_connect_dots=True
        )
    # of all ε-DP mechanisms the coin loses the most
    coin = common.DifferentialPrivacyParameters(epsilon, 0)
    return pld.from_privacy_parameters(coin, value_discretization_interval=grid)


def exact_epsilon(events: list[Event]) -> float:
    """Return ε at DELTA of releases whose outcomes are all seen."""
    together = pld.identity(value_discretization_interval=float(GRID))
    for event in events:
        together = together.compose(loss_of(*event))
    return float(together.get_epsilon_for_delta(float(DELTA)))


def admitted(cap: Filter, rng: np.random.Generator) -> list[Event]:
    """Return what one filter admits from someone who chooses each request after seeing the outcomes
    before.

    Each outcome is a coin of that release; heads, and the next request is bolder. Half the requests
    ask for all that is left and every refusal is followed by a smaller one, down to the grid.
    """
    events: list[Event] = []
    boldness = 0.3
    for _ in range(60):
        kind = str(rng.choice(PURE if isinstance(cap, PureFilter) else KINDS))
        cost = _cost(kind, float(rng.exponential(boldness)))
        if cap.admits(cost, [Charge(EVERYONE, paid) for _, paid in events]):
            events.append((kind, cost))
            boldness *= 1.4 if rng.random() < 0.5 else 0.8
        else:
            boldness /= 2
    return events


def _cost(kind: str, size: float) -> Cost:
    epsilon = max(GRID, round(size / float(GRID)) * GRID)
    if kind == "gaussian":
        return Cost.concentrated(epsilon**2 / 2)
    return Cost.pure_exactly(epsilon)


def caps(rng: np.random.Generator) -> Filter:
    """Return a random cap: pure, concentrated, or either of both."""
    kind = rng.integers(3)
    if kind == 0:
        epsilon = round(float(rng.uniform(0.2, 4)) / float(GRID)) * GRID
        return EitherFilter(Fraction(rho_of(epsilon, DELTA)), epsilon=epsilon)
    if kind == 1:
        return PureFilter(round(float(rng.uniform(0.2, 4)) / float(GRID)) * GRID)
    return ConcentratedFilter(Fraction(int(rng.integers(5, 1000)), 1000))


def promised(cap: Filter) -> float:
    """Return the ε at DELTA that a cap promises never to pass."""
    if isinstance(cap, EitherFilter):
        return float(cap.epsilon)
    return float(cap.cap) if isinstance(cap, PureFilter) else float(epsilon_of(cap.rho, DELTA))
