"""Write a draft as an XLSForm: what other survey tools read, with ε and protection in columns of
our own (rr::…).

Every cell is a text: what begins with = is no formula, whoever wrote it.
"""

import itertools
import json
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from surveys import languages
from surveys.design.calendars import calendar_of
from surveys.design.models import FollowUps, Question, Study
from surveys.design.questions import is_scored
from surveys.drafting.drafts import QuestionTexts
from surveys.drafting.xlsform.columns import SCORES
from surveys.drafting.xlsform.workbooks import Row
from surveys.form_words import said_in

EXAMPLE = Path(__file__).with_name("example.json")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a draft, with its texts in the other languages that it is asked in."""

    question: Question
    translations: dict[str, QuestionTexts]

    def columns(self, column: str, key: str, own: str) -> Row:
        """Return a text in each language, in a column of its own."""
        texts = {self.question.study.language: own}
        texts |= {code: str(texts.get(key, "")) for code, texts in self.translations.items()}
        return labelled(column, texts)


def labelled(column: str, texts: dict[str, str]) -> Row:
    return {f"{column}::{named(code)}": text for code, text in texts.items()}


def named(tag: str) -> str:
    """Return a language as columns name it."""
    return f"{languages.english_name(tag)} ({tag})"


def workbook_of(study: Study) -> bytes:
    """Return a draft as a workbook."""
    translations = list(study.translations.exclude(language=study.language))
    asked = [
        Asked(
            question,
            {
                translation.language: translation.content.get("questions", {}).get(
                    question.name, {}
                )
                for translation in translations
            },
        )
        for question in study.questions.all()
    ]
    by_name = {entry.question.name: entry.question for entry in asked}
    survey: list[Row] = []
    for group, members in itertools.groupby(asked, key=lambda entry: entry.question.group):
        together = list(members)
        rows = [_row_of(entry, by_name) for entry in together]
        if group:
            title = together[0].columns("label", "group", together[0].question.group_text)
            begin = {"type": "begin group", "name": group, "appearance": "table-list", **title}
            rows = [begin, *rows, {"type": "end group"}]
        survey += rows
    settings = {
        "form_title": study.title,
        "form_id": study.slug,
        "default_language": named(study.language),
        "rr::organisation": study.organisation,
        "rr::purpose": study.purpose,
        "rr::contact": study.contact,
        "rr::follow_ups": study.follow_ups if study.follow_ups != FollowUps.EVERYBODY else "",
        "rr::asked": "" if study.asked is None else str(study.asked),
    }
    for translation in translations:
        for key in ("title", "organisation", "purpose"):
            settings[f"rr::{key}::{translation.language}"] = translation.content.get(key, "")
    choices = [row for entry in asked for row in _choices_of(entry)]
    return written(survey, choices, settings)


def _row_of(asked: Asked, named: dict[str, Question]) -> Row:
    question = asked.question
    row = {
        **_type_of(question),
        "name": question.name,
        "required": "yes",
        **asked.columns("label", "text", question.text),
    }
    if question.help:
        row |= asked.columns("hint", "help", question.help)
    if other := named.get(question.asked_if):
        row["relevant"] = " or ".join(
            f"${{{other.name}}} = '{_key(other, at)}'" for at in question.asked_if_answers
        )
    row |= {
        "rr::epsilon": f"{question.epsilon.normalize():f}",
        "rr::protection": question.protection,
        "rr::wanted": SCORES if is_scored(question) else question.wanted,
        "rr::decline": "yes" if question.may_decline else "",
        "rr::codes": _codes_of(question),
        "rr::label": question.label,
        "rr::unit": question.unit,
        "rr::together": question.together,
        "rr::drawn_in": question.drawn_in,
        "rr::matters": question.matters if question.matters != Question.Matters.USEFUL else "",
    }
    for code, texts in asked.translations.items():
        row[f"rr::label::{code}"] = str(texts.get("label", ""))
        row[f"rr::unit::{code}"] = str(texts.get("unit", ""))
    return row


def _type_of(question: Question) -> Row:
    if calendar := calendar_of(question):
        first, last = (calendar.first_day(at or 0) for at in (question.least, question.most))
        bounds = f". >= date('{first}') and . <= date('{last}')"
        return {"type": "date", "appearance": calendar.appearance, "constraint": bounds}
    match question.kind:
        case "multiple":
            return {"type": f"select_multiple {question.name}"}
        case "number" if not is_scored(question):
            bounds = f". >= {question.least} and . <= {question.most}"
            return {"type": "integer", "constraint": bounds}
        case "likert" | "number" if not question.group:
            return {"type": f"select_one {question.name}", "appearance": "likert"}
        case _:
            return {"type": f"select_one {question.name}"}


def _codes_of(question: Question) -> str:
    """Return which names of its choices are codes, for those of a question that has any."""
    codes = (question.codes or "").split()
    if not question.options or not codes:
        return "no" if question.options else ""
    return "yes" if len(codes) == len(question.options) - bool(question.asked_if) else "choices"


def _key(question: Question, at: int) -> str:
    """Return a choice's name in the file: its code, if it has one."""
    codes = (question.codes or "").split()
    if at < len(codes):
        return str(codes[at])
    if question.kind == "yes_no" and at < 2:
        return ("no", "yes")[at]
    if not _declines(question, at):
        return f"c{at}"
    return "decline" if "decline" not in codes else "declines"


def _declines(question: Question, at: int) -> bool:
    """Tell whether an answer is “Prefer not to say”: the last, before “Not asked”."""
    return question.may_decline and at == len(question.options) - 1 - bool(question.asked_if)


def _choices_of(asked: Asked) -> list[Row]:
    question = asked.question
    # “Not asked” is nobody’s choice
    order = list(range(len(question.options) - bool(question.asked_if)))
    if question.kind == "yes_no":
        order[:2] = [1, 0]
    return [
        {
            "list_name": question.name,
            "name": _key(question, at),
            **labelled("label", _choice(asked, at)),
        }
        for at in order
    ]


def _choice(asked: Asked, at: int) -> dict[str, str]:
    """Return what a choice says in each language."""
    question = asked.question
    codes = [question.study.language, *asked.translations]
    if _declines(question, at):
        return {code: said_in(code).decline for code in codes}
    own = [line.strip() for line in question.choices.splitlines() if line.strip()]
    if not own:
        return {code: said_in(code).usual[question.kind][at] for code in codes}
    texts = {question.study.language: own[at]}
    for code, translation in asked.translations.items():
        choices = translation.get("choices", [])
        texts[code] = choices[at] if at < len(choices) else ""
    return texts


def example() -> bytes:
    """Return a workbook with every kind of question that can be asked."""
    return written(**json.loads(EXAMPLE.read_text()))


def written(survey: list[Row], choices: list[Row], settings: Row) -> bytes:
    """Return sheets as a workbook: each cell as a text, without what XML cannot hold."""
    from openpyxl import Workbook  # here, for it takes a tenth of a second of every start
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = Workbook()
    book.remove(book.worksheets[0])
    for title, rows in (("survey", survey), ("choices", choices), ("settings", [settings])):
        sheet = book.create_sheet(title)
        filled = (head for row in rows for head, said in row.items() if said or head == "type")
        for column, head in enumerate(dict.fromkeys(filled), start=1):
            for number, said in enumerate([head, *(row.get(head, "") for row in rows)], start=1):
                if said:
                    cell = sheet.cell(number, column)
                    cell.value, cell.data_type = ILLEGAL_CHARACTERS_RE.sub("", said), "s"
    stream = BytesIO()
    book.save(stream)
    return stream.getvalue()
