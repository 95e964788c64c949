"""Is what was published what the ledger's rows vouch for? Plans, requests, releases and steps
against the chain.

Everything is read as the database holds it, without trust in what refers to what: something
changed, taken away, put in, or drawn again is a finding, and so is what cannot be read. Rows are
read a chunk at a time, each with what it refers to by a table's own key, and of each request a
digest is kept.
"""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

from django.db import DatabaseError, connection

from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import Columns, Damaged, Fault
from surveys.releases import covered, statistics
from surveys.releases.numbers import without_codes

CHUNK = 500
OPENED = "opened wave "  # as the ledger says it (design/launch.py)
WHOLE = {  # columns; others are text to us, for drivers would read more into some of them
    *("id", "wave", "plan_id", "study_id", "budget_id", "request_id", "series_id"),
    *("position", "steps", "number"),
}
REQUEST = "q.digest q.statistic q.requested_on q.who q.refused"
NUMBERS = "d.numbers d.salt d.published_on d.published_at"
PAID = f"d.id q.id s.budget_id e.position e.statistic e.budget_id e.who e.published {REQUEST}"
# something drawn, the request that it answers, and the row that paid for it, if they are there
PAID_FOR = """{} d LEFT JOIN releases_request q ON q.id = d.request_id
    LEFT JOIN design_plan p ON p.id = q.plan_id LEFT JOIN design_study s ON s.id = p.study_id
    LEFT JOIN ledger_entry e ON e.position = d.entry_id AND e.kind = 'charge'"""
STEPS = """releases_step d LEFT JOIN releases_series r ON r.id = d.series_id
    LEFT JOIN releases_request q ON q.id = r.request_id"""
VOUCHING = "ledger_entry e WHERE kind <> 'charge' AND published IS NOT NULL ORDER BY position"
TWICE = "{} d GROUP BY d.id HAVING COUNT(*) > 1"
TABLES = (
    *("design_study", "design_plan"),
    *("releases_request", "releases_release", "releases_series", "releases_step"),
)


class _Books:
    """What is kept of all rows: of each request a digest."""

    def __init__(self) -> None:
        self.plans: set[Any] = set()  # by their digests
        self.answered: dict[Any, str] = {}  # by the request's digest, what answered it
        self.numbers: dict[Any, list[Any]] = {}  # of the steps of each series
        # acts that hold a digest of what was drawn, by what was done, and to which request
        self.vouching: dict[tuple[Any, Any], Columns] = {}
        self.seen: set[Any] = set()  # positions of rows whose release or step is there
        for act in _rows("e.position e.what e.new e.published", VOUCHING):
            # the first: who adds one is late
            self.vouching.setdefault((act["e.what"], act["e.new"]), act)


def faults() -> list[Fault]:
    """Return all of what was published that the ledger contradicts, in order of its rows.

    Everything is read as it is at one moment, so that nothing is published halfway.
    """
    with ledger.snapshot():
        try:
            return sorted(set(_faults()))
        except DatabaseError as error:
            return [Fault(0, f"what was published cannot be read: {type(error).__name__}")]


def _rows(columns: str, rest: str) -> Iterator[Columns]:
    """Yield columns as the database holds them, by these names."""
    names = columns.split()
    read = [name if name.partition(".")[2] in WHOLE else f"CAST({name} AS TEXT)" for name in names]
    with ledger.any_text(), connection.chunked_cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(read)} FROM {rest}")  # noqa: S608
        while rows := cursor.fetchmany(CHUNK):
            for row in rows:
                yield dict(zip(names, row, strict=True))


def _faults() -> Iterator[Fault]:
    for table in TABLES:  # where a key was dropped
        for row in _rows("d.id", TWICE.format(table)):
            yield Fault(0, f"{table} has two rows of id {row['d.id']}")
    books = _Books()
    yield from _of_plans(books)
    asked = "releases_request q LEFT JOIN design_plan p ON p.id = q.plan_id"
    for row in _rows(f"{REQUEST} p.digest", asked):
        yield from _of_request(row)
    for row in _rows(f"{PAID} {NUMBERS}", PAID_FOR.format("releases_release")):
        yield from _of_release(books, row)
    for row in _rows(f"q.id d.series_id d.number d.question {NUMBERS} {REQUEST}", STEPS):
        yield from _of_step(books, row)
    for row in _rows(f"{PAID} d.steps", PAID_FOR.format("releases_series")):
        yield from _of_series(books, row)
    for row in _rows("e.position e.statistic", "ledger_entry e WHERE kind = 'charge'"):
        statistic = row["e.statistic"]
        if statistic not in books.answered and statistic not in books.plans:
            yield Fault(row["e.position"], f"paid for {str(statistic)[:8]}, which is gone")
    for (what, _), act in books.vouching.items():
        if act["e.position"] not in books.seen:
            yield Fault(act["e.position"], f"“{what}”: what it vouches for is gone")


def _of_plans(books: _Books) -> Iterator[Fault]:
    """Find Plans that are not the ones whose fingerprints stand in the rows of their opening."""
    openings: dict[Any, list[Columns]] = {}
    opened = f"ledger_entry e WHERE kind <> 'charge' AND what LIKE '{OPENED}%' ORDER BY position"
    for row in _rows("e.position e.what e.new e.budget_id", opened):
        openings.setdefault(row["e.budget_id"], []).append(row)
    there = set()
    plans = "design_plan p LEFT JOIN design_study s ON s.id = p.study_id"
    for plan in _rows("p.wave p.digest p.document s.budget_id", plans):
        books.plans.add(plan["p.digest"])
        called = f"Plan {str(plan['p.digest'])[:8]}"
        what, new = f"{OPENED}{plan['p.wave']}", f"Plan {plan['p.digest']};"
        rows = openings.get(plan["s.budget_id"], ())
        positions = [
            row["e.position"]
            for row in rows
            if row["e.what"] == what and str(row["e.new"]).startswith(new)
        ]
        if not positions:
            yield Fault(0, f"{called}: no row of its study opened it")
            continue
        there.add(positions[0])
        document = str(plan["p.document"]).encode("utf-8", "surrogateescape")
        if hashlib.sha256(document).hexdigest() != plan["p.digest"]:
            text = "is not what was opened: its words were changed"
            yield Fault(positions[0], f"{called}: {text}")
    for row in (row for rows in openings.values() for row in rows):
        if row["e.position"] not in there:
            text = f"“{row['e.what']}”: the Plan that it opened is gone, or another now"
            yield Fault(row["e.position"], text)


def _of_request(request: Columns) -> Iterator[Fault]:
    """A request is named by its statistic, and asks it of its Plan."""
    try:
        statistic = _json("statistic", request["q.statistic"])
        if statistics.digest(statistic) != request["q.digest"]:
            yield Fault(0, f"{_called(request)}: its words do not have its digest")
        elif request["p.digest"] is None or statistic["plan"] != request["p.digest"]:
            yield Fault(0, f"{_called(request)}: it asks another Plan than it says")
    except (Damaged, ValueError, TypeError, KeyError, RecursionError) as error:
        yield Fault(0, f"{_called(request)}: cannot be read ({type(error).__name__})")


def _of_release(books: _Books, release: Columns) -> Iterator[Fault]:
    yield from _paid(books, release, "release")
    if release["q.id"] is None or (position := release["e.position"]) is None:
        return
    found = books.vouching.get((covered.found_of(None), release["q.digest"]))
    row = release if release["e.published"] else found
    yield from _compared(books, "release", release, row, position)


def _of_series(books: _Books, series: Columns) -> Iterator[Fault]:
    yield from _paid(books, series, "series")
    if series["q.id"] is None or (position := series["e.position"]) is None:
        return
    if series["e.published"]:
        yield Fault(position, f"paid for a release; a series stands for {_called(series)}")
    numbers = books.numbers.get(series["d.id"], [])
    if len(numbers) != series["d.steps"] or set(numbers) != set(range(1, len(numbers) + 1)):
        there = ", ".join(map(str, numbers)) or "none"
        text = f"{series['d.steps']} steps taken, of which there are {there}"
        yield Fault(position, f"series of {_called(series)}: {text}")


def _of_step(books: _Books, step: Columns) -> Iterator[Fault]:
    number, digest = step["d.number"], step["q.digest"]
    books.numbers.setdefault(step["d.series_id"], []).append(number)
    if step["q.id"] is None:
        yield Fault(0, f"step {number} of a series that is not there")
        return
    names = covered.STEP(number=number), covered.found_of(number)
    rows = [row for name in names if (row := books.vouching.get((name, digest)))]
    first = min(rows, key=lambda row: row["e.position"], default=None)
    yield from _compared(books, f"step {number}", step, first, 0)


def _paid(books: _Books, drawn: Columns, kind: str) -> Iterator[Fault]:
    """Find whether a request was answered, once, and a row paid for it; each must fit the other."""
    if drawn["q.id"] is None:
        yield Fault(0, f"{kind} {drawn['d.id']} answers a request that is not there")
        return
    if (other := books.answered.get(drawn["q.digest"])) is not None:
        yield Fault(0, f"{_called(drawn)} is answered twice, by a {other} and a {kind}")
    books.answered[drawn["q.digest"]] = kind
    if drawn["e.position"] is None:
        yield Fault(0, f"{kind} of {_called(drawn)}: no row of the ledger paid for it")
    elif problem := _unfit(drawn):
        yield Fault(drawn["e.position"], f"{kind} of {_called(drawn)}: {problem}")


def _unfit(drawn: Columns) -> str:
    if drawn["e.statistic"] != drawn["q.digest"]:
        return "this row paid for another request"
    if drawn["e.budget_id"] != drawn["s.budget_id"]:
        return "this row is of another budget than the study's"
    if drawn["e.who"] != drawn["q.who"]:
        return "this row was paid by somebody else"
    return "it is marked as refused" if drawn["q.refused"] else ""


def _compared(
    books: _Books, kind: str, drawn: Columns, row: Columns | None, at: int
) -> Iterator[Fault]:
    """Compare numbers with the digest that vouches for them."""
    called = f"{kind} of {_called(drawn)}"
    if row is None:
        yield Fault(at, f"{called}: no row vouches for it; it was put in")
        return
    position = row["e.position"]
    books.seen.add(position)
    try:
        if _digest(drawn) != row["e.published"]:
            text = "is not what was published: it, or its request, was changed or drawn again"
            yield Fault(position, f"{called}: {text}")
    except (Damaged, ValueError, TypeError, RecursionError) as error:
        yield Fault(position, f"{called}: cannot be read ({type(error).__name__})")


def _digest(drawn: Columns) -> str:
    question = drawn.get("d.question")
    published_at = datetime.fromisoformat(drawn["d.published_at"])
    document = covered.document(
        statistic=_json("statistic", drawn["q.statistic"]),
        asked_on=date.fromisoformat(drawn["q.requested_on"]),
        numbers=without_codes(_json("numbers", drawn["d.numbers"])),
        salt=drawn["d.salt"],
        published_on=date.fromisoformat(drawn["d.published_on"]),
        published_at=published_at if published_at.tzinfo else published_at.replace(tzinfo=UTC),
        step=drawn.get("d.number"),
        question=None if question is None else _json("question", question),
    )
    return covered.digest_of(document)


def _called(row: Columns) -> str:
    return f"request {str(row['q.digest'])[:8]}"


def _json(name: str, text: Any) -> Any:
    if not isinstance(text, str):
        raise Damaged(name)
    return json.loads(text)
