"""What is wanted of a scale, in the builder and in a workbook: its mean, or how often each answer
is chosen.
"""

from io import BytesIO

import pytest

from surveys.design.drafts import new_draft
from surveys.design.models import Question
from surveys.drafting.xlsform import reader, writer
from tests.surveys.drafting.conftest import COPIED, TEXTS
from tests.surveys.drafting.test_building import form_of
from tests.surveys.drafting.test_xlsform import book, problems

HEADS = ("type", "name", "label", "relevant", "appearance", "rr::wanted", "rr::decline")
CHOICES = tuple(("mood", f"m{at}", text) for at, text in enumerate(["Bad", "So-so", "Good"]))


def save(editor, draft, **changed):
    address = f"/studies/{draft.slug}/build/questions/fair/"
    return editor.post(address, form_of(draft, "fair", kind="likert", **changed))


def fair(draft):
    return draft.questions.get(name="fair")


def test_its_mean_is_wanted_in_words(editor, draft):
    page = editor.get(f"/studies/{draft.slug}/build/questions/fair/").content.decode()
    assert "Its mean, the first answer being 1" in page
    assert "How often each answer is chosen" in page
    assert save(editor, draft, of_scale="mean", choices="Bad\nSo-so\nGood").status_code == 302
    saved = fair(draft)
    assert (saved.kind, saved.wanted, saved.least, saved.most) == ("number", "mean", 1, 3)
    assert saved.options == ["Bad", "So-so", "Good"]
    page = editor.get(f"/studies/{draft.slug}/build/").content.decode()
    assert "its mean" in page
    page = editor.get(f"/studies/{draft.slug}/build/questions/fair/").content.decode()
    assert '<option value="likert" selected>' in page
    assert page.count("checked") >= 2  # its protection, and its mean


def test_the_usual_points_are_written_out_and_shares_come_back(editor, draft):
    save(editor, draft, of_scale="mean", choices="")
    assert len(fair(draft).options) == fair(draft).most == 5
    save(editor, draft, of_scale="shares", choices="")
    assert (fair(draft).kind, fair(draft).least) == ("likert", None)


def test_a_mean_alone_is_refused_where_answers_are_sent_as_given(editor, draft):
    answer = save(editor, draft, of_scale="mean", choices="", protection="publication")
    assert answer.status_code == 400
    assert 'id="id_of_scale_error"' in answer.content.decode()
    assert "A mean alone needs answers that are randomised" in answer.content.decode()
    save(editor, draft, of_scale="shares", choices="", protection="publication")
    assert (fair(draft).kind, fair(draft).protection) == ("likert", "publication")


def test_a_number_of_old_drafts_is_what_it_was(editor, draft):
    """Scales are stored with `wanted` mean from before: they stay shares."""
    assert fair(draft).wanted == Question.Wanted.MEAN
    assert fair(draft).kind == "likert"
    assert save(editor, draft).status_code == 302
    assert fair(draft).kind == "likert"


@pytest.mark.parametrize(
    ("changed", "field"),
    [({"choices": "one\none\nthree"}, "choices"), ({"choices": "one\ntwo"}, "choices")],
)
def test_an_error_stands_at_its_field(editor, draft, changed, field):
    answer = save(editor, draft, of_scale="mean", **changed)
    assert answer.status_code == 400
    assert f'id="id_{field}_error"' in answer.content.decode()
    assert fair(draft).kind == "likert"


def test_declining_and_a_mean_are_refused_together(editor, draft):
    answer = save(editor, draft, of_scale="mean", may_decline="on", choices="Bad\nSo-so\nGood")
    assert answer.status_code == 400
    assert "cannot be told with “Prefer not to say”" in answer.content.decode()
    assert fair(draft).kind == "likert"


def test_a_mean_comes_back_from_its_own_file(db):
    mood = {
        "name": "mood",
        "kind": "number",
        "text": "How are you?",
        "label": "Mood",
        "choices": "Bad\nSo-so\nGood",
        "least": 1,
        "most": 3,
        "wanted": "mean",
    }
    for group in ({}, {"group": "week", "group_text": "This week"}):
        draft = new_draft(texts=TEXTS, questions=[COPIED, {**mood, **group}])
        found = reader.read(BytesIO(writer.workbook_of(draft)))
        assert found.problems == []
        assert not [remark for remark in found.remarks if "wanted" in remark.where]
        again = found.questions[1].fields()
        assert {part: again[part] for part in mood} == mood


def test_a_scale_of_a_file_has_shares_unless_it_says_scores():
    scale = ("select_one mood", "q", "How?", "", "likert")
    found = reader.read(book((*scale, "mean"), heads=HEADS, choices=CHOICES))
    assert found.questions[0].kind == "likert"
    found = reader.read(book((*scale, "scores"), heads=HEADS, choices=CHOICES))
    assert (found.questions[0].kind, found.questions[0].most) == ("number", 3)


def test_a_file_that_wants_the_mean_of_what_has_none_is_refused():
    scale = ("select_one mood", "q", "How?", "", "likert", "scores", "yes")
    ((where, text),) = problems(
        scale, heads=HEADS, choices=(*CHOICES, ("mood", "no", "Prefer not to say"))
    )
    assert where == "sheet “survey”, row 2, column “rr::wanted”"
    assert "A scale can have only a mean if it is randomised" in text
