"""Many queries at once: the continual counter, linear queries, the tables of a synopsis."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import special

from dpengine.central.counter import ContinualCounter, factor
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.marginals import Marginals
from dpengine.central.workload import LinearQueries
from dpengine.privacy import Neighbours
from tests.central_cases import Case

Ints = npt.NDArray[np.int64]
ONE = Fraction(1)
HALF = Fraction(1, 2)
# what ρ = 1/2 of Gaussian noise comes to: δ(1) = 0.12694, exactly and at no more noise
GAUSSIAN = (1.0, 0.127)
STEPS = 3
FINE = 8  # parts of the distance between two neighbours, to which a likelihood is rounded down


def kept(many: int = 1, *, steps: int = STEPS) -> ContinualCounter:
    """So many counters side by side, each with noise of its own; the cost is that of one."""
    return ContinualCounter.for_rho(HALF, horizon=steps, counts=many, moves=1)


def refreshed(beside: bool, many: int) -> Ints:
    """Draw all refreshes of one count, one person more from the first on, and weigh them as a
    likelihood does.
    """
    counter = kept(many)
    chosen, state = factor(counter.strategy, STEPS), counter.start()
    for _ in range(STEPS):
        state, _ = counter.step(state, [40 + beside] * many)
    moved = chosen.coefficients.astype(np.float64) * chosen.columns[0]
    weights = moved * chosen.rows.astype(np.float64) ** 2  # a likelihood's: over the variance
    told = weights @ np.array(state["noisy"], dtype=np.float64) / (weights @ moved)
    return np.floor(told * FINE).astype(np.int64)


def law_of_refreshed(beside: bool) -> Mapping[int, float]:
    """Normal around the count, with a standard deviation of one person: ρ = 1/2."""
    ends = np.arange(-8 * FINE, 8 * FINE + 1)
    chances = np.diff(special.ndtr(ends / FINE))
    return {
        int(end) + FINE * (40 + beside): float(chance)
        for end, chance in zip(ends, chances, strict=False)
    }


def off_over_time(n: int) -> tuple[float, float]:
    """Measure how far refreshes are off on average while n people come, 8,000 counts at a time."""
    counter = kept(8000, steps=4)
    state, off = counter.start(), []
    for step in range(1, 5):
        state, published = counter.step(state, [n * step // 4] * 8000)
        off.append(np.mean(np.abs(np.array(published) - n * step // 4)))
    return float(np.mean(off)), counter.mean_absolute_error


PREFIXES = np.tril(np.ones((24, 24), dtype=int)).tolist()
CELLS = LinearQueries.for_epsilon(ONE, np.eye(3, dtype=int).tolist(), Neighbours.ADD_REMOVE)
RANGES = LinearQueries.for_epsilon(ONE, PREFIXES, Neighbours.CHANGE_ONE)
FEW_LAPLACE = LinearQueries.for_epsilon(
    ONE, [row[:4] for row in PREFIXES[:4]], Neighbours.CHANGE_ONE
)
FEW = LinearQueries.for_rho(HALF, [row[:4] for row in PREFIXES[:4]], Neighbours.CHANGE_ONE)
RANGES_GAUSSIAN = LinearQueries.for_rho(HALF, PREFIXES, Neighbours.CHANGE_ONE)


def first_cell(beside: bool, many: int) -> Ints:
    """Draw the answer that is one cell's count, one person more in it."""
    return np.array([round(CELLS.release([40 + beside, 40, 40])[0]) for _ in range(many)])


def law_of_first_cell(beside: bool) -> Mapping[int, float]:
    at = np.arange(-40, 41)
    chances = CELLS.noise.tail(at) - CELLS.noise.tail(at + 1)
    return {int(z) + 40 + beside: float(chance) for z, chance in zip(at, chances, strict=True)}


def likelihood(mechanism: LinearQueries) -> Callable[[bool, int], Ints]:
    """Draw the published counts, with one person moved between the cells that are farthest
    apart, and weigh them.
    """
    matrix, noise = mechanism.strategy.matrix, mechanism.noise
    power = 2 if isinstance(noise, DiscreteGaussian) else 1
    apart = np.sum(np.abs(matrix[:, :, None] - matrix[:, None, :]) ** power, axis=0)
    here, there = np.unravel_index(np.argmax(apart), apart.shape)
    moved = matrix[:, there] - matrix[:, here]

    def draws(beside: bool, many: int) -> Ints:
        drawn = np.array(noise.release((beside * moved).tolist() * many)).reshape(many, -1)
        if power == 2:
            return np.floor(drawn @ moved * FINE / np.sum(moved**2)).astype(np.int64)
        weighed = np.sum(np.abs(drawn) - np.abs(drawn - moved), axis=1) / noise.scale
        return np.floor(weighed * FINE).astype(np.int64)

    return draws


def off_of_ranges(mechanism: LinearQueries) -> Callable[[int], tuple[float, float]]:
    """Measure the root mean square over all answers."""

    def errors(n: int) -> tuple[float, float]:
        people = [n // 24] * 24
        truth = np.cumsum(people)
        off = np.array([mechanism.release(people) for _ in range(4000)]) - truth
        return float(np.sqrt(np.mean(off**2))), math.sqrt((mechanism.standard_errors**2).sum() / 24)

    return errors


TABLES = Marginals.for_epsilon(ONE, (2, 2), Neighbours.ADD_REMOVE)
WIDE = Marginals.for_epsilon(ONE, (20, 20, 20), Neighbours.CHANGE_ONE)


def tables(beside: bool, many: int) -> Ints:
    """Draw in how many tables the cell of the person who may be there is above the others'
    count.
    """
    drawn = [
        table.choice.mechanism.release([40 + beside] * many)
        for table in [*TABLES.singles, *TABLES.first_pairs]
    ]
    return np.sum(np.array(drawn) > 40, axis=0)


def off_of_tables(n: int) -> tuple[float, float]:
    """Measure the mean absolute error of all cells of all tables that are published."""
    people = {(cell, (7 * cell) % 20, (3 * cell) % 20): n // 20 for cell in range(20)}
    off, expected = [], []
    for _ in range(4):
        for table in WIDE.release(people).tables.values():
            exact = np.zeros(table.counts.shape)
            for cells, count in people.items():
                exact[tuple(cells[column] for column in table.columns)] += count
            off.append(np.abs(table.counts - exact).ravel())
            expected.append(np.full(exact.size, table.noise))
    return float(np.mean(np.concatenate(off))), float(np.mean(np.concatenate(expected)))


CASES = [
    Case(
        "continual counter",
        "rule: continual",
        kept().cost,
        refreshed,
        True,
        errors=off_over_time,
        claim=GAUSSIAN,
        law=law_of_refreshed,
    ),
    Case(
        "linear queries, cell by cell",
        "ask: ranges",
        CELLS.cost,
        first_cell,
        False,
        law=law_of_first_cell,
        many=2_000,
    ),
    Case(
        "linear queries, Laplace",
        "ask: ranges",
        FEW_LAPLACE.cost,
        likelihood(FEW_LAPLACE),
        True,
        errors=off_of_ranges(RANGES),
    ),
    Case(
        "linear queries, Gaussian",
        "ask: ranges",
        FEW.cost,
        likelihood(FEW),
        True,
        errors=off_of_ranges(RANGES_GAUSSIAN),
        claim=GAUSSIAN,
    ),
    Case(
        "tables of a synopsis",
        "ask: synthetic",
        TABLES.cost,
        tables,
        True,
        errors=off_of_tables,
        many=60_000,
    ),
]
