"""What a channel does with its reports when a table draws them: packing, counting, sensitivity are the table's own."""

from collections.abc import Sequence
from typing import Any

from dpengine.estimates import Counts
from dpengine.local.table import Table
from dpengine.privacy import Neighbours


class ByTable:
    """A channel that turns an answer into a row of its table: for numbers, and for their distribution."""

    __slots__ = ()
    table: Table

    @property
    def reports(self) -> int:
        return self.table.reports

    @property
    def width(self) -> int:
        """Return the bytes of one packed report."""
        return self.table.width

    def accepts(self, report: Any) -> bool:
        """Tell whether a browser with this channel can have sent this value."""
        return self.table.accepts(report)

    def pack(self, reports: Sequence[int]) -> bytes:
        return self.table.pack(reports)

    def tally(self, packed: bytes) -> Counts:
        """Return for every report how often it is among the packed ones."""
        return self.table.tally(packed)

    def sensitivity(self, neighbours: Neighbours) -> int:
        """Return the largest L1 distance between the tallies of two neighbours."""
        return self.table.sensitivity(neighbours)
