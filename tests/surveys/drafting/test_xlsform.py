"""XLSForms come in whole or not at all, and go out so that they come back as they were."""

import html
import re
from decimal import Decimal
from io import BytesIO

import pytest
from openpyxl import Workbook, load_workbook
from pyxform import aliases
from pyxform.xls2xform import convert

from dpengine.privacy import exponential_below
from surveys.design import documents
from surveys.design.drafts import new_draft
from surveys.design.models import Question, Study
from surveys.design.readiness import Readiness
from surveys.drafting.xlsform import columns, reader, workbooks, writer
from tests.surveys.drafting.conftest import COPIED, OFTEN, TEXTS

LISTS = [
    ("yn", "yes", "Yes"),
    ("yn", "no", "No"),
    ("abc", "a", "A"),
    ("abc", "b", "B"),
    ("abc", "c", "C"),
]
KEPT = (
    "name",
    "kind",
    "text",
    "help",
    "choices",
    "codes",
    "may_decline",
    "least",
    "most",
    "wanted",
    "protection",
    "epsilon",
    "group",
    "group_text",
    "asked_if",
    "asked_if_answers",
    "label",
    "unit",
)


def book(
    *rows,
    heads=("type", "name", "label", "relevant", "constraint", "appearance", "parameters"),
    settings=(),
    choices=(),
    sheets=(),
):
    made = Workbook()
    survey = made.active
    survey.title = "survey"
    for row in (heads, *rows):
        survey.append(row)
    listed = made.create_sheet("choices")
    for row in (("list_name", "name", "label"), *LISTS, *choices):
        listed.append(row)
    for row in settings:
        (
            made["settings"] if "settings" in made.sheetnames else made.create_sheet("settings")
        ).append(row)
    for name in sheets:
        made.create_sheet(name)
    stream = BytesIO()
    made.save(stream)
    stream.seek(0)
    return stream


def problems(*rows, **more):
    found = reader.read(book(*rows, **more))
    assert found.questions == []
    return [(remark.where, remark.text) for remark in found.problems]


def test_every_kind_of_question_is_taken():
    found = reader.read(BytesIO(writer.example()))
    assert found.problems == []
    kinds = [(question.name, question.kind) for question in found.questions]
    assert kinds == [
        ("copied", "yes_no"),
        ("how_often", "single"),
        ("helped", "multiple"),
        ("fair", "likert"),
        ("caught", "likert"),
        ("hours", "number"),
        ("began", "month"),
    ]
    assert found.questions[1].asked_if_answers == [1]
    assert found.translations["zh-hans"]["questions"]["copied"]["text"].startswith("您是否曾")


def test_an_export_is_a_form_for_pyxform_too_and_epsilon_survives(draft):
    exported = writer.workbook_of(draft)
    form = convert(xlsform=exported, pretty_print=False)
    assert "Have you copied in an exam?" in form.xform
    heads = [cell.value for cell in load_workbook(BytesIO(exported))["survey"][1]]
    assert {"rr::epsilon", "rr::protection"} <= set(heads)


def test_a_draft_comes_back_as_it_was(db):
    found = reader.read(BytesIO(writer.example()))
    first = new_draft(texts=TEXTS, questions=[question.fields() for question in found.questions])
    again = reader.read(BytesIO(writer.workbook_of(first)))
    assert again.problems == []
    second = new_draft(texts=TEXTS, questions=[question.fields() for question in again.questions])
    one, two = (
        list(Question.objects.filter(study=study).values(*KEPT)) for study in (first, second)
    )
    assert one == two


def test_a_label_that_looks_like_a_formula_leaves_as_a_text(db):
    study = new_draft(
        texts=TEXTS,
        questions=[{"kind": "yes_no", "text": "=HYPERLINK(1)", "label": "=1+1", "name": "q1"}],
    )
    sheet = load_workbook(BytesIO(writer.workbook_of(study)))["survey"]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row if cell.value} == {"s"}


@pytest.mark.parametrize(
    ("row", "column", "says"),
    [
        (("text", "q", "Say it"), "type", "own words cannot be protected"),
        (("geopoint", "q", "Where?"), "type", "place tells who answered"),
        (("decimal", "q", "How much?"), "type", "whole"),
        (("calculate", "q", ""), "type", "computed"),
        (("begin repeat", "q", "Again"), "type", "not repeated"),
        (("select_one abc or_other", "q", "Which?"), "type", "Something else"),
        (("select_one nothing", "q", "Which?"), "type", "no list “nothing”"),
        (("integer", "q", "How many?"), "constraint", "least and its greatest"),
        (
            ("integer", "q", "How many?", "", ". >= 5 and . <= 5"),
            "constraint",
            "least and its greatest",
        ),
        (("date", "q", "When?"), "type", "too exact"),
        (
            ("range", "q", "How many?", "", "", "", "start=0 end=1 step=0.1"),
            "parameters",
            "step of 1",
        ),
        (("select_one abc", "q", ""), "label", "no text"),
        (("select_one abc", "q", "Which?", "${age} > 18"), "relevant", "only ask for answers"),
        (
            ("select_one abc", "q", "Which?", "${later} = 'yes'"),
            "relevant",
            "not an earlier question",
        ),
        (("xyzzy plugh", "q", "What?"), "type", "The type “xyzzy plugh” cannot be asked here"),
        (("100% sure", "q", "What?"), "type", "The type “100% sure” cannot be asked here"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_row_and_column(row, column, says):
    found = problems(("select_one yn", "first", "First?"), row)
    where, text = found[0]
    assert where == f"sheet “survey”, row 3, column “{column}”"
    assert says in text


def test_all_problems_are_told_at_once():
    assert len(problems(("text", "a", "A"), ("geopoint", "b", "B"), ("integer", "c", "C"))) == 3


def test_what_only_decorates_is_left_out_and_said():
    rows = (
        ("start", "start", ""),
        ("note", "n", "Think back."),
        ("select_one yn", "q", "Did you?"),
    )
    found = reader.read(book(*rows))
    assert {remark.spot[0] for remark in found.remarks} == {"survey", "choices"}
    assert found.problems == []
    assert found.questions[0].help == "Think back."
    assert [remark.spot[1:] for remark in found.remarks if remark.spot[0] == "survey"] == [
        (2, "type"),
        (3, "type"),
        (4, "required"),
    ]


def test_groups_give_their_condition_to_their_questions_and_tables_become_matrices():
    rows = (
        ("select_one yn", "first", "First?"),
        ("begin group", "g", "", "${first} = 'yes'"),
        ("begin group", "m", "How much?", "", "", "table-list"),
        ("select_one abc", "one", "One"),
        ("select_one abc", "two", "Two"),
        ("end group",),
        ("end group",),
    )
    _first, *rest = reader.read(book(*rows)).questions
    assert {(each.kind, each.group, each.group_text, each.asked_if) for each in rest} == {
        ("likert", "m", "How much?", "first")
    }


TYPOS = [
    ("select_on yn", "select_one yn"),
    ("select_mutliple abc", "select_multiple abc"),
    ("interger", "integer"),
    ("intger", "integer"),
    ("dat", "date"),
    ("rang", "range"),
    ("nots", "note"),
    ("begin groop", "begin group"),
    ("integer yn", "integer"),
]


@pytest.mark.parametrize(("typed", "meant"), TYPOS)
def test_a_type_that_nobody_knows_is_named_and_never_becomes_another(typed, meant):
    found = problems((typed, "q", "Did you?", "", ". >= 0 and . <= 9"))
    assert found[0] == (
        "sheet “survey”, row 2, column “type”",
        f"Unknown type “{typed}”. Did you mean “{meant}”?",
    )


COLUMNS = [
    ("epsilon", "rr::epsilon"),
    ("rr::epsilom", "rr::epsilon"),
    ("rr::Epsilon", "rr::epsilon"),
    ("unit", "rr::unit"),
    ("protection", "rr::protection"),
    ("relevent", "relevant"),
    ("lable::English (en)", "label"),
    ("hintt", "hint"),
    ("constrain", "constraint"),
    ("choice_filtre", "choice_filter"),
    ("decline", "rr::decline"),
]


@pytest.mark.parametrize(("head", "meant"), COLUMNS)
def test_a_column_that_was_meant_to_be_another_is_named_with_it_and_the_rest_is_offered(
    head, meant
):
    found = reader.read(
        book(("select_one yn", "q", "Did you?", "0.5"), heads=("type", "name", "label", head))
    )
    assert (found.problems[0].where, found.problems[0].text) == (
        f"sheet “survey”, row 1, column “{head}”",
        f"Unknown column “{head}”. Did you mean “{meant}”?",
    )
    assert found.questions == []
    assert [question.name for question in found.rest.questions] == ["q"]
    assert found.rest.questions[0].epsilon is None


@pytest.mark.parametrize("head", sorted(columns.MEANT))
def test_a_column_that_is_known_was_not_meant_to_be_itself(head):
    heads = ("type", "name", "label", head)
    found = problems(("select_one yn", "q", "Did you?", "${a}"), heads=heads)
    assert [text for _where, text in found if "Did you mean" in text] == []
    assert len(found) == 1


FILLED = {"type": "select_one yn", "name": "q", "label": "Did you?", "required": "yes"}
# taken as they stand
UNSAID = {"type", "name", "label", "hint", "required", "rr::epsilon", "rr::label", "rr::unit"}


def pyxforms_columns():
    """Every column of the sheet "survey" that pyxform knows, and those of ours."""
    media = (
        "media::image",
        "media::audio::English (en)",
        "bind::calculate",
        "bind::readonly",
        "control::jr:count",
    )
    more = (
        "default",
        "guidance_hint",
        "choice_filter",
        "trigger",
        "parameters",
        "appearance",
        "disabled",
        "hint",
    )
    return sorted(
        {*aliases.survey_header, *media, *more, *columns.KEPT["survey"]}
        - {"command", "tag", "value", "caption"}
    )


@pytest.mark.parametrize("head", pyxforms_columns())
def test_every_column_of_the_standard_is_kept_or_named(head):
    """What a cell says changes what is taken, or is named with its row and column."""
    plain = reader.read(book(tuple(FILLED.values()), heads=tuple(FILLED)))
    row = {**FILLED, head: FILLED.get(head, "some = thing")}
    found = reader.read(book(tuple(row.values()), heads=tuple(row)))
    stands = workbooks.head_of(head)
    named = [
        remark
        for remark in found.problems + found.remarks
        if remark.spot and remark.spot[2] == stands
    ]
    assert named or found.questions != plain.questions or stands in FILLED


@pytest.mark.parametrize(
    ("rows", "heads", "says"),
    [
        (
            [("select_one yn", "q", "Did you?", ". = 'yes'")],
            ("constraint",),
            "Only numbers and months have limits",
        ),
        ([("select_one yn", "q", "Did you?", "yes")], ("read_only",), "only to be read is a note"),
        (
            [("select_one yn", "q", "Is ${x} true?", "")],
            ("hint",),
            "cannot be shown in another question",
        ),
        ([("select_one yn more", "q", "Did you?", "")], ("hint",), "means nothing here"),
        ([("select_one yn", "q", "Did you?", "perhaps")], ("rr::decline",), "Expected yes or no"),
        ([("select_one yn", "q", "Did you?", "x" * 81)], ("rr::label",), "longer than 80"),
        (
            [("integer", "q", "How many?", "x" * 41, ". > 0 and . < 9")],
            ("rr::unit", "constraint"),
            "longer than 40",
        ),
        ([("select_one yn", "q", "Did you?", "0.12345678901")], ("rr::epsilon",), "ε must be"),
        (
            [("select_one yn", "q", "Did you?", "Have you?")],
            ("label::English (en)",),
            "something else in the same",
        ),
        ([("", "q", "Did you?", "")], ("hint",), "no type"),
        (
            [
                ("select_multiple abc", "q", "Which?", ""),
                ("select_one yn", "r", "So?", "${q} = 'a'"),
            ],
            ("relevant",),
            "several may be ticked",
        ),
        (
            [
                ("select_one yn", "q", "Did you?", ""),
                ("select_one yn", "q", "Again?", ""),
                ("select_one yn", "r", "So?", "${q} = 'yes'"),
            ],
            ("relevant",),
            "not an earlier question",
        ),
        (
            [
                ("select_one yn", "q", "Did you?", ""),
                ("note", "n", "Then:", "${q} = 'yes'"),
                ("select_one yn", "r", "So?", ""),
            ],
            ("relevant",),
            "shown to all",
        ),
        (
            [
                (
                    "date",
                    "q",
                    "When?",
                    ". >= date('2020-01-01') and . <= date('2021-01-01') and . != "
                    "date('2020-05-01')",
                    "month-year",
                )
            ],
            ("constraint", "appearance"),
            "A month needs its first",
        ),
        (
            [
                ("begin group", "g", "", ""),
                ("select_one yn", "q", "Did you?", ""),
                ("end repeat", "", "", ""),
            ],
            ("hint",),
            "of another kind",
        ),
    ],
)
def test_what_would_change_a_meaning_is_refused(rows, heads, says):
    found = reader.read(book(*rows, heads=("type", "name", "label", *heads)))
    assert says in " ".join(remark.text for remark in found.problems)
    assert found.questions == []


@pytest.mark.parametrize(
    ("row", "heads", "says"),
    [
        (("select_one yn", "Q 1", "Did you?", ""), ("hint",), "It is called “q_1” here"),
        (("select_one yn", "q", "Did\nyou?", ""), ("hint",), "line breaks are left out"),
        (
            ("select_one yn", "q", "Did you?", "minimal"),
            ("appearance",),
            "“minimal” only says how it looks",
        ),
        (
            ("select_one yn", "q", "Did you?", "randomize=true"),
            ("parameters",),
            "Left out: “randomize”",
        ),
        (
            ("select_one yn", "q", "Did you?", "no"),
            ("required",),
            "Every question has to be answered",
        ),
        (
            ("select_one yn", "q", "Did you?", "Vous ?"),
            ("hint::Français (fr)",),
            "The form has no words in “fr” yet. A site admin can install them",
        ),
        (
            ("select_one yn", "q", "Did you?", "您曾否"),
            ("label::Chinese (Traditional)",),
            "The form has no words in “zh-hant” yet",
        ),
        (
            ("select_one no_first", "q", "Did you?", ""),
            ("hint",),
            "“No, Yes” is shown as “Yes, No”",
        ),
        (
            ("select_one refused", "q", "Did you?", "yes"),
            ("rr::decline",),
            "“I refuse” is shown as “Prefer not to say”",
        ),
    ],
)
def test_what_is_taken_otherwise_than_it_stands_is_said(db, row, heads, says):
    more = [
        ("no_first", "n", "No"),
        ("no_first", "y", "Yes"),
        *(("refused", text, text) for text in "AB"),
        ("refused", "c", "I refuse"),
    ]
    found = reader.read(book(row, heads=("type", "name", "label", *heads), choices=more))
    assert found.problems == []
    assert len(found.questions) == 1
    assert says in " ".join(remark.text for remark in found.remarks)


def test_settings_lists_and_sheets_that_are_not_taken_are_said():
    settings = (("form_title", "version", "style"), ("A form", "7", "pages"))
    found = reader.read(
        book(("select_one yn", "q", "Did you?"), settings=settings, sheets=("entities", "My notes"))
    )
    said = {(remark.where, remark.text.split(":")[0]) for remark in found.remarks}
    assert {
        ("sheet “settings”, row 2, column “version”", "Left out"),
        ("sheet “settings”, row 2, column “style”", "Left out"),
        ("sheet “choices”, row 4, column “list_name”", "Left out"),
        ("sheet “entities”", "Left out"),
        ("sheet “My notes”", "Left out"),
    } <= said


@pytest.mark.parametrize("head", ["label", "label::English (en)"])
def test_a_title_of_a_group_stands_as_help_below_its_first_question(head):
    rows = (("begin group", "g", "About exams"), ("select_one yn", "q", "Did you?"), ("end group",))
    found = reader.read(book(*rows, heads=("type", "name", head)))
    assert found.questions[0].help == "About exams"
    assert "shown as help" in " ".join(
        remark.text for remark in found.remarks if remark.spot[1] == 2
    )


def test_the_rest_holds_nothing_that_depended_on_what_is_refused():
    rows = (
        ("select_one yn", "kept", "Did you?"),
        ("text", "refused", "Say it"),
        ("note", "n", "About that:"),
        ("text", "too", "More"),
        ("begin repeat", "r", "Each"),
        ("select_one yn", "inside", "This one?"),
        ("end repeat",),
        ("select_on yn", "typo", "And?"),
        ("select_one yn", "after", "Then?", "${typo} = 'yes'"),
        ("select_one yn", "also", "Also?", "${kept} = 'yes'"),
    )
    found = reader.read(book(*rows))
    assert [question.name for question in found.rest.questions] == ["kept", "also"]
    assert [question.help for question in found.rest.questions] == ["", ""]
    assert {remark.spot[1] for remark in found.problems} == {3, 4, 5, 6, 9}
    assert [(each.spot[1], each.text) for each in found.problems[-2:]] == [
        (9, "Row 10 depends on its answer, and goes with it."),
        (6, "Row 7 is in this group, and goes with it."),
    ]
    assert {problem.text for problem in found.problems} <= {
        remark.text for remark in found.rest.remarks
    }


def test_no_rest_is_offered_where_nothing_is_left():
    assert reader.read(book(("text", "q", "Say it"))).rest is None


SEALED = re.compile(r'name="rest" value="([^"]+)"')
WHO = {
    "way": "file",
    "organisation": "Brightwater College",
    "purpose": "To learn.",
    "contact": "a@example.org",
}


def test_the_rest_is_imported_in_one_post_and_the_file_not_asked_for_again(ada):
    rows = book(
        ("select_one yn", "q", "Did you?", "0.5"),
        ("text", "r", "Say it"),
        heads=("type", "name", "label", "rr::epsilon"),
    )
    refused = ada.post("/studies/new/", {**WHO, "file": named(rows)}).content.decode()
    assert "Import the other question without these" in refused
    assert 'value="Brightwater College"' in refused
    assert not Study.objects.exists()
    rest = html.unescape(SEALED.search(refused)[1])
    asked = ada.post("/studies/new/", {"way": "file", "rest": rest})
    assert "write it here" in asked.content.decode()
    assert SEALED.search(asked.content.decode())
    assert not Study.objects.exists()
    answer = ada.post("/studies/new/", {**WHO, "rest": rest}, follow=True)
    assert [
        (question.name, str(question.epsilon.normalize())) for question in Question.objects.all()
    ] == [("q", "0.5")]
    assert "own words cannot be protected" in answer.content.decode()


def test_the_rest_is_added_to_a_draft_and_nothing_forged_is(editor, draft):
    address = f"/studies/{draft.slug}/build/import/"
    rows = book(("select_one yn", "more", "More?"), ("text", "r", "Say it"))
    rest = html.unescape(
        SEALED.search(editor.post(address, {"file": named(rows)}).content.decode())[1]
    )
    before = draft.questions.count()
    forged = editor.post(address, {"rest": rest[:-1] + "x"})
    assert "choose the file again" in forged.content.decode()
    assert "Choose a file" in editor.post(address, {"rest": ""}).content.decode()
    assert draft.questions.count() == before
    assert editor.post(address, {"rest": rest}).status_code == 302
    assert draft.questions.count() == before + 1


@pytest.mark.parametrize("epsilon", ["-1", "0", "nan", "inf", "1e9", "much", "8.5"])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    heads = ("type", "name", "label", "rr::epsilon")
    assert "ε must be" in problems(("select_one yn", "q", "Did you?", epsilon), heads=heads)[0][1]


def test_epsilon_is_read_from_a_column_of_bind_too():
    heads = ("type", "name", "label", "bind::rr:epsilon")
    found = reader.read(book(("select_one yn", "q", "Did you?", "0.5"), heads=heads))
    assert str(found.questions[0].epsilon) == "0.5"


def test_a_form_in_other_languages_only_is_refused(db):
    heads = ("type", "name", "label::Français (fr)")
    told = problems(("select_one yn", "q", "Oui?"), heads=heads)[0][1]
    assert told.startswith("The form has no words in “fr” yet. A site admin can install them: ")


LONG = "x" * 3000


@pytest.mark.parametrize(
    ("refused", "says"),
    [
        (lambda: BytesIO(b"not a workbook"), "not a workbook. Save it as .xlsx"),
        (lambda: BytesIO(b""), "not a workbook"),
        (lambda: BytesIO(b"PK\x03\x04 cut short"), "damaged"),
        (lambda: BytesIO(b"\xd0\xcf\x11\xe0" + b"\0" * 600), "an .xls workbook, or has a password"),
        (lambda: BytesIO(b"P" * (workbooks.MAX_FILE_BYTES + 1)), "larger than 2 MB"),
        (lambda: book(sheets=[f"s{at}" for at in range(49)]), "more than 50 sheets"),
        (lambda: book(*[["note", "n", LONG * 10]] * 300), "more than a form needs"),
        (lambda: book(("=1+1", "q", "Did you?")), "formula"),
        (lambda: book(("select_one yn", "q", LONG)), "longer than 2000"),
        (
            lambda: book(*[("select_one yn", f"q{number}", "Did you?") for number in range(1200)]),
            "more than 1000 rows",
        ),
        (lambda: book(("select_one yn", "q", *[""] * 120, "far")), "more than 120 columns"),
        (lambda: book(), "no sheet “survey” with rows"),
    ],
)
def test_a_hostile_or_broken_file_is_refused_in_plain_words(refused, says):
    found = reader.read(refused())
    assert found.questions == []
    assert says in found.problems[0].text


def test_a_refused_file_leaves_no_draft_and_an_accepted_one_makes_its_reader_the_owner(ada, now):
    answer = ada.post(
        "/studies/new/", {"way": "file", "file": named(book(("text", "q", "Say it")))}
    )
    assert answer.status_code == 400
    assert "row 2" in answer.content.decode()
    assert not Study.objects.exists()
    answer = ada.post("/studies/new/", {"way": "file", "file": named(BytesIO(writer.example()))})
    assert answer.status_code == 302
    study = Study.objects.get()
    assert study.translations.get().language == "zh-hans"
    assert (study.person, study.is_planned, study.expected) == (2, True, 300)
    assert documents.compose(study).loss <= exponential_below(Decimal(2)), (
        "and no more than 88 : 12"
    )
    assert Readiness(Study.objects.get()).problems(now) == []


def test_what_a_file_does_not_say_is_asked_for_at_its_field(ada):
    fields = {"way": "file", "organisation": "Brightwater College", "purpose": "To learn."}
    rows = book(("select_one yn", "q", "Did you?"))
    answer = ada.post("/studies/new/", {**fields, "file": named(rows)})
    assert 'id="id_contact_error"' in answer.content.decode()
    assert not Study.objects.exists()
    rows.seek(0)
    fields |= {"contact": "a@example.org", "expected": "50"}
    assert ada.post("/studies/new/", {**fields, "file": rows}).status_code == 302
    assert (Study.objects.get().expected, Study.objects.get().smallest_batch) == (50, 25)


def test_a_file_of_too_many_questions_makes_no_draft_and_says_so(ada):
    rows = book(*[("select_one yn", f"q{number}", "Did you?") for number in range(61)])
    texts = {
        "organisation": "Brightwater College",
        "purpose": "To learn.",
        "contact": "a@example.org",
    }
    answer = ada.post("/studies/new/", {"way": "file", **texts, "file": named(rows)})
    assert answer.status_code == 400
    assert "at most 60 questions; this one would have 61" in answer.content.decode()
    assert not Study.objects.exists()


def test_a_control_character_in_a_text_leaves_no_form_that_cannot_be_exported(draft, editor):
    draft.title = "Exam\x01 honesty\x0b"
    draft.save()
    answer = editor.get(f"/studies/{draft.slug}/build/form.xlsx")
    assert answer.status_code == 200
    assert reader.read(BytesIO(answer.content)).texts["title"] == "Exam honesty"


def test_questions_added_to_a_draft_get_keys_of_their_own(editor, draft):
    rows = (
        ("select_one yn", "copied", "Again?"),
        ("select_one abc", "more", "Which?", "${copied} = 'yes'"),
    )
    address = f"/studies/{draft.slug}/build/import/"
    assert editor.post(address, {"file": named(book(*rows))}).status_code == 302
    assert draft.questions.get(name="more").asked_if == "copied_2"


def named(stream):
    stream.name = "form.xlsx"
    return stream


CONDITIONAL = (
    ("select_one yn", "first", "First?"),
    ("select_one abc", "more", "Which?", "${first} = 'yes'"),
)


def test_whom_a_form_passes_over_is_kept_only_if_it_says_so_and_is_told_once():
    found = reader.read(book(*CONDITIONAL, ("select_one abc", "again", "And?", "${first} = 'yes'")))
    (told,) = [remark for remark in found.remarks if "relevant" in remark.where]
    assert told.where == "sheet “survey”, row 3, column “relevant”"
    assert "with “Does not apply” among the answers" in told.text
    found = reader.read(book(*CONDITIONAL, settings=(("rr::follow_ups",), ("skip",))))
    assert not [remark for remark in found.remarks if "relevant" in remark.where]
    assert found.texts["follow_ups"] == "skip"
    assert problems(*CONDITIONAL, settings=(("rr::follow_ups",), ("some",))) == [
        (
            "sheet “settings”, row 2, column “rr::follow_ups”",
            "Expected everybody or skip; it is “some”.",
        )
    ]


@pytest.mark.parametrize("follow_ups", ["everybody", "skip"])
def test_whom_a_study_passes_over_comes_back_from_its_own_file(db, follow_ups):
    texts = {**TEXTS, "follow_ups": follow_ups}
    found = reader.read(BytesIO(writer.workbook_of(new_draft(texts=texts, questions=[COPIED]))))
    assert found.texts.get("follow_ups", "everybody") == follow_ups


def test_how_many_questions_each_person_is_asked_comes_back_from_its_own_file(db):
    draft = new_draft(texts={**TEXTS, "asked": 1}, questions=[COPIED])
    found = reader.read(BytesIO(writer.workbook_of(draft)))
    assert found.texts["asked"] == "1"
    again = new_draft(texts={**TEXTS, **found.texts}, questions=[COPIED])
    again.refresh_from_db()
    assert again.asked == 1
    draft.asked = None
    assert "asked" not in reader.read(BytesIO(writer.workbook_of(draft))).texts


@pytest.mark.parametrize("asked", ["0", "some", "1.5", "-1", "1000"])
def test_what_is_no_number_of_questions_is_refused(asked):
    (found,) = problems(*CONDITIONAL, settings=(("rr::asked",), (asked,)))
    assert found == (
        "sheet “settings”, row 2, column “rr::asked”",
        f"Expected how many questions each person is asked: 1 to 999; it is “{asked}”.",
    )


def test_what_is_sent_as_one_answer_and_matters_comes_back_from_its_own_file(db):
    questions = [
        {**COPIED, "together": "habits", "matters": "decisive"},
        {**COPIED, "name": "caught", "together": "habits"},
        {**COPIED, "name": "late", "drawn_in": "evening"},
    ]
    draft = new_draft(texts=TEXTS, questions=questions)
    found = reader.read(BytesIO(writer.workbook_of(draft)))
    assert [(each.together, each.matters) for each in found.questions] == [
        ("habits", "decisive"),
        ("habits", "useful"),
        ("", "useful"),
    ]
    assert [each.drawn_in for each in found.questions] == ["", "", "evening"]
    assert found.problems == []
    again = reader.renamed(found, {"habits", "evening"})
    assert [each.together for each in again.questions] == ["habits_2", "habits_2", ""]
    assert [each.drawn_in for each in again.questions] == ["", "", "evening_2"]


def test_what_is_declined_as_one_comes_back_from_its_own_file(db):
    own = {**COPIED, "together": "habits", "may_decline": True}
    draft = new_draft(texts=TEXTS, questions=[own, {**own, "name": "caught"}])
    found = reader.read(BytesIO(writer.workbook_of(draft)))
    again = new_draft(texts=TEXTS, questions=[each.fields() for each in found.questions])
    for study in (draft, again):
        (block,) = documents.compose(study).blocks
        assert (block.decline, block.channel_document["choices"]) == (1, 5)


@pytest.mark.parametrize(
    ("row", "column", "told"),
    [
        (("select_one yn", "q", "Did you?", "Habits"), "rr::together", "it is “Habits”"),
        (("select_one yn", "q", "Did you?", "a" * 21), "rr::together", "small letters"),
        (("select_multiple yn", "q", "Any?", "habits"), "rr::together", "questions of one choice"),
        (
            ("integer", "q", "How many?", "habits", "", ". >= 0 and . <= 9"),
            "rr::together",
            "questions of one choice",
        ),
        (("select_one yn", "q", "Did you?", "", "very"), "rr::matters", "decisive, useful or nice"),
        (("select_one yn", "q", "?", "", "", "", "By day"), "rr::drawn_in", "it is “By day”"),
    ],
)
def test_what_cannot_be_sent_as_one_answer_is_refused_by_row_and_column(row, column, told):
    heads = ("type", "name", "label", "rr::together", "rr::matters", "constraint", "rr::drawn_in")
    ((where, text),) = problems(row, heads=heads)
    assert where == f"sheet “survey”, row 2, column “{column}”"
    assert told in text


CODED = (
    *(("work", code, text) for code, text in (("1", "Yes"), ("2", "No"), ("-99", "No answer"))),
    *(("pay", code, text) for code, text in (("10", "Little"), ("20", "Some"), ("98", "Much"))),
)


def test_names_of_choices_are_codes_and_come_back(db):
    rows = (
        ("select_one work", "work", "Do you work?", ""),
        ("select_one pay", "pay", "How much do you earn?", "${work} = '1'"),
    )
    heads = ("type", "name", "label", "relevant")
    found = reader.read(book(*rows, heads=heads, choices=CODED))
    assert not found.problems
    assert not [remark for remark in found.remarks if "“name”" in remark.where]
    first, second = found.questions
    assert (first.kind, first.may_decline) == ("yes_no", True)
    assert first.codes.split() == ["2", "1", "-99"]  # a Plan counts no first
    assert second.codes.split() == ["10", "20", "98"]
    assert second.asked_if_answers == [1]
    study = new_draft(texts=TEXTS, questions=[each.fields() for each in found.questions])
    again = reader.read(BytesIO(writer.workbook_of(study)))
    assert not again.problems
    assert [each.codes for each in again.questions] == [first.codes, second.codes]
    assert again.questions[1].asked_if_answers == [1]
    codes = [documents.content_of(each).codes for each in study.questions.all()]
    assert codes == [["2", "1", "-99"], ["10", "20", "98"]]


@pytest.mark.parametrize(
    ("names", "rest", "says"),
    [
        (("1", "2", "three of"), {}, "files count them from 0: 1, 2, three of"),
        (("1", "2", "x" * 33), {}, "files count them from 0: 1, 2, x"),
        (("5", "4", "3"), {"appearance": "likert", "rr::wanted": "scores"}, "from 1: 5, 4, 3"),
    ],
    ids=("a space", "long", "a mean"),
)
def test_names_that_cannot_be_codes_are_said(names, rest, says):
    more = [("odd", name, text) for name, text in zip(names, ("Low", "So", "High"), strict=True)]
    row = ("select_one odd", "q", "How is it?", *rest.values())
    found = reader.read(book(row, heads=("type", "name", "label", *rest), choices=more))
    assert not found.problems
    assert found.questions[0].codes == ""
    assert says in " ".join(remark.text for remark in found.remarks)


@pytest.mark.parametrize(
    "codes",
    ["", "0\n1\n2", "c0\nc1\nc2", "0\n1\n2\n98", "a\nb\ndecline", "a\ndecline\nc\nd", "1\n2\n-9"],
    ids=("none", "0 to 2", "ours", "declining too", "decline", "decline and more", "below 0"),
)
def test_codes_come_back_as_they_were_typed(db, codes):
    of_two = "\n".join(codes.split()[:2])
    asked = [{**OFTEN, "may_decline": True, "codes": codes}, {**COPIED, "codes": of_two}]
    study = new_draft(texts=TEXTS, questions=asked)
    found = reader.read(BytesIO(writer.workbook_of(study)))
    assert not found.problems
    assert [each.codes for each in found.questions] == [codes, of_two]
    assert [each.may_decline for each in found.questions] == [True, False]


def test_which_names_are_codes_is_said_in_known_words():
    row = ("select_one abc", "q", "Which?", "some")
    found = reader.read(book(row, heads=("type", "name", "label", "rr::codes")))
    ((where, text),) = [(each.where, each.text) for each in found.problems]
    assert where.endswith("column “rr::codes”")
    assert text == "Expected yes, no, or choices."
