"""Is the ledger what it was? Rows against their digests, the chain against itself, budgets and
their totals against what rows say.

Everything is read as the database holds it: what someone damaged is a finding, not a crash. Rows
are read a chunk at a time, as they were at one moment: nobody who writes waits, and what is kept in
memory grows with budgets, not with rows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import DatabaseError, connection

from dpengine.contraction import loss_of
from dpengine.privacy import round_up
from surveys.ledger import accounts, chain
from surveys.ledger.amounts import in_measure
from surveys.ledger.chain import BEFORE_THE_FIRST, Columns, Damaged, Fault, Stored
from surveys.ledger.checkpoints import Books
from surveys.ledger.contradictions import contradictions, stored_budgets
from surveys.ledger.models import Budget, EpsilonField, Head
from surveys.ledger.totals import UNREADABLE, Running

TOTAL = ("charges", "number", "position", "first_at", "parts", "reads")


@dataclass(slots=True)
class Checked:
    """What a check found, and the books of the rows that it read, where nothing is wrong."""

    faults: list[Fault]
    books: Books
    is_over: bool = True  # or rows are left, for it was to read only so many


@dataclass(slots=True)
class Noted:
    """An end of the chain that is, or was, recorded, and what is there now."""

    digest: str
    length: int | None
    found: str | None = None  # the digest at this length
    is_anywhere: bool = False

    def look(self, columns: Columns) -> None:
        if columns["position"] == self.length:
            self.found = columns["digest"]
        self.is_anywhere = self.is_anywhere or columns["digest"] == self.digest

    def faults(self, last: int) -> Iterator[Fault]:
        """Compare it with a chain whose largest position is this."""
        if self.length is None:
            if self.digest and not self.is_anywhere:
                yield Fault(0, f"no row has the digest {self.digest}")
        elif self.found is None:
            yield Fault(last + 1, f"missing: the chain had {self.length} rows")
        elif self.digest and self.found != self.digest:
            text = f"another row stood here: its digest was {self.digest}"
            yield Fault(self.length, text)


@dataclass(slots=True)
class _Reader:
    """Reads rows one after another: each against its digest and the one before it."""

    books: Books
    budgets: dict[str, Budget | Damaged]
    noted: list[Noted]
    end: Head | None
    problems: list[Fault] = field(default_factory=list)
    last: int = 0  # the largest position
    first: int = 1
    expected: int = 1
    before: str = BEFORE_THE_FIRST  # "" after a changed row: the next one is not to blame

    def read(self, columns: Columns, budget: str | None) -> None:
        """Find whether a row is missing, changed, or in another place than it was."""
        position = columns["position"]
        if isinstance(position, int):
            self.last = max(self.last, position)
            for each in self.noted:
                each.look(columns)
            if self.end is not None and position > self.end.length:
                text = f"stands after the end of the chain, which is row {self.end.length}"
                self.problems.append(Fault(position, text))
        if not isinstance(position, int) or position < self.expected:
            self.problems.append(Fault(self.expected, f"position: {position!r} cannot stand here"))
            return
        if position > self.expected:
            self.problems.append(Fault(self.expected, f"missing; the next is row {position}"))
        elif self.before and columns["previous"] != self.before:
            self.problems.append(Fault(position, "does not follow the row before it"))
        if text := _changed(columns, budget):
            self.problems.append(Fault(position, text))
        self.expected, self.before = position + 1, "" if text else columns["digest"]
        if not self.problems and position > self.books.length:
            self.books.add(columns, budget, self.budgets.get(budget or ""))


def faults(*, head: str = "", length: int | None = None) -> list[Fault]:
    """Return everything that is wrong, in order of position: nothing, if the ledger is whole.

    `head` and `length` are what someone noted earlier: they show a tail that was cut off, and a
    chain that was written anew.
    """
    return check(head=head, length=length).faults


def check(
    books: Books | None = None,
    *,
    head: str = "",
    length: int | None = None,
    most: int | None = None,
) -> Checked:
    """Read the chain from the first row on, or from where books end: then what was changed in a
    row before that is not seen, but which row stood there last is. Read so many rows at most.

    Faults of totals and terms are of all budgets. ValueError for an end that was noted, and would
    have to be looked for in rows that are not read.
    """
    books = books or Books()
    if books.length and (head or length is not None):
        raise ValueError("an end that was noted is looked for in all rows")
    with chain.snapshot():
        return _check(books, Noted(head, length), most)


def _check(books: Books, noted: Noted, most: int | None) -> Checked:
    end = Head.objects.first()
    start = Noted(books.digest, books.length, None if books.length else BEFORE_THE_FIRST)
    ends = [noted, start] + ([Noted(end.digest, end.length)] if end is not None else [])
    for each in ends:
        each.found = BEFORE_THE_FIRST if each.length == 0 else None
    reader = _Reader(books, stored_budgets(), ends, end)
    if books.length:
        reader.first = reader.expected = books.length
        reader.last, reader.before = books.length - 1, ""
    try:
        is_over = _read(reader, _rows_from(books.length, most), most)
    except DatabaseError:
        if connection.vendor != "sqlite":
            raise
        return _check_one_by_one(reader)
    if not is_over:
        return Checked(sorted({*reader.problems, *start.faults(reader.last)}), reader.books, False)
    problems = reader.problems
    for each in ends:
        problems += each.faults(reader.last)
    if end is None:
        problems.append(Fault(0, "the record of the chain's end is gone"))
    return Checked(_all_faults(problems, reader), reader.books)


def _rows_from(length: int, most: int | None) -> Iterator[Stored]:
    """Yield the row where books end, which is read again, and those after it."""
    if not length and most is None:
        return chain.stream()
    return chain.stream("WHERE e.position >= %s", length)


def _read(reader: _Reader, rows: Iterable[Stored], most: int | None) -> bool:
    """Read rows, so many at most; tell whether that was all."""
    for read, (columns, budget) in enumerate(rows):
        if most is not None and read > most:
            return False
        reader.read(columns, budget)
    return True


def _check_one_by_one(reader: _Reader) -> Checked:
    """Read a damaged SQLite file, a row at a time from the first on."""
    again = _Reader(Books(), reader.budgets, [], reader.end)
    _read(again, chain.one_by_one(), None)
    return Checked(sorted(set(again.problems)), again.books)


def _all_faults(problems: list[Fault], reader: _Reader) -> list[Fault]:
    """Each of these trusts what comes before it."""
    books, budgets = reader.books, reader.budgets
    problems = sorted({*problems, *([] if problems else contradictions(books.terms, budgets))})
    if problems:
        return problems
    try:
        _read_index(reader.first, reader.last)
        found = [*_overspent(books, budgets), *_miscounted(books, budgets)]
    except DatabaseError:
        if connection.vendor != "sqlite":
            raise
        # Rows that can be read, but not problems: the index of a damaged SQLite file.
        return _check_one_by_one(reader).faults
    return sorted(set(found))


def _read_index(first: int, last: int) -> None:
    """Read the index by which SQLite finds rows. DatabaseError where it does not hold them all."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT position FROM ledger_entry WHERE position >= %s ORDER BY position", [first]
        )
        for expected in range(max(first, 1), last + 1):
            if cursor.fetchone() != (expected,):
                raise DatabaseError(f"row {expected} is not in the index")


def _changed(columns: Columns, budget: str | None) -> str:
    """Say what contradicts the digest of a row, nothing if it holds."""
    try:
        holds = chain.digest_of(chain.document(columns, budget)) == columns["digest"]
    except Damaged as damage:
        return str(damage)
    return "" if holds else "was changed: its columns do not have its digest"


def _overspent(books: Books, budgets: dict[str, Budget | Damaged]) -> Iterator[Fault]:
    """Find budgets that paid more than their cap, by rows that no service wrote."""
    for name, budget in budgets.items():
        running = books.running.get(name, Running())
        if isinstance(budget, Damaged):
            continue
        if budget.counts_answers and _is_understated(budget, running):
            text = f"rows of “{budget}” say less than what they read loses"
            yield Fault(running.position, text)
        if accounts.is_passed(budget, running.sums):
            yield Fault(running.position, f"more than the cap of “{budget}” is spent")


def _is_understated(budget: Budget, running: Running) -> bool:
    """Tell whether rows say less than what they read loses, or cannot be read."""
    if not running.is_readable:
        return True
    try:
        total = loss_of(running.read.readings)
        spent = in_measure(budget.measure, budget.filter.total(running.sums.charges))
    except UNREADABLE:
        return True
    return total is None or round_up(total, EpsilonField.places) > spent


def _miscounted(books: Books, budgets: dict[str, Budget | Damaged]) -> Iterator[Fault]:
    """Find totals that are not what the charges add up to."""
    totals = _stored_totals()
    for name, budget in budgets.items():
        if isinstance(budget, Damaged):
            continue
        running, total = books.running.get(name), totals.pop(budget.pk, None)
        expected = running.columns if running and running.is_readable else None
        if expected is not None and total is None:
            yield Fault(running.position if running else 0, f"“{name}” has no total")
        elif running is None and total is not None:
            yield Fault(0, f"“{name}” has a total, and no charge")
        elif expected is not None and total != expected:
            wrong = ", ".join(part for part in TOTAL if (total or {})[part] != expected[part])
            text = f"the total of “{name}” is not what its charges add up to: {wrong}"
            yield Fault(expected["position"], text)
    for key in totals:
        yield Fault(0, f"a total is of no budget: {key}")


def _stored_totals() -> dict[Any, Columns]:
    """Return every total as the database holds it, by its budget's key."""
    with chain.any_text(), connection.cursor() as cursor:
        cursor.execute(f"SELECT budget_id, {', '.join(TOTAL)} FROM ledger_total")  # noqa: S608
        return {key: dict(zip(TOTAL, row, strict=True)) for key, *row in cursor.fetchall()}
