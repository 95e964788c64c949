"""How many people a test through a channel needs: the smallest n, never one too few.

A respondent reports yes with chance λ = c0 + c1·π, where π is the share being asked for (direct
answers: c0 = 0, c1 = 1). The test says that π is not π0; the power is the chance that it does when
π is π1. The threshold has the spread under the null, the tail the spread under the alternative:

    power(n) = Φ((signal·√n − z·null_spread) / spread),     z = Φ⁻¹(1 − alpha/sides)

One sample   signal |λ1 − λ0|, null_spread √(λ0(1 − λ0)), spread √(λ1(1 − λ1)).
Two samples  of n and ratio·n: signal |λ2 − λ1|, null_spread √(λ̄(1 − λ̄)(1 + 1/ratio)) with the
             pooled λ̄ = (λ1 + ratio·λ2)/(1 + ratio), spread √(λ1(1 − λ1) + λ2(1 − λ2)/ratio).
Arms         channels j with shares w_j of the n people who are asked for one π, by the score test:
             signal |π1 − π0|·I, null_spread √I, spread √(Σ w_j·c1_j²·λ1_j(1 − λ1_j)/(λ0_j(1 −
             λ0_j))²), I = Σ w_j·c1_j²/(λ0_j(1 − λ0_j)). One arm is one sample.

Only rejections on the side of the alternative count, so the power is a hair below that of a test
that could also be right by mistake. The approximation is a normal one: `power_exact` has no error.

By hand  Forced response, p = 2/3, yes = no = 1/6, .10 against .15, alpha .05, two sides: λ0 =
         .2333, λ1 = .2667; power .80 needs 1299 (.80015; 1298 has .79986). R's rr says 1266: power
         .790.
Sources  Fleiss, Levin and Paik 2003, § 2.5 and § 4.2 (without continuity correction); Rao 1948
         (scores).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import scipy

from dpengine.checks import require

# people; a plan beyond it is a slip of the pen, and floats no longer tell n from n + 1
LARGEST = 10**12
ROUNDING = 1e-12  # by which c0 + c1 may leave 0 to 1


@dataclass(frozen=True, slots=True)
class Response:
    """How often people report yes: with chance c0 + c1·π when a share π has a yes."""

    c0: float
    c1: float

    def __post_init__(self) -> None:
        for name, chance in (("c0", self.c0), ("c0 + c1", self.c0 + self.c1)):
            require(
                -ROUNDING <= chance <= 1 + ROUNDING,
                "{} must be a chance, from 0 to 1, got {}",
                name,
                chance,
            )
        require(
            self.c1 != 0, "c1 must not be 0: reports that do not depend on the answer tell nothing"
        )

    def reported(self, share: float) -> float:
        """Return λ, the expected share of yes among the reports."""
        return min(max(self.c0 + self.c1 * check_share("share", share), 0.0), 1.0)

    def variance(self, share: float) -> float:
        """Return λ(1 − λ), the variance of one report."""
        reported = self.reported(share)
        return reported * (1 - reported)


@dataclass(frozen=True, slots=True)
class Target:
    """What a test must do: reject with chance `power` if it should, `alpha` if not."""

    power: float = 0.80
    alpha: float = 0.05
    sides: int = 2

    def __post_init__(self) -> None:
        require(0 < self.alpha < 1, "alpha must be between 0 and 1, got {}", self.alpha)
        require(self.sides in (1, 2), "sides must be 1 or 2, got {}", self.sides)
        require(
            self.alpha < self.power < 1,
            "power must be above alpha ({}) and below 1, got {}",
            self.alpha,
            self.power,
        )

    @property
    def error(self) -> float:
        """Return the chance of a rejection under the null on the side of the alternative."""
        return self.alpha / self.sides

    @property
    def threshold(self) -> float:
        """Return z, in standard errors under the null."""
        return -float(scipy.special.ndtri(self.error))


@dataclass(frozen=True, slots=True)
class Size:
    """The smallest n that does what was asked, what it achieves, and what one person less would."""

    n: int
    power: float
    power_at_n_minus_1: float


@dataclass(frozen=True, slots=True)
class Arm:
    """A channel, and the share of all people who are asked through it."""

    response: Response
    weight: float


@dataclass(frozen=True, slots=True)
class Separation:
    """What one answer adds to telling the two hypotheses apart, and its spread under each."""

    signal: float
    null_spread: float
    spread: float

    def power(self, n: int, target: Target) -> float:
        """Return the chance that n answers reject the null. Nobody asked, nothing found."""
        excess = self.signal * math.sqrt(n) - target.threshold * self.null_spread
        if n < 1 or self.spread == 0:
            return float(n >= 1 and excess > 0)
        return float(scipy.special.ndtr(excess / self.spread))

    def smallest(self, target: Target) -> Size:
        """Return the smallest n with the power asked for, exact to the person."""
        root = (
            target.threshold * self.null_spread
            + float(scipy.special.ndtri(target.power)) * self.spread
        ) / self.signal
        require(
            root <= math.sqrt(LARGEST),
            "the two hypotheses are too close to tell apart with at most {} people",
            LARGEST,
        )
        n = max(1, math.ceil(max(root, 0.0) ** 2))
        while self.power(n, target) < target.power:
            n += 1
        while n > 1 and self.power(n - 1, target) >= target.power:
            n -= 1
        return Size(n, self.power(n, target), self.power(n - 1, target))


def one_sample(response: Response, null: float, alternative: float) -> Separation:
    """Return how one sample tells the share `alternative` from the share `null`."""
    check_pair(null, alternative)
    return Separation(
        signal=abs(response.c1 * (alternative - null)),
        null_spread=math.sqrt(response.variance(null)),
        spread=math.sqrt(response.variance(alternative)),
    )


def two_samples(response: Response, first: float, second: float, ratio: float = 1.0) -> Separation:
    """Return how two samples of n and `ratio`·n people tell their shares apart."""
    check_pair(first, second)
    require(0 < ratio < math.inf, "ratio must be above 0, got {}", ratio)
    pooled = response.reported((first + ratio * second) / (1 + ratio))
    return Separation(
        signal=abs(response.c1 * (second - first)),
        null_spread=math.sqrt(pooled * (1 - pooled) * (1 + 1 / ratio)),
        spread=math.sqrt(response.variance(first) + response.variance(second) / ratio),
    )


def arms(parts: Sequence[Arm], null: float, alternative: float) -> Separation:
    """Return how several channels together tell one share from another; n is all people."""
    check_pair(null, alternative)
    total = math.fsum(part.weight for part in parts)
    require(
        parts and all(part.weight > 0 for part in parts) and math.isfinite(total),
        "every arm must have a share of the people above 0",
    )
    require(
        all(part.response.variance(null) != 0 for part in parts),
        "an arm's reports are certain at a share of {}: test against another share",
        null,
    )
    information = math.fsum(
        part.weight / total * part.response.c1**2 / part.response.variance(null) for part in parts
    )
    scores = math.fsum(
        part.weight
        / total
        * part.response.c1**2
        * part.response.variance(alternative)
        / part.response.variance(null) ** 2
        for part in parts
    )
    return Separation(
        abs(alternative - null) * information, math.sqrt(information), math.sqrt(scores)
    )


def check_share(name: str, share: float) -> float:
    require(0 <= share <= 1, "{} must be from 0 to 1, got {}", name, share)
    return share


def check_pair(first: float, second: float) -> None:
    """Refuse what cannot be told apart."""
    check_share("share", first)
    check_share("share", second)
    require(first != second, "the two shares must differ, got {} twice", first)
