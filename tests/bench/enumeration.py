"""What answers really lose, beside what is charged: all data sets of up to 12 people, all outcomes.

One question of two to four choices, ticks of two options, or two questions of two choices, through
the channels that a Plan would have; up to three releases of the same reports, with the noise that a
publication of that strength has, or none. Losses are exact (tests/enumeration.py); a charge is the
ledger's, the least of all orders. A path of releases is charged alike whatever chose them, so that
a strategy that looks at what came before is worth no more than the worst path that it can take:
every row is one.

Tight    where two likelihoods are all that stands behind a bound: noise over reports of two choices
         apart, and reports as they came. Wanted: never above a charge, within 1 % where it is tight.

    python -m tests.bench.enumeration
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, reduce
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np

from dpengine.central.counts import Tally, laplace_or_none
from dpengine.contraction import Noise, Reading, loss_of
from dpengine.local.channel import Channel
from dpengine.local.channels import channel_for
from dpengine.local.one_of import OneOf
from dpengine.local.table import Table
from dpengine.privacy import Neighbours
from tests.bench.report import save, table
from tests.enumeration import Floats, Ints, Release, greatest_loss
from tests.tables import chances_of

CHANGED = Neighbours.CHANGE_ONE
EPSILONS = ("0.5", "1", "3")  # of an answer
SIZES = (1, 4, 8, 12)
STRENGTHS = {  # of the noises of so many releases; None: as they came
    1: [(Fraction(1, 4),), (Fraction(1),), (Fraction(4),), (None,)],
    2: [(Fraction(1, 4), Fraction(1)), (Fraction(1), Fraction(1)), (Fraction(1, 2), None)],
    3: [(Fraction(1, 4), Fraction(1, 2), Fraction(1))],
}
MOST = 2e10  # products in one row: what has more is left out
LEAST, ROUNDING = 0.99, 1e-9


@dataclass(frozen=True)
class Counted:
    """What can be released: the questions it reads, what a report adds, how far one moves it."""

    questions: frozenset[str]
    adds: Ints  # [report, number]
    l1: int
    is_tight: bool  # a noise over it


@dataclass(frozen=True)
class Asked:
    """The questions of one person. A report is that of all of them, each drawn apart."""

    name: str
    epsilon: str
    channels: Sequence[Channel]

    @cached_property
    def chances(self) -> Floats:
        return np.asarray(reduce(np.kron, [chances_of(each)[1] for each in self.channels]))

    @property
    def losses(self) -> dict[str, Fraction]:
        return {f"q{at}": channel.loss for at, channel in enumerate(self.channels, 1)}

    @cached_property
    def menu(self) -> dict[str, Counted]:
        """Return the counts of each question, and of two the pairs."""
        reports = [chances_of(channel)[0] for channel in self.channels]
        menu = {}
        for at, channel in enumerate(self.channels):
            adds = [
                channel.released(channel.tally(channel.pack([report[at]])), CHANGED)
                for report in product(*reports)
            ]
            moved, name = channel.moved(CHANGED), f"q{at + 1}"
            menu[name] = Counted(frozenset({name}), np.array(adds), moved.l1, moved.numbers == 1)
        if len(self.channels) > 1:
            pairs = np.eye(math.prod(map(len, reports)), dtype=np.int64)
            moved_pairs = Tally(len(pairs), CHANGED, 1).moved
            menu["pairs"] = Counted(frozenset(menu), pairs, moved_pairs, is_tight=False)
        return menu


def questions(epsilon: str) -> list[Asked]:
    given = Decimal(epsilon)
    yes_no = Table.binary(given)
    return [
        Asked("2 choices", epsilon, [yes_no]),
        Asked("3 choices", epsilon, [channel_for(3, given)]),
        Asked("4 choices", epsilon, [channel_for(4, given)]),
        Asked("2 ticks", epsilon, [OneOf.for_epsilon(2, given)]),
        Asked("2 × 2 choices", epsilon, [yes_no, Table.binary(given / 2)]),
    ]


@dataclass(frozen=True)
class Path:
    """Some releases, in any order, of so many people's reports."""

    asked: Asked
    names: tuple[str, ...]
    strengths: tuple[Fraction | None, ...]
    n: int

    @property
    def work(self) -> float:
        """Return about how many products are summed."""
        reports = self.asked.chances.shape[1]
        # how many gave each answer, and each report
        sides = math.prod(
            math.comb(self.n + many - 2, many - 1) for many in self.asked.chances.shape
        )
        adds = [self.asked.menu[name].adds for name in self.names]
        ranges = [each.max(axis=0) - np.minimum(each.min(axis=0), 0) for each in adds]
        outcomes = math.prod(self.n * int(reach) + 1 for each in ranges for reach in each)
        return float(outcomes * sides * reports)

    def row(self) -> dict[str, Any]:
        asked = self.asked
        read = [asked.menu[name] for name in self.names]
        noises = [laplace_or_none(s, own.l1) for s, own in zip(self.strengths, read, strict=True)]
        releases = [Release(own.adds, noise.scale) for own, noise in zip(read, noises, strict=True)]
        readings = [
            Reading(
                {name: asked.losses[name] for name in own.questions},
                [Noise(own.questions, noise.cost.epsilon if noise.scale else None)],
            )
            for own, noise in zip(read, noises, strict=True)
        ]
        charged = min(float(loss_of(order) or 0) for order in permutations(readings))
        lost = greatest_loss(asked.chances, self.n, releases)
        return {
            "asked": asked.name,
            "ε": asked.epsilon,
            "n": self.n,
            "released": ", ".join(self.names),
            "noises": ", ".join(str(each or "none") for each in self.strengths),
            "charged": charged,
            "lost": lost,
            "lost / charged": lost / charged,
            "tight": all(
                own.is_tight or not noise.scale for own, noise in zip(read, noises, strict=True)
            ),
        }


def paths(most: float, epsilons: Sequence[str] = EPSILONS) -> Iterator[Path]:
    """Yield the paths of at most so much work."""
    for epsilon, n in product(epsilons, SIZES):
        for asked, (many, strengths) in product(questions(epsilon), STRENGTHS.items()):
            for names in combinations_with_replacement(asked.menu, many):
                for each in strengths:
                    path = Path(asked, names, each, n)
                    if path.work <= most:
                        yield path


def main() -> None:
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(Path.row, paths(MOST)))
    table("Exact losses over charges: all data sets, all outcomes, all orders", list(summed(rows)))
    save("enumeration", rows)
    over = max(row["lost / charged"] for row in rows)
    tight = min(row["lost / charged"] for row in rows if row["tight"])
    print(
        f"\n{len(rows)} paths. Lost / charged: at most {over:.9f} (allowed: 1); where the rule is"
    )
    print(f"tight at least {tight:.9f} (wanted: {LEAST}).")
    assert over <= 1 + ROUNDING, "more was lost than is charged"
    assert tight >= LEAST, "more is charged than need be"


def summed(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for asked, is_tight in dict.fromkeys((row["asked"], row["tight"]) for row in rows):
        for many in STRENGTHS:
            mine = [
                row
                for row in rows
                if (row["asked"], row["tight"], row["released"].count(","))
                == (asked, is_tight, many - 1)
            ]
            if mine:
                found = [row["lost / charged"] for row in mine]
                yield {
                    "asked": asked,
                    "releases": many,
                    "tight": "yes" if is_tight else "",
                    "paths": len(mine),
                    "most people": max(row["n"] for row in mine),
                    "least": min(found),
                    "most": max(found),
                }


if __name__ == "__main__":
    main()
