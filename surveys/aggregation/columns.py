"""A batch as bytes: one packed column a question, one after the other, in the Plan's order.

Answers that were changed by chance lie in the open; those sent as given lie encrypted, together,
under the Plan's digest and the batch's number, so that no batch can be passed off as another.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dpengine.local.channel import Channel

Counts = dict[str, list[int]]  # of each question's reports, or of what they hold


def batch_aad(digest: str, number: int) -> str:
    """Return the associated data of a batch's ciphertext: public, and bound to it."""
    return f"batch {number} of plan {digest}"


def pack(rows: Sequence[Sequence[Any]], channels: Mapping[str, Channel]) -> bytes:
    """Turn answers, a row a report, into packed columns."""
    if not channels:
        return b""
    by_question = zip(*rows, strict=True)
    return b"".join(
        channel.pack(column) for channel, column in zip(channels.values(), by_question, strict=True)
    )


def transposed(rows: Sequence[bytes], channels: Mapping[str, Channel]) -> bytes:
    """Turn packed answers, a row a report, into packed columns."""
    ends = np.cumsum([channel.width for channel in channels.values()])
    if not channels:
        return b""
    table = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), ends[-1])
    return b"".join(part.tobytes() for part in np.split(table, ends[:-1], axis=1))


def split(columns: bytes, size: int, channels: Mapping[str, Channel]) -> dict[str, bytes]:
    """Return every question's column of a batch of so many reports."""
    parts, start = {}, 0
    for name, channel in channels.items():
        end = start + size * channel.width
        parts[name] = columns[start:end]
        start = end
    if start != len(columns):
        raise ValueError(
            f"columns must be {start} bytes for {size} reports of this Plan, got {len(columns)}"
        )
    return parts


def add_tallies(
    counts: Counts, columns: Mapping[str, bytes], channels: Mapping[str, Channel]
) -> None:
    """Count every question's column of a batch, and add it in place."""
    for name, channel in channels.items():
        new = channel.tally(columns[name])
        old = counts.get(name, [0] * len(new))
        counts[name] = [before + after for before, after in zip(old, new, strict=True)]


def combinations(columns: Iterable[tuple[Channel, bytes]], size: int) -> Counter[tuple[Any, ...]]:
    """Count how many rows hold each combination of values: rows in, a tally out.

    Two columns at a time become one of pairs, numbered anew, so that no number exceeds size².
    """
    values: list[tuple[Any, ...]] = [()]
    rows = np.zeros(size, dtype=np.int64)
    for channel, column in columns:
        own, codes = channel.codes(column)
        pairs, rows = np.unique(rows * len(own) + codes, return_inverse=True)
        values = [(*values[pair // len(own)], own[pair % len(own)]) for pair in pairs.tolist()]
    counts = np.bincount(rows, minlength=len(values)).tolist()
    return Counter({value: count for value, count in zip(values, counts, strict=True) if count})
