"""How much Gaussian noise (ε, δ) takes: three answers, of which the first is used.

    exact      the least σ whose discrete Gaussian has δ(ε) ≤ δ, by summation (gaussian.py). Used.
    analytic   the same for continuous noise (Balle and Wang 2018, Thm 8): Φ(Δ/2σ − εσ/Δ) − e^ε·Φ(−Δ/2σ − εσ/Δ) ≤ δ
    classical  σ = Δ·√(2 ln(1.25/δ))/ε (Dwork and Roth 2014, Thm A.1). Proved for ε < 1 only, so refused from 1 on.
    by ρ       the σ whose ρ = Δ²/2σ² converts to (ε, δ) by ε = ρ + 2√(ρ ln(1/δ)) (Bun and Steinke 2016, Prop. 1.3)

Which holds    exact and classical, for the neighbour relation that Δ² was stated for. The analytic σ is within 1 %
               of the exact one from a few counts on, but proves nothing for whole numbers: it is here to compare.
Rounding       σ is a binary float; it is raised until the summed δ(ε) is not above δ (less 1e-9 of it, for rounding).
By hand        ε = 0.5, δ = 1e-6, Δ = 1: classical 10.598, by ρ 10.607, analytic 8.058; the exact one is 8.052.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from dpengine.central.gaussian import SMALLEST_SCALE, DiscreteGaussian, delta_of_continuous
from dpengine.central.laplace import LARGEST_SCALE

FINE = 1e-7  # of σ: how close to the least
SAFE = 1 - 1e-9  # of δ: more than the sums can be off


def for_epsilon_delta(
    epsilon: Fraction, delta: Fraction, sensitivity_squared: int, alone: bool = False
) -> DiscreteGaussian:
    """Return the discrete Gaussian of least noise that is (ε, δ)-private."""
    _check(epsilon, delta)
    wanted = float(delta) * SAFE

    def spends(scale: float) -> float:
        return DiscreteGaussian(scale, sensitivity_squared).delta(float(epsilon), alone)

    return DiscreteGaussian(_least(spends, wanted, math.sqrt(sensitivity_squared)), sensitivity_squared)


def analytic(epsilon: Fraction, delta: Fraction, sensitivity_squared: int) -> float:
    """Return σ of continuous noise."""
    _check(epsilon, delta)
    size = math.sqrt(sensitivity_squared)
    return _least(lambda scale: delta_of_continuous(scale / size, float(epsilon)), float(delta), size)


def classical(epsilon: Fraction, delta: Fraction, sensitivity_squared: int) -> float:
    """Return σ of Thm A.1."""
    _check(epsilon, delta)
    if epsilon >= 1:
        raise ValueError(f"epsilon must be below 1 for the classical calibration, got {epsilon}")
    return math.sqrt(2 * math.log(1.25 / float(delta)) * sensitivity_squared) / float(epsilon)


def by_rho(epsilon: Fraction, delta: Fraction, sensitivity_squared: int) -> float:
    """Return σ from concentrated privacy: √ρ = √(ln(1/δ) + ε) − √ln(1/δ)."""
    _check(epsilon, delta)
    known = -math.log(delta)
    root = math.sqrt(known + float(epsilon)) - math.sqrt(known)
    return math.sqrt(sensitivity_squared / 2) / root


def _check(epsilon: Fraction, delta: Fraction) -> None:
    if epsilon <= 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon}")
    if not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, got {delta}")


def _least(spends: Callable[[float], float], wanted: float, start: float) -> float:
    """Return σ within FINE of the least that spends at most `wanted`, and does so itself."""
    high = max(start, SMALLEST_SCALE)
    while spends(high) > wanted:
        high *= 2
        if high > LARGEST_SCALE:
            raise ValueError("epsilon and delta are so small that noise would be more than 2**50")
    low = high / 2
    while low >= SMALLEST_SCALE and spends(low) <= wanted:
        low, high = low / 2, low
    low = max(low, SMALLEST_SCALE)
    while high - low > FINE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if spends(middle) <= wanted else (middle, high)
    return high
