"""POST /issuer/tickets and /issuer/marks: one ticket an invitation, and what is refused."""

import os
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client

from surveys.issuer import services, signing, views
from surveys.issuer.models import Mark
from surveys.plan.tickets import EXPONENT
from tests import tickets
from tests.surveys.issuer.conftest import asked, blinded, fetch, opened, person

OTHER = "ab" * 32


def refused(response):
    error = response.json()["error"]
    return response.status_code, error["field"]


def test_a_ticket_is_fetched_unblinded_and_verified(client, listed):
    who = listed.people[-1]
    own = blinded(listed, who)
    response = fetch(client, listed, who, own)
    assert response.status_code == 200, response.content
    assert response["Cache-Control"] == "no-store"
    assert not response.cookies
    signature = tickets.unb64(response.json()["signature"])
    assert len(tickets.finish(listed.moduli[who.stratum], own, signature)) == 256


def test_the_same_again_gives_the_same_bytes_and_another_message_conflicts(client, listed):
    who = listed.people[0]
    own = blinded(listed, who)
    first = fetch(client, listed, who, own)
    assert fetch(client, listed, who, own).content == first.content
    assert refused(fetch(client, listed, who, blinded(listed, who))) == (409, "blinded")
    assert Mark.objects.count() == 1


def test_each_code_of_a_person_works_until_one_has_fetched(client, listed):
    who = listed.people[0]
    letter = person(who.stratum)._replace(reference=who.reference)
    services.invite(listed.plan, [letter.row])
    own = blinded(listed, who)
    assert fetch(client, listed, letter, own).status_code == 200
    assert fetch(client, listed, who, own).status_code == 200
    assert fetch(client, listed, who, blinded(listed, who)).status_code == 409


def test_whoever_guesses_learns_nothing_of_why(client, listed, django_assert_num_queries):
    here, there = listed.people[0], listed.people[-1]
    other = opened()
    gone = listed.people[1]
    services.withdraw(listed.plan, [gone.reference])
    own = blinded(listed, here)
    codes = [tickets.new_code(), there.code, other.people[0].code, gone.code, "A" * 22]
    answers = []
    for code in codes:
        with django_assert_num_queries(2):  # for none of them more is done than for another
            answers.append(fetch(client, listed, here, own, code=code))
    assert {each.status_code for each in answers} == {403}
    assert len({each.content for each in answers}) == 1
    assert fetch(client, listed, here, own, plan=OTHER).content == answers[0].content
    assert fetch(client, listed, here, own, stratum=7).content == answers[0].content
    assert not Mark.objects.exists()


def of_key(listed, number):
    return tickets.b64(number.to_bytes(256))


@pytest.mark.parametrize("number", [0, 1, -1, -2])
def test_a_message_that_tells_of_the_key_or_of_nothing_is_refused(client, listed, number):
    who, n = listed.people[0], int(listed.moduli[0], 16)
    number = {0: 0, 1: 1, -1: n - 1, -2: n}[number]
    response = fetch(client, listed, who, blinded(listed, who), blinded=of_key(listed, number))
    assert refused(response) == (422, "blinded")
    assert not Mark.objects.exists()


def test_a_message_that_is_not_coprime_is_refused(client, listed, monkeypatch):
    key = tickets.new_key()
    p = key.private.private_numbers().p
    monkeypatch.setattr(signing, "new_key", lambda: (key.modulus, key.d.to_bytes(256)))
    listed = opened(strata=1)
    who = listed.people[0]
    for number in (p, 3 * p, int(key.modulus, 16) - p):
        response = fetch(client, listed, who, blinded(listed, who), blinded=of_key(listed, number))
        assert refused(response) == (422, "blinded")
    assert not Mark.objects.exists()


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("plan", "ab" * 31),
        ("plan", "AB" * 32),
        ("plan", 7),
        ("stratum", -1),
        ("stratum", "0"),
        ("stratum", 0.5),
        ("code", "short"),
        ("code", "é" * 22),
        ("code", None),
        ("blinded", ""),
        ("blinded", "a" * 5),
        ("blinded", "a" * 342 + "="),
        ("blinded", "a" * 9_000),
        ("blinded", tickets.b64(os.urandom(255))),
        ("blinded", tickets.b64(os.urandom(257))),
        ("more", 1),
    ],
)
def test_what_is_malformed_is_named_and_not_repeated(client, listed, part, value):
    who = listed.people[0]
    response = fetch(client, listed, who, blinded(listed, who), **{part: value})
    assert response.status_code == 422
    assert who.code not in response.content.decode()
    assert not Mark.objects.exists()


@pytest.mark.parametrize("body", [b" ", b"[]", b"nothing", b"[" * 5000, b'{"plan": "\xff"}'])
def test_what_is_no_object_is_refused(client, listed, body):
    assert asked(client, "tickets", body).status_code == 422
    assert asked(client, "marks", body).status_code == 422


def test_everybody_can_look_up_their_own_mark(client, listed):
    who, other = listed.people[:2]
    fetch(client, listed, who, blinded(listed, who))
    look = lambda code, plan=listed.plan: asked(client, "marks", {"plan": plan, "code": code})  # noqa: E731
    assert look(who.code).json() == {"fetched": True, "alone": False}
    assert look(other.code).json() == {"fetched": False, "alone": False}
    strangers = [look(tickets.new_code()), look(who.code, OTHER), look(opened().people[0].code)]
    assert [refused(each) for each in strangers] == [(403, "code")] * 3
    services.reissue(listed.plan, who.reference)
    assert look(who.code).json() == {
        "fetched": True,
        "alone": False,
    }  # once: the list's owner cannot hide it
    services.close_plan(listed.plan)
    assert look(who.code).status_code == 410


def test_codes_of_before_answer_for_themselves_after_the_statement_of_the_upgrade(client, listed):
    statement = re.search(r"UPDATE issuer_code .*;", Path("docs/upgrade.md").read_text())
    came, who = listed.people[:2]
    fetch(client, listed, came, blinded(listed, came))
    with connection.cursor() as cursor:
        cursor.execute(statement[0])
    letter = person(who.stratum)._replace(reference=who.reference)
    services.invite(listed.plan, [letter.row])
    fetch(client, listed, letter, blinded(listed, letter))
    look = lambda own: asked(client, "marks", {"plan": listed.plan, "code": own.code}).json()  # noqa: E731
    assert look(who) == {"fetched": False, "alone": True}
    assert look(came) == {"fetched": True, "alone": False}


def test_a_closed_plan_issues_nothing(client, listed):
    who = listed.people[0]
    services.close_plan(listed.plan)
    assert refused(fetch(client, listed, who, blinded(listed, who))) == (410, "plan")


def test_no_other_page_gets_anything_done(client, listed, settings):
    who = listed.people[0]
    said = {"plan": listed.plan, "code": who.code}
    assert asked(client, "marks", said, origin="http://testserver").status_code == 200
    assert refused(asked(client, "marks", said, origin="https://evil.example")) == (403, "Origin")
    plain = client.post("/issuer/marks", b"{}", content_type="text/plain")
    assert refused(plain) == (415, "Content-Type")
    settings.ISSUER_ORIGIN = "https://survey.example"
    response = asked(client, "marks", said, origin="https://survey.example")
    assert response.json() == {"fetched": False, "alone": False}
    assert response["Access-Control-Allow-Origin"] == "https://survey.example"
    assert asked(client, "marks", said, origin="https://evil.example").status_code == 403


def test_a_browser_may_ask_first(client, settings):
    settings.ISSUER_ORIGIN = "https://survey.example"
    for origin, told in (("https://survey.example", True), ("https://evil.example", False)):
        response = client.options("/issuer/tickets", headers={"origin": origin})
        assert response.status_code == 204
        assert ("Access-Control-Allow-Origin" in response) is told
    assert client.get("/issuer/tickets").status_code == 405


def test_a_network_that_asks_too_often_waits(client, listed, settings):
    settings.REPORTS_AT_ONCE = 2
    who = listed.people[0]
    answers = [asked(client, "marks", {"plan": listed.plan, "code": who.code}) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 429]
    assert int(answers[-1]["Retry-After"]) > 0
    assert refused(answers[-1]) == (429, "address")


def test_a_fault_of_the_machine_tells_nothing(client, listed, monkeypatch):
    who = listed.people[0]
    own = blinded(listed, who)
    real = signing.powmod_sec
    monkeypatch.setattr(signing, "powmod_sec", lambda *args: real(*args) ^ 1)
    response = fetch(client, listed, who, own)
    assert refused(response) == (503, "body")
    monkeypatch.undo()
    assert fetch(client, listed, who, own).status_code == 200  # the same again


def test_nothing_of_it_is_logged(listed, monkeypatch, capfd, caplog):
    who = listed.people[0]
    own = blinded(listed, who)
    client = Client(raise_request_exception=False)
    fetch(client, listed, who, own)
    fetch(client, listed, who, blinded(listed, who))
    fetch(client, listed, who, own, code=tickets.new_code())
    monkeypatch.setattr(signing, "powmod_sec", lambda *args: 1)
    assert fetch(client, listed, who, own).status_code == 503
    monkeypatch.setattr(views.fetching, "issue", None)
    assert fetch(client, listed, who, own).status_code == 500
    said = caplog.text + "".join(capfd.readouterr())
    assert "the issuer failed" in said
    for secret in (who.code, who.reference, tickets.b64(own.blinded), "127.0.0.1"):
        assert secret not in said


def test_signing_hides_the_message_from_its_own_arithmetic(listed, monkeypatch):
    seen, real = [], signing.powmod_sec
    key = tickets.keys()[0]
    monkeypatch.setattr(
        signing, "powmod_sec", lambda base, *rest: seen.append(base) or real(base, *rest)
    )
    own = tickets.blind(key.modulus, listed.plan)
    made = {signing.sign(key.modulus, key.d.to_bytes(256), own.blinded) for _ in range(3)}
    assert len(made) == 1
    assert len({*seen, int.from_bytes(own.blinded)}) == 4  # each time another, none the message
    (signature,) = made
    n = int(key.modulus, 16)
    assert pow(int.from_bytes(signature), EXPONENT, n) == int.from_bytes(own.blinded)
