"""The chain of rows: what of a row is hashed, and how.

A row's document is every column of it, as JSON with sorted keys, no spaces and UTF-8; its digest is
the SHA-256 of that. A column that was added later is left out where it is empty, so that older rows
keep their bytes. The document holds the digest of the row before, so that the last digest vouches
for all rows. Amounts are decimal strings, moments UTC; a budget stands by its name, which is
public, and unique. Anyone can compute the same:

    sha256(json.dumps(row without "digest", sort_keys=True, separators=(",", ":"),
    ensure_ascii=False))

Rows are read as the database holds them, without the site's own reading of them, so that a damaged
row is a finding and not a crash.
"""

import contextlib
import datetime
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from django.db import DatabaseError, connection, models, transaction

from surveys.ledger.fields import AmountField, MomentField, amount_of, moment_of, written
from surveys.ledger.models import DIGEST, Entry

BEFORE_THE_FIRST = "0" * DIGEST
CHUNK = 1_000  # rows read at a time
COLUMNS = {str(field.column): field for field in Entry._meta.concrete_fields}
HASHED = {name: field for name, field in COLUMNS.items() if name != "digest"}
ADDED = {"published", "reads"}  # after the first rows were written
# what a transaction begins with, so that all of it sees one moment: on SQLite any reading will do
READING = "SELECT length FROM ledger_head"
REPEATABLE = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
TRUTHS = {"true": True, "1": True, "false": False, "0": False}  # as PostgreSQL and SQLite say them

Document = dict[str, Any]  # what is hashed, as JSON
Columns = dict[str, Any]  # of a row, as the database holds them


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """What is wrong, and which row shows it; 0 if there is none that could."""

    position: int
    text: str

    def __str__(self) -> str:
        return f"row {self.position}: {self.text}".encode("utf-8", "backslashreplace").decode()


class Damaged(Exception):
    """A column holds what the site never writes."""


def columns_of(entry: Entry) -> Columns:
    """Return a row's columns, but its digest, as the database is to hold them."""
    return {
        name: field.get_prep_value(getattr(entry, field.attname)) for name, field in HASHED.items()
    }


def document_of(entry: Entry) -> Document:
    """Return the document of a row that is about to be written, or was read."""
    return document(columns_of(entry), entry.budget.name if entry.budget else None)


def document(columns: Mapping[str, Any], budget: str | None) -> Document:
    """Return the document of a row from its columns as the database holds them."""
    values = {field.name: _said(field, columns[name]) for name, field in HASHED.items()}
    if (columns["budget_id"] is None) != (budget is None):
        raise Damaged("budget: there is none of this id")
    filled = {
        name: value for name, value in values.items() if name not in ADDED or value is not None
    }
    return {**filled, "budget": None if budget is None else of_type(str, "budget", budget)}


def canonical(document: Document) -> str:
    """Return the text that is hashed."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(document: Document) -> str:
    return hashlib.sha256(canonical(document).encode("utf-8", "surrogateescape")).hexdigest()


def value_of(field: "models.Field[Any, Any]", value: Any) -> Any:
    """Return what a column holds, in Python's terms; of truths and days, what their text says."""
    if value is None:
        return None
    if isinstance(field, models.CharField):
        return of_type(str, field.name, value)
    try:
        if isinstance(field, models.BooleanField):
            return TRUTHS[value]
        if isinstance(field, models.DateField):
            return datetime.date.fromisoformat(value)
        whole = of_type(int, field.name, value)
        if isinstance(field, AmountField):
            return amount_of(whole, field.places)
        return moment_of(whole) if isinstance(field, MomentField) else whole
    except (KeyError, ValueError, OverflowError) as error:
        raise Damaged(f"{field.name}: no such value") from error


def _said(field: "models.Field[Any, Any]", value: Any) -> Any:
    """Return what a column says, in JSON's terms."""
    content = value_of(field, value)
    if isinstance(content, datetime.datetime):
        return content.isoformat(timespec="microseconds")
    return written(content) if isinstance(content, Decimal) else content


def of_type(kind: type[Any], name: str, value: Any) -> Any:
    if not isinstance(value, kind):
        raise Damaged(f"{name}: expected {'text' if kind is str else 'a whole number'}")
    return value


Stored = tuple[Columns, str | None]  # the columns of a row, and the name of its budget

READ = (
    f"SELECT {', '.join(f'e.{name}' for name in COLUMNS)}, b.name "  # noqa: S608
    "FROM ledger_entry e LEFT JOIN ledger_budget b ON b.id = e.budget_id"
)


def select(rest: str = "", *values: Any) -> list[Stored]:
    """Return rows as the database holds them."""
    with any_text(), connection.cursor() as cursor:
        cursor.execute(f"{READ} {rest}", values)
        return [(dict(zip(COLUMNS, row, strict=False)), row[-1]) for row in cursor.fetchall()]


def stream() -> Iterator[Stored]:
    """Yield rows as the database holds them, in order of position: a chunk at a time.

    Inside a transaction, for PostgreSQL keeps the place of whoever reads.
    """
    # The plus keeps SQLite from taking positions from its index instead of from the rows.
    by = "+e.position" if connection.vendor == "sqlite" else "e.position"
    with any_text(), connection.chunked_cursor() as cursor:
        cursor.execute(f"{READ} ORDER BY {by}")
        while rows := cursor.fetchmany(CHUNK):
            for row in rows:
                yield dict(zip(COLUMNS, row, strict=False)), row[-1]


@contextlib.contextmanager
def snapshot() -> Iterator[None]:
    """Read everything as it is at one moment, however long it takes: nobody who writes waits.

    Nothing can be written inside. Within a transaction it is that one's.
    """
    database, is_outermost = cast(Any, connection), not connection.in_atomic_block
    is_repeatable = is_outermost and connection.vendor == "postgresql"
    usual = getattr(database, "transaction_mode", None)
    database.transaction_mode = "DEFERRED"  # of SQLite: else beginning would wait for who writes
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(REPEATABLE if is_repeatable else READING)
            yield
            # Nothing was written, and SQLite commits nothing to a damaged file.
            transaction.set_rollback(True)
    finally:
        database.transaction_mode = usual


def one_by_one() -> list[Stored]:
    """Return the rows of a damaged SQLite file; of an unreadable one, its position in the index."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT position FROM ledger_entry ORDER BY position")
        positions = [position for (position,) in cursor.fetchall()]
    rows: list[Stored] = []
    for position in positions:
        nothing = {**dict.fromkeys(COLUMNS), "position": position}, None
        try:
            rows += select("WHERE e.position = %s", position) or [nothing]
        except DatabaseError:
            rows.append(nothing)
    return rows


@contextlib.contextmanager
def any_text() -> Iterator[None]:
    """Have SQLite return text that is not UTF-8 byte for byte: it may have been damaged."""
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    usual = connection.connection.text_factory
    connection.connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        connection.connection.text_factory = usual
