"""The median by three mechanisms: mean absolute error in years, by their exact laws.

    .venv/bin/python -m tests.bench.medians

Ages of 18 to 100: those of the demo (1,551 people of a national health survey; of more people each
as often as it takes, so that the shares stay), and N(42, 13), rounded: the mean of 20 samples, of
seed 20261129. Neighbours change-one, δ = 10⁻⁶. *alone*: all of ε is for the median; *query*: a part
is for its interval, and a third of ε, or half, is left. Where propose-test-release answers nothing
it is counted as half of the bounds' width off; its step is 0. docs/theory.md cites this table.
"""

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpengine.central.numeric import Bounds
from dpengine.central.propose import ProposedMedian
from dpengine.central.quantiles import Grid, Quantile
from dpengine.central.smooth import SmoothMedian, median
from dpengine.privacy import Neighbours
from tests.bench import report

DEMO = Path("surveys/demo/data/habits.csv")
SIZES = (1_551, 15_510, 100_000)
EPSILONS = (Fraction(1, 5), Fraction(1))
SEED, SAMPLES = 20261129, 20
DELTA, HALF = Fraction(1, 10**6), Fraction(1, 2)
BOUNDS, CHANGE = Bounds(18, 100), Neighbours.CHANGE_ONE


def of_the_demo(n: int) -> list[list[int]]:
    """Return n ages in the shares of the demo's."""
    with DEMO.open() as file:
        ages = sorted(BOUNDS.clamp(int(row["Age"])) for row in csv.DictReader(file))
    return [[ages[place * len(ages) // n] for place in range(n)]]


def normal(n: int) -> list[list[int]]:
    stream = np.random.default_rng([SEED, n])
    samples = np.rint(stream.normal(42, 13, (SAMPLES, n))).astype(int)
    return np.clip(samples, BOUNDS.least, BOUNDS.most).tolist()


def errors_of(values: list[int], epsilon: Fraction, *, is_query: bool) -> dict[str, float]:
    """Return E|published − median| of each mechanism, and how often the last answers."""
    off = np.abs(np.arange(BOUNDS.least, BOUNDS.most + 1) - median(values, BOUNDS))
    third, half = (epsilon / 3, epsilon / 2) if is_query else (epsilon, epsilon)
    exponential = Quantile.for_epsilon(third, Grid(BOUNDS), HALF, CHANGE)
    made = half, DELTA, BOUNDS, CHANGE
    proposed = ProposedMedian.for_epsilon_delta(*made, 0)
    silent, answers = proposed.law(values)
    return {
        "exponential": float(np.array(exponential.law(values)) @ off),
        "smooth, G = 1": float(SmoothMedian.for_epsilon_delta(*made, 1).law(values) @ off),
        "smooth": float(SmoothMedian.for_epsilon_delta(*made).law(values) @ off),
        "propose, step 0": silent * BOUNDS.width / 2 + float(answers @ off),
        "answers, of 100": 100 * (1 - silent),
    }


def row_of(
    name: str, ages: list[list[int]], epsilon: Fraction, *, is_query: bool
) -> dict[str, Any]:
    found = [errors_of(values, epsilon, is_query=is_query) for values in ages]
    return {
        "ages": name,
        "epsilon": str(epsilon),
        "of it": "query" if is_query else "alone",
        "n": f"{len(ages[0]):,}",
    } | {name: float(np.mean([each[name] for each in found])) for name in found[0]}


def main() -> None:
    rows = [
        row_of(name, ages(n), epsilon, is_query=is_query)
        for name, ages in (("demo", of_the_demo), ("N(42, 13)", normal))
        for epsilon in EPSILONS
        for is_query in (False, True)
        for n in SIZES
    ]
    report.table("The median of ages: mean absolute error in years", rows)
    report.save("medians", rows)


if __name__ == "__main__":
    main()
