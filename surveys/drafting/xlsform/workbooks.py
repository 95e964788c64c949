"""Open a workbook that a stranger may have made: limits first, then its cells, and plain words for
what is wrong.

A workbook is an archive of XML. It is read with limits on the file, on what it unpacks to, and on
rows and columns; entities are refused (by the reader of openpyxl, defusedxml, and here before it);
a formula is never evaluated, and a value that a program once computed is not what its author typed,
so a form with formulas is refused.
"""

from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from typing import IO

from django.utils.translation import gettext as _

from surveys.archives import ARCHIVE, Hostile, hostile

MAX_FILE_BYTES = 2 * 2**20  # bytes
MAX_UNPACKED_BYTES = 20 * 2**20
MAX_TAGS, MAX_IN_A_ROW = 200_000, 20_000  # in all parts of the archive, and in one row
MAX_ROWS, MAX_COLUMNS, MAX_CELL_LENGTH = 1000, 120, 2000
CONSTANT = (None, "=TRUE()", "=FALSE()")  # how some programs write yes and no
OLD = b"\xd0\xcf\x11\xe0"  # how an .xls begins
SHEETS = ("survey", "choices", "settings")


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


def unreadable(text: str, where: str = "") -> Unreadable:
    return Unreadable(Remark(where or _("The file"), text))


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
    return _("sheet “%(sheet)s”, row %(row)s, column “%(column)s”") % {
        "sheet": sheet,
        "row": row,
        "column": column,
    }


def rows_of(upload: IO[bytes]) -> Sheets:
    """Return the rows of a workbook's sheets, as texts."""
    from pyxform.errors import PyXFormError, PyXFormReadError  # here, for they take long to load
    from pyxform.xls2json_backends import xls_to_dict, xlsx_to_dict

    raw = upload.read(MAX_FILE_BYTES + 1)
    if len(raw) > MAX_FILE_BYTES:
        raise unreadable(_("It is larger than 2 MB."))
    if not raw.startswith((ARCHIVE, OLD)):
        raise unreadable(_("It is no workbook: expected .xlsx or .xls."))
    try:
        if raw.startswith(ARCHIVE):
            _refuse_hostile(raw)
            _refuse_formulas(raw)
            book = xlsx_to_dict(BytesIO(raw))
        else:
            book = xls_to_dict(BytesIO(raw))
    except Unreadable:
        raise
    except Exception as error:  # on a file that is damaged, encrypted, lies about its size…
        is_told = isinstance(error, PyXFormError) and not isinstance(error, PyXFormReadError)
        text = str(error) if is_told else _("It is damaged, or no workbook of a form.")
        raise unreadable(text) from error
    sheets = {name: [_clean(row) for row in book.get(name) or []] for name in SHEETS}
    names = book.get("sheet_names", [])
    sheets |= {name: [] for name in names if len(names) > 1 and name.lower() not in SHEETS}
    _refuse_large(sheets)
    if not sheets["survey"]:
        raise unreadable(_("It has no sheet “survey” with rows in it."))
    return sheets


def _clean(cells: dict[str, object]) -> Row:
    """Return a row with its heads in one way of writing; what is empty is not there."""
    row: Row = {}
    for name, value in cells.items():
        head, cell = head_of(str(name)), str(value or "").replace("\0", "").strip()
        if cell and row.setdefault(head, cell) != cell:
            text = _("Two of its columns are “%(column)s”, and say different things.")
            raise unreadable(text % {"column": head})
    return row


def head_of(head: str) -> str:
    """Return a column's head in one way of writing: label::English (en), rr::epsilon."""
    parts = [part.strip() for part in head.replace("bind::rr:", "rr::").split("::")]
    if len(parts) == 1 and ":" in head and not head.startswith(("jr:", "orx:")):
        parts = [
            part.strip() for part in head.split(":", 1)
        ]  # label:English, as older forms write it
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


def _refuse_hostile(raw: bytes) -> None:
    """Refuse an archive that unpacks to too much, or has more tags than a form needs."""
    texts = {
        Hostile.LARGE: _("It unpacks to more than 20 MB. Save only the form’s sheets."),
        Hostile.ENTITIES: _("It declares XML entities, which no form needs."),
        Hostile.TAGS: _("It holds more than a form needs. Save only the form’s sheets."),
    }
    if found := hostile(
        raw, unpacked=MAX_UNPACKED_BYTES, most_tags=MAX_TAGS, in_a_row=MAX_IN_A_ROW
    ):
        raise unreadable(texts[found])


def _refuse_formulas(raw: bytes) -> None:
    from openpyxl import load_workbook
    from openpyxl.utils import get_column_letter

    with closing(load_workbook(BytesIO(raw), read_only=True, data_only=False)) as book:
        for sheet in book.worksheets:
            if sheet.title.lower() not in SHEETS:
                continue
            rows = sheet.iter_rows(max_row=MAX_ROWS + 1, max_col=MAX_COLUMNS)
            text = _("It is a formula. Put in its place what it says.")
            remarks = [
                Remark(place(sheet.title, cell.row, get_column_letter(cell.column)), text)
                for row in rows
                for cell in row
                if cell.data_type == "f" and cell.value not in CONSTANT
            ]
            if remarks:
                raise Unreadable(*remarks[:20])


def _refuse_large(sheets: Sheets) -> None:
    for name, rows in sheets.items():
        if len(rows) > MAX_ROWS:
            raise unreadable(_("It has more than %(most)s rows.") % {"most": MAX_ROWS}, place(name))
        for number, row in enumerate(rows, start=2):
            if len(row) > MAX_COLUMNS:
                text = _("It has more than %(most)s columns.") % {"most": MAX_COLUMNS}
                raise unreadable(text, place(name, number))
            for head, cell in row.items():
                if len(cell) > MAX_CELL_LENGTH:
                    text = _("It is longer than %(most)s characters.") % {"most": MAX_CELL_LENGTH}
                    raise unreadable(text, place(name, number, head))
