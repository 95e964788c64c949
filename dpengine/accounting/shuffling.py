"""Amplification by shuffling: what is lost when the reports of a batch are seen in no order.

Each of n people sends a report that is ε₀-private; a shuffler hides who sent which. One person then
loses less to who sees the shuffled reports of *this* batch, and only to them: who sees the person's
own report still learns ε₀, and the shuffler must be trusted not to keep the order.

General    Feldman, McMillan and Talwar 2021, Thm 3.2: each other report is with chance e^−ε₀ a
           clone, as likely a copy of either of one person's two possible reports. With C ~ Bin(n −
           1, e^−ε₀) clones, A ~ Bin(C, ½) and q = e^ε₀/(1 + e^ε₀), the pairs (A + 1, C − A) with
           chance q, else (A, C − A + 1), against the same with q and 1 − q exchanged, are at least
           as far apart as any two shuffled batches.
Choices    subset selection of w among k; w = 1 is k-ary randomised response, k = 2 the coin. Here
           the clones are known: with a = e^ε₀·w/(e^ε₀·w + k − w), every report is drawn blindly
           with chance (1 − a)k/(k − w), and of those 2w(k − w)/(k(k − 1)) tell two given answers
           apart. So a report is a clone with chance 2(1 − a)w/(k − 1), and one's own tells them
           apart with chance (a(k − w) + (1 − a)w)/(k − 1). Which reports tell nothing is revealed,
           which only helps the onlooker (their § 5 for w = 1; blankets: Balle et al. 2019). For k =
           2 that is 2/(e^ε₀ + 1) clones. Feldman, McMillan and Talwar 2023 had claimed that number
           for every channel; their erratum takes it back to a class of channels, so it is used for
           no other here.
δ(ε)       Given C = c, the chance ratio grows with A, so that the best test is A ≥ a*, and
               δ_c(ε) = (q − e^ε(1 − q))·Pr[A ≥ a* − 1] − (e^ε·q − (1 − q))·Pr[A ≥ a*],
           a sum of binomial tails. δ_c falls with c (a clone more is noise more: post-processing),
           so that cells of c count as their lower end and what lies below all cells as no clones:
           bounds from above. The least ε with δ(ε) ≤ δ is found by bisection and rounded up.

By hand    δ = 10⁻⁶, n = 10⁴. The coin: ε₀ = ln 3 → 0.0489, 4 → 0.411. Any channel: 0.0608, 0.601.
           n = 1: nothing is hidden, and all of ε₀ is lost but what δ forgives.
"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from dpengine.bounds import check_delta
from dpengine.checks import require
from dpengine.estimates import Floats, binomial_tail
from dpengine.privacy import round_up

MAX_CELLS = 1_000  # of the number of clones
SPREAD = 8.5  # standard deviations of it that are summed; more lie in the last cell
SLACK = 1e-12  # of δ: more than the sums of tails, in doubles, can err
FINENESS = 2.0**-24  # of ε, relative to ε₀, at which bisection stops


def shuffled_epsilon(local: Fraction, people: int, delta: Fraction) -> Decimal:
    """Return ε at δ of a shuffled batch of so many reports of any ε₀-private channel."""
    return _amplified(local, people, delta, clone=math.exp(-float(local)), told=1.0)


def shuffled_epsilon_of_choices(
    local: Fraction, people: int, delta: Fraction, *, choices: int, size: int
) -> Decimal:
    """Return the same for `size` of `choices` by subset selection: the better of two bounds."""
    require(1 <= size < choices, "size must be 1 to {}, got {}", choices - 1, size)
    odds = math.exp(float(local))
    kept = odds * size / (odds * size + choices - size)
    clone = 2 * (1 - kept) * size / (choices - 1)
    told = (kept * (choices - size) + (1 - kept) * size) / (choices - 1)
    own_bound = _amplified(local, people, delta, clone=clone, told=told)
    return min(shuffled_epsilon(local, people, delta), own_bound)


def _amplified(
    local: Fraction, people: int, delta: Fraction, *, clone: float, told: float
) -> Decimal:
    require(local > 0, "local epsilon must be above 0, got {}", local)
    require(people >= 1, "people must be 1 or more, got {}", people)
    check_delta(delta)
    counts, chances = _clones(people - 1, clone)
    low, high = 0.0, float(local)
    while high - low > FINENESS * float(local):
        middle = (low + high) / 2
        if told * float(chances @ _tests(middle, float(local), counts)) + SLACK <= float(delta):
            high = middle
        else:
            low = middle
    return min(round_up(local), round_up(Fraction(high)))


def _clones(others: int, clone: float) -> tuple[Floats, Floats]:
    """Return numbers of clones, each the lower end of a cell, and the cells' chances.

    What lies below has 0 clones.
    """
    mean, spread = others * clone, SPREAD * math.sqrt(others * clone * (1 - clone)) + SPREAD
    least, most = max(0, math.floor(mean - spread)), min(others, math.ceil(mean + spread))
    width = max(1, math.ceil((most - least) / MAX_CELLS))
    counts = np.arange(least, most + 1, width, dtype=np.float64)
    above = binomial_tail(counts, np.full_like(counts, others), clone)
    chances = np.append(above[:-1] - above[1:], above[-1])
    return np.append(0.0, counts), np.append(1.0 - above[0], chances)


def _tests(epsilon: float, local: float, counts: Floats) -> Floats:
    """Return δ_c(ε) for every number of clones."""
    true = 1 / (1 + math.exp(-local))
    factor = math.exp(epsilon)
    gain, price = true - factor * (1 - true), factor * true - (1 - true)
    if gain <= 0:  # ε ≥ ε₀
        return np.zeros_like(counts)
    # a*: the odds a / (c + 1 − a) reach price / gain
    least = np.ceil(price / (gain + price) * (counts + 1))
    deltas: Floats = np.maximum(
        gain * binomial_tail(least - 1, counts, 0.5) - price * binomial_tail(least, counts, 0.5),
        0.0,
    )
    return deltas
