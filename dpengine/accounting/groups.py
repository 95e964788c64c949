"""What k people face who have something in common: a household, or one person with k records.

ε, δ       (kε, k·e^((k−1)ε)·δ) for k changes of one record each (Dwork and Roth 2014, Thm 2.2, and
           Vadhan 2017, Lemma 2.2 for δ > 0): privacy fades, it does not stop.
Rényi      ρ becomes k²ρ (Bun and Steinke 2016, Prop. 1.9), for δ = 0. A release with a δ of its own
           is (ε, δ)-private and has ρ = ε²/2 (`Cost.approximate`): of k people it loses
           (kε, k·e^((k−1)ε)·δ), which is k²ρ beside that δ. Under a cap of ρ every such ε is at
           most √(2ρ), so that all of them come to k·e^((k−1)√(2ρ))·Σδ; a filter adds both up for
           k people as for one. The δ at which k²ρ is converted does not grow.
Against composition: k releases about one person lose kε as well, but their δ only adds up to kδ.
By hand    ε = 0.5, δ = 10⁻⁶, k = 3: ε 1.5, δ 3·e·10⁻⁶ = 8.155·10⁻⁶. ρ = 0.125, so ε = 0.5 at most:
           the same; a cap of ρ = 0.02, δ = 10⁻⁶, k = 5: ρ 0.5, δ 5·e^0.8·10⁻⁶ = 1.113·10⁻⁵.
"""

from decimal import Decimal
from fractions import Fraction

from dpengine.bounds import exp_above, sqrt_above
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


def group_delta_of_mechanisms(rho: Fraction, delta: Fraction, size: int) -> Decimal:
    """Return the δ of a group from the δ that releases have of their own, all within ρ."""
    return group_delta(sqrt_above(2 * rho), delta, size) if delta else Decimal(0)
