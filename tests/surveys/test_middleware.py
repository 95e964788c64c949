"""Headers of every answer, and the way back from an address that only a form may call."""

import logging
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver
from django.urls.converters import IntConverter

from surveys.middleware import MAX_REQUEST, page_above, permissions
from tests.surveys.people.test_doors import ELSEWHERE, address, patterns, world

__all__ = ["world"]  # a fixture
ADDRESSES = sorted({name for name, _ in patterns() if name and not name.startswith(ELSEWHERE)})
BACK = {
    "dashboard:publish-anyway": "/studies/small/",
    "drafting:close": "/studies/small/launch/",
    "drafting:next": "/studies/small/launch/",
    "planning:save": "/studies/exam-honesty/plan/",
    "drafting:undo": "/studies/exam-honesty/build/",
    "drafting:together": "/studies/exam-honesty/build/",
    "drafting:declining": "/studies/exam-honesty/build/",
    "drafting:order": "/studies/exam-honesty/build/",
    "drafting:odds": "/studies/exam-honesty/build/",
    "drafting:change": "/studies/exam-honesty/build/questions/copied/",
    "drafting:add-language": "/studies/exam-honesty/build/",
    "drafting:drop-language": "/studies/exam-honesty/build/zh-hans/",
    "people:close": "/people/",
    "people:link": "/people/",
    "people:member-back": "/studies/small/people/",
    "people:member-role": "/studies/small/people/",
    "people:end-sessions": "/account/",
}


def asked_of(world: dict[str, Any], who: str) -> Any:
    client = Client(raise_request_exception=False)
    if who != "stranger":
        client.force_login(world["users"][who])
    return client


def test_every_address_says_that_no_other_site_may_embed_it(world):
    """As a stranger, as an outsider and as an admin: what opens, what leads elsewhere, and what
    says no.
    """
    for who in ("stranger", "outsider", "admin"):
        client = asked_of(world, who)
        for path in [address(name, world) for name in ADDRESSES] + [
            "/nowhere/",
            "/admin/",
            "/accounts/login/",
        ]:
            for answer in (client.get(path), client.post(path)):
                # which says so that nothing runs here
                assert answer.status_code < 500 or path == "/health/ready", path
                assert answer["Cross-Origin-Resource-Policy"] == "same-origin", path
                assert answer["Cross-Origin-Opener-Policy"] == "same-origin", path
                assert answer["Permissions-Policy"] == permissions(path), path
                assert answer["X-Content-Type-Options"] == "nosniff", path


def test_scripts_may_copy_and_use_keys_only_where_accounts_are():
    def allowed(path: str) -> set[str]:
        return {
            each.partition("=")[0]
            for each in permissions(path).split(", ")
            if each.endswith("=(self)")
        }

    keys = {"publickey-credentials-create", "publickey-credentials-get"}
    assert allowed("/s/exam-honesty/") == allowed("/studies/") == {"clipboard-write"}
    assert allowed("/accounts/login/") == {"clipboard-write"} | keys
    assert "camera=()" in permissions("/")


def test_files_and_errors_that_no_view_makes_have_the_headers_too(client, settings):
    # before the one that serves files
    assert settings.MIDDLEWARE[0] == "surveys.middleware.ClosedDoors"
    answer = client.get("/", HTTP_HOST="evil.example")
    assert answer.status_code == 400
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"


def test_who_opens_the_address_of_an_act_is_led_to_the_page_where_it_stands(world):
    client = asked_of(world, "admin")
    found = {}
    for name in ADDRESSES:
        answer = client.get(address(name, world))
        of_scripts = {"reports", "issuer:tickets", "issuer:marks", "issuer:verbs"}
        assert answer.status_code != 405 or name in of_scripts, name
        if answer.status_code == 303:
            found[name] = answer.url
            assert client.get(answer.url, follow=True).status_code == 200, name
    assert found == BACK


def test_an_act_still_takes_a_form_only_and_a_page_no_form(world):
    client = asked_of(world, "admin")
    assert client.put("/studies/small/launch/close/").status_code == 405
    assert client.post("/studies/small/methods/").status_code == 405
    assert client.get("/api/v1/studies/small/reports").status_code == 405


def test_a_stranger_at_an_act_signs_in_first_and_an_outsider_learns_nothing(world):
    assert (
        asked_of(world, "stranger")
        .get("/studies/small/launch/close/")
        .url.startswith("/accounts/login/")
    )
    outsider = asked_of(world, "outsider")
    for slug in ("small", "no-such-study"):
        for page in ("launch/close/", "launch/"):
            assert outsider.get(f"/studies/{slug}/{page}").status_code == 404


def test_the_page_above_is_there():
    assert page_above("/account/sessions/end/") == "/account/"
    assert page_above("/nowhere/") == "/"


def numbers(resolver: Any = None, prefix: str = "") -> list[str]:
    """Return every address of the site that takes a whole number, others' packages' too, with a
    long one in it.
    """
    found = []
    for each in (resolver or get_resolver()).url_patterns:
        route = prefix + str(each.pattern)
        if hasattr(each, "url_patterns"):
            found += numbers(each, route)
        elif "<int:" in route:
            found.append(route)
    return found


@pytest.mark.parametrize("digits", [18, 19, 23, 400])
def test_a_number_that_no_column_holds_is_at_no_address(world, digits):
    client = asked_of(world, "admin")
    routes = numbers()
    assert len(routes) >= 7
    for route in routes:
        path = "/" + re.sub(r"<int:\w+>", "9" * digits, re.sub(r"<slug:\w+>", "small", route))
        assert "<" not in path, path
        for answer in (client.get(path), client.post(path)):
            elsewhere = digits == 18 or path.startswith("/admin/")  # of Django's admin: to its list
            # 403: of lists, which no admin sees
            assert answer.status_code in ((302, 303, 403, 404, 405) if elsewhere else (404,)), (
                path,
                answer.status_code,
            )


def test_a_number_is_what_it_was():
    assert IntConverter().to_python("007") == 7


def test_a_host_that_is_not_ours_is_refused_quietly(client, caplog):
    with caplog.at_level(logging.DEBUG):
        answer = client.get("/s/exam-honesty/", HTTP_HOST="evil.example")
    assert answer.status_code == 400
    assert "could not be read" in answer.content.decode()
    assert [
        record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR
    ] == []


class Unread:
    """A body that fails the test if it is looked at."""

    def readline(self, *args):
        raise AssertionError("the body was read")

    read = readline


@pytest.mark.parametrize(
    "address", ["/accounts/login/", "/api/v1/studies/a/reports", "/receipts/", "/nowhere/"]
)
@pytest.mark.parametrize("length", [str(MAX_REQUEST + 1), "9" * 5000])
def test_what_is_too_large_is_refused_unread(client, db, address, length):
    more = {
        "CONTENT_LENGTH": length,
        "CONTENT_TYPE": "multipart/form-data; boundary=x",
        "wsgi.input": Unread(),
    }
    answer = client.generic("POST", address, **more)
    assert answer.status_code == 413
    assert "larger than 10 MB" in answer.content.decode()
    assert not answer.cookies


def test_what_is_not_is_read(client, db):
    assert client.post("/receipts/", {"receipt": "x" * 1000}).status_code == 422
