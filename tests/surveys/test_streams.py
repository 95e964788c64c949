"""Long documents: what is written as it is read is what would be written at once."""

import json
from collections.abc import Iterator

import pytest

from surveys.streams import CHUNK, Broken, json_lines


@pytest.mark.parametrize("count", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1])
def test_it_is_what_would_be_written_at_once(count: int) -> None:
    rows = [{"row": at, "nothing": []} for at in range(count)]
    assert "".join(json_lines({"head": "a"}, rows)) == json.dumps(
        {"head": "a", "rows": rows}, indent=1
    )


@pytest.mark.parametrize("count", [0, 1, CHUNK, CHUNK + 1])
def test_what_ends_before_its_end_is_no_json_and_says_why(count: int) -> None:
    def rows() -> Iterator[int]:
        yield from range(count)
        raise Broken("row 7 is damaged")

    text = "".join(json_lines({}, rows()))
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    whole, _, why = text.partition("\n\n")
    assert why == "This document is not whole. row 7 is damaged\n"
    assert json.loads(whole + "]}")["rows"] == list(range(count))
