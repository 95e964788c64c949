"""What the ledger's chain covers of a release, or of a step of a series: the document whose SHA-256 stands in a row.

It holds all that is stored of the numbers and of the request that they answer. Some numbers are for a team only and few
enough to be tried out, so it has a salt, which whoever may read the numbers gets with them.

    sha256(json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False))

A whole number is written without a point, since one of the two engines cannot keep the difference.
"""

import datetime
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.crypto import get_random_string

from surveys.ledger import queries as ledger
from surveys.ledger.models import Entry
from surveys.releases.models import Release, Step

STEP = "published step %(number)s"
FOUND, FOUND_STEP = "found release", "found step %(number)s"  # what was there before rows covered it

Document = dict[str, Any]


def new_salt() -> str:
    """Return 128 bits of chance as text."""
    return get_random_string(32, "0123456789abcdef")


def document_of(made: Release | Step) -> Document:
    """Return the document of a release or a step that is stored, or about to be."""
    step = made if isinstance(made, Step) else None
    return document(
        statistic=made.request.statistic,
        asked_on=made.request.requested_on,
        numbers=made.numbers,
        salt=made.salt,
        published_on=made.published_on,
        published_at=made.published_at,
        step=step.number if step else None,
        question=step.question if step else None,
    )


def document(
    *,
    statistic: Any,
    asked_on: datetime.date,
    numbers: Any,
    salt: str | None,
    published_on: datetime.date,
    published_at: datetime.datetime,
    step: int | None = None,
    question: Any = None,
) -> Document:
    return {
        "asked_on": asked_on.isoformat(),
        "numbers": plain(numbers),
        "published_at": published_at.astimezone(datetime.UTC).isoformat(timespec="microseconds"),
        "published_on": published_on.isoformat(),
        "question": plain(question),
        "salt": salt,
        "statistic": plain(statistic),
        "step": step,
    }


@dataclass(frozen=True, slots=True)
class Cover:
    """A row of the ledger, and what it vouches for."""

    row: int
    sha256: str
    made: Release | Step
    is_found: bool  # the row was written later, of what was there then

    @property
    def step(self) -> int | None:
        return self.made.number if isinstance(self.made, Step) else None


def covers(entry: Entry, made: Sequence[Release | Step]) -> list[Cover]:
    """Return the rows that vouch for what was drawn for one charge, in the order of what was drawn."""
    acts: dict[tuple[str, str], Entry] = {}
    for row in ledger.rows_that_vouch(entry):
        acts.setdefault((row.what, row.new), row)
    return [found for each in made if (found := _cover(entry, each, acts))]


def _cover(entry: Entry, made: Release | Step, acts: dict[tuple[str, str], Entry]) -> Cover | None:
    if isinstance(made, Release) and entry.published:
        return Cover(entry.position, entry.published, made, is_found=False)
    step = made.number if isinstance(made, Step) else None
    row = acts.get((named(step), entry.statistic or "")) if step else None
    found = row or acts.get((found_of(step), entry.statistic or ""))
    return None if found is None else Cover(found.position, found.published or "", made, is_found=row is None)


def named(step: int) -> str:
    """Return what the row that covers a step says was done."""
    return STEP % {"number": step}


def found_of(step: int | None) -> str:
    """Return the same of what was there before rows covered it."""
    return FOUND if step is None else FOUND_STEP % {"number": step}


def digest_of(document: Document) -> str:
    """Return the digest; ValueError if something in it cannot be said in JSON."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def plain(value: Any) -> Any:
    """Return a value whose whole numbers have no point."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
