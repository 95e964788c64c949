"""The chance that a study's publications add to its counts, as its Plan states them: one part for every question.

The twin of what `releases` draws with, for plans and rehearsals: nothing here is charged, stored or published. That
both choose the same law for the same question is held by a test.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dpengine.central import counts
from dpengine.central.counter import ContinualCounter
from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import Noise
from surveys.aggregation.tallies import PublicTally

USUAL_REFRESHES = 52  # of a series that goes on for longer, its law is that of this refresh


class Law(Protocol):
    """The noise of one question's counts: its law, and a draw of it on made-up counts."""

    @property
    def noise(self) -> Noise: ...

    def draw(self, vector: list[int]) -> list[int]:
        """Return made-up counts with noise. Never for real ones: those are drawn once, in `releases`, and paid for."""
        ...


@dataclass(frozen=True, slots=True)
class Once:
    """A publication with noise of its own."""

    noise: counts.Mechanism

    def draw(self, vector: list[int]) -> list[int]:
        return self.noise.release(vector)


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The last of the refreshes that were all paid for on the first day, or the 52nd of more."""

    counter: ContinualCounter

    @property
    def steps(self) -> int:
        return min(self.counter.horizon, USUAL_REFRESHES)

    @property
    def noise(self) -> Noise:
        return self.counter.noise(self.steps)

    def draw(self, vector: list[int]) -> list[int]:
        state, published = self.counter.start(), vector
        for _ in range(self.steps):
            state, published = self.counter.step(state, vector)
        return published


def law_of(tally: PublicTally, parts: int, publication: Mapping[str, Any]) -> Law:
    """Return the law of one of so many questions that share what one publication of a Plan costs."""
    if publication["rule"] == "continual":
        return Refreshed(_counter(tally, Fraction(publication["rho"]) / parts, publication["horizon"]))
    if "rho" in publication:
        return Once(counts.lesser(tally.sensitivity, tally.sensitivity_squared, Fraction(publication["rho"]) / parts))
    return Once(DiscreteLaplace.for_epsilon(Fraction(publication["epsilon"]) / parts, tally.sensitivity))


def pure(epsilon: str) -> dict[str, Any]:
    """Return the terms of a publication that costs a pure ε, and is made once."""
    return {"epsilon": epsilon, "rule": "when-closed"}


def _counter(tally: PublicTally, rho: Fraction, horizon: int) -> ContinualCounter:
    are_differences = tally.published < tally.cells and not tally.is_one_count
    moves = tally.sensitivity_squared
    return ContinualCounter.for_rho(rho, horizon=horizon, counts=tally.published, moves=moves, signed=are_differences)
