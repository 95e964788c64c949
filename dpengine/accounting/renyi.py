"""Rényi accounting: add divergences order by order, convert once.

(α, τ)-RDP  D_α(M(x) ‖ M(x′)) ≤ τ for all neighbours (Mironov 2017, Def. 4). Composed: Στ at each
            order, for mechanisms fixed before the first; converted by `concentrated.converted` at
            the best order.
Curves, of a mechanism with this ε or ρ, at an order α > 1
    pure      ln(p^α·q^(1−α) + q^α·p^(1−α))/(α − 1) with p = e^ε/(1 + e^ε), q = 1 − p: randomised
              response, which is the worst of all ε-DP mechanisms (Kairouz et al. 2015); at most
              ε²α/2, and at most ε. Discrete Laplace noise on a number with sensitivity 1 loses just
              that.
    Gaussian  ρα with ρ = Δ²/(2σ²) (his Prop. 7; discrete too: Canonne, Kamath and Steinke 2020, Thm
              4)

A cost with a finite ε is entered as pure, with its ρα where that is less; one without as ρα. The
best order is looked up with doubles and its bound computed with outward rounding: a bound holds at
any order.
By hand    pure, ε = ln 3, α = 2: ln((3/4)²·4 + (1/4)²·4/3) = ln(7/3) = 0.8473; Gaussian with the
           same Δ²/(2σ²) = ε²/2:
           1.2069.
"""

import math
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from dpengine.accounting.concentrated import converted
from dpengine.bounds import check_delta, exp_above, exp_below, ln_above
from dpengine.checks import require
from dpengine.privacy import Cost, round_up

SMALL_ORDERS = (
    "1.05",
    "1.1",
    "1.2",
    "1.35",
    "1.5",
    "1.7",
    "2",
    "2.3",
    "2.6",
    "3",
    "3.4",
    "4",
    "4.6",
    "5.3",
)
# to 2,000
ORDERS = (
    *map(Fraction, SMALL_ORDERS),
    *(Fraction(round(60 * 1.05**step), 10) for step in range(120)),
)


def randomised_response(epsilon: Fraction, order: Fraction) -> Fraction:
    """Return D_α of the worst ε-DP mechanism, from above."""
    require(epsilon > 0, "epsilon must be above 0, got {}", epsilon)
    both = exp_above((order - 1) * epsilon) + exp_above(-order * epsilon)
    return ln_above(both / (1 + exp_below(-epsilon))) / (order - 1)


def divergence(cost: Cost, order: Fraction) -> Fraction:
    """Return a bound on D_α of a release, outside the δ of its cost."""
    require(order > 1, "order must be above 1, got {}", order)
    if cost.epsilon is None:
        return cost.rho * order
    return min(randomised_response(cost.epsilon, order), cost.rho * order)


def epsilon_of(costs: Iterable[Cost], delta: Fraction) -> Decimal:
    """Return ε of all releases at the best order, at δ besides the sum of theirs.

    Order ∞ is one of them: there ε is what the releases' own ε add up to, at any δ.
    """
    check_delta(delta)
    counted = Counter(costs)
    require(counted, "costs must hold one or more, got none")
    log_delta = float(ln_above(delta))
    best = min(ORDERS, key=lambda order: _roughly(float(order), counted, log_delta))
    total = sum((n * divergence(cost, best) for cost, n in counted.items()), Fraction(0))
    found = [round_up(converted(total, best, delta))]
    if all(cost.epsilon is not None for cost in counted):
        known = (n * Fraction(cost.epsilon or 0) for cost, n in counted.items())
        found.append(round_up(sum(known, Fraction(0))))
    return max(Decimal(0), min(found))


def _roughly(order: float, counted: Counter[Cost], log_delta: float) -> float:
    """Return ε at this order, in doubles."""
    more = order - 1
    total = sum(n * _rough_divergence(cost, order) for cost, n in counted.items())
    return total + math.log1p(-1 / order) - (math.log(order) + log_delta) / more


def _rough_divergence(cost: Cost, order: float) -> float:
    linear = float(cost.rho) * order
    if cost.epsilon is None:
        return linear
    epsilon = float(cost.epsilon)
    coin = epsilon + (
        math.log1p(math.exp(-(2 * order - 1) * epsilon)) - math.log1p(math.exp(-epsilon))
    ) / (order - 1)
    return min(coin, linear)
