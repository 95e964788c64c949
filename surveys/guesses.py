"""What a loss means to somebody who guesses: the one place where an ε becomes a chance of 100.

One answer   Odds of one answer against another grow by at most e^ε, whatever was known before: a
             guess that was right π of the time is right πe^ε/(πe^ε + 1 − π) of it at most
             (`dpengine.accounting.beliefs.posterior`).
(ε, δ)       A guess between two answers, even before, is right (e^ε + δ)/(e^ε + 1) of the time at
             most (`dpengine.accounting.beliefs.guess_within`).
Rounding     What is “at most” is rounded up, to a whole of 100; people of 100 to the nearest whole.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from dpengine.accounting.beliefs import guess_within, posterior
from dpengine.privacy import plain

BEFORE = (10, 50, 90)  # of 100: how sure somebody was
FAIR, CLOSE = Fraction(3), Fraction(9)  # losses: 75 : 25, and 90 : 10
LIKELY = Fraction(19)  # beyond this loss a guess is right more than 95 times of 100
USUAL_HOUSEHOLD = 3  # people who answer alike


@dataclass(frozen=True, slots=True)
class Guess:
    """How sure somebody was of one answer, in 100, and can become at most at a loss."""

    before: int
    loss: Fraction

    @property
    def chance(self) -> Fraction:
        return posterior(Fraction(self.before, 100), self.loss).most

    @property
    def after(self) -> str:
        return at_most_of_hundred(self.chance)

    @property
    def x(self) -> str:
        """Return where it stands in a picture, in percent."""
        return f"{float(100 * self.chance):.1f}%"

    @property
    def is_risky(self) -> bool:
        return is_risky(self.loss)


def guesses(loss: Fraction) -> list[Guess]:
    """Return what becomes of guesses that were hardly, half and fairly sure."""
    return [Guess(before, loss) for before in BEFORE]


def even_guess(loss: Fraction) -> str:
    """Return how often of 100 a guess between two answers, even before, is right at most."""
    return Guess(50, loss).after


def even_guess_within(epsilon: Decimal, delta: Fraction = Fraction(0)) -> str:
    """Return the same of all that (ε, δ) lets out."""
    return at_most_of_hundred(guess_within(epsilon, delta))


def is_risky(loss: Fraction) -> bool:
    """Tell whether an even guess can become right more than 90 times of 100."""
    return loss > CLOSE


def of_hundred(share: Fraction) -> int:
    """Return a share as people of 100; 0 and 100 only where it is exactly that. Twin of odds.js."""
    rounded = floor(share * 100 + Fraction(1, 2))
    return min(99, max(1, rounded)) if 0 < share < 1 else rounded


def at_most_of_hundred(share: Fraction) -> str:
    """Return a bound in people of 100, rounded up to a whole one, so that it stays true.

    What would become 100, which bounds nothing, is said to the tenth, hundredth or thousandth, the
    first that keeps it below. Twin of `atMost` in odds.js; tests/vectors/bounds.json holds both.
    """
    bounds = (Decimal(ceil(share * 100 * parts)) / parts for parts in (1, 10, 100, 1000))
    return next((f"{plain(bound)}" for bound in bounds if bound < 100), "100")
