"""A study is asked in any language of which the site has the form's words, and in no other."""

from io import BytesIO

import pytest

from surveys.design import services as design, words
from surveys.design.drafts import save_translation
from surveys.design.models import Plan, Question, Study, Translation
from surveys.design.readiness import Readiness
from surveys.design.refusals import Refused
from surveys.drafting.xlsform.reader import read
from surveys.drafting.xlsform.writer import workbook_of
from tests.conftest import NOW
from tests.surveys.drafting.conftest import TEXTS
from tests.words import HEBREW, PSEUDO, po

WAY = "The form has no words in “sw” yet. A site admin can install them"


@pytest.fixture
def installed(db):
    for content in (po(), po("he", HEBREW)):
        words.install(po=content, who="root", why="A test.", now=NOW)


def translated(draft):
    texts = {
        question.name: {
            "text": "ש",
            "label": "ש",
            "choices": list("אבג" if question.choices else ""),
        }
        for question in draft.questions.all()
    }
    return {"title": "מבחן", "organisation": "מכללה", "purpose": "למה", "questions": texts}


def test_the_page_offers_every_language_with_words_by_its_own_name(editor, draft, installed):
    page = editor.get(f"/studies/{draft.slug}/build/").content.decode()
    offered = ('value="he" lang="he">עברית', 'value="qps" lang="qps">qps', "简体中文")
    for option in offered:
        assert option in page
    assert 'value="en"' not in page
    editor.post(f"/studies/{draft.slug}/build/languages/", {"language": "he"})
    page = editor.get(f"/studies/{draft.slug}/build/").content.decode()
    assert 'value="he"' not in page
    assert "incomplete: needed for the launch" in page


@pytest.mark.parametrize(
    ("tag", "says"), [("sw", WAY), ("EN-1", "“en-1” is not a language tag, such as pt-br")]
)
def test_a_language_without_words_is_refused_at_once_with_the_way(editor, draft, now, tag, says):
    answer = editor.post(f"/studies/{draft.slug}/build/texts/", {**TEXTS, "language": tag})
    assert says in answer.content.decode()
    assert Study.objects.get().language == "en"
    with pytest.raises(Refused, match=says[:20]):
        save_translation(study_id=draft.pk, language=tag.lower(), content={}, who="eva", now=now)
    assert not Translation.objects.exists()


def test_a_draft_in_a_language_without_words_does_not_open(draft, now):
    Translation.objects.create(study=draft, language="sw", content=translated(draft))
    problems = Readiness(draft).problems(now)
    assert [each.language for each in problems] == ["sw"]
    assert problems[0].text.startswith(WAY)
    Translation.objects.all().delete()
    Study.objects.update(language="sw")
    assert [each.language for each in Readiness(Study.objects.get()).problems(now)] == ["sw"]


def test_the_words_of_a_language_enter_the_plan_at_the_launch(draft, installed, now):
    Study.objects.update(language=PSEUDO)
    Translation.objects.create(study=draft, language="he", content=translated(draft))
    design.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)
    content = Plan.objects.get().content
    assert content.languages == [PSEUDO, "he"]
    assert content.question("copied").choices == ["⟦No⟧", "⟦Yes⟧"]
    assert content.spoken("he").question("often").choices[:3] == ["א", "ב", "ג"]


def test_a_form_in_any_language_goes_out_as_an_xlsform_and_comes_back(draft, installed):
    Study.objects.update(language="he")
    Translation.objects.create(study=draft, language=PSEUDO, content=translated(draft))
    study = Study.objects.get()
    found = read(BytesIO(workbook_of(study)))
    assert found.problems == []
    assert found.texts["language"] == "he"
    assert list(found.translations) == [PSEUDO]
    assert found.translations[PSEUDO]["title"] == "מבחן"
    assert [each.text for each in found.questions] == [each.text for each in study.questions.all()]


def test_the_words_of_a_language_are_known_in_an_xlsform(draft, monkeypatch):
    monkeypatch.undo()  # all languages of the site, and not two
    draft.questions.all().delete()
    Study.objects.update(language="ar")
    for at, fields in enumerate(({"kind": "yes_no", "may_decline": True}, {"kind": "likert"})):
        Question.objects.create(study=draft, name=f"q{at}", text="هل؟", label="هل", **fields)
    found = read(BytesIO(workbook_of(Study.objects.get())))
    assert found.problems == []
    assert [(each.kind, each.may_decline) for each in found.questions] == [
        ("yes_no", True),
        ("likert", False),
    ]
