"""What of a tally is published, and how people are estimated from it: everything around the draw but the draw."""

from dataclasses import dataclass

from dpengine.estimates import Estimate, Noise, share
from dpengine.local.channels import Channel
from dpengine.local.table import Table
from dpengine.privacy import Neighbours
from surveys.design.documents import Given


@dataclass(frozen=True, slots=True)
class PublicTally:
    """One question's tally as a vector of integers to put noise on.

    Under change-one the number of reports is public. A question with two possible reports is then
    one count, for the other is n minus it; changing one report moves it by 1. Any other tally moves
    by what its channel says. An answer sent as given has no channel; its tally counts people themselves.
    """

    name: str
    channel: Channel | Given
    neighbours: Neighbours

    @property
    def is_one_count(self) -> bool:
        two_reports = isinstance(self.channel, Table | Given) and self.channel.reports == 2
        return two_reports and self.neighbours is Neighbours.CHANGE_ONE

    @property
    def sensitivity(self) -> int:
        """Return the largest L1 distance between the vectors of two neighbours, in reports."""
        return 1 if self.is_one_count else self.channel.sensitivity(self.neighbours)

    def vector(self, counts: list[int]) -> list[int]:
        """Return the counts to put noise on."""
        return counts[1:] if self.is_one_count else counts

    def counts(self, noisy: list[int], n: int) -> list[int]:
        """Return a noisy count for every report from a noisy vector."""
        return [n - noisy[0], noisy[0]] if self.is_one_count else noisy

    def estimates(self, noisy: list[int], n: int, noise: Noise) -> list[Estimate]:
        """Return the share of every choice from noisy counts: post-processing, free of charge."""
        return [share(count, n, margin, noise) for count, margin in zip(noisy, self.channel.margins(), strict=True)]
