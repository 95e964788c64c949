"""The privacy loss of a release as the random variable that it is, not only its bound.

Of an outcome o, where one person's answer is x and not y: L = ln(Pr[o | x] / Pr[o | y]), random as
o is, drawn with x (Dwork and Roth 2014, § 3.5.1; Sommer, Meiser and Mohammadi 2019). All that a
release promises can be read off its law: ε is its end, δ(ε) = E[(1 − e^(ε − L))₊], its mean is the
KL divergence. δ is not the chance of a loss above ε, which is more: P(L > ε + ln 2) ≤ 2δ(ε), for
1 − e^(ε − L) ≥ ½ there. Nothing but public parameters goes in.

Laplace    one whole number moved by s, discrete Laplace noise Z of scale t, p = e^(−1/t):
           L = (|Z + s| − |Z|)/t, so s/t with chance 1/(1 + p), −s/t with chance p^s/(1 + p), and
           (s − 2z)/t with chance (1 − p)/(1 + p)·p^z for z = 1 … s − 1.
Gaussian   numbers moved by d, noise of σ each: normal, mean ρ and variance 2ρ, ρ = |d|²/(2σ²): of
           continuous noise, which discrete noise follows as closely as a picture shows.
Coin       randomised response of odds e^ε: ±ε, the upper with chance e^ε/(1 + e^ε). No mechanism of
           pure ε has a greater δ(ε′) at any ε′, alone or in a sum: each is a function of the coin's
           toss. With a δ of its own, the loss has no bound with chance δ, and is the coin's
           otherwise (Kairouz, Oh and Viswanath 2015, Thm 2.1, 3.3). So the coin's law is shown
           where a mechanism's own law depends on the answers.
Sum        Losses of noises that are drawn independently are independent, and add up.
Through    a device that sent the answer on changed by odds λ: x and y become λ : 1 mixtures, so L
           becomes ln((λe^L + 1)/(e^L + λ)), within ± ln λ (contraction.py).
Precision  That of a picture: a law has some thousand losses at most. Those that are nearer are put
           together at the highest of them, cells of a normal law at their mean; chances add up.
By hand    s = 1, any t: a coin of ε = 1/t. s = 2, t = 2: L is 1, 0, −1 with chances .62, .15, .23;
           mean .39. Two coins of ε: 2ε, 0, −2ε. A coin of odds 3 through odds 3: odds 5/3.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.checks import require

Floats = npt.NDArray[np.float64]
CELLS = 1000  # between the least and the greatest loss
FEW = 200  # losses between the two ends of one number's
REACH = 7.0  # standard deviations of a normal law: beyond is one draw in 10¹¹
SAME = 1e-9  # losses that are so near are one; so are chances, as parts of each other
TINY = 1e-15  # rounding of 1 − a chance
STEPS = 60  # of halving a range


@dataclass(frozen=True, slots=True, eq=False)
class LossLaw:
    losses: Floats  # in nats, rising
    chances: Floats  # of each
    unbounded: float = 0.0  # chance of more than any of them
    is_exact: bool = True  # else a bound: no other noise of the same ε loses more

    @classmethod
    def of(cls, losses: Floats, chances: Floats, unbounded: float = 0.0) -> "LossLaw":
        """Return the law of these losses, in any order, equal ones together."""
        span = float(losses.max() - losses.min())
        cell = max(SAME, span / CELLS if len(losses) > CELLS else 0.0)
        _, inverse = np.unique(np.round(losses / cell), return_inverse=True)
        highest = np.full(inverse.max() + 1, -np.inf)
        np.maximum.at(highest, inverse, losses)
        summed = np.zeros(len(highest))
        np.add.at(summed, inverse, chances)
        return cls(highest, summed, unbounded)

    @classmethod
    def coin(cls, epsilon: float, delta: float = 0.0) -> "LossLaw":
        """Return the worst law of (ε, δ)."""
        require(epsilon > 0, "epsilon must be above 0, got {}", epsilon)
        kept = (1 - delta) / (1 + math.exp(-epsilon))
        ends = np.array([-epsilon, epsilon])
        return cls(ends, np.array([1 - delta - kept, kept]), delta, is_exact=False)

    @classmethod
    def laplace(cls, scale: float, step: int) -> "LossLaw":
        """Return the law where one whole number moves by a step."""
        require(scale > 0 and step > 0, "scale and step must be above 0, got {}, {}", scale, step)
        p = math.exp(-1 / scale)
        between = np.linspace(1, step - 1, min(step - 1, FEW))
        # p^z summed over the whole numbers that a point stands for, all of them together
        weights = np.exp(-between / scale)
        inside = -math.expm1(-(step - 1) / scale) * p / (1 + p)
        chances = weights / weights.sum() * inside if len(between) else weights
        return cls.of(
            np.concatenate([[step], step - 2 * between, [-step]]) / scale,
            np.concatenate([[1 / (1 + p)], chances, [math.exp(-step / scale) / (1 + p)]]),
        )

    @classmethod
    def gaussian(cls, rho: float) -> "LossLaw":
        """Return the law of Gaussian noise."""
        require(rho > 0, "rho must be above 0, got {}", rho)
        edges = np.linspace(-REACH, REACH, CELLS + 2)  # one cell more: one around the mean
        chances = np.diff(scipy.special.ndtr(edges))
        heights = np.exp(-(edges**2) / 2) / math.sqrt(2 * math.pi)
        return cls(rho + math.sqrt(2 * rho) * -np.diff(heights) / chances, chances)

    def __add__(self, other: "LossLaw") -> "LossLaw":
        sums = np.add.outer(self.losses, other.losses).ravel()
        chances = np.multiply.outer(self.chances, other.chances).ravel()
        unbounded = 1 - (1 - self.unbounded) * (1 - other.unbounded)
        return replace(self.of(sums, chances, unbounded), is_exact=self.is_exact and other.is_exact)

    def times(self, many: int) -> "LossLaw":
        """Return the law of so many such losses, drawn apart."""
        require(many >= 1, "many must be 1 or more, got {}", many)
        if many == 1:
            return self
        half = self.times(many // 2)
        return half + half + self if many % 2 else half + half

    def through(self, odds: float) -> "LossLaw":
        """Return the law for an answer that a device changed by chance before, at these odds."""
        require(odds >= 1, "odds must be 1 or more, got {}", odds)
        falls = np.exp(-self.losses)
        losses = np.log((odds + falls) / (1 + odds * falls))
        chances = self.chances * (odds + falls) / (1 + odds)
        ends = np.log([odds, 1 / odds]) if self.unbounded else np.array([])
        beyond = self.unbounded * np.array([odds, 1]) / (1 + odds)
        return replace(
            self.of(np.concatenate([losses, ends]), np.concatenate([chances, beyond[: len(ends)]])),
            is_exact=self.is_exact,
        )

    @property
    def mean(self) -> float:
        """Return the average of the losses that have a bound."""
        return float(self.losses @ self.chances / self.chances.sum())

    @property
    def greatest(self) -> float:
        return float(self.losses[-1])

    def at_most(self, share: float) -> float:
        """Return the least loss that is not passed in this share of draws; ∞ if there is none.

        It is P(L > loss) ≤ 1 − share: more than the ε that holds with δ = 1 − share.
        """
        beyond = self.unbounded + np.append(np.cumsum(self.chances[:0:-1])[::-1], 0.0)
        found = np.flatnonzero(beyond <= (1 - share) * (1 + SAME) + TINY)
        return float(self.losses[found[0]]) if len(found) else math.inf

    def delta(self, epsilon: float) -> float:
        """Return the least δ with which ε holds."""
        above = self.losses > epsilon
        passed = self.chances[above] @ -np.expm1(epsilon - self.losses[above])
        return float(passed) + self.unbounded

    def epsilon(self, delta: float) -> float:
        """Return the least ε that holds with δ; ∞ if there is none."""
        if self.unbounded > delta:
            return math.inf
        low, high = 0.0, max(self.greatest, 0.0)
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high
