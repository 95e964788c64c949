"""How often 95 % intervals hold the true share, and how wide they are.

One constant: 10,000 surveys for each n, share and channel, intervals found once for each count that
came up. Beside the simulation stands the truth: the binomial law summed over the counts whose
interval holds the share. Wanted from `main` (Clopper-Pearson, what `share` and `binary_share`
give): 95 % from n = 30, and no more than 97.5 % from n = 200 away from the edge, a true share of 0
or 1. (There an interval that is clipped to what shares can be, as binary_share's is, misses on one
side only and holds in 97.5 % or more, however it is found; those of this table are not clipped.)
Widths are of the part within 0 to 1, on average. Wald is (r − b)/(a − b) ± 1.96 standard errors.

Several constants: half the reports through one channel, half through another; exact, by
enumeration. Simultaneous: 10,000 surveys of all choices of one question, by the channels' own law.
Known sum: 2,000 surveys of all choices with publication noise in the counts, as they were drawn
and once they add up; least and mean coverage of a choice, and mean widths.

    python -m tests.bench.coverage
"""

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import Margin, NoNoise, share, with_known_sum
from dpengine.inference.intervals import Groups, _tails_of, likeliest_share
from dpengine.inference.shares import category_shares
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from tests.bench.report import save, table

Floats = npt.NDArray[np.float64]
Interval = tuple[float, float]
HAIR = 1e-9  # by which rounding may move a limit that is the share itself
RUNS = 10_000
NOISY = 2000  # surveys with publication noise
SEED = 20_240_607
SIZES = (30, 100, 200, 1000)
SHARES = (0.0, 0.01, 0.05, 0.2, 0.5)
CHANNELS = {
    "coin": Table.coin().margins()[1],
    "forced 2/3": Margin(Fraction(5, 6), Fraction(1, 6)),
    "7 choices, ε 2": Subset.for_epsilon(7, Decimal(2)).margin,
    "binary, ε 4": Table.binary(Decimal(4)).margins()[1],
}
PAIRS = {  # (c0, c1) of either half
    "coin, direct": ((0.25, 0.5), (0.0, 1.0)),
    "coin, nearly direct": ((0.25, 0.5), (0.02, 0.96)),
    "Warner .6, .9": ((0.4, 0.2), (0.1, 0.8)),
    "forced, crosswise": ((1 / 6, 2 / 3), (0.75, -0.5)),
}
QUESTIONS = {
    "coin": (2, "ln 3", (0.9, 0.1)),
    "7 choices, ε 2": (7, "2", (0.5, 0.2, 0.1, 0.1, 0.05, 0.04, 0.01)),
    "10 choices, ε 1": (10, "1", (0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.03, 0.01, 0.01, 0.0)),
}
# of 10,000 runs; 0.5 % for the simulation's own error, 2.3 standard errors
LEAST, MOST = (0.945, 0.975)


def main() -> None:
    rng = np.random.default_rng(SEED)
    one = [
        row
        for n in SIZES
        for name, margin in CHANNELS.items()
        for row in one_constant(n, name, margin, rng)
    ]
    table(f"Coverage of 95 % intervals, {RUNS:,} surveys each, and mean widths", one)
    say_limits(one)
    several = [
        row
        for n in (30, 100)
        for name, pair in PAIRS.items()
        for row in two_constants(n, name, pair)
    ]
    table("Two channels for one question: exact coverage", several)
    together = [row for n in SIZES for row in all_choices(n, rng)]
    table(f"All choices of a question at once, {RUNS:,} surveys each", together)
    arms = [row for n in (30, 200) for row in several_arms(n, rng)]
    table("Choices asked through two arms, 1,000 surveys each: least coverage of a choice", arms)
    noisy = [row for n in (30, 100, 1000) for row in known_sum(n, rng)]
    table(f"With noise in the counts, {NOISY:,} surveys each", noisy)
    save("coverage_known_sum", noisy)
    save("coverage", one)
    save("coverage_several", several)
    save("coverage_simultaneous", together)
    save("coverage_arms", arms)


def one_constant(
    n: int, name: str, margin: Margin, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Yield coverage and widths for each true share."""
    ways = methods(n, margin)
    for true in SHARES:
        reported = float(margin.lie) + true * margin.contrast
        law = stats.binom.pmf(np.arange(n + 1), n, reported)
        simulated = np.bincount(rng.binomial(n, reported, RUNS), minlength=n + 1) / RUNS
        likely = np.flatnonzero((law > 1e-9) | (simulated > 0))
        found = {
            way: np.array([interval(int(count)) for count in likely])
            for way, interval in ways.items()
        }
        holds = {
            way: (limits[:, 0] <= true + HAIR) & (true - HAIR <= limits[:, 1])
            for way, limits in found.items()
        }
        widths = {
            way: np.diff(limits.clip(0, 1), axis=1)[:, 0] @ law[likely]
            for way, limits in found.items()
        }
        yield {
            "n": n,
            "channel": name,
            "share": true,
            "main, simulated": float(holds["main"] @ simulated[likely]),
            **{f"{way}, exact": float(hold @ law[likely]) for way, hold in holds.items()},
            **{f"{way}, width": float(width) for way, width in widths.items()},
        }


def methods(n: int, margin: Margin) -> dict[str, Callable[[int], Interval]]:
    """Return intervals by count, each found once."""

    def main(count: int) -> Interval:
        found = share(count, n, margin, NoNoise())
        return found.low, found.high

    def wald(count: int) -> Interval:
        value = (count / n - float(margin.lie)) / margin.contrast
        reach = 1.959964 * math.sqrt(count / n * (1 - count / n) / n) / margin.contrast
        return value - reach, value + reach

    return {way.__name__: cache(way) for way in (main, wald)}


def say_limits(rows: list[dict[str, Any]]) -> None:
    lowest = min(row["main, simulated"] for row in rows)
    exact = min(row["main, exact"] for row in rows)
    away = [row for row in rows if row["n"] >= 200 and row["share"] > 0]
    print(f"main: least {lowest:.4f} simulated (wanted {LEAST}), {exact:.4f} exact (wanted 0.95)")
    most = max(row["main, exact"] for row in away)
    print(f"main: most from n = 200 away from the edge {most:.4f} exact (wanted at most {MOST})")


def two_constants(
    n: int, name: str, pair: tuple[tuple[float, float], ...]
) -> Iterator[dict[str, Any]]:
    """Yield the exact coverage of tests at the true share: an interval holds it when its test
    accepts it.
    """
    sizes = (n // 2, n - n // 2)
    c0, c1 = (np.array(column) for column in zip(*pair, strict=True))
    for true in SHARES:
        laws = [
            stats.binom.pmf(np.arange(m + 1), m, c0[i] + c1[i] * true) for i, m in enumerate(sizes)
        ]
        chances = np.outer(*laws)
        held = dict.fromkeys(("main", "saddlepoint", "likelihood", "score"), 0.0)
        for first, second in np.argwhere(chances > 1e-7):
            groups = Groups(
                c0, c1, np.array(sizes, dtype=float), np.array([first, second], dtype=float)
            )
            for way, test in TESTS.items():
                held[way] += float(chances[first, second]) * test(groups, true)
        total = float(chances[chances > 1e-7].sum())
        yield {
            "n": n,
            "channels": name,
            "share": true,
            **{way: value / total for way, value in held.items()},
        }


def by_lattice(groups: Groups, true: float) -> bool:
    return min(_tails_of(groups.upright)(true)) > 0.025


def by_saddlepoint(groups: Groups, true: float) -> bool:
    return min(_tails_of(groups.upright.scaled(1 + 1e-9))(true)) > 0.025


def by_likelihood(groups: Groups, true: float) -> bool:
    best = groups.log_likelihood(likeliest_share(groups))
    return best - groups.log_likelihood(true) <= 1.920729


def by_score(groups: Groups, true: float) -> bool:
    reported = groups.reported(true)
    varied = reported * (1 - reported)
    if np.any((varied == 0) & (groups.yes != groups.n * reported)):
        return False
    steep = np.divide(groups.c1, varied, out=np.zeros_like(varied), where=varied > 0)
    score = float(steep @ (groups.yes - groups.n * reported))
    return score**2 <= 3.841459 * float(steep**2 @ (groups.n * varied))


TESTS: dict[str, Callable[[Groups, float], bool]] = {
    "main": by_lattice,
    "saddlepoint": by_saddlepoint,
    "likelihood": by_likelihood,
    "score": by_score,
}


def all_choices(n: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield how often all intervals hold at once, beside the least that one alone does."""
    for name, (choices, epsilon, truths) in QUESTIONS.items():
        channel = Subset.for_epsilon(
            choices, Decimal(3).ln() if epsilon == "ln 3" else Decimal(epsilon)
        )
        margins = channel.margins()
        overall = 0.95 if choices == 2 else 1 - 0.05 / choices  # Bonferroni; two counts are one
        intervals = cache(lambda count, m=margins[0], c=overall: _alone(count, n, m, c))
        alone = cache(lambda count, m=margins[0]: _alone(count, n, m))
        together, each = 0, np.zeros(choices)
        for counts in surveys(channel, np.array(truths), n, rng):
            holds = [
                [low <= t <= high for (low, high), t in zip(map(way, counts), truths, strict=True)]
                for way in (intervals, alone)
            ]
            together += all(holds[0])
            each += holds[1]
        yield {
            "n": n,
            "question": name,
            "size": channel.size,
            "at once": together / RUNS,
            "least alone": float(each.min()) / RUNS,
            "most alone": float(each.max()) / RUNS,
        }


def _alone(count: int, n: int, margin: Margin, confidence: float = 0.95) -> Interval:
    found = share(count, n, margin, NoNoise(), confidence)
    return found.low, found.high


def known_sum(n: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield coverage and widths with Laplace noise, as if its scale moved 2 counts by 1 each."""
    for name, (choices, epsilon, truths) in QUESTIONS.items():
        if choices == 2:
            continue
        channel = Subset.for_epsilon(choices, Decimal(epsilon))
        margin = channel.margin
        for scale in (1.0, 10.0):
            drawn = DiscreteLaplace(scale, 2)
            left = with_known_sum(drawn, choices)
            held = {"drawn": np.zeros(choices), "known sum": np.zeros(choices)}
            wide = dict.fromkeys(held, 0.0)
            for counts in islice(surveys(channel, np.array(truths), n, rng), NOISY):
                noisy = drawn.release(counts)
                summed = left.counted(noisy, channel.size * n)
                for way, law, taken in (("drawn", drawn, noisy), ("known sum", left, summed)):
                    found = [share(count, n, margin, law) for count in taken]
                    held[way] += [
                        each.low <= true <= each.high
                        for each, true in zip(found, truths, strict=True)
                    ]
                    wide[way] += sum(each.high - each.low for each in found) / choices
            yield {
                "n": n,
                "question": name,
                "scale": scale,
                **{f"{way}, least": float(held[way].min()) / NOISY for way in held},
                **{f"{way}, mean": float(held[way].mean()) / NOISY for way in held},
                **{f"{way}, width": wide[way] / NOISY for way in held},
            }


def surveys(
    channel: Subset, truths: Floats, n: int, rng: np.random.Generator
) -> Iterator[list[int]]:
    """Yield counts of choices held by n reports, survey after survey. Same law as the channel,
    not the same stream.
    """
    k, w, keep = channel.choices, channel.size, channel.keep / 2**32
    for _ in range(0, RUNS, 500):
        answers = rng.choice(k, size=500 * n, p=truths)
        order = rng.random((500 * n, k))
        truly = rng.random(500 * n) < keep
        order[np.arange(500 * n), answers] = np.where(truly, -1.0, 2.0)
        held = np.argpartition(order, w - 1, axis=1)[:, :w]
        place = np.repeat(np.arange(500 * n) // n, w) * k + held.ravel()
        yield from np.bincount(place, minlength=500 * k).reshape(500, k).tolist()


def several_arms(n: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield coverage for three choices, half the reports through k-ary response that keeps .9,
    half through .5.
    """
    matrices = [
        np.full((3, 3), (1 - keep) / 2) + np.eye(3) * (keep - (1 - keep) / 2) for keep in (0.9, 0.5)
    ]
    arm = np.arange(n) % 2
    for truths in ((1.0, 0.0, 0.0), (0.9, 0.09, 0.01), (0.5, 0.3, 0.2)):
        each, together = np.zeros(3), 0
        for _ in range(1000):
            answers = rng.choice(3, size=n, p=truths)
            chances = np.array(matrices)[arm, answers].cumsum(axis=1)
            found = category_shares((rng.random(n)[:, None] > chances).sum(axis=1), matrices, arm)
            each += [
                low <= t <= high for (low, high), t in zip(found.intervals, truths, strict=True)
            ]
            together += all(
                low <= t <= high for (low, high), t in zip(found.simultaneous, truths, strict=True)
            )
        yield {
            "n": n,
            "shares": str(truths),
            "least": float(each.min()) / 1000,
            "at once": together / 1000,
        }


if __name__ == "__main__":
    main()
