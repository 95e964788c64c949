"""A count that is refreshed every day for a year, at ρ = 0.1 for all 365 days: how far off it is,
four ways.

Weighted   dpengine.central.counter: what a series is begun with. The optimum of all factorisations
           (T² floats) would reach 4.70 as well: 4.698 against 4.703.
Root       The same module's √-factorisation, for series begun with it: 4.95.
Tree       One noisy sum for every block of 1, 2, 4, … days: 9 levels, each with ρ/9; a count is the
           sum of as many as its day has binary ones (Chan, Shi and Song 2011; Dwork, Naor, Pitassi
           and Rothblum 2010).
Fresh      New noise on every day's count: ρ/365 a day.
Formula    The mean over all days of √(2/π) standard errors.
Drawn      The mean absolute error of SERIES independent years of the same people. Days of one year
           go together, so the figure has the standard error printed beside it: that of the means of
           the years.

All draw exact discrete Gaussian noise. The rows say what each costs, exactly.

    python -m tests.bench.counter
"""

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpengine.central.counter import ContinualCounter, Strategy
from dpengine.central.gaussian import DiscreteGaussian
from tests.bench.report import save, table

SEED = 20261121  # of people, not of noise
DAYS = 365
RHO = Fraction(1, 10)
SERIES = 1000
LEVELS = DAYS.bit_length()
ALLOWED = {"weighted": 4.705, "square root": 5.1, "binary tree": 10.9, "fresh noise": 34.5}

Ints = npt.NDArray[np.int64]


def main() -> None:
    joined = np.random.default_rng(SEED).poisson(20, DAYS)
    rows = [measured(*way, joined) for way in (*map(factorised, Strategy), tree(), fresh())]
    table(
        f"{DAYS} daily refreshes of one count at ρ = {float(RHO)}: mean absolute error, people",
        rows,
    )
    save("counter", rows)
    for row in rows:
        if max(row["formula"], row["drawn"] - 4 * row["± standard error"]) > ALLOWED[row["way"]]:
            raise AssertionError(f"{row['way']} is off by more than {ALLOWED[row['way']]}")


def measured(
    name: str, rho: Fraction, formula: float, published: Callable[[Ints], Ints], joined: Ints
) -> dict[str, Any]:
    started = time.perf_counter()
    off = np.abs(published(joined) - np.cumsum(joined)[:, None])  # a row a day, a column a year
    years = off.mean(axis=0)
    return {
        "way": name,
        "rho": float(rho),
        "formula": formula,
        "drawn": float(years.mean()),
        "± standard error": float(years.std() / math.sqrt(SERIES)),
        "worst day": float(off.mean(axis=1).max()),
        "ms a refresh of one count": 1000 * (time.perf_counter() - started) / SERIES / DAYS,
    }


def factorised(strategy: Strategy) -> tuple[str, Fraction, float, Callable[[Ints], Ints]]:
    counter = ContinualCounter.for_rho(RHO, horizon=DAYS, counts=SERIES, moves=1, strategy=strategy)

    def published(joined: Ints) -> Ints:
        state, found = counter.start(), []
        for total in np.cumsum(joined).tolist():
            state, counts = counter.step(state, [total] * SERIES)
            found.append(counts)
        return np.array(found)

    return str(strategy), counter.cost.rho, counter.mean_absolute_error, published


def tree() -> tuple[str, Fraction, float, Callable[[Ints], Ints]]:
    noise = DiscreteGaussian.for_rho(RHO, LEVELS)  # one person is in a block of every level

    def published(joined: Ints) -> Ints:
        sums = {
            (level, block): np.array(
                noise.release([int(joined[block << level : block + 1 << level].sum())] * SERIES)
            )
            for level in range(LEVELS)
            for block in range(DAYS >> level)
        }
        return np.array([sum(sums[node] for node in blocks(day)) for day in range(1, DAYS + 1)])

    errors = [math.sqrt(2 / math.pi * len(blocks(day))) * noise.scale for day in range(1, DAYS + 1)]
    return "binary tree", noise.rho, float(np.mean(errors)), published


def blocks(day: int) -> list[tuple[int, int]]:
    """Return the blocks that make up the first so many days: one for every binary one."""
    return [(level, (day >> level) - 1) for level in range(LEVELS) if day >> level & 1]


def fresh() -> tuple[str, Fraction, float, Callable[[Ints], Ints]]:
    noise = DiscreteGaussian.for_rho(RHO / DAYS, 1)

    def published(joined: Ints) -> Ints:
        return np.array([noise.release([total] * SERIES) for total in np.cumsum(joined).tolist()])

    return "fresh noise", DAYS * noise.rho, noise.mean_absolute_error, published


if __name__ == "__main__":
    main()
