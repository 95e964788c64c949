"""A reusable holdout: does a number that was found elsewhere stand in the real data? (Thresholdout)

The analyst states shares, one after the other, each chosen after seeing all answers before. For a
stated share v of n people of whom c have the property, and a tolerance T (a share), the whole
number

    Q = ⌊|c − v·n| − T·n⌋          moves by at most Δ: 1 under change-one (n public), 2 under
                                   add-remove

is compared:  Q + Y < Z: "it stands, within T".  Else the noisy count c + X is given, and one of B
numbers is used up. All noise is discrete Laplace:

    Z once, of scale Δ/ε₁;   Y fresh, of scale 2BΔ/ε₂;   X fresh, of scale B/ε₃

Privacy    pure ε = ε₁ + ε₂ + ε₃ (+ ε₀) for all answers together, for ever: any number of "it
           stands" and at most B numbers. Comparisons: pair Z with Z + Δ, then each of the B that
           were over needs 2Δ of its own Y, and those that stood need none (Lyu, Su and Li 2017,
           Alg. 1). Numbers: B counts by basic composition.
Cost       ε, charged when it starts; ρ = ε²/2. Add-remove: ε₀ = ε/10 first, for the noisy n by
           which counts become shares. ε₃ = a third of the rest; ε₁ : ε₂ = 1 : ⌈(2B)^⅔⌉ of the
           others (their § 4.2).
Error      with chance 1 − β each of k comparisons is right for stated shares that are (z + y)/n
           more or less off than T: P(|Z| > z) ≤ β/2, P(|Y| > y) ≤ β/(2k). A number: sd √(Var X)/n.
By hand    B = 1, ε = 3, change-one: ε₃ = 1, ε₁ : ε₂ = 1 : 2, scales of Z 3/2, of Y 3/2, of X 1.
Secret     the state: Z and what is left. Whole numbers as decimal strings, so that any JSON keeps
           them.
Sources    Dwork, Feldman, Hardt, Pitassi, Reingold and Roth 2015 (the reusable holdout); Dwork and
           Roth 2014, § 3.6.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpengine.central.laplace import DiscreteLaplace
from dpengine.checks import require
from dpengine.privacy import Cost, Neighbours

MAX_NUMBERS = 1000


@dataclass(frozen=True, slots=True)
class State:
    """What is remembered from one question to the next. Never shown."""

    noise: int  # Z
    left: int  # numbers that may still be given
    asked: int = 0
    people: int | None = None  # the noisy n, where n is not public

    def document(self) -> dict[str, object]:
        people = {} if self.people is None else {"people": str(self.people)}
        return {
            "asked": self.asked,
            "left": self.left,
            "noise": str(self.noise),
            "over": self.left == 0,
            **people,
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "State":
        people = int(document["people"]) if "people" in document else None
        return cls(int(document["noise"]), int(document["left"]), int(document["asked"]), people)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question learns: that it stands, or a noisy count."""

    stands: bool
    count: int | None  # noisy, people


@dataclass(frozen=True, slots=True)
class Holdout:
    tolerance: Fraction  # T, a share
    numbers: int  # B
    of_threshold: DiscreteLaplace  # Z
    of_comparison: DiscreteLaplace  # Y
    of_number: DiscreteLaplace  # X
    of_people: DiscreteLaplace | None  # of n, where it is not public

    def __post_init__(self) -> None:
        require(
            0 < self.tolerance < 1, "tolerance must be above 0 and below 1, got {}", self.tolerance
        )
        require(
            1 <= self.numbers <= MAX_NUMBERS,
            "numbers must be 1 to {}, got {}",
            MAX_NUMBERS,
            self.numbers,
        )

    @classmethod
    def for_epsilon(
        cls, epsilon: Fraction, tolerance: Fraction, numbers: int, neighbours: Neighbours
    ) -> "Holdout":
        """Return the holdout that costs at most ε for all its answers."""
        require(
            1 <= numbers <= MAX_NUMBERS, "numbers must be 1 to {}, got {}", MAX_NUMBERS, numbers
        )
        is_public = neighbours is Neighbours.CHANGE_ONE
        moved = 1 if is_public else 2
        rest = Fraction(epsilon) * (1 if is_public else Fraction(9, 10))
        ratio = math.ceil((2 * numbers) ** (2 / 3))
        return cls(
            tolerance=Fraction(tolerance),
            numbers=numbers,
            of_threshold=DiscreteLaplace.for_epsilon(rest * Fraction(2, 3) / (1 + ratio), moved),
            of_comparison=DiscreteLaplace.for_epsilon(
                rest * Fraction(2, 3) * ratio / (1 + ratio), 2 * numbers * moved
            ),
            of_number=DiscreteLaplace.for_epsilon(rest / 3, numbers),
            of_people=None if is_public else DiscreteLaplace.for_epsilon(Fraction(epsilon) / 10, 1),
        )

    @property
    def cost(self) -> Cost:
        parts = (self.of_threshold, self.of_comparison, self.of_number, self.of_people)
        return Cost.pure_exactly(sum((part.epsilon for part in parts if part), Fraction(0)))

    def start(self, n: int) -> State:
        """Draw what is drawn once."""
        people = max(self.of_people.release([n])[0], 1) if self.of_people else None
        return State(self.of_threshold.release([0])[0], self.numbers, people=people)

    def ask(self, state: State, stated: Fraction, count: int, n: int) -> tuple[State, Answer]:
        """Return the new state and the answer for `count` of n people, where a share was stated."""
        require(
            state.left != 0,
            "all {} numbers have been given: nothing more can be asked",
            self.numbers,
        )
        require(0 <= stated <= 1, "stated must be a share from 0 to 1, got {}", stated)
        asked = replace(state, asked=state.asked + 1)
        off = math.floor(abs(count - stated * n) - self.tolerance * n)
        if self.of_comparison.release([off])[0] < state.noise:
            return asked, Answer(stands=True, count=None)
        return replace(asked, left=state.left - 1), Answer(
            stands=False, count=self.of_number.release([count])[0]
        )

    def doubtful(self, questions: int, error: float) -> float:
        """Return z + y, in people: farther from T, answers are right but for a chance `error`."""
        beyond_threshold = -self.of_threshold.scale * math.log(error / 2)
        return beyond_threshold - self.of_comparison.scale * math.log(error / (2 * questions))

    @property
    def standard_error(self) -> float:
        """Return the noise of a number, in people."""
        return math.sqrt(self.of_number.variance)
