"""What is known while an XLSForm is read: what was found, what is wrong, and what each column
was said of.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _

from surveys import languages
from surveys.design.texts import Stored
from surveys.drafting.drafts import QuestionDraft
from surveys.drafting.xlsform import columns
from surveys.drafting.xlsform.markup import plain
from surveys.drafting.xlsform.workbooks import Remark, Row, Sheets, remark, wrong_cell


@dataclass(slots=True)
class ImportedForm:
    """What a file holds, and what is to be said of it."""

    texts: dict[str, str] = field(default_factory=dict)
    questions: list[QuestionDraft] = field(default_factory=list)
    translations: dict[str, Stored] = field(default_factory=dict)
    problems: list[Remark] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    rest: "ImportedForm | None" = None  # what could be taken without all that has a problem


@dataclass(slots=True)
class Choices:
    """A list of choices: their names, and what they say in each language."""

    names: list[str] = field(default_factory=list)
    texts: list[dict[str, str]] = field(default_factory=list)
    wrong: str = ""  # why nothing can be chosen from it
    row: int = 0  # the first of its rows


@dataclass(frozen=True, slots=True)
class Note:
    """A text that stands as help below the next question: a note, or a group's title."""

    row: "SheetRow"
    texts: dict[str, str]
    conditions: list[str]
    is_title: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A group that has begun and not ended; one that becomes a matrix has a name."""

    row: "SheetRow"
    kind: str = ""
    name: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    is_refused: bool = False

    @property
    def above(self) -> dict[str, str]:
        """Return what stands above a table, in each language."""
        return label_and_hint(self.texts, self.hints)


def label_and_hint(texts: dict[str, str], hints: dict[str, str]) -> dict[str, str]:
    """Return a label with its hint, in each language."""
    return {
        code: " ".join(filter(None, (texts.get(code), hints.get(code)))) for code in texts | hints
    }


@dataclass(slots=True)
class Reading:
    """What the reader knows while it goes down the rows."""

    form: ImportedForm
    language: str
    lists: dict[str, Choices] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    # by the name in the file: the last question of this name, and its choices
    named: dict[str, tuple[QuestionDraft, Choices | None]] = field(default_factory=dict)
    doubled: set[str] = field(default_factory=set)  # names of more than one question
    untaken: dict[str, int] = field(default_factory=dict)  # names of questions refused, their rows
    # the rows that are refused because they depend on such a row
    going: dict[int, list[int]] = field(default_factory=dict)
    inside: dict[int, list[int]] = field(default_factory=dict)  # because they stand in such a group
    notes: list[Note] = field(default_factory=list)
    mentioned: set[str] = field(
        default_factory=set
    )  # of the form as a whole: once, where it stands
    refused: set[int] = field(default_factory=set)  # rows of the survey
    dropped: set[tuple[str, str]] = field(default_factory=set)  # sheets' columns
    # there is no rest: it is in no language that questions are asked in
    is_broken: bool = False

    @property
    def matrix(self) -> Group | None:
        """Return the innermost group that is a matrix, if there is one."""
        return next((group for group in reversed(self.groups) if group.name), None)

    def rows(self, sheets: Sheets, sheet: str) -> Iterator["SheetRow"]:
        """Yield a sheet's rows, as a spreadsheet counts them, once their columns are looked at."""
        for number, cells in enumerate(sheets[sheet], start=2):
            row = SheetRow(self, sheet, number, cells)
            row.look_at_heads()
            yield row


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a sheet: what its cells say, and what is said of it."""

    reading: Reading
    sheet: str
    number: int
    cells: Row

    def get(self, column: str, default: str = "") -> str:
        return self.cells.get(column, default)

    def texts(self, column: str) -> dict[str, str]:
        """Return what a column says in each of our languages."""
        return columns.texts_of(self.cells, column, self.reading.language)

    def problem(self, column: str, text: str, /, **values: object) -> None:
        """Say why the row cannot be taken; in the row of heads, why the column cannot."""
        text = text % values if values else text
        self.reading.form.problems.append(remark(self.sheet, self.number, column, text))
        if self.sheet == "survey" and self.number > 1:
            self.reading.refused.add(self.number)
        else:
            self.reading.dropped.add((self.sheet, column))

    def remark(self, column: str, text: str, /, **values: object) -> None:
        text = text % values if values else text
        self.reading.form.remarks.append(remark(self.sheet, self.number, column, text))

    def remark_once(self, column: str, text: str, /, key: str = "", **values: object) -> None:
        """Say it of the first row only: of the same text, or key."""
        text = text % values if values else text
        if self._is_news(f"{column} {key or text}"):
            self.remark(column, text)

    def one_of(self, column: str, words: Collection[str], text: str, default: str = "") -> str:
        """Return the word in a cell; say that it cannot be if it is none of these."""
        word = self.get(column, default)
        if word not in words:
            self.problem(column, text, found=word[:20])
        return word

    def refuse_long(self, column: str, text: str, longest: int) -> None:
        if len(text) > longest:
            self.problem(column, _("It is longer than %(most)s characters."), most=longest)

    def _is_news(self, text: str) -> bool:
        key = f"{self.sheet} {text}"
        is_news = key not in self.reading.mentioned
        self.reading.mentioned.add(key)
        return is_news

    def refuse_cells(self) -> bool:
        """Refuse cells that cannot be used, where they would be; tell whether there are any."""
        wrong = [
            (head, text)
            for head, cell in self.cells.items()
            if (text := wrong_cell(cell))
            and columns.is_used(self.sheet, head, self.reading.language)
        ]
        for head, text in wrong:
            self.problem(head, text)
        return bool(wrong)

    def say_marks(self) -> None:
        """Name what is taken out of the texts that are taken."""
        for head, cell in self.cells.items():
            if columns.stem(head) not in columns.TRANSLATED:
                continue
            if not columns.is_used(self.sheet, head, self.reading.language):
                continue
            found = plain(cell)
            if found.tags:
                self.remark(
                    head,
                    _("HTML is not shown, and was taken out: %(tags)s"),
                    tags=" ".join(found.tags)[:200],
                )
            if found.is_marked:
                self.remark_once(
                    head,
                    _("Shown as plain text: bold, italic, links and line breaks are left out."),
                )

    def look_at_heads(self) -> None:
        """Name each column once that is not taken, and refuse one that was meant to be another."""
        heads = replace(self, number=1)
        for head in filter(self._is_news, self.cells):
            if meant := columns.meant(self.sheet, head):
                heads.problem(
                    head,
                    _("Unknown column “%(column)s”. Did you mean “%(meant)s”?"),
                    column=head,
                    meant=meant,
                )
            elif columns.stem(head) not in columns.MEANT:
                if reason := columns.left_out(self.sheet, head):
                    self.remark(head, reason)
                elif self._names_no_language(head):
                    heads.remark(
                        head,
                        _("This column names no language. Its texts are taken as %(language)s."),
                        language=languages.name(self.reading.language),
                    )
        for head in columns.doubled(self.cells, self.reading.language):
            row = self if self.sheet == "survey" else heads
            row.problem(head, _("Another column says something else in the same language."))

    def _names_no_language(self, head: str) -> bool:
        """Tell whether a column of texts names none where other columns do."""
        if head not in ("label", "hint"):
            return False
        codes = {columns.language_in(other, "") for other in self.cells if other != head}
        return bool(codes - {"", self.reading.language})

    @property
    def conditions(self) -> list[str]:
        """Return the conditions it stands under: those of its groups, and its own."""
        rows = [*(group.row for group in self.reading.groups), self]
        return list(dict.fromkeys(filter(None, (row.get("relevant") for row in rows))))
