"""GET /s/<slug>/ and /s/<slug>/<language>/, and the pictures that questions show: pages for
everyone alike.
"""

import hashlib
import re

import msgspec
import pytest

from surveys import languages
from surveys.design import services as design, words
from surveys.design.models import Picture, Study, Translation
from surveys.intake import pages
from surveys.languages import Words
from tests.conftest import NOW, QUESTIONS, STUDY
from tests.words import HEBREW, po

CHINESE = {
    "title": "考试",
    "organisation": "学院",
    "purpose": "为什么",
    "questions": {
        question["name"]: {"text": "问", "label": question["label"]} for question in QUESTIONS
    }
    | {"often": {"text": "问", "label": "问", "choices": ["从不", "一次", "经常"]}},
}
CONTENT = b"\x89PNG anything"


@pytest.fixture
def bilingual(draft):
    Translation.objects.create(study=draft, language="zh-hans", content=CHINESE)
    return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


@pytest.fixture
def picture(db):
    digest = hashlib.sha256(CONTENT).hexdigest()
    return Picture.objects.create(
        sha256=digest, media_type="image/png", width=4, height=2, content=CONTENT
    )


@pytest.mark.parametrize(
    "address", ["/s/exam-honesty/", "/s/exam-honesty/zh-hans/", "/s/exam-honesty/fr/", "/s/none/"]
)
@pytest.mark.parametrize("spoken", ["", "en", "zh-CN,zh;q=0.9"])
def test_no_page_of_the_form_sets_a_cookie_or_says_where_it_was(client, bilingual, address, spoken):
    response = client.get(address, headers={"accept-language": spoken})
    assert not response.cookies
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("spoken", ["en", "zh-CN,zh;q=0.9"])
def test_the_language_is_what_the_address_says_whatever_the_browser_asks_for(
    client, bilingual, spoken
):
    own = client.get("/s/exam-honesty/", headers={"accept-language": spoken})
    assert '<html lang="en" dir="ltr">' in own.content.decode()
    assert own["Content-Language"] == "en"
    chinese = client.get("/s/exam-honesty/zh-hans/", headers={"accept-language": spoken})
    assert '<html lang="zh-hans" dir="ltr">' in chinese.content.decode()
    assert chinese["Content-Language"] == "zh-hans"
    assert "<h1>考试</h1>" in chinese.content.decode()


def test_each_language_leads_to_the_others(client, bilingual):
    for address, current in (("/s/exam-honesty/", "en"), ("/s/exam-honesty/zh-hans/", "zh-hans")):
        page = client.get(address).content.decode()
        assert 'href="/s/exam-honesty/" lang="en"' in page
        assert 'href="/s/exam-honesty/zh-hans/" lang="zh-hans"' in page
        assert re.search(f'hreflang="{current}" aria-current="true"', page)


def test_a_study_has_one_address_in_its_own_language(client, bilingual):
    response = client.get("/s/exam-honesty/en/")
    assert (response.status_code, response["Location"]) == (301, "/s/exam-honesty/")


def test_a_study_in_one_language_offers_no_other(client, plan):
    assert "hreflang" not in client.get("/s/exam-honesty/").content.decode()


def test_a_language_that_is_not_there_is_said_and_the_others_are_offered(client, bilingual):
    response = client.get("/s/exam-honesty/sw/")
    assert response.status_code == 404
    page = response.content.decode()
    assert "This study is not asked in that language" in page
    assert 'href="/s/exam-honesty/zh-hans/"' in page


def test_a_language_of_this_site_that_a_study_is_not_asked_in_is_spoken_there(client, plan):
    response = client.get("/s/exam-honesty/zh-hans/")
    page = response.content.decode()
    assert (response.status_code, response["Content-Language"]) == (200, "zh-hans")
    assert "This study is not asked in that language" not in page
    assert '<html lang="zh-hans"' in page
    assert 'href="/s/exam-honesty/" lang="en"' in page
    assert f'lang="en">{plan.content.title}' in page


@pytest.fixture
def in_another(draft):
    """A study in a language of which the site knows the form's words alone, and in English."""
    words.install(po=po(), who="root", why="A test.", now=NOW)
    Translation.objects.create(study=draft, language="en", content=CHINESE | {"title": "Exams"})
    Study.objects.filter(pk=draft.pk).update(language="qps")
    return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


def test_a_form_is_shown_in_a_language_that_the_site_does_not_speak(client, in_another):
    response = client.get("/s/exam-honesty/", headers={"accept-language": "zh-CN"})
    page = response.content.decode()
    assert '<html lang="qps" dir="ltr">' in page
    assert response["Content-Language"] == "qps"
    assert "⟦This form needs JavaScript⟧" in page
    assert 'href="/s/exam-honesty/en/" lang="en"' in page
    assert in_another.content.question("copied").choices == ["⟦No⟧", "⟦Yes⟧"]
    assert client.get("/receipts/qps/")["Content-Language"] == "qps"
    assert "⟦" in client.get("/my/qps/").content.decode()
    assert "⟦" not in client.get("/s/exam-honesty/en/").content.decode().replace("qps⟧", "")


def test_a_form_names_its_words_and_says_whether_they_are_reviewed(client, in_another):
    page, english = (
        client.get(address).content.decode()
        for address in ("/s/exam-honesty/", "/s/exam-honesty/en/")
    )
    for told, tag in ((page, "qps"), (english, "en")):
        assert f"{tag}.po</dt><dd>SHA-256 {languages.words_of(tag).sha256[:12]}<" in told
    assert "(This translation is not reviewed.)" in page
    assert "not reviewed" not in english


def test_where_words_of_a_language_are_not_there_the_next_one_is_shown_whole(
    client, in_another, monkeypatch
):
    known = languages.words_in
    monkeypatch.setattr(languages, "words_in", lambda tag: known(tag) if tag == "zh-hans" else None)
    monkeypatch.setattr(languages, "ours", lambda: {"en": Words("en", "0" * 64, is_ours=True)})
    assert client.get("/s/exam-honesty/").status_code == 200  # no other is there
    monkeypatch.setattr(languages, "words_in", lambda tag: known(tag) if tag == "en" else None)
    response = client.get("/s/exam-honesty/")
    assert (response.status_code, response["Location"]) == (302, "/s/exam-honesty/en/")
    page = client.get("/s/exam-honesty/en/").content.decode()
    assert "qps" not in page


def test_a_form_is_written_in_the_direction_of_its_language(client, draft):
    words.install(po=po("he", HEBREW), who="root", why="A test.", now=NOW)
    Study.objects.filter(pk=draft.pk).update(language="he")
    design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    assert '<html lang="he" dir="rtl">' in client.get("/s/exam-honesty/").content.decode()
    assert 'dir="rtl"' in client.get("/my/he/").content.decode()


def test_a_study_that_is_not_there_says_what_to_do(client, db):
    response = client.get("/s/none/")
    assert response.status_code == 404
    assert "ask the people who invited you" in response.content.decode()


def test_the_form_leads_to_what_is_not_protected(client, plan):
    assert 'href="/promises/#not-protected"' in client.get("/s/exam-honesty/").content.decode()


def test_a_page_says_why_it_takes_no_answers(client, plan, today):
    assert 'data-over=""' in client.get("/s/exam-honesty/").content.decode()
    design.close_plan(plan_id=plan.pk, today=today)
    assert 'data-over="closed"' in client.get("/s/exam-honesty/").content.decode()
    plan.study.retired_on = today
    plan.study.save()
    assert 'data-over="retired"' in client.get("/s/exam-honesty/").content.decode()


@pytest.mark.usefixtures("two_waves")
def test_a_later_wave_knows_the_links_of_the_ones_before(client, plan, today):
    design.close_plan(plan_id=plan.pk, today=today)
    design.begin_wave(study_id=plan.study_id)
    later = design.open_study(why="A test.", study_id=plan.study_id, who="ada", now=NOW)
    page = client.get("/s/exam-honesty/").content.decode()
    assert f'data-earlier="{plan.digest}"' in page
    assert later.digest not in page  # the link has it, or nobody: a page that said it could say any


@pytest.mark.parametrize("count", [1, 3])
def test_words_are_counted_in_the_language_of_the_page(client, db, count):
    study = design.draft_study(study=STUDY, questions=QUESTIONS[:count])
    design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
    page = client.get("/s/exam-honesty/").content.decode()
    assert ("Your answer is randomised" in page) == (count == 1)
    assert ("Your 3 answers are randomised" in page) == (count == 3)
    assert f'data-words="device-{count} fresh-1-of-1"' in page


@pytest.mark.parametrize("asked", [1, 2])
def test_who_is_asked_some_questions_is_told_of_the_minutes_of_those(client, db, asked):
    long = [{**each, "text": "a " * 140, "help": "a " * 140} for each in QUESTIONS]
    study = design.draft_study(study={**STUDY, "asked": asked}, questions=long)
    plan = design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
    minutes = {count: pages.minutes(plan.content, count) for count in (1, 2, 3)}
    assert minutes[1] < minutes[2] < minutes[3]
    page = client.get("/s/exam-honesty/").content.decode()
    assert {str(minutes[asked])} == set(re.findall(r"About\s+(\d+)\s+minutes", page))


def test_only_a_plan_with_rare_kinds_gets_the_longer_script(client, db):
    design.open_study(
        why="A test.",
        study_id=design.draft_study(study=STUDY, questions=QUESTIONS).pk,
        who="ada",
        now=NOW,
    )
    assert "form/plain.js" in client.get("/s/exam-honesty/").content.decode()
    boxes = {
        "name": "used",
        "kind": "multiple",
        "text": "Which?",
        "label": "Used",
        "choices": "A\nB\nC",
    }
    study = design.draft_study(study={**STUDY, "slug": "boxes"}, questions=[*QUESTIONS, boxes])
    design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
    assert "form/kinds.js" in client.get("/s/boxes/").content.decode()


def test_a_picture_never_changes_and_is_nothing_but_a_picture(client, picture):
    response = client.get(f"/pictures/{picture.sha256}")
    assert response.content == CONTENT
    assert response["Content-Type"] == "image/png"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in response["Cache-Control"]
    assert not response.cookies


def test_a_picture_that_could_run_something_is_not_served(client, picture):
    Picture.objects.update(media_type="image/svg+xml")
    assert client.get(f"/pictures/{picture.sha256}").status_code == 404


def test_a_picture_that_is_not_there_is_not_found(client, db):
    assert client.get(f"/pictures/{'0' * 64}").status_code == 404


def test_the_minutes_are_those_of_all_that_is_to_be_read(client, db):
    """300 words of ours, 40 about each question, and the study's own, 200 a minute; and 5 seconds
    an answer.
    """
    study = design.draft_study(study=STUDY, questions=QUESTIONS)
    plan = design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
    assert "3 questions, about 3 minutes." in client.get("/s/exam-honesty/").content.decode()
    assert pages.words("Have you copied? 你抽过烟吗") == 3 + 5 / 2
    long = {"text": "word " * 400}
    questions = [msgspec.structs.replace(each, **long) for each in plan.content.questions]
    content = msgspec.structs.replace(plan.content, questions=questions)
    assert pages.minutes(content, 3) == 3 + 6
