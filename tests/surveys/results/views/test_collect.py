"""Collect: what has come, the link in every form, and honest words to invite with."""

import datetime
import html
import re

import pytest
from django.test import Client
from PIL import Image, ImageDraw

from surveys.charts.codes import QrCode
from surveys.design import services as design
from surveys.design.models import Plan
from surveys.people import services as people
from surveys.people.models import User
from surveys.results.views.collect import days_left
from tests.surveys.releases import test_strata as strata
from tests.surveys.results.small import NOW, answer, close, open_small, publish

pytestmark = pytest.mark.django_db
COLLECT = "/studies/small/collect/"
FORBIDDEN = ("anonym", "honest", "secure", "guarantee", "100%", "!")


def text_of(client: Client, path: str = COLLECT) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def test_progress_is_exact_where_neighbours_change_one_answer(member: Client, plan: Plan) -> None:
    answer(plan, 37)
    page = text_of(member)
    assert "<b>37</b>" in page
    assert "Responses: 37." in page
    assert "Nothing is published before <b>100 responses</b>." in page


def test_nobody_is_invited_after_the_last_day_though_a_worker_has_yet_to_close_it(
    member: Client, researcher: User
) -> None:
    plan = open_small(slug="over", title="Over", closes_on=NOW.date())
    people.share(study=plan.study, user=researcher)
    page = text_of(member, "/studies/over/collect/")
    assert "(UTC). It closes within hours." in " ".join(page.split())
    assert "The study is closed" in page
    assert plan.digest not in page


def test_of_a_list_it_says_as_of_when(member: Client, researcher: User) -> None:
    plan = strata.opened()
    people.share(study=plan.study, user=researcher)
    strata.answer(plan)
    page = text_of(member, f"/studies/{plan.study.slug}/collect/")
    assert "by midnight (UTC). The number is exact" in page
    assert "so far. The number" not in page


def test_the_link_the_texts_and_the_code_all_carry_the_fingerprint(
    member: Client, plan: Plan
) -> None:
    link = f"http://testserver/s/small/#{plan.digest}"
    page = text_of(member)
    assert page.count(link) >= 4  # field, code's name, letter, short message
    assert f'd="{QrCode.of(link).path}"' in page


def test_a_qr_code_has_its_quiet_zone_and_its_three_corners() -> None:
    code = QrCode.of("https://example.org/s/small/#" + "a" * 64)
    picture = Image.new("1", (code.size, code.size), 1)
    draw = ImageDraw.Draw(picture)
    for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", code.path):
        draw.rectangle((int(x), int(y), int(x) + int(width) - 1, int(y)), fill=0)
    last = code.size - 1
    corners = [(4, 4), (last - 10, 4), (4, last - 10)]
    for x, y in corners:
        assert [picture.getpixel((x + step, y)) for step in range(7)] == [0] * 7
        assert picture.getpixel((x + 1, y + 1)) != 0
        assert picture.getpixel((x + 3, y + 3)) == 0
    edge = [picture.getpixel((x, y)) for x in range(code.size) for y in range(4)]
    assert set(edge) == {1} or set(edge) == {255}


def test_the_code_and_the_poster_are_there_in_the_studys_languages_only(
    member: Client, plan: Plan
) -> None:
    code = member.get(f"{COLLECT}en.svg")
    assert code.headers["Content-Type"] == "image/svg+xml"
    assert member.get(f"{COLLECT}poster/en/").status_code == 200
    assert member.get(f"{COLLECT}poster/zh-hans/").status_code == 404
    assert member.get(f"{COLLECT}zh-hans.svg").status_code == 404


def test_the_poster_says_odds_and_what_is_not_protected_in_the_same_size(
    member: Client, plan: Plan
) -> None:
    page = text_of(member, f"{COLLECT}poster/en/")
    assert "<b>73 send “yes”</b> and <b>27 send “no”</b> (blind guess: 50)" in page
    assert page.count("<h2") == 2
    assert "What is not protected" in page
    assert "style=" not in page


def test_the_words_to_invite_with_promise_nothing_that_is_not_proved(
    member: Client, plan: Plan
) -> None:
    texts = re.findall(
        r'<div class="prose" id="(?:email|sms)-text"[^>]*>(.*?)</div>', text_of(member), re.DOTALL
    )
    assert len(texts) == 2
    for text in texts:
        assert not [word for word in FORBIDDEN if word in text.lower()]
    assert "This does not hide that you took part" in texts[0]


def test_it_says_why_there_are_no_personal_links(member: Client, plan: Plan) -> None:
    assert "A personal link would show who has answered" in text_of(member)


def test_days_left_count_today_and_end_with_the_last(plan: Plan) -> None:
    plan.closes_on = NOW.date() + datetime.timedelta(days=2)
    assert days_left(plan, NOW) == 3
    assert days_left(plan, NOW + datetime.timedelta(days=2)) == 1
    assert days_left(plan, NOW + datetime.timedelta(days=3)) is None
    plan.closes_on = None
    assert days_left(plan, NOW) is None


def test_after_closing_there_is_no_link_to_give_away(member: Client, plan: Plan) -> None:
    close(plan)
    page = text_of(member)
    assert "The study is closed" in page
    assert f"#{plan.digest}" not in page


def test_a_retired_study_asks_nobody(member: Client, published: Plan) -> None:
    design.retire(study_id=published.study_id, because="asked to", who="ada", now=NOW)
    page = text_of(member)
    assert "This study has ended" in page
    assert f"#{published.digest}" not in page


def test_collecting_is_for_those_the_study_is_shared_with(outsider: Client, plan: Plan) -> None:
    for path in ("", "en.svg", "poster/en/"):
        assert outsider.get(COLLECT + path).status_code == 404
    outsider.logout()
    assert outsider.get(COLLECT).headers["Location"] == f"/accounts/login/?next={COLLECT}"


def test_published_numbers_change_nothing_of_the_link(member: Client, db: None, plan: Plan) -> None:
    answer(plan)
    publish(plan)
    assert f"#{plan.digest}" in text_of(member)


def test_a_study_of_another_name_is_not_there(member: Client, db: None) -> None:
    assert open_small(slug="other").study.slug == "other"
    assert member.get("/studies/other/collect/").status_code == 404
