"""Counts, choices, prices and watches."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpengine.central import counts as tallies
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.selection import Law, Selection, revenue
from dpengine.central.sparse_vector import AboveThreshold
from dpengine.privacy import Neighbours
from tests.central_cases import Case

Ints = npt.NDArray[np.int64]
Mechanism = DiscreteLaplace | DiscreteGaussian
TRIALS = 40_000  # of an error, so that chance moves a root mean square by 0.5 % (Laplace: 0.6 %)
ONE = Fraction(1)
REACH = 40  # scales: beyond them lies less than 1e-17 of the law of a threshold's noise


def law_of_first_over(watch: AboveThreshold, queries: Sequence[int], threshold: int) -> list[float]:
    """Return Pr[the first over is query i], and last, Pr[none is], exactly but for rounding."""
    reach = round(REACH * watch.of_threshold.scale) + 1
    noise = np.arange(-reach, reach + 1)
    still = watch.of_threshold.tail(noise) - watch.of_threshold.tail(noise + 1)  # and Z = noise
    chances = []
    for query in queries:
        over = watch.of_query.tail(threshold + noise - query)
        chances.append(float(still @ over))
        still = still * (1 - over)
    return [*chances, float(still.sum())]


def added(mechanism: Mechanism) -> Callable[[bool, int], Ints]:
    """Draw one count of 40, or of 41."""
    return lambda beside, many: np.array(mechanism.release([40 + beside] * many))


def moved(mechanism: Mechanism) -> Callable[[bool, int], Ints]:
    """Draw two counts of a histogram, one answer moved from the first to the second.

    What tells of Laplace noise is how many of the two counts are on the neighbour's side, of
    Gaussian the difference.
    """

    def draws(beside: bool, many: int) -> Ints:
        drawn = np.array(mechanism.release([40 - beside, 40 + beside] * many)).reshape(many, 2)
        if isinstance(mechanism, DiscreteGaussian):
            return np.asarray(drawn[:, 1] - drawn[:, 0])
        return np.asarray((drawn[:, 1] > 40).astype(np.int64) + (drawn[:, 0] < 40))

    return draws


def law_of_count(mechanism: Mechanism) -> Callable[[bool], Mapping[int, float]]:
    def law(beside: bool) -> Mapping[int, float]:
        reach = int(12 * math.sqrt(mechanism.variance)) + 12
        at = np.arange(-reach, reach + 1)
        chances = mechanism.tail(at) - mechanism.tail(at + 1)
        return {int(z) + 40 + beside: float(chance) for z, chance in zip(at, chances, strict=True)}

    return law


def histogram_error(choice: tallies.Choice) -> Callable[[int], tuple[float, float]]:
    """Measure the noise of a histogram of n people over fresh draws."""

    def errors(n: int) -> tuple[float, float]:
        cells = choice.tallies[0].cells
        counts = [n // cells + (cell < n % cells) for cell in range(cells)]
        rounds = TRIALS // cells
        drawn = np.array([choice.release([counts], n)[0] for _ in range(rounds)])
        return float(np.sqrt(np.mean((drawn - counts) ** 2.0))), math.sqrt(
            choice.mechanism.variance
        )

    return errors


def chosen(selection: Selection, one: Sequence[int], other: Sequence[int]) -> dict[str, Any]:
    """Draw places chosen among these scores; several are written as one number, place by place."""

    def draws(beside: bool, many: int) -> Ints:
        scores = other if beside else one
        return np.array([coded(selection.release(scores)) for _ in range(many)])

    def law(beside: bool) -> Mapping[int, float]:
        chances = law_of_all(selection, other if beside else one)
        return {coded(places): chance for places, chance in chances.items()}

    return {"draws": draws, "law": law}


def law_of_all(selection: Selection, scores: Sequence[int]) -> dict[tuple[int, ...], float]:
    """Return the law of all choices in order: each time that of one among those left."""

    def peeled(left: tuple[int, ...], more: int) -> dict[tuple[int, ...], float]:
        if not more:
            return {(): 1.0}
        chances = selection.chances([scores[place] for place in left])
        return {
            (place, *rest): chance * after
            for place, chance in zip(left, chances, strict=True)
            for rest, after in peeled(tuple(o for o in left if o != place), more - 1).items()
        }

    return peeled(tuple(range(len(scores))), selection.best)


def coded(places: Sequence[int]) -> int:
    return sum(place * 100**turn for turn, place in enumerate(places))


def count_error(mechanism: Mechanism) -> Callable[[int], tuple[float, float]]:
    """Measure the noise of one count of n people."""

    def errors(n: int) -> tuple[float, float]:
        drawn = np.array(mechanism.release([n] * TRIALS))
        return float(np.sqrt(np.mean((drawn - n) ** 2.0))), math.sqrt(mechanism.variance)

    return errors


def regret(selection: Selection, shares: Sequence[float]) -> Callable[[int], tuple[float, float]]:
    """Measure how far the chosen counts are below the largest, in all, on average, near a tie at
    any n.
    """

    def errors(n: int) -> tuple[float, float]:
        scores = [n - round(away * selection.scale) for away in shares]
        drawn = [
            sum(n - scores[place] for place in selection.release(scores)) for _ in range(20_000)
        ]
        law = law_of_all(selection, scores)
        expected = sum(
            chance * sum(n - scores[place] for place in places) for places, chance in law.items()
        )
        return float(np.mean(drawn)), expected

    return errors


def revenue_lost(selection: Selection) -> Callable[[int], tuple[float, float]]:
    """Measure how much less the price named earns than the best, on average, near a tie at any
    n.
    """

    def errors(n: int) -> tuple[float, float]:
        earned = revenue([2] * (n // 2 + 1) + [1] * (n - n // 2 - 1), PRICES)
        losses = [max(earned) - each for each in earned]
        drawn = [losses[selection.release(earned)[0]] for _ in range(20_000)]
        chances = selection.chances(earned)
        return float(np.mean(drawn)), sum(
            chance * loss for chance, loss in zip(chances, losses, strict=True)
        )

    return errors


def watched(
    mechanism: AboveThreshold, one: Sequence[int], other: Sequence[int], threshold: int
) -> dict[str, Any]:
    """Draw when the watch says over, at these counts: the number of the query, or how many there
    are if never.
    """

    def draws(beside: bool, many: int) -> Ints:
        queries = other if beside else one
        line = threshold + np.array(mechanism.of_threshold.release([0] * many))
        first = np.full(many, len(queries))
        for place, query in enumerate(queries):
            (going,) = np.nonzero(first == len(queries))
            over = np.array(mechanism.of_query.release([query] * len(going))) >= line[going]
            first[going[over]] = place
        return first

    def law(beside: bool) -> Mapping[int, float]:
        return dict(enumerate(law_of_first_over(mechanism, other if beside else one, threshold)))

    return {"draws": draws, "law": law}


def times_right(mechanism: AboveThreshold) -> Callable[[int], tuple[float, float]]:
    """Measure how often the watch says over at the first count that is, two scales above a fifth
    of n.
    """

    def errors(n: int) -> tuple[float, float]:
        line = n // 5
        queries = [
            line - 4 * round(mechanism.of_query.scale),
            line + 2 * round(mechanism.of_query.scale),
        ]
        right = watched(mechanism, queries, queries, line)["draws"](False, TRIALS) == 1
        return float(np.mean(right)), law_of_first_over(mechanism, queries, line)[1]

    return errors


LAPLACE = DiscreteLaplace.for_epsilon(ONE, 1)
LAPLACE_OF_TWO = DiscreteLaplace.for_epsilon(ONE, 2)
GAUSSIAN = DiscreteGaussian.for_epsilon_delta(2 * ONE, Fraction(1, 20), 1)
GAUSSIAN_OF_TWO = DiscreteGaussian.for_epsilon_delta(2 * ONE, Fraction(1, 20), 2)
TEN = tallies.Tally(10, Neighbours.CHANGE_ONE, held=1)
TEN_PURE, TEN_RHO = tallies.for_epsilon([TEN], ONE), tallies.for_rho([TEN], ONE / 2)
MAX, GUMBEL = Selection.for_epsilon(2 * ONE, 2), Selection.for_epsilon(3 * ONE, 2, Law.EXPONENTIAL)
TOP = Selection.for_epsilon(ONE, 2, best=2)
PRICES = [1, 2, 3, 4]
BIDS, OTHER_BIDS = [1, 1, 1, 3], [1, 1, 1, 4]
PRICE = Selection.for_epsilon(ONE, max(PRICES))
WATCH = AboveThreshold.for_epsilon(3 * ONE, sensitivity=4, monotonic=True)

CASES = [
    Case(
        "count, Laplace",
        "ask: crosstab",
        LAPLACE.cost,
        added(LAPLACE),
        True,
        errors=count_error(LAPLACE),
        law=law_of_count(LAPLACE),
    ),
    Case(
        "count, Gaussian",
        "ask: crosstab",
        GAUSSIAN.cost,
        added(GAUSSIAN),
        True,
        claim=(2.0, 0.05),
        errors=count_error(GAUSSIAN),
        law=law_of_count(GAUSSIAN),
    ),
    Case(
        "histogram, Laplace",
        "ask: crosstab",
        LAPLACE_OF_TWO.cost,
        moved(LAPLACE_OF_TWO),
        True,
        errors=histogram_error(TEN_PURE),
    ),
    Case(
        "histogram, Gaussian",
        "ask: crosstab",
        GAUSSIAN_OF_TWO.cost,
        moved(GAUSSIAN_OF_TWO),
        True,
        errors=histogram_error(TEN_RHO),
        claim=(2.0, 0.05),
    ),
    Case(
        "report noisy max",
        "ask: most_common",
        MAX.cost,
        **chosen(MAX, [40, 38], [39, 39]),
        tight=True,
        errors=regret(MAX, [0, 1, 1, 1]),
        many=8_000,
    ),
    Case(
        "report noisy max, three",
        "ask: most_common",
        MAX.cost,
        **chosen(MAX, [40, 40, 38], [39, 41, 38]),
        tight=False,
        many=4_000,
    ),
    Case(
        "exponential mechanism",
        "ask: most_common",
        GUMBEL.cost,
        **chosen(GUMBEL, [40, 38], [39, 39]),
        tight=True,
        errors=regret(GUMBEL, [0, 1, 1, 1]),
        many=14_000,
    ),
    Case(
        "top 2",
        "ask: most_common",
        TOP.cost,
        **chosen(TOP, [40, 40, 38], [39, 41, 38]),
        tight=False,
        errors=regret(TOP, [0, 0.5, 1, 2]),
        many=4_000,
    ),
    Case(
        "posted price",
        "ask: price",
        PRICE.cost,
        **chosen(PRICE, revenue(BIDS, PRICES), revenue(OTHER_BIDS, PRICES)),
        tight=False,
        errors=revenue_lost(PRICE),
        many=4_000,
    ),
    Case(
        "sparse vector",
        "ask: watch",
        WATCH.cost,
        **watched(WATCH, [0, 0, 0, 0, 4], [4, 4, 4, 4, 4], 2),
        tight=True,
        errors=times_right(WATCH),
    ),
]
