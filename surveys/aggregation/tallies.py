"""What of a tally is published, and how people are estimated from it: everything around the draw but the draw.

Pure: no rows, no chance. A release puts noise on `vector`, a rehearsal on the same numbers of made-up people.

    channel          exact tally                  published vector                     L1  L2² (change-one)
    two reports      how many sent each           one count: the other is n minus it   1   1
    table            how many sent each report    the same                             2   2
    subset of w      how many hold each choice    the same                             2·min(w, k − w), both
    one_of           no and yes of each option    yes minus no of each option          2   4 (a bit that turns: 2²)
    number           how many sent each report    the same, two reports too            2   2
    distribution     how many sent each bin       the same, two bins too               2   2

The number of reports is public under change-one. A number with two reports is not one count: the intervals of its mean
and of a distribution take the noise of every count to be its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpengine.estimates import Estimate, Margin, Noise, share
from dpengine.local.channels import PlanChannel
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import Neighbours
from surveys.design import documents
from surveys.design.documents import Given


@dataclass(frozen=True, slots=True)
class PublicTally:
    """One question's tally as a vector of integers to put noise on."""

    name: str
    channel: PlanChannel | Given
    neighbours: Neighbours

    @property
    def cells(self) -> int:
        """Return how many counts the exact tally has."""
        if isinstance(self.channel, OneOf):
            return 2 * self.channel.options
        return self.channel.choices if isinstance(self.channel, Subset) else self.channel.reports

    @property
    def published(self) -> int:
        """Return how many numbers get noise."""
        if self.is_one_count:
            return 1
        return self.channel.options if isinstance(self.channel, OneOf) else self.cells

    @property
    def is_one_count(self) -> bool:
        two_reports = isinstance(self.channel, Table | Given) and self.channel.reports == 2
        return two_reports and self.neighbours is Neighbours.CHANGE_ONE

    @property
    def sensitivity(self) -> int:
        """Return the largest L1 distance between the vectors of two neighbours, in reports."""
        return 1 if self.is_one_count else self.channel.sensitivity(self.neighbours)

    @property
    def sensitivity_squared(self) -> int:
        """Return the largest squared L2 distance between them."""
        if isinstance(self.channel, OneOf):
            return self.channel.sensitivity_squared(self.neighbours)
        return self.sensitivity  # all others move counts by 1 each

    def vector(self, counts: Sequence[int]) -> list[int]:
        """Return the numbers to put noise on."""
        if isinstance(self.channel, OneOf):
            return self.channel.differences(counts)
        return list(counts[1:] if self.is_one_count else counts)

    def counts(self, noisy: list[int], n: int) -> list[int]:
        """Return a noisy count for every report from a noisy vector; of one_of, what was drawn for every option."""
        return [n - noisy[0], noisy[0]] if self.is_one_count else noisy

    def margins(self) -> list[Margin]:
        """Return a and b of every choice. ValueError for a number, which has none."""
        if isinstance(self.channel, NumberChannel | Distribution):
            raise ValueError(f"{self.name} has no choices: its numbers are a mean or a distribution")
        return self.channel.margins()

    def estimates(self, noisy: list[int], n: int, noise: Noise) -> list[Estimate]:
        """Return the share of every choice from noisy counts: post-processing, free of charge."""
        channel = self.channel
        if isinstance(channel, OneOf):
            return [channel.share(difference, n, noise) for difference in noisy]
        return [share(count, n, margin, noise) for count, margin in zip(noisy, self.margins(), strict=True)]


def tally_of(question: dict[str, Any], neighbours: Neighbours) -> PublicTally:
    """Return the tally of one question of a Plan. A number sent as given has none that is published."""
    content = {"questions": [question]}
    readers: dict[str, PlanChannel | Given] = {**documents.channels(content), **documents.given(content)}
    return PublicTally(question["name"], readers[question["name"]], neighbours)
