"""Any statistic at all, by subsample and aggregate: the analyst's own program, run on small random
groups of people.

People are dealt by chance into m blocks, m public. The statistic is computed on every block,
clamped to public bounds, and put on a grid of whole 1/scale; the median of the m results is
released with its interval (quantiles.py).

Privacy    pure ε of the aggregate, whatever the statistic does: a person is in one block, so one
           person's change moves one of m numbers. Change-one: a random deal in turn, which does not
           look at answers. Add-remove: each person draws a block of their own, so one person more
           or less leaves all others where they were. m is public in both, and the aggregate's
           neighbours are always change-one among m. A statistic that fails in any way, or is no
           number, counts as `otherwise`, the middle of the bounds unless another number within
           them was said before: an error would tell. So `median` wants one thing of the numbers
           that it is given: that each is a function of its own block.
           `in_turn` runs a program of the house: it ends with a value or with an exception,
           whatever its class, SystemExit and the like too; either becomes one whole number within
           the bounds, and no exception of its own leaves the mechanism. The program must not
           remember other blocks, nor end the process itself; how long it takes is not hidden. It
           runs in a thread of its own, where no signal arrives: an interrupt that comes out of it
           is the program's, one from outside ends the release. What somebody else wrote needs
           walls (surveys.releases.sandbox).
Cost       ε of the quantile with interval; ρ = ε²/2.
Error      rank of the median among m blocks off by at most t, as quantiles.py says (`off_by`); the
           blocks' own spread is that of n/m people, √m times wider than of all n, and an estimate's
           bias is that of n/m people as well.
Interval   95 %, for the median of the statistic over samples of n/m people: no shape assumed.
By hand    m = 3 blocks with 4, 5 and 30, change-one of one block: the median of three stays between
           4 and 30.
Sources    Nissim, Raskhodnikova and Smith 2007, § 4; Smith 2011; Dwork and Roth 2014, § 7.3;
           Mohan et al. 2012 (GUPT: walls around each block, and one time for all).
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpengine.central.numeric import Bounds, Measured
from dpengine.central.quantiles import Grid, QuantilesWithIntervals
from dpengine.checks import require
from dpengine.privacy import Cost, Neighbours
from dpengine.randomness import Stream, below, shuffled, system_stream

Row = tuple[int, ...]
Amount = int | Fraction
Block = Sequence[Row]
Statistic = Callable[[Block], float]
MEDIAN = Fraction(1, 2)
FINE = 100  # steps of the grid that the results are put on, about
FEWEST = 10  # blocks
TRIMMED = 10  # of 100 on each side


@dataclass(frozen=True, slots=True)
class Subsample:
    blocks: int  # m
    bounds: Bounds  # of the statistic times scale
    scale: int
    neighbours: Neighbours  # of people; how they are dealt
    aggregate: QuantilesWithIntervals
    otherwise: int  # what a block counts as that has no number, times scale

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Fraction,
        blocks: int,
        least: Amount,
        most: Amount,
        neighbours: Neighbours,
        otherwise: Amount | None = None,
    ) -> "Subsample":
        """Return the mechanism for a statistic from least to most that costs at most ε."""
        require(blocks >= FEWEST, "blocks must be {} or more, got {}", FEWEST, blocks)
        require(least < most, "least must be below most, got {} and {}", least, most)
        ends = Fraction(least), Fraction(most)
        whole = math.lcm(*(end.denominator for end in ends))
        scale = whole * math.ceil(FINE / ((ends[1] - ends[0]) * whole))
        bounds = Bounds(*(int(end * scale) for end in ends))
        if otherwise is None:
            neutral = (bounds.least + bounds.most) // 2
        else:
            require(
                least <= otherwise <= most,
                "otherwise must be from {} to {}, got {}",
                least,
                most,
                otherwise,
            )
            neutral = round(otherwise * scale)
        aggregate = QuantilesWithIntervals.for_epsilon(
            epsilon, Grid(bounds, -(-bounds.width // (2 * FINE))), [MEDIAN], Neighbours.CHANGE_ONE
        )
        return cls(blocks, bounds, scale, neighbours, aggregate, neutral)

    @property
    def cost(self) -> Cost:
        return self.aggregate.cost

    def release(
        self, rows: Sequence[Row], statistic: Statistic, stream: Stream = system_stream
    ) -> Measured:
        """Return the private median of a program's results, block by block. Publish once."""
        return self.median(self.results(self.deal(rows, stream), statistic))

    def median(self, results: Sequence[int]) -> Measured:
        """Return the private median of the blocks' whole numbers. Publish once."""
        (middle,) = self.aggregate.release(results)
        return Measured(
            *(
                part / self.scale
                for part in (middle.value, middle.low, middle.high, middle.standard_error)
            )
        )

    def deal(self, rows: Sequence[Row], stream: Stream = system_stream) -> list[list[Row]]:
        """Return the blocks."""
        if self.neighbours is Neighbours.CHANGE_ONE:
            mixed = shuffled(rows, stream)
            return [mixed[first :: self.blocks] for first in range(self.blocks)]
        dealt: list[list[Row]] = [[] for _ in range(self.blocks)]
        for row in rows:
            dealt[below(self.blocks, stream)].append(row)
        return dealt

    def results(self, blocks: Sequence[Block], statistic: Statistic) -> list[int]:
        """Return each block's statistic as a whole number. Never shown."""
        return self.whole(in_turn(blocks, statistic))

    def whole(self, computed: Sequence[float]) -> list[int]:
        """Return what was computed on the grid, within the bounds. Never shown."""
        scaled = [value * self.scale for value in computed]
        return [
            self.bounds.clamp(round(value)) if math.isfinite(value) else self.otherwise
            for value in scaled
        ]


def in_turn(blocks: Sequence[Block], statistic: Statistic) -> list[float]:
    """Return a program's number of each block, NaN where it failed; nothing else that happens
    inside comes out.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        return [
            _result(thread.submit(lambda own: float(statistic(own)), block)) for block in blocks
        ]


def _result(running: Future[float]) -> float:
    """Wait for a number; `exception` hands over every exception and raises none."""
    return math.nan if running.exception() is not None else running.result()


def _column(rows: Sequence[Row], at: int = 0) -> npt.NDArray[np.float64]:
    return np.array([row[at] for row in rows], dtype=np.float64)


def mean(rows: Sequence[Row]) -> float:
    return float(_column(rows).mean()) if rows else math.nan


def trimmed_mean(rows: Sequence[Row]) -> float:
    """Return the mean without the lowest and the highest tenth."""
    cut = len(rows) * TRIMMED // 100
    kept = np.sort(_column(rows))[cut : len(rows) - cut]
    return float(kept.mean()) if len(kept) else math.nan


def mode(rows: Sequence[Row]) -> float:
    """Return the most common value, the lowest of several."""
    counted = Counter(row[0] for row in rows)
    return min(counted, key=lambda value: (-counted[value], value)) if counted else math.nan


def standard_deviation(rows: Sequence[Row]) -> float:
    return float(_column(rows).std(ddof=1)) if len(rows) > 1 else math.nan


def correlation(rows: Sequence[Row]) -> float:
    """Return Pearson's correlation of the first two columns."""
    if len(rows) < 2:
        return math.nan
    one, other = (column - column.mean() for column in (_column(rows), _column(rows, 1)))
    spread = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / spread if spread > 0 else math.nan
