"""Filters: may one more charge be paid, whatever was learned from the charges before?

Pure          Σε ≤ cap. Basic composition (Dwork and Roth 2014, Thm 3.16) holds for mechanisms
              chosen adaptively, so that stopping before the sum passes the cap keeps the whole
              transcript cap-DP (Rogers, Roth, Ullman and Vadhan 2016, § 3).
Concentrated  Σρ ≤ rho and Σδ ≤ delta, for charges of δ-approximate ρ-zCDP: the whole transcript is
              delta-approximate rho-zCDP (Whitehouse, Ramdas, Rogers and Wu 2023, Thm 1).

Either        one or the other, after the charge is added. Let A be the paths of answers on which
              the pure sum holds to the end: on each the loss is at most ε. The others end on the
              concentrated sum, and are among the paths of a run of that filter alone: of their
              chance at most e^ε·(theirs) + δ. Both sets are closed under prefixes, so that nothing
              is decided twice; the sum of both is (ε, δ) again. A cost with a δ, or with no ε,
              ends the sum of ε; a pure one counts in both. Of k people the same split gives kε on
              A, and on the others what `groups` says of the concentrated sum.

Each is a sum that may be stopped at any time: advanced and optimal composition are not, because
their theorems fix the number of charges and each one's ε before the first (Rogers et al. 2016, §
5).

Parts  A charge can concern a part of the people only; parts do not overlap, and "" is everyone. For
       two neighbours only the parts in which they differ count: one part under add-remove, or where
       nobody can move between parts (fixed: a public arm of a trial); otherwise changing one answer
       can move a person from one part to another, and the two largest add up. The filter holds for
       every pair of parts, so it holds for the pair that two neighbours happen to touch. The cost
       of a release on a part must hold for whatever a neighbour can do to that part: change in it,
       enter it, or leave it. Of either, one pair may hold by ε and another by ρ: two neighbours
       meet one pair only.

By hand    cap 1; 0.3 on everyone, 0.4 on women, 0.2 on men. Add-remove: 0.3 + 0.4 is spent, and men
           may still be charged 0.5. Change-one: 0.3 + 0.4 + 0.2 is spent, and anyone 0.1.
Unit and neighbours are those of the charges, which must all share them. Amounts are exact.
"""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from dpengine.checks import require
from dpengine.privacy import Cost, Neighbours

EVERYONE = ""


@dataclass(frozen=True, slots=True)
class Charge:
    """What was paid, and for which part of the people."""

    part: str  # EVERYONE, or the name of one of parts that do not overlap
    cost: Cost


@dataclass(frozen=True, slots=True)
class Left:
    """What may still be charged to one part: a pure ε, or (ρ, δ); where both are known, one of
    them is enough.
    """

    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    epsilon: Fraction | None = None


class _Filter:
    """What both kinds of cap have: neighbours, parts, and how charges add up over them."""

    __slots__ = ()
    neighbours: Neighbours
    fixed_parts: bool  # no neighbour can move a person from one part to another

    @property
    def touched(self) -> int:
        """Return in how many parts two neighbours can differ."""
        return 1 if self.fixed_parts or self.neighbours == Neighbours.ADD_REMOVE else 2

    def total(self, spent: Iterable[Charge]) -> Cost | None:
        """Return what all charges together can lose about one unit, None if there are none."""
        charges = list(spent)
        if not charges:
            return None
        if len(charges) == 1:
            cost = charges[0].cost
            return Cost(rho=cost.rho, delta=cost.delta, epsilon=cost.epsilon)
        known = all(charge.cost.epsilon is not None for charge in charges)
        return Cost(
            rho=self.sum_of(charges, _rho),
            delta=self.sum_of(charges, _delta),
            epsilon=self.sum_of(charges, _epsilon) if known else None,
        )

    def meetings(self, spent: Iterable[Charge]) -> list[tuple[Cost, ...]]:
        """Return the costs that count together, for every set of parts neighbours can touch."""
        charges = list(spent)
        parts = sorted({charge.part for charge in charges} - {EVERYONE})
        pairs = combinations(parts, min(self.touched, len(parts)))
        return [
            tuple(charge.cost for charge in charges if charge.part in (EVERYONE, *pair))
            for pair in pairs
        ]

    def sum_of(
        self, charges: Iterable[Charge], amount: Callable[[Cost], Fraction], part: str | None = None
    ) -> Fraction:
        """Return the largest sum that two neighbours can meet, or two who differ in this part."""
        sums: defaultdict[str, Fraction] = defaultdict(Fraction)
        for charge in charges:
            sums[charge.part] += amount(charge.cost)
        everyone = sums.pop(EVERYONE, Fraction(0))
        if part in (None, EVERYONE):
            return everyone + sum(sorted(sums.values())[-self.touched :])
        own = sums.pop(str(part), Fraction(0))
        return everyone + own + (max(sums.values(), default=Fraction(0)) if self.touched > 1 else 0)

    def admits(self, cost: Cost, spent: Iterable[Charge], part: str = EVERYONE) -> bool:
        """Tell whether one more cost fits."""
        return self.holds([*spent, Charge(part, cost)])

    @abstractmethod
    def holds(self, spent: Iterable[Charge]) -> bool:
        """Tell whether charges are within the cap, for any two neighbours."""

    def left_of(
        self,
        cap: Fraction,
        charges: Iterable[Charge],
        amount: Callable[[Cost], Fraction],
        part: str,
    ) -> Fraction:
        """Return what a part may still be charged.

        Below 0 for every part once a lowered cap is passed anywhere.
        """
        kept = list(charges)
        least = cap - self.sum_of(kept, amount)
        return least if least < 0 else cap - self.sum_of(kept, amount, part)


@dataclass(frozen=True, slots=True)
class PureFilter(_Filter):
    """A cap on Σε: only pure costs are admitted."""

    cap: Fraction  # ε, for good
    neighbours: Neighbours = Neighbours.CHANGE_ONE
    fixed_parts: bool = False

    def __post_init__(self) -> None:
        require(self.cap > 0, "cap must be above 0, got {}", self.cap)

    def left(self, spent: Iterable[Charge], part: str = EVERYONE) -> Left:
        """Return what may still be charged to a part. ValueError if some spent cost is not pure."""
        charges = list(spent)
        require(
            all(charge.cost.is_pure for charge in charges),
            "spent must be pure costs under a pure cap, got one with a δ or no ε",
        )
        return Left(epsilon=self.left_of(self.cap, charges, _epsilon, part))

    def holds(self, spent: Iterable[Charge]) -> bool:
        """Tell whether Σε is within the cap; with a cost that is not pure it never is."""
        charges = list(spent)
        is_pure = all(charge.cost.is_pure for charge in charges)
        return is_pure and self.sum_of(charges, _epsilon) <= self.cap


@dataclass(frozen=True, slots=True)
class ConcentratedFilter(_Filter):
    """Caps on Σρ and on Σδ."""

    rho: Fraction
    delta: Fraction = Fraction(0)
    neighbours: Neighbours = Neighbours.CHANGE_ONE
    fixed_parts: bool = False

    def __post_init__(self) -> None:
        require(self.rho > 0, "rho must be above 0, got {}", self.rho)
        require(0 <= self.delta < 1, "delta must be from 0 to below 1, got {}", self.delta)

    def left(self, spent: Iterable[Charge], part: str = EVERYONE) -> Left:
        """Return what may still be charged to a part."""
        charges = list(spent)
        rho = self.left_of(self.rho, charges, _rho, part)
        return Left(rho=rho, delta=self.left_of(self.delta, charges, _delta, part))

    def holds(self, spent: Iterable[Charge]) -> bool:
        """Tell whether Σρ and Σδ are within their caps."""
        charges = list(spent)
        return self.sum_of(charges, _rho) <= self.rho and self.sum_of(charges, _delta) <= self.delta


@dataclass(frozen=True, slots=True)
class EitherFilter(ConcentratedFilter):
    """Caps on Σρ and on Σδ, and on Σε: what fits under the one or the other is admitted."""

    epsilon: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        require(self.epsilon > 0, "epsilon must be above 0, got {}", self.epsilon)
        require(self.rho >= 0, "rho must be 0 or more, got {}", self.rho)
        require(0 <= self.delta < 1, "delta must be from 0 to below 1, got {}", self.delta)

    def left(self, spent: Iterable[Charge], part: str = EVERYONE) -> Left:
        """Return what fits under the sum of ε, None once that has ended, and under that of ρ.

        What fits under one of them is admitted. Where some parts hold by ε and others by ρ, more
        is.
        """
        is_met = self.touched > 1 or part == EVERYONE
        charges = [charge for charge in spent if is_met or charge.part in (EVERYONE, part)]
        left = ConcentratedFilter.left(self, charges, part)
        if not all(charge.cost.is_pure for charge in charges):
            return left
        return replace(left, epsilon=self.left_of(self.epsilon, charges, _epsilon, part))

    def holds(self, spent: Iterable[Charge]) -> bool:
        """Tell whether Σε, or Σρ and Σδ, are within their caps, for each pair of parts."""
        return all(self._holds_for(costs) for costs in self.meetings(spent))

    def _holds_for(self, costs: Sequence[Cost]) -> bool:
        none = Fraction(0)
        rho, delta = sum(map(_rho, costs), none), sum(map(_delta, costs), none)
        if rho <= self.rho and delta <= self.delta:
            return True
        is_pure = all(cost.is_pure for cost in costs)
        return is_pure and sum(map(_epsilon, costs), none) <= self.epsilon


Filter = PureFilter | ConcentratedFilter  # or its own EitherFilter


def _rho(cost: Cost) -> Fraction:
    return cost.rho


def _delta(cost: Cost) -> Fraction:
    return cost.delta


def _epsilon(cost: Cost) -> Fraction:
    if cost.epsilon is None:  # pragma: no cover (whoever adds ε has looked)
        raise ValueError("cost has no ε")
    return cost.epsilon
