"""What an ε means to a person: what a guess becomes at most, about one answer, all of them, a household's."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpengine.accounting.beliefs import posterior
from dpengine.privacy import epsilon_above, loss_of_all
from surveys.design.queries import at_most_of_hundred

GUESSES = (10, 50, 90)  # of 100: how sure somebody was before
HOUSEHOLD = 3  # people who answer alike
RISKY = Fraction(9)  # odds of 90 : 10


@dataclass(frozen=True, slots=True)
class Risk:
    """A loss, and what guesses become at most."""

    epsilon: Decimal
    becomes: tuple[str, ...]  # of 100, for each of GUESSES
    is_risky: bool

    @classmethod
    def of(cls, loss: Fraction) -> "Risk":
        becomes = tuple(at_most_of_hundred(posterior(Fraction(guess, 100), loss).most) for guess in GUESSES)
        return cls(epsilon_above(loss), becomes, loss > RISKY)


@dataclass(frozen=True, slots=True)
class Risks:
    answer: Risk
    person: Risk
    household: Risk

    @classmethod
    def of(cls, loss: Fraction, all_losses: Sequence[Fraction]) -> "Risks":
        """Return the risks of one answer, of a person who gives all of them, and of a household of such people."""
        person = loss_of_all(all_losses)
        return cls(Risk.of(loss), Risk.of(person), Risk.of(person**HOUSEHOLD))
