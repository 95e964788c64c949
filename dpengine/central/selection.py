"""Choose the best of some candidates by their scores, without saying the scores.

Scores are whole numbers, one for each candidate; candidates are named before any data is seen. Two
neighbours' scores differ by dᵢ, and what counts is the spread, max dᵢ − min dᵢ over all neighbours:
adding the same number to every score changes nothing. `spread` is 1 for counts under add-remove, 2
under change-one (one count up, another down), and 2Δu where only |dᵢ| ≤ Δu is known. With s =
spread/ε:

    exponential    Pr[i] = e^(uᵢ/s) / Σⱼ e^(uⱼ/s): exp(ε·u/(2Δu)) of the books, drawn as noisy max
                   with Gumbel noise.
    noisy max      uᵢ plus one-sided exponential noise of mean s, the largest reported. The same law
                   as permute and flip: in random order, take i with chance qᵢ = e^((uᵢ − u*)/s),
                   the first taken is the answer. With t for when i comes up, Pr[i] = qᵢ·∫₀¹
                   Π_{j≠i}(1 − t·qⱼ) dt.

Privacy    pure ε = spread/s, for the neighbours that the spread was stated for, for each of the
           two.
Cost       noisy max: ρ = ε·tanh(ε/2), what pure ε costs (privacy.py), and near a tie of two all
           of it: from scores (0, 0) to (1, 0) the second's chance goes from ½ to e^(−ε)/2.
           Exponential: ε is also its whole range, so ρ = ε²/8 (Cesar and Rogers 2021), or that of
           pure ε if less.
Which      At the same ε noisy max is never further off on average, whatever the scores (McKenna and
           Sheldon 2020, Thm 2). So where ε is paid it is the one. Where ρ is paid the exponential
           mechanism has ε' = √(8ρ), noisy max the ε of ε·tanh(ε/2) = ρ. If ε ≥ ε', which begins at
           ε = 8·tanh(ε/2) = 7.9946, ρ = 7.989, noisy max is better whatever the scores: at less s
           its mean score only rises, for that is V − s·V', V(s) = E max(uᵢ + s·Eᵢ) convex. Below,
           ε' is up to twice ε, and neither is better for all scores. On one best and all others
           equally far off, the worst gap for each, the exponential mechanism is off by .79 (2
           candidates) to .52 (1,000) times as much at ρ ≤ 0.5, and by no more up to ρ = 2.9. So it
           is taken below 7.989. Only ρ decides.
Top k      k times among those left, each time at ε: cost k·ε, and k·ρ where each is drawn anew; of
           one draw of noise (permute-and-flip) the ρ of pure k·ε.
Error      exponential: P(best score − chosen score ≥ s·(ln(m/m*) + t)) ≤ e^−t, m candidates, m* of
           them best (Thm 3.11); noisy max is never further off on average.
By hand    Scores 50, 20, 30 with Δu = 1 and ε = 0.1: s = 20, chances .628, .140, .231 (003 prints
           .124: a misprint). Pumpkins: three bid $1.00, one $3.01. Revenue is 4.00 at $1.00 (003
           prints 3.00), 3.00 at $3.00, 3.01 at
           $3.01, 0 at $3.02; the spread is the highest price.
Sources    McSherry and Talwar 2007; Dwork and Roth 2014, § 3.3, 3.4; Ding et al. 2021 (exponential
           noise is permute and flip); Durfee and Rogers 2019 (top k at once). Drawn exactly by
           OpenDP; scale and ε are exact rationals.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpengine.central.gaussian import root_above
from dpengine.central.laplace import LARGEST_SCALE, float_above, held
from dpengine.checks import require
from dpengine.privacy import Cost, Neighbours, pure_within, rho_of_pure


class Law(StrEnum):
    EXPONENTIAL = "exponential mechanism"
    NOISY_MAX = "report noisy max"


@dataclass(frozen=True, slots=True)
class Selection:
    scale: float  # s, a binary float, taken exactly
    spread: int  # of neighbours' differences, in the unit of the scores
    law: Law
    best: int = 1  # how many are chosen, best first

    def __post_init__(self) -> None:
        require(
            math.isfinite(self.scale) and 0 < self.scale <= LARGEST_SCALE,
            "scale must be above 0 and at most 2**50, got {}",
            self.scale,
        )
        require(self.spread >= 1, "spread must be 1 or more, got {}", self.spread)
        require(self.best >= 1, "best must be 1 or more, got {}", self.best)

    @classmethod
    def for_epsilon(
        cls, epsilon: Fraction, spread: int, law: Law = Law.NOISY_MAX, best: int = 1
    ) -> "Selection":
        """Return the selection with the least error that costs at most ε, all choices together."""
        require(epsilon > 0, "epsilon must be above 0, got {}", epsilon)
        return cls(float_above(best * spread / epsilon), spread, law, best)

    @classmethod
    def for_rho(cls, rho: Fraction, spread: int, best: int = 1) -> "Selection":
        """Return the better law that costs at most ρ: exponential, scale² ≥ best·spread²/(8ρ)."""
        require(rho > 0, "rho must be above 0, got {}", rho)
        exponential = cls(root_above(best * spread**2 / (8 * rho)), spread, Law.EXPONENTIAL, best)
        if rho_of_pure(exponential.epsilon / best) > rho / best:
            return exponential
        return cls.for_epsilon(pure_within(rho), spread, Law.NOISY_MAX, best)

    @property
    def epsilon(self) -> Fraction:
        """Return the exact pure loss of all choices together."""
        return self.best * self.spread / Fraction(self.scale)

    @property
    def cost(self) -> Cost:
        each = self.spread / Fraction(self.scale)
        if self.law is Law.NOISY_MAX:  # one draw names all of the best, not a fresh one each
            return Cost(rho=rho_of_pure(self.best * each), epsilon=self.epsilon)
        rho = min(rho_of_pure(each), each**2 / 8)
        return Cost(rho=self.best * rho, epsilon=self.epsilon)

    def chances(self, scores: Sequence[int]) -> list[float]:
        """Return the exact law of the first choice."""
        top = max(scores)
        weights = [math.exp((score - top) / self.scale) for score in scores]
        if self.law is Law.EXPONENTIAL:
            return [weight / sum(weights) for weight in weights]
        # permute and flip: qᵢ·∫₀¹ Π_{j≠i}(1 − t·qⱼ) dt
        return [
            weight * _integral([*weights[:place], *weights[place + 1 :]])
            for place, weight in enumerate(weights)
        ]

    def largest_loss(self, candidates: int, confidence: float = 0.95, all_best: int = 1) -> float:
        """Return how far below the best score the first choice is at most, by Thm 3.11."""
        require(0 < confidence < 1, "confidence must be between 0 and 1, got {}", confidence)
        return self.scale * (math.log(candidates / all_best) - math.log(1 - confidence))

    def release(self, scores: Sequence[int]) -> list[int]:
        """Return the chosen places, best first. Publish once: a second draw is a second release."""
        require(
            len(scores) >= self.best,
            "expected {} candidates or more, got {}",
            self.best,
            len(scores),
        )
        from dpengine.central.samplers import noisy_top_k  # here, for it loads OpenDP

        choose = noisy_top_k(self.scale, self.law is Law.EXPONENTIAL, self.best)
        return [int(place) for place in choose(held(scores))]


def spread_of_counts(neighbours: Neighbours) -> int:
    """Return the spread of a histogram's counts: under change-one one goes up, another down."""
    return 2 if neighbours is Neighbours.CHANGE_ONE else 1


def revenue(bids: Sequence[int], prices: Sequence[int]) -> list[int]:
    """Return what each price earns, each bidder buying one if the price is no more than the bid.

    One bid changed, added or taken away raises (or lowers) the revenue at some prices by the price,
    and no other's the other way: the spread is the highest price. Prices must not depend on the
    bids.
    """
    return [price * sum(bid >= price for bid in bids) for price in prices]


def _integral(weights: Sequence[float]) -> float:
    """Return ∫₀¹ Π(1 − t·w) dt by Gauss and Legendre's rule, exact for polynomials."""
    points, shares = _rule(len(weights) // 2 + 1)
    return sum(
        share * math.prod(1 - point * weight for weight in weights)
        for point, share in zip(points, shares, strict=True)
    )


@lru_cache(maxsize=64)
def _rule(points: int) -> tuple[list[float], list[float]]:
    """Return nodes and weights on 0 to 1, exact to degree 2·points − 1."""
    nodes, shares = np.polynomial.legendre.leggauss(points)
    return [(float(node) + 1) / 2 for node in nodes], [float(share) / 2 for share in shares]
