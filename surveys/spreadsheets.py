"""Tables as files that a spreadsheet opens: no text in them is taken for a formula, whoever
wrote it.
"""

import csv
import io
from collections.abc import Iterable
from typing import Any

# With which some spreadsheet begins to reckon; the last four are the first four as wide as a
# Chinese character.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv_line(values: Iterable[Any]) -> str:
    """Return a line of a CSV file. A text that would be a formula gets an apostrophe; None is an
    empty cell.
    """
    line = io.StringIO()
    csv.writer(line).writerow([_cell(value) for value in values])
    return line.getvalue()


def csv_lines(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a whole CSV file."""
    return "".join(map(csv_line, [head, *rows]))


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return "" if value is None else value
