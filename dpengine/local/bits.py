"""How many packed rows have each bit set, by carry-save adders.

The rows lie end to end, so their bytes can be read as long vectors of 64-bit words. If a vector
holds whole rows, bit i of every vector is the same column of some row, and what is wanted is, for
every bit position, how many vectors have it set. (Which byte of a word is the lowest does not
matter: nothing below adds words, all signs work bit by bit.)

Full adder   For bits s, l, r:  s + l + r = 2·carry + sum, where
             sum = s ⊕ l ⊕ r and carry = 1 when two of the three are: s & (l ⊕ r) | l & r.
             One line of it on vectors works on 64·lanes positions at once.
Counter      sums[j] and, now and then, waiting[j] are vectors of weight 2ʲ. Two vectors that meet
             at weight 2ʲ are added into sums[j] and leave one carry, of weight 2ʲ⁺¹, which meets
             the next. No count is lost: before and after every step, for every bit position,

                 Σⱼ 2ʲ·(sums[j] + waiting[j]) = how many of the vectors so far have the bit set.

Cost         n vectors meet n/2 times at weight 1, n/4 times at 2, ...: fewer than n full adders,
             five signs each. Only at the end are bits unpacked into integers, at most two vectors a
             weight: 2·log₂ n of them. Memory: as many vectors of 32 KiB, beside the packed rows,
             which are read where they lie.
Errors       None: integers throughout. Counts are exact up to 2⁶³ rows.
By hand      Three vectors with the bit set: the first waits; the second meets it, sum 0, carry 1
             waits at weight 2; the third waits at weight 1: 2·1 + 1·1 = 3.
Sources      Carry-save adders as counters: Harley and Seal, in Warren, Hacker's Delight, § 5-1;
             by bit position: Klarqvist, Muła and Lemire 2019, Efficient computation of positional
             population counts using SIMD instructions.
"""

import math

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import Ints

LANES = (
    4096  # words of a vector, at most: the adders' operands, 32 KiB each, stay in a core's cache
)
# bytes: fewer are unpacked at once, as they would make less than two vectors or hardly more
FEW = 2**16
FOLD = 16  # a vector's unpacked bits are added in so many parts first: short rows add slowly
WIDEST = LANES // FOLD  # bytes of a row: of such rows each part of a vector still holds whole ones

Vector = npt.NDArray[np.uint64]


def column_counts(packed: bytes, width: int) -> Ints:
    """Return for each of the 8·width bits of a row how many of the packed rows have it set."""
    require(1 <= width <= WIDEST, "width must be 1 to {} bytes, got {}", WIDEST, width)
    require(
        not len(packed) % width,
        "packed must hold whole rows of {} bytes, got {} bytes",
        width,
        len(packed),
    )
    octets = np.frombuffer(packed, dtype=np.uint8)
    lanes = lanes_of(width)
    count = 0 if len(octets) < FEW else len(octets) // (8 * lanes)
    vectors = octets[: 8 * lanes * count].view(np.uint64).reshape(count, lanes)
    # so few rows are left, 65,535 at most, that 16 bits hold every count
    rest = np.unpackbits(octets[8 * lanes * count :]).reshape(-1, 8 * width)
    counts: Ints = rest.sum(axis=0, dtype=np.uint16).astype(np.int64)
    for weight, vector in carry_save(vectors):
        folded = np.unpackbits(vector.view(np.uint8)).reshape(FOLD, -1).sum(axis=0, dtype=np.uint8)
        counts += folded.reshape(-1, 8 * width).sum(axis=0, dtype=np.int64) << weight
    return counts


def lanes_of(width: int) -> int:
    """Return how many words a vector has.

    The fewest that hold whole rows, doubled while they are at most LANES.
    """
    lanes = width // math.gcd(width, 8)
    while 2 * lanes <= LANES:
        lanes *= 2
    return lanes


def carry_save(vectors: Vector) -> list[tuple[int, Vector]]:
    """Return vectors whose weighted sum the counts are, each after the logarithm of its weight."""
    sums: list[Vector] = []  # one for each weight
    waiting: dict[int, Vector] = {}  # by the logarithm of their weight, at most one for each
    for vector in vectors:
        weight, right = 0, vector
        while weight in waiting:
            if weight == len(sums):
                sums.append(np.zeros_like(vector))
            left, total = waiting.pop(weight), sums[weight]
            differ = left ^ right
            right = (total & differ) | (left & right)
            total ^= differ
            weight += 1
        waiting[weight] = right
    return [*enumerate(sums), *waiting.items()]
