"""Ticks: one option a report, or several at once: ± of an option by n, and how many fewer people
would do. `python -m tests.bench.ticks`

Of each ε and number of options: the least ± of the published (linear) estimate at half, without
noise and with noise of a cap that is half of it; the people saved; and the same in RUNS simulated
studies through the channel's own draws, with the share of intervals that held the truth.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np

from dpengine.central.counts import laplace_or_none
from dpengine.estimates import NoNoise
from dpengine.local.one_of import OneOf
from dpengine.privacy import Neighbours

N, RUNS = 1000, 100
SHARES = (0.5, 0.1, 0.02)


def half(channel: OneOf, cap: Fraction | None = None) -> float:
    """Return the ± at a half, in points."""
    l1 = channel.moved(Neighbours.CHANGE_ONE).l1
    noise = NoNoise() if cap is None else laplace_or_none(cap, l1)
    found = channel.forecast(N, Fraction(1, 2), noise)
    return 100 * (found.high - found.low) / 2


def simulated(channel: OneOf) -> tuple[float, float]:
    """Return 1.96 × the standard deviation of the estimates, in points, and how many held."""
    chance = np.random.default_rng(20261124)
    truth = [SHARES[option % len(SHARES)] for option in range(channel.options)]
    errors, held = [], 0
    for _ in range(RUNS):
        people = chance.random((N, channel.options)) < truth
        reports = [channel.randomise(np.flatnonzero(row).tolist()) for row in people]
        counts = channel.released(channel.tally(channel.pack(reports)), Neighbours.CHANGE_ONE)
        for share, found in zip(truth, channel.estimates(counts, N, NoNoise()), strict=True):
            errors.append(found.value - share)
            held += found.low <= share <= found.high
    return 196 * float(np.std(errors)), held / (RUNS * channel.options)


def main() -> None:
    print(f"± in points at a half, n = {N:,}; simulated: {RUNS} runs, shares {SHARES} by turns")
    print(" m    ε   s   one     s  fewer    noise ε/2: one     s   simulated: one     s   held")
    for options in (3, 5, 8):
        for epsilon in ("0.5", "1", "2", "3", "4"):
            one = OneOf.for_epsilon(options, Decimal(epsilon), 1)
            best = OneOf.for_epsilon(options, Decimal(epsilon))
            cap = Fraction(epsilon) / 2
            fewer = 1 - float(best.variance(Fraction(1, 2)) / one.variance(Fraction(1, 2)))
            (alone, _), (told, held) = simulated(one), simulated(best)
            print(
                f"{options:2} {epsilon:>4} {best.together:3} {half(one):5.1f} {half(best):5.1f} "
                f"{fewer:5.0%} {half(one, cap):19.1f} {half(best, cap):5.1f} {alone:17.1f} "
                f"{told:5.1f} {held:6.1%}"
            )


if __name__ == "__main__":
    main()
