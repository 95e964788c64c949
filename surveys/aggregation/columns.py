"""A batch as bytes: one packed column a question, one after the other, in the Plan's order.

Answers that were changed by chance lie in the open; those sent as given lie encrypted, together,
under the Plan's digest and the batch's number, so that no batch can be passed off as another.

Where devices draw what they ask, the first column is of sets: a byte a report, which set of the
Plan it answers; and each question's column holds the reports of those who were asked it, in order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from dpengine.local.channel import Channel

Counts = dict[str, list[int]]  # of each question's reports, or of what they hold
Sets = Sequence[Set[str]]  # of which one report answers one: names of questions
Bools = npt.NDArray[np.bool_]
SETS = ""  # the column of sets, and how many reports answer each: no question has this name


def batch_aad(digest: str, number: int) -> str:
    """Return the associated data of a batch's ciphertext: public, and bound to it."""
    return f"batch {number} of plan {digest}"


def pack(rows: Sequence[Sequence[Any]], channels: Mapping[str, Channel], sets: Sets = ()) -> bytes:
    """Turn answers, a row a report, into packed columns; None was not asked."""
    if not channels:
        return b""
    by_question = zip(*rows, strict=True)
    packed = (
        channel.pack([value for value in column if value is not None])
        for channel, column in zip(channels.values(), by_question, strict=True)
    )
    return bytes(_set_of(row, channels, sets) for row in rows if sets) + b"".join(packed)


def _set_of(row: Sequence[Any], names: Iterable[str], sets: Sets) -> int:
    """Return the index of the set that a report answers."""
    held = {name for name, value in zip(names, row, strict=True) if value is not None}
    return next(index for index, each in enumerate(sets) if each == held)


def transposed(rows: Sequence[bytes], channels: Mapping[str, Channel]) -> bytes:
    """Turn packed answers, a row a report, into packed columns."""
    ends = np.cumsum([channel.width for channel in channels.values()])
    if not channels:
        return b""
    table = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), ends[-1])
    return b"".join(part.tobytes() for part in np.split(table, ends[:-1], axis=1))


def split(
    columns: bytes, size: int, channels: Mapping[str, Channel], sets: Sets = ()
) -> dict[str, bytes]:
    """Return every question's column of a batch of so many reports, and the one of sets."""
    parts, start = {}, 0
    if sets:
        parts[SETS], start = columns[:size], size
    for name, channel in channels.items():
        asked = int(asked_in(parts[SETS], [name], sets).sum()) if sets else size
        end = start + asked * channel.width
        parts[name] = columns[start:end]
        start = end
    if start != len(columns):
        raise ValueError(
            f"columns must be {start} bytes for {size} reports of this Plan, got {len(columns)}"
        )
    return parts


def asked_in(column: bytes, names: Iterable[str], sets: Sets) -> Bools:
    """Return which reports of a column of sets answer all of these questions."""
    wanted = set(names)
    holds = np.array([wanted <= each for each in sets])
    found: Bools = holds[np.frombuffer(column, dtype=np.uint8)]
    return found


def rows_of(column: bytes, kept: Bools) -> bytes:
    """Return some rows of a packed column."""
    if not len(kept):
        return b""
    return np.frombuffer(column, dtype=np.uint8).reshape(len(kept), -1)[kept].tobytes()


def add_tallies(
    counts: Counts, columns: Mapping[str, bytes], channels: Mapping[str, Channel], sets: Sets = ()
) -> None:
    """Count every question's column of a batch, and how many reports answer each set; add it in
    place.
    """
    found = {name: channel.tally(columns[name]) for name, channel in channels.items()}
    if sets:
        of_sets = np.frombuffer(columns[SETS], dtype=np.uint8)
        found[SETS] = np.bincount(of_sets, minlength=len(sets)).tolist()
    for name, new in found.items():
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
