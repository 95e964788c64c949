"""What the charges to one budget add up to: all that a filter asks of them, kept by adding.

A filter asks for sums over each part of the people, and for whether every charge was pure
(dpengine.accounting.filters); what answers lose follows from what was read, added up
(dpengine.contraction.Together). Neither grows with the number of charges: sums are as many as
parts, and what was read as many as reports and sets of reports that one noise covered.

    parts  {part: [charges, Σρ, Σδ, Σε of those that have one, how many have none], …}
           whole numbers of the last place of their columns, so that a charge can be taken off again
    reads  a row’s `reads` a line, one for each draw of a device; reports as they came (reads.py)
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpengine.accounting.filters import Charge
from dpengine.contraction import Reading, Together
from dpengine.privacy import Cost
from surveys.ledger import reads
from surveys.ledger.fields import DeltaField, EpsilonField, RhoField

UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
Columns = dict[str, Any]  # of a charge, as the database holds them


@dataclass(slots=True)
class Sums:
    """Charges to parts of the people, added up."""

    parts: dict[str, list[int]] = field(default_factory=dict)

    def add(self, charge: Columns, times: int = 1) -> None:
        """Add a charge; with −1 times, take it off."""
        epsilon = charge["epsilon"]
        sums = [1, charge["rho"], charge["delta"], epsilon or 0, int(epsilon is None)]
        self.merge(Sums({charge["part"]: sums}), times)

    def merge(self, other: "Sums", times: int = 1) -> None:
        """Add other charges; with −1 times, take them off."""
        for part, sums in other.parts.items():
            pairs = zip(self.parts.get(part, [0] * 5), sums, strict=True)
            self.parts[part] = [one + times * another for one, another in pairs]
            if not self.parts[part][0]:
                del self.parts[part]

    def copy(self) -> "Sums":
        return Sums({part: [*sums] for part, sums in self.parts.items()})

    @property
    def charges(self) -> list[Charge]:
        """Return one charge for each part, which means to a filter what all of them mean.
        ValueError where Σδ is 1 or more, which no service lets come about.
        """
        return [Charge(part, cost_of(sums)) for part, sums in self.parts.items()]

    def to_text(self) -> str:
        return json.dumps(self.parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> "Sums":
        return cls(json.loads(text) if text else {})


def cost_of(sums: Iterable[int]) -> Cost:
    _, rho, delta, epsilon, without = sums
    return Cost(
        rho=Fraction(rho, 10**RhoField.places),
        delta=Fraction(delta, 10**DeltaField.places),
        epsilon=None if without else Fraction(epsilon, 10**EpsilonField.places),
    )


@dataclass(slots=True)
class Running:
    """The charges to a budget, added up row by row."""

    sums: Sums = field(default_factory=Sums)
    read: Together = field(default_factory=Together)
    charges: int = 0
    number: int = 0
    position: int = 0
    first_at: int = 0
    is_readable: bool = True  # what rows say that they read

    def add(self, columns: Columns, *, counts_answers: bool) -> None:
        self.sums.add(columns)
        if counts_answers:
            try:
                self.read.add(reads.from_text(columns["reads"] or ""))
            except UNREADABLE:
                self.is_readable = False
        self.first_at = self.first_at if self.charges else columns["at"]
        self.charges += 1
        self.number, self.position = columns["number"], columns["position"]

    @property
    def columns(self) -> Columns:
        """Return them as the columns of a total."""
        return {
            "charges": self.charges,
            "number": self.number,
            "position": self.position,
            "first_at": self.first_at,
            "parts": self.sums.to_text(),
            "reads": readings_to_text(self.read.readings),
        }

    @classmethod
    def of(cls, columns: Columns | None) -> "Running":
        """Return what the columns of a total say."""
        if columns is None:
            return cls()
        return cls(
            Sums.from_text(columns["parts"]),
            Together(readings_from_text(columns["reads"])),
            *(columns[name] for name in ("charges", "number", "position", "first_at")),
        )


def readings_to_text(readings: Iterable[Reading]) -> str:
    return "\n".join(reads.to_text(reading, in_order=True) for reading in readings)


def readings_from_text(text: str) -> list[Reading]:
    return [reads.from_text(each) for each in text.split("\n") if each]
