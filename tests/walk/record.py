"""What the pages of some studies told when somebody last looked at it: one file for each study, so
that a page that comes to tell something else is seen, whatever that is.

Chance and the clock are fixed for these studies. Sentences can be worded anew: of lines that never
stood anywhere only the numbers are compared. All else that is meant to change is recorded again,
after a look at what the test shows: CANDOR_WALK=record pytest tests/walk -k NAME
"""

import lzma
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from dpengine import randomness
from dpengine.central import samplers
from tests.walk.pages import Page

FOLDER = Path(__file__).parent / "recorded"
IS_RECORDING = os.environ.get("CANDOR_WALK") == "record"
STUDIES = (  # defaults, and of the array those in which most choices meet
    *("default-blank", "default-file", "default-list", "default-offered", "default-templates"),
    *("default-translated", "default-waves-fresh", "default-waves-kept", "refreshed"),
    *("study-003", "study-004", "study-006", "study-013"),
    *("study-014", "study-032", "study-039", "study-069", "study-095", "study-113"),
)
NEW_EACH_TIME = re.compile(
    r"(?<=\.\d\.)[\w-]{22}"  # a code
    r"|\b[0-9A-Z]{4}(?:-[0-9A-Z]{4}){2}\b"  # a receipt
    r"|(?<![\w.])(?=\d*[a-f])[0-9a-f]{6,}(?!\w)"  # a digest, or how it begins
    r"|(?<![\w.])\d{6,}(?=…)"  # how one begins that has no letter there
    r"|(?<=/)[\w-]{20,}(?::[\w-]+)*(?=/)"  # what is signed
    r"|testserver/letters/stop/\S+"
    r"|(?<=/people/)\d+(?=/)"  # a key of a database
)
# what is drawn anew each time; what the site tells of all studies, of which each is visited once
LEFT_OUT = re.compile(r"/rehearse/|\.(?:xlsx|svg|png|ics|sav|dta|parquet)\b|/ledger/|/api/")
# what a form has of one site, or moment
OF_ONE = ("csrfmiddlewaretoken", "question", "panel", "confirmed")
NUMBER = re.compile(  # with its sign and what it counts, as far as another one would be another fact
    r"(?:[−-]\s?)?\d[\d,.]*(?:\s?%)?|[ερδ]|at most|at least|最多|至少"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
GLOSSARY = "/help/glossary/"  # a word leads there on whichever page it is met: that tells no fact
LONG = re.compile(r"\d+\.\d{7,}")  # as machines are told it: the last digits are a processor's own
MOST = 12  # lines of a file that are recorded, and differences that are told of a page


def told(page: Page) -> list[str]:
    """Return what a page tells: its lines, its links, what its forms hold, and what machines are
    told.
    """
    if page.html:
        forms = (
            f"form {each.method} {each.action()} {name} {value}"
            for each in page.forms
            for name, value in [("", ""), *each.data().items()]
            if name not in OF_ONE
        )
        marks = (
            f"mark {name}={value}"
            for node in page.main.walk()
            for name, value in node.attrs.items()
            if name.startswith("data-") or (name == "value" and node.tag == "data")
        )
        links = (f"link {each}" for each in page.links if each != GLOSSARY)
        lines = [*page.main.text.split("\n"), *links, *forms, *marks]
    elif page.kind in ("text/csv", "application/json", "application/yaml"):
        lines = page.content.decode("utf-8-sig").splitlines()[
            : MOST if "export" in page.address else None
        ]
    else:
        lines = []
    return [_settled(f"{page.status}"), *map(_settled, lines)]


def _settled(line: str) -> str:
    return NEW_EACH_TIME.sub("#", LONG.sub(lambda number: f"{float(number[0]):.4g}", line))


@dataclass
class Record:
    """What was told so far in one walk, visit after visit."""

    study: str
    visits: list[tuple[str, list[str]]] = field(default_factory=list)

    def add(self, step: str, here: str, page: Page) -> None:
        if not LEFT_OUT.search(here):
            self.visits.append((_settled(f"{step}: {here}"), told(page)))

    def wrong(self) -> Iterator[tuple[str, str]]:
        """Yield what is told otherwise than it was recorded; record it, where that is asked for."""
        path = FOLDER / f"{self.study}.xz"
        if IS_RECORDING:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(lzma.compress(_written(self.visits).encode(), preset=9))
            return
        before = _read(lzma.decompress(path.read_bytes()).decode())
        known = {line for _where, lines in before for line in lines}
        left = Counter(where for where, _lines in self.visits)
        own: dict[str, list[list[str]]] = {}
        for where, lines in before:
            own.setdefault(where, []).append(lines)
        left.subtract(where for where, _lines in before)
        for where, count in left.items():
            if count:
                yield where, f"is visited {abs(count)} times {'more' if count > 0 else 'less'}"
        for where, lines in self.visits:
            for what in differences(own[where].pop(0), lines, known) if own.get(where) else ():
                yield where, what


def differences(before: Sequence[str], now: Sequence[str], known: set[str]) -> Iterator[str]:
    """Yield what a page tells otherwise: a line that stands elsewhere, other numbers, or the same
    in another order.
    """
    if _fixed(before, set(now)) == _fixed(now, known) and len(before) <= len(now):
        return
    gone, come = Counter(before) - Counter(now), Counter(now) - Counter(before)
    here = [f"− {line}" for line in gone][:MOST] + [f"+ {line}" for line in come][:MOST]
    yield "tells otherwise than it was recorded:\n    " + "\n    ".join(here or ["another order"])


def _fixed(lines: Sequence[str], others: set[str]) -> list[str]:
    """Return what may not change of a page: its lines, and of those that no other page has, and
    may be worded anew, their numbers.
    """
    fixed: list[str] = []
    for line in lines:
        is_fixed = line in others or line.startswith(("link ", "form ", "mark "))
        fixed += [line] if is_fixed else NUMBER.findall(line)
    return fixed


def _written(visits: list[tuple[str, list[str]]]) -> str:
    last: dict[str, list[str]] = {}
    pieces = []
    for where, lines in visits:
        here = where.partition(": ")[2]
        pieces += [f"# {where}", *(["="] if last.get(here) == lines else lines)]
        last[here] = lines
    return "\n".join(pieces)


def _read(text: str) -> list[tuple[str, list[str]]]:
    visits: list[tuple[str, list[str]]] = []
    last: dict[str, list[str]] = {}
    for piece in f"\n{text}".split("\n# ")[1:]:
        where, *lines = piece.split("\n")
        here = where.partition(": ")[2]
        last[here] = last[here] if lines == ["="] else lines
        visits.append((where, last[here]))
    return visits


@contextmanager
def without_chance(study: str) -> Iterator[None]:
    """Draw the same noise in each walk: of a sampler, by what it is added to."""

    def noisy(scale: float) -> Callable[[Sequence[int]], list[int]]:
        def add(counts: Sequence[int]) -> list[int]:
            chance = random.Random(f"{study} {scale} {list(counts)}")
            return [
                each + round(scale * (chance.expovariate(1) - chance.expovariate(1)))
                for each in counts
            ]

        return add

    def top(scale: float, _exponential: bool, best: int) -> Callable[[Sequence[int]], list[int]]:
        def name(scores: Sequence[int]) -> list[int]:
            chance = random.Random(f"{study} {scale} {list(scores)}")
            noised = [each + scale * chance.gauss(0, 1) for each in scores]
            return sorted(range(len(scores)), key=noised.__getitem__, reverse=True)[:best]

        return name

    drawn: dict[str, Any] = {"laplace": noisy, "gaussian": noisy, "noisy_top_k": top}
    words = SimpleNamespace(urandom=random.Random(study).randbytes)
    with mock.patch.multiple(samplers, **drawn), mock.patch.object(randomness, "os", words):
        yield
