"""Read a table of answers collected elsewhere: CSV, or what formats.py knows. Errors name the
column and the line, never what stands there.

The file is read once, line by line, and of it only the cells of the columns that are used are kept,
in few bytes each: a million rows are some ten megabytes a column.

UTF-8, with or without a byte order mark, or UTF-16 with one; separated by commas, semicolons or
tabs, whichever the first line has most of; quoted as spreadsheets do. Blank, NA, N/A, NaN, null and
a lone full stop are blanks, and what is said to be missing: their rows are left out, counted, and
said.
"""

import csv
import gzip
import io
import math
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain, combinations, dropwhile
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.cli.formats import Rows, opened
from dpengine.estimates import Floats, Ints
from dpengine.inference.repeats import Repeats

BLANKS = {"", "na", "n/a", "nan", "null", "."}
SEPARATORS = ",;\t"
STANDARD_INPUT = "-"
WORDS = {"0": 0, "no": 0, "false": 0, "1": 1, "yes": 1, "true": 1}  # case does not matter
ENDS = "\r\n "  # of the last line: no values
MOST_DIFFERENT = 2**15  # rows that are kept apart: some megabytes
# numbers that often stand for “no answer”
_CODES = (9, 77, 88, 98, 99, 777, 888, 998, 999, 9998, 9999)
CODES = {sign * code for sign in (1, -1) for code in _CODES}
REMEMBERED = 4096  # different values of a column whose reading is kept

Flags = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Cells:
    """The cells of a column, one after the other in UTF-8, and how many bytes each one has."""

    text: bytearray = field(default_factory=bytearray)
    sizes: "array[int]" = field(default_factory=lambda: array("I"))

    def append(self, value: str) -> None:
        cell = value.encode()
        self.text += cell
        self.sizes.append(len(cell))

    def __iter__(self) -> Iterator[str]:
        start = 0
        for size in self.sizes:
            yield self.text[start : start + size].decode()
            start += size

    def only(self, keep: Flags) -> "Cells":
        """Return these cells only."""
        sizes = np.frombuffer(self.sizes, dtype=np.uintc)
        text = np.frombuffer(self.text, dtype=np.uint8)[np.repeat(keep, sizes)]
        return Cells(bytearray(text.tobytes()), array("I", sizes[keep].tobytes()))


@dataclass(frozen=True, slots=True)
class Reading:
    """How cells are meant: what stands for a missing answer, in one column or in all of them (""),
    and the word for yes where it is another.
    """

    missing: Mapping[str, frozenset[str]] = field(default_factory=dict)
    yes: str = ""

    def is_blank(self, column: str, value: str) -> bool:
        codes = self.missing.get("", frozenset()) | self.missing.get(column, frozenset())
        plain = value.strip().lower()
        return plain in BLANKS or (bool(codes) and _as_code(plain) in codes)


def read_missing(texts: Iterable[str]) -> dict[str, frozenset[str]]:
    """Read “9,99” of all columns, and “age=999” of one."""
    missing: dict[str, frozenset[str]] = {}
    for text in texts:
        column, _equals, codes = text.rpartition("=")
        read = frozenset(_as_code(code.strip().lower()) for code in codes.split(","))
        require("" not in read, "--missing: expected codes such as 9,99 or age=999, got {!r}", text)
        column = column.strip()
        missing[column] = missing.get(column, frozenset()) | read
    return missing


def _as_code(text: str) -> str:
    """Return a code in one way of writing: 99.0 is 99."""
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows of a file, with the line of the file on which each one ends."""

    columns: tuple[str, ...]
    cells: dict[int, Cells]  # of the columns that were read, by their places
    lines: npt.NDArray[np.uintc]
    decimal_comma: bool = False  # files that separate by semicolons may write 0,5
    reading: Reading = field(default_factory=Reading)

    def __len__(self) -> int:
        return len(self.lines)

    def column(self, name: str) -> list[str]:
        known: dict[str, str] = {}  # equal values are one in memory
        return [known.setdefault(value, value) for value in self.cells[self.place(name)]]

    def factor(self, name: str) -> tuple[Ints, list[str]]:
        """Return the different values of a column in order, without space around them, and the
        place of every row's among them.
        """
        places: dict[str, int] = {}
        cells = (value.strip() for value in self.cells[self.place(name)])
        met = np.fromiter(
            (places.setdefault(value, len(places)) for value in cells), np.int64, len(self)
        )
        levels = sorted(places, key=by_size)
        order = np.empty(len(levels), dtype=np.int64)
        order[[places[level] for level in levels]] = np.arange(len(levels))
        return order[met], levels

    def place(self, name: str) -> int:
        """Return where a column stands."""
        if name not in self.columns:
            raise ValueError(
                f"column {name!r} is not in the file, which has "
                f"{', '.join(map(repr, self.columns))}"
            )
        require(
            self.columns.count(name) <= 1,
            "column {!r} is in the file {} times",
            name,
            self.columns.count(name),
        )
        return self.columns.index(name)

    def only(self, keep: Flags) -> "Sheet":
        """Return the sheet with these rows only."""
        if keep.all():
            return self
        cells = {place: cells.only(keep) for place, cells in self.cells.items()}
        return replace(self, cells=cells, lines=self.lines[keep])

    def complete(self, names: Iterable[str]) -> tuple["Sheet", list[str]]:
        """Return the rows without blanks in these columns, and a sentence about those left out."""
        blanks = {name: self._blanks(name) for name in names}
        partial: Flags = np.any(list(blanks.values()), axis=0)
        dropped = int(partial.sum())
        if not dropped:
            return self, []
        where = ", ".join(f"{name} ({blank.sum()})" for name, blank in blanks.items() if any(blank))
        were = "was" if dropped == 1 else "were"
        note = f"{dropped} of {len(self)} rows {were} left out: blank or NA in {where}"
        require(dropped != len(self), "n = 0: all {}", note)
        return self.only(~partial), [note]

    def repeats(self, names: Iterable[str]) -> Repeats | None:
        """Return the first row of all that have the same cells in these columns, and how many there
        are; None where so many differ that nothing is gained.
        """
        columns = [self.cells[self.place(name)] for name in names]
        met: dict[tuple[str, ...], int] = {}
        first, counts = array("q"), array("d")
        for row, cells in enumerate(zip(*columns, strict=True)):
            place = met.setdefault(cells, len(met))
            if place == len(first):
                if place == MOST_DIFFERENT:
                    return None
                first.append(row)
                counts.append(0)
            counts[place] += 1
        return Repeats(np.array(first, dtype=np.int64), np.array(counts, dtype=np.float64))

    def _blanks(self, name: str) -> Flags:
        cells = self.cells[self.place(name)]
        is_blank = partial(self.reading.is_blank, name)
        return np.fromiter(map(is_blank, cells), np.bool_, len(self))

    def numbers(self, name: str) -> Floats:
        """Return a column of finite numbers."""
        cells = self.cells[self.place(name)]
        require(
            not self.decimal_comma or not _mixes(cells),
            "column {!r}: some numbers have a comma and some a full stop: leave out the "
            "marks between thousands",
            name,
        )
        expected = "a number"
        if any("," in cell for cell in cells):
            expected += ", without marks between thousands (1000, not 1,000)"
        return np.asarray(self._read(name, self.number, "d", expected), dtype=np.float64)

    def strange_code(self, name: str) -> str:
        """Return a number of a column that may stand for a missing answer: all the others are less
        than half as far from 0. Nothing where there is none, or they are words.
        """
        try:
            values = np.unique(self.numbers(name))
        except ValueError:
            return ""
        for code, others in ((values[-1], values[:-1]), (values[0], values[1:])):
            if code in CODES and len(others) and np.all(np.abs(others) < abs(code) / 2):
                return f"{code:g}"
        return ""

    def answers(self, name: str) -> Ints:
        """Return a column of yes and no as 1 and 0."""

        if self.reading.yes:
            return self._said_yes(name)

        def answer(value: str) -> int:
            word = value.strip().lower()
            return WORDS[word] if word in WORDS else WORDS[f"{self.number(value):g}"]

        answers = self._read(name, answer, "b", "0 or 1, no or yes, false or true")
        return np.asarray(answers, dtype=np.int64)

    def _said_yes(self, name: str) -> Ints:
        """Return a column of two words, of which one is said to be yes, as 1 and 0."""
        yes, places = self.reading.yes.strip().lower(), self.place(name)
        words = [value.strip().lower() for value in self.cells[places]]
        require(
            yes in words and len(set(words)) <= 2,
            "column {!r}: expected the word of --yes and one other, got {} different values{}: say "
            "with --missing which stand for no answer",
            name,
            len(set(words)),
            "" if yes in words else ", and not that word",
        )
        return np.asarray([word == yes for word in words], dtype=np.int64)

    def codes(self, name: str, choices: int, first: int = 0) -> Ints:
        """Return a column of a question's codes, counted from 0."""

        def code(value: str) -> int:
            number = self.number(value)
            if number != int(number) or not 0 <= number - first < choices:
                raise ValueError
            return int(number) - first

        expected = f"a whole number from {first} to {first + choices - 1}"
        return np.asarray(self._read(name, code, "h", expected), dtype=np.int64)

    def sets(self, name: str, choices: int, size: int, first: int = 0) -> Ints:
        """Return a column of sets of a question's codes, such as 1 3, each as its place among
        all sets of this size in order.
        """
        places = {held: place for place, held in enumerate(combinations(range(choices), size))}

        def place(value: str) -> int:
            return places[tuple(sorted(int(code) - first for code in value.split()))]

        last = first + choices - 1
        expected = f"{size} different whole numbers from {first} to {last}, with spaces between"
        return np.asarray(self._read(name, place, "i", expected), dtype=np.int64)

    def number(self, value: str) -> float:
        text = value.strip().replace(",", ".") if self.decimal_comma else value.strip()
        number = float(text)
        if "_" in text or not math.isfinite(number):
            raise ValueError
        return number

    def _read(
        self, name: str, read: Callable[[str], float], kind: str, expected: str
    ) -> "array[Any]":
        """Return what is read in a column, as an array of this kind."""
        values: array[Any] = array(kind)
        wrong, remembered = [], lru_cache(REMEMBERED)(read)
        for row, value in enumerate(self.cells[self.place(name)]):
            try:
                values.append(remembered(value))
            except (ValueError, KeyError, OverflowError):
                wrong.append(row)
        if wrong:
            line, more = self.lines[wrong[0]], more_lines(len(wrong) - 1)
            raise ValueError(f"column {name!r}, line {line}: expected {expected}{more}")
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


def _mixes(cells: Iterable[str]) -> bool:
    """Tell whether some numbers have a comma and some a full stop."""
    marks = {mark for cell in cells for mark in ",." if mark in cell.strip(" .")}
    return len(marks) > 1


def read_csv(
    path: str,
    used: Callable[[Sheet], Iterable[int]] = lambda head: range(len(head.columns)),
    reading: Reading = Reading(),  # noqa: B008
    names: Sequence[str] = (),
) -> Sheet:
    """Return what a file holds in the columns that are used; “-” is standard input.

    `used` gets a sheet of the file's columns without rows, and returns the places of those to read.
    `names` are the columns' where the file does not begin with them.
    """
    name = "standard input" if path == STANDARD_INPUT else Path(path).name
    try:
        if path == STANDARD_INPUT:
            return replace(_read(name, sys.stdin.buffer, used, names), reading=reading)
        with Path(path).open("rb") as file:
            return replace(_read(name, file, used, names), reading=reading)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ValueError(f"cannot read {path}: it ends too early, or is damaged") from None
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None


def _read(
    name: str, file: IO[bytes], used: Callable[[Sheet], Iterable[int]], names: Sequence[str]
) -> Sheet:
    held = iter(opened(name, file))
    first = next(held, b"")
    whole = chain([first], held)
    if isinstance(first, tuple):
        rows = _named(cast("Rows", whole), names)
        return _gathered(name, rows, used, decimal_comma=False)
    lines = _without_end(_decoded(name, cast("Iterator[bytes]", whole)))
    before: list[str] = []
    for line in lines:
        before.append(line)
        if line.strip("\r\n"):
            break
    head = "".join("".join(before[-1:]).split('"')[::2])  # without what is quoted
    separator = max(SEPARATORS, key=head.count)
    rows = _named(_rows(name, chain(before, lines), separator), names)
    return _gathered(name, rows, used, decimal_comma=separator == ";")


def _named(rows: Rows, names: Sequence[str]) -> Rows:
    return chain([(0, [*names])], rows) if names else rows


def _gathered(
    name: str, rows: Rows, used: Callable[[Sheet], Iterable[int]], *, decimal_comma: bool
) -> Sheet:
    """Return what rows hold in the columns that are used; the first row names them."""
    columns = tuple(column.strip() for _, row in [next(rows, (0, []))] for column in row)
    require(columns, "{} is empty: expected a line of column names, and rows", name)
    sheet = Sheet(columns, {}, np.empty(0, dtype=np.uintc), decimal_comma=decimal_comma)
    cells = {place: Cells() for place in used(sheet)}
    alone = len(columns) == 1  # then an empty line is a blank answer
    ends = array("I")
    for end, row in rows:
        if not row and alone:
            row = [""]
        if len(row) != len(columns):
            if not row:
                continue
            raise ValueError(
                f"{name}, line {end}: expected {len(columns)} values as in the first line, got "
                f"{len(row)}"
            )
        ends.append(end)
        for place, column in cells.items():
            column.append(row[place])
    require(ends, "n = 0: {} has column names but no rows", name)
    return replace(sheet, cells=cells, lines=np.frombuffer(ends, dtype=np.uintc))


def _rows(name: str, lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Return every row from the first that is not empty, with the line that it ends on."""
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)
    try:
        yield from dropwhile(
            lambda numbered: not numbered[1], ((reader.line_num, row) for row in reader)
        )
    except csv.Error:
        raise ValueError(
            f"{name}, line {reader.line_num}: quotes or signs that a CSV file cannot have"
        ) from None


def _without_end(lines: Iterable[str]) -> Iterator[str]:
    """Return the lines without what is blank at the end of the last one, and after it."""
    held: list[str] = []
    for line in lines:
        if held and line.strip(ENDS):
            yield from held
            held = []
        held.append(line)
    yield from (line.rstrip(ENDS) for line in held[:1])


def _decoded(name: str, file: Iterable[bytes]) -> Iterator[str]:
    """Return the lines as text, split where any system ends one."""
    for number, line in enumerate(file, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise ValueError(
                f"{name}, line {number}: expected UTF-8: save the file as UTF-8"
            ) from None
        if "\r" in text.removesuffix("\r\n"):
            yield from io.StringIO(text, newline="")
        else:
            yield text
