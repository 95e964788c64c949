"""What is known while an XLSForm is read: what was found, what is wrong, and what each column was said of."""

from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from surveys.drafting import columns
from surveys.drafting.workbooks import Remark, Row, remark


@dataclass(slots=True)
class Found:
    """What a file holds, and what is to be said of it."""

    title: str = ""
    texts: dict[str, Any] = field(default_factory=dict)
    questions: list[dict[str, Any]] = field(default_factory=list)
    translations: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[Remark] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    rest: "Found | None" = None  # what could be taken without all that has a problem


@dataclass(slots=True)
class Choices:
    """A list of choices: their names, and what they say in each language."""

    names: list[str] = field(default_factory=list)
    texts: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Note:
    """A text that stands as help below the next question: a note, or a group's title."""

    row: int
    texts: dict[str, str]
    conditions: list[str]
    is_title: bool = False


@dataclass(slots=True)
class Reading:
    """What the reader knows while it goes down the rows."""

    found: Found
    language: str
    lists: dict[str, Choices]
    groups: list[dict[str, Any]] = field(default_factory=list)
    names: dict[str, tuple[str, Choices | None]] = field(default_factory=dict)  # in the file: here, and its choices
    doubled: set[str] = field(default_factory=set)  # names in the file that mean more than one question
    notes: list[Note] = field(default_factory=list)
    said: set[str] = field(default_factory=set)  # of the form as a whole: once, where it first stands
    refused: set[int] = field(default_factory=set)  # rows of the survey
    dropped: set[tuple[str, str]] = field(default_factory=set)  # sheets' columns
    is_broken: bool = False  # there is no rest: where a group ends is not known, or what language it is

    def problem(self, row: int, column: str, text: str, sheet: str = "survey") -> None:
        self.found.problems.append(remark(sheet, row, column, text))
        if sheet == "survey" and row > 1:
            self.refused.add(row)
        else:
            self.dropped.add((sheet, column))

    def remark(self, row: int, column: str, text: str, sheet: str = "survey") -> None:
        self.found.remarks.append(remark(sheet, row, column, text))

    def remark_once(self, row: int, column: str, text: str, sheet: str = "survey", of: str = "") -> None:
        if (key := f"{sheet} {column} {of or text}") not in self.said:
            self.said.add(key)
            self.remark(row, column, text, sheet)

    def conditions(self, row: Row) -> list[str]:
        stated = [group["relevant"] for group in self.groups if group["relevant"]]
        return list(dict.fromkeys([*stated, *([row["relevant"]] if row.get("relevant") else [])]))


def look_at_heads(reading: Reading, sheet: str, number: int, row: Row) -> None:
    """Name each column once that is not taken, and refuse one that was meant to be another."""
    for head in row:
        if f"{sheet} {head}" in reading.said:
            continue
        reading.said.add(f"{sheet} {head}")
        if meant := columns.meant(sheet, head):
            text = _("There is no column “%(column)s”. Did you mean “%(meant)s”?") % {"column": head, "meant": meant}
            reading.problem(1, head, text, sheet)
        elif columns.stem(head) not in columns.MEANT and (reason := columns.left_out(sheet, head)):
            reading.remark(number, head, reason, sheet)
    for head in columns.doubled(row, reading.language):
        text = _("Another column says something else in the same language.")
        reading.problem(number if sheet == "survey" else 1, head, text, sheet)
