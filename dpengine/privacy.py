"""Exact losses, and what counts as a neighbour.

A loss is e^ε as a fraction: how many times likelier one answer can make an outcome than
another answer can (Dwork and Roth 2014, Def. 2.4 with δ = 0). Fractions are compared
exactly; ε = ln loss is for people to read.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from dpengine.bounds import exp_above, exp_below, ln_above
from dpengine.checks import require
from dpengine.contraction import Reading

LARGEST_EPSILON = Decimal(20)  # beyond it 32-bit words cannot hold the odds


class Neighbours(StrEnum):
    """Which two data sets must look alike."""

    CHANGE_ONE = "change-one"  # one person answers differently; how many answered is public
    ADD_REMOVE = "add-remove"  # one person more or less


@dataclass(frozen=True, slots=True)
class Cost:
    """What one release may lose at most, exactly, for the unit and neighbours it was computed for.

    Three ways to say it, of which a mechanism has those that are finite:
        (ε, δ)   Dwork and Roth 2014, Def. 2.4; ε None where no finite one holds at this δ (Gaussian
                 noise)
        (ρ, δ)   δ-approximate ρ-zCDP (Bun and Steinke 2016, Def. 8.1)
    Pure ε costs ρ = ε²/2 (their Prop. 1.4), (ε, δ) costs (ε²/2, δ). Costs of one person's releases
    add up. What costs nothing has ρ = 0. `reading` says which reports were read, for who counts
    the devices' chance (dpengine.contraction).
    """

    rho: Fraction
    delta: Fraction = Fraction(0)
    epsilon: Fraction | None = None
    reading: Reading | None = None

    def __post_init__(self) -> None:
        require(self.rho >= 0, "rho must be 0 or more, got {}", self.rho)
        require(0 <= self.delta < 1, "delta must be from 0 to below 1, got {}", self.delta)
        require(
            self.epsilon is None or self.epsilon >= 0,
            "epsilon must be 0 or more, got {}",
            self.epsilon,
        )

    @classmethod
    def pure(cls, epsilon: Fraction) -> "Cost":
        """Return the cost of pure ε."""
        return cls(rho=epsilon**2 / 2, epsilon=epsilon)

    @classmethod
    def pure_exactly(cls, epsilon: Fraction, reading: Reading | None = None) -> "Cost":
        """Return the cost of pure ε, with the least ρ that all of pure ε have."""
        return cls(rho=rho_of_pure(epsilon), epsilon=epsilon, reading=reading)

    @classmethod
    def approximate(cls, epsilon: Fraction, delta: Fraction) -> "Cost":
        """Return the cost of (ε, δ)."""
        return cls(rho=epsilon**2 / 2, delta=delta, epsilon=epsilon)

    @classmethod
    def concentrated(cls, rho: Fraction, delta: Fraction = Fraction(0)) -> "Cost":
        """Return the cost of (ρ, δ): no finite ε at that δ alone."""
        return cls(rho=rho, delta=delta)

    @classmethod
    def largest(cls, costs: "Sequence[Cost]") -> "Cost":
        """Return what is enough for each of some costs, of which a person bears one."""
        known = [cost.epsilon for cost in costs if cost.epsilon is not None]
        return cls(
            rho=max(cost.rho for cost in costs),
            delta=max(cost.delta for cost in costs),
            epsilon=max(known) if len(known) == len(costs) else None,
        )

    def of_group(self, people: int) -> "Cost":
        """Return what it costs so many people together (group privacy: pure ε costs k·ε, Dwork and
        Roth 2014, Thm 2.2; ρ costs k²·ρ, Bun and Steinke 2016, Prop. 1.9). ValueError with a δ.
        """
        require(people == 1 or not self.delta, "expected no δ for {} people together", people)
        epsilon = None if self.epsilon is None else people * self.epsilon
        return Cost(people**2 * self.rho, self.delta, epsilon, self.reading)

    @property
    def is_pure(self) -> bool:
        return self.epsilon is not None and self.delta == 0

    def __add__(self, other: "Cost") -> "Cost":
        known = self.epsilon is not None and other.epsilon is not None
        epsilon = (self.epsilon or 0) + (other.epsilon or 0) if known else None
        return Cost(
            self.rho + other.rho,
            self.delta + other.delta,
            Fraction(epsilon) if epsilon is not None else None,
        )


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Return ε·tanh(ε/2), from above: the ρ of any mechanism of pure ε.

    Randomised response is the worst of them (Kairouz, Oh and Viswanath 2015, Thm 2.1). Of it, with
    u = ε/2, (α − 1)·D_α = ln cosh((2α − 1)u) − ln cosh u; ln cosh √x is concave, so that is at most
    ½·u·tanh u·((2α − 1)² − 1) = α(α − 1)·ε·tanh(ε/2).
    By hand: ε = 1: 0.46212, where ε²/2 is 0.5.
    """
    power = exp_above(epsilon)
    return min(epsilon * (power - 1) / (power + 1), epsilon**2 / 2)


def pure_within(rho: Fraction, places: int = 12) -> Fraction:
    """Return the largest ε, with so many decimals, whose ε·tanh(ε/2) is at most ρ."""
    require(rho > 0, "rho must be above 0, got {}", rho)
    low, high = 0, 10**places
    while rho_of_pure(Fraction(high, 10**places)) <= rho:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if rho_of_pure(Fraction(middle, 10**places)) <= rho:
            low = middle
        else:
            high = middle
    return Fraction(low, 10**places)


def loss_of_table(weights: Sequence[Sequence[int]]) -> Fraction:
    """Return the exact loss of weights[answer][report] whose rows all have the same sum.

    max over reports of (largest / smallest weight of its column).
    """
    return max(Fraction(max(column), min(column)) for column in zip(*weights, strict=True))


def loss_of_all(losses: Iterable[Fraction]) -> Fraction:
    """Return the loss of answering every question: the product (basic composition, Thm 3.14)."""
    return math.prod(losses, start=Fraction(1))


def exponential_below(epsilon: Decimal) -> Fraction:
    """Return a rational just below e^ε: odds made from it never pass what was asked for."""
    return exp_below(_checked(epsilon))


def exponential_above(epsilon: Decimal) -> Fraction:
    """Return a rational just above e^ε: for what is said to be at most."""
    return exp_above(_checked(epsilon))


def _checked(epsilon: Decimal) -> Fraction:
    if not isinstance(epsilon, Decimal):
        raise TypeError(f"epsilon must be a Decimal, got a {type(epsilon).__name__}")
    require(
        epsilon.is_finite() and 0 < epsilon <= LARGEST_EPSILON,
        "epsilon must be above 0 and at most {}, got {}",
        LARGEST_EPSILON,
        epsilon,
    )
    return Fraction(epsilon)


def epsilon_above(loss: Fraction, places: int = 9) -> Decimal:
    """Return ln loss in nats, rounded up: the ε to print beside, or charge for, an exact loss."""
    require(loss >= 1, "loss must be 1 or more, got {}", loss)
    return round_up(ln_above(loss) if loss > 1 else Fraction(0), places)


def round_up(amount: Fraction, places: int = 9) -> Decimal:
    """Return the least decimal with so many places that is not below the amount, for charges."""
    return Decimal(math.ceil(amount * 10**places)).scaleb(-places)


def round_down(amount: Fraction, places: int = 9) -> Decimal:
    """Return the greatest decimal with so many places that is not above the amount, for caps."""
    return Decimal(math.floor(amount * 10**places)).scaleb(-places)


def plain(amount: Decimal) -> Decimal:
    """Return the same amount without trailing zeros: 1.8, not 1.800000000, and 20, not 2E+1."""
    return Decimal(f"{amount.normalize():f}")
