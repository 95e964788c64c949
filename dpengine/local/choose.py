"""The channel that needs the fewest people for what is asked, at an ε; and what the others would need.

Variances are × n: so many people's squared error of the estimate when one person answers. What needs twice
the variance needs twice the people. Each kind is judged where its channels differ most:

yes_no, single   share of a choice that nobody has (of a rare choice): b(1 − b)/(a − b)²
multiple         share of an option that half of the people tick, where asking about one option costs most
scale, number    mean of the answers, in squared points or units, for the answer that is hardest to protect
distribution     height θ of one wave across the range, shares (1 + θ·cos 2πi/k)/k at θ = 0: how well a channel
                 tells broad shapes, 1/information of one report for a table; EM is as good (distribution.py)

By hand    yes_no, ε = ln 3: a = 3/4, b = 1/4, (3/16)/(1/4) = 0.75.
           single, k = 10, ε = 1: 2 of 10 named, 2.82; one named 3.63 (DESIGN § 9).
Sources    yes/no: the even table is the best for every share: any other is made from it by turning its
           reports again (Kairouz, Oh and Viswanath 2016). single: Ye and Barg 2018; a bit for every answer:
           Erlingsson, Pihur and Korolova 2014; unevenly: Wang, Blocki, Li and Jha 2017. mean: number.py.
           Duchi, Jordan and Wainwright 2018 (ends only); Wang et al. 2019 (piecewise, hybrid).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from dpengine.local.budget import HALF, split, variance
from dpengine.local.channels import AnyChannel
from dpengine.local.distribution import MOST_BINS, Distribution
from dpengine.local.number import NumberChannel, mean_variance
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import exponential_below, plain

MOST_COMBINED = 10  # options whose combinations a subset can hold: 2**10 choices

Channel = AnyChannel | NumberChannel | Distribution | tuple[Table, ...]  # a tuple: one channel an option


class Kind(StrEnum):
    """What an answer is."""

    YES_NO = "yes_no"
    SINGLE = "single"
    SCALE = "scale"
    MULTIPLE = "multiple"
    NUMBER = "number"


class Wanted(StrEnum):
    """What is to be known of the answers."""

    SHARES = "shares"
    MEAN = "mean"
    DISTRIBUTION = "distribution"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, as far as its channel depends on it."""

    kind: Kind
    choices: int = 2  # or options, or points of a scale
    wanted: Wanted = Wanted.SHARES  # of a scale: shares or mean; of a number: mean unless distribution
    low: Decimal = Decimal(0)  # of a number
    high: Decimal = Decimal(1)
    steps: int = 1


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask: what a device does, as the end of "each device would", and the variance × n it costs."""

    does: str
    variance: float
    channel: Channel | None = None  # None: for comparison only


@dataclass(frozen=True, slots=True)
class Choice:
    """The best way, and the others, next best first."""

    channel: Channel
    variance: float  # × n
    target: str  # of what
    alternatives: tuple[Way, ...]
    why: str  # in one sentence, for people


def cheapest(asked: Asked, epsilon: Decimal) -> Choice:
    """Return the channel of least variance for a question whose loss is at most e^ε, and why."""
    target, ways = _WAYS[asked.kind](asked, epsilon)
    candidates = [(way.variance, place, way.channel) for place, way in enumerate(ways) if way.channel is not None]
    least, place, channel = min(candidates, key=lambda candidate: candidate[:2])
    others = sorted((way for way in ways if way is not ways[place]), key=lambda way: way.variance)
    return Choice(channel, least, target, tuple(others), _why(ways[place], others[0], epsilon))


def _why(best: Way, other: Way, epsilon: Decimal) -> str:
    return (
        f"Each device would {best.does}; at ε = {plain(epsilon)} the next best of the ways compared, "
        f"to {other.does}, {_price(best, other)}."
    )


def _price(best: Way, other: Way) -> str:
    """Say how many more people another way needs for the same precision."""
    times = other.variance / best.variance
    if times < 0.995:
        return f"would need {100 * (1 - times):.0f} % fewer people, but cannot be had"
    if times < 1.005:
        return "needs as many people"
    if times < 2:
        return f"needs {100 * (times - 1):.0f} % more people to be as precise"
    return f"needs {times:.1f} times as many people to be as precise"


def _yes_no(asked: Asked, epsilon: Decimal) -> tuple[str, list[Way]]:
    loss = float(exponential_below(epsilon))
    table = Table.binary(epsilon)
    forced_yes, truth = 3 / (loss + 3), (loss - 1) / (loss + 3)
    return "share of yes where nobody says yes", [
        Way(f"keep the answer {_of_hundred(table)} times of 100 and turn it otherwise", _rare(table), table),
        Way("force answers, three yes for one no", forced_yes * (1 - forced_yes) / truth**2),
        _bits(epsilon),
        _uneven_bits(epsilon),
    ]


def _single(asked: Asked, epsilon: Decimal) -> tuple[str, list[Way]]:
    k = asked.choices
    if k == 2:
        return _yes_no(asked, epsilon)
    subset = Subset.for_epsilon(k, epsilon)
    ways = [Way(_names(subset), _rare(subset), subset), _bits(epsilon), _uneven_bits(epsilon)]
    if subset.size > 1:
        loss = float(exponential_below(epsilon))
        ways.append(Way("name one answer", (loss + k - 2) / (loss - 1) ** 2))
    return "share of a choice that nobody has", ways


def _scale(asked: Asked, epsilon: Decimal) -> tuple[str, list[Way]]:
    if asked.wanted is not Wanted.MEAN:
        return _single(asked, epsilon)
    number = NumberChannel.for_scale(asked.choices, epsilon)
    subset = Subset.for_epsilon(asked.choices, epsilon)
    ways = [
        Way(_draws(number), float(mean_variance(number)), number),
        Way(_names(subset), float(mean_variance(subset)), subset),
    ]
    return "mean in points, for the hardest answer", [*ways, *_of_mean(epsilon, (asked.choices - 1) / 2)]


def _multiple(asked: Asked, epsilon: Decimal) -> tuple[str, list[Way]]:
    m = asked.choices
    one = OneOf.for_epsilon(m, epsilon)
    each = tuple(Table.binary(part) for part in split(epsilon, [1] * m))
    ways = [
        Way(f"be asked about one of the {m} options, drawn by chance", float(one.variance(HALF)), one),
        Way(f"answer about all {m} options with a part of ε each", float(variance(each[0])), each),
    ]
    if m <= MOST_COMBINED:
        together = Subset.for_epsilon(2**m, epsilon)
        does = f"name {together.size} of the {together.choices} combinations of ticks"
        ways.append(Way(does, float(option_variance(together)), together))
    return "share of an option that half tick", ways


def _number(asked: Asked, epsilon: Decimal) -> tuple[str, list[Way]]:
    if asked.wanted is Wanted.DISTRIBUTION:
        return _distribution(asked, epsilon)
    channel = NumberChannel.for_epsilon(epsilon, asked.low, asked.high, asked.steps)
    half = float(asked.high - asked.low) / 2
    own = Way(_draws(channel), float(channel.worst_variance), channel)
    return "mean, for the hardest answer", [own, *_of_mean(epsilon, half)]


def _distribution(asked: Asked, epsilon: Decimal) -> tuple[str, list[Way]]:
    bins = min(asked.steps + 1, MOST_BINS)
    channel = Distribution.for_epsilon(epsilon, asked.low, asked.high, bins)
    does = f"name one of {bins} parts of the range, the true one and those around it more often than others"
    subset = Subset.for_epsilon(bins, epsilon)
    return "height of one wave across the range, where answers are spread evenly", [
        Way(does, wave_variance(channel.table), channel),
        Way(_names(subset, "parts"), float(subset_wave_variance(subset)), subset),
    ]


_WAYS = {
    Kind.YES_NO: _yes_no,
    Kind.SINGLE: _single,
    Kind.SCALE: _scale,
    Kind.MULTIPLE: _multiple,
    Kind.NUMBER: _number,
}


def option_variance(together: Subset) -> Fraction:
    """Return variance × n of one option's share where half tick it, from a subset of the 2^m sets of ticks.

    A set is worth 1 if it has the option: half of them do, so that the variance is the same for every answer.
    """
    return HALF * HALF + worth_variance(together, [Fraction(ticks & 1) for ticks in range(together.choices)], 0)


def worth_variance(subset: Subset, worth: Sequence[Fraction], answer: int) -> Fraction:
    """Return the variance of Σ worth·(held − b)/(a − b), what a report counts for, given the answer.

    The choices held beside the true one are a drawing without replacement; whether that is held, a coin of chance a.
    """
    kept = subset.margin.truth
    others = [value for choice, value in enumerate(worth) if choice != answer]
    centre = sum(others, Fraction(0)) / len(others)
    spread = sum(((value - centre) ** 2 for value in others), Fraction(0)) / len(others)

    def drawn(size: int) -> Fraction:
        return size * spread * Fraction(len(others) - size, max(len(others) - 1, 1))

    inner = kept * drawn(subset.size - 1) + (1 - kept) * drawn(subset.size)
    return (inner + kept * (1 - kept) * (worth[answer] - centre) ** 2) / (kept - subset.margin.lie) ** 2


def wave_variance(table: Table) -> float:
    """Return variance × n of the height θ of a wave, by the best estimate there is: 1/information at θ = 0."""
    wave = _wave(table.choices)
    columns = list(zip(*table.weights, strict=True))
    slopes = [sum(w * height for w, height in zip(column, wave, strict=True)) for column in columns]
    information = math.fsum(slope**2 / sum(column) for slope, column in zip(slopes, columns, strict=True))
    return table.choices * table.total / information


def subset_wave_variance(subset: Subset) -> Fraction:
    """Return the same from a subset's shares: θ is Σ wave·share over Σ wave²/k."""
    wave = [Fraction(height) for height in _wave(subset.choices)]
    power = sum((height**2 for height in wave), Fraction(0)) / len(wave)
    device = sum((worth_variance(subset, wave, answer) for answer in range(len(wave))), Fraction(0)) / len(wave)
    return (power + device) / power**2


def _wave(choices: int) -> list[float]:
    return [math.cos(2 * math.pi * choice / choices) for choice in range(choices)]


def _rare(channel: Table | Subset) -> float:
    return max(float(margin.rare_variance) for margin in channel.margins())


def _names(subset: Subset, things: str = "answers") -> str:
    named = f"one {things[:-1]}" if subset.size == 1 else f"{subset.size} of the {subset.choices} {things}"
    return f"name {named}, the true one more often than another"


def _draws(channel: NumberChannel) -> str:
    return f"send one of {channel.table.reports} numbers that are right on average"


def _bits(epsilon: Decimal) -> Way:
    root = math.exp(float(epsilon) / 2)
    return Way("send a bit for every answer, each turned as often", root / (root - 1) ** 2)


def _uneven_bits(epsilon: Decimal) -> Way:
    loss = math.exp(float(epsilon))
    return Way("send a bit for every answer, ones turned more often", 4 * loss / (loss - 1) ** 2)


def _of_mean(epsilon: Decimal, half: float) -> list[Way]:
    """Return the known ways to send a number, with their worst variances on a range of so much either side."""
    e, root = math.exp(float(epsilon)), math.exp(float(epsilon) / 2)
    ends = ((e + 1) / (e - 1)) ** 2
    piecewise = 1 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    mixed = (root + 3) / (3 * root * (root - 1)) + (e + 1) ** 2 / (root * (e - 1) ** 2)
    hybrid = mixed if float(epsilon) > 0.61 else ends
    known = {
        "say only the lowest or the highest number": ends,
        "send a number near the answer or far from it (piecewise)": piecewise,
        "do now the one, now the other (hybrid)": hybrid,
        "add noise to the number (Laplace)": 8 / float(epsilon) ** 2,
    }
    return [Way(does, worst * half**2) for does, worst in known.items()]


def _of_hundred(table: Table) -> int:
    """Return how often an answer is kept, of 100 times; 100 only where it always is, which no table does."""
    return min(99, round(100 * float(table.margins()[1].truth)))
