"""Is what was published what the ledger's rows vouch for? Plans, requests, releases and steps against the chain.

Everything is read as the database holds it, without indexes and without trust in what refers to what: something
changed, taken away, put in, or drawn again is a finding, and so is what cannot be read.
"""

import datetime
import hashlib
import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from django.db import DatabaseError, connection, transaction

from surveys.ledger import queries as ledger
from surveys.ledger import services as charges
from surveys.ledger.queries import Fault
from surveys.releases import covered, statistics

Row = dict[str, Any]

OPENED = "opened wave "  # as the ledger says it (design/opening.py)
READ = {  # columns that are text to us: drivers would read more into some of them
    "releases_request": (("id", "plan_id"), ("digest", "statistic", "requested_on", "who", "refused")),
    "releases_release": (("id", "request_id", "entry_id"), ("numbers", "salt", "published_on", "published_at")),
    "releases_series": (("id", "request_id", "entry_id", "steps"), ()),
    "releases_step": (
        ("id", "series_id", "number"), ("question", "numbers", "salt", "published_on", "published_at"),
    ),
    "design_plan": (("id", "study_id", "wave"), ("digest", "document")),
    "design_study": (("id", "budget_id"), ()),
}  # fmt: skip


class Unreadable(Exception):
    """A column holds what the site never writes."""


@dataclass(slots=True)
class Books:
    """All that is compared, each table by its id, and what is in nobody's row or release so far."""

    tables: dict[str, dict[Any, Row]]
    twice: list[tuple[str, Any]] = field(default_factory=list)  # where a key was dropped: one row would hide another
    charges: dict[Any, Row] = field(default_factory=dict)
    openings: dict[Any, list[Row]] = field(default_factory=dict)  # of waves, by budget
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
    rows = {name: _rows(name) for name in READ}
    books = Books({name: {row["id"]: row for row in found} for name, found in rows.items()})
    books.twice = [
        (name, one["id"]) for name, found in rows.items() for one, other in pairwise(found) if one["id"] == other["id"]
    ]
    for columns, _ in ledger.rows_as_stored():
        if columns["kind"] == "charge":
            books.charges[columns["position"]] = columns
        elif str(columns["what"]).startswith(OPENED):
            books.openings.setdefault(columns["budget_id"], []).append(columns)
        elif columns["published"] is not None:
            books.vouched.setdefault((columns["what"], columns["new"]), columns)  # the first: who adds one is late
    return books


def _rows(name: str) -> list[Row]:
    plain, texts = READ[name]
    columns = [*plain, *(f"CAST({each} AS TEXT)" for each in texts)]
    with ledger.any_text(), connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(columns)} FROM {name} ORDER BY +id")  # noqa: S608
        return [dict(zip((*plain, *texts), row, strict=True)) for row in cursor.fetchall()]


def _faults(books: Books) -> Iterator[Fault]:
    yield from (Fault(0, f"{name} has two rows of id {key}") for name, key in books.twice)
    yield from _of_plans(books)
    for request in books.tables["releases_request"].values():
        yield from _of_request(books, request)
    for release in books.tables["releases_release"].values():
        yield from _of_release(books, release)
    for series in books.tables["releases_series"].values():
        yield from _of_series(books, series)
    for step in books.tables["releases_step"].values():
        yield from _of_step(books, step)
    yield from _gone(books)


def _of_plans(books: Books) -> Iterator[Fault]:
    """A Plan says what the numbers are about: it is the one whose fingerprint stands in the row of its opening."""
    studies, opened = books.tables["design_study"], set()
    for plan in books.tables["design_plan"].values():
        budget = studies.get(plan["study_id"], {}).get("budget_id")
        row = next((row for row in books.openings.get(budget, ()) if _opens(row, plan)), None)
        if row is None:
            yield Fault(0, f"{_plan(plan)}: no row of its study opened it")
            continue
        opened.add(row["position"])
        if hashlib.sha256(_text(plan["document"]).encode("utf-8", "surrogateescape")).hexdigest() != plan["digest"]:
            yield Fault(row["position"], f"{_plan(plan)}: is not what was opened: its words were changed")
    for row in (row for rows in books.openings.values() for row in rows):
        if row["position"] not in opened:
            yield Fault(row["position"], f"“{row['what']}”: the Plan that it opened is gone, or another now")


def _opens(row: Row, plan: Row) -> bool:
    return row["what"] == f"{OPENED}{plan['wave']}" and str(row["new"]).startswith(f"Plan {plan['digest']};")


def _plan(plan: Row) -> str:
    return f"Plan {_text(plan['digest'])[:8]}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


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
    numbers = [step["number"] for step in books.tables["releases_step"].values() if step["series_id"] == series["id"]]
    if len(numbers) != series["steps"] or set(numbers) != set(range(1, len(numbers) + 1)):
        text = f"{series['steps']} steps taken, of which there are {', '.join(map(str, numbers)) or 'none'}"
        yield Fault(entry["position"], f"series of {_called(request)}: {text}")


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
