"""The one door for chance: independent, uniform 32-bit words, and what is drawn from them.

Functions that draw take a `stream` of words as an argument; it is the operating system's generator
unless a test replays a recorded stream. Twin of intake/words.js, word for word.
"""

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

WORD = 2**32  # how many values a word has

Stream = Callable[[], int]
Item = TypeVar("Item")


def system_stream() -> int:
    """Return one word from the operating system.

    Never from a buffer: a process that forks would hand the same words to both halves.
    """
    return int.from_bytes(os.urandom(4), "little")


def below(bound: int, stream: Stream = system_stream) -> int:
    """Return a uniform integer from 0 to bound − 1.

    Words from the last, incomplete run of `bound` are thrown away: the remainder alone
    would favour small numbers. A bound of 1 needs no chance and takes no word.
    """
    if not 1 <= bound <= WORD:
        raise ValueError(f"bound must be 1 to 2**32, got {bound}")
    if bound == 1:
        return 0
    limit = WORD - WORD % bound
    while (word := stream()) >= limit:
        pass
    return word % bound


def sample(items: Sequence[Item], size: int, stream: Stream = system_stream) -> list[Item]:
    """Return `size` of the items in random order, all arrangements as likely.

    Fisher and Yates 1938.
    """
    if not 0 <= size <= len(items):
        raise ValueError(f"size must be 0 to {len(items)}, got {size}")
    pool = list(items)
    for place in range(size):
        other = place + below(len(pool) - place, stream)
        pool[place], pool[other] = pool[other], pool[place]
    return pool[:size]


def shuffled(items: Sequence[Item], stream: Stream = system_stream) -> list[Item]:
    """Return all items in random order."""
    return sample(items, len(items), stream)
