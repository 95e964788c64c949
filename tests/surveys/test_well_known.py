"""What programs ask every site for."""

import datetime

import pytest
from django.utils import timezone

from surveys.environment import Environment


def test_search_engines_are_asked_to_leave_forms_out(client):
    found = client.get("/robots.txt")
    assert found["Content-Type"] == "text/plain; charset=utf-8"
    assert "Disallow: /s/" in found.content.decode().splitlines()


@pytest.mark.parametrize(
    ("said", "link"),
    [
        ("help@example.org", "mailto:help@example.org"),
        ("mailto:help@example.org", "mailto:help@example.org"),
        ("https://example.org/contact", "https://example.org/contact"),
    ],
)
def test_the_operator_is_named_for_weaknesses_and_at_the_foot(client, settings, said, link):
    settings.CONTACT = Environment({"CANDOR_CONTACT": said}).contact("CANDOR_CONTACT")
    lines = dict(
        line.split(": ", 1)
        for line in client.get("/.well-known/security.txt?Contact:%20b")
        .content.decode()
        .splitlines()
    )
    assert lines["Contact"] == link
    assert lines["Canonical"] == "http://testserver/.well-known/security.txt"
    left = datetime.datetime.fromisoformat(lines["Expires"]) - timezone.now()
    assert datetime.timedelta(days=30) < left < datetime.timedelta(days=365)
    assert f'href="{link}"' in client.get("/help/").content.decode()


def test_where_nobody_is_named_there_is_no_file(client, settings):
    settings.CONTACT = ""
    assert client.get("/.well-known/security.txt").status_code == 404
    assert "mailto:" not in client.get("/help/").content.decode()


@pytest.mark.parametrize(
    "said", ["javascript:alert(1)", "nobody", "http://a@b", 'a@b"><i>', "a\x00@b", "https://a:b@c/"]
)
def test_what_is_no_contact_is_named_and_not_shown(said):
    environment = Environment({"CANDOR_CONTACT": said})
    assert environment.contact("CANDOR_CONTACT") == ""
    (problem,) = environment.problems
    assert problem.variable == "CANDOR_CONTACT"
    assert "email address" in problem.expected
