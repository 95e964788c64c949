"""Write a draft as an XLSForm: what other survey tools read, with ε and protection in columns of our own (rr::…).

Every cell is a text: what begins with = is no formula, whoever wrote it.
"""

from io import BytesIO
from typing import Any

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.worksheet.worksheet import Worksheet

from surveys.design import services
from surveys.design.models import FollowUps, Question, Study

NAMES = {"en": "English (en)", "zh-hans": "Chinese (zh)"}
COLUMNS = ("rr::epsilon", "rr::protection", "rr::wanted", "rr::decline", "rr::label", "rr::unit")
Row = dict[str, str]


def workbook_of(study: Study) -> bytes:
    """Return a draft as a workbook."""
    contents = {each.language: each.content for each in study.translations.all()}
    languages = [study.language, *(code for code in contents if code != study.language)]
    survey: list[Row] = []
    choices: list[Row] = []
    questions = list(study.questions.all())
    named = {question.name: question for question in questions}
    group = ""
    for question in questions:
        if question.group != group:
            survey += [{"type": "end group"}] * bool(group) + _begin(question, languages, contents)
            group = question.group
        survey.append(_row_of(question, named, languages, contents))
        choices += _choices_of(question, languages, contents)
    survey += [{"type": "end group"}] * bool(group)
    return written(survey, choices, _settings(study, contents))


def _settings(study: Study, contents: dict[str, Any]) -> Row:
    row = {
        "form_title": study.title,
        "form_id": study.slug,
        "default_language": NAMES[study.language],
        "rr::organisation": study.organisation,
        "rr::purpose": study.purpose,
        "rr::contact": study.contact,
        "rr::follow_ups": study.follow_ups if study.follow_ups != FollowUps.EVERYBODY else "",
    }
    for code, content in contents.items():
        row |= {f"rr::{key}::{code}": content.get(key, "") for key in ("title", "organisation", "purpose")}
    return row


def _begin(question: Question, languages: list[str], contents: dict[str, Any]) -> list[Row]:
    """Begin the matrix that a question stands in, if it does."""
    if not question.group:
        return []
    labels = _said(question, "group", question.group_text, languages, contents)
    return [{"type": "begin group", "name": question.group, "appearance": "table-list", **_columns("label", labels)}]


def _row_of(question: Question, named: dict[str, Question], languages: list[str], contents: dict[str, Any]) -> Row:
    text = _columns("label", _said(question, "text", question.text, languages, contents))
    hint = _columns("hint", _said(question, "help", question.help, languages, contents)) if question.help else {}
    own = {
        "rr::epsilon": f"{question.epsilon.normalize():f}",
        "rr::protection": question.protection,
        "rr::wanted": question.wanted,
        "rr::decline": "yes" if question.may_decline else "",
        "rr::label": question.label,
        "rr::unit": question.unit,
    }
    for code in languages[1:]:
        kept = contents[code].get("questions", {}).get(question.name, {})
        own |= {f"rr::label::{code}": kept.get("label", ""), f"rr::unit::{code}": kept.get("unit", "")}
    relevant = {"relevant": _relevant(question, named)} if question.asked_if in named else {}
    return {**_type_of(question), "name": question.name, "required": "yes", **text, **hint, **relevant, **own}


def _type_of(question: Question) -> Row:
    bounds = {"constraint": f". >= {question.least} and . <= {question.most}"}
    match question.kind:
        case "multiple":
            return {"type": f"select_multiple {question.name}"}
        case "number":
            return {"type": "integer", **bounds}
        case "month":
            first, last = (_day(months) for months in (question.least, question.most))
            bounds = {"constraint": f". >= date('{first}') and . <= date('{last}')"}
            return {"type": "date", "appearance": "month-year", **bounds}
        case "likert" if not question.group:
            return {"type": f"select_one {question.name}", "appearance": "likert"}
        case _:
            return {"type": f"select_one {question.name}"}


def _day(months: int | None) -> str:
    return f"{(months or 0) // 12:04d}-{(months or 0) % 12 + 1:02d}-01"


def _relevant(question: Question, named: dict[str, Question]) -> str:
    asked = named[question.asked_if]
    return " or ".join(f"${{{asked.name}}} = '{_key(asked, at)}'" for at in question.asked_if_answers)


def _key(question: Question, at: int) -> str:
    """Return a choice's name in the file."""
    if question.kind == "yes_no" and at < 2:
        return ("no", "yes")[at]
    return "decline" if _declines(question, at) else f"c{at}"


def _declines(question: Question, at: int) -> bool:
    """Tell whether an answer is “Prefer not to say”: the last, before “Not asked”."""
    return question.may_decline and at == len(question.options) - 1 - bool(question.asked_if)


def _choices_of(question: Question, languages: list[str], contents: dict[str, Any]) -> list[Row]:
    if question.kind in ("number", "month"):
        return []
    order = list(range(len(question.options) - bool(question.asked_if)))  # “Not asked” is nobody’s choice
    if question.kind == "yes_no":
        order[:2] = [1, 0]
    return [
        {"list_name": question.name, "name": _key(question, at), **_columns("label", texts)}
        for at in order
        for texts in (_choice(question, at, languages, contents),)
    ]


def _choice(question: Question, at: int, languages: list[str], contents: dict[str, Any]) -> dict[str, str]:
    """Return what a choice says in each language."""
    own, found = [line.strip() for line in question.choices.splitlines() if line.strip()], {}
    for place, code in enumerate(languages):
        if _declines(question, at):
            said = services.said_in(code).decline
        elif not own:
            said = services.said_in(code).usual[question.kind][at]
        elif place == 0:
            said = own[at]
        else:
            said = _at(contents[code].get("questions", {}).get(question.name, {}).get("choices", []), at)
        found[code] = said
    return found


def _at(texts: list[str], at: int) -> str:
    return texts[at] if at < len(texts) else ""


def _said(question: Question, key: str, own: str, languages: list[str], contents: dict[str, Any]) -> dict[str, str]:
    kept = {code: contents[code].get("questions", {}).get(question.name, {}).get(key, "") for code in languages[1:]}
    return {languages[0]: own, **kept}


def _columns(column: str, texts: dict[str, str]) -> Row:
    return {f"{column}::{NAMES[code]}": text for code, text in texts.items()}


def written(survey: list[Row], choices: list[Row], settings: Row) -> bytes:
    book = Workbook()
    first: Any = book.active
    first.title = "survey"
    _fill(first, survey)
    _fill(book.create_sheet("choices"), choices)
    _fill(book.create_sheet("settings"), [settings])
    stream = BytesIO()
    book.save(stream)
    return stream.getvalue()


def _fill(sheet: Worksheet, rows: list[Row]) -> None:
    """Write rows under the heads that any of them has, each cell as a text, without what XML cannot hold."""
    heads = list(dict.fromkeys(head for row in rows for head, said in row.items() if said or head == "type"))
    for column, head in enumerate(heads, start=1):
        for number, said in enumerate([head, *(row.get(head, "") for row in rows)], start=1):
            if said:
                cell = sheet.cell(number, column)
                cell.value, cell.data_type = ILLEGAL_CHARACTERS_RE.sub("", said), "s"
