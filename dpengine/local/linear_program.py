"""The table whose mean is most precise for its worst answer: a linear program, then integers.

Inputs are points x on [−1, 1], outputs are multiples y of a unit. Over all tables P[x, y] with

    Σ_y P[x, y] = 1,   Σ_y y·P[x, y] = x,   m_y ≤ P[x, y] ≤ e^ε·m_y

find the least t ≥ Σ_y y²·P[x, y] − x² at every x, and between two neighbours as well where
answers are rounded to one of them (the second moment there lies on the chord, x² below it).

Integers   Given the lows m_y, the rows no longer touch each other: each is best on its own, and
           best means: high on an unbroken run of outputs, low elsewhere, because y² is convex.
           So only the lows are rounded (highs follow: down to ⌊e^ε·low⌋), and every row is filled
           anew in whole units: a window slides over the room between low and high until the mean
           is next below x; then a unit moves from one output to another, which changes the mean
           by an exact amount, until it is x exactly.
Privacy    Every weight of a column lies in [low, ⌊e^ε·low⌋]: the loss is at most e^ε, by integers.
By hand    x = ±1 and two outputs: y = ±(e^ε + 1)/(e^ε − 1), Duchi's mechanism, t = y² − 1.
Sources    Staircases suffice for any e^ε: Kairouz, Oh and Viswanath 2016; two outputs: Duchi,
           Jordan and Wainwright 2018; programs for local mechanisms: HiGHS, Huangfu and Hall 2018.
"""

import math
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import scipy

from dpengine.checks import require
from dpengine.estimates import Floats
from dpengine.privacy import exponential_below
from dpengine.randomness import WORD

Row = tuple[int, ...]

# where the variance between two inputs is held down: it is concave there
BETWEEN = (0.25, 0.5, 0.75)
REACH = 1.5  # outputs lie within so many times Duchi's; the program leaves the far ones unused
FINE = 30  # outputs on either side of 0 in the finest program
FINE_INPUTS = 33
# inputs, outputs a side
RUNGS = (
    (3, 6),
    (5, 8),
    (7, 8),
    (9, 10),
    (13, 10),
    (17, 10),
    (21, 12),
    (25, 20),
    (29, 16),
    (33, 16),
)
MARGIN = 1.0165  # times the best variance of all is good enough
MIN_EPSILON = Decimal("0.001")  # below it whole weights cannot tell high from low
MAX_EPSILON = Decimal(8)  # above it the table for 8 is given: it loses less than was allowed
FEW = 20  # largest denominator of the unit between outputs
RESOLUTION = 100_000  # least row sum at ε ≥ ln 2; more below, where high and low are closer
# inputs are stretched and the loss lowered by so much: headroom for integers
SLACKS = (3e-4, 1e-3, 3e-3, 1e-2)


@dataclass(frozen=True, slots=True)
class Integers:
    """A table in whole numbers: Σ weights[i]·outputs·unit = inputs[i]·Σ weights[i], exactly."""

    weights: tuple[Row, ...]
    outputs: Row  # positions: y = position·unit
    unit: Fraction

    def worst_variance(self, inputs: Sequence[Fraction], between: bool) -> float:
        """Return the largest variance at the inputs, and between them where answers are rounded."""
        chances = np.array(self.weights, dtype=np.float64) / sum(self.weights[0])
        mixes, squares = _variances(_floats(inputs), between)
        return float(
            (mixes @ chances @ (np.array(self.outputs) * float(self.unit)) ** 2 - squares).max()
        )


def least_variance(
    inputs: Floats, outputs: Floats, loss: float, between: bool
) -> tuple[float, Floats]:
    """Return the least worst-case variance of a table and the lows of its outputs.

    Inputs and outputs must be symmetric about 0: the table then may be as well, and half of it is
    solved.
    """
    half = inputs[inputs > -1e-12]
    ties, rows = _equalities(half, outputs)
    caps, limits = _inequalities(half, outputs, loss, between)
    cost = np.zeros(caps.shape[1])
    cost[-1] = 1
    solved = scipy.optimize.linprog(
        cost, caps, limits, ties, rows, bounds=(0, None), method="highs"
    )
    solution = np.asarray(solved.x, dtype=np.float64)
    folded = solution[half.size * outputs.size : -1]
    return float(solution[-1]), np.concatenate([folded, folded[: outputs.size // 2][::-1]])


def _equalities(half: Floats, outputs: Floats) -> tuple[Any, Floats]:
    """Return the constraints that chances add up to 1 and average to the input."""
    each = scipy.sparse.identity(half.size)
    unused = scipy.sparse.csr_matrix((2 * half.size, (outputs.size + 1) // 2 + 1))
    moments = scipy.sparse.vstack(
        [scipy.sparse.kron(each, np.ones(outputs.size)), scipy.sparse.kron(each, outputs)]
    )
    return scipy.sparse.hstack([moments, unused], format="csr"), np.concatenate(
        [np.ones(half.size), half]
    )


def _inequalities(half: Floats, outputs: Floats, loss: float, between: bool) -> tuple[Any, Floats]:
    """Return the constraints m ≤ P ≤ e^ε·m and second moment ≤ t + x².

    Variables: P by rows, lows, t.
    """
    size = outputs.size
    folds = np.minimum(np.arange(size), size - 1 - np.arange(size))
    low = scipy.sparse.kron(
        np.ones((half.size, 1)), scipy.sparse.identity((size + 1) // 2, format="csr")[folds]
    )
    chances = scipy.sparse.identity(half.size * size)
    mixes, squares = _variances(half, between)
    moments = scipy.sparse.kron(mixes, outputs**2)
    blocks: Any = [
        [-chances, low, None],
        [chances, -loss * low, None],
        [moments, None, -np.ones((len(squares), 1))],
    ]
    return scipy.sparse.bmat(blocks, format="csr"), np.concatenate(
        [np.zeros(2 * half.size * size), squares]
    )


def _variances(half: Floats, between: bool) -> tuple[Floats, Floats]:
    """Return which mixture of rows answers each point that is watched, and that point's square."""
    mixes = np.eye(half.size)
    if between:
        steps = [
            (1 - part) * left + part * right for left, right in pairwise(mixes) for part in BETWEEN
        ]
        mixes = np.vstack([mixes, *steps])
    squares = (mixes @ half) ** 2
    if between and half[0] > 0:  # between −x and x, whose second moments are equal, lies 0
        mixes, squares = np.vstack([mixes, mixes[0]]), np.append(squares, 0.0)
    return mixes, squares


def best(steps: int, epsilon: Decimal, least: int) -> tuple[Row, Integers]:
    """Return `least` or more of the answers 0 to steps, and their table, the first within MARGIN.

    The same ε and steps give the same table, and a Plan keeps the table, not the ε: the program
    runs while a study is designed, for less than a second, and never again.
    """
    loss = min(exponential_below(epsilon), exponential_below(MAX_EPSILON))
    require(
        epsilon >= MIN_EPSILON,
        "epsilon of a number must be at least {}, got {}",
        MIN_EPSILON,
        epsilon,
    )
    limit, reach = finest(min(steps, FINE_INPUTS - 1) + 1, float(loss))
    for points, side in RUNGS:
        grid = grid_of(steps, max(points, least))
        inputs = [Fraction(2 * point, steps) - 1 for point in grid]
        made = whole(inputs, loss, reach / side, between=len(grid) <= steps)
        if made.worst_variance(inputs, between=len(grid) <= steps) <= MARGIN * limit:
            break
    return grid, made


def grid_of(steps: int, points: int) -> Row:
    """Return about so many answers from 0 to steps, evenly spread and symmetric.

    All of them when there are no more.
    """
    if points > steps:
        return tuple(range(steps + 1))
    gaps = points - 1 + points % 2 * (steps % 2)  # an odd number of steps has no middle
    half = [(2 * gap * steps + gaps) // (2 * gaps) for gap in range(gaps // 2 + 1)]
    return tuple(sorted({*half, *(steps - point for point in half)}))


@lru_cache(maxsize=256)
def finest(points: int, loss: float) -> tuple[float, float]:
    """Return the worst-case variance of so many inputs, evenly spread, with the finest outputs, and
    the largest output used: the same for all numbers of many steps.
    """
    inputs = np.linspace(-1, 1, points)
    reach = REACH * (loss + 1) / (loss - 1)
    outputs = np.linspace(-reach, reach, 2 * FINE + 1)
    variance, lows = least_variance(inputs, outputs, loss, between=False)
    return variance, float(outputs[lows > 1e-6 * lows.max()].max())


def _floats(inputs: Sequence[Fraction]) -> Floats:
    return np.array([float(x) for x in inputs])


def whole(inputs: Sequence[Fraction], loss: Fraction, spacing: float, between: bool) -> Integers:
    """Return the table in whole numbers, its outputs about `spacing` apart."""
    if len(inputs) == 2:
        return _one_bit(loss)
    unit = max(Fraction(spacing).limit_denominator(FEW), Fraction(1, FEW))
    side = math.ceil(REACH * float((loss + 1) / (loss - 1) / unit))
    for slack in SLACKS:
        outputs: Floats = np.arange(-side, side + 1, dtype=np.float64)
        lower, wider = 1 + float(loss - 1) * (1 - slack), _floats(inputs) * (1 + slack)
        _, lows = least_variance(wider, outputs * float(unit), lower, between)
        used = lows > 1e-4 * lows.max()
        try:
            return _rounded(
                inputs, loss, tuple(int(output) for output in outputs[used]), lows[used], unit
            )
        except _OutOfReach:
            continue
    raise ArithmeticError(f"no whole table was found for {len(inputs)} inputs")


class _OutOfReach(Exception):
    """These lows leave no row in whole numbers with the wanted mean."""


def _rounded(
    inputs: Sequence[Fraction], loss: Fraction, outputs: Row, lows: Floats, unit: Fraction
) -> Integers:
    total = _total(inputs, loss, outputs, unit)
    floors = tuple(max(1, round(low * total)) for low in lows.tolist())
    room = tuple(int(loss * floor) - floor for floor in floors)
    means = [x / unit * total for x in inputs]
    rows = [_row(int(mean), total - sum(floors), floors, room, outputs) for mean in means]
    return Integers(tuple(rows), outputs, unit)


def _one_bit(loss: Fraction) -> Integers:
    """Return the best table for two answers: the truth or the other, y = ±W/(2·truth − W)."""
    total = int(RESOLUTION * max(Fraction(1), 1 / (loss - 1)))
    truth = int(total * loss / (1 + loss))  # rounded down: towards privacy
    weights = ((truth, total - truth), (total - truth, truth))
    return Integers(weights, (-1, 1), Fraction(total, 2 * truth - total))


def _total(inputs: Sequence[Fraction], loss: Fraction, outputs: Row, unit: Fraction) -> int:
    """Return a row sum that makes every mean a whole number within reach."""
    step = math.gcd(*(right - left for left, right in pairwise(outputs)))
    base = step * math.lcm(*((x / unit).denominator for x in inputs))
    wanted = int(RESOLUTION * max(Fraction(1), 1 / (loss - 1)))
    total = base * math.ceil(Fraction(wanted, base))
    require(
        total <= WORD, "weights of these inputs must have a sum of at most 2**32, got {}", total
    )
    return total


def _row(mean: int, rest: int, floors: Row, room: Row, outputs: Row) -> Row:
    """Return the row of least second moment with Σ weight·output = mean.

    A window of `rest` units, and a few moved.
    """

    def filled(start: int) -> Row:
        ends = accumulate(room)
        spans = [
            (max(start, end - size), min(start + rest, end))
            for end, size in zip(ends, room, strict=True)
        ]
        return tuple(
            floor + max(0, last - first) for floor, (first, last) in zip(floors, spans, strict=True)
        )

    first, last = 0, sum(room) - rest
    if (
        rest < 0
        or last < 0
        or _moment(filled(first), outputs) > mean
        or _moment(filled(last), outputs) < mean
    ):
        raise _OutOfReach
    while first < last:  # the last start whose mean is not above the wanted one
        middle = (first + last + 1) // 2
        first, last = (
            (middle, last) if _moment(filled(middle), outputs) <= mean else (first, middle - 1)
        )
    row = filled(first)
    return _moved(row, mean - _moment(row, outputs), floors, room, outputs)


def _moment(row: Row, outputs: Row) -> int:
    return sum(weight * output for weight, output in zip(row, outputs, strict=True))


def _moved(row: Row, short: int, floors: Row, room: Row, outputs: Row) -> Row:
    """Return the row with units moved between outputs so that its moment grows by `short`."""
    for distance in _path(short, _moves(row, floors, room, outputs)):
        moves = _moves(row, floors, room, outputs)
        if distance not in moves:
            raise _OutOfReach
        giver, taker = moves[distance]
        row = tuple(weight - (j == giver) + (j == taker) for j, weight in enumerate(row))
    return row


def _path(short: int, distances: Collection[int]) -> list[int]:
    """Return the fewest distances that add up to `short`, found breadth first."""
    paths: dict[int, list[int]] = {0: []}
    waiting, reach = deque([0]), abs(short) + max(map(abs, distances), default=0)
    while waiting and short not in paths:
        here = waiting.popleft()
        for distance in distances:
            if (there := here + distance) not in paths and abs(there) <= reach:
                paths[there] = [*paths[here], distance]
                waiting.append(there)
    if short not in paths:
        raise _OutOfReach
    return paths[short]


def _moves(row: Row, floors: Row, room: Row, outputs: Row) -> dict[int, tuple[int, int]]:
    """Return, for every distance a unit can move, the move that adds least to the second moment."""
    givers = [j for j, weight in enumerate(row) if weight > floors[j]]
    takers = [k for k, weight in enumerate(row) if weight < floors[k] + room[k]]
    pairs = [(giver, taker) for giver in givers for taker in takers]
    dearest_first = sorted(pairs, key=lambda pair: outputs[pair[0]] ** 2 - outputs[pair[1]] ** 2)
    return {outputs[taker] - outputs[giver]: (giver, taker) for giver, taker in dearest_first}
