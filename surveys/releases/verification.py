"""Is what was published what the ledger's rows vouch for? Requests, releases, series and steps against the chain.

Everything is read as the database holds it, without indexes and without trust in what refers to what: something
changed, taken away, put in, or drawn again is a finding, and so is what cannot be read.
"""

import datetime
import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import DatabaseError, connection, transaction

from surveys.ledger import queries as ledger
from surveys.ledger import services as charges
from surveys.ledger.queries import Fault
from surveys.releases import covered, statistics

Row = dict[str, Any]

READ = {  # columns that are text to us: drivers would read more into some of them
    "releases_request": (("id", "plan_id"), ("digest", "statistic", "requested_on", "who", "refused")),
    "releases_release": (("id", "request_id", "entry_id"), ("numbers", "salt", "published_on", "published_at")),
    "releases_series": (("id", "request_id", "entry_id", "steps"), ()),
    "releases_step": (
        ("id", "series_id", "number"), ("question", "numbers", "salt", "published_on", "published_at"),
    ),
    "design_plan": (("id", "study_id"), ("digest",)),
    "design_study": (("id", "budget_id"), ()),
}  # fmt: skip


class Unreadable(Exception):
    """A column holds what the site never writes."""


@dataclass(slots=True)
class Books:
    """All that is compared, each table by its id, and what is in nobody's row or release so far."""

    tables: dict[str, dict[Any, Row]]
    charges: dict[Any, Row]
    vouched: dict[tuple[Any, Any], Row] = field(default_factory=dict)  # by what was done, and to which request
    seen: set[Any] = field(default_factory=set)  # positions of rows whose release or step is there
    answered: dict[Any, str] = field(default_factory=dict)  # request ids, by what answered them


def faults() -> list[Fault]:
    """Return everything of what was published that the ledger contradicts, in order of the rows that show it.

    The end of the chain is held meanwhile, so that nothing is published halfway.
    """
    with transaction.atomic():
        charges.hold_end()
        try:
            found = sorted(set(_faults(_books())))
        except DatabaseError as error:
            found = [Fault(0, f"what was published cannot be read: {type(error).__name__}")]
        transaction.set_rollback(True)  # nothing was written
    return found


def _books() -> Books:
    books = Books({name: _table(name) for name in READ}, {})
    for columns, _ in ledger.rows_as_stored():
        if columns["kind"] == "charge":
            books.charges[columns["position"]] = columns
        elif columns["published"] is not None:
            books.vouched.setdefault((columns["what"], columns["new"]), columns)  # the first: who adds one is late
    return books


def _table(name: str) -> dict[Any, Row]:
    plain, texts = READ[name]
    columns = [*plain, *(f"CAST({each} AS TEXT)" for each in texts)]
    with ledger.any_text(), connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(columns)} FROM {name} ORDER BY +id")  # noqa: S608
        return {row[0]: dict(zip((*plain, *texts), row, strict=True)) for row in cursor.fetchall()}


def _faults(books: Books) -> Iterator[Fault]:
    for request in books.tables["releases_request"].values():
        yield from _of_request(books, request)
    for release in books.tables["releases_release"].values():
        yield from _of_release(books, release)
    for series in books.tables["releases_series"].values():
        yield from _of_series(books, series)
    for step in books.tables["releases_step"].values():
        yield from _of_step(books, step)
    yield from _gone(books)


def _of_request(books: Books, request: Row) -> Iterator[Fault]:
    """A request is named by its statistic, and asks it of its Plan."""
    plan = books.tables["design_plan"].get(request["plan_id"])
    try:
        statistic = _json("statistic", request["statistic"])
        if statistics.digest(statistic) != request["digest"]:
            yield Fault(0, f"{_called(request)}: its words do not have its digest")
        elif plan is None or statistic["plan"] != plan["digest"]:
            yield Fault(0, f"{_called(request)}: it asks another Plan than it says")
    except (Unreadable, ValueError, TypeError, KeyError, RecursionError) as error:
        yield Fault(0, f"{_called(request)}: cannot be read ({type(error).__name__})")


def _of_release(books: Books, release: Row) -> Iterator[Fault]:
    request, entry = yield from _paid(books, release, "release")
    if request is None or entry is None:
        return
    covers = entry if entry["published"] else books.vouched.get((covered.FOUND, request["digest"]))
    yield from _compared(books, "release", request, release, covers, entry["position"])


def _of_series(books: Books, series: Row) -> Iterator[Fault]:
    request, entry = yield from _paid(books, series, "series")
    if request is None or entry is None:
        return
    if entry["published"]:
        yield Fault(entry["position"], f"paid for a release; a series stands for {_called(request)}")
    steps = sum(step["series_id"] == series["id"] for step in books.tables["releases_step"].values())
    if steps != series["steps"]:
        yield Fault(entry["position"], f"series of {_called(request)}: {series['steps']} steps taken, {steps} there")


def _of_step(books: Books, step: Row) -> Iterator[Fault]:
    series = books.tables["releases_series"].get(step["series_id"])
    request = series and books.tables["releases_request"].get(series["request_id"])
    if request is None:
        yield Fault(0, f"step {step['number']} of a series that is not there")
        return
    names = covered.named(step["number"]), covered.found_of(step["number"])
    rows = [row for name in names if (row := books.vouched.get((name, request["digest"])))]
    first = min(rows, key=lambda row: row["position"], default=None)
    yield from _compared(books, f"step {step['number']}", request, step, first, 0)


def _paid(books: Books, made: Row, kind: str) -> Generator[Fault, None, tuple[Row | None, Row | None]]:
    """Find the request that was answered and the row that paid, each of which must fit the other."""
    request = books.tables["releases_request"].get(made["request_id"])
    entry = books.charges.get(made["entry_id"])
    if request is None:
        yield Fault(0, f"{kind} {made['id']} answers a request that is not there")
        return None, None
    if request["id"] in books.answered:
        yield Fault(0, f"{_called(request)} is answered twice, by a {books.answered[request['id']]} and a {kind}")
    books.answered[request["id"]] = kind
    if entry is None:
        yield Fault(0, f"{kind} of {_called(request)}: no row of the ledger paid for it")
    elif problem := _unfit(books, request, entry):
        yield Fault(entry["position"], f"{kind} of {_called(request)}: {problem}")
    return request, entry


def _unfit(books: Books, request: Row, entry: Row) -> str:
    plan = books.tables["design_plan"].get(request["plan_id"], {})
    study = books.tables["design_study"].get(plan.get("study_id"), {})
    if entry["statistic"] != request["digest"]:
        return "this row paid for another request"
    if entry["budget_id"] != study.get("budget_id"):
        return "this row is of another budget than the study's"
    if entry["who"] != request["who"]:
        return "this row was paid by somebody else"
    return "it is marked as refused" if request["refused"] else ""


def _compared(books: Books, kind: str, request: Row, made: Row, row: Row | None, at: int) -> Iterator[Fault]:
    """Compare numbers with the digest that vouches for them."""
    if row is None:
        yield Fault(at, f"{kind} of {_called(request)}: no row vouches for it; it was put in")
        return
    books.seen.add(row["position"])
    try:
        holds = _digest(request, made) == row["published"]
    except (Unreadable, ValueError, TypeError, RecursionError) as error:
        yield Fault(row["position"], f"{kind} of {_called(request)}: cannot be read ({type(error).__name__})")
        return
    if not holds:
        text = "is not what was published: it, or its request, was changed or drawn again"
        yield Fault(row["position"], f"{kind} of {_called(request)}: {text}")


def _digest(request: Row, made: Row) -> str:
    question = made.get("question")
    document = covered.document(
        statistic=_json("statistic", request["statistic"]),
        asked_on=datetime.date.fromisoformat(request["requested_on"]),
        numbers=_json("numbers", made["numbers"]),
        salt=made["salt"],
        published_on=datetime.date.fromisoformat(made["published_on"]),
        published_at=_moment(made["published_at"]),
        step=made.get("number"),
        question=None if question is None else _json("question", question),
    )
    return covered.digest_of(document)


def _gone(books: Books) -> Iterator[Fault]:
    """Find rows whose release, series or step is not there."""
    digests = {request["id"]: request["digest"] for request in books.tables["releases_request"].values()}
    there = {digests[request_id] for request_id in books.answered}
    plans = {plan["digest"] for plan in books.tables["design_plan"].values()}
    for position, charge in books.charges.items():
        if charge["statistic"] not in there | plans:
            yield Fault(position, f"paid for {str(charge['statistic'])[:8]}, which is gone")
    for (what, _), row in books.vouched.items():
        if row["position"] not in books.seen:
            yield Fault(row["position"], f"“{what}”: what it vouches for is gone")


def _called(request: Row) -> str:
    return f"request {str(request['digest'])[:8]}"


def _json(name: str, text: Any) -> Any:
    if not isinstance(text, str):
        raise Unreadable(name)
    return json.loads(text)


def _moment(text: str) -> datetime.datetime:
    found = datetime.datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
