"""What one row of an XLSForm asks: its kind, choices or bounds, its protection and its condition; nothing unsaid."""

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _

from surveys.design import services
from surveys.design.models import FollowUps, Language, Question
from surveys.drafting import refusals
from surveys.drafting.columns import MEANT, NO, YES, stem, texts_of
from surveys.drafting.conditions import bounds_of, condition_of, month_bounds_of
from surveys.drafting.reading import Choices, Reading
from surveys.drafting.workbooks import Row

IS_YES, IS_NO = {"yes", "y", "1", "true", "是"}, {"no", "n", "0", "false", "否"}
DECLINED = {"prefer not to say", "prefer not to answer", "不愿回答", "不想回答"}
NAME = re.compile("[^a-z0-9_]+")
REFERENCE = re.compile(r"\$\{")
SMALLEST = Decimal("1e-9")  # part of an ε that a draft keeps


def read_question(reading: Reading, number: int, row: Row, kind: str, rest: str) -> bool:
    """Read a question; what is wrong with it is told, and it is not taken."""
    count = len(reading.found.problems)
    look_at_row(reading, number, row, asks=True)
    if any(group["refused"] for group in reading.groups):
        reading.problem(number, "type", str(refusals.INSIDE))
    texts = texts_of(row, "label", reading.language)
    if reading.language not in texts:
        reading.problem(number, "label", _("The question has no text."))
    fields = _kind_of(reading, number, row, kind, rest)
    fields |= _protection_of(reading, number, row)
    _look_at_numbers(reading, number, row, fields)
    fields |= _condition(reading, number, row)
    if len(reading.found.problems) == count:
        _take(reading, number, row, fields, texts)
    return len(reading.found.problems) == count


def look_at_row(reading: Reading, number: int, row: Row, *, asks: bool) -> None:
    """Refuse what a row means and cannot have here; name what only decorates it."""
    for head, cell in row.items():
        first = stem(head)
        if first == "read_only" and cell.lower() not in NO:
            reading.problem(number, head, str(refusals.READ_ONLY))
        elif first in MEANT and first != "read_only":
            reading.problem(number, head, str(refusals.COMPUTED))
        elif first in ("label", "hint"):
            _look_at_text(reading, number, head, cell)
    if asks and row.get("required", "").lower() not in YES:
        reading.remark_once(number, "required", str(refusals.REQUIRED))
    _look_at_appearance(reading, number, row)


def _look_at_text(reading: Reading, number: int, head: str, cell: str) -> None:
    if REFERENCE.search(cell):
        reading.problem(number, head, str(refusals.PIPED))
    elif "\n" in cell:
        reading.remark_once(number, head, _("Its line breaks become spaces."))


def _look_at_appearance(reading: Reading, number: int, row: Row) -> None:
    for word in row.get("appearance", "").split():
        if word not in ("likert", "month-year", "table-list"):
            text = _("Left out: “%(word)s” only says how it looks.") % {"word": word[:40]}
            reading.remark_once(number, "appearance", text)


def _look_at_parameters(reading: Reading, number: int, row: Row, kept: tuple[str, ...]) -> None:
    for name in re.findall(r"([^\s=;,]+)\s*=", row.get("parameters", "")):
        if name not in kept:
            reading.remark(number, "parameters", _("Left out: “%(name)s”.") % {"name": name[:40]})


def _kind_of(reading: Reading, number: int, row: Row, kind: str, rest: str) -> dict[str, Any]:
    """Return the question's kind, and its choices or bounds."""
    _look_at_parameters(reading, number, row, ("start", "end", "step") if kind == "range" else ())
    if kind in ("select_one", "select_multiple", "range") and row.get("constraint"):
        reading.problem(number, "constraint", str(refusals.LIMITED))
    if kind in ("select_one", "select_multiple"):
        return _choices_of(reading, number, row, kind, rest)
    if row.get("appearance", "").find("month-year") < 0 and kind == "date":
        reading.problem(number, "type", str(refusals.DATE))
        return {}
    bounds, reason = _bounds(row, kind)
    if bounds is None:
        reading.problem(number, "parameters" if kind == "range" else "constraint", reason)
        return {}
    unit = texts_of(row, "rr::unit", reading.language).get(reading.language, "") if kind != "date" else ""
    _refuse_long(reading, number, "rr::unit", unit, 40)
    return {"kind": "month" if kind == "date" else "number", "least": bounds[0], "most": bounds[1], "unit": unit}


def _look_at_numbers(reading: Reading, number: int, row: Row, fields: dict[str, Any]) -> None:
    """Name what is said of numbers where none is asked for."""
    for head in row:
        is_of_number = stem(head) in ("rr::unit", "rr::wanted") and row[head] != "mean"
        if is_of_number and fields.get("kind", "number") != "number":
            reading.remark(number, head, _("Left out: it is of numbers only."))


def _bounds(row: Row, kind: str) -> tuple[tuple[int, int] | None, str]:
    if kind == "date":
        return month_bounds_of(row.get("constraint", "")), _(
            "A month needs its first and last one: write . >= date('2020-01-01') and . <= date('2025-12-31')."
        )
    if kind == "range":
        return _range_of(row), _("A range needs start and end as whole numbers, and a step of 1.")
    return bounds_of(row.get("constraint", "")), _(
        "A number needs its least and its greatest value: write . >= 0 and . <= 120."
    )


def _range_of(row: Row) -> tuple[int, int] | None:
    parameters = dict(re.findall(r"(\w+)\s*=\s*(-?[\d.]+)", row.get("parameters", "")))
    try:
        start, end, step = (int(parameters[name]) for name in ("start", "end", "step"))
    except (KeyError, ValueError):
        return None
    return (start, end) if step == 1 and start < end else None


def _choices_of(reading: Reading, number: int, row: Row, kind: str, rest: str) -> dict[str, Any]:
    name, _sign, more = rest.partition(" ")
    if more.strip().replace("_", " ").lower() in ("or other", "or specify other"):
        reading.problem(number, "type", str(refusals.OTHER))
        return {}
    if (reason := _list_problem(reading, name, more)) is not None:
        reading.problem(number, "type", reason % {"list": name, "more": more})
        return {}
    choices = reading.lists[name]
    return {"list": choices, **_kind_with_choices(reading, number, row, kind, choices)}


def _list_problem(reading: Reading, name: str, more: str) -> str | None:
    """Return what is wrong with a list, if anything is."""
    choices = reading.lists.get(name)
    if choices is None:
        return _("There is no list “%(list)s” in the sheet “choices”.")
    if more:
        return _("Behind the list “%(list)s” there is “%(more)s”, which means nothing here.")
    own = [texts.get(reading.language, "") for texts in choices.texts]
    if not all(own):
        return _("A choice of the list “%(list)s” has no text.")
    names = [each for each in choices.names if each]
    if len(set(own)) < len(own) or len(set(names)) < len(names):
        return _("Two choices of the list “%(list)s” are the same.")
    if any(REFERENCE.search(text) for texts in choices.texts for text in texts.values()):
        return str(refusals.PIPED)
    return None


def _kind_with_choices(reading: Reading, number: int, row: Row, kind: str, choices: Choices) -> dict[str, Any]:
    said = [texts[reading.language] for texts in choices.texts]
    declines = _declines(reading, number, row, said)
    own = said[:-1] if declines else said
    if declines:
        _say_instead(reading, number, choices.texts[-1:], {code: [_said(code).decline] for code in Language.values})
    fields: dict[str, Any] = {"may_decline": declines, "choices": "\n".join(own)}
    if kind == "select_multiple":
        return {**fields, "kind": "multiple"}
    if _is_yes_no(own):
        usual = {code: _said(code).usual["yes_no"][::-1] for code in Language.values}
        _say_instead(reading, number, choices.texts[:2], usual)
        return {**fields, "kind": "yes_no", "choices": ""}
    group = next((group for group in reversed(reading.groups) if group["name"]), None)
    if 3 <= len(own) <= 11 and ("likert" in row.get("appearance", "") or group):
        matrix = {"group": group["name"], "group_text": group["texts"].get(reading.language, "")} if group else {}
        return {**fields, "kind": "likert", **matrix}
    if group:
        reading.remark(number, "type", _("It stands outside of the table: only scales of 3 to 11 points are in one."))
    return {**fields, "kind": "single"}


def _declines(reading: Reading, number: int, row: Row, said: list[str]) -> bool:
    """Tell whether the last choice is to say nothing: what is written under rr::decline decides, else its words."""
    stated = row.get("rr::decline", "").lower()
    if stated not in ("", *YES, *NO):
        reading.problem(number, "rr::decline", _("Expected yes or no."))
    return bool(said) and (stated in YES if stated else said[-1].lower() in DECLINED)


def _say_instead(
    reading: Reading, number: int, texts: list[dict[str, str]], usual: dict[str, list[str]]
) -> None:  # fmt: skip
    """Say where every form's own words, in their order, stand in place of a file's."""
    for code, words in usual.items():
        found = [each[code] for each in texts if code in each]
        if found and found != words:
            said = {"found": ", ".join(found)[:80], "words": ", ".join(words)}
            reading.remark(number, "type", _("“%(found)s” is shown as “%(words)s”, as in every form.") % said)


def _said(code: str) -> Any:
    return services.said_in(code)


def _is_yes_no(own: list[str]) -> bool:
    plain = {text.lower() for text in own}
    return len(own) == 2 and bool(plain & IS_YES) and bool(plain & IS_NO)


def _protection_of(reading: Reading, number: int, row: Row) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if said := row.get("rr::epsilon", ""):
        try:
            epsilon = Decimal(said)
            if not (epsilon.is_finite() and Decimal("0.01") <= epsilon <= 8 and not epsilon % SMALLEST):
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
    stated = reading.conditions(row)
    if not stated:
        return {}
    parsed = condition_of(stated[0]) if len(stated) == 1 else None
    if parsed is None:
        reading.problem(number, "relevant", str(refusals.CONDITION))
        return {}
    asked, answers = parsed
    here, choices = reading.names.get(asked, ("", None))
    text = ""
    if choices is None or asked in reading.doubled or not set(answers) <= set(choices.names):
        text = _("It depends on “%(name)s”, which is no earlier question with this answer.")
    elif next(each for each in reading.found.questions if each["name"] == here)["kind"] == "multiple":
        text = _("It depends on “%(name)s”, where several may be ticked: only one answer can be a condition.")
    if text or choices is None:
        reading.problem(number, "relevant", text % {"name": asked})
        return {}
    if reading.found.texts.get("follow_ups") != FollowUps.SKIP:
        reading.remark_once(number, "relevant", str(refusals.ASKED_OF_ALL))
    return {"asked_if": here, "asked_if_answers": [_index(reading, here, choices, answer) for answer in answers]}


def _index(reading: Reading, here: str, choices: Choices, answer: str) -> int:
    """Return the number of an answer as a Plan counts it: of yes or no, No is 0."""
    at = choices.names.index(answer)
    question = next(each for each in reading.found.questions if each["name"] == here)
    if question["kind"] == "yes_no" and at < 2:
        return int(choices.texts[at][reading.language].lower() in IS_YES)
    return at


def _take(reading: Reading, number: int, row: Row, fields: dict[str, Any], texts: dict[str, str]) -> None:
    choices: Choices | None = fields.pop("list", None)
    own, wanted = reading.language, row.get("name", "")
    name = free_name(reading, wanted)
    if name != wanted:
        reading.remark(number, "name", _("It is called “%(name)s” here.") % {"name": name})
    helps = _helps(reading, row)
    labels = texts_of(row, "rr::label", own)
    for text, longest, column in ((texts[own], 300, "label"), (helps[own], 300, "hint"), (labels.get(own, ""), 80, "")):
        _refuse_long(reading, number, column or "rr::label", text, longest)
    label = labels.get(own) or texts[own][:80]
    reading.found.questions.append({"name": name, "text": texts[own], "help": helps[own], **fields, "label": label})
    if wanted in reading.names:
        reading.doubled.add(wanted)
    reading.names[wanted] = (name, choices)
    for code in Language.values:
        if code != own and code in texts:
            said = {"text": texts[code], "label": labels.get(code) or texts[code][:80], "help": helps[code]}
            _translate(reading, code, row, said, choices, reading.found.questions[-1])


def _refuse_long(reading: Reading, number: int, column: str, text: str, longest: int) -> None:
    if len(text) > longest:
        reading.problem(number, column, _("It is longer than %(most)s characters.") % {"most": longest})


def _helps(reading: Reading, row: Row) -> dict[str, str]:
    """Return the help in each language: the notes and titles before the question, then its hint."""
    notes, reading.notes = reading.notes, []
    for note in notes:
        if not set(note.conditions) <= set(reading.conditions(row)):
            reading.problem(note.row, "relevant", str(refusals.CONDITIONAL))
    hints = texts_of(row, "hint", reading.language)
    return {
        code: " ".join(filter(None, [*(note.texts.get(code, "") for note in notes), hints.get(code, "")]))
        for code in Language.values
    }


def _translate(
    reading: Reading, code: str, row: Row, said: dict[str, Any], choices: Choices | None, question: dict[str, Any]
) -> None:  # fmt: skip
    content = dict(said)
    if choices is not None and question["choices"]:
        kept = len(question["choices"].splitlines())
        content["choices"] = [texts.get(code, "") for texts in choices.texts[:kept]]
    if unit := texts_of(row, "rr::unit", reading.language).get(code, ""):
        content["unit"] = unit
    if question.get("group"):
        group = next(group for group in reversed(reading.groups) if group["name"])
        content["group"] = group["texts"].get(code, "")
    reading.found.translations.setdefault(code, {}).setdefault("questions", {})[question["name"]] = content


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
