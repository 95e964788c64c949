"""What k releases lose together: basic, advanced, optimal composition.

All four bound what one person's releases lose in all, for mechanisms fixed before the first (basic
also for ones chosen on the way: `filters`). Amounts go in exactly; ε comes out rounded up.

Basic      Σε, Σδ                                             Dwork and Roth 2014, Thm 3.16
Advanced   √(2k ln(1/δ′))·ε + kε(e^ε − 1), with kδ + δ′        Dwork and Roth 2014, Thm 3.20;
           of different ε √(2·ln(1/δ′)·Σε²) + Σε(e^ε − 1), by the same martingale
Closed     min of Σε, Σε·tanh(ε/2) + √(2·ln(1/δ′)·Σε²) and the same with ln(e + √Σε²/δ′)
                                                              Kairouz, Oh and Viswanath 2015, Thm
                                                              3.5
Optimal    randomised response of odds e^ε loses the most of all ε-DP mechanisms, alone and composed
           (their Thm 3.3). k of them lose (k − 2i)ε with chance C(k, i)·q^(k−i)·(1 − q)^i, q =
           e^ε/(1 + e^ε), for i = 0 … k, and for every ε′ ≥ 0
               δ(ε′) = Σ over losses l > ε′ of P(l)·(1 − e^(ε′ − l)).
           At ε′ = (k − 2i)ε that is their theorem; between, it is a segment in e^ε′, and is solved
           exactly. Different ε: the same sum over a common lattice of losses; an ε off the lattice
           is rounded up to it. (#P-hard exactly, Murtagh and Vadhan 2016; ε of a study are
           multiples of a few billionths of one another, and then nothing is rounded.)

By hand    k = 1: δ(0) = (e^ε − 1)/(e^ε + 1), the total variation of a coin. 1000 × ε = 0.05 at δ =
           10⁻⁶: basic 50, advanced 10.875, closed 9.561, optimal 8.28. For life, e^−32 over 10,000
           data bases of 1/801 each: 1.0144 (the book says 1), of 1/813: 0.9992.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

import numpy as np

from dpengine.bounds import (
    NEAREST,
    above,
    check_delta,
    exp_above,
    exp_below,
    ln_above,
    sqrt_above,
)
from dpengine.checks import require
from dpengine.privacy import Cost, round_up

SLACK = Decimal("1e-40")  # more than 50-digit arithmetic can err over a million steps
FLOAT_SLACK = 1e-9  # more than sums of a million positive doubles can err, relatively
MAX_CELLS = 20_000  # of the lattice of losses
# loss, chance when true, chance when not; largest loss first
Atoms = Iterable[tuple[Decimal, Decimal, Decimal]]


def basic(costs: Iterable[Cost]) -> Cost | None:
    """Return the sum, None if there is nothing to add."""
    return next(iter(reversed(list(accumulate(costs)))), None)


def advanced(epsilons: Iterable[Fraction], delta: Fraction) -> Decimal:
    """Return ε of releases of these ε, at δ′ besides the sum of their δ."""
    counted = _counted(epsilons, delta)
    squares = sum((n * epsilon**2 for epsilon, n in counted.items()), start=Fraction(0))
    drifts = (n * epsilon * (exp_above(epsilon) - 1) for epsilon, n in counted.items())
    return round_up(sqrt_above(2 * ln_above(1 / delta) * squares) + sum(drifts, start=Fraction(0)))


def closed_form(epsilons: Sequence[Fraction], delta: Fraction) -> Decimal:
    """Return ε of releases of these ε at δ′, by the formula of Kairouz, Oh and Viswanath."""
    counted = _counted(epsilons, delta)
    squares = sum((n * epsilon**2 for epsilon, n in counted.items()), start=Fraction(0))
    # tanh(ε/2) = 1 − 2/(e^ε + 1), from above
    drifts = (n * e * (1 - 2 / (exp_above(e) + 1)) for e, n in counted.items())
    log = ln_above(min(1 / delta, exp_above(Fraction(1)) + sqrt_above(squares) / delta))
    spread = sum(drifts, start=Fraction(0)) + sqrt_above(2 * squares * log)
    return round_up(min(sum(epsilons, start=Fraction(0)), spread))


def optimal(epsilon: Fraction, count: int, delta: Fraction) -> Decimal:
    """Return the least ε that holds for every so many releases of ε each, at δ′."""
    _counted([epsilon], delta)
    require(count >= 1, "count must be 1 or more, got {}", count)
    return _solve(_coins(epsilon, count), delta)


def optimal_mixed(epsilons: Sequence[Fraction], delta: Fraction) -> Decimal:
    """Return ε of releases of different ε at δ′; optimal where 20,000 losses form a lattice."""
    if len(set(epsilons)) == 1:
        return optimal(epsilons[0], len(epsilons), delta)
    bound = closed_form(epsilons, delta)
    shared = Fraction(
        math.gcd(*(e.numerator for e in epsilons)), math.lcm(*(e.denominator for e in epsilons))
    )
    # that divides every ε, or a coarser one that leaves few cells
    step = max(shared, sum(epsilons, start=Fraction(0)) / MAX_CELLS)
    counts = [math.ceil(epsilon / step) for epsilon in epsilons]
    return min(bound, _solve(_lattice(counts, step), delta))


def _counted(epsilons: Iterable[Fraction], delta: Fraction) -> Counter[Fraction]:
    """Return how often each ε comes, with δ checked too."""
    check_delta(delta)
    counted = Counter(epsilons)
    for epsilon in counted:
        require(epsilon > 0, "epsilon must be above 0, got {}", epsilon)
    return counted


def _coins(epsilon: Fraction, count: int) -> Iterator[tuple[Decimal, Decimal, Decimal]]:
    """Yield loss and chances of every sum of so many coins."""
    size = above(epsilon)
    odds = NEAREST.exp(size)
    true = NEAREST.power(odds / (1 + odds), count)  # of no lie at all
    for lies in range(count + 1):
        loss = NEAREST.multiply(size, count - 2 * lies)
        yield loss, true, NEAREST.multiply(true, NEAREST.exp(-loss))
        true = NEAREST.divide(
            NEAREST.multiply(true, count - lies), NEAREST.multiply(odds, lies + 1)
        )


def _lattice(counts: Sequence[int], step: Fraction) -> Iterator[tuple[Decimal, Decimal, Decimal]]:
    """Yield loss and chances of every sum of coins whose losses are so many steps each."""
    chances = np.ones(1)
    for count in counts:
        kept = float(1 / (1 + exp_below(-count * step)))
        longer = np.zeros(len(chances) + 2 * count)
        longer[2 * count :] += kept * chances
        longer[: len(chances)] += (1 - kept) * chances
        chances = longer
    reach = sum(counts)
    for cell in range(2 * reach, -1, -1):
        if chances[cell] > 0:
            loss = NEAREST.multiply(above(step), cell - reach)
            true = Decimal(float(chances[cell]) * (1 + FLOAT_SLACK))
            yield (
                loss,
                true,
                NEAREST.multiply(true, NEAREST.exp(-loss)) * Decimal(1 - 2 * FLOAT_SLACK),
            )


def _solve(atoms: Atoms, delta: Fraction) -> Decimal:
    """Return the least ε′ ≥ 0 with δ(ε′) ≤ δ.

    At the first loss that is too much, back along its segment.
    """
    target = NEAREST.subtract(above(delta), SLACK)
    true = false = Decimal(0)  # chances of all losses above ε′
    for loss, p, q in atoms:
        if (
            NEAREST.subtract(true, NEAREST.multiply(NEAREST.exp(max(loss, Decimal(0))), false))
            > target
        ):
            break
        if loss <= 0:
            return Decimal(0)
        true, false = NEAREST.add(true, p), NEAREST.add(false, q)
    if not false:  # δ is too small for the slack: no loss may be passed at all
        return round_up(Fraction(loss))
    return max(
        Decimal(0),
        round_up(ln_above(Fraction(NEAREST.next_plus(NEAREST.divide(true - target, false))))),
    )
