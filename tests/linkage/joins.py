"""Every order on the list's side against every order on the reports' side.

Truth      who is whose, of people that whoever audits made up: their stratum, the order in which
           they fetched and in which they answered, identifiers on either side.
Sets       Alone, a copy hides people of one stratum among each other. Of several copies the insider
           sees what changed in between: a set is a stratum and what changed when, on both sides.
Orders     all that rows can be sorted by: columns, where they stand, when they were written, where
           the bytes are; in sets over all copies also a clock, of who watched both doors. (A clock
           on both sides is a join that needs no copy: it is not tried.)
Join       both sides of a set are sorted, and the k-th is taken for the k-th; ties by chance; and
           the last for the first.
Found      what would be right, or in the same half, less than once in 10⁶ by chance (chance.py),
           times the number of joins that were tried.
"""

import csv
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.linkage import chance
from tests.linkage.copies import Copy, places, read

Ints = npt.NDArray[np.int64]
RARE = 1e-6
CLOCK, SHORTEST = "a watcher’s clock", 8  # letters of an identifier
SIDES = ("list", "report")
NEEDED = ("stratum", "fetched", "answered")


class BadTruth(Exception):
    """The file of who is whose: which part, what was expected, what came."""


@dataclass(frozen=True)
class Person:
    stratum: str
    clock: tuple[int, int]  # when they fetched and answered, in whole numbers
    names: tuple[tuple[str, ...], tuple[str, ...]]  # identifiers: the list's, the reports'


@dataclass(frozen=True)
class Join:
    """An order of the list beside one of the reports: how many people were joined rightly."""

    copies: str
    one: str
    other: str
    people: int
    sets: int
    right: int
    halves: int
    likely: float  # by chance, corrected for all joins

    @property
    def is_found(self) -> bool:
        return self.likely < RARE


@dataclass(frozen=True)
class Audit:
    joins: Sequence[Join]
    sizes: Mapping[str, Counter[int]]  # of anonymity sets, by what was looked at
    named: Mapping[str, int]  # identifiers in the text of logs and the like, by file

    @property
    def found(self) -> list[Join]:
        return sorted((each for each in self.joins if each.is_found), key=lambda each: each.likely)


def people_of(path: Path) -> list[Person]:
    """Return who is whose, from a CSV file: stratum, fetched, answered, list…, report…"""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = list(rows[0]) if rows else []
    sides = [[each for each in columns if each.startswith(side)] for side in SIDES]
    if missing := [each for each in NEEDED if each not in columns]:
        raise BadTruth(f"{path}: expected columns {', '.join(NEEDED)}, without {missing[0]}")
    if not all(sides):
        raise BadTruth(f"{path}: expected columns list… and report… with identifiers, got none")
    return [_person(row, sides, f"{path}, row {at}") for at, row in enumerate(rows, 2)]


def _person(row: Mapping[str, str], sides: Sequence[Sequence[str]], where: str) -> Person:
    try:
        clock = int(row["fetched"]), int(row["answered"])
    except ValueError:
        raise BadTruth(f"{where}: expected whole numbers as fetched and answered") from None
    one, other = (tuple(row[each] for each in side if row[each]) for side in sides)
    if any(len(each) < SHORTEST for each in (*one, *other)):
        raise BadTruth(f"{where}: expected identifiers of {SHORTEST} letters or more")
    return Person(row["stratum"], clock, (one, other))


def audit(people: Sequence[Person], dumps: Iterable[str], texts: Iterable[Path]) -> Audit:
    """Try every join of some copies, the oldest first; and look for identifiers in other files."""
    known = {name for person in people for side in person.names for name in side}
    copies = [read(each, known) for each in dumps]
    named = {str(each): len(places(each, known)) for each in texts}
    looks = [(copy.name, *_alone(people, copy)) for copy in copies]
    if len(copies) > 1:
        looks.append(("all copies", *_over_time(people, copies)))
    sizes = {name: Counter(Counter(sets).values()) for name, sets, _ in looks}
    tried = [each for name, sets, orders in looks for each in _joined(name, sets, orders)]
    return Audit([_judged(each, len(tried)) for each in tried], sizes, named)


Orders = list[dict[str, list[Any]]]  # of either side: name, a score a person; None: has none
Tried = tuple[str, str, str, int, int, tuple[int, ...]]  # … right, halves, sizes of sets


def _alone(people: Sequence[Person], copy: Copy) -> tuple[list[Hashable], Orders]:
    return [person.stratum for person in people], _orders(people, [copy])


def _over_time(people: Sequence[Person], copies: Sequence[Copy]) -> tuple[list[Hashable], Orders]:
    """Return sets of what changed when, and the orders in all copies with a watcher's clock."""
    orders = _orders(people, copies)
    for side, own in enumerate(orders):
        own[CLOCK] = [person.clock[side] for person in people]
    sets: list[Hashable] = [
        (person.stratum, *(_changes(names, copies) for names in person.names)) for person in people
    ]
    return sets, orders


def _changes(names: Sequence[str], copies: Sequence[Copy]) -> tuple[int, ...]:
    """Return the copies in which something of a person's rows is not as in the one before."""
    states = [{row.state() for name in names for row in copy.rows.get(name, [])} for copy in copies]
    return tuple(at for at in range(1, len(states)) if states[at] != states[at - 1])


def _orders(people: Sequence[Person], copies: Sequence[Copy]) -> Orders:
    sides: Orders = [{}, {}]
    for number, copy in enumerate(copies):
        prefix = f"{copy.name} {number}: " if len(copies) > 1 else ""
        for at, person in enumerate(people):
            for side, names in enumerate(person.names):
                for part, score in _scores(names, copy):
                    of = sides[side].setdefault(prefix + part, [None] * len(people))
                    of[at] = score if of[at] is None else of[at]
    return sides


def _scores(names: Sequence[str], copy: Copy) -> Iterator[tuple[str, Any]]:
    for number, name in enumerate(names):
        for row in copy.rows.get(name, []):
            yield from row.scores()
        for file, place in copy.bytes.items():
            if name in place:
                yield f"bytes of {file} ({number})", place[name]


def _joined(copies: str, sets: Sequence[Hashable], orders: Orders) -> Iterator[Tried]:
    groups = np.unique([repr(each) for each in sets], return_inverse=True)[1]
    ranked = [{name: _ranks(own) for name, own in side.items()} for side in orders]
    luck = np.random.default_rng(len(sets))  # ties: what is tried is tried again the same way
    for one, a in ranked[0].items():
        for other, b in ranked[1].items():
            who = np.flatnonzero((a >= 0) & (b >= 0))
            if (CLOCK in one and CLOCK in other) or len(who) < 2:
                continue
            own, sizes = groups[who], np.bincount(groups[who])
            places = [_places(own, side[who], luck) for side in (a, b)]
            sizes = sizes[sizes > 0]
            of = np.bincount(own)[own]  # the size of each one's set
            halves = int(((places[0] < of // 2) & (places[1] < of // 2)).sum())
            right = max(
                int((places[0] == there).sum()) for there in (places[1], of - 1 - places[1])
            )
            yield copies, one, other, right, halves, tuple(sizes.tolist())


def _ranks(scores: Sequence[Any]) -> Ints:
    """Return the rank of each score among all, equal ones alike, and −1 for none."""
    keys = [None if each is None else (isinstance(each, str), each) for each in scores]
    rank: dict[Any, int] = {
        key: at for at, key in enumerate(sorted({key for key in keys if key is not None}))
    }
    return np.array([-1 if key is None else rank[key] for key in keys])


def _places(groups: Ints, ranks: Ints, luck: np.random.Generator) -> Ints:
    """Return everybody's place within their set, by rank, ties by chance."""
    order = np.lexsort((luck.random(len(ranks)), ranks, groups))
    begins = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    found = np.empty(len(ranks), dtype=np.int64)
    found[order] = np.arange(len(ranks)) - begins[groups[order]]
    return found


def _judged(tried: Tried, joins: int) -> Join:
    copies, one, other, right, halves, sizes = tried
    each = 2 * chance.of_right(right, sizes), chance.of_halves(halves, sizes)  # 2: either way round
    likely = min(2 * joins * min(each), 1.0)
    return Join(copies, one, other, sum(sizes), len(sizes), right, halves, likely)
