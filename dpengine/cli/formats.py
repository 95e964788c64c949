"""Files that are no plain CSV: what their first bytes say they are, and their rows, or what to do.

A workbook is read by openpyxl, files of SPSS and Stata by pyreadstat: numbers without their labels,
and what is declared missing as a blank. Both come with the extra “files”. What is compressed is
read as what it holds.
"""

import gzip
import io
import tempfile
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import IO, Any, cast

from dpengine.checks import require

GZIP, WORKBOOK, OLD = b"\x1f\x8b", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
SPSS, STATA = (b"$FL2", b"$FL3"), (b"<stata_dta>",)
OLDER_STATA = range(0x69, 0x77)  # its number is the first byte, then the order of bytes, and 1
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
REMEDIES = {
    b"PAR1": "it is a Parquet file: save it as CSV",
    b"RDX": "it is a file of R: save the table with write.csv(table, row.names = FALSE)",
    b"X\n\x00": "it is a file of R: save the table with write.csv(table, row.names = FALSE)",
    b"%PDF": "it is a PDF: save the table as CSV",
    OLD: "it is an .xls workbook, or has a password: save it as .xlsx or CSV, without one",
}
CONSTANTS = {"=TRUE()": "TRUE", "=FALSE()": "FALSE"}  # how some programs write them
PEEKED = 12  # bytes
Rows = Iterator[tuple[int, list[str]]]  # with the line that each ends on


def opened(name: str, file: IO[bytes]) -> Iterable[bytes] | Rows:
    """Return the lines of a text in UTF-8, or the rows of a table. A ValueError says what to do
    with what is neither.
    """
    source = (
        file
        if isinstance(file, io.BufferedReader)
        else io.BufferedReader(cast("io.RawIOBase", file))
    )
    begins = source.peek(PEEKED)[:PEEKED]
    if begins.startswith(GZIP):
        unpacked = cast("io.RawIOBase", gzip.GzipFile(fileobj=source))
        return opened(name, cast("IO[bytes]", io.BufferedReader(unpacked)))
    if begins.startswith(WORKBOOK):
        return _of_workbook(name, source.read())
    if begins.startswith(SPSS):
        return _of_program(name, source, "sav")
    number, order, kind = (*begins[:3], 0, 0, 0)[:3]
    is_older = number in OLDER_STATA and order in (1, 2) and kind == 1
    if begins.startswith(STATA) or is_older:
        return _of_program(name, source, "dta")
    if begins.startswith(UTF_16):
        return _encoded(name, source)
    for sign, remedy in REMEDIES.items():
        require(not begins.startswith(sign), "cannot read {}: {}", name, remedy)
    return source


def _encoded(name: str, source: IO[bytes]) -> Iterator[bytes]:
    lines = io.TextIOWrapper(source, encoding="utf-16", newline="")
    try:
        yield from (line.encode() for line in lines)
    except UnicodeError:
        raise ValueError(f"{name}: expected whole UTF-16: save the file as UTF-8") from None
    finally:
        lines.detach()  # whoever opened it closes it


def _of_workbook(name: str, raw: bytes) -> Rows:
    """Yield the rows of the first sheet that hold something."""
    openpyxl = _reader("openpyxl", name)
    try:
        sheet = openpyxl.load_workbook(io.BytesIO(raw), read_only=True).worksheets[0]
        sheet.reset_dimensions()  # what a file says of them need not be so
        rows = list(enumerate(sheet.iter_rows(), 1))
    except Exception:
        why = "it is damaged, or no .xlsx workbook: save it as .xlsx or CSV"
        raise ValueError(f"cannot read {name}: {why}") from None
    width = max((at for _, row in rows for at, cell in enumerate(row, 1) if cell.value), default=0)
    for at, row in rows:
        for place, cell in enumerate(row, 1):
            if cell.data_type == "f" and cell.value not in CONSTANTS:
                raise ValueError(
                    f"{name}, row {at}, column {place}: a formula, which is not computed: paste "
                    "its value in its place, or save the sheet as CSV"
                )
        if any(cells := [_text(cell.value) for cell in row[:width]]):
            yield at, [*cells, *[""] * (width - len(cells))]


def _of_program(name: str, source: IO[bytes], kind: str) -> Rows:
    """Yield the rows of a file of SPSS or Stata, their columns' names before them."""
    pyreadstat = _reader("pyreadstat", name)
    with tempfile.NamedTemporaryFile(suffix=f".{kind}") as copy:  # which it wants to open itself
        while chunk := source.read(2**20):
            copy.write(chunk)
        copy.flush()
        read = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}[kind]
        try:
            table, _about = read(copy.name, output_format="dict")
        except Exception:
            raise ValueError(f"cannot read {name}: it is damaged: save it as CSV") from None
    yield 1, list(table)
    for at, row in enumerate(zip(*table.values(), strict=True), 2):
        yield at, [_text(value) for value in row]


def _reader(module: str, name: str) -> Any:
    """Return a package that reads files: not everybody has it, and it takes long to load."""
    try:
        return import_module(module)
    except ImportError:
        raise ValueError(
            f"cannot read {name}: {module} is not installed. It comes with the extra “files”: "
            "pip install 'dpengine[files]'; or save the table as CSV"
        ) from None


def _text(value: object) -> str:
    if value is None or value != value:  # no number
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return CONSTANTS.get(text := str(value), text).removesuffix(" 00:00:00")  # of a day: no hour
