"""Numbers: variance of a mean, coverage of its interval, and how near an estimated distribution
comes.

    python -m tests.bench.numbers

Variances   of one report on [−1, 1] for the worst answer, in closed form: Laplace 8/ε² (Dwork et
            al. 2006); Duchi, Jordan and Wainwright 2018; piecewise and hybrid, Wang et al. 2019,
            eq. 5 and 8. The limit is the linear program on 41 inputs and 161 outputs, nothing
            rounded, solved in this run.
Coverage    An interval holds a mean when neither tail rejects it, so the two tails at the truth are
            asked, RUNS times a cell. Beside it the interval people reach for: estimate ± 1.96
            standard deviations of the decoded reports / √n. A cell's coverage has a standard error
            of 0.4 % at 95 %.
Distances   Wasserstein-1 on a range of 1, to the law of 64 bins that answers come from. Peers are
            written here from Li et al. 2020 and checked against public copies of their code:
            continuous reports by the square wave, EM with or without the smoothing (1, 2, 1)/4, to
            a gain below 10⁻³·e^ε of the log-likelihood. pure-ldp and multi-freq-ldpy have no square
            wave.
Seeds       20261126 for the people of all simulations.
"""

import json
import math
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from dpengine.estimates import NoNoise
from dpengine.local import linear_program
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel, _Reports
from dpengine.local.subset import Subset
from tests import tables
from tests.bench.report import save, table

Floats = npt.NDArray[np.float64]

SEED = 20261126
EPSILONS = {
    "0.5": Decimal("0.5"),
    "1": Decimal(1),
    "ln 3": Decimal("1.0986122886681098"),
    "2": Decimal(2),
    "3": Decimal(3),
    "4": Decimal(4),
}
STEPS = 120
RUNS = 3000
PEOPLE = (30, 200, 1000)
N, BINS, TRIES = 100_000, 64, 40


def main() -> None:
    for title, name, rows in (
        ("Worst-case variance of one report on [−1, 1]", "number_variance", variances),
        (
            "A Likert scale's mean: worst variance of a report, squared points",
            "scale_variance",
            scales,
        ),
        ("Coverage of 95 % intervals for a mean", "number_coverage", coverage),
        (
            f"Distribution: Wasserstein-1, n = {N:,}, ε = 1, {BINS} bins",
            "distribution_distance",
            distances,
        ),
        (f"Limits of the share below a cut, {BINS} bins", "distribution_limits", limits),
    ):
        found = rows()
        table(title, found)
        save(name, found)


def variances() -> list[dict[str, Any]]:
    return [variance(name) for name in EPSILONS]


def variance(name: str) -> dict[str, Any]:
    epsilon, e = EPSILONS[name], math.exp(float(EPSILONS[name]))
    limit = fine_limit(e)
    started = time.perf_counter()
    channel = NumberChannel.for_epsilon(epsilon, Decimal(-1), Decimal(1), STEPS)
    seconds, ours = time.perf_counter() - started, float(max(tables.variances(channel)))
    return {
        "ε": name,
        "limit": limit,
        "ours": ours,
        "/ limit": ours / limit,
        "rows × reports": f"{channel.table.choices} × {channel.table.reports}",
        "bytes of JSON": len(json.dumps(channel.document(), separators=(",", ":"))),
        "seconds": seconds,
        "Laplace": 8 / float(epsilon) ** 2,
        "Duchi": ((e + 1) / (e - 1)) ** 2,
        "piecewise": piecewise(e),
        "hybrid": hybrid(e),
    }


def fine_limit(e: float) -> float:
    reach = 1.5 * (e + 1) / (e - 1)
    inputs, outputs = np.linspace(-1, 1, 41), np.linspace(-reach, reach, 161)
    return linear_program.least_variance(inputs, outputs, e, between=False)[0]


def piecewise(e: float) -> float:
    root = math.sqrt(e)
    return 1 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)


def hybrid(e: float) -> float:
    root = math.sqrt(e)
    if math.log(e) <= 0.61:
        return ((e + 1) / (e - 1)) ** 2
    return (root + 3) / (3 * root * (root - 1)) + (e + 1) ** 2 / (root * (e - 1) ** 2)


def scales() -> list[dict[str, Any]]:
    rows = []
    for points, epsilon in product((3, 5, 7, 11), ("0.5", "1", "2")):
        ours = float(max(tables.variances(NumberChannel.for_scale(points, Decimal(epsilon)))))
        subset = float(tables.mean_variance(Subset.for_epsilon(points, Decimal(epsilon))))
        rows.append(
            {
                "points": points,
                "ε": epsilon,
                "table": ours,
                "subset": subset,
                "subset / table": subset / ours,
            }
        )
    return rows


def people() -> dict[str, Floats]:
    steps = np.arange(STEPS + 1)
    ends, middle = np.eye(STEPS + 1)[[0, -1]], np.eye(STEPS + 1)[STEPS // 2]
    skew = (steps + 0.5) ** 4 * (STEPS + 0.5 - steps)
    return {
        "all low": ends[0],
        "all in the middle": middle,
        "5 % high, rest low": 0.95 * ends[0] + 0.05 * ends[1],
        "half low, half high": 0.5 * ends[0] + 0.5 * ends[1],
        "skew": skew / skew.sum(),
    }


def coverage() -> list[dict[str, Any]]:
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(covered, product(("1", "4"), people(), PEOPLE)))


def covered(cell: tuple[str, str, int]) -> dict[str, Any]:
    epsilon, name, n = cell
    channel = NumberChannel.for_epsilon(Decimal(epsilon), Decimal(0), Decimal(1), STEPS)
    law = people()[name]
    chances = np.array(channel.table.weights, dtype=np.float64) / channel.table.total
    rounded = np.array(
        [
            [np.interp(step, channel.grid, column) for column in chances.T]
            for step in range(STEPS + 1)
        ]
    )
    stream = np.random.default_rng([SEED, n])
    drawn = stream.multinomial(n, law @ rounded / (law @ rounded).sum(), size=RUNS)
    truth = float(law @ np.arange(STEPS + 1)) / STEPS
    widths = [
        found.high - found.low
        for found in (channel.mean(counts.tolist(), n) for counts in drawn[:40])
    ]
    numbers = np.array(channel.decoder) / channel.scale / STEPS
    means = drawn @ numbers / n
    wald = 1.96 * np.sqrt(np.maximum(drawn @ numbers**2 / n - means**2, 0) / n)
    return {
        "ε": epsilon,
        "people": name,
        "n": n,
        "coverage": sum(holds(channel, counts.tolist(), n, truth) for counts in drawn) / RUNS,
        "± mean": float(np.mean(widths)) / 2,
        "normal": float((np.abs(means - truth) <= wald).mean()),
        "normal ±": float(wald.mean()),
    }


def holds(channel: NumberChannel, counts: list[int], n: int, truth: float) -> bool:
    reports = _Reports(channel, counts, n, NoNoise())
    at = float(np.interp(truth * STEPS, channel.grid, reports.points))
    return (
        reports.at_least(at, reports.total, 0)
        >= 0.025
        <= 1 - reports.at_least(at, reports.total + 1, -1)
    )


def laws() -> dict[str, tuple[Floats, Callable[[np.random.Generator], Floats]]]:
    """Return the chances of 64 bins, and the same law drawn from without bins."""
    edges = np.linspace(0, 1, BINS + 1)

    def peaks(
        width: float, *places: float
    ) -> tuple[Floats, Callable[[np.random.Generator], Floats]]:
        mass = np.diff(sum(special.ndtr((edges - place) / width) for place in places))
        return mass / mass.sum(), lambda stream: inside(
            stream.choice(places, N) + width * stream.normal(size=N)
        )

    return {
        "Beta(5, 2)": (np.diff(special.betainc(5, 2, edges)), lambda stream: stream.beta(5, 2, N)),
        "two peaks, N(.3, .08) and N(.7, .08)": peaks(0.08, 0.3, 0.7),
        "two narrow peaks, N(.25, .04) and N(.75, .04)": peaks(0.04, 0.25, 0.75),
    }


def inside(values: Floats) -> Floats:
    """Return the values, those outside reflected: fewer than 1 of 5,000 of any law above."""
    return np.asarray(1 - np.abs(1 - np.abs(values)))


def distances() -> list[dict[str, Any]]:
    rows = []
    for name, (law, draw) in laws().items():
        rows += [measured(name, "ours", TRIES, law, ours_of(law))]
        rows += [measured(name, "peer: EMS, 64 bins", TRIES, law, peer_of(draw, BINS, smooth=True))]
        rows += [measured(name, "peer: EM, 64 bins", TRIES, law, peer_of(draw, BINS, smooth=False))]
        rows += [measured(name, "peer: EMS, 1024 bins", 2, law, peer_of(draw, 1024, smooth=True))]
    return rows


Trial = Callable[[np.random.Generator], tuple[Floats, float]]


def measured(name: str, who: str, tries: int, law: Floats, trial: Trial) -> dict[str, Any]:
    streams = [np.random.default_rng([SEED, number]) for number in range(tries)]
    found = [trial(stream) for stream in streams]
    apart = [float(np.abs(np.cumsum(shares - law)).mean()) for shares, _ in found]
    return {
        "law": name,
        "estimator": who,
        "runs": tries,
        "mean": float(np.mean(apart)),
        "sd": float(np.std(apart, ddof=1)),
        "ms": 1000 * float(np.median([seconds for _, seconds in found])),
    }


def ours_of(law: Floats) -> Trial:
    channel = Distribution.for_epsilon(Decimal(1), Decimal(0), Decimal(1), BINS)
    chances = law @ (np.array(channel.table.weights, dtype=np.float64) / channel.table.total)

    def trial(stream: np.random.Generator) -> tuple[Floats, float]:
        counts = stream.multinomial(N, chances).tolist()
        started = time.perf_counter()
        return np.array(channel.shares(counts)), time.perf_counter() - started

    return trial


def peer_of(draw: Callable[[np.random.Generator], Floats], bins: int, *, smooth: bool) -> Trial:
    e = math.e
    half = (e - e + 1) / (2 * e * (e - 2))
    low = 1 / (2 * half * e + 1)
    ends = np.linspace(-half, 1 + half, bins + 1)
    places = (np.arange(bins) + 0.5) / bins
    close = np.minimum(ends[1:], places[:, None] + half) - np.maximum(
        ends[:-1], places[:, None] - half
    )
    chances = low * np.diff(ends) + (e - 1) * low * np.maximum(close, 0)

    def trial(stream: np.random.Generator) -> tuple[Floats, float]:
        counts = np.histogram(square_wave(draw(stream), half, low, stream), ends)[0]
        started = time.perf_counter()
        shares = reference_em(chances, counts, smooth, 1e-3 * e)
        return shares.reshape(BINS, -1).sum(axis=1), time.perf_counter() - started

    return trial


def square_wave(values: Floats, half: float, low: float, stream: np.random.Generator) -> Floats:
    near = stream.random(values.size) < 2 * half * math.e * low
    close = values + half * (2 * stream.random(values.size) - 1)
    far = stream.random(values.size) - half
    return np.where(near, close, np.where(far > values - half, far + 2 * half, far))


def reference_em(
    chances: Floats, counts: npt.NDArray[np.int64], smooth: bool, gain: float
) -> Floats:
    kernel = np.eye(len(chances)) / 2 + (np.eye(len(chances), k=1) + np.eye(len(chances), k=-1)) / 4
    kernel /= kernel.sum(axis=1, keepdims=True)
    shares, likelihood = np.full(len(chances), 1 / len(chances)), -math.inf
    for _ in range(10_000):
        shares = shares * (chances @ (counts / (shares @ chances)))
        shares = kernel @ shares if smooth else shares
        shares /= shares.sum()
        last, likelihood = likelihood, float(counts @ np.log(shares @ chances))
        if abs(likelihood - last) < gain:
            break
    return shares


def limits() -> list[dict[str, Any]]:
    rows = []
    for (name, (law, _)), (epsilon, n) in product(
        laws().items(), (("1", 1000), ("1", N), ("4", 100), ("4", 1000))
    ):
        channel = Distribution.for_epsilon(Decimal(epsilon), Decimal(0), Decimal(1), BINS)
        chances = law @ (np.array(channel.table.weights, dtype=np.float64) / channel.table.total)
        stream = np.random.default_rng([SEED, n])
        edges, kept, width, runs = range(7, BINS, 8), [], [], 200
        for counts in stream.multinomial(n, chances, size=runs).tolist():
            for edge in edges:
                low, high = channel._limits(
                    (np.arange(BINS) <= edge).astype(np.float64), counts, n, None, 0.95
                )
                truth = float(law[: edge + 1].sum())
                kept.append(low <= truth + 1e-9 and truth - 1e-9 <= high)
                width.append(high - low)
        by_edge = np.array(kept).reshape(runs, -1).mean(axis=0)
        rows.append(
            {
                "law": name,
                "ε": epsilon,
                "n": n,
                "coverage": float(by_edge.mean()),
                "least of 8 edges": float(by_edge.min()),
                "± mean": float(np.mean(width)) / 2,
            }
        )
    return rows


if __name__ == "__main__":
    main()
