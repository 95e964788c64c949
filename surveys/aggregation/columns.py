"""A batch as bytes: one packed column a question, one after the other, in the Plan's order.

Answers that were changed by chance lie in the open; those sent as given lie encrypted, together, under
the Plan's digest and the batch's number, so that no batch can be passed off as another.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dpengine.local.channels import PlanChannel
from dpengine.local.subset import Subset
from surveys.design.documents import Given

Reader = PlanChannel | Given
Codes = tuple[list[Any], npt.NDArray[np.int64]]  # what occurs, and which of it each row is


def about(digest: str, number: int) -> str:
    """Return what the encrypted part of a batch is bound to."""
    return f"batch {number} of plan {digest}"


def pack(rows: Sequence[Sequence[Any]], readers: Mapping[str, Reader]) -> bytes:
    """Turn answers, a row a report, into packed columns."""
    if not readers:
        return b""
    by_question = zip(*rows, strict=True)
    return b"".join(reader.pack(column) for reader, column in zip(readers.values(), by_question, strict=True))


def turned(rows: Sequence[bytes], readers: Mapping[str, Given]) -> bytes:
    """Turn packed answers, a row a report, into packed columns."""
    ends = np.cumsum([reader.width for reader in readers.values()])
    if not readers:
        return b""
    table = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), ends[-1])
    return b"".join(part.tobytes() for part in np.split(table, ends[:-1], axis=1))


def split(columns: bytes, size: int, readers: Mapping[str, Reader]) -> dict[str, bytes]:
    """Return every question's column of a batch of so many reports."""
    found, start = {}, 0
    for name, reader in readers.items():
        end = start + size * reader.width
        found[name] = columns[start:end]
        start = end
    if start != len(columns):
        raise ValueError(f"columns must be {start} bytes for {size} reports of this Plan, got {len(columns)}")
    return found


def combinations(columns: Iterable[tuple[Reader, bytes]], size: int) -> Counter[tuple[Any, ...]]:
    """Count how many rows hold each combination of values: rows in, a tally out.

    Two columns at a time become one of pairs, numbered anew, so that no number exceeds size².
    """
    values: list[tuple[Any, ...]] = [()]
    rows = np.zeros(size, dtype=np.int64)
    for reader, column in columns:
        own, codes = codes_of(reader, column)
        pairs, rows = np.unique(rows * len(own) + codes, return_inverse=True)
        values = [(*values[pair // len(own)], own[pair % len(own)]) for pair in pairs.tolist()]
    counts = np.bincount(rows, minlength=len(values)).tolist()
    return Counter({value: count for value, count in zip(values, counts, strict=True) if count})


def codes_of(reader: Reader, column: bytes) -> Codes:
    """Return the different values of a column as reports hold them, and for every row which one it has.

    A report of one_of is one number, the place of its count in the tally: twice the option, plus the bit.
    """
    if isinstance(reader, Subset):
        return _subset_codes(reader, column)
    whole = reader.unpack(column) if isinstance(reader, Given) else np.frombuffer(column, dtype=f"<u{reader.width}")
    values, codes = np.unique(whole, return_inverse=True)
    return values.tolist(), codes


def _subset_codes(channel: Subset, column: bytes) -> Codes:
    rows = np.frombuffer(column, dtype=np.dtype((np.void, channel.width)))
    different, codes = np.unique(rows, return_inverse=True)
    bits = np.unpackbits(different.view(np.uint8).reshape(-1, channel.width), axis=1)[:, : channel.choices]
    return [tuple(np.flatnonzero(row).tolist()) for row in bits], codes
