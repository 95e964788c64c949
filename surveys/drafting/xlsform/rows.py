"""What one row of an XLSForm asks: its kind, choices or bounds, its protection and its
condition; nothing unsaid.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from django.utils.translation import gettext as _, gettext_lazy

from surveys import languages
from surveys.design.calendars import CALENDARS
from surveys.design.models import FollowUps, Question
from surveys.drafting.drafts import QuestionDraft, QuestionTexts, untaken
from surveys.drafting.xlsform.columns import MEANT, NO, SCORES, YES, stem
from surveys.drafting.xlsform.expressions import (
    bounds_of,
    calendar_bounds_of,
    condition_of,
    range_of,
)
from surveys.drafting.xlsform.state import Choices, Reading, SheetRow
from surveys.form_words import Said, said_in
from surveys.plan.kinds import CODE, CONDITIONS, SCALE

IS_YES, IS_NO = {"yes", "y", "1", "true", "是"}, {"no", "n", "0", "false", "否"}
DECLINED = {
    "prefer not to say",
    "prefer not to answer",
    "rather not say",
    "refuse",
    "refused",
    "refuse to answer",
    "decline to answer",
    "no answer",
    "不愿回答",
    "不想回答",
    "拒绝回答",
    "拒答",
}
NO_POINT = {  # of a scale: what stands at its end and says nothing on it
    "don't know",
    "dont know",
    "do not know",
    "dk",
    "not sure",
    "unsure",
    "can't say",
    "no opinion",
    "not applicable",
    "does not apply",
    "n/a",
    "other",
    "不知道",
    "不清楚",
    "不确定",
    "说不清",
    "无意见",
    "不适用",
} | DECLINED
NO_POINT_CODE = re.compile("-?(7{2,}|8{2,}|9{2,}|9+[78])")  # which such a choice often has
END = re.compile("[\\w)\\]]$")  # of a stem that ends without a mark
SELECTS = ("select_one", "select_multiple")
DATES = {calendar.appearance for calendar in CALENDARS.values()}
NAME = re.compile("[^a-z0-9_]+")
ANSWER = re.compile("[a-z][a-z0-9_]{0,19}")
REFERENCE = re.compile(r"\$\{")
NAMED = re.compile(r"\$\{\s*([\w.-]+)\s*\}")
PIPED = gettext_lazy("An answer cannot be shown in another question’s text: take ${…} out.")
SMALLEST = Decimal("1e-9")  # part of an ε that a draft keeps


def read_question(row: SheetRow, kind: str, rest: str) -> bool:
    """Read a question; what is wrong with it is told, and it is not taken."""
    reading, question = row.reading, QuestionDraft()
    count = len(reading.form.problems)
    if _goes_with_group(row) or look_at_row(row, asks=True):
        return False
    texts = row.texts("label")
    if reading.language not in texts:
        row.problem("label", _("The question has no text."))
    choices = _read_kind(row, question, kind, rest)
    _read_protection(row, question)
    _read_way(row, question)
    if question.kind == SCALE and row.get("rr::wanted") == SCORES:
        _score(row, question)
    elif question.kind not in ("", "number"):
        for head, cell in row.cells.items():
            if stem(head) in ("rr::unit", "rr::wanted") and cell != "mean":
                row.remark(head, _("Left out: it is of numbers only."))
    _read_condition(row, question)
    is_taken = len(reading.form.problems) == count and row.number not in reading.refused
    if is_taken:
        _take(row, question, choices, texts)
    return is_taken


def _goes_with_group(row: SheetRow) -> bool:
    """Refuse a row whose group cannot be taken, which is named once: or its condition cannot."""
    reading = row.reading
    for at, group in enumerate(reading.groups):
        stated = group.row.get("relevant")
        if not stated or group.is_refused or _gone(reading, [stated]):
            continue
        if why := _no_condition(reading, [stated], condition_of(stated)):
            group.row.problem("relevant", why)
            reading.groups[at] = replace(group, is_refused=True)
    refused = next((group.row.number for group in reading.groups if group.is_refused), 0)
    if refused:
        reading.inside.setdefault(refused, []).append(row.number)
        reading.refused.add(row.number)
    return bool(refused)


def _gone(reading: Reading, conditions: list[str]) -> int:
    """Return the row of a question that was refused and that conditions name; 0 if none."""
    names = [name for each in conditions for name in NAMED.findall(each)]
    return next((at for name in names if (at := reading.untaken.get(name, 0))), 0)


def _score(row: SheetRow, question: QuestionDraft) -> None:
    """Make a scale whose mean is wanted the number that it is: its points count from 1."""
    if question.protection != "device" or question.may_decline or row.conditions:
        row.problem(
            "rr::wanted",
            _(
                "A scale can have only a mean if it is randomised, asked of everyone "
                "and without “Prefer not to say”."
            ),
        )
    question.kind, question.wanted = "number", "mean"
    question.least, question.most = 1, len(question.choices.splitlines())
    if question.codes and question.codes.split() != [f"{at + 1}" for at in range(question.most)]:
        row.remark_once(
            "rr::wanted",
            _("The names of these choices are not kept: the mean counts them from 1: %(names)s"),
            names=", ".join(question.codes.split())[:300],
        )
    question.codes = ""


def look_at_row(row: SheetRow, *, asks: bool = False) -> bool:
    """Refuse what a row means and cannot have here; name what only decorates it. Tell whether it
    has a cell that cannot be used.
    """
    if row.refuse_cells():
        return True
    row.say_marks()
    for head, cell in row.cells.items():
        first = stem(head)
        if first == "read_only" and cell.lower() not in NO:
            row.problem(head, _("What is only to be read is a note: write “note” as its type."))
        elif first in MEANT and first != "read_only":
            row.problem(
                head,
                _("Nothing is computed from answers: take this column out, or ask in another way."),
            )
        elif first in ("label", "hint") and REFERENCE.search(cell):
            row.problem(head, str(PIPED))
    if asks and row.get("required").lower() not in YES:
        row.remark_once(
            "required",
            _(
                "Every question has to be answered here. Offer “Prefer not to say” instead: write"
                " yes under rr::decline."
            ),
        )
    for word in row.get("appearance").split():
        if word not in ("likert", "table-list", *DATES):
            row.remark_once(
                "appearance", _("Left out: “%(word)s” only says how it looks."), word=word[:40]
            )
    return False


def _read_kind(row: SheetRow, question: QuestionDraft, kind: str, rest: str) -> Choices | None:
    """Read a question's kind with its bounds, or with its choices, which are returned."""
    taken = ("start", "end", "step") if kind == "range" else ()
    for name in re.findall(r"([^\s=;,]+)\s*=", row.get("parameters")):
        if name not in taken:
            row.remark("parameters", _("Left out: “%(name)s”."), name=name[:40])
    if kind in (*SELECTS, "range") and row.get("constraint"):
        row.problem(
            "constraint",
            _("Only numbers and months have limits. Take this out, or offer other choices."),
        )
    if kind in SELECTS:
        return _read_choices(row, question, kind, rest)
    if kind == "date" and not _calendar_named(row):
        row.problem(
            "type",
            _(
                "A day is too exact to protect well. Ask for the month (appearance month-year), "
                "or offer ranges as choices."
            ),
        )
    else:
        _read_bounds(row, question, kind)
    return None


def _calendar_named(row: SheetRow) -> str:
    """Return the kind of question whose calendar a date's appearance names, if one."""
    appearance = row.get("appearance")
    named = (kind for kind, calendar in CALENDARS.items() if calendar.appearance in appearance)
    return next(named, "")


def _read_bounds(row: SheetRow, question: QuestionDraft, kind: str) -> None:
    if kind == "range":
        column, bounds = "parameters", range_of(row.get("parameters"))
        reason = _("A range needs start and end as whole numbers, and a step of 1.")
    elif kind == "date":
        question.kind = _calendar_named(row)
        calendar = CALENDARS[question.kind]
        column, bounds = "constraint", calendar_bounds_of(row.get("constraint"), calendar)
        reason = str(calendar.no_bounds)
    else:
        column, bounds = "constraint", bounds_of(row.get("constraint"))
        reason = _("A number needs its least and its greatest value: write . >= 0 and . <= 120.")
    if bounds is None:
        row.problem(column, reason)
        return
    question.least, question.most = bounds
    if kind != "date":
        question.kind = "number"
        question.unit = row.texts("rr::unit").get(row.reading.language, "")
        row.refuse_long("rr::unit", question.unit, 40)


def _read_choices(row: SheetRow, question: QuestionDraft, kind: str, rest: str) -> Choices | None:
    """Read a question of choices: of one of the lists, which is returned, or of none."""
    reading = row.reading
    name, _space, more = rest.partition(" ")
    if more.strip().replace("_", " ").lower() in ("or other", "or specify other"):
        row.problem(
            "type",
            _(
                "“Other” with words of one’s own cannot be protected. Put “Something else” among "
                "the choices instead."
            ),
        )
        return None
    choices = reading.lists.get(name)
    if choices is None:
        reason = _("The sheet “choices” has no list “%(list)s”.")
    elif more:
        reason = _("Behind the list “%(list)s” there is “%(more)s”, which means nothing here.")
    else:
        reason = _list_problem(choices, reading.language)
    if reason or choices is None:
        row.problem("type", reason, list=name, more=more)
        return None
    own = _without_decline(row, question, choices)
    question.choices = "\n".join(own)
    matrix, lower = reading.matrix, {text.lower() for text in own}
    no, yes = map(str.lower, said_in(reading.language).usual["yes_no"])
    is_scale = 3 <= len(own) <= 11 and ("likert" in row.get("appearance") or bool(matrix))
    if kind == "select_multiple":
        question.kind = "multiple"
    elif len(own) == 2 and lower & {*IS_YES, yes} and lower & {*IS_NO, no}:
        question.kind, question.choices = "yes_no", ""
        _say_instead(row, choices.texts[:2], lambda own: own.usual["yes_no"][::-1])
    elif is_scale and not (strange := _no_points(own, choices)):
        question.kind = "likert"
        if matrix:
            question.group = matrix.name
            question.group_text = matrix.above.get(reading.language, "")
            matrix.row.refuse_long("label", question.group_text, 300)
    else:
        question.kind = "single"
        if is_scale:
            row.remark_once(
                "type",
                _("“%(choice)s” is not a point of a scale. It is asked as a question of choices."),
                choice=", ".join(strange)[:80],
            )
    _read_codes(row, question, choices)
    return choices


def _no_points(own: list[str], choices: Choices) -> list[str]:
    """Return those of a scale's choices, at its ends, that say nothing on it."""
    return [
        own[at]
        for at in (0, len(own) - 1)
        if _folded(own[at]) in NO_POINT or NO_POINT_CODE.fullmatch(choices.names[at])
    ]


def _folded(text: str) -> str:
    return text.lower().replace("’", "'").rstrip(" .")


def _read_codes(row: SheetRow, question: QuestionDraft, choices: Choices) -> None:
    """Read the names of a list's choices as their codes: as rr::codes says, or, where it says
    nothing, unless they only count. Say once of a list which names cannot be codes.
    """
    names = choices.names
    order = range(len(names))
    stated = row.get("rr::codes").lower()
    if stated not in ("", "choices", *YES, *NO):
        row.problem("rr::codes", _("Expected yes, no, or choices."))
    if question.kind == "yes_no":
        ours = {("yes", "no"), ("no", "yes"), ("1", "0"), ("0", "1")}
        is_ours = tuple(names[:2]) in ours and names[2:] in ([], ["decline"])
        is_ours &= _place(question, choices, names[0], row.reading.language) == (
            names[0] in ("yes", "1")
        )
    else:
        is_ours = names in ([f"c{at}" for at in order], [str(at) for at in order]) or (
            question.may_decline and names == [*(f"c{at}" for at in order[:-1]), "decline"]
        )
    if stated in NO or (is_ours and not stated):
        return
    ordered = sorted(names, key=lambda each: _place(question, choices, each, row.reading.language))
    if all(CODE.fullmatch(each) for each in names) and len(set(names)) == len(names):
        question.codes = "\n".join(ordered[: -1 if stated == "choices" else None])
    else:
        listed = SheetRow(row.reading, "choices", choices.row, {})
        text = _("The names of these choices are not kept, and files count them from 0: %(names)s")
        if question.kind == "yes_no":
            text = _(
                "The names of these choices are not kept. Files have no as 0, yes as 1: %(names)s"
            )
        listed.remark_once("name", text, names=", ".join(names)[:300])


def _begun(row: SheetRow, question: QuestionDraft, texts: dict[str, str]) -> dict[str, str]:
    """Return the texts of a question that stands in a table of a file and in none of the form:
    each begins with the table's.
    """
    matrix = row.reading.matrix
    if matrix is None or question.group:
        return texts
    text = _("Only scales of 3 to 11 points are in a table: this label begins each question of it.")
    matrix.row.remark_once("label", text, key=str(matrix.row.number))
    return {
        code: _joined(stem_of, text) if (stem_of := matrix.texts.get(code)) else text
        for code, text in texts.items()
    }


def _joined(first: str, then: str) -> str:
    return f"{first}{':' if END.search(first) else ''} {then}"


def _list_problem(choices: Choices, language: str) -> str:
    """Return what is wrong with a list; nothing if it can be chosen from."""
    if choices.wrong:
        return choices.wrong
    own = [texts.get(language, "") for texts in choices.texts]
    if not all(own):
        return _("A choice of the list “%(list)s” has no text.")
    names = [name for name in choices.names if name]
    if len(set(own)) < len(own) or len(set(names)) < len(names):
        return _("Two choices of the list “%(list)s” are the same.")
    if any(REFERENCE.search(text) for texts in choices.texts for text in texts.values()):
        return str(PIPED)
    return ""


def _without_decline(row: SheetRow, question: QuestionDraft, choices: Choices) -> list[str]:
    """Return the choices without the last one, if that is to say nothing: what is written under
    rr::decline decides, else its words.
    """
    stated = row.get("rr::decline").lower()
    if stated not in ("", *YES, *NO):
        row.problem("rr::decline", _("Expected yes or no."))
    own = [texts[row.reading.language] for texts in choices.texts]
    question.may_decline = (
        stated in YES
        if stated
        else _folded(own[-1])
        in {
            *DECLINED,
            _folded(said_in(row.reading.language).decline),
        }
    )
    if not question.may_decline:
        return own
    _say_instead(row, choices.texts[-1:], lambda own: [own.decline])
    return own[:-1]


def _say_instead(
    row: SheetRow, texts: list[dict[str, str]], usual: Callable[[Said], list[str]]
) -> None:
    """Say where every form's own words, in their order, stand in place of a file's."""
    for code in sorted({code for choice in texts for code in choice}):
        words = usual(said_in(code))
        written = [choice[code] for choice in texts if code in choice]
        if written != words:
            row.remark_once(
                "type",
                _("“%(found)s” is shown as “%(words)s”, as in every form."),
                found=", ".join(written)[:80],
                words=", ".join(words),
            )


def _read_protection(row: SheetRow, question: QuestionDraft) -> None:
    written = row.get("rr::epsilon")
    try:
        epsilon = Decimal(written or 1)
        is_epsilon = Decimal("0.01") <= epsilon <= 8 and not epsilon % SMALLEST
        question.epsilon = epsilon if written else None
    except InvalidOperation:  # no number, or one that cannot be compared
        is_epsilon = False
    if not is_epsilon:
        row.problem(
            "rr::epsilon",
            _("ε must be a number from 0.01 to 8; it is “%(found)s”."),
            found=written[:20],
        )
    question.protection = row.one_of(
        "rr::protection",
        Question.Protection.values,
        _("Expected device or publication."),
        default="device",
    )
    scores = [SCORES] if question.kind == SCALE else []
    wanted = [*Question.Wanted.values, *scores]
    question.wanted = row.one_of(
        "rr::wanted", wanted, _("Expected mean or distribution."), default="mean"
    ).replace(SCORES, "mean")


def _read_way(row: SheetRow, question: QuestionDraft) -> None:
    """Read what a question is sent in and stays in with others, and how much it matters."""
    question.together, question.drawn_in = row.get("rr::together"), row.get("rr::drawn_in")
    question.matters = row.one_of(
        "rr::matters",
        Question.Matters.values,
        _("Expected decisive, useful or nice; it is “%(found)s”."),
        default="useful",
    )
    for column, name in (("rr::drawn_in", question.drawn_in), ("rr::together", question.together)):
        if name and not ANSWER.fullmatch(name):
            row.problem(
                column,
                _("A name has small letters, digits and _, a letter first; it is “%(found)s”."),
                found=name[:20],
            )
    if not question.together:
        return
    is_one = question.kind in CONDITIONS and question.protection == "device"
    if not is_one or row.get("rr::wanted") == SCORES:
        row.problem(
            "rr::together",
            _("Only questions of one choice, changed on the device, can be sent as one answer."),
        )


def _read_condition(row: SheetRow, question: QuestionDraft) -> None:
    """Read on whose answer a question depends: its own condition, or that of its groups."""
    reading, stated = row.reading, row.conditions
    if not stated:
        return
    if gone := _gone(reading, stated):
        reading.going.setdefault(gone, []).append(row.number)
        reading.refused.add(row.number)
        return
    parsed = condition_of(stated[0]) if len(stated) == 1 else None
    name, answers = parsed or ("", [])
    other, choices = reading.named.get(name, (None, None))
    if why := _no_condition(reading, stated, parsed):
        row.problem("relevant", why)
    if why or other is None or choices is None:
        return
    if reading.form.texts.get("follow_ups") != FollowUps.SKIP:
        row.remark_once(
            "relevant",
            _(
                "Asked of everyone, with “Does not apply” among the answers, "
                "unless “Texts and terms” says that questions are skipped."
            ),
        )
    question.asked_if = other.name
    question.asked_if_answers = [
        _place(other, choices, answer, reading.language) for answer in answers
    ]


def _no_condition(reading: Reading, stated: list[str], parsed: tuple[str, list[str]] | None) -> str:
    """Return why a condition cannot be kept; nothing if it can."""
    for name in (name for each in stated for name in NAMED.findall(each)):
        other = reading.named.get(name)
        if other and other[0].kind == "multiple":
            return _(
                "It depends on “%(name)s”, where several may be ticked: only one answer can be a "
                "condition."
            ) % {"name": name}
        if other and other[0].kind not in CONDITIONS:
            return _("It depends on “%(name)s”, a number: only a choice can be a condition.") % {
                "name": name
            }
    if parsed is None:
        return _(
            "A condition can be on one question only, and can only ask for answers: "
            "${question} = 'answer' or selected(${question}, 'answer'), joined by “or”."
        )
    name, answers = parsed
    other = reading.named.get(name)
    is_known = name not in reading.doubled and other is not None and other[1] is not None
    if not is_known or not set(answers) <= set(other[1].names):  # type: ignore[index, union-attr]
        return _("It depends on “%(name)s”, which is not an earlier question with this answer.") % {
            "name": name
        }
    return ""


def _place(question: QuestionDraft, choices: Choices, answer: str, language: str) -> int:
    """Return the number of an answer as a Plan counts it: of yes or no, No is 0."""
    at = choices.names.index(answer)
    if question.kind == "yes_no" and at < 2:
        yes = said_in(language).usual["yes_no"][1].lower()
        return int(choices.texts[at][language].lower() in {*IS_YES, yes})
    return at


def _take(
    row: SheetRow, question: QuestionDraft, choices: Choices | None, texts: dict[str, str]
) -> None:
    """Put a question into the form, under a key of its own, with its texts in every language."""
    reading, own, wanted = row.reading, row.reading.language, row.get("name")
    question.name = free_name(reading, wanted)
    if question.name != wanted:
        row.remark("name", _("It is called “%(name)s” here."), name=question.name)
    helps, labels, units = _helps(row, question), row.texts("rr::label"), row.texts("rr::unit")
    short, texts = texts, _begun(row, question, texts)
    question.text, question.help = texts[own], helps[own]
    question.label = labels.get(own) or short[own][:80]
    row.refuse_long("label", question.text, 300)
    row.refuse_long("hint", question.help, 300)
    row.refuse_long("rr::label", question.label, 80)
    reading.form.questions.append(question)
    if wanted in reading.named:
        reading.doubled.add(wanted)
    reading.named[wanted] = (question, choices)
    for code in (code for code, said in helps.items() if said and code not in texts):
        row.remark(
            "hint",
            _("Left out: its question has no label in %(language)s."),
            language=languages.name(code),
        )
    for code in texts.keys() - {own}:
        content: QuestionTexts = {
            "text": texts[code],
            "label": labels.get(code) or short[code][:80],
            "help": helps.get(code, ""),
        }
        if choices is not None and question.choices:
            count = len(question.choices.splitlines())
            content["choices"] = [said.get(code, "") for said in choices.texts[:count]]
        if unit := units.get(code):
            content["unit"] = unit
        if question.group and (matrix := reading.matrix):
            content["group"] = matrix.above.get(code, "")
        translated = reading.form.translations.setdefault(code, {})
        translated.setdefault("questions", {})[question.name] = content


def _helps(row: SheetRow, question: QuestionDraft) -> dict[str, str]:
    """Return the help in each language: the notes and titles before the question, the hint of its
    table if that is none here, then its own.
    """
    notes, row.reading.notes = row.reading.notes, []
    for note in notes:
        if not set(note.conditions) <= set(row.conditions):
            note.row.problem(
                "relevant",
                _(
                    "It has a condition that the next question does not have: it would be shown "
                    "to all."
                ),
            )
    matrix = None if question.group else row.reading.matrix
    around = [matrix.hints] if matrix else []
    texts = [*(note.texts for note in notes), *around, row.texts("hint")]
    return {
        code: " ".join(said[code] for said in texts if said.get(code))
        for code in {row.reading.language, *(code for said in texts for code in said)}
    }


def free_name(reading: Reading, wanted: str) -> str:
    """Return a key for the question: small letters, digits and _, and no other question's."""
    name = NAME.sub("_", wanted.lower()).strip("_")[:20]
    name = name if name[:1].isalpha() else f"q_{name}"[:20].rstrip("_")
    return untaken(name, {question.name for question in reading.form.questions})
