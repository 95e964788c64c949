"""Tallies of packed reports against counting by hand, whatever their number and width."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpengine.local import bits
from dpengine.local.bits import FEW, LANES, WIDEST, carry_save, column_counts, lanes_of
from dpengine.local.channel import AT_ONCE
from dpengine.local.subset import MAX_CHOICES, Subset
from dpengine.local.table import Table
from dpengine.randomness import WORD

SEED = 20261121  # people, not protection


def counted(packed: bytes, width: int) -> list[int]:
    """Count every column one row of bits at a time, with nothing but Python's integers."""
    counts = [0] * (8 * width)
    for start in range(0, len(packed), width):
        row = int.from_bytes(packed[start : start + width], "big")
        for column in range(8 * width):
            counts[column] += row >> (8 * width - 1 - column) & 1
    return counts


def added(packed: bytes, width: int) -> list[int]:
    """Count every column with numpy, for more rows than Python's integers can be waited for."""
    rows = np.unpackbits(np.frombuffer(packed, dtype=np.uint8).reshape(-1, width), axis=1)
    return rows.sum(axis=0, dtype=np.int64).tolist()


def random_rows(rows: int, width: int, share: float = 0.5) -> bytes:
    chance = np.random.default_rng([SEED, rows, width])
    return np.packbits(chance.random(8 * rows * width) < share).tobytes()


@given(st.binary(max_size=600), st.integers(1, 40))
def test_few_rows_are_counted_as_by_hand(octets, width):
    packed = octets[: len(octets) // width * width]
    assert column_counts(packed, width).tolist() == counted(packed, width)


@given(st.lists(st.binary(min_size=16, max_size=16), max_size=40))
def test_the_adders_vectors_add_up_to_the_count_after_every_vector(rows):
    """The invariant of the proof sheet: Σ 2ʲ·(sums[j] + waiting[j])."""
    vectors = np.frombuffer(b"".join(rows), dtype=np.uint64).reshape(-1, 2)
    for number in range(1, len(rows) + 1):
        total = sum(
            np.unpackbits(vector.view(np.uint8)).astype(np.int64) << w
            for w, vector in carry_save(vectors[:number])
        )
        assert np.array_equal(total, counted(b"".join(rows[:number]), 16))


@pytest.mark.parametrize("width", [1, 2, 3, 8, 13, 127, 128, 255, 256])
def test_vectors_hold_whole_rows_and_their_parts_do_too(width):
    assert LANES // 2 < lanes_of(width) <= LANES
    assert 8 * lanes_of(width) // bits.FOLD % width == 0


@pytest.mark.parametrize("width", [1, 2, 3, 13, 127, 128, 256])
@pytest.mark.parametrize("vectors", [1, 2, 3, 4, 7, 9, 64])
def test_many_rows_are_counted_as_by_hand(width, vectors):
    """One row less, none, and some more than fill the vectors."""
    filled = max(8 * lanes_of(width) * vectors, FEW) // width
    packed = random_rows(filled + 5, width)
    for rows in (filled - 1, filled, filled + 5):
        assert column_counts(packed[: rows * width], width).tolist() == added(
            packed[: rows * width], width
        )


@pytest.mark.parametrize("rows", [0, 1, FEW - 1, FEW, FEW + 1, 300_001])
def test_rows_that_are_all_ones_are_all_counted(rows):
    """The largest counts there can be, on both sides of where the adders begin: no integer
    overflows.
    """
    assert column_counts(b"\xff" * rows, 1).tolist() == [rows] * 8


def test_rows_that_start_anywhere_in_memory_are_counted():
    packed = random_rows(90_001, 1)
    assert column_counts(memoryview(packed)[1:], 1).tolist() == added(packed[1:], 1)


@pytest.mark.parametrize("width", [0, -1, WIDEST + 1])
def test_a_width_that_no_row_has_is_refused(width):
    with pytest.raises(ValueError, match=f"width must be 1 to {WIDEST} bytes, got {width}"):
        column_counts(b"", width)


def test_rows_cut_short_are_refused():
    with pytest.raises(ValueError, match="whole rows of 3 bytes, got 7 bytes"):
        column_counts(b"1234567", 3)


def subset_of(choices: int) -> Subset:
    size = max(1, choices // 3)
    return Subset(choices=choices, size=size, keep=WORD * (size + choices) // (2 * choices))


def subsets(channel: Subset, number: int) -> np.ndarray:
    """Any reports that the channel accepts: the tally does not ask how likely they are."""
    chance = np.random.default_rng([SEED, channel.choices, number])
    return np.sort(
        chance.random((number, channel.choices)).argsort(axis=1)[:, : channel.size], axis=1
    )


@pytest.mark.parametrize(
    "choices", [*range(2, 34), 63, 64, 65, 99, 100, 127, 128, 129, 1000, 1017, 1023, MAX_CHOICES]
)
@pytest.mark.parametrize("number", [0, 1, 67])
def test_a_subset_tally_counts_who_holds_each_choice(choices, number):
    channel = subset_of(choices)
    reports = subsets(channel, number)
    packed = channel.pack(reports.tolist())
    assert len(packed) == number * channel.width
    assert channel.tally(packed) == np.bincount(reports.reshape(-1), minlength=choices).tolist()


@pytest.mark.parametrize(("choices", "number"), [(10, 70_000), (100, 10_001), (1024, 1_050)])
def test_a_large_subset_tally_is_that_of_its_parts_together(choices, number):
    channel = subset_of(choices)
    reports = subsets(channel, number)
    packed = channel.pack(reports)
    cut = number // 3 * channel.width
    parts = np.add(channel.tally(packed[:cut]), channel.tally(packed[cut:])).tolist()
    assert len(packed) >= FEW, "the adders are at work"
    assert (
        channel.tally(packed)
        == parts
        == np.bincount(reports.reshape(-1), minlength=choices).tolist()
    )


def table_of(reports: int) -> Table:
    return Table(((2, *[1] * (reports - 1)), (*[1] * (reports - 1), 2)))


@pytest.mark.parametrize(("reports", "width"), [(2, 1), (5, 1), (256, 1), (257, 2), (2048, 2)])
@pytest.mark.parametrize("number", [0, 1, 1000, AT_ONCE, 3 * AT_ONCE + 7])
def test_a_table_tally_counts_every_report_and_is_that_of_its_parts_together(
    reports, width, number
):
    channel = table_of(reports)
    sent = np.random.default_rng([SEED, reports, number]).integers(0, reports, size=number)
    packed = channel.pack(sent)
    cut = number // 3 * channel.width
    parts = np.add(channel.tally(packed[:cut]), channel.tally(packed[cut:])).tolist()
    assert channel.width == width
    assert len(packed) == width * number
    assert channel.tally(packed) == parts == np.bincount(sent, minlength=reports).tolist()


@pytest.mark.parametrize(
    ("packed", "channel"), [(b"\x00\x02", Table.coin()), (b"\x80\x01", subset_of(7))]
)
def test_packed_reports_that_no_browser_can_have_sent_are_refused(packed, channel):
    with pytest.raises(ValueError, match=r"packed must hold .* below [27], got another"):
        channel.tally(packed)


@pytest.mark.parametrize(
    "channel", [Table.coin(), table_of(300), subset_of(7)], ids=["u1", "u2", "bits"]
)
def test_reports_that_no_browser_can_have_sent_are_not_packed(channel):
    beyond = [[0, 99]] if isinstance(channel, Subset) else [WORD]
    with pytest.raises((OverflowError, IndexError, ValueError)):
        channel.pack(beyond)
