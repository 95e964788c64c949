"""Every text of other people's forms stands in the draft, or is named: nothing is lost in silence.

tests/data/cases holds the forms; what is in them is read here by openpyxl alone.
"""

from pathlib import Path

import pytest
from openpyxl import load_workbook

from surveys.drafting.xlsform import columns, reader, workbooks
from surveys.drafting.xlsform.markup import plain
from surveys.form_words import said_in

pytestmark = pytest.mark.django_db
CASES = Path(__file__).parents[2] / "data" / "cases"
FORMS = sorted([*(CASES / "forms").glob("*.xlsx"), *(CASES / "pyxform").glob("*.xlsx")])
TEXTS = {"label", "hint"}


def read(name):
    with (CASES / "forms" / f"{name}.xlsx").open("rb") as file:
        return reader.read(file)


def said(form):
    return [remark.text for remark in form.remarks]


def cells(path):
    """Yield each text of a form: sheet, row, head, the whole row, and the text."""
    book = load_workbook(path)
    named = {sheet.title.lower(): sheet for sheet in book.worksheets}
    if len(named) == 1:
        named = {"survey": book.worksheets[0]}
    for name in {"survey", "choices", "settings"} & named.keys():
        rows = [list(row) for row in named[name].iter_rows()]
        heads = [workbooks.head_of(" ".join(str(cell.value or "").split())) for cell in rows[0]]
        for row in rows[1:]:
            texts = {}
            for head, cell in zip(heads, row, strict=False):
                value = cell.value
                if head and value not in (None, "") and str(value).strip():
                    is_fixed = isinstance(value, int | float) and cell.number_format == "0.00"
                    whole = isinstance(value, float) and value.is_integer()
                    text = f"{value:.2f}" if is_fixed else str(int(value) if whole else value)
                    texts.setdefault(head, text.replace("\xa0", " "))
            for head, text in texts.items():
                is_text = columns.stem(head) in TEXTS or (name == "choices" and head == "name")
                if is_text or head == "form_title":
                    yield name, row[0].row, head, texts, text


def everything(form):
    """Return all that a draft says, its fixed words too, in one text."""
    parts = list(form.texts.values())
    for each in form.questions:
        parts += [each.text, each.help, each.label, each.choices, each.codes, each.group_text]
        parts += said_in("en").usual["yes_no"] + said_in("zh-hans").usual["yes_no"]
    parts += [str(form.translations)]
    return "\n".join(parts)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_text_of_a_form_stands_in_the_draft_or_in_a_remark(path):
    with path.open("rb") as file:
        whole = reader.read(file)
    form = whole.rest if whole.problems else whole
    if form is None:  # nothing is taken, and it is said why
        assert whole.problems
        assert whole.questions == []
        return
    spots = {each.spot for each in form.remarks if each.spot}
    # left out as a whole, or refused
    rows = {spot[:2] for spot in spots if spot[2] in ("type", "disabled")}
    rows |= {each.spot[:2] for each in whole.problems if each.spot}
    heads = {(sheet, head) for sheet, _row, head in spots if not columns.is_used(sheet, head, "en")}
    heads |= {(sheet, head) for sheet, row, head in spots if row == 1}
    lists = {  # named as a whole: left out, or their names are
        (first["list_name"], column)
        for sheet, row, column, first, _text in [*cells(path)]
        for column in ("list_name", "name")
        if sheet == "choices" and ("choices", row, column) in spots and "list_name" in first
    }
    there = everything(form) + "\n".join(each.text for each in form.remarks)
    lost = []
    for sheet, row, head, texts, text in cells(path):
        own = texts.get("list_name", "")
        is_named = (
            (sheet, row, head) in spots
            or (sheet, row, columns.stem(head)) in spots
            or (sheet, head) in heads
            or ((sheet, row) in rows and sheet == "survey" and not _taken(form, texts))
            or (own, "list_name") in lists
            or (sheet == "choices" and (head == "name" and (own, "name") in lists))
        )
        if not is_named and plain(text).text not in there and not _is_ours(sheet, head, text):
            lost.append((sheet, row, head, text))
    goes = ("depend", "in this group")
    gone = {
        row
        for each in form.remarks
        if any(word in each.text for word in goes)
        for row in _numbers(each.text)
    }
    assert [
        each for each in lost if (each[0], each[1]) not in {("survey", row) for row in gone}
    ] == []


def _taken(form, texts):
    """Tell whether a row of the survey is a question of the draft."""
    return any(
        texts.get("label") and plain(texts["label"]).text in each.text for each in form.questions
    )


def _numbers(text):
    return {int(word.strip(",")) for word in text.split() if word.strip(",").isdigit()}


def _is_ours(sheet, head, text):
    """Tell whether a choice's name says what the form's own files say."""
    return sheet == "choices" and head == "name" and text.lower() in ("yes", "no", "1", "0")


def test_a_table_of_yes_and_no_keeps_its_stem_and_its_hint():
    form = read("table_yesno")
    stem = "In the last 12 months, did you take any of these without a prescription?"
    assert [(each.kind, each.text, each.label, each.help) for each in form.questions] == [
        ("yes_no", f"{stem} {drug}", drug, "Think of parties too")
        for drug in ("Cannabis", "Cocaine", "Opioids")
    ]
    assert sum("begins each question" in text for text in said(form)) == 1


def test_what_says_nothing_on_a_scale_is_no_point_of_it_and_codes_are_kept():
    form = read("table_likert")
    assert {(each.kind, each.may_decline, each.choices) for each in form.questions} == {
        ("single", True, "Never\nSometimes\nOften\nDon’t know")
    }
    assert form.questions[0].text == "How often in the last 12 months did you take… Cannabis"
    assert {each.codes for each in form.questions} == {"1\n2\n3\n98\n99"}
    assert any("“Don’t know” is not a point of a scale" in text for text in said(form))
    assert any("“Refuse” is shown as “Prefer not to say”" in text for text in said(form))


def test_marks_are_shown_plainly_and_html_is_named():
    form = read("markdown")
    assert form.questions[0].text == "Do you smoke now?"
    assert form.questions[0].help == "See this (http://x.org)"
    assert form.questions[1].choices == "One\nTwo\nThree"
    assert 'HTML is not shown, and was taken out: <span style="color:red"> </span>' in said(form)


@pytest.mark.parametrize("text", ["2*3*4", "a_b_c", "a<b and c>d", "5 * 3 * 2", "Yes *", "x < 5"])
def test_signs_that_mark_nothing_stay(text):
    assert plain(text).text == text


def test_numbers_are_read_as_their_sheet_shows_them():
    assert read("i1_numeric_labels").questions[0].choices == "0.50\n1.00\n2.00\n10.00"


def test_a_formula_in_a_column_that_is_left_out_is_no_problem():
    form = read("odk_template")
    assert form.problems == []
    assert len(form.questions) == 1


def test_a_text_without_a_language_is_said_to_be_taken_as_the_forms():
    form = read("i2_plain_hint")
    assert form.questions[0].help == "Any tobacco"
    assert "This column names no language. Its texts are taken as 简体中文." in said(form)


def test_what_depends_on_a_question_that_is_refused_goes_with_it_in_one_line():
    form = read("cond")
    assert [each.name for each in form.rest.questions] == ["a", "b"]
    assert [each.spot for each in form.problems] == [("survey", 3, "relevant")] * 2
    assert form.problems[1].text == "Row 4 depends on its answer, and goes with it."


def test_dont_know_beside_yes_and_no_stays_a_choice():
    form = read("yndk")
    assert [(each.kind, each.choices) for each in form.questions] == [
        ("single", "Yes\nNo\nDon’t know"),
        ("yes_no", ""),
    ]
    assert form.questions[0].codes.split() == ["yes", "no", "dk"]


def test_other_languages_beside_ours_are_named():
    form = read("enfr")
    assert form.questions[0].text == "Do you smoke?"
    assert sum("The form has no words in" in text for text in said(form)) == 4


def test_questions_of_a_group_that_cannot_be_taken_are_one_line():
    path = CASES / "pyxform" / "attribute_columns_test.xlsx"
    with path.open("rb") as file:
        found = reader.read(file)
    group = [each.text for each in found.problems if each.spot[:2] == ("survey", 3)]
    assert group[0].startswith("A condition can be on one question only")
    assert group[1].startswith("Rows 11, 12, 13, 18, 21, ")
    assert group[1].endswith(" stand in this group, and go with it.")
    assert len(group) == 2
    assert sum("A condition can be" in each.text for each in found.problems) == 1
