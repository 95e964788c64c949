"""Filters: may one more charge be paid, whatever was learned from the charges before?

Pure ε      Σ ε ≤ cap. Basic composition (Dwork and Roth 2014, Thm 3.16) holds for mechanisms
            chosen adaptively, so stopping before the sum passes the cap keeps the whole
            transcript cap-DP (Rogers, Roth, Ullman and Vadhan 2016, § 3).
Unit and neighbours are those of the charges, which must all share them.
Amounts are decimals, compared exactly; who makes them rounds charges up and caps down.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class PureFilter:
    cap: Decimal  # ε, for good

    def __post_init__(self) -> None:
        if not self.cap.is_finite() or self.cap <= 0:
            raise ValueError(f"cap must be above 0, got {self.cap}")

    def left(self, spent: Iterable[Decimal]) -> Decimal:
        """Return what may still be charged."""
        return self.cap - sum(spent, start=Decimal(0))

    def admits(self, charge: Decimal, spent: Iterable[Decimal]) -> bool:
        """Tell whether the charge fits. A charge of nothing is a mistake somewhere, and refused loudly."""
        if not charge.is_finite() or charge <= 0:
            raise ValueError(f"charge must be above 0, got {charge}")
        return charge <= self.left(spent)
