"""Read an XLSForm into a draft's questions: all of it, or nothing and the reasons, with the row and column of each.

What has a counterpart here is taken. What only decorates or helps other programs is left out, and said. What would
change the meaning of the form if it were left out (a text, a place, a computation, a condition we cannot keep) is a
problem, and the file is refused whole.
"""

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import IO, Any

from django.utils.translation import gettext as _

from surveys.design.models import FollowUps, Language, Question, Study
from surveys.drafting import refusals
from surveys.drafting.conditions import bounds_of, condition_of, month_bounds_of
from surveys.drafting.workbooks import Remark, Row, Sheets, Unreadable, place, rows_of

__all__ = ["Found", "Remark", "read"]

MOST_PROBLEMS = 100  # that one answer lists
LANGUAGES = {"en": "en", "eng": "en", "english": "en", "zh": "zh-hans", "zh-hans": "zh-hans", "zh-cn": "zh-hans",
             "chinese": "zh-hans", "中文": "zh-hans", "简体中文": "zh-hans"}  # fmt: skip
YES, NO = {"yes", "y", "1", "true", "是"}, {"no", "n", "0", "false", "否"}
DECLINED = {"prefer not to say", "prefer not to answer", "不愿回答", "不想回答"}
KNOWN = {"type", "name", "label", "hint", "relevant", "constraint", "rr"}
SILENT = {
    "required",
    "appearance",
    "parameters",
}  # every question has to be answered, and looks as the form makes it look
MEANT = {"calculation", "choice_filter", "repeat_count", "trigger", "intent", "count"}
NAME = re.compile("[^a-z0-9_]+")
SELECT = re.compile(  # in all its spellings: select_one x, select one from x, select all that apply from x
    r"(?:add )?select[ _]?(?P<how>one|1|multiple|all that apply)(?: prompt using| from)? "
    r"(?P<list>(?!external|file|from).+)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Found:
    """What a file holds, and what is to be said of it."""

    title: str = ""
    texts: dict[str, Any] = field(default_factory=dict)
    questions: list[dict[str, Any]] = field(default_factory=list)
    translations: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[Remark] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)


@dataclass(slots=True)
class Choices:
    """A list of choices: their names, and what they say in each language."""

    names: list[str] = field(default_factory=list)
    texts: list[dict[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Reading:
    """What the reader knows while it goes down the rows."""

    found: Found
    language: str
    lists: dict[str, Choices]
    groups: list[dict[str, Any]] = field(default_factory=list)
    names: dict[str, tuple[str, Choices | None]] = field(default_factory=dict)  # in the file: here, and its choices
    notes: list[dict[str, str]] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    said_for_whom: bool = False

    def problem(self, row: int, column: str, text: str) -> None:
        if len(self.found.problems) < MOST_PROBLEMS:
            self.found.problems.append(Remark(place("survey", row, column), text))

    def remark(self, row: int, column: str, text: str) -> None:
        self.found.remarks.append(Remark(place("survey", row, column), str(text)))


def read(upload: IO[bytes]) -> Found:
    """Read a workbook; its problems say why nothing of it can be taken, if nothing can."""
    found = Found()
    try:
        sheets = rows_of(upload)
    except Unreadable as refusal:
        found.problems = refusal.remarks
        return found
    reading = Reading(found, language_of(sheets), lists_of(sheets))
    _read_settings(reading, sheets)
    _refuse_other_languages(reading, sheets)
    for number, row in enumerate(sheets["survey"], start=2):
        if row.get("type") and row.get("disabled", "").lower() not in ("yes", "true"):
            _read_row(reading, number, row)
    if reading.groups:
        group = reading.groups[-1]
        reading.problem(group["row"], "type", _("This group is not ended."))
    if not found.questions and not found.problems:
        found.problems.append(Remark(place("survey"), _("It asks nothing that could be asked here.")))
    if found.problems:
        found.questions, found.translations = [], {}
    return found


def language_of(sheets: Sheets) -> str:
    """Return the language that is the form's own: the default one if it is ours, else the first that is."""
    stated = code_of(next((row["default_language"] for row in sheets["settings"] if "default_language" in row), ""))
    if stated:
        return stated
    heads = [head for row in sheets["survey"] for head in row if head.startswith("label::")]
    return next((code for head in heads if (code := code_of(head.split("::")[1]))), "en")


def code_of(name: str) -> str:
    """Return our code of a language that a column names: “English (en)”, “Chinese (zh)”, “中文”."""
    plain = name.strip().lower()
    inside = re.search(r"\(([^)]+)\)\s*$", plain)
    words = [inside[1].strip()] if inside else []
    words += [plain, plain.partition("(")[0].strip()]
    return next((LANGUAGES[word] for word in words if word in LANGUAGES), "")


def texts_of(row: Row, column: str, language: str) -> dict[str, str]:
    """Return what a column says in each of our languages; without a language it is the form's own."""
    found: dict[str, str] = {}
    for head, cell in row.items():
        first, _sign, name = head.partition("::")
        if first == column and (code := code_of(name) if name else language):
            found.setdefault(code, " ".join(cell.split()))
    return found


def lists_of(sheets: Sheets) -> dict[str, Choices]:
    language = language_of(sheets)
    found: dict[str, Choices] = {}
    for row in sheets["choices"]:
        if name := row.get("list_name", ""):
            choices = found.setdefault(name, Choices())
            choices.names.append(row.get("name", ""))
            choices.texts.append(texts_of(row, "label", language) or {language: row.get("name", "")})
    return found


def _read_settings(reading: Reading, sheets: Sheets) -> None:
    row = next((row for row in sheets["settings"] if row), {})
    found = reading.found
    found.title = row.get("form_title", "") or row.get("form_id", "") or _("Imported form")
    texts = {"title": found.title[:120], "language": reading.language}
    for name, longest in (("organisation", 120), ("purpose", 600), ("contact", 200)):
        if said := row.get(f"rr::{name}", ""):
            texts[name] = said[:longest]
    if said := row.get("rr::follow_ups", ""):
        if said not in FollowUps.values:
            text = _("Expected everybody or skip; it is “%(found)s”.") % {"found": said[:20]}
            found.problems.append(Remark(place("settings", 2, "rr::follow_ups"), text))
        texts["follow_ups"] = said
    found.texts = texts
    for code in Language.values:
        if said := row.get(f"rr::title::{code}", ""):
            found.translations.setdefault(code, {})["title"] = said
        for name in ("organisation", "purpose"):
            if said := row.get(f"rr::{name}::{code}", ""):
                found.translations.setdefault(code, {})[name] = said


def _refuse_other_languages(reading: Reading, sheets: Sheets) -> None:
    """A form in other languages only cannot be asked; beside ours they are left out."""
    heads = {head for row in sheets["survey"] for head in row if head.startswith("label::")}
    others = sorted(head for head in heads if not code_of(head.partition("::")[2]))
    plain = any("label" in row for row in sheets["survey"])
    if others and not plain and len(others) == len(heads):
        text = _("Questions can be asked in English and Simplified Chinese; this form has neither.")
        reading.found.problems.append(Remark(place("survey", 1, others[0]), text))
    else:
        for head in others:
            text = _("Left out: questions can be asked in English and Simplified Chinese.")
            reading.found.remarks.append(Remark(place("survey", 1, head), text))


def _read_row(reading: Reading, number: int, row: Row) -> None:
    kind, _sign, rest = " ".join(row["type"].split()).partition(" ")
    both = f"{kind} {rest}".strip().lower().replace("_", " ")
    if both.startswith(("begin group", "begin repeat", "begin loop")):
        return _begin_group(reading, number, row, both)
    if both.startswith(("end group", "end repeat", "end loop")):
        if not reading.groups:
            return reading.problem(number, "type", _("It ends a group that was not begun."))
        reading.groups.pop()
        return None
    if kind.lower() in refusals.METADATA or both in refusals.METADATA:
        return reading.remark(number, "type", refusals.METADATA_REASON)
    if select := SELECT.match(" ".join(row["type"].split())):
        is_one = select["how"].lower() in ("one", "1")
        kind, rest = "select_one" if is_one else "select_multiple", select["list"]
    if kind.lower() == "note":
        reading.notes.append(texts_of(row, "label", reading.language))
        return reading.remark(number, "type", _("Its text stands as help below the next question."))
    if reason := refusals.reason_for(both):
        return reading.problem(number, "type", reason)
    return _read_question(reading, number, row, kind.lower(), rest)


def _begin_group(reading: Reading, number: int, row: Row, both: str) -> None:
    if not both.startswith("begin group"):
        reading.problem(number, "type", refusals.REPEATED)
    appearance = row.get("appearance", "") or row.get("control::appearance", "")
    is_matrix = "table-list" in appearance
    if row.get("label") and not is_matrix:
        reading.remark(number, "label", _("Left out: groups are not shown. Its questions are taken."))
    texts = texts_of(row, "label", reading.language)
    name = NAME.sub("_", row.get("name", "m").lower()).strip("_")[:20] or "m"
    matrix = name if is_matrix else ""
    group = {"row": number, "name": matrix, "texts": texts, "relevant": row.get("relevant", "")}
    reading.groups.append(group)


def _read_question(reading: Reading, number: int, row: Row, kind: str, rest: str) -> None:
    """Read a question; what is wrong with it is told, and it is not taken."""
    count = len(reading.found.problems)
    _look_at_columns(reading, number, row)
    texts = texts_of(row, "label", reading.language)
    if reading.language not in texts:
        reading.problem(number, "label", _("The question has no text."))
    fields = _kind_of(reading, number, row, kind, rest)
    fields |= _protection_of(reading, number, row)
    fields |= _condition(reading, number, row)
    if len(reading.found.problems) > count or not texts:
        return
    _take(reading, number, row, fields, texts)


def _look_at_columns(reading: Reading, number: int, row: Row) -> None:
    for head in row:
        first = head.partition("::")[0]
        if first in MEANT:
            reading.problem(number, head, refusals.COMPUTED)
        elif first not in KNOWN and first not in SILENT and head not in reading.left_out:
            reading.left_out.add(head)  # said once, where it first stands
            reading.remark(number, head, _("Left out: the form has nothing like it."))


def _kind_of(reading: Reading, number: int, row: Row, kind: str, rest: str) -> dict[str, Any]:
    """Return the question's kind, and its choices or bounds."""
    if kind in ("select_one", "select_multiple", "select1", "select"):
        return _choices_of(reading, number, row, kind, rest)
    if row.get("appearance", "").find("month-year") < 0 and kind == "date":
        reading.problem(number, "type", refusals.DATE)
        return {}
    if kind == "date":
        bounds = month_bounds_of(row.get("constraint", ""))
        reason = _("A month needs its first and last one: write . >= date('2020-01-01') and . <= date('2025-12-31').")
    elif kind == "range":
        bounds = _range_of(row)
        reason = _("A range needs start and end as whole numbers, and a step of 1.")
    else:
        bounds = bounds_of(row.get("constraint", ""))
        reason = _("A number needs its least and its greatest value: write . >= 0 and . <= 120.")
    if bounds is None:
        reading.problem(number, "parameters" if kind == "range" else "constraint", reason)
        return {}
    unit = {} if kind == "date" else {"unit": row.get("rr::unit", "")[:40]}
    return {"kind": "month" if kind == "date" else "number", "least": bounds[0], "most": bounds[1], **unit}


def _range_of(row: Row) -> tuple[int, int] | None:
    parameters = dict(re.findall(r"(\w+)\s*=\s*(-?[\d.]+)", row.get("parameters", "")))
    try:
        start, end, step = (int(parameters[name]) for name in ("start", "end", "step"))
    except (KeyError, ValueError):
        return None
    return (start, end) if step == 1 and start < end else None


def _choices_of(reading: Reading, number: int, row: Row, kind: str, rest: str) -> dict[str, Any]:
    name, _sign, more = rest.partition(" ")
    if more.strip().replace("_", " ") in ("or other", "or specify other"):
        reading.problem(number, "type", refusals.OTHER)
        return {}
    choices = reading.lists.get(name)
    if choices is None:
        text = _("There is no list “%(list)s” in the sheet “choices”.") % {"list": name}
        reading.problem(number, "type", text)
        return {}
    lacking = [at for at, texts in enumerate(choices.texts) if reading.language not in texts]
    if lacking:
        text = _("A choice of the list “%(list)s” has no text.") % {"list": name}
        reading.problem(number, "type", text)
        return {}
    return {"list": choices, **_kind_with_choices(reading, row, kind, choices)}


def _kind_with_choices(reading: Reading, row: Row, kind: str, choices: Choices) -> dict[str, Any]:
    said = [texts[reading.language] for texts in choices.texts]
    declines = bool(said) and (said[-1].lower() in DECLINED or row.get("rr::decline", "").lower() == "yes")
    own = said[:-1] if declines else said
    fields: dict[str, Any] = {"may_decline": declines, "choices": "\n".join(own)}
    if kind in ("select_multiple", "select"):
        return {**fields, "kind": "multiple"}
    if len(own) == 2 and {own[0].lower()} <= YES | NO and {text.lower() for text in own} & YES and _is_no(own):
        return {**fields, "kind": "yes_no", "choices": ""}
    appearance = row.get("appearance", "")
    group = next((group for group in reversed(reading.groups) if group["name"]), None)
    if len(own) >= 3 and len(own) <= 11 and ("likert" in appearance or group):
        matrix = {"group": group["name"], "group_text": group["texts"].get(reading.language, "")} if group else {}
        return {**fields, "kind": "likert", **matrix}
    return {**fields, "kind": "single"}


def _is_no(own: list[str]) -> bool:
    return bool({text.lower() for text in own} & NO)


def _protection_of(reading: Reading, number: int, row: Row) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if said := row.get("rr::epsilon", ""):
        try:
            epsilon = Decimal(said)
            if not (epsilon.is_finite() and Decimal("0.01") <= epsilon <= 8):
                raise InvalidOperation
            fields["epsilon"] = epsilon
        except InvalidOperation:
            text = _("ε must be a number from 0.01 to 8; it is “%(found)s”.") % {"found": said[:20]}
            reading.problem(number, "rr::epsilon", text)
    protection = row.get("rr::protection", "device")
    if protection not in Question.Protection.values:
        reading.problem(number, "rr::protection", _("Expected device or publication."))
    if (wanted := row.get("rr::wanted", "mean")) not in Question.Wanted.values:
        reading.problem(number, "rr::wanted", _("Expected mean or distribution."))
    return {**fields, "protection": protection, "wanted": wanted}


def _condition(reading: Reading, number: int, row: Row) -> dict[str, Any]:
    """Return on whose answer a question depends: its own condition, or that of the groups it stands in."""
    stated = [group["relevant"] for group in reading.groups if group["relevant"]]
    stated += [row["relevant"]] if row.get("relevant") else []
    if not stated:
        return {}
    parsed = condition_of(stated[0]) if len(set(stated)) == 1 else None
    if parsed is None:
        reading.problem(number, "relevant", refusals.CONDITION)
        return {}
    asked, answers = parsed
    here, choices = reading.names.get(asked, ("", None))
    if choices is None or not set(answers) <= set(choices.names):
        text = _("It depends on “%(name)s”, which is no earlier question with this answer.") % {"name": asked}
        reading.problem(number, "relevant", text)
        return {}
    if reading.found.texts.get("follow_ups") != FollowUps.SKIP and not reading.said_for_whom:
        reading.said_for_whom = True
        reading.remark(number, "relevant", refusals.ASKED_OF_ALL)
    return {"asked_if": here, "asked_if_answers": [_index(reading, here, choices, answer) for answer in answers]}


def _index(reading: Reading, here: str, choices: Choices, answer: str) -> int:
    """Return the number of an answer as a Plan counts it: of yes or no, No is 0."""
    at = choices.names.index(answer)
    question = next(each for each in reading.found.questions if each["name"] == here)
    if question["kind"] == "yes_no" and at < 2:
        return int(choices.texts[at][reading.language].lower() in YES)
    return at


def _take(reading: Reading, number: int, row: Row, fields: dict[str, Any], texts: dict[str, str]) -> None:
    choices: Choices | None = fields.pop("list", None)
    name = free_name(reading, row.get("name", ""))
    hints = texts_of(row, "hint", reading.language)
    notes, reading.notes = reading.notes, []
    helps = {
        code: " ".join(filter(None, [*(note.get(code, "") for note in notes), hints.get(code, "")]))
        for code in Language.values
    }
    labels = texts_of(row, "rr::label", reading.language) or {reading.language: row.get("rr::label", "")}
    own = reading.language
    for text, longest, column in ((texts[own], 300, "label"), (helps[own], 300, "hint")):
        if len(text) > longest:
            reading.problem(number, column, _("It is longer than %(most)s characters.") % {"most": longest})
    question = {"name": name, "text": texts[own], "help": helps[own], **fields}
    question["label"] = (labels.get(own) or texts[own])[:80]
    reading.found.questions.append(question)
    reading.names[row.get("name", "")] = (name, choices)
    for code in Language.values:
        if code != own and code in texts:
            _translate(reading, code, name, row, texts[code], helps[code], choices, fields)


def _translate(
    reading: Reading, code: str, name: str, row: Row, text: str, said: str, choices: Choices | None, fields: Row
) -> None:
    content: dict[str, Any] = {"text": text, "label": (row.get(f"rr::label::{code}", "") or text)[:80], "help": said}
    if choices is not None and fields["choices"]:
        kept = len(fields["choices"].splitlines())
        content["choices"] = [texts.get(code, "") for texts in choices.texts[:kept]]
    if unit := row.get(f"rr::unit::{code}", ""):
        content["unit"] = unit
    if fields.get("group"):
        group = next(group for group in reversed(reading.groups) if group["name"])
        content["group"] = group["texts"].get(code, "")
    reading.found.translations.setdefault(code, {}).setdefault("questions", {})[name] = content


def free_name(reading: Reading, wanted: str) -> str:
    """Return a key for the question: small letters, digits and _, and no other question's."""
    stem = NAME.sub("_", wanted.lower()).strip("_")[:20]
    stem = stem if stem[:1].isalpha() else f"q_{stem}"[:20].rstrip("_")
    taken = {question["name"] for question in reading.found.questions}
    number = 1
    name = stem
    while name in taken:
        number += 1
        name = f"{stem[:17]}_{number}"
    return name


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
