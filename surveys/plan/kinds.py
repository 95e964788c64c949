"""The kinds of questions: what each takes, what its Plan holds, and which channel it has.

A kind is one line of KINDS. Choices stand in one order: those that were written, then declining,
then "Does not apply" or "Not asked". What is counted is whole steps from the least one that the
question takes: of a number, or of a calendar (design/calendars.py): a month is year × 12 +
(month − 1), a date its week since Monday, 3 January of year 0. A scale whose mean is wanted is a
number whose values have words: its choices.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dpengine.local.channel import Channel, Learns
from dpengine.local.channels import channel_from

# What protects an answer: chance on the device, or only in what is published.
DEVICE, PUBLICATION = "device", "publication"
MULTIPLE, NUMBER, MONTH, DATE, TEXT = "multiple", "number", "month", "date", "text"
SCALE = "likert"
MEAN, DISTRIBUTION = Learns.MEAN.value, Learns.DISTRIBUTION.value
# With “Prefer not to say”: files number them 0 to 999; in the clear they take a byte each.
MAX_OPTIONS = {DEVICE: 1000, PUBLICATION: 256}
MAX_ANSWER = 2**31  # that a number question may take, either side of 0
MAX_STEPS = 10_000  # of what is counted and changed on the device
MAX_BINS = 64
MAX_ROWS = 64  # of a table
NAME = re.compile("[a-z][a-z0-9_]{0,19}")
MAX_CODE = 32  # characters
CODE = re.compile(f"[A-Za-z0-9._-]{{1,{MAX_CODE}}}")  # of a choice, as other programs name it


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of question: of choices, or of whole steps from `first` to `last`."""

    name: str
    least_choices: int = 0
    max_choices: int = 0
    first: int = 0
    last: int = 0
    has_unit: bool = False  # whether its author says what it counts
    only_on_device: bool = False
    learns: Learns | None = None  # on the device; None: what the question wants
    is_matrix: bool = False  # whether it may stand in a matrix

    @property
    def is_counted(self) -> bool:
        return not self.max_choices

    @property
    def is_condition(self) -> bool:
        """Tell whether other questions may depend on its answer."""
        return self.learns is Learns.SHARES

    @property
    def parts(self) -> frozenset[str]:
        """Return the parts of a question that only some kinds have."""
        return frozenset({"least", "most", "unit"} if self.is_counted else ())

    def channel(self, document: Any, wanted: str, least: int, most: int) -> Channel:
        """Return the channel on the device that a Plan's JSON describes, for answers from least to
        most if they are counted. ValueError names what is wrong with it.
        """
        bounds = (Decimal(least), Decimal(most)) if self.is_counted else None
        return channel_from(document, self.learns or Learns(wanted), bounds)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("yes_no", 2, 2, learns=Learns.SHARES),
        Kind("single", 2, 1000, learns=Learns.SHARES),
        Kind(MULTIPLE, 2, 50, learns=Learns.TICKS, only_on_device=True),
        Kind(SCALE, 3, 11, learns=Learns.SHARES, is_matrix=True),
        Kind(NUMBER, first=-MAX_ANSWER, last=MAX_ANSWER, has_unit=True),
        # from January of year 1 to December of year 9999
        Kind(MONTH, first=12, last=119_999, only_on_device=True),
        # whole weeks of the same years: the first day of both is a Monday
        Kind(DATE, first=52, last=521_773, only_on_device=True),
    )
}
WITH_STEPS = tuple(kind.name for kind in KINDS.values() if kind.is_counted)
CONDITIONS = tuple(kind.name for kind in KINDS.values() if kind.is_condition)
