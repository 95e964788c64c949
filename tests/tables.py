"""Tables that tests need and no survey collects with, and what reports vary by, written out."""

from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from dpengine.estimates import Floats
from dpengine.local.channel import Channel
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import exponential_below
from dpengine.randomness import WORD


def kary(k: int, epsilon: Decimal) -> Table:
    """Return k-ary randomised response in words of the device, rounded towards privacy.

    P(j | i) = v/W for j ≠ i and at most e^ε times that for j = i: by less than 10⁻⁷ of the odds
    at ε ≤ 4. k = 3, e^ε = 5: rows 5, 1, 1. It is a subset of size 1 (subset.py).
    """
    loss = exponential_below(epsilon)
    other = int(WORD / (loss + k - 1))
    own = int(loss * other)
    return Table(tuple(tuple(own if j == i else other for j in range(k)) for i in range(k)))


def rows(channel: NumberChannel) -> list[list[Fraction]]:
    """Return Pr[report | answer] of every answer, exactly: rounding mixes two rows of the table."""
    found = []
    for answer in range(channel.steps + 1):
        place = max(place for place, point in enumerate(channel.grid) if point <= answer)
        row = [Fraction(weight, channel.table.total) for weight in channel.table.weights[place]]
        if beyond := answer - channel.grid[place]:
            up = Fraction(beyond, channel.grid[place + 1] - channel.grid[place])
            above = channel.table.weights[place + 1]
            row = [
                (1 - up) * r + up * Fraction(w, channel.table.total)
                for r, w in zip(row, above, strict=True)
            ]
        found.append(row)
    return found


def numbers(channel: NumberChannel) -> list[Fraction]:
    """Return what each report stands for, in the answer's units."""
    return [
        Fraction(channel.low) + Fraction(y, channel.scale) * channel.step for y in channel.decoder
    ]


def variances(channel: NumberChannel) -> list[Fraction]:
    """Return the variance of one report's number around each answer, in squared units."""
    values = numbers(channel)
    means = [Fraction(channel.low) + answer * channel.step for answer in range(channel.answers)]
    return [
        sum((p * (y - mean) ** 2 for p, y in zip(row, values, strict=True)), Fraction(0))
        for row, mean in zip(rows(channel), means, strict=True)
    ]


def mean_variance(subset: Subset) -> Fraction:
    """Return the worst variance of one report for the mean of a scale, in squared points.

    A report decodes to Σ (v − b·Σv)/(a − b) over the choices v it holds.
    """
    reports = list(combinations(range(subset.choices), subset.size))
    a, b = subset.margin.truth, subset.margin.lie
    values = [
        sum((choice * ((choice in held) - b) for choice in range(subset.choices)), Fraction(0))
        / (a - b)
        for held in reports
    ]
    return max(
        sum((p * (v - answer) ** 2 for p, v in zip(row, values, strict=True)), Fraction(0))
        for answer, row in enumerate(subset.probabilities(reports))
    )


def chances_of(channel: Channel) -> tuple[list[Any], Floats]:
    """Return all reports of a channel, and Pr[report | answer] from its whole numbers.

    The answers to ticks are all sets of options, the last option turning fastest.
    """
    if isinstance(channel, Subset):
        held = [list(each) for each in combinations(range(channel.choices), channel.size)]
        return held, np.array(channel.probabilities(held), dtype=np.float64)
    if isinstance(channel, OneOf):
        sent = [[*each] for each in product(range(channel.options), range(channel.patterns))]
        flags = product((0, 1), repeat=channel.options)
        sets = [[option for option, ticked in enumerate(each) if ticked] for each in flags]
        return sent, np.array(channel.probabilities(sent, sets), dtype=np.float64)
    if isinstance(channel, NumberChannel):
        return list(range(channel.reports)), np.array(rows(channel), dtype=np.float64)
    if not channel.is_random:
        return list(range(channel.answers)), np.eye(channel.answers)
    weights = np.array(channel.document()["weights"], dtype=np.float64)
    return list(range(weights.shape[1])), weights / weights.sum(axis=1, keepdims=True)
