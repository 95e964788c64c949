"""Open a workbook that a stranger may have made: its cells, and plain words for what is wrong.

It is read in a process of its own (`surveys.workbook_reader`). A formula is never evaluated, and a
value that a program once computed is not what its author typed: so a formula is a problem where its
text would be used.
"""

from dataclasses import dataclass
from typing import IO

from django.utils.translation import gettext as _

from surveys.workbook_reader import (
    MOST_SHEETS,
    Formula,
    Number,
    ReadSheet,
    Refusal,
    Unreadable as NotRead,
    read_workbook,
)

MAX_FILE_BYTES = 2 * 2**20  # bytes
SECONDS = 10  # of the processor
MAX_ROWS, MAX_COLUMNS, MAX_CELL_LENGTH = 1000, 120, 2000
SHEETS = ("survey", "choices", "settings")
SHOWN = (
    "label",
    "hint",
    "form_title",
    "rr",
)  # columns whose numbers are read as a sheet shows them


@dataclass(frozen=True, slots=True)
class Remark:
    """What is wrong or left out, and where: the sheet, the row, the column."""

    where: str
    text: str
    spot: tuple[str, int, str] | None = None  # the same for programs, where it is one cell


def remark(sheet: str, row: int, column: str, text: str) -> Remark:
    return Remark(place(sheet, row, column), text, (sheet, row, column))


class Unreadable(Exception):
    """The file cannot be read at all; the remark says why."""

    def __init__(self, text: str, where: str = "") -> None:
        super().__init__(text)
        self.remark = Remark(where or _("The file"), text)


class Twice(str):
    """What the last of several columns says that have one head and say different things."""


class Long(str):
    """The beginning of what a cell says that is too long."""


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
    raw = upload.read(MAX_FILE_BYTES + 1)
    if len(raw) > MAX_FILE_BYTES:
        raise Unreadable(_("It is larger than 2 MB."))
    try:
        book = read_workbook(raw, seconds=SECONDS, columns=MAX_COLUMNS, only=SHEETS)
    except NotRead as refusal:
        raise Unreadable(_said(refusal.why)) from refusal
    if len(book) == 1:
        book = [ReadSheet("survey", book[0].rows)]
    sheets: Sheets = {name: [] for name in SHEETS}
    for sheet in book:
        name = sheet.title.lower()
        sheets[name if name in SHEETS else sheet.title] = _rows(sheet)
    if not sheets["survey"]:
        raise Unreadable(_("It has no sheet “survey” with rows in it."))
    return sheets


def _said(why: Refusal) -> str:
    match why:
        case Refusal.OLD:
            return _("It is an .xls workbook, or has a password. Save it as .xlsx without one.")
        case Refusal.NONE:
            return _("It is not a workbook. Save it as .xlsx.")
        case Refusal.DAMAGED:
            return _("It is damaged, or not an .xlsx workbook. Save it again as .xlsx.")
        case Refusal.SHEETS:
            return _("It has more than %(most)s sheets. Save only the form’s sheets.") % {
                "most": MOST_SHEETS
            }
        case Refusal.LARGE:
            return _("It holds more than a form needs. Save only the form’s sheets.")


def _rows(sheet: ReadSheet) -> list[Row]:
    """Return the rows below the heads, by their heads; an empty one for each that is missing."""
    heads: list[str] = []
    rows: list[Row] = []
    for number, cells in sheet.rows:
        if number > MAX_ROWS + 1:
            text = _("It has more than %(most)s rows.") % {"most": MAX_ROWS}
            raise Unreadable(text, place(sheet.title))
        if len(cells) > MAX_COLUMNS:
            text = _("It has more than %(most)s columns.") % {"most": MAX_COLUMNS}
            raise Unreadable(text, place(sheet.title, number))
        if number == 1:
            heads = [head_of(" ".join(cell.split())) for cell in cells]
        else:
            rows += [{} for _missing in range(number - 2 - len(rows))]
            rows.append(_row(heads, cells))
    return rows


def _row(heads: list[str], cells: list[str]) -> Row:
    """Return the cells of a row by their heads; what is empty is not there."""
    row: Row = {}
    for head, cell in zip(heads, cells, strict=False):
        is_shown = isinstance(cell, Number) and head.split("::")[0] in SHOWN
        text = (cell.shown if is_shown else cell).replace("\xa0", " ").strip()  # type: ignore[attr-defined]
        said = _like(cell, text)
        if head and said and row.setdefault(head, said) != said:
            row[head] = Twice(said)
    return row


def _like(cell: str, text: str) -> str:
    if len(text) > MAX_CELL_LENGTH:
        return Long(text[:MAX_CELL_LENGTH])
    return Formula(text) if isinstance(cell, Formula) else text


def wrong_cell(cell: str) -> str:
    """Return why a cell cannot be used; nothing if it can."""
    match cell:
        case Formula():
            return _("It is a formula. Put in its place what it says.")
        case Long():
            return _("It is longer than %(most)s characters.") % {"most": MAX_CELL_LENGTH}
        case Twice():
            return _("Another column has this head, and says something else.")
    return ""


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
