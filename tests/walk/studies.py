"""The studies that are walked: every default way to begin one, and a covering array of what can be
chosen.

A study is what its researcher wants; whether the site takes it is the site's to say. In the array
every two choices meet in some study, and most three: each study is the one, of many drawn, that
has most pairs, then triples, that no study before it has.
"""

import hashlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path
from subprocess import CalledProcessError, run

HOUSE = Path(__file__).parent.parent.parent
SEED, TRIED = 26, 40  # of the array; candidates for each of its studies
IN_ALL = 120  # studies of the array
SAMPLE = 4  # of it in each `make test`, and of the planner's kinds

FACTORS: dict[str, tuple[str, ...]] = {
    "begins": ("blank", "templates", "plan"),
    "kinds": ("yes_no", "choices", "ticks", "scales", "numbers", "calendar", "every"),
    "protection": ("device", "mixed", "publication"),
    "sent": ("all", "as one", "drawn", "drawn as one"),
    "people": ("link", "list", "strata"),
    "cap": ("as it is", "lower", "with δ"),
    "unit": ("respondent-in-study", "answer-in-study", "household-of-2"),
    "neighbours": ("change-one", "add-remove"),
    "rule": ("when-closed", "every", "continual", "on-request"),
    "languages": ("en", "zh-hans", "both"),
    "follow_ups": ("none", "everybody", "skip"),
    "results": ("public", "members"),
    "waves": ("one", "fresh", "kept"),
    "answers": ("expected", "few"),
}

PLANNED_KINDS: dict[str, str] = {  # rows of the planner, as its address holds them
    "yes_no": "many=6&kind=yes_no",
    "single": "many=4&kind=single&choices=5",
    "multiple": "many=2&kind=multiple&choices=5",
    "likert": "many=5&kind=likert&choices=5",
    "number": "many=3&kind=number",
    "mixed": "many=3&kind=yes_no&many=1&kind=single&choices=4&many=1&kind=number",
}
SIZES = ((800, "2"), (120, "1"), (3000, "3"))  # people, and the ε of one


@dataclass(frozen=True)
class Wanted:
    """What somebody wants of a study, in words that no form is needed for."""

    name: str
    begins: str = "blank"  # blank, templates, plan, file or library: how the draft is begun
    planned: str = ""  # what the planner is asked
    kinds: str = "yes_no"
    protection: str = "device"
    sent: str = "all"
    people: str = "link"
    cap: str = "as it is"
    unit: str = "respondent-in-study"
    neighbours: str = "change-one"
    rule: str = "when-closed"
    languages: str = "en"
    follow_ups: str = "none"
    results: str = "public"
    waves: str = "one"  # or two are planned, in which chance falls again, or answers keep theirs
    answers: str = "expected"  # as many as were expected, or fewer than are published
    is_default: bool = field(default=False, compare=False)  # nothing is chosen but what is offered

    def __str__(self) -> str:
        usual = Wanted("")
        chosen = [
            f"{name} {getattr(self, name)}"
            for name in ("begins", "planned", *FACTORS)
            if getattr(self, name) != getattr(usual, name)
        ]
        return f"{self.name} ({', '.join(dict.fromkeys(chosen)) or 'all as offered'})"


def defaults() -> list[Wanted]:
    """Return a study for every way to begin one, with all else as it is offered; and one whose
    numbers are refreshed, which needs what no study of the array has together.
    """
    planned = [
        Wanted(
            f"planned-{kind}-{people}",
            begins="plan",
            planned=f"n={people}&epsilon={epsilon}&{rows}",
            kinds=kind,
            is_default=True,
        )
        for (kind, rows), (people, epsilon) in product(PLANNED_KINDS.items(), SIZES)
    ]
    begun = ("offered", "blank", "templates", "library", "file")  # the planner's own proposal first
    others = [
        Wanted(
            f"default-{way}",
            begins="plan" if way == "offered" else way,
            kinds="every",
            is_default=True,
        )
        for way in begun
    ]
    listed = Wanted("default-list", kinds="yes_no", people="list", is_default=True)
    translated = Wanted("default-translated", kinds="every", languages="both", is_default=True)
    waves = [
        Wanted(f"default-waves-{draws}", begins="plan", waves=draws, is_default=True)
        for draws in FACTORS["waves"][1:]
    ]
    refreshed = Wanted("refreshed", cap="with δ", rule="continual")
    return [*others, listed, translated, refreshed, *waves, *planned]


def pairs(study: dict[str, str], many: int = 2) -> Iterator[frozenset[tuple[str, str]]]:
    return map(frozenset, combinations(study.items(), many))


def array() -> list[Wanted]:
    """Return the studies of the covering array."""
    chance = random.Random(SEED)
    met: set[frozenset[tuple[str, str]]] = set()
    left = {
        frozenset({(one, a), (other, b)})
        for one, other in combinations(FACTORS, 2)
        for a, b in product(FACTORS[one], FACTORS[other])
    }
    made: list[dict[str, str]] = []
    while len(made) < IN_ALL or left:
        drawn = []
        for _ in range(TRIED):
            study = {name: chance.choice(values) for name, values in FACTORS.items()}
            if left:  # one of the pairs that are missing is in every candidate
                study |= dict(chance.choice(sorted(left, key=sorted)))
            drawn.append(study)
        best = max(
            drawn,
            key=lambda each: (
                sum(pair in left for pair in pairs(each)),
                sum(three not in met for three in pairs(each, 3)),
            ),
        )
        left.difference_update(pairs(best))
        met.update(pairs(best, 3))
        made.append(best)
    return [Wanted(f"study-{at:03}", **each) for at, each in enumerate(made, start=1)]


def commit() -> str:
    """Return what names this state of the code: the commit, or one word where there is none."""
    try:
        found = run(
            ["git", "rev-parse", "HEAD"], cwd=HOUSE, capture_output=True, text=True, check=True
        )
    except (OSError, CalledProcessError):
        return "no commit"
    return found.stdout.strip()


def walked(named: str) -> set[str]:
    """Return the names of the studies that a commit has walked: of the array and of the planner's
    proposals a sample, and every other default way.
    """
    offered = defaults()
    of_planner = [each for each in offered if each.planned]
    others = [each for each in offered if not each.planned]
    drawn = sample(of_planner, named), sample(array(), named)
    return {each.name for own in (others, *drawn) for each in own}


def sample(of: Iterable[Wanted], named: str) -> list[Wanted]:
    """Return those of some studies that a commit has walked."""

    def place(study: Wanted) -> bytes:
        return hashlib.sha256(f"{named} {study.name}".encode()).digest()

    return sorted(sorted(of, key=place)[:SAMPLE], key=lambda each: each.name)
