"""Read a CSV file of answers collected elsewhere. Errors name the column and the line, never what
stands there.

UTF-8, with or without a byte order mark; separated by commas, semicolons or tabs, whichever the
first line has most of; quoted as spreadsheets do. Blank, NA, N/A, NaN, null and a lone full stop
are blanks: their rows are left out, counted, and said.
"""

import csv
import io
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress, dropwhile
from pathlib import Path
from typing import TypeVar

BLANKS = {"", "na", "n/a", "nan", "null", "."}
SEPARATORS = ",;\t"
STANDARD_INPUT = "-"
WORDS = {"0": 0, "no": 0, "false": 0, "1": 1, "yes": 1, "true": 1}  # case does not matter

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows of a file, with the line of the file on which each one ends."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    decimal_comma: bool = False  # files that separate by semicolons may write 0,5

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[str]:
        place = self.place(name)
        return [row[place] for row in self.rows]

    def levels(self, name: str) -> tuple[list[str], list[str]]:
        """Return a column without space around its values, and the different ones in order."""
        values = [value.strip() for value in self.column(name)]
        return values, sorted(set(values), key=by_size)

    def place(self, name: str) -> int:
        """Return where a column stands."""
        if name not in self.columns:
            raise ValueError(
                f"column {name!r} is not in the file, which has "
                f"{', '.join(map(repr, self.columns))}"
            )
        if self.columns.count(name) > 1:
            raise ValueError(f"column {name!r} is in the file {self.columns.count(name)} times")
        return self.columns.index(name)

    def only(self, keep: Sequence[bool]) -> "Sheet":
        """Return the sheet with these rows only."""
        rows, lines = compress(self.rows, keep), compress(self.lines, keep)
        return replace(self, rows=tuple(rows), lines=tuple(lines))

    def complete(self, names: Iterable[str]) -> tuple["Sheet", list[str]]:
        """Return the rows without blanks in these columns, and a sentence about those left out."""
        blanks = {name: [is_blank(value) for value in self.column(name)] for name in names}
        whole = [not any(row) for row in zip(*blanks.values(), strict=True)]
        dropped = whole.count(False)
        if not dropped:
            return self, []
        where = ", ".join(f"{name} ({sum(blank)})" for name, blank in blanks.items() if any(blank))
        were = "was" if dropped == 1 else "were"
        note = f"{dropped} of {len(self)} rows {were} left out: blank or NA in {where}"
        if dropped == len(self):
            raise ValueError(f"n = 0: all {note}")
        return self.only(whole), [note]

    def numbers(self, name: str) -> list[float]:
        """Return a column of finite numbers."""
        return self._read(name, self.number, "a number")

    def answers(self, name: str) -> list[int]:
        """Return a column of yes and no as 1 and 0."""

        def answer(value: str) -> int:
            word = value.strip().lower()
            return WORDS[word] if word in WORDS else WORDS[f"{self.number(value):g}"]

        return self._read(name, answer, "0 or 1, no or yes, false or true")

    def codes(self, name: str, choices: int, first: int = 0) -> list[int]:
        """Return a column of a question's codes, counted from 0."""

        def code(value: str) -> int:
            number = self.number(value)
            if number != int(number) or not 0 <= number - first < choices:
                raise ValueError
            return int(number) - first

        return self._read(name, code, f"a whole number from {first} to {first + choices - 1}")

    def number(self, value: str) -> float:
        text = value.strip().replace(",", ".") if self.decimal_comma else value.strip()
        number = float(text)
        if "_" in text or not math.isfinite(number):
            raise ValueError
        return number

    def _read(self, name: str, read: Callable[[str], Value], expected: str) -> list[Value]:
        values, wrong = [], []
        for value, line in zip(self.column(name), self.lines, strict=True):
            try:
                values.append(read(value))
            except (ValueError, KeyError, OverflowError):
                wrong.append(line)
        if wrong:
            more = more_lines(len(wrong) - 1)
            raise ValueError(f"column {name!r}, line {wrong[0]}: expected {expected}{more}")
        return values


def more_lines(count: int) -> str:
    """Return how many other lines are wrong, in brackets, or nothing."""
    return f" (and {count} more line{'s' * (count > 1)})" if count else ""


def by_size(value: str) -> tuple[float, str]:
    """Return what sorts numbers by size and words by the alphabet."""
    try:
        return float(value), value
    except ValueError:
        return math.inf, value


def is_blank(value: str) -> bool:
    return value.strip().lower() in BLANKS


def read_csv(path: str) -> Sheet:
    """Return what a CSV file holds; “-” is standard input."""
    name = "standard input" if path == STANDARD_INPUT else Path(path).name
    text = _text(path, name)
    head = "".join(text.lstrip("\r\n").split("\n", 1)[0].split('"')[::2])  # without what is quoted
    separator = max(SEPARATORS, key=head.count)
    rows = _rows(name, text, separator)
    if not rows:
        raise ValueError(f"{name} is empty: expected a line of column names, and rows")
    columns = tuple(column.strip() for column in rows[0][1])
    alone = len(columns) == 1  # then an empty line is a blank answer
    body = [(line, row or ("",)) for line, row in rows[1:] if row or alone]
    for line, row in body:
        if len(row) != len(columns):
            raise ValueError(
                f"{name}, line {line}: expected {len(columns)} values as in the first line, got "
                f"{len(row)}"
            )
    if not body:
        raise ValueError(f"n = 0: {name} has column names but no rows")
    lines, cells = zip(*body, strict=True)
    return Sheet(columns, cells, lines, decimal_comma=separator == ";")


def _rows(name: str, text: str, separator: str) -> list[tuple[int, tuple[str, ...]]]:
    """Return every row from the first that is not empty, with the line that it ends on."""
    reader = csv.reader(
        io.StringIO(text.rstrip("\r\n "), newline=""),
        delimiter=separator,
        strict=True,
        skipinitialspace=True,
    )
    try:
        rows = [(reader.line_num, tuple(row)) for row in reader]
    except csv.Error:
        raise ValueError(
            f"{name}, line {reader.line_num}: quotes or signs that a CSV file cannot have"
        ) from None
    return list(dropwhile(lambda numbered: not numbered[1], rows))


def _text(path: str, name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{name}, line {line}: expected UTF-8: save the file as UTF-8") from None
