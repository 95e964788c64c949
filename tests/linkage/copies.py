"""A copy of a site's data, as somebody reads it who has it: where each of some identifiers stands,
and all that can be put in an order there.

SQLite      a file: each table's rows with their rowid, and the file's bytes
PostgreSQL  postgresql://…, a server on a copy of the data folder: rows in the order in which they
            stand, with their transaction (xmin)
            a dump of pg_dump in plain text: rows in the order in which it wrote them
            a data folder: its bytes, dead rows, indexes and write-ahead log among them
Anything    logs, a broker's file: their bytes
"""

import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Values = Mapping[str, Any]
CHUNK, OVERLAP, HEAD = 2**24, 256, 4  # bytes
PART = re.compile("_[0-9a-f]$")  # of a table in parts: places in them can be compared
HEX = re.compile("(?:[0-9a-f]{2}){8,}")
COPIED = re.compile(r"COPY (?:\w+\.)?\"?(\w+)\"? \((.*)\) FROM stdin;")


class Unreadable(Exception):
    """What was given as a copy is none: which, and what was expected."""


@dataclass(frozen=True)
class Row:
    table: str
    values: Values
    hidden: Values  # where it stands, and when it was written

    def scores(self) -> Iterator[tuple[str, Any]]:
        """Yield all that rows of this table can be sorted by."""
        for part, value in (*self.hidden.items(), *self.values.items()):
            if value is not None:
                yield f"{self.table}.{part}", value

    def state(self) -> tuple[Any, ...]:
        return self.table, *self.values.values()


@dataclass(frozen=True)
class Copy:
    """Rows of each identifier that stands in a column of its own; and where it is in the bytes."""

    name: str
    rows: Mapping[str, list[Row]]
    bytes: Mapping[str, Mapping[str, int]]  # file: identifier: place


def read(source: str, identifiers: Collection[str]) -> Copy:
    """Return what a copy holds of some identifiers: text, or bytes in hexadecimal."""
    path = Path(source)
    if source.startswith(("postgresql://", "postgres://")):
        return Copy("database", _known(_of_server(source), identifiers), {})
    if path.is_dir():
        files = [each for each in sorted(path.rglob("*")) if each.is_file()]
        found = {str(each.relative_to(path)): places(each, identifiers) for each in files}
        return Copy(path.name, {}, {name: own for name, own in found.items() if own})
    if not path.is_file():
        raise Unreadable(f"{source}: expected a file, a folder or postgresql://…, found nothing")
    with path.open("rb") as file:
        is_sqlite = file.read(16) == b"SQLite format 3\0"
    if is_sqlite:
        rows = _known(_of_file(path), identifiers)
        return Copy(path.name, rows, {"file": places(path, identifiers)})
    return Copy(path.name, _known(_of_dump(path), identifiers), {})


def _known(rows: Iterable[Row], identifiers: Collection[str]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        for value in row.values.values():
            if value in identifiers:
                found.setdefault(value, []).append(row)
    return found


def _of_file(path: Path) -> Iterator[Row]:
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as db:
        tables = db.execute(
            "SELECT name, format('\"%w\"', name) FROM sqlite_master WHERE type = 'table'"
        )
        for table, quoted in tables.fetchall():
            try:
                rows = db.execute(f"SELECT rowid AS place, * FROM {quoted}")  # noqa: S608
            except sqlite3.OperationalError:  # it has none
                rows = db.execute(f"SELECT 0 AS place, * FROM {quoted}")  # noqa: S608
            names = [each[0] for each in rows.description]
            yield from _rows(table, names, rows, hidden=1)


def _of_server(address: str) -> Iterator[Row]:
    import psycopg
    from psycopg import sql

    with psycopg.connect(address) as db:
        tables = db.execute(
            "SELECT schemaname, tablename FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        for table in tables:
            query = sql.SQL("SELECT xmin::text::bigint AS xmin, * FROM {}")
            rows = db.execute(query.format(sql.Identifier(*table)))
            names = [each.name for each in rows.description or ()]
            yield from _rows(PART.sub("", table[1]), names, rows, hidden=1)


def _rows(
    table: str, names: list[str], rows: Iterable[tuple[Any, ...]], hidden: int
) -> Iterator[Row]:
    for at, row in enumerate(rows):
        values = dict(zip(names, map(_plain, row), strict=True))
        own = {name: values.pop(name) for name in names[:hidden]}
        yield Row(table, values, own | {"order": at})


def _of_dump(path: Path) -> Iterator[Row]:
    table, names, at = "", [""], 0
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if begins := COPIED.match(line):
                table, at = PART.sub("", begins[1]), 0
                names = [each.strip('" ') for each in begins[2].split(",")]
            elif line.startswith("\\."):
                table = ""
            elif table:
                values = [each.removeprefix("\\\\x") for each in line.rstrip("\n").split("\t")]
                yield Row(table, dict(zip(names, values, strict=False)), {"order": at})
                at += 1


def _plain(value: Any) -> Any:
    """Return bytes as hexadecimal, all that is no number as text."""
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    return value if isinstance(value, int | float | str) or value is None else str(value)


def places(path: Path, identifiers: Collection[str]) -> dict[str, int]:
    """Return where each identifier stands last in a file's bytes, as text or as bytes."""
    wanted = {form: each for each in identifiers for form in _forms(each)}
    if not wanted:
        return {}
    heads = np.unique(np.frombuffer(b"".join(form[:HEAD] for form in wanted), dtype="<u4"))
    lengths = sorted({len(form) for form in wanted})
    found: dict[str, int] = {}
    with path.open("rb") as file:
        begin, chunk = 0, file.read(CHUNK)
        while len(chunk) >= HEAD:
            for at in _candidates(chunk, heads):
                for length in lengths:
                    if name := wanted.get(chunk[at : at + length]):
                        found[name] = max(found.get(name, 0), begin + at)
            more = file.read(CHUNK)
            begin, chunk = begin + len(chunk) - OVERLAP, chunk[-OVERLAP:] + more
            if not more:
                break
    return found


def _forms(identifier: str) -> Iterator[bytes]:
    yield identifier.encode()
    if HEX.fullmatch(identifier):
        yield bytes.fromhex(identifier)


def _candidates(chunk: bytes, heads: Any) -> list[int]:
    found = [
        4 * np.flatnonzero(np.isin(np.frombuffer(chunk, "<u4", (len(chunk) - at) // 4, at), heads))
        + at
        for at in range(HEAD)
        if len(chunk) - at >= HEAD
    ]
    return np.concatenate(found).tolist() if found else []
