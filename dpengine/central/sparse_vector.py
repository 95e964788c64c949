"""AboveThreshold: ask the same kind of question again and again, and be told once, when the answer
is over a threshold.

The threshold gets noise Z once, each query noise of its own, both discrete Laplace; the first query
with

    q + Yᵢ ≥ threshold + Z,   Z of scale Δ/ε₁,   Y of scale Δ/ε₂  (monotonic)  or 2Δ/ε₂

is reported as over, and that ends it. Any number of "not yet" before are in the price. Whole
numbers throughout: queries that move by at most Δ, `sensitivity`; a threshold may differ from query
to query, if it is public.

Privacy    pure ε = ε₁ + ε₂ for all answers together, for the neighbours that Δ was stated for.
           Monotonic: whichever neighbour is meant, it moves all queries the same way, or not at
           all; so do counts of one answer in data that grows, under change-one and under
           add-remove. Then half the query noise is enough. Proof: where the neighbour's queries are
           higher, pair Z with Z + Δ (e^ε₁): "not yet" stays so, and the last Y needs at most Δ more
           (e^ε₂; or 2Δ when it may be lower). Where they are lower, Z stays.
Cost       ε, charged when it starts: ρ = ε²/2. Here ε₁ = ε₂ = ε/2, as in Alg. 1.
Error      with chance 1 − β all k answers are right for queries more than a from the threshold,
               a = min z + y:  P(|Z| > z) ≤ β/2,  P(|Y| > y) ≤ β/(2k)
           (from the exact tails; Thm 3.24 says 8·Δ(ln k + ln(2/β))/ε, always more).
By hand    Monotonic, Δ = 1, ε = 1: both scales 2. One query at the threshold: over with chance
           P(Y ≥ Z) = (1 + P(Y = Z))/2 = (1 + 0.1298)/2 = 0.565.
Secret     the state: Z and how many were asked. Python's integers as decimal strings, so that any
           JSON keeps them.
Sources    Dwork and Roth 2014, Alg. 1, Thm 3.23, 3.24; Lyu, Su and Li 2017 (what is not private;
           monotonic queries).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpengine.central.counts import largest_error
from dpengine.central.laplace import DiscreteLaplace
from dpengine.checks import require
from dpengine.privacy import Cost


@dataclass(frozen=True, slots=True)
class State:
    """What is remembered from one query to the next. Never shown."""

    noise: int  # Z
    asked: int = 0
    over: bool = False

    def document(self) -> dict[str, object]:
        return {"asked": self.asked, "noise": str(self.noise), "over": self.over}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "State":
        return cls(
            noise=int(document["noise"]), asked=int(document["asked"]), over=bool(document["over"])
        )


@dataclass(frozen=True, slots=True)
class AboveThreshold:
    of_threshold: DiscreteLaplace  # its sensitivity is Δ, its ε is ε₁
    of_query: DiscreteLaplace  # its sensitivity is Δ or 2Δ, its ε is ε₂

    @classmethod
    def for_epsilon(
        cls, epsilon: Fraction, *, sensitivity: int, monotonic: bool
    ) -> "AboveThreshold":
        """Return the one that costs at most ε for all its answers together.

        Both must be said: taken for monotonic, queries that are not would lose 1.5·ε.
        """
        reach = sensitivity if monotonic else 2 * sensitivity
        return cls(
            of_threshold=DiscreteLaplace.for_epsilon(epsilon / 2, sensitivity),
            of_query=DiscreteLaplace.for_epsilon(epsilon / 2, reach),
        )

    @property
    def epsilon(self) -> Fraction:
        return self.of_threshold.epsilon + self.of_query.epsilon

    @property
    def cost(self) -> Cost:
        return Cost.pure_exactly(self.epsilon)

    def start(self) -> State:
        """Draw the threshold's noise: once, before any query."""
        return State(noise=self.of_threshold.release([0])[0])

    def step(self, state: State, query: int, threshold: int) -> State:
        """Answer one more query: the state after it, whose `over` is the answer."""
        require(not state.over, "it has said over, and that was the last answer: start another")
        noisy = self.of_query.release([query])[0]
        return replace(state, asked=state.asked + 1, over=noisy >= threshold + state.noise)

    def accuracy(self, queries: int, chance: float = 0.05) -> int:
        """Return how far from the threshold all so many answers are right, but for this chance."""
        confidence = 1 - chance / 2
        return largest_error(self.of_threshold, 1, confidence) + largest_error(
            self.of_query, queries, confidence
        )
