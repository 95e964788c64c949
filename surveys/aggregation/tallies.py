"""A question's tally as a publication sees it: its name, its channel, and which neighbours count.

Pure: no rows, no chance. A release puts noise on `vector`, a rehearsal on the same numbers of
made-up people.

    channel        exact tally                 published vector                     L1  L2²
    two reports    how many sent each          one count: the other is n minus it   1   1
    table          how many sent each report   the same                             2   2
    subset of w    how many hold each choice   the same                             2·min(w, k − w)
    one_of of s    no and yes of each option   yes minus no of each option          2s  4s (ticks)
    number         how many sent each report   the same, two reports too            2   2
    distribution   how many sent each bin      the same, two bins too               2   2

L1 and L2² are under change-one, where the number of reports is public.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.estimates import KnownSum, Noise
from dpengine.local.channel import Channel, Moved
from dpengine.privacy import Neighbours
from surveys.plan.content import PlanQuestion


@dataclass(frozen=True, slots=True)
class PublicTally:
    """One question's tally as a vector of integers to put noise on."""

    name: str
    channel: Channel
    neighbours: Neighbours
    counts_answers: bool = False  # whether noise is chosen for what these lose

    @property
    def moved(self) -> Moved:
        """Return how many numbers are published, and how far apart those of two neighbours are."""
        return (
            self.channel.swapped() if self.counts_answers else self.channel.moved(self.neighbours)
        )

    def vector(self, counts: Sequence[int]) -> list[int]:
        """Return the numbers to put noise on."""
        return self.channel.released(counts, self.neighbours)

    def noise_left(self, noise: Noise) -> Noise:
        """Return the law of the noise in counts once they have the sum that is public."""
        return self.channel.noise_left(noise, self.neighbours)

    def has_known_sum(self, noise: Noise) -> bool:
        """Tell whether a sum that is public takes a part of this noise."""
        return isinstance(self.noise_left(noise), KnownSum)


def tally_of(
    question: PlanQuestion, neighbours: Neighbours, *, counts_answers: bool = False
) -> PublicTally:
    """Return the tally of one question of a Plan. A number in the clear has none published."""
    return PublicTally(question.name, question.channel, neighbours, counts_answers)
