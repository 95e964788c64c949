"""The exact loss of releases of counts that devices' chance changed: all data sets of n people, all
who may change an answer, all that may be published.

A data set is how many of the others give each answer, and what is published depends on how many
gave each report, so that laws of counts are all there is:

    Pr[published | a] = Σ_r P[a, r]·Σ_s L(s)·Π K(y, s + f_r)

with L the law of the others' reports, a convolution of multinomials, f_r what the report adds to
the numbers of a release, and K the chances of its noise, p^|y − s| on each. Beyond what counts can
reach, 0 to n, both sides fall off by the same factor: outcomes from 0 to n are all. Releases of one
path multiply, in whatever order they came and by whatever they were chosen: what is true of all
outcomes of some releases is true of every strategy that can make them.

Sums of what is not negative, in floats: right to about 1e-13 of the odds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
AT_ONCE = 2**20  # chances: outcomes × states


@dataclass(frozen=True)
class Release:
    """What one report adds to each number [report, number], and the noise on each: 0 is none."""

    adds: Ints
    scale: float

    def chances(self, number: int, sums: Ints, n: int) -> Floats:
        """Return those of all that counts reach [outcome, state], up to a common factor."""
        least, most = min(self.adds[:, number].min(), 0), max(self.adds[:, number].max(), 0)
        apart = np.abs(np.arange(n * least, n * most + 1)[:, np.newaxis] - sums[:, number])
        return np.exp(-apart / self.scale) if self.scale else (apart == 0).astype(np.float64)


def greatest_loss(chances: Floats, n: int, releases: Sequence[Release]) -> float:
    """Return the greatest log odds of anything published together, between two answers of one
    person whom n − 1 others hide. `chances` are [answer, report].
    """
    states, laws = others_of(chances, n - 1)
    factors = [
        [
            release.chances(number, states @ release.adds + release.adds[report], n)
            for release in releases
            for number in range(release.adds.shape[1])
        ]
        for report in range(chances.shape[1])
    ]
    sizes, apart = [len(factor) for factor in factors[0]], 0
    while apart < len(sizes) and math.prod(sizes[apart:]) * len(states) > AT_ONCE:
        apart += 1
    worst = 1.0
    for first in product(*map(range, sizes[:apart])):
        by_report = [_together(own, first) @ laws.T for own in factors]
        found = np.tensordot(chances, np.array(by_report), axes=1)  # [answer, outcome, data set]
        high, low = found.max(axis=0), found.min(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            worst = max(worst, float(np.nanmax(high / low, initial=1.0)))
    return math.log(worst)


def _together(factors: Sequence[Floats], first: Sequence[int]) -> Floats:
    """Return the chances of all outcomes [outcome, state] whose first numbers are these."""
    known = np.ones((1, factors[0].shape[1]))
    for at, own in enumerate(factors):
        own = own[first[at]][np.newaxis] if at < len(first) else own
        known = (known[:, np.newaxis] * own).reshape(-1, known.shape[1])
    return known


def others_of(chances: Floats, people: int) -> tuple[Ints, Floats]:
    """Return how many gave each report [state, report], and the law of that for every data set of
    so many people [data set, state].
    """
    answers, reports = chances.shape
    levels = [_compositions(many, reports) for many in range(people + 1)]
    places = [
        {state: at for at, state in enumerate(map(tuple, level.tolist()))} for level in levels
    ]
    steps = []
    for many in range(people):
        more = levels[many][:, None, :] + np.eye(reports, dtype=np.int64)
        place = places[many + 1]
        steps.append(np.array([[place[tuple(to)] for to in row] for row in more.tolist()]))
    laws = {(): np.ones(1)}
    for many in range(people):
        grown = {}
        for given, law in laws.items():
            for answer in range(given[-1] if given else 0, answers):
                new = np.zeros(len(levels[many + 1]))
                np.add.at(new, steps[many], law[:, None] * chances[answer])
                grown[(*given, answer)] = new
        laws = grown
    return levels[people], np.array(list(laws.values()))


def _compositions(people: int, reports: int) -> Ints:
    given = combinations_with_replacement(range(reports), people)
    rows = [np.bincount(each, minlength=reports) if each else np.zeros(reports) for each in given]
    return np.array(rows, dtype=np.int64)
