"""Tables as files that a spreadsheet opens: no text in them is taken for a formula, whoever
wrote it; a number is none.
"""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

# With which some spreadsheet begins to reckon; the last four are the first four as wide as a
# Chinese character.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


# A sign, digits and what stands between them in a telephone number: nothing is called, and what is
# reckoned is a number. With an apostrophe no message would reach it.
NUMBER = re.compile(r"[+-]?[0-9 ()./-]*[0-9][0-9 ()./-]*")


def csv_line(values: Iterable[Any]) -> str:
    """Return a line of a CSV file. A text that would be a formula gets an apostrophe; None is an
    empty cell.
    """
    line = io.StringIO()
    csv.writer(line).writerow([_cell(value) for value in values])
    return line.getvalue()


def quoted_lines(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a whole CSV file in which every text is quoted, and nothing else: so that a reader who
    heeds that takes the word None, or NA, for a word. An empty text is an empty cell.
    """
    return "".join(",".join(map(_quoted, line)) + "\r\n" for line in [head, *rows])


def _quoted(value: Any) -> str:
    cell = _cell(value)
    if not isinstance(cell, str) or not cell:
        return str(cell)
    return '"' + cell.replace('"', '""') + '"'


def csv_lines(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a whole CSV file."""
    return "".join(map(csv_line, [head, *rows]))


def is_number(text: str) -> bool:
    """Tell whether a text is a number, of a telephone too, and so no formula."""
    return NUMBER.fullmatch(text) is not None


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(FORMULA) and not is_number(value):
        return f"'{value}"
    return "" if value is None else value
