"""The median by propose, test, release: say how far it may move; get it with that little noise, or nothing.

The analyst proposes a sensitivity s, in the number's unit, before seeing anything. The mechanism counts how many people
would have to change before the median could move by more than s,

    γ(D) = the first k with A_k(D) > s          (A_k of smooth.py, exact; γ moves by at most 1 between neighbours)

and tests it with noise. If γ + Z₁ ≥ T it releases the median + Z₂; if not, ⊥, "not stable enough".

    Z₁ of scale 1/ε₁,   Z₂ of scale s/ε₂,   ε₁ = ε₂ = ε/2,   T = ⌈b₁·ln(1/δ)⌉, b₁ the scale of Z₁

Privacy    (ε, δ). If D or a neighbour D′ has A₀ ≤ s, then |f(D) − f(D′)| ≤ s and the pair (test, number) costs ε₁ + ε₂.
           If both have A₀ > s, both have γ = 0: the test's law is the same, and it passes with chance
           p^T/(1 + p) ≤ e^(−T/b₁) ≤ δ, p = e^(−1/b₁). γ is counted to T + 8·b₁ + 8 at most, a public number.
Cost       (ε, δ); ρ = ε²/2 at that δ. ⊥ is an outcome like any other and costs the same.
Error      when it answers: sd √(Var Z₂), about √2·2s/ε; it answers with chance P(Z₁ ≥ T − γ), at least 1 − β when
           γ ≥ T + b₁·ln(1/β). At ε = 1 and δ = 1e-6: T = 28; 34 people must hold the median for 95 %.
By hand    1, 1, 1, 1, 1, 9, 9 of 0 to 10 and s = 4, change-one: A₀ = 0, A₁ = 8, so γ = 1.
Sources    Dwork and Lei 2009; Dwork and Roth 2014, § 7.2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

import numpy as np

from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.numeric import Bounds
from dpengine.central.smooth import WIDEST, median, sensitivities
from dpengine.privacy import DIGITS, Cost, Neighbours

FAR = 8  # scales beyond the threshold to which γ is counted: farther, it answers but for a chance of e⁻⁸/2


@dataclass(frozen=True, slots=True)
class ProposedMedian:
    bounds: Bounds
    neighbours: Neighbours
    proposed: int  # s
    delta: Fraction
    test: DiscreteLaplace  # Z₁
    noise: DiscreteLaplace  # Z₂

    def __post_init__(self) -> None:
        if not 1 <= self.proposed < self.bounds.width:
            raise ValueError(f"proposed must be 1 to {self.bounds.width - 1}, got {self.proposed}")
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must be above 0 and below 1, got {self.delta}")
        if self.bounds.width > WIDEST:
            raise ValueError(f"bounds must be at most 2**53 apart, got {self.bounds.least} and {self.bounds.most}")

    @classmethod
    def for_epsilon_delta(
        cls, epsilon: Fraction, delta: Fraction, bounds: Bounds, neighbours: Neighbours, proposed: int
    ) -> "ProposedMedian":
        """Return the mechanism that costs at most (ε, δ), ε in halves for test and number."""
        if proposed < 1:
            raise ValueError(f"proposed must be 1 or more, got {proposed}")
        test = DiscreteLaplace.for_epsilon(Fraction(epsilon) / 2, 1)
        noise = DiscreteLaplace.for_epsilon(Fraction(epsilon) / 2, proposed)
        return cls(bounds, neighbours, proposed, Fraction(delta), test, noise)

    @property
    def cost(self) -> Cost:
        return Cost.approximate(self.test.epsilon + self.noise.epsilon, self.delta)

    @property
    def threshold(self) -> int:
        """Return T: rounded up throughout, in 50 digits."""
        up = Context(prec=DIGITS, rounding=ROUND_CEILING)
        inverse = up.divide(Decimal(self.delta.denominator), Decimal(self.delta.numerator))
        exact = Fraction(self.test.scale) * Fraction(up.next_plus(up.ln(inverse)))
        return math.ceil(exact)

    def distance(self, values: Sequence[int]) -> int:
        """Return γ, counted as far as matters. Secret: for the draw, and for planning with made-up values."""
        many = self.threshold + math.ceil(FAR * self.test.scale) + FAR
        found = sensitivities(values, self.bounds, self.neighbours, many)
        return int(np.searchsorted(found, self.proposed, side="right"))

    def chance_of_answer(self, values: Sequence[int]) -> float:
        """Return how likely it answers at these values. Secret: for planning with made-up ones."""
        return float(self.test.tail(np.array([self.threshold - self.distance(values)]))[0])

    @property
    def standard_error(self) -> float:
        """Return the noise's standard deviation when it answers, in the number's unit."""
        return math.sqrt(self.noise.variance)

    def release(self, values: Sequence[int]) -> int | None:
        """Return the noisy median within the bounds, or None for ⊥. Publish once: both are charged."""
        if self.test.release([self.distance(values)])[0] < self.threshold:
            return None
        return self.bounds.clamp(self.noise.release([median(values, self.bounds)])[0])
