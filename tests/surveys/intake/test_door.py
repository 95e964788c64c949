"""Who may bring a report: no page of another site, nothing but JSON, and not all at once."""

import json

import pytest

from surveys import brakes
from surveys.brakes import Brake, Buckets, Places, place_of
from surveys.design import services as design
from surveys.intake.models import OpenReport
from tests.conftest import NOW, QUESTIONS, STUDY
from tests.patience import became
from tests.surveys.intake.test_reports import URL, body

FOREIGN = {"HTTP_ORIGIN": "https://evil.example"}


def send(client, plan, number=0, content_type="application/json", **headers):
    content = json.dumps(body(plan, report_id=f"{number:032x}"))
    return client.post(URL, content, content_type=content_type, **headers)


def error(response):
    return response.status_code, response.json()["error"]["field"]


@pytest.mark.parametrize(
    "media",
    [
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
    ],
)
def test_only_json_is_taken(client, plan, media):
    response = send(client, plan, content_type=media)
    assert error(response) == (415, "Content-Type")
    assert (
        response.json()["error"]["message"]
        == "Content-Type: expected application/json, got another one"
    )
    assert not OpenReport.objects.exists()


@pytest.mark.parametrize("media", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_may_say_its_charset(client, plan, media):
    assert send(client, plan, content_type=media).status_code == 201


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "nonsense"])
def test_what_a_page_of_another_site_sends_is_refused(client, plan, site):
    response = send(client, plan, HTTP_SEC_FETCH_SITE=site, HTTP_ORIGIN="http://testserver")
    assert error(response) == (403, "Sec-Fetch-Site")
    assert not OpenReport.objects.exists()


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://testserver:81",
        "https://testserver",
        "http://testserver.evil",
    ],
)
def test_a_browser_that_names_the_origin_only_is_believed(client, plan, origin):
    assert error(send(client, plan, HTTP_ORIGIN=origin)) == (403, "Origin")
    assert not OpenReport.objects.exists()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"HTTP_SEC_FETCH_SITE": "same-origin", "HTTP_ORIGIN": "http://testserver"},
        {"HTTP_SEC_FETCH_SITE": "same-origin"},
        {"HTTP_SEC_FETCH_SITE": "none"},
        {"HTTP_ORIGIN": "http://testserver"},
    ],
)
def test_the_form_s_own_page_and_programs_pass(client, plan, headers):
    assert send(client, plan, **headers).status_code == 201


def test_behind_a_proxy_ours_is_the_origin_that_the_browser_sees(client, plan, settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.ALLOWED_HOSTS = ["forms.example.org"]
    there = {"HTTP_HOST": "forms.example.org", "HTTP_X_FORWARDED_PROTO": "https"}
    assert send(client, plan, HTTP_ORIGIN="https://forms.example.org", **there).status_code == 201
    assert error(send(client, plan, HTTP_ORIGIN="http://forms.example.org", **there)) == (
        403,
        "Origin",
    )


def test_a_browser_that_asks_first_is_granted_nothing(client, plan):
    asks = {
        "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "POST",
        "HTTP_ACCESS_CONTROL_REQUEST_HEADERS": "content-type",
    }
    answer = client.options(URL, **FOREIGN, **asks)
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_a_class_behind_one_address_answers_in_a_minute(rf):
    place, brake = place_of(rf.post(URL, REMOTE_ADDR="192.0.2.7")), Brake()
    assert {brake.place(place) for _ in range(800)} == {0}


def test_a_flood_from_one_network_is_slowed_and_others_are_not(client, plan, settings):
    settings.REPORTS_AT_ONCE = 5
    here, there = {"REMOTE_ADDR": "192.0.2.7"}, {"REMOTE_ADDR": "192.0.2.8"}
    found = [send(client, plan, number, **here) for number in range(8)]
    assert [each.status_code for each in found] == [201] * 5 + [429] * 3
    assert error(found[-1]) == (429, "address")
    assert 1 <= int(found[-1]["Retry-After"]) <= 600 / 5 + 1 + brakes.JITTER
    assert "192" not in found[-1].content.decode()
    assert send(client, plan, 9, **there).status_code == 201


def test_pages_of_other_sites_use_up_nobody_s_share(client, plan, settings):
    settings.REPORTS_AT_ONCE = 2
    for number in range(9):
        send(client, plan, number, HTTP_SEC_FETCH_SITE="cross-site")
        send(client, plan, number, content_type="text/plain")
    assert send(client, plan).status_code == 201


def test_a_study_that_gets_many_is_slowed_by_chance_and_never_closed(
    client, plan, settings, monkeypatch
):
    settings.REPORTS_AT_ONCE = 2
    luck = iter([False, False, True])
    monkeypatch.setattr(brakes, "one_in", lambda many: next(luck))
    found = [send(client, plan, number, REMOTE_ADDR=f"192.0.2.{number}") for number in range(13)]
    assert [each.status_code for each in found] == [201] * 10 + [429, 429, 201]
    assert error(found[10]) == (429, "study")
    assert int(found[10]["Retry-After"]) >= 1


def test_who_sends_one_report_again_and_again_does_not_learn_how_many_others_came(
    client, db, settings
):
    settings.REPORTS_AT_ONCE = 2
    draft = design.draft_study(study={**STUDY, "neighbours": "add-remove"}, questions=QUESTIONS)
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    found = [send(client, plan, REMOTE_ADDR=f"192.0.2.{number}") for number in range(40)]
    assert [each.status_code for each in found] == [201] + [200] * 39


def test_one_in_four_is_what_chance_passes():
    passed = sum(brakes.one_in(4) for _ in range(4000))
    assert 1000 - 5 * 28 < passed < 1000 + 5 * 28  # five standard deviations


def test_buckets_fill_up_again_and_not_beyond():
    buckets = Buckets()
    assert [buckets.take(b"a", 2, 0.0) for _ in range(3)] == [0, 0, 300]
    assert buckets.take(b"a", 2, 299.0) > 0
    assert buckets.take(b"a", 2, 301.0) == 0
    assert [buckets.take(b"a", 2, 1e9) for _ in range(3)] == [0, 0, 300]


def test_memory_is_bounded_and_who_came_last_is_remembered(monkeypatch):
    monkeypatch.setattr(brakes, "MAX_BUCKETS", 3)
    buckets = Buckets()
    for name in (b"a", b"b", b"c", b"a", b"d"):
        buckets.take(name, 9, 0.0)
    assert list(buckets.left) == [b"c", b"a", b"d"]


def test_a_network_is_held_under_a_name_that_changes_every_hour_and_holds_no_address():
    places = Places()
    places.take("192.0.2.7/32", 5, 0.0)
    (first,) = places.kept[1].left
    places.take("192.0.2.7/32", 5, brakes.HOUR - 1)
    assert list(places.kept[1].left) == [first]
    places.take("192.0.2.7/32", 5, brakes.HOUR)
    (second,) = places.kept[1].left
    assert first != second
    assert b"192.0.2" not in first + second
    assert len(first) == 32


def test_key_and_counts_go_with_the_hour_although_nobody_comes_any_more(monkeypatch):
    monkeypatch.setattr(brakes, "HOUR", 0.05)
    places = Places()
    places.take("192.0.2.7/32", 5, 0.0)
    assert became(lambda: places.kept is None)
    assert places.end.daemon  # no process waits for it


def test_the_end_of_an_hour_leaves_the_next_one_s_counts():
    places = Places()
    places.take("192.0.2.7/32", 5, 0.0)
    old = places.kept
    places.take("192.0.2.7/32", 5, brakes.HOUR)
    places.forget(old)
    assert places.kept is not None


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.7", "192.0.2.7/32"),
        ("192.0.2.7:5123", "192.0.2.7/32"),
        ("192.0.2.7:", ""),
        ("192.0.2.7:٣", ""),
        ("192.0.2.7:1:2", ""),
        ("192.0.2.07", ""),
        ("192.0.2", ""),
        ("::ffff:192.0.2.7", "192.0.2.7/32"),
        ("2001:db8:1:22ff::9", "2001:db8:1:2200::/56"),
        ("2001:db8:1:2200:1::", "2001:db8:1:2200::/56"),
        ("", ""),
        ("unix:", ""),
    ],
)
def test_a_place_is_an_address_or_what_a_household_has(rf, address, place):
    assert place_of(rf.get("/", REMOTE_ADDR=address)) == place


def test_only_the_last_address_that_a_proxy_of_ours_adds_counts(rf, settings):
    request = rf.get("/", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR="203.0.113.1, 198.51.100.4")
    assert place_of(request) == "10.0.0.1/32"
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    assert place_of(request) == "198.51.100.4/32"


def test_where_there_is_no_address_only_the_study_is_slowed(client, plan, settings):
    settings.REPORTS_AT_ONCE = 1
    found = [send(client, plan, number, REMOTE_ADDR="").status_code for number in range(5)]
    assert found == [201] * 5
