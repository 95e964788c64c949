"""What k releases lose together: basic, parallel, advanced, optimal.

All four bound what one person's releases lose in all, for mechanisms fixed before the first (basic
also for ones chosen on the way: `filters`). Amounts go in exactly; ε comes out rounded up.

Basic      Σε, Σδ                                             Dwork and Roth 2014, Thm 3.16
Parallel   max ε, max δ, on parts that no neighbour joins     McSherry 2009, Thm 4; by parts: `filters`
Advanced   √(2k ln(1/δ′))·ε + kε(e^ε − 1), with kδ + δ′        Dwork and Roth 2014, Thm 3.20
Splitting  ε′/(2√(2k ln(1/δ′))) each suffices for ε′ < 1 in all, with kδ + δ′   their Cor. 3.21
Closed     min of Σε, Σε·tanh(ε/2) + √(2·ln(1/δ′)·Σε²) and the same with ln(e + √Σε²/δ′)
                                                              Kairouz, Oh and Viswanath 2015, Thm 3.5
Optimal    randomised response of odds e^ε loses the most of all ε-DP mechanisms, alone and composed
           (their Thm 3.3). k of them lose (k − 2i)ε with chance C(k, i)·q^(k−i)·(1 − q)^i, q = e^ε/(1 + e^ε),
           for i = 0 … k, and for every ε′ ≥ 0
               δ(ε′) = Σ over losses l > ε′ of P(l)·(1 − e^(ε′ − l)).
           At ε′ = (k − 2i)ε that is their theorem; between, it is a segment in e^ε′, and is solved exactly.
           Different ε: the same sum over a common lattice of losses; an ε off the lattice is rounded up to it.
           (#P-hard exactly, Murtagh and Vadhan 2016; ε of a study are multiples of a few billionths of one another,
           and then nothing is rounded.)

By hand    k = 1: δ(0) = (e^ε − 1)/(e^ε + 1), the total variation of a coin. 1000 × ε = 0.05 at δ = 10⁻⁶:
           basic 50, advanced 10.875, closed 9.561, optimal 8.28. For life, e^−32 over 10,000 data bases
           of 1/801 each: 1.0144 (the book says 1), of 1/813: 0.9992.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

import numpy as np

from dpengine.accounting.bounds import (
    NEAREST,
    UP,
    above,
    check_delta,
    exp_above,
    exp_below,
    ln_above,
    sqrt_above,
)
from dpengine.privacy import Cost, round_down, round_up

SLACK = Decimal("1e-40")  # more than 50-digit arithmetic can err over a million steps
FLOAT_SLACK = 1e-9  # more than sums of a million positive doubles can err, relatively
MOST_CELLS = 20_000  # of the lattice of losses
Atoms = Iterable[tuple[Decimal, Decimal, Decimal]]  # loss, chance when true, chance when not; largest loss first


def basic(costs: Iterable[Cost]) -> Cost | None:
    """Return the sum, None if there is nothing to add."""
    return next(iter(reversed(list(accumulate(costs)))), None)


def parallel(costs: Sequence[Cost]) -> Cost | None:
    """Return the cost of releases on parts of the people of which two neighbours differ in one only."""
    if not costs:
        return None
    epsilons = [cost.epsilon for cost in costs if cost.epsilon is not None]
    return Cost(
        rho=max(cost.rho for cost in costs),
        delta=max(cost.delta for cost in costs),
        epsilon=max(epsilons) if len(epsilons) == len(costs) else None,
    )


def advanced(epsilon: Fraction, count: int, delta: Fraction) -> Decimal:
    """Return ε of so many releases of ε each, at δ′ besides the sum of their δ."""
    _check(epsilon, count)
    check_delta(delta)
    root = sqrt_above(2 * count * ln_above(1 / delta))
    return round_up(root * epsilon + count * epsilon * (exp_above(epsilon) - 1))


def advanced_each(total: Fraction, count: int, delta: Fraction) -> Decimal:
    """Return an ε that so many releases may have each for ε′ in all (Cor. 3.21). It is not the largest."""
    _check(total, count)
    check_delta(delta)
    if total >= 1:
        raise ValueError(f"epsilon in all must be below 1, got {total}")
    return round_down(total / (2 * sqrt_above(2 * count * ln_above(1 / delta))))


def closed_form(epsilons: Sequence[Fraction], delta: Fraction) -> Decimal:
    """Return ε of releases of these ε at δ′, by the formula of Kairouz, Oh and Viswanath."""
    for epsilon in epsilons:
        _check(epsilon, 1)
    check_delta(delta)
    squares = sum((epsilon**2 for epsilon in epsilons), start=Fraction(0))
    drift = sum((epsilon * _tanh_of_half_above(epsilon) for epsilon in epsilons), start=Fraction(0))
    log = ln_above(min(1 / delta, _E_ABOVE + sqrt_above(squares) / delta))
    return round_up(min(sum(epsilons, start=Fraction(0)), drift + sqrt_above(2 * squares * log)))


def optimal(epsilon: Fraction, count: int, delta: Fraction) -> Decimal:
    """Return the least ε that holds for every so many releases of ε each, at δ′."""
    _check(epsilon, count)
    check_delta(delta)
    return _solve(_coins(epsilon, count), delta)


def optimal_curve(epsilon: Fraction, count: int) -> list[tuple[Fraction, Decimal]]:
    """Return the pairs (k − 2i)ε, δ_i of the theorem, largest ε first; δ_i rounded up."""
    _check(epsilon, count)
    curve, true, false = [], Decimal(0), Decimal(0)
    for i, (loss, p, q) in zip(range(count // 2 + 1), _coins(epsilon, count), strict=False):
        true, false = true + p, false + q
        delta = UP.subtract(true, NEAREST.multiply(NEAREST.exp(loss), false))
        curve.append(((count - 2 * i) * epsilon, max(Decimal(0), delta) + (SLACK if i else 0)))
    return curve


def optimal_mixed(epsilons: Sequence[Fraction], delta: Fraction) -> Decimal:
    """Return ε of releases of different ε at δ′; exactly optimal where they share a lattice of 20,000 losses."""
    if len(set(epsilons)) == 1:
        return optimal(epsilons[0], len(epsilons), delta)
    bound = closed_form(epsilons, delta)
    step = _step(epsilons)
    counts = [math.ceil(epsilon / step) for epsilon in epsilons]
    return min(bound, _solve(_lattice(counts, step), delta))


def _check(epsilon: Fraction, count: int) -> None:
    if epsilon <= 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon}")
    if count < 1:
        raise ValueError(f"count must be 1 or more, got {count}")


_E_ABOVE = exp_above(Fraction(1))


def _tanh_of_half_above(epsilon: Fraction) -> Fraction:
    """Return (e^ε − 1)/(e^ε + 1), from above."""
    return 1 - 2 / (exp_above(epsilon) + 1)


def _coins(epsilon: Fraction, count: int) -> Iterator[tuple[Decimal, Decimal, Decimal]]:
    """Yield loss and chances of every sum of so many coins."""
    size = above(epsilon)
    odds = NEAREST.exp(size)
    true = NEAREST.power(odds / (1 + odds), count)  # of no lie at all
    for lies in range(count + 1):
        loss = NEAREST.multiply(size, count - 2 * lies)
        yield loss, true, NEAREST.multiply(true, NEAREST.exp(-loss))
        true = NEAREST.divide(NEAREST.multiply(true, count - lies), NEAREST.multiply(odds, lies + 1))


def _step(epsilons: Sequence[Fraction]) -> Fraction:
    """Return the largest step that all ε are multiples of, or a coarser one that leaves few enough cells."""
    shared = Fraction(math.gcd(*(e.numerator for e in epsilons)), math.lcm(*(e.denominator for e in epsilons)))
    return max(shared, sum(epsilons, start=Fraction(0)) / MOST_CELLS)


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
            yield loss, true, NEAREST.multiply(true, NEAREST.exp(-loss)) * Decimal(1 - 2 * FLOAT_SLACK)


def _solve(atoms: Atoms, delta: Fraction) -> Decimal:
    """Return the least ε′ ≥ 0 with δ(ε′) ≤ δ: at the first loss that is too much, back along its segment."""
    target = NEAREST.subtract(above(delta), SLACK)
    true = false = Decimal(0)  # chances of all losses above ε′
    for loss, p, q in atoms:
        if NEAREST.subtract(true, NEAREST.multiply(NEAREST.exp(max(loss, Decimal(0))), false)) > target:
            break
        if loss <= 0:
            return Decimal(0)
        true, false = NEAREST.add(true, p), NEAREST.add(false, q)
    if not false:  # δ is too small for the slack: no loss may be passed at all
        return round_up(Fraction(loss))
    return max(Decimal(0), round_up(ln_above(Fraction(NEAREST.next_plus(NEAREST.divide(true - target, false))))))
