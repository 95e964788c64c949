"""Long lists, a part at a time."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def in_parts(every: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (every[start : start + size] for start in range(0, len(every), size))
