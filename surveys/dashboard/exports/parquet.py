"""A table as an Apache Parquet file: one group of rows, a page a column, plain values, gzip.

A few thousand numbers need no more, and the library that can do all of it takes 170 MB. Any value
may be missing. Integers have 64 bits, floats are doubles, texts UTF-8, dates days since 1970.

    file       PAR1 · of each column its page's header and page · footer · its length · PAR1
    page       which values are there, as runs of a bit, after their length; then those values
    structure  Thrift's compact protocol: fields by number, each with its type

Sources  parquet.thrift, Encodings.md and thrift-compact-protocol.md, as every reader has them.
"""

import datetime
import gzip
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

MAGIC = b"PAR1"
VERSION, OPTIONAL, DATA_PAGE, PLAIN, RUNS, GZIP = 1, 1, 0, 0, 3, 2  # the format's numbers
EPOCH = datetime.date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class Kind:
    """How a kind of value is stored: the format's number, what it means, the bytes of one."""

    stored: int
    meaning: int | None
    bytes_of: Callable[[Any], bytes]


def _text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<i", len(raw)) + raw


def _day(value: datetime.date) -> bytes:
    return struct.pack("<i", value.toordinal() - EPOCH)


INTEGER = Kind(2, None, struct.Struct("<q").pack)
NUMBER = Kind(5, None, struct.Struct("<d").pack)
TEXT = Kind(6, 0, _text)
DAY = Kind(1, 6, _day)


class Column(NamedTuple):
    """Values of one kind; None is a missing one."""

    name: str
    kind: Kind
    values: Sequence[Any]


def file_of(columns: Sequence[Column], about: Mapping[str, str], maker: str) -> bytes:
    """Return a file of columns of one length; `about` is true of all rows, `maker` wrote it."""
    rows = len(columns[0].values)
    file, chunks = bytearray(MAGIC), []
    for column in columns:
        chunks.append(_put(file, column))
    footer = _structure(
        {
            1: Short(VERSION),
            2: [{4: "rows", 5: Short(len(columns))}, *map(_element, columns)],
            3: rows,
            4: [{1: chunks, 2: sum(chunk[3][6] for chunk in chunks), 3: rows}],
            5: [{1: key, 2: text} for key, text in about.items()],
            6: maker,
        }
    )
    return bytes(file) + footer + struct.pack("<i", len(footer)) + MAGIC


def _element(column: Column) -> "Fields":
    """Return what the schema says of a column."""
    meaning = {} if column.kind.meaning is None else {6: Short(column.kind.meaning)}
    return {1: Short(column.kind.stored), 3: Short(OPTIONAL), 4: column.name, **meaning}


def _put(file: bytearray, column: Column) -> "Fields":
    """Append a column, and return what the footer says of where and how it is."""
    start, rows = len(file), len(column.values)
    there = [value for value in column.values if value is not None]
    runs = _runs(value is not None for value in column.values)
    page = struct.pack("<i", len(runs)) + runs + b"".join(map(column.kind.bytes_of, there))
    packed = gzip.compress(page, mtime=0)
    said = {1: Short(rows), 2: Short(PLAIN), 3: Short(RUNS), 4: Short(RUNS)}
    sizes = {2: Short(len(page)), 3: Short(len(packed))}
    header = _structure({1: Short(DATA_PAGE), **sizes, 5: said})
    file += header + packed
    metadata = {
        1: Short(column.kind.stored),
        2: [Short(PLAIN), Short(RUNS)],
        3: [column.name],
        4: Short(GZIP),
        5: rows,
        6: len(header) + len(page),
        7: len(header) + len(packed),
        9: start,
    }
    return {2: start, 3: metadata}


def _runs(bits: Iterable[bool]) -> bytes:
    """Return bits as runs: twice how often, and the bit."""
    return b"".join(_varint(2 * len(list(run))) + bytes([bit]) for bit, run in groupby(bits))


class Short(int):
    """An integer that the format wants in 32 bits; others have 64."""


Fields = dict[int, Any]  # of a structure: Short, int, str, lists of one of them, structures
TYPES = {Short: 5, int: 6, str: 8, list: 9, dict: 12}  # of the compact protocol


def _structure(fields: Fields) -> bytes:
    last, parts = 0, []
    for number, value in fields.items():  # in order, and never 15 apart
        parts += [bytes([(number - last) << 4 | TYPES[type(value)]]), _encoded(value)]
        last = number
    return b"".join(parts) + b"\0"


def _encoded(value: Any) -> bytes:
    match value:
        case int():
            return _varint(2 * value)  # as zigzag: none of ours is below 0
        case str():
            raw = value.encode()
            return _varint(len(raw)) + raw
        case list():
            head = bytes([0xF0 | TYPES[type(value[0])]]) + _varint(len(value))
            return head + b"".join(map(_encoded, value))
    return _structure(value)


def _varint(number: int) -> bytes:
    """Return seven bits a byte, lowest first; the eighth says that more follow."""
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])
