"""One account, by every accountant: what the same releases lose, as (ε, δ) at one and the same δ.

Only `filters` admits a charge. These bound what was spent, once it is known: advanced, optimal and
Rényi composition fix the number and the costs of the releases before the first, which a study on
request does not.

A cost without a finite ε (Gaussian noise) is converted alone, for the accountants that add ε: half
of what δ leaves is shared equally among such costs, the other half is the δ′ of the theorem.
Nothing is left if the costs' own δ add up to δ: then only the basic sum of pure costs is finite,
and the others say None.
By hand    1000 pure costs of 0.05 at δ = 10⁻⁶: basic 50, advanced 10.875, optimal 8.284, zCDP
           8.846, Rényi 8.830.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpengine.accounting import composition, concentrated, renyi
from dpengine.bounds import check_delta
from dpengine.privacy import Cost, round_up


@dataclass(frozen=True, slots=True)
class Comparison:
    """ε at δ by each accountant; None where it has no finite one."""

    delta: Fraction
    basic: Decimal | None = None
    advanced: Decimal | None = None
    optimal: Decimal | None = None
    concentrated: Decimal | None = None
    renyi: Decimal | None = None

    @property
    def least(self) -> Decimal | None:
        bounds = [self.basic, self.advanced, self.optimal, self.concentrated, self.renyi]
        return min((epsilon for epsilon in bounds if epsilon is not None), default=None)


def compare(costs: Sequence[Cost], delta: Fraction) -> Comparison:
    """Return what these costs, which all count together, lose at δ by each accountant."""
    check_delta(delta)
    if not costs:
        return Comparison(delta, *[Decimal(0)] * 5)
    rest = delta - sum((cost.delta for cost in costs), start=Fraction(0))
    if rest <= 0:
        return Comparison(delta, basic=_basic(costs) if rest == 0 else None)
    epsilons, left = _as_epsilons(costs, rest)
    return Comparison(
        delta,
        basic=_basic(costs) or round_up(sum(epsilons, start=Fraction(0))),
        advanced=composition.advanced(epsilons, left),
        optimal=composition.optimal_mixed(epsilons, left),
        concentrated=concentrated.epsilon_of(
            sum((cost.rho for cost in costs), start=Fraction(0)), rest
        ),
        renyi=renyi.epsilon_of(costs, rest),
    )


def compare_worst(meetings: Sequence[Sequence[Cost]], delta: Fraction) -> Comparison:
    """Return the same for the worst of several sets of costs, accountant by accountant."""
    each = [compare(costs, delta) for costs in meetings] or [compare([], delta)]

    def worst(of: Callable[[Comparison], Decimal | None]) -> Decimal | None:
        finite = [epsilon for one in each if (epsilon := of(one)) is not None]
        return max(finite) if len(finite) == len(each) else None

    return Comparison(
        delta,
        basic=worst(lambda one: one.basic),
        advanced=worst(lambda one: one.advanced),
        optimal=worst(lambda one: one.optimal),
        concentrated=worst(lambda one: one.concentrated),
        renyi=worst(lambda one: one.renyi),
    )


def _basic(costs: Sequence[Cost]) -> Decimal | None:
    total = composition.basic(costs)
    return round_up(total.epsilon) if total and total.epsilon is not None else None


def _as_epsilons(costs: Sequence[Cost], delta: Fraction) -> tuple[list[Fraction], Fraction]:
    """Return every cost as an ε, and the δ that is left for composing them."""
    without = sum(cost.epsilon is None for cost in costs)
    left = delta / 2 if without else delta
    share = (delta - left) / without if without else None
    epsilons = [
        cost.epsilon
        if cost.epsilon is not None
        else Fraction(concentrated.epsilon_of(cost.rho, share or delta))
        for cost in costs
    ]
    return epsilons, left
