"""Means, quantiles, medians, groups, regressions and checks."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpengine.central import subsample
from dpengine.central.holdout import Holdout
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.numeric import Bounds, Mean, Spread
from dpengine.central.propose import ProposedMedian
from dpengine.central.quantiles import Grid, Limits, Quantile, QuantilesWithIntervals
from dpengine.central.regression import LEVELS, Regression
from dpengine.central.smooth import SmoothMedian, median
from dpengine.central.subsample import Subsample
from dpengine.privacy import Neighbours
from tests.central_cases import Case

Ints = npt.NDArray[np.int64]
TRIALS = 16_000  # of an error made by Laplace noise: chance moves a root mean square by 0.9 %
CHOICES = 8000  # of an error made by choosing among points that are all likely: by 0.9 %
ONE, HALF = Fraction(1), Fraction(1, 2)
DELTA = Fraction(1, 100)  # large, so that the audit sees it
TEN = Bounds(0, 10)
CHANGE, ADD = Neighbours.CHANGE_ONE, Neighbours.ADD_REMOVE


def rank_error(quantile: Quantile, values: Sequence[int]) -> float:
    """Return how far the chosen rank is off in root mean square, in people, by the exact law."""
    scores = np.array(quantile._scores(values, quantile.quantile * len(values)), dtype=float)
    chances = np.array(quantile.law(values))
    return math.sqrt(float(chances @ scores**2)) / quantile.quantile.denominator


def repeated(draw: Callable[[bool], int]) -> Callable[[bool, int], Ints]:
    return lambda beside, many: np.array([draw(beside) for _ in range(many)])


def root_mean_square(errors: npt.NDArray[Any]) -> float:
    return math.sqrt(float(np.mean(np.square(errors, dtype=np.float64))))


def people(n: int) -> list[int]:
    """Return n answers from 0 to 10: more of them low."""
    return [place * place % 11 for place in range(n)]


def means(neighbours: Neighbours, spread: Spread) -> Case:
    mechanism = Mean.for_epsilon(ONE, TEN, neighbours, spread)
    others = {True: [10], False: [0] if neighbours is CHANGE else []}

    def errors(n: int) -> tuple[float, float]:
        values = people(n)
        exact = sum(map(TEN.centred, values))
        totals = np.array(mechanism.total.release([exact] * TRIALS))
        counted = np.array(mechanism.people.release([n] * TRIALS)) if mechanism.people else n
        off = 5 + totals / 2 / counted - sum(values) / n
        return root_mean_square(off), mechanism.standard_error(n, sum(values) / n)

    def draws(moved: bool, many: int) -> Ints:
        """Draw the parts of many means at once, and put them together as `release` does."""
        values = [5] * 20 + others[moved]
        totals = np.array(mechanism.total.release([sum(map(TEN.centred, values))] * many))
        counted = (
            np.array(mechanism.people.release([len(values)] * many))
            if mechanism.people
            else len(values)
        )
        return np.asarray(np.rint(100 * totals / np.maximum(counted, 1)), dtype=np.int64)

    tight = (neighbours, spread) == (CHANGE, Spread.BOUND)
    return Case(
        f"mean, {neighbours}, spread {spread}",
        "ask: mean",
        mechanism.cost,
        draws,
        tight,
        errors,
        many=20_000,
    )


def quantile(neighbours: Neighbours, at: Fraction, beside: Sequence[int]) -> Case:
    grid, values = Grid(Bounds(0, 4)), [1, 1, 3, 3]
    mechanism = Quantile.for_epsilon(ONE, grid, at, neighbours)

    def law(moved: bool) -> Mapping[int, float]:
        return dict(enumerate(mechanism.law(beside if moved else values)))

    def errors(n: int) -> tuple[float, float]:
        """Over 21 points, at an ε for which many of them are likely."""
        wide = Quantile.for_epsilon(Fraction(5, n), Grid(Bounds(0, 20)), at, neighbours)
        answers = [place * 21 // n for place in range(n)]
        scores = wide._scores(answers, at * n)
        off = [scores[wide.selection.release(scores)[0]] / at.denominator for _ in range(CHOICES)]
        return root_mean_square(np.array(off)), rank_error(wide, answers)

    draws = repeated(lambda moved: mechanism.release(beside if moved else values))
    name = f"quantile {at}, {neighbours}"
    return Case(
        name, "ask: quantile", mechanism.cost, draws, tight=False, errors=errors, law=law, many=5000
    )


def interval() -> Case:
    """Both limits and the value, as one number."""
    mechanism = QuantilesWithIntervals.for_epsilon(Fraction(6), Grid(Bounds(0, 3)), [HALF], CHANGE)

    def draw(moved: bool) -> int:
        (found,) = mechanism.release([0] * 19 + [3] * 20 + [3 * moved])
        return round(16 * found.value + 4 * found.low + found.high)

    return Case(
        "quantile with interval",
        "ask: quantile",
        mechanism.cost,
        repeated(draw),
        tight=False,
        many=2500,
    )


def limits_add_remove() -> Case:
    mechanism = Limits.for_epsilon(Fraction(6), Grid(Bounds(0, 3)), HALF, ADD)

    def draw(moved: bool) -> int:
        low, high = mechanism.release([0] * 20 + [3] * 20 + [3] * moved, 1)
        return 4 * low + high

    return Case(
        "limits of a quantile, add-remove",
        "ask: quantile",
        mechanism.cost,
        repeated(draw),
        False,
        many=2500,
    )


def smooth(neighbours: Neighbours) -> Case:
    mechanism = SmoothMedian.for_epsilon_delta(Fraction(2), DELTA, TEN, neighbours)
    narrow, wide = [4] * (5 if neighbours is CHANGE else 4) + [9] * 4, [4] * 4 + [9] * 5

    def errors(n: int) -> tuple[float, float]:
        planned = SmoothMedian.for_epsilon_delta(
            ONE, Fraction(1, 10**6), Bounds(0, 10**6), neighbours
        )
        values = [place * 10**6 // n for place in range(n)]
        noise = DiscreteLaplace(float(planned.smooth_bound(values)), 1)
        exact = planned.parts * median(values, planned.bounds)
        off = (np.array(noise.release([exact] * TRIALS)) - exact) / planned.parts
        return root_mean_square(off), planned.standard_error(values)

    draws = repeated(lambda moved: mechanism.release(wide if moved else narrow))
    return Case(
        f"median by smooth sensitivity, {neighbours}",
        "ask: quantile",
        mechanism.cost,
        draws,
        False,
        errors,
        many=2500,
    )


def proposed(neighbours: Neighbours) -> Case:
    mechanism = ProposedMedian.for_epsilon_delta(Fraction(2), DELTA, TEN, neighbours, 2)
    values = [4] * 11
    noise = DiscreteLaplace.for_epsilon(ONE, 2)

    def errors(n: int) -> tuple[float, float]:
        exact = 2**20
        assert mechanism.noise == noise
        drawn = np.array(noise.release([exact] * TRIALS)) - exact
        return root_mean_square(drawn), mechanism.standard_error

    def draw(moved: bool) -> int:
        others = [10] if neighbours is CHANGE else [4, 10]
        found = mechanism.release([*values[: len(values) - 1], *others] if moved else values)
        return -1 if found is None else found

    return Case(
        f"median by propose, test, release, {neighbours}",
        "ask: quantile",
        mechanism.cost,
        repeated(draw),
        False,
        errors,
        many=2500,
    )


def groups(neighbours: Neighbours) -> Case:
    mechanism = Subsample.for_epsilon(Fraction(3), 10, 0, 10, neighbours)
    rows = [(5,)] * 19

    def draw(moved: bool) -> int:
        others = [(10,)] if moved else [(0,)] if neighbours is CHANGE else []
        found = mechanism.release([*rows, *others], subsample.mean)
        return round(10 * found.value)

    def errors(n: int) -> tuple[float, float]:
        wide = Subsample.for_epsilon(Fraction(3, 10), 100, 0, 10, neighbours)
        blocks = wide.deal([(value,) for value in people(n)])
        results = wide.results(blocks, subsample.trimmed_mean)
        point = wide.aggregate.point
        scores = point._scores(results, Fraction(50))
        off = [scores[point.selection.release(scores)[0]] / 2 for _ in range(CHOICES)]
        return root_mean_square(np.array(off)), rank_error(point, results)

    return Case(
        f"subsample and aggregate, {neighbours}",
        "ask: trusted",
        mechanism.cost,
        repeated(draw),
        False,
        errors,
        many=1000,
    )


def regression(neighbours: Neighbours, gaussian: bool) -> Case:
    """One person more, or as far away as there is; what tells is how far the products are on that
    person's side.
    """
    make = Regression.for_rho if gaussian else Regression.for_epsilon
    mechanism = make(ONE, [TEN], TEN, neighbours)
    rows = [(5, 5)] * 3
    before = [] if neighbours is ADD else [(0, 10)] if gaussian else [(3, 3)]
    moved_by = np.array(mechanism.products([*rows, (10, 10)]), dtype=np.float64)
    moved_by -= np.array(mechanism.products([*rows, *before]), dtype=np.float64)

    def draw(moved: bool) -> int:
        others = [(10, 10)] if moved else before
        return round(
            float(np.sum(np.triu(mechanism.noisy_products([*rows, *others]) * np.sign(moved_by))))
        )

    def errors(n: int) -> tuple[float, float]:
        exact = sum(2 * value * value for value in people(n))
        drawn = np.array(mechanism.noise.release([exact] * TRIALS)) - exact
        return root_mean_square(drawn) / LEVELS**2, mechanism.deviation

    name = f"regression, {neighbours}, {'Gaussian' if gaussian else 'Laplace'}"
    return Case(
        name, "ask: linear_regression", mechanism.cost, repeated(draw), False, errors, many=2500
    )


def holdout(neighbours: Neighbours) -> Case:
    mechanism = Holdout.for_epsilon(Fraction(2), Fraction(1, 10), 1, neighbours)

    def draw(moved: bool) -> int:
        n = 21 if moved and neighbours is ADD else 20
        _, answer = mechanism.ask(
            mechanism.start(n), Fraction(1, 2), 6 - moved if neighbours is CHANGE else 6, n
        )
        return 99 if answer.count is None else answer.count

    def errors(n: int) -> tuple[float, float]:
        drawn = np.array(mechanism.of_number.release([n // 3] * TRIALS)) - n // 3
        return root_mean_square(drawn), mechanism.standard_error

    return Case(
        f"reusable holdout, {neighbours}",
        "ask: check",
        mechanism.cost,
        repeated(draw),
        False,
        errors,
        many=1200,
    )


CASES = [
    *(means(neighbours, spread) for neighbours in Neighbours for spread in Spread),
    quantile(CHANGE, HALF, [1, 3, 3, 3]),
    quantile(CHANGE, Fraction(1, 10), [1, 1, 1, 3]),
    quantile(ADD, HALF, [1, 1, 3, 3, 3]),
    quantile(ADD, Fraction(1, 10), [1, 1, 3, 3, 0]),
    interval(),
    limits_add_remove(),
    *(smooth(neighbours) for neighbours in Neighbours),
    *(proposed(neighbours) for neighbours in Neighbours),
    *(groups(neighbours) for neighbours in Neighbours),
    *(regression(neighbours, gaussian) for neighbours in Neighbours for gaussian in (False, True)),
    *(holdout(neighbours) for neighbours in Neighbours),
]
