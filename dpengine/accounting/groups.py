"""What k people face who have something in common: a household, or one person with k records.

ε, δ       (kε, k·e^((k−1)ε)·δ) for k changes of one record each (Dwork and Roth 2014, Thm 2.2, and
           Vadhan 2017, Lemma 2.2 for δ > 0): privacy fades, it does not stop.
Rényi      ρ becomes k²ρ (Bun and Steinke 2016, Prop. 1.9), for δ = 0.
Against composition: k releases about one person lose kε as well, but their δ only adds up to kδ.
By hand    ε = 0.5, δ = 10⁻⁶, k = 3: ε 1.5, δ 3·e·10⁻⁶ = 8.155·10⁻⁶.
"""

from decimal import Decimal
from fractions import Fraction

from dpengine.bounds import exp_above
from dpengine.checks import require
from dpengine.privacy import round_up

LARGEST_SHOWN = 5  # people in a household


def group_epsilon(epsilon: Fraction, size: int) -> Fraction:
    require(size >= 1, "size must be 1 or more, got {}", size)
    return size * epsilon


def group_delta(epsilon: Fraction, delta: Fraction, size: int) -> Decimal:
    """Return the δ of a group, rounded up at 18 decimals; 1 where it promises nothing."""
    require(size >= 1, "size must be 1 or more, got {}", size)
    factor = size * exp_above((size - 1) * epsilon) if size > 1 else Fraction(1)
    return min(Decimal(1), round_up(factor * delta, 18))


def group_rho(rho: Fraction, size: int) -> Fraction:
    require(size >= 1, "size must be 1 or more, got {}", size)
    return size**2 * rho
