"""The pages for people who are not answering."""

import datetime
import html
import re

import pytest
from django.contrib.auth.models import Group
from django.template.loader import render_to_string
from django.test import Client

from surveys.charts.scales import percent
from surveys.demo import services as demo
from surveys.design import services as design
from surveys.design.models import Plan, Study
from surveys.people import services as people
from surveys.people.apps import ADMINS
from surveys.people.models import User
from surveys.releases import selectors as releases
from surveys.releases.numbers import interval_within
from surveys.results.questions import results_of
from tests.surveys.results.small import NOW, QUESTIONS, STUDY, answer, close, open_small, publish

pytestmark = pytest.mark.django_db

ESTIMATE = re.compile(r"<b>(−?\d+\.\d)%</b>")  # the form in which pages show an estimate
INTERVAL = re.compile(r"<span>(−?\d+\.\d) to (−?\d+\.\d)</span>")


def text_of(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


# Who may see what


def test_a_study_that_is_not_shared_looks_as_if_it_did_not_exist(
    outsider: Client, plan: Plan
) -> None:
    hidden, missing = outsider.get("/studies/small/"), outsider.get("/studies/no-such-study/")
    assert (hidden.status_code, missing.status_code) == (404, 404)
    without_token = [
        re.sub(rb'value="\w{64}"', b"", response.content) for response in (hidden, missing)
    ]
    assert without_token[0] == without_token[1]


def test_a_study_that_is_not_shared_is_not_listed(outsider: Client, plan: Plan) -> None:
    assert STUDY["title"] not in text_of(outsider, "/studies/")


def test_a_shared_study_is_listed_with_the_link_that_carries_its_digest(
    member: Client, plan: Plan
) -> None:
    page = text_of(member, "/studies/")
    assert STUDY["title"] in page
    assert f"http://testserver/s/small/#{plan.digest}" in page


def test_strangers_are_asked_to_sign_in(client: Client, plan: Plan) -> None:
    for path in ("/studies/", "/studies/small/"):
        assert client.get(path).headers["Location"] == f"/accounts/login/?next={path}"


def test_an_admin_sees_every_study_and_the_way_to_edit_it(client: Client, plan: Plan) -> None:
    admin = people.ensure_user(username="boss", password="a long enough password", is_admin=True)
    assert Group.objects.get(name=ADMINS) in admin.groups.all()
    client.force_login(admin)
    assert STUDY["title"] in text_of(client, "/studies/")
    assert '<p class="small"><a href="/studies/small/launch/">' in text_of(
        client, "/studies/small/"
    )


def test_a_member_is_not_shown_the_way_to_edit(member: Client) -> None:
    page = text_of(member, "/studies/small/")
    assert "/admin/" not in page
    assert "Close this wave" not in page


def test_results_for_members_are_hidden_from_strangers(client: Client, published: Plan) -> None:
    assert client.get("/results/small/").status_code == 404


def test_public_results_are_for_everyone_and_set_no_cookie(client: Client, db: None) -> None:
    plan = open_small(results="public")
    answer(plan)
    publish(plan)
    response = client.get("/results/small/")
    assert ESTIMATE.search(response.content.decode())
    assert not response.cookies


# What a page may say


def test_nothing_published_means_no_estimate(member: Client, plan: Plan) -> None:
    answer(plan, 37)
    page = text_of(member, "/studies/small/")
    assert "Responses: 37." in page
    assert "Nothing is published before <b>100 responses</b>." in page
    assert not ESTIMATE.search(page)


def test_every_estimate_on_the_page_is_in_the_release_with_its_interval(
    member: Client, published: Plan
) -> None:
    page = text_of(member, "/studies/small/")
    release = releases.by_rule_of(published.study)[0]
    choices = [
        choice for question in release.numbers["questions"] for choice in question["choices"]
    ]
    possible = [min(max(choice["estimate"], 0), 1) for choice in choices]
    intervals = [interval_within(*choice["interval"], 0, 1) for choice in choices]
    assert set(ESTIMATE.findall(page)) <= set(map(percent, possible))
    assert set(INTERVAL.findall(page)) <= {tuple(map(percent, ends)) for ends in intervals}
    # the Likert question; yes/no says its interval in words
    told = [low > 0 or high < 1 for low, high in intervals[2:7]]
    assert len(INTERVAL.findall(page)) == sum(told)


def test_yes_is_said_before_no(published: Plan) -> None:
    first = results_of(releases.by_rule_of(published.study)[0])[0]
    assert [row.label for row in first.rows] == ["Yes", "No"]
    assert first.headline is first.rows[0]


def test_what_is_shown_is_possible_and_how_it_came_out_is_said_below(
    member: Client, published: Plan
) -> None:
    page = text_of(member, "/studies/small/")
    results = results_of(releases.by_rule_of(published.study)[0])
    rows = [row for result in results for row in result.rows]
    assert all(0 <= row.number.low <= row.number.value <= row.number.high <= 1 for row in rows)
    impossible = [row for row in rows if not 0 <= row.figure.estimate <= 1]
    assert ("The nearest possible shares are shown" in page) == bool(impossible)
    assert all(f"{percent(row.figure.estimate)}%" in page for row in impossible)


def test_what_false_reports_can_do_is_on_the_page(member: Client, published: Plan) -> None:
    """One false report of 120 at odds 73 : 27 moves a share by 100/(120·(0.731 − 0.269)) = 1.803
    points.
    """
    page = text_of(member, "/studies/small/")
    assert "False responses" in page
    assert re.search(r'<th scope="row">\s*question 1\s*</th>\s*<td class="n">1.81</td>', page)


def test_what_was_spent_is_the_ledgers_sum(member: Client, published: Plan) -> None:
    assert "of 2.00 is used" in text_of(member, "/studies/small/")


def test_an_earlier_release_can_be_read_by_its_row(member: Client, published: Plan) -> None:
    answer(published)
    publish(published, NOW + datetime.timedelta(hours=25))
    newest = text_of(member, "/studies/small/")
    assert "240 responses in wave 1, published" in newest
    assert ["2026, 240 responses" in newest, "2026, 120 responses" in newest] == [True, True]
    first = releases.by_rule_of(published.study)[-1]
    earlier = text_of(member, f"/studies/small/?release={first.entry.number}")
    assert "120 responses in wave 1, published" in earlier
    assert "These are earlier numbers" in earlier
    assert member.get("/studies/small/?release=9").status_code == 404


def test_a_draft_says_that_it_is_one(member: Client, researcher: object) -> None:
    draft = Study.objects.create(**{**STUDY, "slug": "draft", "title": "A draft"})
    people.share(study=draft, user=researcher)  # type: ignore[arg-type]
    for page in ("", "collect/", "ask/", "ask/shares/"):
        assert "This study has not opened" in text_of(member, f"/studies/draft/{page}")
    assert "Draft" in text_of(member, "/studies/")


def test_a_blank_account_is_led_to_its_first_study(outsider: Client, plan: Plan) -> None:
    page = text_of(outsider, "/studies/")
    assert "You have no study yet" in page
    assert page.count('class="button" href="/studies/new/"') == 1


def test_studies_are_found_by_words_and_by_state(member: Client, plan: Plan) -> None:
    assert STUDY["title"] in text_of(member, "/studies/?q=small+aldermoor&state=collecting")
    for query in ("q=elephants", "state=draft", "state=closed", "state=retired"):
        page = text_of(member, f"/studies/?{query}")
        assert STUDY["title"] not in page
        assert "No study fits" in page
    close(plan)
    assert STUDY["title"] in text_of(member, "/studies/?state=closed")


def test_search_never_finds_what_is_not_shared(outsider: Client, plan: Plan) -> None:
    assert STUDY["title"] not in text_of(outsider, "/studies/?q=small")


def test_long_lists_of_studies_are_cut_into_pages_that_keep_the_search(
    member: Client, researcher: User
) -> None:
    for number in range(26):
        draft = Study.objects.create(
            **{**STUDY, "slug": f"draft-{number}", "title": f"Draft {number:02}"}
        )
        people.share(study=draft, user=researcher)
    page = text_of(member, "/studies/?q=draft")
    assert 'href="?q=draft&state=&page=2"' in page
    assert "Draft 00" in text_of(member, "/studies/?q=draft&state=&page=2")


# Pages for strangers


@pytest.mark.parametrize("path", ["/", "/promises/"])
def test_strangers_get_no_cookie(client: Client, plan: Plan, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert not response.cookies


def test_a_retired_study_is_listed_as_retired_with_its_day(member: Client, published: Plan) -> None:
    design.retire(study_id=published.study_id, because="asked to", who="ada", now=NOW)
    page = text_of(member, "/studies/")
    assert re.search(r'>Ended</span>\s*<span class="sub">11 May 2026<', page)
    assert '<span class="badge live">' not in page
    assert ">Closed</span>" not in page


def test_home_lists_open_studies_with_the_link_that_carries_the_digest(
    client: Client, plan: Plan
) -> None:
    assert f'href="/s/small/#{plan.digest}"' in text_of(client, "/")
    close(plan)
    assert "/s/small/" not in text_of(client, "/")


def test_promises_say_what_is_not_protected_and_how_to_check(client: Client, db: None) -> None:
    page = text_of(client, "/promises/")
    assert 'id="not-protected"' in page
    assert 'id="check"' in page
    # three who see the device, and who has publication answers with their key
    assert page.count("Everything.") == 4


def test_no_page_needs_an_inline_style_or_script(member: Client, published: Plan) -> None:
    for path in (
        "/",
        "/studies/",
        "/studies/small/",
        "/registry/",
        "/registry/small/",
        "/promises/",
        "/nowhere/",
    ):
        page = member.get(path).content.decode()
        assert "style=" not in page
        scripts = re.findall("<script[^>]*>", page)
        assert all(" src=" in script for script in scripts)
        assert len(scripts) == (path == "/")  # the coin of the home page, which can do without
        assert "<style" not in page


@pytest.mark.parametrize("name", ["400.html", "403.html", "403_csrf.html", "404.html", "500.html"])
def test_pages_that_say_no_need_nothing_but_their_words(name: str) -> None:
    assert "<h1>" in render_to_string(name)


def test_signing_in_and_out(client: Client, researcher: object, db: None) -> None:
    wrong = client.post("/accounts/login/", {"login": "member", "password": "wrong"})
    assert "No account has this name with this password" in wrong.content.decode()
    right = client.post(
        "/accounts/login/", {"login": "member", "password": "a long enough password"}
    )
    assert right.headers["Location"] == "/studies/"
    assert client.post("/accounts/logout/").headers["Location"] == "/"


IN_CHINESE = {
    "title": "一项小研究",
    "organisation": "奥德摩尔大学",
    "purpose": "试一试页面。",
    "questions": {
        "moon": {"text": "您去过月球吗", "label": "月球"},
        "agree": {"text": "我喜欢奶酪", "label": "奶酪"},
    },
}
CHINESE_READER = {"accept-language": "zh-CN,zh;q=0.9"}


def test_a_study_is_said_in_the_readers_language_and_served_to_programs_as_it_was_hashed(client):
    study = {**STUDY, "results": "public"}
    plan, _ = demo.ensure_study(study, QUESTIONS, NOW, translations={"zh-hans": IN_CHINESE})
    answer(plan)
    publish(plan)
    for path in (
        "/",
        "/registry/",
        "/registry/small/",
        "/results/small/",
        "/results/small/methods/",
    ):
        page = client.get(path, headers=CHINESE_READER)
        assert "一项小研究" in page.content.decode(), path
        assert (
            "A small study" in client.get(path, headers={"accept-language": "en"}).content.decode()
        ), path
    home, registry, results = (
        client.get(path, headers=CHINESE_READER).content.decode()
        for path in ("/", "/registry/small/", "/results/small/")
    )
    assert f'href="/s/small/zh-hans/#{plan.digest}"' in home
    assert (
        f'href="/s/small/#{plan.digest}"'
        in client.get("/", headers={"accept-language": "en"}).content.decode()
    )
    assert "您去过月球吗" in registry
    assert "“是”" in registry
    assert "“Yes”" not in registry
    assert "我喜欢奶酪" in results
    assert "非常同意" in results
    assert ">Strongly agree<" not in results
    for path in ("/registry/small.json", "/api/v1/studies/small/plan"):
        told, plain = client.get(path, headers=CHINESE_READER).json(), client.get(path).json()
        moments = {"as_of", "burn"}  # which say when they were asked for
        assert {name: told[name] for name in told.keys() - moments} == {
            n: plain[n] for n in plain.keys() - moments
        }
