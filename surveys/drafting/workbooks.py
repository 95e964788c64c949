"""Open a workbook that a stranger may have made: limits first, then its cells, and plain words for what is wrong.

A workbook is an archive of XML. It is read with limits on the file, on what it unpacks to, and on rows and columns;
entities are refused (by the reader of openpyxl, defusedxml, and here before it); a formula is never evaluated, and a
value that a program once computed is not what its author typed, so a form with formulas is refused.
"""

import re
import zipfile
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any

from django.utils.translation import gettext as _
from openpyxl import load_workbook
from openpyxl.utils import get_column_letter
from pyxform.errors import PyXFormError, PyXFormReadError
from pyxform.xls2json_backends import xls_to_dict, xlsx_to_dict

LARGEST_FILE = 2 * 2**20  # bytes
LARGEST_UNPACKED = 20 * 2**20
MOST_PARTS = 300  # files in the archive
MOST_TAGS = 200_000  # in all of them: each takes its readers time and memory, and a few bytes unpack to many
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL = 1000, 120, 2000
CONSTANT = (None, "=TRUE()", "=FALSE()")  # how some programs write yes and no
ARCHIVE, OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # how an .xlsx and an .xls begin
SHEETS = ("survey", "choices", "settings")
DECLARED = re.compile(b"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Remark:
    """What is wrong or left out, and where: the sheet, the row, the column."""

    where: str
    text: str
    spot: tuple[str, int, str] | None = None  # the same for programs, where it is one cell


def remark(sheet: str, row: int, column: str, text: str) -> Remark:
    return Remark(place(sheet, row, column), text, (sheet, row, column))


class Unreadable(Exception):
    """The file cannot be read at all; the remarks say why."""

    def __init__(self, *remarks: Remark) -> None:
        super().__init__(remarks)
        self.remarks = list(remarks)


Row = dict[str, str]  # a column's head: what the cell says
Sheets = dict[
    str, list[Row]
]  # the second row of a sheet is the first of its list; those that are none of ours are empty


def place(sheet: str, row: int | None = None, column: str = "") -> str:
    """Say where something stands, as a spreadsheet counts it."""
    if row is None:
        return _("sheet “%(sheet)s”") % {"sheet": sheet}
    if not column:
        return _("sheet “%(sheet)s”, row %(row)s") % {"sheet": sheet, "row": row}
    return _("sheet “%(sheet)s”, row %(row)s, column “%(column)s”") % {"sheet": sheet, "row": row, "column": column}


def rows_of(upload: IO[bytes]) -> Sheets:
    """Return the rows of a workbook's sheets, as texts."""
    raw = upload.read(LARGEST_FILE + 1)
    if len(raw) > LARGEST_FILE:
        raise Unreadable(Remark(_("The file"), _("It is larger than 2 MB.")))
    if raw.startswith(ARCHIVE):
        _refuse_hostile(raw)
        found = _read(xlsx_to_dict, raw)
    elif raw.startswith(OLD):
        found = _read(xls_to_dict, raw)
    else:
        raise Unreadable(Remark(_("The file"), _("It is no workbook: expected .xlsx or .xls.")))
    sheets = {name: [_clean(row) for row in found.get(name) or []] for name in SHEETS}
    names = found.get("sheet_names", [])
    sheets |= {name: [] for name in names if len(names) > 1 and name.lower() not in SHEETS}
    _refuse_large(sheets)
    if not sheets["survey"]:
        raise Unreadable(Remark(_("The file"), _("It has no sheet “survey” with rows in it.")))
    return sheets


def _clean(row: dict[str, Any]) -> Row:
    """Return a row with its heads in one way of writing; what is empty is not there."""
    said = ((head_of(str(head)), str(cell or "").replace("\0", "").strip()) for head, cell in row.items())
    found: Row = {}
    for head, cell in said:
        if cell and found.setdefault(head, cell) != cell:
            text = _("Two of its columns are “%(column)s”, and say different things.") % {"column": head}
            raise Unreadable(Remark(_("The file"), text))
    return found


def head_of(head: str) -> str:
    """Return a column's head in one way of writing: label::English (en), rr::epsilon."""
    parts = [part.strip() for part in head.replace("bind::rr:", "rr::").split("::")]
    if len(parts) == 1 and ":" in head and not head.startswith(("jr:", "orx:")):
        parts = [part.strip() for part in head.split(":", 1)]  # label:English, as older forms write it
    first = parts[0].lower().replace(" ", "_")
    whole = "::".join([HEADS.get(first, first), *parts[1:]])
    return INSIDE.get(whole, whole)


HEADS = {  # older names of columns
    "list": "list_name",
    "value": "name",
    "tag": "name",
    "command": "type",
    "relevance": "relevant",
    "caption": "label",
    "text": "label",
    "calculate": "calculation",
}
INSIDE = {  # one column, as older forms write it
    "bind::relevant": "relevant",
    "bind::constraint": "constraint",
    "bind::required": "required",
    "bind::calculate": "calculation",
    "bind::readonly": "read_only",
    "readonly": "read_only",
    "control::appearance": "appearance",
    "body::appearance": "appearance",
    "control::jr:count": "repeat_count",
    "body::jr:count": "repeat_count",
    "jr:count": "repeat_count",
    "count": "repeat_count",
    "set_form_title": "form_title",
    "title": "form_title",
}


def _read(reader: Any, raw: bytes) -> dict[str, Any]:
    try:
        found: dict[str, Any] = reader(BytesIO(raw))
    except PyXFormReadError as error:
        raise Unreadable(Remark(_("The file"), _("It is damaged, or no workbook of a form."))) from error
    except PyXFormError as error:  # such as two columns of one name
        raise Unreadable(Remark(_("The file"), str(error))) from error
    except Exception as error:  # the readers fail in many ways on a file that is damaged, or made to
        raise Unreadable(Remark(_("The file"), _("It is damaged, or no workbook of a form."))) from error
    return found


def _refuse_hostile(raw: bytes) -> None:
    """Refuse an archive that unpacks to too much, declares entities, or computes."""
    try:
        with zipfile.ZipFile(BytesIO(raw)) as archive:
            parts = archive.infolist()
            if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > LARGEST_UNPACKED:
                raise Unreadable(
                    Remark(_("The file"), _("It unpacks to more than 20 MB. Save only the form’s sheets."))
                )
            _refuse_tags(archive, parts)
        _refuse_formulas(raw)
    except Unreadable:
        raise
    except Exception as error:  # what claims to be small and is not, is encrypted, or is no archive at all
        raise Unreadable(Remark(_("The file"), _("It is damaged, or no workbook of a form."))) from error


def _refuse_tags(archive: zipfile.ZipFile, parts: list[zipfile.ZipInfo]) -> None:
    """Refuse more tags than a form needs, and document types: who writes one means to have it expanded, or fetched."""
    tags = 0
    for part in parts:
        content = archive.read(part).replace(b"\0", b"")  # UTF-16 too
        if part.filename.endswith((".xml", ".rels")) and DECLARED.search(content):
            raise Unreadable(Remark(_("The file"), _("It declares XML entities, which no form needs.")))
        tags += content.count(b"<") - content.count(b"</")
        if tags > MOST_TAGS:
            raise Unreadable(Remark(_("The file"), _("It holds more than a form needs. Save only the form’s sheets.")))


def _refuse_formulas(raw: bytes) -> None:
    book = load_workbook(BytesIO(raw), read_only=True, data_only=False)
    try:
        for sheet in book.worksheets:
            if sheet.title.lower() not in SHEETS:
                continue
            rows = sheet.iter_rows(max_row=MOST_ROWS + 1, max_col=MOST_COLUMNS)
            found = [cell for row in rows for cell in row if cell.data_type == "f" and cell.value not in CONSTANT]
            if found:
                raise Unreadable(*(_formula(sheet.title, cell) for cell in found[:20]))
    finally:
        book.close()


def _formula(sheet: str, cell: Any) -> Remark:
    where = place(sheet, cell.row, get_column_letter(cell.column))
    return Remark(where, _("It is a formula. Put in its place what it says."))


def _refuse_large(sheets: Sheets) -> None:
    for name, rows in sheets.items():
        if len(rows) > MOST_ROWS:
            text = _("It has more than %(most)s rows.") % {"most": MOST_ROWS}
            raise Unreadable(Remark(place(name), text))
        for number, row in enumerate(rows, start=2):
            if len(row) > MOST_COLUMNS:
                text = _("It has more than %(most)s columns.") % {"most": MOST_COLUMNS}
                raise Unreadable(Remark(place(name, number), text))
            for head, cell in row.items():
                if len(cell) > LONGEST_CELL:
                    text = _("It is longer than %(most)s characters.") % {"most": LONGEST_CELL}
                    raise Unreadable(Remark(place(name, number, head), text))
