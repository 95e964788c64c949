"""The median by propose, test, release: say how far it may move; get it with that little noise, or
nothing.

The analyst proposes a sensitivity s, in the number's unit, before seeing anything. The mechanism
counts how many people would have to change before the median could move by more than s,

    γ(D) = the first k with A_k(D) > s

(A_k of smooth.py, exact; between neighbours γ moves by at most 1)

and tests it with noise. If γ + Z₁ ≥ T it releases the median + Z₂; if not, ⊥, "not stable enough".

    Z₁ of scale 1/ε₁,   Z₂ of scale s/ε₂,   ε₁ = ε₂ = ε/2,   T = ⌈b₁·ln(1/δ)⌉, b₁ the scale of Z₁

Step 0: that the median cannot move at all is tested too. Then there is nothing to hide in it: if
the test passes it is released as it is, and all of ε is for the test: ε₁ = ε, T = ⌈ln(1/δ)/ε⌉ but
for the rounding of b₁ upwards.

Privacy    (ε, δ). If D or a neighbour D′ has A₀ ≤ s, then |f(D) − f(D′)| ≤ s and the pair (test,
           number) costs ε₁ + ε₂. If both have A₀ > s, both have γ = 0: the test's law is the same,
           and it passes with chance p^T/(1 + p) ≤ e^(−T/b₁) ≤ δ, p = e^(−1/b₁). γ is counted to T +
           8·b₁ + 8 at most, a public number.
           s = 0: if D or D′ has A₀ = 0, then f(D) = f(D′): given the test's answer both publish the
           same, and the test costs ε. If both have A₀ > 0, both have γ = 0, and publish ⊥ but for a
           chance of δ at most.
Cost       (ε, δ); ρ = ε²/2 at that δ. ⊥ is an outcome like any other and costs the same.
Error      when it answers: sd √(Var Z₂), about √2·2s/ε; it answers with chance P(Z₁ ≥ T − γ), at
           least 1 − β when γ ≥ T + b₁·ln(1/β). At ε = 1 and δ = 1e-6: T = 28; 34 people must hold
           the median for 95 %. s = 0 has no error when it answers: then T = 14, and 17 changes that
           leave the median where it is are enough for 95 %.
By hand    1, 1, 1, 1, 1, 9, 9 of 0 to 10 and s = 4, change-one: A₀ = 0, A₁ = 8, so γ = 1; s = 0:
           γ = 1 as well.
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
from dpengine.central.smooth import MAX_OUTCOMES, WIDEST, median, sensitivities
from dpengine.checks import require
from dpengine.estimates import Floats
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
    noise: DiscreteLaplace | None  # Z₂; none for s = 0

    def __post_init__(self) -> None:
        require(
            0 <= self.proposed < max(self.bounds.width, 1),
            "proposed must be 0 to {}, got {}",
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
        """Return the mechanism that costs at most (ε, δ), ε in halves for test and number; for 0
        all of it for the test.
        """
        require(proposed >= 0, "proposed must be 0 or more, got {}", proposed)
        if proposed == 0:
            test = DiscreteLaplace.for_epsilon(Fraction(epsilon), 1)
            return cls(bounds, neighbours, proposed, Fraction(delta), test, None)
        test = DiscreteLaplace.for_epsilon(Fraction(epsilon) / 2, 1)
        noise = DiscreteLaplace.for_epsilon(Fraction(epsilon) / 2, proposed)
        return cls(bounds, neighbours, proposed, Fraction(delta), test, noise)

    @property
    def cost(self) -> Cost:
        of_number = self.noise.epsilon if self.noise else 0
        return Cost.approximate(self.test.epsilon + of_number, self.delta)

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
        return math.sqrt(self.noise.variance) if self.noise else 0.0

    def release(self, values: Sequence[int]) -> int | None:
        """Return the noisy median within the bounds, or None for ⊥. Publish once: both cost."""
        if self.test.release([self.distance(values)])[0] < self.threshold:
            return None
        exact = median(values, self.bounds)
        return self.bounds.clamp(self.noise.release([exact])[0] if self.noise else exact)

    def law(self, values: Sequence[int]) -> tuple[float, Floats]:
        """Return the exact chance of ⊥, and of every whole number from `least` to `most`. Secret:
        for tests, and plans with made-up values.
        """
        outcomes, answers = self.bounds.width + 1, self.chance_of_answer(values)
        require(outcomes <= MAX_OUTCOMES, "bounds must hold at most {} numbers", MAX_OUTCOMES)
        at = median(values, self.bounds) - self.bounds.least
        if self.noise is None:
            chances: Floats = np.where(np.arange(outcomes) == at, answers, 0.0)
        else:
            reached = self.noise.tail(np.arange(1, outcomes) - at)
            chances = -answers * np.diff(np.concatenate([[1.0], reached, [0.0]]))
        return 1 - answers, chances
