"""What a loss means to a person: what can be believed of them, and what can happen to them.

Odds       My own report multiplies the odds of one answer against another by at most e^ε and at least e^−ε, whatever
           was known before; so does a release, for an onlooker who knows all other answers (Bayes; Dwork and Roth
           2014, § 2.3). Hence a prior π becomes at most πe^ε/(πe^ε + 1 − π) and at least π/(π + (1 − π)e^ε).
With or without me: who does not know the other answers may learn of me from them. The likelihood of an outcome given
           my answer is within e^±ε of what it would be had my answer been left out, for each answer; hence the
           odds are within e^±2ε of what they would have been. It is reached: one outcome has the chances e^ε·p after
           (yes, yes), e^−ε·p after (no, no), and p after all other answers of two who answer alike. Background 001,
           § 1 says e^±ε: true where my answer is independent of the others. It says nothing of
           what is believed of everyone: that smoking causes cancer is learned with or without me.
Utility    For any preferences u ≥ 0 over what may happen, E u with me is within e^±ε of E u without me, and no closer
           promise needs to know u (background 000; Dwork and Roth 2014, § 2.3).
At risk    With δ > 0 the bounds may fail. A mechanism may, and one does, publish each record with chance δ:
           then δ·n of n people are laid bare on average. Advice: δ ≤ 1/(100n), one person in a hundred such studies; a
           δ of 1/n or more is refused, since one person could be published outright.
By hand    loss 3 (the coin of the book), prior 1/2: ¾ at most, ¼ at least. n = 10,000, δ = 10⁻⁶: 0.01 people at risk.
"""

from dataclasses import dataclass
from fractions import Fraction

SAFETY = 100  # studies with one person laid bare in all of them


@dataclass(frozen=True, slots=True)
class Range:
    least: Fraction
    most: Fraction


def posterior(prior: Fraction, loss: Fraction) -> Range:
    """Return how likely an answer can become to someone, exactly, when it was `prior` against all others."""
    if not 0 <= prior <= 1:
        raise ValueError(f"prior must be from 0 to 1, got {prior}")
    _check_loss(loss)
    other = 1 - prior
    return Range(least=prior / (prior + other * loss), most=prior * loss / (prior * loss + other))


def left_out(belief: Fraction, loss: Fraction) -> Range:
    """Return the beliefs possible with an answer in, when it would be `belief` with that answer left out."""
    if not 0 <= belief <= 1:
        raise ValueError(f"belief must be from 0 to 1, got {belief}")
    _check_loss(loss)
    return posterior(belief, loss**2)


def expected_utility(utility: Fraction, loss: Fraction) -> Range:
    """Return the expected utilities possible for someone who takes part, when it is `utility` for one who does not."""
    if utility < 0:
        raise ValueError(f"utility must be 0 or more, got {utility}")
    _check_loss(loss)
    return Range(least=utility / loss, most=utility * loss)


def at_risk(delta: Fraction, people: int) -> Fraction:
    """Return how many people a mechanism with this δ may lay bare, on average."""
    _check_people(people)
    return delta * people


def advised_delta(people: int) -> Fraction:
    """Return the largest δ to use for so many people: 1/(100n)."""
    _check_people(people)
    return Fraction(1, SAFETY * people)


def is_refused(delta: Fraction, people: int) -> bool:
    """Tell whether a δ would let a mechanism publish one person outright and keep its promise."""
    _check_people(people)
    return delta * people >= 1


def _check_loss(loss: Fraction) -> None:
    if loss < 1:
        raise ValueError(f"loss must be 1 or more, got {loss}")


def _check_people(people: int) -> None:
    if people < 1:
        raise ValueError(f"people must be 1 or more, got {people}")
