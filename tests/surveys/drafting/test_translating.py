"""Texts in another language are kept half done, come from the library where they can, and are
never lost by a press.
"""

from surveys.design.drafts import add_questions
from surveys.design.models import Translation
from surveys.design.readiness import Readiness
from surveys.drafting import library


def content():
    return Translation.objects.get().content


def test_questions_of_the_library_bring_their_texts_in_the_other_language(editor, draft, now):
    asked = [library.BY_NAME["low_interest"].draft("en").fields()]
    add_questions(study_id=draft.pk, questions=asked, who="eva", now=now)
    editor.post(f"/studies/{draft.slug}/build/languages/", {"language": "zh-hans"})
    assert content()["questions"]["low_interest"]["choices"][0] == "完全不会"
    editor.post(f"/studies/{draft.slug}/build/add/templates/", {"template": "exam"})
    assert content()["questions"]["exam"]["label"] == "考试抄袭"


def test_texts_that_were_dropped_come_back_in_the_same_visit(editor, draft):
    address = f"/studies/{draft.slug}/build/zh-hans/"
    editor.post(address, {"title": "考试与诚信"})
    editor.post(f"{address}drop/")
    assert not Translation.objects.exists()
    editor.post(f"/studies/{draft.slug}/build/languages/", {"language": "zh-hans"})
    assert content()["title"] == "考试与诚信"


def test_texts_that_no_form_could_show_are_refused_and_stay_on_the_page(editor, draft):
    address = f"/studies/{draft.slug}/build/zh-hans/"
    for typed, says in (
        ({"title": "长" * 121}, "longer than 120"),
        ({"often.choices.0": "一次", "often.choices.1": "一次"}, "say the same"),
    ):
        answer = editor.post(address, typed)
        assert answer.status_code == 400
        assert says in answer.content.decode()
        assert next(iter(typed.values())) in answer.content.decode()
    assert not Translation.objects.exists()


def test_the_studys_own_language_is_no_translation(editor, draft):
    assert editor.get(f"/studies/{draft.slug}/build/en/").status_code == 404
    assert editor.get(f"/studies/{draft.slug}/build/xx/").status_code == 404


def test_texts_in_what_became_the_studys_own_language_keep_nothing_from_opening(editor, draft, now):
    Translation.objects.create(study=draft, language="zh-hans", content={"title": "考试"})
    assert [each.language for each in Readiness(draft).problems(now)] == ["zh-hans"]
    draft.language = "zh-hans"
    draft.save()
    assert Readiness(draft).problems(now) == []


def test_no_address_and_no_text_brings_a_nul_to_a_database_that_refuses_it(editor, draft):
    for address in ("questions/a%00b/", "a%00b/"):
        assert editor.get(f"/studies/{draft.slug}/build/{address}").status_code == 404
    assert editor.get("/pictures/a%00b").status_code == 404
    editor.post(f"/studies/{draft.slug}/build/zh-hans/", {"title": "考试\0与诚信"})
    assert content()["title"] == "考试与诚信"
