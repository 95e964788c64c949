"""Zero-concentrated privacy: ρ adds up, and becomes (ε, δ) at any δ one likes.

ρ-zCDP     every Rényi divergence of order α is at most ρα (Bun and Steinke 2016, Def. 1.1).
           A discrete or continuous Gaussian with scale σ has ρ = Δ²/(2σ²); pure ε has ρ ≤ ε²/2.
Sum        Σρ and Σδ of δ-approximate ρ-zCDP, also for mechanisms chosen on the way (`filters`).
To (ε, δ)  for every order α > 1
               ε = ρα + ln(1 − 1/α) − ln(αδ)/(α − 1)
           (Canonne, Kamath and Steinke 2020, Prop. 12, with the Rényi divergence at its bound).
           Every α gives a true bound: the best is sought with floats and evaluated with outward
           rounding. The δ of an approximate charge comes on top.
To ρ       the largest ρ whose ε at δ is at most the one asked for, by bisection; rounded down.

By hand    at δ = 10⁻⁶, ε = 1 → ρ 0.0244, 2 → 0.0882, 3 → 0.185, 4 → 0.311, 8 → 1.052. The older ρ +
           2√(ρ·ln(1/δ)) (Bun and Steinke 2016, Prop. 1.3) gives ε = 1.186 for ρ = 0.0244.
"""

import math
from decimal import Decimal
from fractions import Fraction

import scipy

from dpengine.bounds import check_delta, ln_above, ln_below
from dpengine.checks import require
from dpengine.privacy import round_down, round_up

FINEST = 10**9  # ρ is found to a billionth


def epsilon_of(rho: Fraction, delta: Fraction) -> Decimal:
    """Return an ε, almost the least, such that ρ-zCDP is (ε, δ)-private."""
    require(rho > 0, "rho must be above 0, got {}", rho)
    check_delta(delta)
    order = _best_order(rho, delta)
    return round_up(max(Fraction(0), converted(rho * order, order, delta)))


def rho_of(epsilon: Fraction, delta: Fraction) -> Decimal:
    """Return a ρ, almost the largest, such that ρ-zCDP is (ε, δ)-private."""
    require(epsilon > 0, "epsilon must be above 0, got {}", epsilon)
    check_delta(delta)
    low, high = 0, FINEST
    while epsilon_of(Fraction(high, FINEST), delta) <= epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if epsilon_of(Fraction(middle, FINEST), delta) <= epsilon:
            low = middle
        else:
            high = middle
    return round_down(Fraction(low, FINEST))


def converted(divergence: Fraction, order: Fraction, delta: Fraction) -> Fraction:
    """Return ε at δ, from above, of a Rényi divergence of an order above 1."""
    require(order > 1, "order must be above 1, got {}", order)
    return divergence + ln_above(1 - 1 / order) - ln_below(order * delta) / (order - 1)


def _best_order(rho: Fraction, delta: Fraction) -> Fraction:
    """Return about the α of the least ε: any above 1 is sound, so floats may look for it."""
    log_delta = float(ln_above(delta))

    def epsilon(log: float) -> float:
        more = math.exp(log)  # α − 1
        return (
            float(rho) * (1 + more) - math.log1p(1 / more) - (math.log1p(more) + log_delta) / more
        )

    near = math.log(max(math.sqrt(-log_delta / float(rho)), 1e-3))
    best = scipy.optimize.minimize_scalar(
        epsilon, bounds=(near - 5, near + 3), method="bounded", options={"xatol": 1e-9}
    )
    return 1 + Fraction(math.exp(float(best.x)))
