"""The median by propose, test, release: say how far it may move; get it with that little noise, or
nothing.

The analyst proposes a sensitivity s, in the number's unit, before seeing anything. The mechanism
counts how many people would have to change before the median could move by more than s,

    γ(D) = the first k with A_k(D) > s

(A_k of smooth.py, exact; between neighbours γ moves by at most 1)

and tests it with noise. If γ + Z₁ ≥ T it releases the median + Z₂; if not, ⊥, "not stable enough".

    Z₁ of scale 1/ε₁,   Z₂ of scale s/ε₂,   ε₁ = ε₂ = ε/2,   T = ⌈b₁·ln(1/δ)⌉, b₁ the scale of Z₁

Privacy    (ε, δ). If D or a neighbour D′ has A₀ ≤ s, then |f(D) − f(D′)| ≤ s and the pair (test,
           number) costs ε₁ + ε₂. If both have A₀ > s, both have γ = 0: the test's law is the same,
           and it passes with chance p^T/(1 + p) ≤ e^(−T/b₁) ≤ δ, p = e^(−1/b₁). γ is counted to T +
           8·b₁ + 8 at most, a public number.
Cost       (ε, δ); ρ = ε²/2 at that δ. ⊥ is an outcome like any other and costs the same.
Error      when it answers: sd √(Var Z₂), about √2·2s/ε; it answers with chance P(Z₁ ≥ T − γ), at
           least 1 − β when γ ≥ T + b₁·ln(1/β). At ε = 1 and δ = 1e-6: T = 28; 34 people must hold
           the median for 95 %.
By hand    1, 1, 1, 1, 1, 9, 9 of 0 to 10 and s = 4, change-one: A₀ = 0, A₁ = 8, so γ = 1.
Sources    Dwork and Lei 2009; Dwork and Roth 2014, § 7.2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpengine.bounds import ln_above
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.numeric import Bounds
from dpengine.central.smooth import WIDEST, median, sensitivities
from dpengine.checks import require
from dpengine.privacy import Cost, Neighbours

# scales beyond the threshold to which γ is counted: farther, it answers but for a chance of e⁻⁸/2
FAR = 8


@dataclass(frozen=True, slots=True)
class ProposedMedian:
    bounds: Bounds
    neighbours: Neighbours
    proposed: int  # s
    delta: Fraction
    test: DiscreteLaplace  # Z₁
    noise: DiscreteLaplace  # Z₂

    def __post_init__(self) -> None:
        require(
            1 <= self.proposed < self.bounds.width,
            "proposed must be 1 to {}, got {}",
            self.bounds.width - 1,
            self.proposed,
        )
        require(0 < self.delta < 1, "delta must be above 0 and below 1, got {}", self.delta)
        require(
            self.bounds.width <= WIDEST,
            "bounds must be at most 2**53 apart, got {} and {}",
            self.bounds.least,
            self.bounds.most,
        )

    @classmethod
    def for_epsilon_delta(
        cls,
        epsilon: Fraction,
        delta: Fraction,
        bounds: Bounds,
        neighbours: Neighbours,
        proposed: int,
    ) -> "ProposedMedian":
        """Return the mechanism that costs at most (ε, δ), ε in halves for test and number."""
        require(proposed >= 1, "proposed must be 1 or more, got {}", proposed)
        test = DiscreteLaplace.for_epsilon(Fraction(epsilon) / 2, 1)
        noise = DiscreteLaplace.for_epsilon(Fraction(epsilon) / 2, proposed)
        return cls(bounds, neighbours, proposed, Fraction(delta), test, noise)

    @property
    def cost(self) -> Cost:
        return Cost.approximate(self.test.epsilon + self.noise.epsilon, self.delta)

    @property
    def threshold(self) -> int:
        """Return T: rounded up throughout, in 50 digits."""
        return math.ceil(Fraction(self.test.scale) * ln_above(1 / self.delta))

    def distance(self, values: Sequence[int]) -> int:
        """Return γ, counted as far as matters. Secret: for draws, and plans with made-up values."""
        many = self.threshold + math.ceil(FAR * self.test.scale) + FAR
        moves = sensitivities(values, self.bounds, self.neighbours, many)
        return int(np.searchsorted(moves, self.proposed, side="right"))

    def chance_of_answer(self, values: Sequence[int]) -> float:
        """Return how likely it answers at these values. Secret: for planning with made-up ones."""
        return float(self.test.tail(np.array([self.threshold - self.distance(values)]))[0])

    @property
    def standard_error(self) -> float:
        """Return the noise's standard deviation when it answers, in the number's unit."""
        return math.sqrt(self.noise.variance)

    def release(self, values: Sequence[int]) -> int | None:
        """Return the noisy median within the bounds, or None for ⊥. Publish once: both cost."""
        if self.test.release([self.distance(values)])[0] < self.threshold:
            return None
        return self.bounds.clamp(self.noise.release([median(values, self.bounds)])[0])
