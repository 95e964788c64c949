"""Read the cells of a workbook that a stranger may have made, in a process that can do only that.

Adversary  whoever uploads a file: a few bytes that unpack to many, that take a reader long, or that
           make it do what it should not.
Promise    pages lose at most two threads, MEMORY twice, and the seconds that are asked for; what a
           file did is gone with the process that read it.
Walls      The process is a new one, never a fork of the site: without the site's code, settings,
           environment and connections. Before it reads a byte it limits its own memory and
           processor time, can open no file or socket, write none, and begin no process unless it
           is root's. It answers with JSON of MOST_ANSWERED bytes at most, and is killed at LATE
           times the processor's seconds. A code says why it refused; the words are its parent's.
Formulas   are never evaluated: a cell that holds one is told apart, and its caller decides.

This file is also the program that runs: `python -I`, with openpyxl and nothing of the site.
"""

import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from io import BytesIO
from typing import Any

ARCHIVE, OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # how .xlsx begins; .xls, or one with a password
MEMORY = 256 * 2**20  # bytes of address space, Python and all
MOST_ANSWERED = 8 * 2**20  # bytes of JSON
MOST_SHEETS = 50
AT_ONCE = 2  # files in one process of the site
LATE = 4  # times the processor's seconds, for a machine that does other things
LAST_ROW = 2**20  # of a sheet by its format; a hostile one may number a row beyond
CONSTANTS = {"=TRUE()": "TRUE", "=FALSE()": "FALSE"}  # how some programs write them

Cell = str | list[str]  # a text; [a formula]; [a number, as its sheet shows it]
Row = tuple[int, list[Cell]]

_places = threading.BoundedSemaphore(AT_ONCE)


class Refusal(Enum):
    """Why a file is not read."""

    OLD = "an .xls, or a workbook with a password"
    NONE = "no workbook"
    DAMAGED = "damaged, or another kind of archive"
    SHEETS = "too many sheets"
    LARGE = "it takes too much memory or time, or holds too much"


class Unreadable(Exception):
    """A file is not read."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why.value)
        self.why = why


class Busy(Exception):
    """Other files are being read: this one was not looked at."""


class Formula(str):
    """What a cell says that holds a formula."""

    __slots__ = ()


class Number(str):
    """A number; `shown` is how its sheet shows it, such as 2.00."""

    shown: str

    def __new__(cls, text: str, shown: str) -> "Number":
        made = super().__new__(cls, text)
        made.shown = shown
        return made


@dataclass(frozen=True, slots=True)
class ReadSheet:
    """A sheet: the rows that hold something, each with its number and its cells from the first
    column on; no rows where they were not asked for.
    """

    title: str
    rows: list[tuple[int, list[str]]]


def read_workbook(
    raw: bytes, *, seconds: int, columns: int, only: Iterable[str] = ()
) -> list[ReadSheet]:
    """Return the sheets of a workbook, with the cells of those that are named in small letters; of
    the first one where none is named, and of the only one where there is one.

    `seconds` of the processor at most. A row that says something beyond so many columns has one
    cell more. Raises Unreadable with the reason, and Busy.
    """
    if not raw.startswith(ARCHIVE):
        raise Unreadable(Refusal.OLD if raw.startswith(OLD) else Refusal.NONE)
    if not _places.acquire(blocking=False):
        raise Busy
    try:
        asked = {"seconds": seconds, "columns": columns, "only": sorted(only)}
        written = _run(raw, json.dumps(asked), seconds * LATE)
    finally:
        _places.release()
    return _answered(written)


def _answered(written: bytes) -> list[ReadSheet]:
    """Return what the program wrote. It may have been killed, or do what a file makes it do: so
    this is judged as a stranger's.
    """
    import msgspec  # here, for the program needs none

    try:
        answer = msgspec.json.decode(written, type=str | list[tuple[str, list[Row]]])
        if isinstance(answer, str):
            raise Unreadable(Refusal[answer])
        return [
            ReadSheet(title, [(at, [*map(_cell, cells)]) for at, cells in rows])
            for title, rows in answer
        ]
    except (msgspec.DecodeError, KeyError, IndexError):
        raise Unreadable(Refusal.LARGE) from None


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return Number(cell[0], cell[1]) if cell[1:] else Formula(cell[0])


def _run(raw: bytes, asked: str, seconds: float) -> bytes:
    """Return what the program wrote until it ended, wrote too much, or was killed."""
    with subprocess.Popen(
        [sys.executable, "-I", "-B", __file__, asked],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/",
    ) as program:
        end = threading.Timer(seconds, program.kill)
        end.start()
        try:
            with suppress(BrokenPipeError), program.stdin as given:  # type: ignore[union-attr]
                given.write(raw)
            return program.stdout.read(MOST_ANSWERED)  # type: ignore[union-attr]
        finally:
            end.cancel()
            program.kill()


# The program


def main() -> None:
    """Limit this process, read a workbook, and write its sheets or the name of a refusal."""
    asked = json.loads(sys.argv[1])
    sys.modules["numpy"] = None  # type: ignore[assignment]  # openpyxl would load it
    _load()
    _confine(asked["seconds"])
    sys.stdout.buffer.write(written(sys.stdin.buffer.read(), asked))


def written(raw: bytes, asked: dict[str, Any]) -> bytes:
    """Return what the program writes of a workbook."""
    try:
        answer: object = list(_sheets(raw, asked))
    except Unreadable as refusal:
        answer = refusal.why.name
    except (MemoryError, OverflowError):
        answer = Refusal.LARGE.name
    except Exception:  # on a file that lies about its size, has no such part, is no XML…
        answer = Refusal.DAMAGED.name
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def _load() -> None:
    """Load all that is loaded when a workbook is read, while files can be opened."""
    from datetime import date

    from openpyxl import Workbook

    book, file = Workbook(), BytesIO()
    book.active.append(["text", 1.5, date(2026, 1, 2), "=1+1"])
    book.save(file)
    list(_sheets(file.getvalue(), {"columns": 9, "only": []}))


def _confine(seconds: int) -> None:
    """Leave this process its pipes, some memory and some time, after those of all others."""
    os.nice(5)
    limits = {"AS": MEMORY, "CPU": seconds, "CORE": 0, "FSIZE": 0, "NOFILE": 3, "NPROC": 0}
    for limit, most in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{limit}"), (most, most))


def _sheets(raw: bytes, asked: dict[str, Any]) -> Iterator[tuple[str, list[Row]]]:
    from openpyxl.chartsheet import Chartsheet
    from openpyxl.reader.excel import ExcelReader

    class Reader(ExcelReader):  # type: ignore[misc]
        def read_workbook(self) -> None:
            """Count the sheets before each is opened: one part may be named many times."""
            super().read_workbook()
            if len(self.parser.sheets) > MOST_SHEETS:
                raise Unreadable(Refusal.SHEETS)

    reader = Reader(BytesIO(raw), read_only=True, data_only=False, keep_links=False)
    reader.read()
    sheets = [sheet for sheet in reader.wb._sheets if not isinstance(sheet, Chartsheet)]
    wanted = asked["only"] if len(sheets) > 1 else [sheet.title.lower() for sheet in sheets]
    left = MOST_ANSWERED
    for at, sheet in enumerate(sheets):
        is_wanted = sheet.title.lower() in wanted if asked["only"] else at == 0
        rows = []
        for row in _rows(sheet, asked["columns"]) if is_wanted else ():
            rows.append(row)
            left -= 16 + sum(4 + len("".join(cell)) for cell in row[1])
            if left < 0:
                raise Unreadable(Refusal.LARGE)
        yield sheet.title, rows


def _rows(sheet: Any, columns: int) -> Iterator[Row]:
    """Yield the rows that hold something: those that are missing are one object to the reader."""
    sheet.reset_dimensions()  # what a file says of them need not be so
    empty = None
    for at, cells in enumerate(sheet.iter_rows(max_row=LAST_ROW), 1):
        if cells is empty:
            continue
        row = [_said(cell) for cell in cells[:columns]]
        row += [text for cell in cells[columns:] if (text := _said(cell))][:1]
        while row and not row[-1]:
            row.pop()
        if row:
            yield at, row
        else:
            empty = cells


def _said(cell: Any) -> Cell:
    """Return a cell's text; of a formula [text]; of a number [text, as shown] if they differ."""
    value = cell.value
    if isinstance(value, str) and cell.data_type != "f":
        return value.replace("\0", "")
    if value is None:
        return ""
    if cell.data_type == "f":
        text = str(getattr(value, "text", value))
        return CONSTANTS.get(text) or [text]
    text = _plain(value)
    shown = _shown(value, cell.number_format)
    return text if shown in ("", text) else [text, shown]


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).removesuffix(" 00:00:00")  # of a day: its hour was not written


def _shown(value: object, how: str) -> str:
    """Return a number as a sheet shows it: 2.00, 007, 50%; nothing where it is in another way."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    body = how.removesuffix("%")
    whole, _dot, digits = body.partition(".")
    if not whole or (whole + digits).strip("0"):
        return ""
    scaled = value * 100 if how.endswith("%") else value
    width = len(whole) + (1 + len(digits) if digits else 0)
    return f"{scaled:0{width}.{len(digits)}f}" + how[len(body) :]


if __name__ == "__main__":
    main()
