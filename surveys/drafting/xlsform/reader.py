"""Read an XLSForm into a draft's questions: all of it, or nothing and the reasons, with the row and
column of each.

What has a counterpart here is taken. What only decorates or helps other programs is left out, and
said. What would change the meaning of the form if it were left out (a text, a place, a computation,
a condition we cannot keep, a word that is nearly one we know) is a problem: the file is refused,
and the rest of it offered.
"""

import re
from collections.abc import Set as AbstractSet
from typing import IO

import msgspec
from django.utils.translation import gettext as _, ngettext_lazy

from surveys import languages
from surveys.design.models import FollowUps
from surveys.design.texts import Stored
from surveys.drafting.drafts import untaken
from surveys.drafting.xlsform import refusals
from surveys.drafting.xlsform.columns import (
    NO,
    YES,
    code_of,
    is_used,
    language_in,
    no_words_in,
    stem,
    tag_of,
)
from surveys.drafting.xlsform.rows import NAME, look_at_row, read_question
from surveys.drafting.xlsform.state import (
    Choices,
    Group,
    ImportedForm,
    Note,
    Reading,
    SheetRow,
    label_and_hint,
)
from surveys.drafting.xlsform.workbooks import (
    SHEETS,
    Remark,
    Sheets,
    Unreadable,
    place,
    remark,
    rows_of,
    wrong_cell,
)

__all__ = ["ImportedForm", "Remark", "read"]

GROUP = re.compile(r"(begin|end) (group|repeat|loop|lgroup|looped group)( over .*)?")
# in all its spellings: select_one x, select one from x, select all that apply from x
SELECT = re.compile(
    r"(?:add )?select[ _]?(?P<how>one|1|multiple|all that apply)(?: prompt using| from)? "
    r"(?P<list>(?!external|file|from).+)",
    re.IGNORECASE,
)
ASKED = re.compile("[1-9][0-9]{0,2}")
GO_WITH_ANSWER = ngettext_lazy(
    "Row %(rows)s depends on its answer, and goes with it.",
    "Rows %(rows)s depend on its answer, and go with it.",
    "count",
)
GO_WITH_GROUP = ngettext_lazy(
    "Row %(rows)s is in this group, and goes with it.",
    "Rows %(rows)s stand in this group, and go with it.",
    "count",
)
MAX_LENGTHS = {"title": 120, "organisation": 120, "purpose": 600, "contact": 200}


def read(upload: IO[bytes]) -> ImportedForm:
    """Read a workbook; its problems say why nothing of it can be taken, if nothing can, and
    `rest` is what could.
    """
    try:
        sheets = rows_of(upload)
    except Unreadable as refusal:
        return ImportedForm(problems=[refusal.remark])
    return read_sheets(sheets)


def read_sheets(sheets: Sheets) -> ImportedForm:
    code_of.cache_clear()  # a language may have been installed
    reading = _read_once(sheets)
    form = reading.form
    if form.problems:
        form.rest = None if reading.is_broken else _rest(sheets, reading)
        form.questions, form.translations = [], {}
    return form


def _rest(sheets: Sheets, reading: Reading) -> ImportedForm | None:
    """Read again without what was refused, until the rest is taken. What goes with it is named
    with the others.
    """
    problems = reading.form.problems
    while reading.form.problems:
        if not reading.refused and not reading.dropped:
            return None
        sheets = _without(sheets, reading)
        reading = _read_once(sheets)
        if reading.is_broken or not reading.form.questions:
            return None
        problems += [problem for problem in reading.form.problems if problem not in problems]
    reading.form.remarks = [*problems, *reading.form.remarks]
    return reading.form


def _without(sheets: Sheets, reading: Reading) -> Sheets:
    """Return a form without the rows and columns that cannot be taken; the others keep their
    numbers.
    """
    taken: Sheets = {
        name: [
            {head: cell for head, cell in row.items() if (name, head) not in reading.dropped}
            for row in rows
        ]
        for name, rows in sheets.items()
    }
    for number in reading.refused:
        taken["survey"][number - 2] = {}
    return taken


def _read_once(sheets: Sheets) -> Reading:
    reading = Reading(ImportedForm(), language_of(sheets))
    form = reading.form
    _read_lists(reading, sheets)
    _read_settings(reading, sheets)
    _refuse_other_languages(reading, sheets)
    if reading.is_broken:
        form.problems = form.problems[-1:]
        return reading
    for name in sheets:
        if name not in SHEETS:
            form.remarks.append(Remark(place(name), _("Left out: the form has nothing like it.")))
    for row in reading.rows(sheets, "survey"):
        _read_row(row)
    if reading.groups:
        first = reading.groups[0].row
        reading.groups[-1].row.problem("type", _("This group is not ended."))
        reading.refused |= set(range(first.number, len(sheets["survey"]) + 2))
    _say_what_goes(reading)
    for note in reading.notes:
        note.row.remark("label", _("Left out: no question follows it."))
    if not form.questions and not form.problems:
        text = _("It asks nothing that could be asked here.")
        form.problems.append(Remark(place("survey"), text))
    return reading


def _say_what_goes(reading: Reading) -> None:
    """Name at each question, or group, that is refused those that go with it, in one line."""
    for gone, column, text in (
        (reading.going, "relevant", GO_WITH_ANSWER),
        (reading.inside, "type", GO_WITH_GROUP),
    ):
        for number, rows in gone.items():
            said = text % {"rows": ", ".join(map(str, rows)), "count": len(rows)}
            reading.form.problems.append(remark("survey", number, column, said))


def language_of(sheets: Sheets) -> str:
    """Return the language that is the form's own: the default one if it is ours, else the first
    that is. Labels beside Chinese ones that name no language are English.
    """
    heads = [head for row in sheets["survey"] for head in row if stem(head) == "label"]
    named = [code for head in heads if (code := language_in(head, ""))]
    if "label" in heads and set(named) == {"zh-hans"}:
        named = ["en"]
    languages = [code_of(_stated_language(sheets)), *named]
    return next(filter(None, languages), "en")


def _stated_language(sheets: Sheets) -> str:
    return next(
        (row["default_language"] for row in sheets["settings"] if "default_language" in row), ""
    )


def _read_lists(reading: Reading, sheets: Sheets) -> None:
    """Read the lists that the questions can name; what of the sheet is in none of them is said."""
    used = {word for row in sheets["survey"] for word in row.get("type", "").split()}
    for row in reading.rows(sheets, "choices"):
        name = row.get("list_name")
        if row.cells and name not in used:
            row.remark_once("list_name", _("Left out: no question uses this list."), key=name)
        elif name:
            texts = row.texts("label")
            if not texts:
                row.remark("label", _("It has no text: its name is shown."))
            row.say_marks()
            choices = reading.lists.setdefault(name, Choices(row=row.number))
            for head, cell in row.cells.items():
                if is_used("choices", head, reading.language) and (why := wrong_cell(cell)):
                    where = place("choices", row.number, head)
                    choices.wrong = choices.wrong or f"{where}: {why}"
            choices.names.append(row.get("name"))
            choices.texts.append(texts or {reading.language: row.get("name")})


def _read_settings(reading: Reading, sheets: Sheets) -> None:
    filled = [number for number, cells in enumerate(sheets["settings"], start=2) if cells]
    number = filled[0] if filled else 2
    row = SheetRow(reading, "settings", number, sheets["settings"][number - 2] if filled else {})
    row.look_at_heads()
    row.refuse_cells()
    row.say_marks()
    for later in filled[1:]:
        text = _("Left out: only the first row counts.")
        reading.form.remarks.append(Remark(place("settings", later), text))
    texts = reading.form.texts = {"language": reading.language}
    for name, longest in MAX_LENGTHS.items():
        head = "form_title" if name == "title" else f"rr::{name}"
        spoken = {} if name == "contact" else row.texts(f"rr::{name}")
        own = row.get(head) if name in ("title", "contact") else ""
        own = own or spoken.pop(reading.language, "")
        row.refuse_long(head, own, longest)
        if 0 < len(own) <= longest:
            texts[name] = own
        for code in spoken.keys() - {reading.language}:
            translated = reading.form.translations.setdefault(code, {})
            translated[name] = spoken[code]
    text = _("Expected everybody or skip; it is “%(found)s”.")
    follow_ups = row.one_of("rr::follow_ups", ["", *FollowUps.values], text)
    if follow_ups in FollowUps.values:
        texts["follow_ups"] = follow_ups
    asked = row.get("rr::asked")
    if ASKED.fullmatch(asked):
        texts["asked"] = asked
    elif asked:
        row.problem(
            "rr::asked",
            _("Expected how many questions each person is asked: 1 to 999; it is “%(found)s”."),
            found=asked[:20],
        )
    texts.setdefault("title", row.get("form_id")[:120] or _("Imported form"))


def _refuse_other_languages(reading: Reading, sheets: Sheets) -> None:
    """A form whose own language is another, or in others only, cannot be asked; beside ours they
    are left out.
    """
    heads = {head for row in sheets["survey"] for head in row if stem(head) == "label"}
    ours = {head for head in heads if head != "label" and language_in(head, "")}
    stated = _stated_language(sheets)
    is_foreign = bool(stated) and stated.lower() != "default" and not code_of(stated)
    if heads and not ours and ("label" not in heads or is_foreign):
        text = languages.problem(tag_of(stated or min(heads).removeprefix("label::")))
        reading.form.problems.append(remark("survey", 1, min(heads), text))
        reading.is_broken = True
    elif "label" in heads and is_foreign:
        SheetRow(reading, "survey", 1, {}).problem("label", no_words_in(stated))


def _read_row(row: SheetRow) -> None:
    whole = " ".join(row.get("type").split())
    lower = whole.lower().replace("_", " ")
    disabled = row.get("disabled", "no").lower()
    if disabled in YES:
        row.remark("disabled", _("Left out: it is disabled."))
        return
    if disabled not in NO:
        row.problem("disabled", _("Expected yes or no."))
    if why := wrong_cell(row.get("type")):
        row.problem("type", why)
        _refuse(row)
    elif not lower:
        if row.cells:
            row.problem("type", _("It has no type."))
    elif group := GROUP.fullmatch(lower):
        if group[1] == "begin":
            _begin_group(row, group[2])
        else:
            _end_group(row, group[2])
    elif lower in refusals.METADATA or whole.lower() in refusals.METADATA:
        row.remark("type", _("Left out: it would say who answered, from where or when."))
    elif lower == "note":
        _read_note(row)
    else:
        _read_asking(row, whole)


def _read_asking(row: SheetRow, whole: str) -> None:
    """Read a row that asks, or would: what cannot be asked is refused, with the notes before it."""
    reading = row.reading
    kind, _space, rest = whole.partition(" ")
    reason = ""
    if select := SELECT.fullmatch(whole):
        kind = "select_one" if select["how"].lower() in ("one", "1") else "select_multiple"
        rest = select["list"]
    else:
        reason = refusals.reason_for(whole)
    if reason:
        _refuse(row)
        if whole.lower().startswith("begin"):  # by what it wants to be, the rest of it depends
            reading.groups.append(Group(row, is_refused=True))
        row.problem("type", reason)
    elif not read_question(row, kind.lower(), rest):
        _refuse(row)


def _refuse(row: SheetRow) -> None:
    """Remember a question that is not taken, for those that depend on it; refuse its notes."""
    name = row.get("name")
    if name and name not in row.reading.named:
        row.reading.untaken[name] = row.number
    _drop_notes(row.reading)


def _drop_notes(reading: Reading) -> None:
    """Refuse the notes before a question that is refused; a group's title waits for its next
    one.
    """
    for note in reading.notes:
        if not note.is_title:
            note.row.problem(
                "type", _("It belongs to the question after it, which cannot be taken.")
            )
    reading.notes = [note for note in reading.notes if note.is_title]


def _read_note(row: SheetRow) -> None:
    look_at_row(row)
    both = label_and_hint(row.texts("label"), row.texts("hint"))
    row.reading.notes.append(Note(row, both, row.conditions))
    row.remark("type", _("Its text is shown as help below the next question."))


def _begin_group(row: SheetRow, kind: str) -> None:
    """Begin a group: a table is a matrix, the title of any other stands as help below its first
    question.
    """
    reading, name = row.reading, ""
    texts, hints = row.texts("label"), row.texts("hint")
    if kind != "group":
        row.problem(
            "type",
            _(
                "Questions are not repeated, because the number of repeats would "
                "reveal an answer. Ask each once."
            ),
        )
    else:
        look_at_row(row)
    if "table-list" in row.get("appearance"):
        name = NAME.sub("_", row.get("name", "m").lower()).strip("_")[:20] or "m"
        name = untaken(name, {question.group for question in reading.form.questions})
    elif (texts or hints) and kind == "group":
        reading.notes.append(Note(row, label_and_hint(texts, hints), [], is_title=True))
        row.remark(
            "label", _("Groups are not shown: its text is shown as help below the first question.")
        )
    reading.groups.append(Group(row, kind, name, texts, hints, is_refused=kind != "group"))


def _end_group(row: SheetRow, kind: str) -> None:
    reading = row.reading
    if not reading.groups:
        row.problem("type", _("It ends a group that was not begun."))
        return
    group = reading.groups.pop()
    if any(note.row is group.row for note in reading.notes):
        group.row.remark("label", _("Left out: no question of its group was taken."))
    reading.notes = [note for note in reading.notes if note.row is not group.row]
    if group.is_refused:
        reading.refused.add(row.number)
    elif group.kind != kind:
        row.problem("type", _("It ends a group of another kind than the one that was begun last."))
        reading.refused |= set(range(group.row.number, row.number + 1))


def renamed(form: ImportedForm, taken: AbstractSet[str]) -> ImportedForm:
    """Return a form's questions, and the answers that they are sent in, under keys that are not
    taken, with the conditions that refer to them.
    """
    names: dict[str, str] = {"": ""}
    answers, staying = names.copy(), names.copy()
    for question in form.questions:
        if question.drawn_in not in staying:
            there = taken | set(staying.values())
            staying[question.drawn_in] = untaken(question.drawn_in, there)
        names[question.name] = untaken(question.name, taken | set(names.values()))
        if question.together not in answers:
            there = taken | set(answers.values())
            answers[question.together] = untaken(question.together, there)
    questions = [
        msgspec.structs.replace(
            question,
            name=names[question.name],
            asked_if=names[question.asked_if],
            together=answers[question.together],
            drawn_in=staying[question.drawn_in],
        )
        for question in form.questions
    ]
    translations: dict[str, Stored] = {
        language: {
            "questions": {names[name]: said for name, said in texts.get("questions", {}).items()}
        }
        for language, texts in form.translations.items()
    }
    return ImportedForm(questions=questions, translations=translations)
