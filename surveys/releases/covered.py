"""What the ledger's chain covers of a release, or of a step of a series: the document whose SHA-256
stands in a row.

It holds all that is stored of the numbers and of the request that they answer. Some numbers are for
a team only and few enough to be tried out, so it has a salt, which whoever may read the numbers
gets with them.

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

from surveys.ledger import selectors as ledger
from surveys.ledger.models import Entry
from surveys.messages import message
from surveys.releases.models import Release, Step
from surveys.releases.numbers import Document

STEP = message("published step %(number)s")
# What was there before rows covered it:
FOUND, FOUND_STEP = message("found release"), message("found step %(number)s")
# Texts of older versions, which rows of the ledger and releases still hold and no code makes:
OF_OLDER_VERSIONS = (
    message("chance that the cap fails, δ", fills="term"),  # it said too little
    message("published before rows held digests: this is what was there on %(day)s"),
    message("the site"),  # who wrote that
    message(
        "Plan %(digest)s; one person's answers: ε %(epsilon)s; publication: %(rule)s, ε %(amount)s"
    ),
    message(
        "Plan %(digest)s; one person's answers: ε %(epsilon)s and answers sent as given; "
        "publication: %(rule)s, ε %(amount)s"
    ),
    # of releases, by kind: mean, shares, trusted, linear_regression, synthetic, quantile
    message(
        "One sum of clamped numbers got chance added, once. The interval counts sampling, devices "
        "and publication; it holds in 95 of 100 such studies."
    ),
    message(
        "Of a question with several ticks each report is about one option, drawn by chance. The "
        "count of an option is how many more reports say yes to it than no. Shares of options do "
        "not add up to 100."
    ),
    message("Shares, intervals and standard errors follow from the noisy counts."),
    message("subsample and aggregate, %(count)s groups, private median by report noisy max"),
    message(
        "Chance was added, once, to the sums of squares and products of all columns; the "
        "coefficients were solved from them. The intervals count that chance and sampling (equal "
        "spread around the line), at 95 of 100."
    ),
    message(
        "Chance was added, once, to the counts of every column and every pair of columns. The "
        "synthetic people were drawn from these counts alone: the distribution that fits them best "
        "and is otherwise as even as can be. Intervals are for the people who answered, and hold "
        "in 95 of 100 draws."
    ),
    message("Exponential mechanism (no δ)", fills="way"),
    message("two limits by report noisy max"),
    message(
        "%(way)s. The interval’s limits were drawn apart from the value, each at a rank that "
        "leaves room for sampling and for chance: it holds for the population in 95 of 100 such "
        "studies, whatever the answers’ shape."
    ),
)


def new_salt() -> str:
    """Return 128 bits of chance as text."""
    return get_random_string(32, "0123456789abcdef")


def document_of(drawn: Release | Step) -> Document:
    """Return the document of a release or a step that is stored, or about to be."""
    step = drawn if isinstance(drawn, Step) else None
    return document(
        statistic=drawn.request.statistic,
        asked_on=drawn.request.requested_on,
        numbers=drawn.numbers,
        salt=drawn.salt,
        published_on=drawn.published_on,
        published_at=drawn.published_at,
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
    drawn: Release | Step
    is_found: bool  # the row was written later, of what was there then

    @property
    def step(self) -> int | None:
        return self.drawn.number if isinstance(self.drawn, Step) else None


def covers(entry: Entry, drawn: Sequence[Release | Step]) -> list[Cover]:
    """Return the rows that vouch for what one charge paid for, in the order of drawing."""
    acts: dict[tuple[str, str], Entry] = {}
    vouches_itself = entry.published and not any(isinstance(one, Step) for one in drawn)
    for act in () if vouches_itself else ledger.rows_that_vouch(entry):
        acts.setdefault((act.what, act.new), act)
    covers, digest = [], entry.statistic or ""
    for one in drawn:
        step = one.number if isinstance(one, Step) else None
        row: Entry | None = entry if entry.published else None
        if step is not None:
            row = acts.get((STEP(number=step), digest))
        if cover := row or acts.get((found_of(step), digest)):
            covers.append(Cover(cover.position, cover.published or "", one, is_found=row is None))
    return covers


def found_of(step: int | None) -> str:
    """Return the same of what was there before rows covered it."""
    return FOUND() if step is None else FOUND_STEP(number=step)


def digest_of(document: Document) -> str:
    """Return the digest; ValueError if something in it cannot be said in JSON."""
    text = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def plain(value: Any) -> Any:
    """Return a value whose whole numbers have no point."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
