"""Released numbers to take along: CSV, Parquet, SPSS and JSON, each with the mechanism inside.

Every format has the same lines (lines.py). CSV says the mechanism in its columns; Parquet in its key/value metadata
too; SPSS in the file's notes, with labels for every variable, question, choice and kind; JSON beside the lines.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from surveys.dashboard.facts import Facts, version
from surveys.dashboard.lines import COLUMNS, LABELS, Line
from surveys.dashboard.methods import methods_of
from surveys.dashboard.sheets import csv_lines

NOTE = 80  # bytes a line of an SPSS document holds
LONGEST_VALUE_LABEL, LONGEST_LABEL, LONGEST_FILE_LABEL = 120, 256, 64  # bytes
CODES = 1000  # of a question's choices: question 2, choice 3 is 2003
SCALES = {"estimate", "low", "high", "standard_error", "projected", "local_epsilon", "odds_own", "odds_other", "n"}
SCALES |= {f"variance_{part}" for part in ("sampling", "device", "publication")} | {"noisy_count", "plain_answers"}
SCALES |= {"charge_epsilon", "charge_rho"}


@dataclass(frozen=True, slots=True)
class Export:
    """What goes into a file: lines, and what is true of them."""

    facts: Facts
    lines: list[Line]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [asdict(line) for line in self.lines]

    @property
    def metadata(self) -> dict[str, str]:
        methods = methods_of(self.facts)
        return {
            "title": str(self.facts.content["title"]),
            "methods_sentence": methods.sentence,
            "methods": methods.section,
            "plan_sha256": self.facts.plan.digest,
            "plan": self.facts.plan.document,
            "software": f"Candor {version()}",
            "columns": json.dumps({name: str(label) for name, label in LABELS.items()}, ensure_ascii=False),
        }


def to_csv(export: Export) -> bytes:
    lines = ([row[name] for name in COLUMNS] for row in export.rows)
    return csv_lines(COLUMNS, lines).encode()


def to_json(export: Export) -> bytes:
    document = {**export.metadata, "plan": json.loads(export.facts.plan.document), "rows": export.rows}
    document["columns"] = {name: str(label) for name, label in LABELS.items()}
    return json.dumps(document, ensure_ascii=False, indent=1, default=str).encode()


def to_parquet(export: Export) -> bytes:
    import pyarrow  # here, since they take half a second of every start
    from pyarrow import parquet

    types: dict[type, Any] = {
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        str: pyarrow.string(),
    }
    schema = pyarrow.schema(
        [
            pyarrow.field(
                name,
                pyarrow.date32() if name == "published_on" else types[_type(name)],
                metadata={"label": str(LABELS[name])},
            )
            for name in COLUMNS
        ],
        metadata=export.metadata,
    )
    file = BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(export.rows, schema=schema), file)
    return file.getvalue()


def _type(name: str) -> type:
    annotation: Any = Line.__annotations__[name]
    return next(kind for kind in (str, int, float) if annotation in (kind, kind | None))


def to_spss(export: Export) -> bytes:
    """Return a .sav file: one line an option, with codes that carry their words."""
    import pandas
    import pyreadstat

    book = Codebook.of(export)
    frame = pandas.DataFrame([book.row(line) for line in export.lines], columns=list(book.columns))
    for name in book.columns:
        if name in SCALES or name in book.codes or name in ("wave", "release", "step", "choice"):
            frame[name] = pandas.to_numeric(frame[name]).astype(float)
        elif name != "published_on":
            frame[name] = frame[name].fillna("").astype(str)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export.sav"
        pyreadstat.write_sav(
            frame,
            str(path),
            file_label=_cut(str(export.facts.content["title"]), LONGEST_FILE_LABEL),
            column_labels=book.labels,
            note=notes(methods_of(export.facts).section),
            variable_value_labels=book.codes,
            variable_measure=book.measures,
            variable_format=book.formats,
        )
        return path.read_bytes()


@dataclass(frozen=True, slots=True)
class Codebook:
    """What SPSS shows beside the numbers: words for codes, labels for variables."""

    columns: tuple[str, ...]
    codes: dict[str, dict[int | float, str]]
    kinds: dict[str, int]
    tables: dict[str, int]
    questions: dict[str, int]

    @classmethod
    def of(cls, export: Export) -> "Codebook":
        kinds = _numbered(sorted({line.kind for line in export.lines}))
        tables = _numbered(line.table for line in export.lines)
        texts = {question["name"]: question["text"] for question in export.facts.content["questions"]}
        for line in export.lines:
            if line.question:
                texts.setdefault(line.question, line.table)  # asked in an earlier wave only
        questions = _numbered(texts)
        codes: dict[str, dict[int | float, str]] = {
            "kind": {code: _cut(kind) for kind, code in kinds.items()},
            "table": {code: _cut(caption) for caption, code in tables.items()},
            "question": {code: _cut(texts[name]) for name, code in questions.items()},
            "item": _items(export.lines, questions),
        }
        place = COLUMNS.index("choice")
        columns = (*COLUMNS[:place], "item", *COLUMNS[place:])
        return cls(columns, {name: words for name, words in codes.items() if words}, kinds, tables, questions)

    def row(self, line: Line) -> dict[str, Any]:
        question = self.questions.get(line.question)
        return {
            **asdict(line),
            "kind": self.kinds[line.kind],
            "table": self.tables[line.table],
            "question": question,
            "item": item_of(line, self.questions),
        }

    @property
    def labels(self) -> dict[str, str | None]:
        own = {
            "item": _("Question and choice: 1000 times the question’s number, and the choice’s number in the plan"),
            "question": _("Question, its number in the plan"),
        }
        words: dict[str, str] = {name: str(label) for name, label in LABELS.items()} | own
        return {name: _cut(words[name], LONGEST_LABEL) for name in self.columns}

    @property
    def measures(self) -> dict[str, str]:
        return {name: "scale" if name in SCALES else "nominal" for name in self.columns}

    @property
    def formats(self) -> dict[str, str]:
        whole = {"wave", "release", "step", "choice", "n", "noisy_count", "plain_answers", *self.codes}
        points = {"estimate", "low", "high", "standard_error", "projected"}
        return {
            **dict.fromkeys(whole & set(self.columns), "F8.0"),
            **dict.fromkeys(points, "F8.2"),
            **dict.fromkeys(SCALES - points - whole, "F12.6"),
        }


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """Return numbers from 1, in the order in which names first come."""
    return {name: number for number, name in enumerate(dict.fromkeys(names), start=1)}


def item_of(line: Line, questions: Mapping[str, int]) -> int | None:
    """Return one number for a question's choice: 2003 is choice 3 of question 2."""
    if line.choice is None or line.question not in questions:
        return None
    return CODES * questions[line.question] + line.choice


def _items(lines: Iterable[Line], questions: Mapping[str, int]) -> dict[int | float, str]:
    """Return the words of every choice; all of them, where waves have put different ones in its place."""
    found: dict[int | float, dict[str, None]] = {}
    for line in lines:
        if (item := item_of(line, questions)) is not None:
            found.setdefault(item, {})[f"{line.table}: {line.label}"] = None
    return {item: _cut(" | ".join(words)) for item, words in found.items()}


def notes(text: str) -> list[str]:
    """Return a text in lines that an SPSS document holds: 80 bytes each, whole words where they fit."""
    found: list[str] = []
    for paragraph in text.split("\n"):
        found += _in_bytes(paragraph)
    return found


def _in_bytes(line: str) -> list[str]:
    """Return a line in pieces of at most so many bytes, broken at a space if it has one."""
    pieces = []
    while len(line.encode()) > NOTE:
        head = _cut(line, NOTE, mark="")
        at = len(head) if line[len(head)] == " " else head.rfind(" ") + 1 or len(head)
        pieces.append(line[:at].rstrip(" ") or line[:at])
        line = line[at:].lstrip(" ")
    return [*pieces, line or " "]


def _cut(text: str, most: int = LONGEST_VALUE_LABEL, mark: str = "…") -> str:
    """Return a text in at most so many bytes of UTF-8, with a mark where it was cut."""
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - len(mark.encode())].decode(errors="ignore") + mark


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file."""

    suffix: str
    media_type: str
    write: Callable[[Export], bytes]


FORMATS: Mapping[str, Format] = {
    "sav": Format("sav", "application/x-spss-sav", to_spss),
    "csv": Format("csv", "text/csv; charset=utf-8", to_csv),
    "parquet": Format("parquet", "application/vnd.apache.parquet", to_parquet),
    "json": Format("json", "application/json; charset=utf-8", to_json),
}
