"""What is drawn is what is paid for: the losses of all noise of one release, added up, are the
mechanism's cost.

Noise that is left out, halved or drawn twice shows here, also where an audit's draws cannot tell it
from the rest.
"""

import importlib
import inspect
import pkgutil
from fractions import Fraction
from functools import reduce
from operator import add

import pytest

from dpengine import central
from dpengine.central import subsample, synopsis
from dpengine.central.counter import ContinualCounter
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.holdout import Holdout
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.marginals import Marginals
from dpengine.central.numeric import Bounds, Mean, Spread
from dpengine.central.propose import ProposedMedian
from dpengine.central.quantiles import Grid, QuantilesWithIntervals
from dpengine.central.regression import Regression
from dpengine.central.selection import Law, Selection
from dpengine.central.smooth import SmoothMedian, median
from dpengine.central.sparse_vector import AboveThreshold
from dpengine.central.subsample import Subsample
from dpengine.central.workload import LinearQueries
from dpengine.privacy import Cost, Neighbours

ONE, HALF = Fraction(1), Fraction(1, 2)
TEN = Bounds(0, 10)
VALUES = [place % 11 for place in range(400)]
ROWS = [(value, 10 - value) for value in VALUES]
WIDE = Fraction(1, 10)  # δ


@pytest.fixture
def drawn(monkeypatch):
    """Keep what is given to each sampler, and its mechanism."""
    found = []
    for sampler in (DiscreteLaplace, DiscreteGaussian, Selection):

        def keep(mechanism, numbers, release=sampler.release):
            found.append((mechanism, list(numbers)))
            return release(mechanism, numbers)

        monkeypatch.setattr(sampler, "release", keep)
    return found


def spent(drawn) -> Cost:
    return reduce(add, (mechanism.cost for mechanism, _ in drawn))


def held(neighbours):
    holdout = Holdout.for_epsilon(ONE, Fraction(1, 100), 3, neighbours)
    # far off: a number is given
    return holdout.cost, lambda: holdout.ask(holdout.start(10**5), ONE, 0, 10**5)


def watched():
    watch = AboveThreshold.for_epsilon(ONE, sensitivity=1, monotonic=True)
    return watch.cost, lambda: watch.step(watch.start(), 5, 5)


def of(mechanism, *arguments):
    return mechanism.cost, lambda: mechanism.release(*arguments)


def tables(make, neighbours):
    marginals = make(ONE, (2, 3, 2), neighbours)
    return marginals.cost, lambda: synopsis.draw(marginals, {(0, 1, 0): 40, (1, 2, 1): 30})


def proposed(neighbours):
    # far from moving: it answers
    return of(ProposedMedian.for_epsilon_delta(ONE, WIDE, TEN, neighbours, 2), [4] * 400)


RELEASES = {
    **{
        f"{made.__name__}, {neighbours}": lambda made=made, neighbours=neighbours: made(neighbours)
        for made in (held, proposed)
        for neighbours in Neighbours
    },
    **{
        f"mean, {neighbours}, {spread}": lambda neighbours=neighbours, spread=spread: of(
            Mean.for_epsilon(ONE, TEN, neighbours, spread), VALUES
        )
        for neighbours in Neighbours
        for spread in Spread
    },
    **{
        f"quantile with interval, {neighbours}": lambda neighbours=neighbours: of(
            QuantilesWithIntervals.for_epsilon(5 * ONE, Grid(TEN), [HALF], neighbours), VALUES
        )
        for neighbours in Neighbours
    },
    **{
        f"quartiles with intervals, {neighbours}": lambda neighbours=neighbours: of(
            QuantilesWithIntervals.for_epsilon(
                5 * ONE, Grid(TEN), [HALF / 2, HALF, 3 * HALF / 2], neighbours
            ),
            VALUES,
        )
        for neighbours in Neighbours
    },
    **{
        f"groups, {neighbours}": lambda neighbours=neighbours: of(
            Subsample.for_epsilon(9 * ONE, 200, 0, 10, neighbours), ROWS, subsample.mean
        )
        for neighbours in Neighbours
    },
    **{
        f"regression {make.__name__}, {neighbours}": lambda make=make, neighbours=neighbours: of(
            make(ONE, [TEN], TEN, neighbours), ROWS
        )
        for make in (Regression.for_epsilon, Regression.for_rho)
        for neighbours in Neighbours
    },
    **{
        f"tables {make.__name__}, {neighbours}": lambda make=make, neighbours=neighbours: tables(
            make, neighbours
        )
        for make in (Marginals.for_epsilon, Marginals.for_rho)
        for neighbours in Neighbours
    },
    "linear queries": lambda: of(
        LinearQueries.for_epsilon(ONE, [[1, 0], [1, 1]], Neighbours.ADD_REMOVE), [4, 5]
    ),
    "watch": watched,
    "noisy max": lambda: of(Selection.for_epsilon(ONE, 2, Law.NOISY_MAX, 2), [3, 4, 5]),
}


@pytest.mark.parametrize("name", RELEASES)
def test_the_noise_of_one_release_costs_what_the_release_does(name, drawn):
    cost, release = RELEASES[name]()
    release()
    paid = spent(drawn)
    assert paid.rho <= cost.rho
    if cost.epsilon is None:
        assert cost.rho * (1 - Fraction(1, 2**40)) < paid.rho
    else:
        assert cost.epsilon * (1 - Fraction(1, 2**40)) < paid.epsilon <= cost.epsilon


@pytest.mark.parametrize("neighbours", Neighbours)
def test_a_mean_sees_the_answers_through_noise_only(neighbours, drawn):
    """So do the number of people where it is not public, and the second moment."""
    mean = Mean.for_epsilon(ONE, TEN, neighbours, Spread.RELEASED)
    mean.release(VALUES)
    given = dict(drawn)
    assert given[mean.total] == [sum(map(TEN.centred, VALUES))]
    assert given[mean.moment] == [sum(map(TEN.squared, VALUES))]
    assert mean.people is None or given[mean.people] == [len(VALUES)]


def test_a_smooth_median_gets_the_noise_of_its_rung(drawn):
    mechanism = SmoothMedian.for_epsilon_delta(ONE, WIDE, TEN, Neighbours.CHANGE_ONE)
    mechanism.release(VALUES)
    ((noise, numbers),) = drawn
    assert (Fraction(noise.scale), numbers) == (
        mechanism.smooth_bound(VALUES),
        [mechanism.parts * median(VALUES, TEN)],
    )


def test_a_horizon_of_refreshes_gets_one_noise_a_step(drawn):
    counter = ContinualCounter.for_rho(ONE, horizon=3, counts=1, moves=1)
    state = counter.start()
    for total in (2, 5, 9):
        state, _ = counter.step(state, [total])
    assert [mechanism for mechanism, _ in drawn] == [counter.noise_drawn(t) for t in (1, 2, 3)]
    assert all(mechanism.scale >= counter.gaussian.scale for mechanism, _ in drawn)


STATED = {"held", "monotonic", "moves", "neighbours", "sensitivity", "sensitivity_squared"}
CALLED = [
    (f"{name}.{made.__name__}.{maker}", inspect.signature(getattr(made, maker)))
    for name in sorted(module.name for module in pkgutil.iter_modules(central.__path__))
    for made in vars(importlib.import_module(f"dpengine.central.{name}")).values()
    if inspect.isclass(made) and made.__module__ == f"dpengine.central.{name}"
    for maker in ("__init__", "for_epsilon", "for_rho", "for_epsilon_delta")
    if hasattr(made, maker)
]


@pytest.mark.parametrize(
    "signature", [each for _, each in CALLED], ids=[name for name, _ in CALLED]
)
def test_nothing_that_privacy_depends_on_is_taken_for_granted(signature):
    """How far one person moves the data is said each time: forgotten, the noise would be too
    small.
    """
    taken = [each.name for each in signature.parameters.values() if each.default is not each.empty]
    assert not STATED & set(taken)
