"""Reports of invited people: one a ticket, none without, by both doors alike."""

import hashlib
import json
import os
import random

import pytest
from django.db import connection

from surveys.intake import posts
from surveys.intake.models import OpenReport, Receipt, Settled
from surveys.intake.reports import open_envelope, read_report
from surveys.plan import tickets as plan_tickets
from tests import tickets
from tests.conftest import open_invited
from tests.surveys.intake.posted import Sent, post_all
from tests.surveys.intake.test_reports import body, post
from tests.surveys.intake.test_rsgi import by_the_page, door as door

ANSWERS = {"copied": 1, "fair": [3], "often": [0]}
URL = "/api/v1/studies/invited/reports"


@pytest.fixture(params=["pages", "door"])
def send(request, client, monkeypatch):
    """Post a report by one of the two doors, and return its status, field and JSON."""
    served = request.getfixturevalue("door") if request.param == "door" else None

    def post_one(content, slug="invited"):
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        sent = Sent(slug, raw)
        answer = post_all(served, [sent], 1)[0] if served else by_the_page(client, sent)
        said = json.loads(answer.body)
        return answer.status, said.get("error", {}).get("field"), said

    return post_one


def report(plan, stratum=0, key=None, **changes):
    """Return a report of somebody of a stratum."""
    key = key or tickets.keys(2)[stratum]
    made = tickets.made(key, plan.digest, stratum)
    return {"plan": plan.digest, "answers": ANSWERS, **made, **changes}


def stored():
    return Receipt.objects.count() + Settled.objects.count() + OpenReport.objects.count()


@pytest.mark.parametrize("stratum", [0, 1])
def test_a_report_with_a_ticket_is_taken_and_the_same_again_is_the_same(invited, send, stratum):
    sent = report(invited, stratum)
    first, again = send(sent), send(sent)
    assert (first[0], again[0]) == (201, 200)
    assert first[2] == again[2]
    other = {**sent, "answers": {**ANSWERS, "copied": 0}}
    assert send(other)[:2] == (409, "report_id")
    assert OpenReport.objects.count() == 1
    digest = hashlib.sha256(sent["report_id"].encode()).digest()
    assert bytes(Receipt.objects.get().id_digest) == digest


def test_who_sends_one_report_again_and_again_does_not_learn_how_many_others_came(
    invited, settings
):
    settings.REPORTS_AT_ONCE = 2
    sent = json.dumps(report(invited)).encode()
    found = [posts.answer_all([posts.enter("invited", sent)])[0].status for _ in range(40)]
    assert found == [201] + [200] * 39


def test_the_stratum_is_known_of_the_report(invited):
    read = lambda sent: read_report(open_envelope(json.dumps(sent).encode()), invited)  # noqa: E731
    assert [read(report(invited, stratum)).stratum for stratum in (0, 1)] == [0, 1]


def without(sent, *parts):
    return {name: value for name, value in sent.items() if name not in parts}


def with_ticket(sent, **parts):
    return {**sent, "ticket": {**sent["ticket"], **parts}}


def forged(sent):
    signature = bytearray(tickets.unb64(sent["ticket"]["signature"]))
    signature[100] ^= 1
    return with_ticket(sent, signature=tickets.b64(bytes(signature)))


def foreign(plan, sent):
    """Return a report whose ticket is of another wave's key."""
    return report(plan, key=tickets.new_key())


def of_another_plan(plan, sent):
    """Return a report whose ticket the same key has signed for another Plan."""
    made = tickets.made(tickets.keys(2)[0], "ab" * 32)
    message = plan_tickets.message(bytes.fromhex(made["ticket"]["prefix"]), plan.digest)
    return {**sent, **made, "report_id": plan_tickets.report_id(message)}


REFUSED = {
    "none": lambda plan, sent: without(sent, "ticket"),
    "nothing": lambda plan, sent: {**sent, "ticket": None},
    "a forged one": lambda plan, sent: forged(sent),
    "a foreign one": foreign,
    "one of another Plan": of_another_plan,
    "one of another stratum": lambda plan, sent: with_ticket(sent, stratum=1),
    "one of no stratum": lambda plan, sent: with_ticket(sent, stratum=2),
    "one of far away": lambda plan, sent: with_ticket(sent, stratum=10**15),
    "an empty message": lambda plan, sent: with_ticket(sent, signature="A"),
    "zero": lambda plan, sent: with_ticket(sent, signature=tickets.b64(bytes(256))),
    "one that is longer": lambda plan, sent: with_ticket(
        sent, signature=tickets.b64(b"\0" + tickets.unb64(sent["ticket"]["signature"]))
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_without_a_ticket_of_the_plan_and_stratum_nothing_is_stored(invited, send, name):
    status, field, said = send(REFUSED[name](invited, report(invited)))
    assert (status, field) == (403, "ticket")
    assert not stored()
    assert "fair" not in json.dumps(said)


MALFORMED = {
    "another id": lambda sent: {**sent, "report_id": "0f" * 16},
    "another prefix": lambda sent: with_ticket(sent, prefix="ab" * 32),
    "a short prefix": lambda sent: with_ticket(sent, prefix="ab" * 31),
    "a prefix in capitals": lambda sent: with_ticket(sent, prefix="AB" * 32),
    "a prefix that is none": lambda sent: with_ticket(sent, prefix=7),
    "no prefix": lambda sent: {**sent, "ticket": without(sent["ticket"], "prefix")},
    "no stratum": lambda sent: {**sent, "ticket": without(sent["ticket"], "stratum")},
    "a negative stratum": lambda sent: with_ticket(sent, stratum=-1),
    "a stratum in words": lambda sent: with_ticket(sent, stratum="0"),
    "no base64": lambda sent: with_ticket(sent, signature="a+/="),
    "an empty signature": lambda sent: with_ticket(sent, signature=""),
    "a long signature": lambda sent: with_ticket(sent, signature="A" * 1001),
    "a part more": lambda sent: with_ticket(sent, more=1),
    "a text": lambda sent: {**sent, "ticket": "a ticket"},
    "a list": lambda sent: {**sent, "ticket": []},
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_ticket_is_named_and_not_repeated(invited, send, name):
    sent = report(invited)
    status, field, said = send(MALFORMED[name](sent))
    assert status == 422
    assert field in ("ticket", "report_id", "prefix", "stratum", "more", "body")
    assert sent["ticket"]["prefix"] not in json.dumps(said)
    assert not stored()


def test_a_ticket_of_an_open_link_is_refused(plan, send):
    sent = body(plan) | tickets.made(tickets.keys()[0], plan.digest)
    assert send(sent, "exam-honesty")[:2] == (422, "ticket")
    assert not stored()


def test_a_ticket_of_another_wave_or_study_is_refused(invited, send, monkeypatch):
    other = open_invited("other", at=2)
    sent = report(other, key=tickets.keys(4)[2])
    assert send(sent, "other")[0] == 201
    crossed = {**sent, "plan": invited.digest}
    message = plan_tickets.message(bytes.fromhex(sent["ticket"]["prefix"]), invited.digest)
    crossed["report_id"] = plan_tickets.report_id(message)
    assert send(crossed)[:2] == (403, "ticket")
    assert OpenReport.objects.count() == 1


def test_the_doors_answer_alike_word_for_word(invited, client, door):
    chance = random.Random(16)
    good = [report(invited), report(invited)]
    sent = [change(invited, each) for change in REFUSED.values() for each in good]
    sent += [change(each) for change in MALFORMED.values() for each in good]
    chance.shuffle(sent)
    posts = [Sent("invited", json.dumps(each).encode()) for each in sent]
    by_door = post_all(door, posts, 8)
    assert by_door == [by_the_page(client, each) for each in posts]
    assert {each.status for each in by_door} == {403, 422}
    noted = {(status, field.partition(".")[0]) for status, field, _ in door.noted}
    assert (403, "ticket") in noted


def test_whoever_has_the_database_and_the_log_gets_no_report_in(invited, client, capfd, caplog):
    """Try all that is there: every row of every table of intake, as ids, prefixes, signatures."""
    taken = [report(invited, at % 2) for at in range(6)]
    assert {post(client, each, URL).status_code for each in taken} == {201}
    with connection.cursor() as cursor:
        rows = []
        for table in ("intake_receipt", "intake_settled", "intake_openreport", "design_plan"):
            cursor.execute(f"SELECT * FROM {table}")  # noqa: S608
            rows += [value for row in cursor.fetchall() for value in row]
    log = caplog.text + "".join(capfd.readouterr())
    seen = [bytes(each) for each in rows if isinstance(each, bytes | memoryview)]
    seen += [each.encode() for each in rows if isinstance(each, str)]
    for each in taken:
        ticket = each["ticket"]
        signature = tickets.unb64(ticket["signature"])
        secret = (ticket["prefix"], ticket["signature"], each["report_id"], signature.hex())
        for part in secret:
            assert part not in log
            assert not any(part.encode() in value for value in seen)
        assert not any(signature in value for value in seen)
    before = stored()
    digests = [bytes(row) for row in Receipt.objects.values_list("id_digest", flat=True)]
    for prefix in [*digests, os.urandom(32)]:
        message = plan_tickets.message(prefix, invited.digest)
        for signature in [*seen, bytes(256), b"\1" * 256]:
            attempt = {
                "plan": invited.digest,
                "answers": ANSWERS,
                "report_id": plan_tickets.report_id(message),
                "ticket": tickets.as_part(prefix, signature[:600] or b"\0"),
            }
            assert post(client, attempt, URL).status_code == 403
    assert stored() == before
