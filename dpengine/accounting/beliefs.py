"""What a loss means to a person: what can be believed of them, and what can happen to them.

Odds       My own report multiplies the odds of one answer against another by at most e^ε and at
           least e^−ε, whatever was known before; so does a release, for an onlooker who knows all
           other answers (Bayes; Dwork and Roth 2014, § 2.3). Hence a prior π becomes at most
           πe^ε/(πe^ε + 1 − π) and at least π/(π + (1 − π)e^ε).
With or without me: who does not know the other answers may learn of me from them. The likelihood of
           an outcome given my answer is within e^±ε of what it would be had my answer been left
           out, for each answer; hence the odds are within e^±2ε of what they would have been. It is
           reached: one outcome has the chances e^ε·p after (yes, yes), e^−ε·p after (no, no), and p
           after all other answers of two who answer alike. Background 001, § 1 says e^±ε: true
           where my answer is independent of the others. It says nothing of what is believed of
           everyone: that smoking causes cancer is learned with or without me.
Utility    For any preferences u ≥ 0 over what may happen, E u with me is within e^±ε of E u without
           me, and no closer promise needs to know u (background 000; Dwork and Roth 2014, § 2.3).
At risk    With δ > 0 the bounds may fail. A mechanism may, and one does, publish each record with
           chance δ: then δ·n of n people are laid bare on average. Advice: δ ≤ 1/(100n), one person
           in a hundred such studies; a δ of 1/n or more is refused, since one person could be
           published outright.
By hand    loss 3 (the coin of the book), prior 1/2: ¾ at most, ¼ at least. n = 10,000, δ = 10⁻⁶:
           0.01 people at risk.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpengine.bounds import exp_above
from dpengine.checks import require

SAFETY = 100  # studies with one person laid bare in all of them


@dataclass(frozen=True, slots=True)
class Range:
    least: Fraction
    most: Fraction


def posterior(prior: Fraction, loss: Fraction) -> Range:
    """Return exactly how likely an answer can become that was `prior` against all others."""
    require(0 <= prior <= 1, "prior must be from 0 to 1, got {}", prior)
    require(loss >= 1, "loss must be 1 or more, got {}", loss)
    other = 1 - prior
    return Range(least=prior / (prior + other * loss), most=prior * loss / (prior * loss + other))


def guess_within(epsilon: Decimal, delta: Fraction = Fraction(0)) -> Fraction:
    """Return how often a guess between two answers, even before, is right at most by (ε, δ).

    Whoever guesses says “this one” on a set of outcomes that has chance p after it and q after the
    other, and is right with chance g = (p + 1 − q)/2. Both p ≤ e^ε·q + δ and 1 − q ≤ e^ε·(1 − p) +
    δ hold; their sum is 2g ≤ e^ε·(2 − 2g) + 2δ, so g ≤ (e^ε + δ)/(e^ε + 1): δ/(e^ε + 1) is all that
    δ adds (Kairouz, Oh and Viswanath 2015, Thm 2.1: some mechanism reaches it).
    """
    require(epsilon >= 0, "epsilon must be 0 or more, got {}", epsilon)
    loss = exp_above(Fraction(epsilon)) if epsilon else Fraction(1)
    return min((loss + delta) / (loss + 1), Fraction(1))


def left_out(belief: Fraction, loss: Fraction) -> Range:
    """Return the beliefs possible with an answer in, when without it there would be `belief`."""
    require(0 <= belief <= 1, "belief must be from 0 to 1, got {}", belief)
    require(loss >= 1, "loss must be 1 or more, got {}", loss)
    return posterior(belief, loss**2)


def expected_utility(utility: Fraction, loss: Fraction) -> Range:
    """Return the utilities to expect from taking part, when not taking part has `utility`."""
    require(utility >= 0, "utility must be 0 or more, got {}", utility)
    require(loss >= 1, "loss must be 1 or more, got {}", loss)
    return Range(least=utility / loss, most=utility * loss)


def at_risk(delta: Fraction, people: int) -> Fraction:
    """Return how many people a mechanism with this δ may lay bare, on average."""
    require(people >= 1, "people must be 1 or more, got {}", people)
    return delta * people


def advised_delta(people: int) -> Fraction:
    """Return the largest δ to use for so many people: 1/(100n)."""
    require(people >= 1, "people must be 1 or more, got {}", people)
    return Fraction(1, SAFETY * people)


def is_refused(delta: Fraction, people: int) -> bool:
    """Tell whether a δ would let a mechanism publish one person outright and keep its promise."""
    require(people >= 1, "people must be 1 or more, got {}", people)
    return delta * people >= 1
