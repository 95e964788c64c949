"""Our writer of Parquet files, read back by the format's own reader."""

import datetime
import io

import pyarrow
import pytest
from hypothesis import given, settings, strategies as some
from pyarrow import parquet as reader

from surveys.dashboard.exports import parquet

DAYS = some.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31))
ROWS = some.lists(
    some.tuples(
        *(
            some.none() | values
            for values in (
                some.integers(-(2**63), 2**63 - 1),
                some.floats(allow_nan=False),
                some.text(some.characters(exclude_categories=["Cs"])),
                DAYS,
            )
        )
    ),
    max_size=300,
)
KINDS = {
    "whole": (parquet.INTEGER, pyarrow.int64()),
    "real": (parquet.NUMBER, pyarrow.float64()),
    "said": (parquet.TEXT, pyarrow.string()),
    "day": (parquet.DAY, pyarrow.date32()),
}


def written(rows, about=None):
    columns = [
        parquet.Column(name, kind, [row[place] for row in rows])
        for place, (name, (kind, _)) in enumerate(KINDS.items())
    ]
    return parquet.file_of(columns, about or {"ε": "½"}, "a test")


@settings(deadline=None)
@given(ROWS)
def test_every_value_comes_back_and_what_is_missing_is_missing(rows):
    table = reader.read_table(io.BytesIO(written(rows)))
    assert table.schema.types == [type for _, type in KINDS.values()]
    assert list(zip(*table.to_pydict().values(), strict=True)) == rows


@pytest.mark.parametrize("rows", [1, 63, 64, 127, 128, 20_000])
def test_lengths_at_which_a_number_takes_a_byte_more(rows):
    """Of runs, pages, texts and lists: each is a number of seven bits a byte."""
    made = [(at, at / 7, "x" * (at % 300), None) for at in range(rows)]
    table = reader.read_table(io.BytesIO(written(made)))
    assert list(zip(*table.to_pydict().values(), strict=True)) == made


def test_what_is_said_of_all_rows_and_who_wrote_it():
    about = {"methods": "ε = 1\n" * 2000, "plan": "{}"}
    file = reader.ParquetFile(io.BytesIO(written([(1, None, "", None)], about)))
    assert {key.decode(): text.decode() for key, text in file.metadata.metadata.items()} == about
    assert file.metadata.created_by == "a test"
    assert file.metadata.row_group(0).column(0).compression == "GZIP"
