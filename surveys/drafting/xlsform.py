"""Read an XLSForm into a draft's questions: all of it, or nothing and the reasons, with the row and column of each.

What has a counterpart here is taken. What only decorates or helps other programs is left out, and said. What would
change the meaning of the form if it were left out (a text, a place, a computation, a condition we cannot keep, a word
that is nearly one we know) is a problem: the file is refused, and the rest of it offered.
"""

import re
from typing import IO, Any

from django.utils.translation import gettext as _

from surveys.design.models import FollowUps, Study
from surveys.drafting import refusals
from surveys.drafting.columns import NO, YES, code_of, language_in, stem, texts_of
from surveys.drafting.reading import Choices, Found, Note, Reading, look_at_heads
from surveys.drafting.workbooks import SHEETS, Remark, Row, Sheets, Unreadable, place, remark, rows_of
from surveys.drafting.xlsform_row import NAME, look_at_row, read_question

__all__ = ["Found", "Remark", "read"]

GROUP = re.compile(r"(begin|end) (group|repeat|loop|lgroup|looped group)( over .*)?")
SELECT = re.compile(  # in all its spellings: select_one x, select one from x, select all that apply from x
    r"(?:add )?select[ _]?(?P<how>one|1|multiple|all that apply)(?: prompt using| from)? "
    r"(?P<list>(?!external|file|from).+)",
    re.IGNORECASE,
)
LONGEST = {"title": 120, "organisation": 120, "purpose": 600, "contact": 200}


def read(upload: IO[bytes]) -> Found:
    """Read a workbook; its problems say why nothing of it can be taken, if nothing can, and `rest` is what could."""
    try:
        sheets = rows_of(upload)
    except Unreadable as refusal:
        return Found(problems=refusal.remarks)
    return read_sheets(sheets)


def read_sheets(sheets: Sheets) -> Found:
    reading = _read_once(sheets)
    found = reading.found
    if found.problems:
        found.rest = None if reading.is_broken else _rest(sheets, reading)
        found.questions, found.translations = [], {}
    return found


def _rest(sheets: Sheets, first: Reading) -> Found | None:
    """Read again without what was refused, until the rest is taken. What goes with it is named with the others."""
    reading, problems = first, first.found.problems
    while reading.found.problems:
        if not reading.refused and not reading.dropped:
            return None
        sheets = _without(sheets, reading)
        reading = _read_once(sheets)
        if reading.is_broken or not reading.found.questions:
            return None
        problems += [each for each in reading.found.problems if each not in problems]
    rest = reading.found
    rest.remarks = [*problems, *rest.remarks]
    return rest


def _without(sheets: Sheets, reading: Reading) -> Sheets:
    """Return a form without the rows and columns that cannot be taken; the others keep their numbers."""
    kept: Sheets = {
        name: [{head: cell for head, cell in row.items() if (name, head) not in reading.dropped} for row in rows]
        for name, rows in sheets.items()
    }
    kept["survey"] = [{} if number in reading.refused else row for number, row in enumerate(kept["survey"], start=2)]
    return kept


def _read_once(sheets: Sheets) -> Reading:
    found, language = Found(), language_of(sheets)
    reading = Reading(found, language, {})
    reading.lists = lists_of(reading, sheets)
    _read_settings(reading, sheets)
    _refuse_other_languages(reading, sheets)
    for name in sheets:
        if name not in SHEETS:
            found.remarks.append(Remark(place(name), _("Left out: the form has nothing like it.")))
    for number, row in enumerate(sheets["survey"], start=2):
        look_at_heads(reading, "survey", number, row)
        _read_row(reading, number, row)
    _end(reading)
    return reading


def _end(reading: Reading) -> None:
    if reading.groups:
        reading.problem(reading.groups[-1]["row"], "type", _("This group is not ended."))
        reading.is_broken = True
    for note in reading.notes:
        reading.remark(note.row, "label", str(refusals.LONELY))
    if not reading.found.questions and not reading.found.problems:
        reading.found.problems.append(Remark(place("survey"), _("It asks nothing that could be asked here.")))


def language_of(sheets: Sheets) -> str:
    """Return the language that is the form's own: the default one if it is ours, else the first that is."""
    stated = code_of(_stated_language(sheets))
    heads = [head for row in sheets["survey"] for head in row if head.startswith("label::")]
    return stated or next((code for head in heads if (code := language_in(head, ""))), "en")


def _stated_language(sheets: Sheets) -> str:
    return next((row["default_language"] for row in sheets["settings"] if "default_language" in row), "")


def lists_of(reading: Reading, sheets: Sheets) -> dict[str, Choices]:
    """Return the lists that the questions can name; what of the sheet is in none of them is said."""
    found: dict[str, Choices] = {}
    used = {word for row in sheets["survey"] for word in row.get("type", "").split()}
    for number, row in enumerate(sheets["choices"], start=2):
        look_at_heads(reading, "choices", number, row)
        name = row.get("list_name", "")
        if row and name not in used:
            reading.remark_once(number, "list_name", _("Left out: no question uses this list."), "choices", of=name)
            continue
        if name:
            choices = found.setdefault(name, Choices())
            choices.names.append(row.get("name", ""))
            texts = texts_of(row, "label", reading.language)
            if not texts:
                reading.remark(number, "label", _("It has no text: its name is shown."), "choices")
            choices.texts.append(texts or {reading.language: row.get("name", "")})
    return found


def _read_settings(reading: Reading, sheets: Sheets) -> None:
    rows = [(number, row) for number, row in enumerate(sheets["settings"], start=2) if row]
    number, row = rows[0] if rows else (2, {})
    look_at_heads(reading, "settings", number, row)
    for later, _row in rows[1:]:
        reading.found.remarks.append(Remark(place("settings", later), _("Left out: only the first row counts.")))
    heads = {"title": "form_title", "contact": "rr::contact"}
    texts: dict[str, Any] = {"language": reading.language}
    for name, longest in LONGEST.items():
        said = {} if name == "contact" else texts_of(row, f"rr::{name}", reading.language)
        own = row.get(heads.get(name, ""), "") or said.pop(reading.language, "")
        if len(own) > longest:
            text = _("It is longer than %(most)s characters.") % {"most": longest}
            reading.problem(number, heads.get(name, f"rr::{name}"), text, "settings")
        elif own:
            texts[name] = own
        for code in set(said) - {reading.language}:
            reading.found.translations.setdefault(code, {})[name] = said[code]
    texts |= _follow_ups(reading, number, row)
    reading.found.title = texts.setdefault("title", row.get("form_id", "")[:120] or _("Imported form"))
    reading.found.texts = texts


def _follow_ups(reading: Reading, number: int, row: Row) -> dict[str, str]:
    said = row.get("rr::follow_ups", "")
    if said and said not in FollowUps.values:
        text = _("Expected everybody or skip; it is “%(found)s”.") % {"found": said[:20]}
        reading.problem(number, "rr::follow_ups", text, "settings")
    return {"follow_ups": said} if said in FollowUps.values else {}


def _refuse_other_languages(reading: Reading, sheets: Sheets) -> None:
    """A form whose own language is another, or in others only, cannot be asked; beside ours they are left out."""
    heads = {head for row in sheets["survey"] for head in row if stem(head) == "label"}
    ours = {head for head in heads if head != "label" and language_in(head, "")}
    stated = _stated_language(sheets)
    is_foreign = bool(stated) and stated.lower() != "default" and not code_of(stated)
    if heads and not ours and ("label" not in heads or is_foreign):
        text = _("Questions can be asked in English and Simplified Chinese; this form has neither.")
        reading.found.problems.append(remark("survey", 1, min(heads), text))
        reading.is_broken = True
    elif "label" in heads and is_foreign:
        text = _("Left out: questions can be asked in English and Simplified Chinese.")
        reading.problem(1, "label", text)


def _read_row(reading: Reading, number: int, row: Row) -> None:
    whole = " ".join(row.get("type", "").split())
    both = whole.lower().replace("_", " ")
    if (disabled := row.get("disabled", "no").lower()) in YES:
        return reading.remark(number, "disabled", _("Left out: it is disabled."))
    if disabled not in NO:
        reading.problem(number, "disabled", _("Expected yes or no."))
    if not both:
        return reading.problem(number, "type", _("It has no type.")) if row else None
    if group := GROUP.fullmatch(both):
        begins = group[1] == "begin"
        return _begin_group(reading, number, row, group[2]) if begins else _end_group(reading, number, group[2])
    if both in refusals.METADATA or whole.lower() in refusals.METADATA:
        return reading.remark(number, "type", str(refusals.METADATA_REASON))
    if both == "note":
        return _note(reading, number, row)
    kind, _sign, rest = whole.partition(" ")
    if select := SELECT.fullmatch(whole):
        kind = "select_one" if select["how"].lower() in ("one", "1") else "select_multiple"
        rest = select["list"]
    elif reason := refusals.reason_for(whole):
        _drop_notes(reading)
        if both.startswith("begin"):  # a group by what it wants to be: what stands in it depends on it
            reading.groups.append({"row": number, "kind": "", "name": "", "texts": {}, "relevant": "", "refused": True})
        return reading.problem(number, "type", reason)
    if not read_question(reading, number, row, kind.lower(), rest):
        _drop_notes(reading)
    return None


def _drop_notes(reading: Reading) -> None:
    """Refuse the notes before a question that is refused; a group's title waits for its next one."""
    for note in reading.notes:
        if not note.is_title:
            reading.problem(note.row, "type", str(refusals.BEFORE))
    reading.notes = [note for note in reading.notes if note.is_title]


def _note(reading: Reading, number: int, row: Row) -> None:
    look_at_row(reading, number, row, asks=False)
    texts = texts_of(row, "label", reading.language)
    hints = texts_of(row, "hint", reading.language)
    both = {code: " ".join(filter(None, (texts.get(code), hints.get(code)))) for code in texts | hints}
    reading.notes.append(Note(number, both, reading.conditions(row)))
    reading.remark(number, "type", _("Its text stands as help below the next question."))


def _begin_group(reading: Reading, number: int, row: Row, kind: str) -> None:
    """Begin a group: a table is a matrix, the title of any other stands as help below its first question."""
    is_refused = kind != "group"
    if is_refused:
        reading.problem(number, "type", str(refusals.REPEATED))
    else:
        look_at_row(reading, number, row, asks=False)
    is_matrix = "table-list" in row.get("appearance", "")
    texts = texts_of(row, "label", reading.language)
    name = NAME.sub("_", row.get("name", "m").lower()).strip("_")[:20] or "m"
    if texts and not is_matrix and not is_refused:
        reading.notes.append(Note(number, texts, [], is_title=True))
        reading.remark(number, "label", _("Groups are not shown: it stands as help below the first question."))
    group = {"row": number, "kind": kind, "name": _free(reading, name) if is_matrix else "", "texts": texts}
    reading.groups.append({**group, "relevant": row.get("relevant", ""), "refused": is_refused})


def _free(reading: Reading, name: str) -> str:
    """Return a name that no matrix before it has."""
    taken = {question.get("group") for question in reading.found.questions}
    return name if name not in taken else next(
        free for at in range(2, 1000) if (free := f"{name[:16]}_{at}") not in taken
    )  # fmt: skip


def _end_group(reading: Reading, number: int, kind: str) -> None:
    if not reading.groups:
        reading.problem(number, "type", _("It ends a group that was not begun."))
        reading.is_broken = True
        return
    group = reading.groups.pop()
    reading.notes = [note for note in reading.notes if note.row != group["row"]]
    if group["refused"]:
        reading.refused.add(number)
    elif group["kind"] != kind:
        reading.problem(number, "type", _("It ends a group of another kind than the one that was begun last."))
        reading.is_broken = True


def renamed(found: Found, study: Study) -> list[dict[str, Any]]:
    """Return the questions under keys that none of a study has, with the conditions that refer to them."""
    taken = set(study.questions.values_list("name", flat=True))
    names: dict[str, str] = {}
    for question in found.questions:
        name, number = question["name"], 1
        while name in taken:
            number += 1
            name = f"{question['name'][:17]}_{number}"
        taken.add(name)
        names[question["name"]] = name
    return [
        {**question, "name": names[question["name"]]}
        | ({"asked_if": names[question["asked_if"]]} if "asked_if" in question else {})
        for question in found.questions
    ]
