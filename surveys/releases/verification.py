"""Is what was published what the ledger's rows vouch for? Plans, requests, releases and steps
against the chain.

Everything is read as the database holds it, without trust in what refers to what: something
changed, taken away, put in, or drawn again is a finding, and so is what cannot be read. Of many
rows a part is read at a time: the requests whose digests begin alike, and all rows about them. Of
each row only what is compared is kept: long texts are hashed as they are read.
"""

import hashlib
import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from django.db import DatabaseError, connection

from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import Columns, Fault
from surveys.releases import covered, statistics
from surveys.releases.numbers import without_codes

PAID = ("releases_release", "releases_series")
CHUNK = 500
OPENED = "opened wave "  # as the ledger says it (design/launch.py)
READ = {  # columns that are text to us: drivers would read more into some of them
    "releases_request": (
        ("id", "plan_id"),
        ("digest", "statistic", "requested_on", "who", "refused"),
    ),
    "releases_release": (
        ("id", "request_id", "entry_id"),
        ("numbers", "salt", "published_on", "published_at"),
    ),
    "releases_series": (("id", "request_id", "entry_id", "steps"), ()),
    "releases_step": (
        ("id", "series_id", "number"),
        ("question", "numbers", "salt", "published_on", "published_at"),
    ),
    "design_plan": (("id", "study_id", "wave"), ("digest", "document")),
    "design_study": (("id", "budget_id"), ()),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Which requests are looked at, with all that is about them: all, those whose digests begin so,
    or those that rows after one are about. One part of several has what is of no request, too.
    """

    beginning: str = ""
    since: int = 0

    @property
    def has_rest(self) -> bool:
        return not self.since and not self.beginning.strip(PARTS[0])

    def rows(self) -> Iterator[Columns]:
        """Yield the rows of the ledger that are about them."""
        if self.since:
            found = ledger.rows_as_stored("WHERE e.position > %s", self.since)
        elif self.beginning:
            found = ledger.rows_as_stored(
                "WHERE e.statistic LIKE %s OR (e.published IS NOT NULL AND e.new LIKE %s) "
                "OR (%s = 1 AND e.what LIKE %s)",
                *[f"{self.beginning}%"] * 2,
                *(int(self.has_rest), f"{OPENED}%"),
            )
        else:
            found = ledger.rows_as_stored()
        return (columns for columns, _ in found)


PARTS = "0123456789abcdef"  # of digests: each by itself where there are many rows
MANY = 20_000  # rows, of which a part is read at a time
REFERRING = ("id", "request_id", "entry_id", "series_id", "number")  # of a release, of a step
COMPARED = ("position", "what", "new", "published", "statistic", "budget_id", "who")  # of a row


def parts(length: int) -> list[str]:
    """Return how the digests of each part of the requests begin, for a ledger of so many rows: no
    part has many.
    """
    found = [""]
    while length > MANY * len(found):
        found = [beginning + digit for beginning in found for digit in PARTS]
    return found


class Unreadable(Exception):
    """A column holds what the site never writes."""


@dataclass(slots=True)
class Books:
    """All that is compared, each table by its id, and what is in nobody's row or release so far."""

    since: int
    tables: dict[str, dict[Any, Columns]]
    # where a key was dropped: one row would hide another
    twice: list[tuple[str, Any]] = field(default_factory=list)
    charges: dict[Any, Columns] = field(default_factory=dict)
    others: dict[Any, Columns] = field(default_factory=dict)  # that something refers to
    openings: dict[Any, list[Columns]] = field(default_factory=dict)  # of waves, by budget
    # by what was done, and to which request
    vouched: dict[tuple[Any, Any], Columns] = field(default_factory=dict)
    seen: set[Any] = field(default_factory=set)  # positions of rows whose release or step is there
    answered: dict[Any, str] = field(default_factory=dict)  # request ids, by what answered them


def faults(asked: Asked = Asked()) -> list[Fault]:  # noqa: B008 (frozen)
    """Return all of what was published that the ledger contradicts, in order of its rows.

    Everything is read as it is at one moment, so that nothing is published halfway.
    """
    with ledger.snapshot():
        try:
            return sorted(set(_faults(_books(asked), asked)))
        except DatabaseError as error:
            return [Fault(0, f"what was published cannot be read: {type(error).__name__}")]


def _books(asked: Asked) -> Books:
    books = Books(asked.since, {name: {} for name in READ})
    for columns in asked.rows():
        row = {name: columns[name] for name in COMPARED}
        if columns["kind"] == "charge":
            books.charges[row["position"]] = row
        elif str(row["what"]).startswith(OPENED):
            books.openings.setdefault(row["budget_id"], []).append(row)
        elif row["published"] is not None:
            # the first: who adds one is late
            books.vouched.setdefault((row["what"], row["new"]), row)
    for name, table in books.tables.items():
        before, texts = None, READ[name][1]
        if name == "design_plan" and not _compares_plans(books, asked):
            texts = ("digest",)
        for row in _rows(name, texts, *_which(name, books, asked)):
            if row["id"] == before:
                books.twice.append((name, before))
            before = row["id"]
            table[before] = _kept(books, name, row)
    drawn = (row for name in PAID for row in books.tables[name].values())
    missing = sorted({row["entry_id"] for row in drawn} - set(books.charges))
    for start in range(0, len(missing), CHUNK):
        for columns, _ in ledger.rows_at(missing[start : start + CHUNK]):
            if columns["kind"] == "charge":
                row = {name: columns[name] for name in COMPARED}
                books.others[row["position"]] = row
    return books


def _compares_plans(books: Books, asked: Asked) -> bool:
    return asked.has_rest or bool(books.openings)


def _kept(books: Books, name: str, row: Columns) -> Columns:
    """Return what is compared of a row: a digest in the place of what is hashed. Requests are read
    before what answers them, and series before their steps.
    """
    if "document" in row:
        return {**row, "document": _sha256(_text(row["document"]))}
    if name not in ("releases_release", "releases_step"):
        return row
    kept = {key: row[key] for key in REFERRING if key in row}
    request = books.tables["releases_request"].get(_series_of(books, row).get("request_id"))
    if request is not None:
        try:
            kept["digest"] = _digest(request, row)
        except (Unreadable, ValueError, TypeError, RecursionError) as error:
            kept["unreadable"] = type(error).__name__
    return kept


def _series_of(books: Books, row: Columns) -> Columns:
    """Return what names the request of a release, which is itself, or of a step, its series."""
    return books.tables["releases_series"].get(row["series_id"], {}) if "series_id" in row else row


def _which(name: str, books: Books, asked: Asked) -> tuple[str, list[Any]]:
    """Return which rows of a table are about the requests that are looked at."""
    if name.startswith("design_") or not (asked.since or asked.beginning):
        return "", []
    values: list[Any] = [f"{asked.beginning}%"]
    those = "digest LIKE %s"
    if asked.since:
        values = sorted(_digests(books))
        those = f"digest IN ({', '.join(['%s'] * len(values))})" if values else "1 = 0"
    if name == "releases_request":
        rest = " OR ".join(f"substr(digest, 1, 1) = '{each}'" for each in PARTS)
        return (f"{those} OR NOT ({rest})" if asked.has_rest else those), values
    of, key = ("releases_request", "request_id")
    within = f"SELECT id FROM releases_request WHERE {those}"  # noqa: S608
    if name == "releases_step":
        of, key = ("releases_series", "series_id")
        within = f"SELECT id FROM releases_series WHERE request_id IN ({within})"  # noqa: S608
    if asked.has_rest:
        return f"{key} IN ({within}) OR {key} NOT IN (SELECT id FROM {of})", values  # noqa: S608
    return f"{key} IN ({within})", values


def _digests(books: Books) -> set[str]:
    """Return the digests of the requests that rows are about."""
    paid = {str(row["statistic"]) for row in books.charges.values()}
    return paid | {str(new) for _, new in books.vouched}


def _rows(name: str, texts: tuple[str, ...], which: str, values: list[Any]) -> Iterator[Columns]:
    plain, _ = READ[name]
    columns = [*plain, *(f"CAST({each} AS TEXT)" for each in texts)]
    where = f"WHERE {which}" if which else ""
    with ledger.any_text(), connection.chunked_cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(columns)} FROM {name} {where} ORDER BY +id", values)  # noqa: S608
        while rows := cursor.fetchmany(CHUNK):
            for row in rows:
                yield dict(zip((*plain, *texts), row, strict=True))


def _faults(books: Books, asked: Asked) -> Iterator[Fault]:
    yield from (Fault(0, f"{name} has two rows of id {key}") for name, key in books.twice)
    if _compares_plans(books, asked):
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
    """Find Plans that are not the ones whose fingerprints stand in the rows of their opening."""
    studies, opened = books.tables["design_study"], set()
    for plan in books.tables["design_plan"].values():
        budget = studies.get(plan["study_id"], {}).get("budget_id")
        what, new = f"{OPENED}{plan['wave']}", f"Plan {plan['digest']};"
        rows = books.openings.get(budget, ())
        row = next(
            (row for row in rows if row["what"] == what and str(row["new"]).startswith(new)), None
        )
        if row is None:
            if not books.since:
                yield Fault(0, f"{_plan(plan)}: no row of its study opened it")
            continue
        opened.add(row["position"])
        if plan["document"] != plan["digest"]:
            yield Fault(
                row["position"], f"{_plan(plan)}: is not what was opened: its words were changed"
            )
    for row in (row for rows in books.openings.values() for row in rows):
        if row["position"] not in opened:
            yield Fault(
                row["position"], f"“{row['what']}”: the Plan that it opened is gone, or another now"
            )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _plan(plan: Columns) -> str:
    return f"Plan {_text(plan['digest'])[:8]}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _of_request(books: Books, request: Columns) -> Iterator[Fault]:
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


def _of_release(books: Books, release: Columns) -> Iterator[Fault]:
    request, entry = yield from _paid(books, release, "release")
    if request is None or entry is None:
        return
    if entry["position"] <= books.since:
        return  # what vouches for it may stand among older rows
    covers = (
        entry
        if entry["published"]
        else books.vouched.get((covered.found_of(None), request["digest"]))
    )
    yield from _compared(books, "release", request, release, covers, entry["position"])


def _of_series(books: Books, series: Columns) -> Iterator[Fault]:
    request, entry = yield from _paid(books, series, "series")
    if request is None or entry is None:
        return
    if entry["published"]:
        yield Fault(
            entry["position"], f"paid for a release; a series stands for {_called(request)}"
        )
    numbers = [
        step["number"]
        for step in books.tables["releases_step"].values()
        if step["series_id"] == series["id"]
    ]
    if len(numbers) != series["steps"] or set(numbers) != set(range(1, len(numbers) + 1)):
        text = (
            f"{series['steps']} steps taken, of which there are "
            f"{', '.join(map(str, numbers)) or 'none'}"
        )
        yield Fault(entry["position"], f"series of {_called(request)}: {text}")


def _of_step(books: Books, step: Columns) -> Iterator[Fault]:
    series = books.tables["releases_series"].get(step["series_id"])
    request = series and books.tables["releases_request"].get(series["request_id"])
    if request is None:
        yield Fault(0, f"step {step['number']} of a series that is not there")
        return
    names = covered.STEP(number=step["number"]), covered.found_of(step["number"])
    rows = [row for name in names if (row := books.vouched.get((name, request["digest"])))]
    first = min(rows, key=lambda row: row["position"], default=None)
    if first is None and books.since:
        return
    yield from _compared(books, f"step {step['number']}", request, step, first, 0)


def _paid(
    books: Books, drawn: Columns, kind: str
) -> Generator[Fault, None, tuple[Columns | None, Columns | None]]:
    """Find the request that was answered and the row that paid; each must fit the other."""
    request = books.tables["releases_request"].get(drawn["request_id"])
    entry = books.charges.get(drawn["entry_id"]) or books.others.get(drawn["entry_id"])
    if request is None:
        yield Fault(0, f"{kind} {drawn['id']} answers a request that is not there")
        return None, None
    if request["id"] in books.answered:
        yield Fault(
            0,
            f"{_called(request)} is answered twice, by a {books.answered[request['id']]} and a "
            f"{kind}",
        )
    books.answered[request["id"]] = kind
    if entry is None:
        yield Fault(0, f"{kind} of {_called(request)}: no row of the ledger paid for it")
    elif problem := _unfit(books, request, entry):
        yield Fault(entry["position"], f"{kind} of {_called(request)}: {problem}")
    return request, entry


def _unfit(books: Books, request: Columns, entry: Columns) -> str:
    plan = books.tables["design_plan"].get(request["plan_id"], {})
    study = books.tables["design_study"].get(plan.get("study_id"), {})
    if entry["statistic"] != request["digest"]:
        return "this row paid for another request"
    if entry["budget_id"] != study.get("budget_id"):
        return "this row is of another budget than the study's"
    if entry["who"] != request["who"]:
        return "this row was paid by somebody else"
    return "it is marked as refused" if request["refused"] else ""


def _compared(
    books: Books, kind: str, request: Columns, drawn: Columns, row: Columns | None, at: int
) -> Iterator[Fault]:
    """Compare numbers with the digest that vouches for them."""
    if row is None:
        yield Fault(at, f"{kind} of {_called(request)}: no row vouches for it; it was put in")
        return
    books.seen.add(row["position"])
    if "unreadable" in drawn:
        text = f"cannot be read ({drawn['unreadable']})"
        yield Fault(row["position"], f"{kind} of {_called(request)}: {text}")
    elif drawn["digest"] != row["published"]:
        text = "is not what was published: it, or its request, was changed or drawn again"
        yield Fault(row["position"], f"{kind} of {_called(request)}: {text}")


def _digest(request: Columns, drawn: Columns) -> str:
    question, published_at = drawn.get("question"), datetime.fromisoformat(drawn["published_at"])
    document = covered.document(
        statistic=_json("statistic", request["statistic"]),
        asked_on=date.fromisoformat(request["requested_on"]),
        numbers=without_codes(_json("numbers", drawn["numbers"])),
        salt=drawn["salt"],
        published_on=date.fromisoformat(drawn["published_on"]),
        published_at=published_at if published_at.tzinfo else published_at.replace(tzinfo=UTC),
        step=drawn.get("number"),
        question=None if question is None else _json("question", question),
    )
    return covered.digest_of(document)


def _gone(books: Books) -> Iterator[Fault]:
    """Find rows whose release, series or step is not there."""
    digests = {
        request["id"]: request["digest"] for request in books.tables["releases_request"].values()
    }
    there = {digests[request_id] for request_id in books.answered}
    plans = {plan["digest"] for plan in books.tables["design_plan"].values()}
    for position, charge in books.charges.items():
        if charge["statistic"] not in there | plans:
            yield Fault(position, f"paid for {str(charge['statistic'])[:8]}, which is gone")
    for (what, _), row in books.vouched.items():
        if row["position"] not in books.seen:
            yield Fault(row["position"], f"“{what}”: what it vouches for is gone")


def _called(request: Columns) -> str:
    return f"request {str(request['digest'])[:8]}"


def _json(name: str, text: Any) -> Any:
    if not isinstance(text, str):
        raise Unreadable(name)
    return json.loads(text)
