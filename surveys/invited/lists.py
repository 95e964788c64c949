"""Read a list of people as somebody has it: a CSV file, a workbook, or lines that were pasted.

The heads name the columns: one is the address, `name`, `language` and `stratum` may be there; any
other is for the letter. Where no head says which is the address, or several do, the person does.
Every problem is told with its row and column, and where there is one nothing is taken, unless the
rest is asked for. A formula is never evaluated: put in its place what it says.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _, gettext_lazy

from surveys.invited.keys import plain_address
from surveys.spreadsheets import is_number
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
MAX_COLUMNS, MAX_CELL, MAX_ADDRESS, MAX_STRATUM = 100, 500, 300, 80
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
FIRST = {"firstname", "first name", "given name", "vorname", "名"}
LAST = {"lastname", "last name", "family name", "surname", "nachname", "姓"}
RESERVED = {"link", "last_day"}  # what a letter fills in by itself
MARKS = ",;\t"
BEGINNING = 10  # rows in which the heads are looked for
ENCODINGS = {  # that are read only where a person says so: no byte tells them from one another
    "cp1252": gettext_lazy("Western European (Windows-1252)"),
    "gb18030": gettext_lazy("Chinese (GB18030)"),
}
EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-][\w.+%'-]{0,63}@[\w.-]{1,250}\.\w{2,63}")
INSIDE = re.compile(r".*<(.+)>")  # attribute_1 <Department>, as LimeSurvey writes heads
CONSTANT = re.compile(
    '^="([^"]*)"$'
)  # a text that a program keeps a spreadsheet from counting with
PHONE = re.compile("[+0][0-9 ()./-]{6,20}")
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


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person can say of a file that it does not say itself, with what would be read."""

    value: str
    label: str
    sample: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a person says of a file: the place of the address's column, from 1, and its encoding."""

    address: int = 0
    encoding: str = ""


@dataclass(slots=True)
class Found:
    """The people of a list, all that is wrong with it, and what a person must say of it first."""

    entries: list[Entry] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    count: int = 0  # of remarks, those not kept too
    bad: set[int] = field(default_factory=set)  # rows of people who cannot be taken
    columns: list[Choice] = field(default_factory=list)  # of which one is the address
    encodings: list[Choice] = field(default_factory=list)
    address: str = ADDRESS  # what the file calls its column

    @property
    def rest(self) -> list[Entry]:
        """Return the people who can be taken; nobody where what is wrong is not theirs."""
        if self.columns or self.encodings or 0 in self.bad:
            return []
        return [entry for entry in self.entries if entry.row not in self.bad]

    def wrong(self, text: str, row: int = 0, column: str = "", *, is_bad: bool = True) -> None:
        self.count += 1
        if is_bad:
            self.bad.add(row)
        if len(self.remarks) < MAX_REMARKS:
            self.remarks.append(Remark(row, column, text))


def read_file(raw: bytes, languages: Sequence[str], told: Told = Told()) -> Found:  # noqa: B008
    """Read a file of at most 20 MB, with what a person says of it."""
    found = Found()
    if len(raw) > MAX_FILE_BYTES:
        found.wrong(_("It is larger than 20 MB."))
    elif raw.startswith((ARCHIVE, OLD)):
        _read(_rows_of_workbook(raw, found), found, languages, told)
    elif "\0" in (text := _decoded(raw, found, told)):
        found.wrong(_("It is neither a CSV file nor an .xlsx workbook."))
    elif not found.encodings:
        _read(_rows_of_text(text, found), found, languages, told)
    found.remarks.sort(key=lambda each: each.row)  # the first rows were read ahead
    return found


def read_pasted(text: str, languages: Sequence[str], told: Told = Told()) -> Found:  # noqa: B008
    """Read lines: a table with its heads, or one address a line, such as Ada <ada@example.org>."""
    found = Found()
    lines = [line for line in text.replace("\0", "").splitlines() if line.strip()]
    heads = re.split(f"[{MARKS}]", lines[0]) if lines else []
    is_table = len(heads) > 1 and len(lines) > 1 and "@" not in lines[0]
    if is_table or ADDRESS in map(_head, heads):
        _read(_rows_of_text("\n".join(lines), found), found, languages, told)
        return found
    rows = [[ADDRESS, NAME]]
    for line in lines:
        angled = ANGLED.fullmatch(line.strip())
        rows.append([angled[2], angled[1].strip().strip('"')] if angled else [line, ""])
    _read(enumerate(rows), found, languages, Told())
    return found


def _decoded(raw: bytes, found: Found, told: Told) -> str:
    """Return a file's text. Where it is in none of the encodings that tell themselves, the others
    are offered, each with the first line that shows whether it is right.
    """
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif raw[1:40:2].count(0) > 10:  # without the mark that it should begin with
        encoding = "utf-16-le"
    else:
        encoding = told.encoding if told.encoding in ENCODINGS else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        row = raw[: error.start].count(b"\n") + 1
    line = raw.splitlines()[row - 1]
    for name, label in ENCODINGS.items():
        with suppress(UnicodeDecodeError):
            raw.decode(name)
            sample = line.decode(name)[:80]
            found.encodings.append(Choice(name, str(label), sample))
    found.wrong(_("It is not written in UTF-8. Say below how it is written."), row=row)
    return ""


def _rows_of_text(text: str, found: Found) -> Iterator[tuple[int, Row]]:
    lines = text.splitlines()[:BEGINNING]
    said = re.fullmatch('"?sep=(.)"?', lines[0].strip(), re.IGNORECASE) if lines else None
    unquoted = ["".join(line.split('"')[::2]) for line in lines]
    mark = (
        said[1] if said else max(MARKS, key=lambda mark: sum(each.count(mark) for each in unquoted))
    )
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    at = 0
    try:
        for at, row in enumerate(rows, 1):
            if said and at == 1:
                continue
            cells = [
                constant[1] if (constant := CONSTANT.fullmatch(cell)) else cell for cell in row
            ]
            for name, cell in enumerate(cells):
                if cell.startswith("=") and at > 1:
                    _formula(found, at, str(name + 1))
            yield at, cells
    except csv.Error:
        found.wrong(_("Its quotation marks do not end, or it is not a table."), row=at + 1)
        found.bad.add(0)


def _formula(found: Found, row: int, column: str) -> None:
    found.wrong(_("It is a formula. Put in its place what it says."), row, column)


def _rows_of_workbook(raw: bytes, found: Found) -> Iterator[tuple[int, Row]]:
    try:
        sheet, *_others = read_workbook(raw, seconds=SECONDS, columns=MAX_COLUMNS)
    except Unreadable as refusal:
        found.wrong(_said(refusal.why))
        return
    except ValueError:
        found.wrong(_("It holds no people."))
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


def _read(
    rows: Iterable[tuple[int, Row]], found: Found, languages: Sequence[str], told: Told
) -> None:
    """Gather people from rows, below the one that names the columns."""
    walk = iter(rows)
    beginning = list(islice(walk, BEGINNING))
    at_heads = _place_of_heads(beginning)
    first, *more = beginning[at_heads:] or [(0, [])]
    found.remarks = [each for each in found.remarks if each.row > first[0] or not each.row]
    found.count = len(found.remarks)
    found.bad = {row for row in found.bad if row > first[0] or not row}
    if 0 in found.bad:
        return
    heads = _heads(first, more, found, told)
    if 0 in found.bad or not heads:
        return
    seen: dict[str, int] = {}
    for at, row in chain(more, walk):
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
        entry = _judge(entry, at, found, languages)
        alike = plain_address(entry.address)
        if alike and seen.setdefault(alike, at) != at:
            text = _("The same address is in row %(row)s.") % {"row": seen[alike]}
            found.wrong(text, at, ADDRESS)
        found.entries.append(entry)
    if not found.entries and not found.count:
        found.wrong(_("It holds no people."))


def _place_of_heads(rows: Sequence[tuple[int, Row]]) -> int:
    """Return which of the first rows names the columns: the first with something in it, but a
    title, which stands alone in its row above a row of several heads.
    """
    filled = [[cell for cell in row if cell.strip()] for _at, row in rows]
    first = next((at for at, cells in enumerate(filled) if cells), 0)
    if filled and len(filled[first]) == 1 and ADDRESS not in map(_head, filled[first]):
        several = (at for at, cells in enumerate(filled) if len(cells) > 1)
        return next(several, first)
    return first


def _heads(
    first: tuple[int, Row], more: Sequence[tuple[int, Row]], found: Found, told: Told
) -> dict[int, str]:
    """Return what each column is called; nothing where it is not known which is the address."""
    at, row = first
    heads = {place: _head(cell) for place, cell in enumerate(row) if cell.strip()}
    if len(heads) > MAX_COLUMNS:
        found.wrong(_("It has more than %(most)s columns.") % {"most": MAX_COLUMNS}, at)
        found.bad.add(0)
        return {}
    cells = [cell.strip() for cell in row]
    if any(EMAIL.fullmatch(cell) or PHONE.fullmatch(cell) for cell in cells):
        text = _("A row above the people must name the columns. Write there what each one holds.")
        found.wrong(text, at)
        found.bad.add(0)
        return {}
    of_address = [place for place, head in heads.items() if head == ADDRESS]
    if told.address - 1 in heads:
        of_address = [told.address - 1]
        found.address = " ".join(row[told.address - 1].split())[:60]
    if len(of_address) != 1:
        found.columns = [
            Choice(str(place + 1), " ".join(row[place].split())[:60], _sample(more, place))
            for place in sorted(heads, key=lambda place: (not _is_reached(more, place), place))
        ]
        text = _("Say below which column is the address of each person.")
        found.wrong(text, at)
        found.bad.add(0)
        return {}
    names = {place: _name_of(row[place], place) for place in heads}
    for own in (NAME, LANGUAGE, STRATUM):
        place = next((place for place, head in heads.items() if head == own), None)
        if place is not None and place not in of_address:
            names[place] = own
    names[of_address[0]] = ADDRESS
    return _untwinned(names, of_address[0])


def _name_of(head: str, place: int) -> str:
    """Return what a letter calls a column: small letters, digits and _, a letter first."""
    inside = INSIDE.fullmatch(" ".join(head.split()))
    name = re.sub(r"\W+", "_", (inside[1] if inside else head).casefold()).strip("_")
    return name if name[:1].isalpha() else f"column_{place + 1}_{name}".rstrip("_")


def _untwinned(names: dict[int, str], address: int) -> dict[int, str]:
    """Return names of columns of which no two are the same, nor what each letter fills in."""
    taken = {ADDRESS, *RESERVED}
    given = {address: ADDRESS}
    for place, name in names.items():
        if place == address:
            continue
        numbered = chain([name], (f"{name}_{number}" for number in count(2)))
        given[place] = next(each for each in numbered if each not in taken)
        taken.add(given[place])
    return given


def _sample(rows: Sequence[tuple[int, Row]], place: int) -> str:
    cells = (" ".join(row[place].split()) for _at, row in rows if place < len(row))
    return next(filter(None, cells), "")[:60]


def _is_reached(rows: Sequence[tuple[int, Row]], place: int) -> bool:
    """Tell whether a column looks like addresses: it is offered first."""
    sample = _sample(rows, place)
    return bool(EMAIL.fullmatch(sample) or is_number(sample))


def _entry(cells: dict[str, str], row: int) -> Entry:
    own = {name: cells.pop(name, "") for name in (ADDRESS, NAME, LANGUAGE, STRATUM)}
    own[LANGUAGE] = own[LANGUAGE].casefold()
    parts = [
        next((cell for name, cell in cells.items() if name.replace("_", " ") in names), "")
        for names in (FIRST, LAST)
    ]
    own[NAME] = own[NAME] or " ".join(filter(None, parts))
    return Entry(**own, columns=cells, row=row)


def _judge(entry: Entry, row: int, found: Found, languages: Sequence[str]) -> Entry:
    """Say what is wrong with somebody; return them with a language of the study's, or none."""
    if not entry.address:
        found.wrong(_("It is empty."), row, found.address)
    elif len(entry.address) > MAX_ADDRESS:
        found.wrong(_("It is longer than %(most)s characters.") % {"most": 300}, row, found.address)
    elif entry.has_email and (why := no_email(entry.address)):
        found.wrong(why, row, found.address)
    if len(entry.stratum) > MAX_STRATUM:
        found.wrong(_("It is longer than %(most)s characters.") % {"most": 80}, row, STRATUM)
    if entry.language and entry.language not in languages:
        text = _(
            "The study is asked in %(languages)s. This person can be added without a language."
        )
        listed = ", ".join(languages)
        found.wrong(text % {"languages": listed}, row, LANGUAGE, is_bad=False)
        return replace(entry, language="")
    return entry


def no_email(address: str) -> str:
    """Return why nothing can be sent to an address; nothing if it can."""
    before, at, _domain = address.rpartition("@")
    if at and not before.isascii():
        return _(
            "Before the @ it has other letters than a to z. E-mail from here does not reach it: "
            "give another address."
        )
    try:
        validate_email(address)
    except ValidationError:
        return _("It is not an email address.")
    return ""
