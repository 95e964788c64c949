import math
import time
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations

import pytest

from dpengine.accounting.shuffling import shuffled_epsilon, shuffled_epsilon_of_choices
from dpengine.bounds import ln_above
from dpengine.local.subset import Subset
from dpengine.randomness import WORD
from tests.dpengine.accounting.divergences import hockey_stick

DELTA = Fraction(1, 10**6)
LN_3 = ln_above(Fraction(3))


def coin(local: Fraction, people: int, delta: Fraction = DELTA) -> Decimal:
    return shuffled_epsilon_of_choices(local, people, delta, choices=2, size=1)


@pytest.mark.parametrize(
    ("local", "expected"),
    [
        (Fraction(1, 2), (".0627", ".0181", ".0014")),
        (LN_3, (".168", ".0489", ".0040")),
        (Fraction(2), (".397", ".114", ".0095")),
        (Fraction(4), ("1.85", ".411", ".0343")),
    ],
)
def test_the_coin_among_a_thousand_ten_thousand_and_a_million(local, expected):
    """Within one unit of the last published digit."""
    for people, figure in zip((10**3, 10**4, 10**6), expected, strict=True):
        assert abs(coin(local, people) - Decimal(figure)) <= Decimal(1).scaleb(
            -len(figure.split(".")[1])
        )


@pytest.mark.parametrize(("local", "expected"), [(LN_3, "0.0609"), (Fraction(4), "0.601")])
def test_any_channel_gets_the_bound_that_holds_for_any(local, expected):
    found = shuffled_epsilon(local, 10**4, DELTA)
    assert found == pytest.approx(Decimal(expected), abs=Decimal("0.0001"))
    assert found > coin(local, 10**4)


def batches(
    channel: list[list[Fraction]], answers: tuple[int, ...]
) -> dict[tuple[int, ...], Fraction]:
    """Return the exact law of how often each report is in the batch: all that a shuffler leaves."""
    law = {(0,) * len(channel[0]): Fraction(1)}
    for answer in answers:
        longer: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for counts, chance in law.items():
            for report, weight in enumerate(channel[answer]):
                more = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                longer[more] += chance * weight
        law = dict(longer)
    return law


def subset_channel(choices: int, size: int, loss: int) -> list[list[Fraction]]:
    rows = [
        [loss if a in held else 1 for held in combinations(range(choices), size)]
        for a in range(choices)
    ]
    return [[Fraction(weight, sum(row)) for weight in row] for row in rows]


@pytest.mark.parametrize(
    ("choices", "size", "people"), [(2, 1, 9), (2, 1, 2), (3, 1, 5), (4, 2, 3), (3, 2, 4)]
)
@pytest.mark.parametrize("loss", [3, 20])
def test_no_two_batches_are_further_apart_than_the_bound(choices, size, people, loss):
    """Every batch of the others, every pair of answers: the exact least δ at the bound is at
    most δ.
    """
    channel, delta = subset_channel(choices, size, loss), Fraction(1, 20)
    epsilon = shuffled_epsilon_of_choices(
        ln_above(Fraction(loss)), people, delta, choices=choices, size=size
    )
    at = Fraction(math.exp(epsilon)) * (1 - Fraction(1, 10**12))
    for others in combinations_with_replacement(range(choices), people - 1):
        laws = [batches(channel, (answer, *others)) for answer in range(choices)]
        for one, other in permutations(laws, 2):
            assert hockey_stick([one[key] for key in one], [other[key] for key in one], at) <= delta


def test_the_bound_for_the_coin_is_nearly_attained():
    """All others answer alike: 30 reports, δ = 0.01. The bound is above the truth, by less than
    a quarter.
    """
    channel, delta, people = subset_channel(2, 1, 3), Fraction(1, 100), 30
    epsilon = coin(LN_3, people, delta)
    one, other = (batches(channel, (answer, *[0] * (people - 1))) for answer in (0, 1))
    at = Fraction(math.exp(float(epsilon) * 3 / 4))
    assert hockey_stick([one[key] for key in one], [other[key] for key in one], at) > delta


def test_a_channels_odds_are_those_that_the_bound_assumes():
    """a = e^ε₀·w/(e^ε₀·w + k − w) is the chance with which a subset channel keeps the truth."""
    channel = Subset.for_epsilon(10, Decimal(1))
    assert channel.loss * channel.size / (
        channel.loss * channel.size + 10 - channel.size
    ) == Fraction(channel.keep, WORD)


def test_alone_nothing_is_hidden_and_more_people_hide_more():
    epsilons = [
        shuffled_epsilon(Fraction(1), people, DELTA) for people in (1, 2, 10, 100, 1000, 10**5)
    ]
    assert Decimal("0.99") < epsilons[0] <= 1
    assert epsilons == sorted(epsilons, reverse=True)
    assert len(set(epsilons)) == 6


def test_a_delta_below_what_doubles_can_sum_amplifies_nothing():
    assert shuffled_epsilon(Fraction(1), 10**4, Fraction(1, 10**13)) == 1


def test_a_million_reports_take_a_fifth_of_a_second():
    """Timed in processor seconds, best of three, with slack for a busy machine."""

    def seconds() -> float:
        start = time.process_time()
        shuffled_epsilon(Fraction(4), 10**6, DELTA)
        return time.process_time() - start

    assert min(seconds() for _ in range(3)) < 0.2


@pytest.mark.parametrize(
    "call",
    [
        lambda: shuffled_epsilon(Fraction(0), 10, DELTA),
        lambda: shuffled_epsilon(Fraction(1), 0, DELTA),
        lambda: shuffled_epsilon(Fraction(1), 10, Fraction(0)),
        lambda: shuffled_epsilon_of_choices(Fraction(1), 10, DELTA, choices=2, size=2),
        lambda: shuffled_epsilon_of_choices(Fraction(1), 10, DELTA, choices=2, size=0),
    ],
)
def test_what_is_no_batch_is_refused_by_name(call):
    with pytest.raises(ValueError, match=r"must be (above 0|1)"):
        call()


def test_a_loss_that_doubles_cannot_tell_from_none_is_not_said_to_be_less():
    local = Fraction(1, 10**9)
    assert shuffled_epsilon(local, 5, Fraction(1, 10**15)) == Decimal("1e-9")
