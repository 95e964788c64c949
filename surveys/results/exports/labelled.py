"""Files of programs that show words beside numbers: SPSS and Stata.

Every variable, question, choice and kind has its label, and the methods text is in the file's
notes.
"""

import struct
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from surveys.results.exports.rows import COLUMNS, ExportRow, Kind
from surveys.results.metadata import Metadata
from surveys.results.methods import methods_of

if TYPE_CHECKING:
    from pandas import DataFrame

NOTE = 80  # bytes that a line of an SPSS document holds
MAX_VALUE_LABEL, MAX_LABEL, MAX_FILE_LABEL = 120, 256, 64  # bytes, in SPSS
STATA_SECTIONS = 14  # of a file, whose places its map holds
MAX_STATA_LABEL = 80  # letters, of a file or a variable
CODES = 1000  # of a question's choices: question 2, choice 3 is 2003
WIDTHS: dict[Kind, str] = {"code": "8.0", "count": "8.0", "points": "8.2", "number": "12.6"}
SCALES = {"count", "points", "number"}


def write_spss(metadata: Metadata, rows: list[ExportRow]) -> bytes:
    import pyreadstat  # here, since it takes half a second of every start

    coded = CodedRows.of(metadata, rows)
    return written(
        pyreadstat.write_sav,
        coded.frame,
        file_label=cut(metadata.plan.content.title, MAX_FILE_LABEL),
        column_labels={name: cut(label, MAX_LABEL) for name, label in coded.labels.items()},
        note=notes(methods_of(metadata)["section"]),
        variable_value_labels={
            name: {code: cut(text, MAX_VALUE_LABEL) for code, text in codes.items()}
            for name, codes in coded.codes.items()
        },
        variable_measure={
            name: "scale" if kind in SCALES else "nominal" for name, kind in coded.kinds.items()
        },
        variable_format=coded.formats("F{}"),
    )


def write_stata(metadata: Metadata, rows: list[ExportRow]) -> bytes:
    import pyreadstat

    coded = CodedRows.of(metadata, rows)
    file = written(
        pyreadstat.write_dta,
        coded.frame,
        file_label=metadata.plan.content.title[:MAX_STATA_LABEL],
        column_labels={name: label[:MAX_STATA_LABEL] for name, label in coded.labels.items()},
        variable_value_labels=coded.codes,
        variable_format=coded.formats("%{}f"),
    )
    lines = methods_of(metadata)["section"].split("\n")
    return with_notes(file, [line for line in lines if line.strip()])


def with_notes(file: bytes, texts: list[str]) -> bytes:
    """Return a Stata file (formats 117 to 119) with notes of the data set, which its writer cannot
    make: characteristics of `_dta`, note0 how many there are, note1 … each of them. Everything
    after them moves, and the file's map says where to.
    """
    named = {"note0": str(len(texts))} | {f"note{at}": text for at, text in enumerate(texts, 1)}
    added = b"".join(_characteristic(name, text) for name, text in named.items())
    head, tail = b"<characteristics>", b"</characteristics>"
    at = file.index(head + tail) + len(head)
    begins = file.index(b"<map>") + len(b"<map>")
    order = "<" if b"<byteorder>LSF</byteorder>" in file[:begins] else ">"
    form = struct.Struct(f"{order}{STATA_SECTIONS}Q")
    places = form.unpack(file[begins : begins + form.size])
    moved = form.pack(*(place + len(added) * (place >= at) for place in places))
    return file[:begins] + moved + file[begins + form.size : at] + added + file[at:]


def _characteristic(name: str, text: str) -> bytes:
    """Return one of the data set. Stata's names are 32 letters of at most 4 bytes, and a zero."""
    wide = 129
    content = text.encode() + b"\0"
    size = struct.pack("<I", 2 * wide + len(content))
    names = b"_dta".ljust(wide, b"\0") + name.encode().ljust(wide, b"\0")
    return b"<ch>" + size + names + content + b"</ch>"


def written(write: Callable[..., None], frame: "DataFrame", **options: object) -> bytes:
    """Return the file that the programs' writer makes: it writes to a path only."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export"
        write(frame, path, **options)
        return path.read_bytes()


@dataclass(frozen=True, slots=True)
class CodedRows:
    """Rows with codes in place of words; `item` 2003, before `choice`: question 2, choice 3."""

    frame: "DataFrame"
    codes: dict[str, dict[int, str]]  # of a variable: what is shown for each code
    kinds: dict[str, Kind]
    labels: dict[str, str]

    @classmethod
    def of(cls, metadata: Metadata, rows: list[ExportRow]) -> "CodedRows":
        texts = {question.name: question.text for question in metadata.plan.content.questions}
        for row in rows:
            if row.question:
                texts.setdefault(row.question, row.table)  # asked in an earlier wave only
        numbers = {
            "kind": numbered(sorted({row.kind for row in rows})),
            "table": numbered(row.table for row in rows),
            "question": numbered(texts),
        }
        kinds = {name: column.metadata["kind"] for name, column in COLUMNS.items()}
        kinds |= dict.fromkeys(numbers, "code")
        frame = frame_of(rows, numbers, kinds)
        items: dict[int, dict[str, None]] = {}
        for place, code in frame["item"].dropna().items():  # of several waves, all their words
            items.setdefault(int(code), {})[f"{rows[place].table}: {rows[place].label}"] = None
        codes = {
            "kind": {code: kind for kind, code in numbers["kind"].items()},
            "table": {code: table for table, code in numbers["table"].items()},
            "question": {code: texts[name] for name, code in numbers["question"].items()},
            "item": {code: " | ".join(words) for code, words in items.items()},
        }
        labels = {name: str(column.metadata["label"]) for name, column in COLUMNS.items()}
        labels["question"] = _("Question, its number in the plan")
        labels["item"] = _(
            "Question and choice: 1000 times the question’s number, and the choice’s number in "
            "the plan"
        )
        codes = {name: words for name, words in codes.items() if words}
        return cls(frame, codes, kinds | {"item": "code"}, labels)

    def formats(self, form: str) -> dict[str, str]:
        """Return a format for every variable that needs one; `form` has a place for its width."""
        numbers = {name: kind for name, kind in self.kinds.items() if kind in WIDTHS}
        return {name: form.format(WIDTHS[kind]) for name, kind in numbers.items()}


def frame_of(
    rows: list[ExportRow], numbers: dict[str, dict[str, int]], kinds: dict[str, Kind]
) -> "DataFrame":
    """Return rows as the programs' writer takes them: numbers, days and texts."""
    import pandas

    frame = pandas.DataFrame([asdict(row) for row in rows], columns=list(COLUMNS))
    for name, kind in kinds.items():
        if name in numbers:
            frame[name] = frame[name].map(numbers[name])
        if kind == "text":
            frame[name] = frame[name].fillna("").astype(str)
        elif kind != "day":
            frame[name] = pandas.to_numeric(frame[name]).astype(float)
    item = CODES * frame["question"] + frame["choice"]
    frame.insert(list(COLUMNS).index("choice"), "item", item)
    return frame


def numbered(words: Iterable[str]) -> dict[str, int]:
    """Return numbers from 1, in the order in which words first come."""
    return {word: number for number, word in enumerate(dict.fromkeys(words), start=1)}


def notes(text: str) -> list[str]:
    """Return a text in lines that an SPSS document holds: 80 bytes, whole words if they fit."""
    lines: list[str] = []
    for line in text.split("\n"):
        while len(line.encode()) > NOTE:
            head = cut(line, NOTE, mark="")
            at = len(head) if line[len(head)] == " " else head.rfind(" ") + 1 or len(head)
            lines.append(line[:at].rstrip(" ") or line[:at])
            line = line[at:].lstrip(" ")
        lines.append(line or " ")
    return lines


def cut(text: str, most: int, mark: str = "…") -> str:
    """Return a text in at most so many bytes of UTF-8, with a mark where it was cut."""
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - len(mark.encode())].decode(errors="ignore") + mark
