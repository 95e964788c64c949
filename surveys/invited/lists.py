"""Read a list of people as somebody has it: a CSV file, a workbook, or lines that were pasted.

The first row names the columns: `address` must be there; `name`, `language` and `stratum` may; any
other is for the letter. Every problem is told with its row and column, and where there is one
nothing is taken. A formula is never evaluated: put in its place what it says.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from surveys.invited.keys import plain_address
from surveys.workbook_reader import (
    ARCHIVE,
    OLD,
    Formula,
    Number,
    Refusal,
    Unreadable,
    read_workbook,
)

MAX_PEOPLE = 100_000
MAX_FILE_BYTES = 20 * 2**20
SECONDS = 30  # of the processor, for a workbook: 100,000 people take ten
MAX_COLUMNS, MAX_CELL, MAX_ADDRESS, MAX_STRATUM = 30, 500, 300, 80
MAX_REMARKS = 100
ADDRESS, NAME, LANGUAGE, STRATUM = "address", "name", "language", "stratum"
HEADS = {  # other ways to name a column
    "e-mail": ADDRESS,
    "email": ADDRESS,
    "e-mail address": ADDRESS,
    "email address": ADDRESS,
    "mail": ADDRESS,
    "phone": ADDRESS,
    "地址": ADDRESS,
    "邮箱": ADDRESS,
    "电子邮箱": ADDRESS,
    "电子邮件": ADDRESS,
    "姓名": NAME,
    "语言": LANGUAGE,
    "group": STRATUM,
    "分层": STRATUM,
    "分组": STRATUM,
}
RESERVED = {"link", "last_day"}  # what a letter fills in by itself
EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-][\w.+%'-]{0,63}@[\w.-]{1,250}\.\w{2,63}")
HEAD = re.compile(r"[^\W\d]\w*")
ANGLED = re.compile(r"([^<>]*)<([^<>]+)>")
Row = Sequence[str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One person as a list has them; `columns` are for the letter."""

    address: str
    name: str = ""
    language: str = ""
    stratum: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    row: int = 0  # where it stood

    @property
    def has_email(self) -> bool:
        return "@" in self.address


@dataclass(frozen=True, slots=True)
class Remark:
    """What is wrong, and where: the row as a spreadsheet counts it, and the column."""

    row: int
    column: str
    text: str

    @property
    def where(self) -> str:
        if not self.row:
            return _("The list")
        parts = {"row": self.row, "column": self.column}
        if not self.column:
            return _("Row %(row)s") % parts
        return _("Row %(row)s, column “%(column)s”") % parts


@dataclass(slots=True)
class Found:
    """The people of a list, and all that is wrong with it."""

    entries: list[Entry] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    count: int = 0  # of remarks, those not kept too

    def wrong(self, text: str, row: int = 0, column: str = "") -> None:
        self.count += 1
        if len(self.remarks) < MAX_REMARKS:
            self.remarks.append(Remark(row, column, text))


def read_file(raw: bytes, languages: Sequence[str]) -> Found:
    """Read a file of at most 20 MB."""
    found = Found()
    if len(raw) > MAX_FILE_BYTES:
        found.wrong(_("It is larger than 20 MB."))
    elif raw.startswith((ARCHIVE, OLD)):
        _read(_rows_of_workbook(raw, found), found, languages)
    elif "\0" in (text := _decoded(raw, found)):
        found.wrong(_("It is neither a CSV file nor an .xlsx workbook."))
    else:
        _read(_rows_of_text(text, found), found, languages)
    return found


def read_pasted(text: str, languages: Sequence[str]) -> Found:
    """Read lines: a table with its heads, or one address a line, such as Ada <ada@example.org>."""
    found = Found()
    lines = [line for line in text.replace("\0", "").splitlines() if line.strip()]
    heads = re.split("[\t,;]", lines[0]) if lines else []
    if ADDRESS in map(_head, heads):
        _read(_rows_of_text("\n".join(lines), found), found, languages)
        return found
    rows = [[ADDRESS, NAME]]
    for line in lines:
        angled = ANGLED.fullmatch(line.strip())
        rows.append([angled[2], angled[1].strip().strip('"')] if angled else [line, ""])
    _read(enumerate(rows), found, languages)
    return found


def _decoded(raw: bytes, found: Found) -> str:
    encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        text = _("It is not written in UTF-8: save it as “CSV UTF-8”.")
        found.wrong(text, row=raw[: error.start].count(b"\n") + 1)
        return ""


def _rows_of_text(text: str, found: Found) -> Iterator[tuple[int, Row]]:
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    at = 0
    try:
        for at, row in enumerate(rows, 1):
            for name, cell in enumerate(row):
                if cell.startswith("=") and at > 1:
                    _formula(found, at, str(name + 1))
            yield at, row
    except csv.Error:
        found.wrong(_("Its quotation marks do not end, or it is no table."), row=at + 1)


def _formula(found: Found, row: int, column: str) -> None:
    found.wrong(_("It is a formula. Put in its place what it says."), row, column)


def _rows_of_workbook(raw: bytes, found: Found) -> Iterator[tuple[int, Row]]:
    try:
        sheet, *_others = read_workbook(raw, seconds=SECONDS, columns=MAX_COLUMNS)
    except Unreadable as refusal:
        found.wrong(_said(refusal.why))
        return
    except ValueError:
        found.wrong(_("There is nobody in it."))
        return
    for at, cells in sheet.rows:
        for column, cell in enumerate(cells, 1):
            if isinstance(cell, Formula):
                _formula(found, at, letters_of(column))
        yield at, [cell.shown if isinstance(cell, Number) else cell for cell in cells]


def _said(why: Refusal) -> str:
    match why:
        case Refusal.OLD:
            return _("It is an .xls workbook, or has a password. Save it as .xlsx without one.")
        case Refusal.SHEETS | Refusal.LARGE:
            return _("The workbook holds more than a list needs. Save the list as a CSV file.")
        case Refusal.DAMAGED | Refusal.NONE:
            return _("It is damaged, or not an .xlsx workbook. Save it again as .xlsx.")


def letters_of(column: int) -> str:
    """Return what a spreadsheet calls a column: A, B, … AA."""
    rest, last = divmod(column - 1, 26)
    return (letters_of(rest) if rest else "") + chr(ord("A") + last)


def _head(text: str) -> str:
    plain = " ".join(text.split()).casefold()
    return HEADS.get(plain, plain)


def _read(rows: Iterable[tuple[int, Row]], found: Found, languages: Sequence[str]) -> None:
    """Gather people from rows, the first of which names the columns."""
    walk = iter(rows)
    first = next(walk, (0, []))
    heads = {} if found.count else _heads(first[1], found)
    if found.count:
        return
    seen: dict[str, int] = {}
    for at, row in walk:
        cells = [" ".join(cell.split()) for cell in row]
        if not any(cells):
            continue
        if len(found.entries) >= MAX_PEOPLE:
            found.wrong(_("It has more than %(most)s people.") % {"most": f"{MAX_PEOPLE:,}"})
            return
        for column in heads.keys() & set(range(len(cells))):
            if len(cells[column]) > MAX_CELL:
                text = _("It is longer than %(most)s characters.") % {"most": MAX_CELL}
                found.wrong(text, at, heads[column])
        entry = _entry({head: cells[n] for n, head in heads.items() if n < len(cells)}, at)
        _judge(entry, at, found, languages)
        alike = plain_address(entry.address)
        if alike and seen.setdefault(alike, at) != at:
            text = _("The same address stands in row %(row)s.") % {"row": seen[alike]}
            found.wrong(text, at, ADDRESS)
        found.entries.append(entry)
    if not found.entries and not found.count:
        found.wrong(_("There is nobody in it."))


def _heads(row: Row, found: Found) -> dict[int, str]:
    heads = {at: _head(cell) for at, cell in enumerate(row) if cell.strip()}
    if ADDRESS not in heads.values():
        text = _("The first row must name the columns, and one of them must be “address”.")
        found.wrong(text, 1)
    if len(heads) > MAX_COLUMNS:
        found.wrong(_("It has more than %(most)s columns.") % {"most": MAX_COLUMNS}, 1)
        return {}
    names = list(heads.values())
    for head in heads.values():
        if names.count(head) > 1 or head in RESERVED:
            found.wrong(_("Another column has this name, or each letter has it."), 1, head)
        elif not HEAD.fullmatch(head.replace(" ", "_").replace("-", "_")):
            found.wrong(_("A column’s name has letters and digits, a letter first."), 1, head)
    return {at: head.replace(" ", "_").replace("-", "_") for at, head in heads.items()}


def _entry(cells: dict[str, str], row: int) -> Entry:
    own = {name: cells.pop(name, "") for name in (ADDRESS, NAME, LANGUAGE, STRATUM)}
    own[LANGUAGE] = own[LANGUAGE].casefold()
    return Entry(**own, columns=cells, row=row)


def _judge(entry: Entry, row: int, found: Found, languages: Sequence[str]) -> None:
    if not entry.address:
        found.wrong(_("It is empty."), row, ADDRESS)
    elif len(entry.address) > MAX_ADDRESS:
        found.wrong(_("It is longer than %(most)s characters.") % {"most": 300}, row, ADDRESS)
    elif entry.has_email:
        try:
            validate_email(entry.address)
        except ValidationError:
            found.wrong(_("It is no e-mail address."), row, ADDRESS)
    if entry.language and entry.language not in languages:
        text = _("The study is asked in %(languages)s.") % {"languages": ", ".join(languages)}
        found.wrong(text, row, LANGUAGE)
    if len(entry.stratum) > MAX_STRATUM:
        found.wrong(_("It is longer than %(most)s characters.") % {"most": 80}, row, STRATUM)
