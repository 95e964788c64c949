"""Look rows of the chain up, by budget, kind, who, text, days, amount; each is checked against its
digest when read.

Whatever is asked for only narrows what anyone may read (/registry/ledger.json has all of it). A row
is read as the database holds it, so that a damaged one is shown as damaged and stops nobody from
reading the others.
"""

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from itertools import islice
from operator import or_

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from surveys.ledger import chain
from surveys.ledger.models import Entry

WHOSE = ("study", "panel", "researcher", "site")
SORTS = {"newest": "-position", "oldest": "position", "dearest": "-epsilon", "who": "who"}
TEXTS = ("reason", "mechanism", "sensitivity", "part", "what", "old", "new", "why", "budget__name")
CHUNK = 500  # rows read at a time where all are wanted
AUTHORS = """WITH RECURSIVE author(who) AS (
    SELECT MIN(who) FROM ledger_entry
    UNION ALL
    SELECT (SELECT MIN(who) FROM ledger_entry WHERE who > author.who) FROM author
    WHERE author.who IS NOT NULL
) SELECT who FROM author WHERE who IS NOT NULL ORDER BY who"""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rows: everything that is empty does not narrow."""

    study: str = ""
    whose: str = ""
    kind: str = ""
    who: str = ""
    text: str = ""
    since: datetime.date | None = None
    until: datetime.date | None = None  # this day too
    least: Decimal | None = None  # of ε, as charges say it
    most: Decimal | None = None
    sort: str = "newest"


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A row as the chain holds it, and what is wrong with it, if anything is."""

    position: int
    document: chain.Document  # what is hashed; empty if it cannot be read
    digest: str
    faults: tuple[str, ...]

    @property
    def is_sound(self) -> bool:
        return not self.faults

    @property
    def canonical(self) -> str:
        """Return the text whose UTF-8 bytes have the digest."""
        return chain.canonical(self.document) if self.document else ""

    @property
    def previous(self) -> str:
        return str(self.document.get("previous", ""))

    @property
    def at(self) -> datetime.datetime | None:
        return datetime.datetime.fromisoformat(self.document["at"]) if self.document else None


def positions(wanted: Filter) -> QuerySet[Entry, int]:
    """Return the positions of the rows that are wanted, in the order that is. A study's rows are
    those of its budgets: its own, and those of researchers in it.
    """
    rows = Entry.objects.all()
    if wanted.study:
        name = f"study:{wanted.study}"
        rows = rows.filter(
            Q(budget__name=name)
            | Q(budget__name__endswith=f"@{name}")
            | Q(budget=None, what__startswith=f"{wanted.study}: ")
        )
    if wanted.whose == "site":
        rows = rows.filter(budget=None)
    elif wanted.whose:
        rows = rows.filter(budget__name__startswith=f"{wanted.whose}:")
    for word in wanted.text.split()[:8]:
        rows = rows.filter(reduce(or_, (Q(**{f"{name}__icontains": word}) for name in TEXTS)))
    if wanted.since is not None:
        rows = rows.filter(at__gte=_midnight(wanted.since))
    if wanted.until is not None and wanted.until < datetime.date.max:
        rows = rows.filter(at__lt=_midnight(wanted.until + datetime.timedelta(days=1)))
    rest = {
        "kind": wanted.kind or None,
        "who": wanted.who or None,
        "epsilon__gte": wanted.least,
        "epsilon__lte": wanted.most,
    }
    rows = rows.filter(**{lookup: value for lookup, value in rest.items() if value is not None})
    return rows.order_by(SORTS.get(wanted.sort, "-position"), "-position").values_list(
        "position", flat=True
    )


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(), tzinfo=datetime.UTC)


def read(wanted: Sequence[int]) -> list[LedgerRow]:
    """Return rows in this order, each checked against its digest and the row before it."""
    needed = sorted({*wanted, *(position - 1 for position in wanted)})
    at_these = f"WHERE e.position IN ({', '.join(['%s'] * len(needed))})"
    rows = chain.select(at_these, *needed) if needed else []
    stored = {columns["position"]: (columns, name) for columns, name in rows}
    return [_row(position, stored) for position in wanted if position in stored]


def read_all(wanted: QuerySet[Entry, int]) -> Iterator[LedgerRow]:
    """Yield rows, a chunk at a time: however many there are, no more are in memory."""
    rest = wanted.iterator(CHUNK)
    while chunk := list(islice(rest, CHUNK)):
        yield from read(chunk)


def _row(position: int, stored: dict[int, chain.Stored]) -> LedgerRow:
    columns, name = stored[position]
    digest = str(columns["digest"])
    try:
        document = chain.document(columns, name)
    except chain.Damaged as damage:
        return LedgerRow(position, {}, digest, (str(damage),))
    faults = []
    if chain.digest_of(document) != digest:
        faults.append(_("It was changed: its columns do not match its check code."))
    before = stored[position - 1][0]["digest"] if position - 1 in stored else None
    if position == 1:
        before = chain.BEFORE_THE_FIRST
    if columns["previous"] != before:
        faults.append(_("It does not follow the row before it."))
    return LedgerRow(position, document, digest, tuple(faults))


def authors() -> list[str]:
    """Return who stands in the ledger, by name: one step in an index for each."""
    with connection.cursor() as cursor:
        cursor.execute(AUTHORS)
        return [who for (who,) in cursor.fetchall()]
