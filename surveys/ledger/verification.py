"""Is the ledger what it was? Rows against their digests, the chain against itself, budgets and
their totals against what rows say.

Everything is read as the database holds it: what someone damaged is a finding, not a crash. Rows
are read a chunk at a time, as they were at one moment: nobody who writes waits, and what is kept in
memory grows with budgets, not with rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import zip_longest
from typing import Any, cast

from django.db import DatabaseError, connection, models

from dpengine.contraction import loss_of
from dpengine.privacy import round_up
from surveys.ledger import chain, terms
from surveys.ledger.amounts import in_measure
from surveys.ledger.chain import BEFORE_THE_FIRST, Columns, Damaged, Fault
from surveys.ledger.models import Budget, Entry, EpsilonField, Head, Kind
from surveys.ledger.totals import UNREADABLE, Running

TOTAL = ("charges", "number", "position", "first_at", "parts", "reads")


@dataclass(slots=True)
class _Reader:
    """Reads rows one after another: each against its digest and the one before it."""

    budgets: dict[str, Budget | Damaged]
    noted: list[tuple[str, int | None]]  # ends that are, or were, recorded: digest, length
    end: Head | None
    digests: dict[int | None, str] = field(default_factory=lambda: {0: BEFORE_THE_FIRST})
    known: set[str] = field(default_factory=set)  # of the noted digests, those of any row
    problems: list[Fault] = field(default_factory=list)
    last: int = 0  # the largest position
    expected: int = 1
    before: str = BEFORE_THE_FIRST  # "" after a changed row: the next one is not to blame
    # by budget: each term as the newest act says it, with that row; none if no row opens it
    stated: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    misstated: list[Fault] = field(default_factory=list)
    running: dict[str, Running] = field(default_factory=dict)

    def read(self, columns: Columns, budget: str | None) -> None:
        """Find whether a row is missing, changed, or in another place than it was."""
        position = columns["position"]
        if isinstance(position, int):
            self.last = max(self.last, position)
            if any(position == length for _digest, length in self.noted):
                self.digests[position] = columns["digest"]
            self.known |= {digest for digest, _ in self.noted if digest == columns["digest"]}
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
        if self.problems or budget is None:
            return
        if columns["kind"] == Kind.ACT:
            self._add_act(columns, budget)
        else:
            stored = self.budgets.get(budget)
            counts = isinstance(stored, Budget) and stored.counts_answers
            self.running.setdefault(budget, Running()).add(columns, counts_answers=counts)

    def _add_act(self, act: Columns, name: str) -> None:
        """Add what an act says of its budget to what those before it said."""
        what, position = act["what"], int(act["position"])
        if name not in self.stated:
            lasting, _, cap = str(act["new"]).rpartition("; ")
            said = (lasting, cap, terms.UNLIMITED, terms.OPEN) if what == terms.OPENED else ()
            pairs = zip(terms.NAMES, said, strict=False)
            self.stated[name] = {term: (text, position) for term, text in pairs}
        elif what in (stated := self.stated[name]):
            if act["old"] != stated[what][0]:
                text = f"says that “{name}” had “{act['old']}” before; rows say “{stated[what][0]}”"
                self.misstated.append(Fault(position, text))
            stated[what] = act["new"], position


def faults(*, head: str = "", length: int | None = None) -> list[Fault]:
    """Return everything that is wrong, in order of position: nothing, if the ledger is whole.

    `head` and `length` are what someone noted earlier: they show a tail that was cut off, and a
    chain that was written anew.
    """
    with chain.snapshot():
        end = Head.objects.first()
        ends = [(head, length), *([(end.digest, end.length)] if end else [])]
        reader = _Reader(_stored_budgets(), ends, end)
        try:
            for row in chain.stream():
                reader.read(*row)
            return sorted(set(_all_faults(reader)))
        except DatabaseError:
            if connection.vendor != "sqlite":
                raise
        # A damaged SQLite file, or one whose index is damaged: a row at a time.
        again = _Reader(reader.budgets, [], end)
        for row in chain.one_by_one():
            again.read(*row)
        return sorted(set(again.problems))


def _all_faults(reader: _Reader) -> list[Fault]:
    """Each of these trusts what comes before it."""
    problems = [*reader.problems, *_moved_ends(reader)]
    if reader.end is None:
        problems.append(Fault(0, "the record of the chain's end is gone"))
    if problems or (problems := [*reader.misstated, *_contradictions(reader)]):
        return problems
    _read_index(reader.last)
    faults: list[Fault] = []
    totals = _stored_totals()
    budgets = cast(dict[str, Budget], reader.budgets)  # one that is damaged is a contradiction
    for name, budget in budgets.items():
        running = reader.running.get(name)
        faults += _miscounted(name, running, totals.pop(budget.pk, None))
        faults += _overspent(budget, running) if running else ()
    return faults + [Fault(0, f"a total is of no budget: {key}") for key in totals]


def _moved_ends(reader: _Reader) -> Iterator[Fault]:
    """Compare the ends that were recorded with what stands there."""
    for digest, length in reader.noted:
        found = reader.digests.get(length)
        if length is None:
            if digest and digest not in reader.known:
                yield Fault(0, f"no row has the digest {digest}")
        elif found is None:
            yield Fault(reader.last + 1, f"missing: the chain had {length} rows")
        elif digest and found != digest:
            yield Fault(length, f"another row stood here: its digest was {digest}")


def _read_index(last: int) -> None:
    """Read the index by which rows are found. DatabaseError where it does not hold them all."""
    positions = Entry.objects.values_list("position", flat=True).iterator()
    for expected, position in zip_longest(range(1, last + 1), positions):
        if position != expected:
            raise DatabaseError(f"row {expected} is not in the index")


def _changed(columns: Columns, budget: str | None) -> str:
    """Say what contradicts the digest of a row, nothing if it holds."""
    try:
        holds = chain.digest_of(chain.document(columns, budget)) == columns["digest"]
    except Damaged as damage:
        return str(damage)
    return "" if holds else "was changed: its columns do not have its digest"


def _contradictions(reader: _Reader) -> Iterator[Fault]:
    """Find budgets that are not what the acts of the chain made them: a cap that rose, a limit that
    went, a second life.
    """
    names = {each.pk: each.name for each in reader.budgets.values() if isinstance(each, Budget)}
    for name, budget in reader.budgets.items():
        stated = reader.stated.get(name)
        if not stated:
            yield Fault(0, f"no row opens “{name}”")
            continue
        opening = stated[terms.OPENED][1]
        if isinstance(budget, Damaged):
            yield Fault(opening, f"opens “{name}”, which cannot be read: {budget}")
            continue
        for (said, position), now in zip(stated.values(), terms.of(budget), strict=True):
            if said != now:
                yield Fault(position, f"says that “{budget}” has “{said}”; it has “{now}”")
        if not _is_held_rightly(budget, names):
            text = f"opens “{name}”, which is another person’s share now, or of another budget"
            yield Fault(opening, text)


def _is_held_rightly(budget: Budget, names: dict[Any, str]) -> bool:
    """Compare a share with its name, which is hashed; one older than pseudonyms has a user's."""
    named = terms.SHARE.fullmatch(budget.name)
    holder, study = named.groups() if named else ("", "")
    is_pseudonym = holder.startswith("person ")  # no user can have such a name
    if budget.holder is None:
        return budget.within_id is None and not is_pseudonym
    return names.get(budget.within_id) == study and budget.holder == (
        holder if is_pseudonym else budget.holder
    )


def _overspent(budget: Budget, running: Running) -> Iterator[Fault]:
    """Tell whether a budget paid more than its cap, by rows that no service wrote."""
    try:
        spent = in_measure(budget.measure, budget.filter.total(running.sums.charges))
        holds = budget.filter.holds(running.sums.charges)
    except ValueError:  # Σδ is 1 or more
        spent, holds = Decimal(0), False
    if not holds:
        yield Fault(running.position, f"more than the cap of “{budget}” is spent")
    if budget.counts_answers and _is_understated(running, spent):
        text = f"rows of “{budget}” say less than what they read loses"
        yield Fault(running.position, text)


def _is_understated(running: Running, spent: Decimal) -> bool:
    """Tell whether rows say less than what they read loses, or cannot be read."""
    try:
        lost = loss_of(running.read.readings) if running.is_readable else None
    except UNREADABLE:  # two rows contradict each other
        return True
    return lost is None or round_up(lost, EpsilonField.places) > spent


def _miscounted(name: str, running: Running | None, total: Columns | None) -> Iterator[Fault]:
    """Tell whether a total is what the charges add up to."""
    expected = running.columns if running else None
    if running is None and total is not None:
        yield Fault(0, f"“{name}” has a total, and no charge")
    elif expected is not None and total is None:
        yield Fault(expected["position"], f"“{name}” has no total")
    elif expected is not None and total != expected:
        wrong = ", ".join(part for part in TOTAL if (total or {})[part] != expected[part])
        text = f"the total of “{name}” is not what its charges add up to: {wrong}"
        yield Fault(expected["position"], text)


def _stored_totals() -> dict[int, Columns]:
    """Return every total as the database holds it, by the id of its budget."""
    with chain.any_text(), connection.cursor() as cursor:
        cursor.execute(f"SELECT budget_id, {', '.join(TOTAL)} FROM ledger_total")  # noqa: S608
        return {key: dict(zip(TOTAL, row, strict=True)) for key, *row in cursor.fetchall()}


def _stored_budgets() -> dict[str, Budget | Damaged]:
    """Return every budget as stored, by name, or what is wrong with one that cannot be read."""
    columns = {str(field.column): field for field in Budget._meta.concrete_fields}
    # As text where the database's driver would read more into a column.
    texts = models.BooleanField | models.DateField
    read = ", ".join(
        f"CAST({name} AS TEXT)" if isinstance(field, texts) else name
        for name, field in columns.items()
    )
    with chain.any_text(), connection.cursor() as cursor:
        cursor.execute(f"SELECT {read} FROM ledger_budget")  # noqa: S608
        rows = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    found: dict[str, Budget | Damaged] = {}
    for row in rows:
        try:
            values = {name: chain.value_of(field, row[name]) for name, field in columns.items()}
            found[str(row["name"])] = Budget(**values)
        except Damaged as damage:
            found[str(row["name"])] = damage
    return found
