"""Where a check of the chain goes on: how far it was found whole, and what rows say up to there.

The books hold what rows add up to: a few hundred bytes for each budget, however many rows it has. A
checkpoint is sealed with the site's key, so that who can write to the database alone can make none;
one whose seal does not hold, or whose row is another now, is no place to go on from.
"""

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from django.core.signing import Signer
from django.db.models import Min, Q
from django.utils.crypto import constant_time_compare

from surveys.ledger.chain import BEFORE_THE_FIRST, Columns, Damaged
from surveys.ledger.contradictions import Terms
from surveys.ledger.models import Budget, Checkpoint, Kind
from surveys.ledger.totals import Running

SEALED = "ledger checkpoint"


@dataclass(slots=True)
class Books:
    """What the rows read so far say of each budget, by name."""

    length: int = 0
    digest: str = BEFORE_THE_FIRST
    terms: dict[str, Terms] = field(default_factory=dict)
    running: dict[str, Running] = field(default_factory=dict)

    def add(self, columns: Columns, name: str | None, budget: Budget | Damaged | None) -> None:
        """Add a row that holds, after those before it."""
        self.length, self.digest = columns["position"], columns["digest"]
        if name is None:
            return
        if columns["kind"] == Kind.ACT:
            self.terms.setdefault(name, Terms()).add(columns)
        else:
            counts = isinstance(budget, Budget) and budget.counts_answers
            self.running.setdefault(name, Running()).add(columns, counts_answers=counts)

    @property
    def end(self) -> "Books":
        """Return how far they go, and nothing of what they say."""
        return Books(self.length, self.digest)

    def to_text(self) -> str:
        document = {
            "terms": {name: asdict(each) for name, each in self.terms.items()},
            "running": {
                name: {**each.columns, "is_readable": each.is_readable}
                for name, each in self.running.items()
            },
        }
        return json.dumps(document, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_text(cls, length: int, digest: str, text: str) -> "Books":
        document: Mapping[str, Any] = json.loads(text)
        running = {name: Running.of(each) for name, each in document["running"].items()}
        for name, each in document["running"].items():
            running[name].is_readable = each["is_readable"]
        terms = {name: Terms(**each) for name, each in document["terms"].items()}
        return cls(length, digest, terms, running)


@dataclass(frozen=True, slots=True)
class Place:
    """A checkpoint whose seal holds."""

    books: Books
    at: datetime.datetime
    whole_at: datetime.datetime  # when a check last began with the first row


def kept(name: str) -> Place | None:
    """Return a checkpoint, None if there is none to go on from."""
    point = Checkpoint.objects.filter(name=name).first()
    if point is None or not constant_time_compare(point.seal, _seal(point)):
        return None
    books = Books.from_text(point.length, point.digest, point.books)
    return Place(books, point.at, point.whole_at)


def names(*, beginning: str, and_: str = "") -> list[str]:
    """Return the names of the checkpoints that begin so, and another if it is there."""
    found = Checkpoint.objects.filter(Q(name__startswith=beginning) | Q(name=and_))
    return list(found.order_by("name").values_list("name", flat=True))


def begun_at(*, beginning: str, and_: str) -> datetime.datetime | None:
    """Return when the check began to which these checkpoints belong, None if there are none."""
    found = Checkpoint.objects.filter(Q(name__startswith=beginning) | Q(name=and_))
    begun: datetime.datetime | None = found.aggregate(at=Min("whole_at"))["at"]
    return begun


def keep(name: str, books: Books, *, at: datetime.datetime, whole_at: datetime.datetime) -> None:
    """Keep the books of rows that were found whole."""
    point = Checkpoint(
        name=name,
        length=books.length,
        digest=books.digest,
        at=at,
        whole_at=whole_at,
        books=books.to_text(),
    )
    point.seal = _seal(point)
    point.save()


def forget(*names: str) -> None:
    """Forget checkpoints of these names, or all."""
    points = Checkpoint.objects.all()
    (points.filter(name__in=names) if names else points).delete()


def _seal(point: Checkpoint) -> str:
    said = [point.name, point.length, point.digest, str(point.at), str(point.whole_at), point.books]
    return Signer(salt=SEALED).signature(json.dumps(said))
