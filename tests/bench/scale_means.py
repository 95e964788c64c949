"""How many times the people shares need for the same ± of a scale's mean as the channel for means.

Shares: the mean Σ s·p̂_s of the estimated shares. Exact, of the device's chance at the answer where
it is worst; and with sampling, where all answers are as common. `.venv/bin/python -m
tests.bench.scale_means`; at ε = 1 the least is 2.15 at five points and 3.7 at eleven.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np

from dpengine.estimates import Floats
from dpengine.local.channels import channel_for
from dpengine.local.number import NumberChannel


def by_shares(points: int, epsilon: Decimal) -> Floats:
    """Return the variance of one report's worth for the mean, after every answer."""
    side = channel_for(points, epsilon).features()
    worth = np.arange(points) @ side.first
    squares = np.einsum("tij,i,j->t", side.pairs, worth, worth)
    return np.asarray(squares - (side.chances @ worth) ** 2)


def by_means(points: int, epsilon: Decimal) -> Floats:
    channel = NumberChannel.for_epsilon(epsilon, Decimal(1), Decimal(points), points - 1)
    worth = np.array([float(Fraction(each, channel.scale)) for each in channel.decoder])
    rows = np.array(channel.table.weights) / channel.table.total
    places = np.array(
        [np.interp(step, channel.grid, np.arange(len(channel.grid))) for step in range(points)]
    )
    low = np.minimum(places.astype(int), len(channel.grid) - 2)
    up = (places - low)[:, None]
    chances = (1 - up) * rows[low] + up * rows[low + 1]
    return np.asarray(chances @ worth**2 - (chances @ worth) ** 2)


def times(points: int, epsilon: Decimal) -> tuple[float, float]:
    """Return how many times the people, by the worst answer, and of even answers with sampling."""
    shares, means = by_shares(points, epsilon), by_means(points, epsilon)
    even = float(np.var(np.arange(points)))
    return float(shares.max() / means.max()), float((shares.mean() + even) / (means.mean() + even))


def main() -> None:
    print("  ε  points  worst answer  even answers, sampling too")
    for epsilon in ("0.5", "1", "2", "4"):
        for points in (5, 7, 11):
            worst, even = times(points, Decimal(epsilon))
            print(f"{epsilon:>3} {points:>7} {worst:>13.2f} {even:>27.2f}")


if __name__ == "__main__":
    main()
