"""An issuer in a process of its own, asked over HTTP: `manage.py issuer`."""

import contextlib
import datetime
import http.client
import json
import re
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from surveys.issuer import services, tables
from surveys.issuer.models import Key
from surveys.issuer.refusals import Away, Refused
from surveys.issuer.services import Counts
from tests import tickets
from tests.doors import HOUSE, answers
from tests.patience import PATIENCE, became
from tests.plans import whole
from tests.ports import free_port
from tests.surveys.another_site import another_site
from tests.surveys.issuer.conftest import blinded, opened

SLOW = re.compile("Killing worker-[0-9]+ after it refused to gracefully stop")  # a busy machine
TOKEN = "a token of both, which nobody guesses"
ORIGIN = "https://survey.example"


@pytest.fixture
def apart(tmp_path, settings):
    """An issuer elsewhere, and this site as its client."""
    port = free_port()
    with another_site(tmp_path) as environment:
        mine = {"CANDOR_PORT": str(port), "ISSUER_TOKEN": TOKEN, "ISSUER_ORIGIN": ORIGIN}
        mine |= {"CANDOR_REPORTS_AT_ONCE": "5000"}
        with (tmp_path / "log").open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "issuer"],
                cwd=HOUSE,
                env=environment | mine,
                stdout=output,
                stderr=output,
            )
        try:
            assert became(lambda: answers(port) or process.poll() is not None)
            assert process.poll() is None, (tmp_path / "log").read_text()
            settings.ISSUER_URL, settings.ISSUER_TOKEN = f"http://127.0.0.1:{port}", TOKEN
            yield process
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
            said = (tmp_path / "log").read_text().splitlines()  # nothing of anybody, and no fault
            assert [line for line in said if not SLOW.search(line)] == []
        finally:
            process.kill()
            process.wait()


def post(settings, what, content, **headers):
    line = http.client.HTTPConnection(settings.ISSUER_URL.removeprefix("http://"), timeout=60)
    with contextlib.closing(line):
        raw = content if isinstance(content, str) else json.dumps(content)
        told = {"Content-Type": "application/json", **headers}
        line.request("POST", f"/issuer/{what}", raw, told)
        answer = line.getresponse()
        return answer.status, answer.read()


def asks(listed, who, own):
    return {
        "plan": listed.plan,
        "stratum": who.stratum,
        "code": who.code,
        "blinded": tickets.b64(own.blinded),
    }


def test_two_hundred_at_once_get_one_ticket_by_one_code(apart, settings):
    listed = opened(people=1)
    who = listed.people[1]
    own = [blinded(listed, who) for _ in range(20)]
    fetch = lambda at: (at % 20, post(settings, "tickets", asks(listed, who, own[at % 20])))  # noqa: E731
    with ThreadPoolExecutor(32) as pool:
        got = list(pool.map(fetch, range(200)))
    found = Counter(status for _, (status, _) in got)
    assert found == {200: 10, 409: 190}
    ((at, body),) = {(at, body) for at, (status, body) in got if status == 200}
    signature = tickets.unb64(json.loads(body)["signature"])
    assert tickets.finish(listed.moduli[1], own[at], signature)
    assert services.counts(listed.plan) == [Counts(1, 0, 0), Counts(1, 1, 0)]


def test_all_that_a_site_asks_goes_over_the_wire(apart, settings, tmp_path, client):
    listed = opened()
    first, second, *_ = listed.people
    assert post(settings, "tickets", asks(listed, first, blinded(listed, first)))[0] == 200
    gone = [first.reference, second.reference]
    assert services.fetched(listed.plan, gone) == {first.reference}
    assert services.fetched(listed.plan, gone[1:]) == set()
    services.withdraw(listed.plan, gone)
    services.reissue(listed.plan, first.reference)
    assert services.counts(listed.plan) == [Counts(3, 1, 1), Counts(3, 0, 0)]
    with pytest.raises(Refused) as refusal:
        services.reissue(listed.plan, "00" * 16)
    assert (refusal.value.field, refusal.value.status) == ("reference", 422)
    assert str(refusal.value) == "reference: expected somebody of this Plan"
    services.close_plan(listed.plan)
    assert services.counts(listed.plan) == [Counts(3, 1, 1), Counts(3, 0, 0)]
    assert client.post("/issuer/tickets", "{}", content_type="application/json").status_code == 404
    if (path := tmp_path / "candor.sqlite3").exists():
        with contextlib.closing(sqlite3.connect(path)) as database:
            query = "SELECT name FROM sqlite_master WHERE type = 'table'"
            names = {name for (name,) in database.execute(query)}
        own = {"code", "invitation", "key", "mark", "settling"}
        assert {name for name in names if not name.startswith("sqlite_")} == {
            "django_migrations",
            *(f"issuer_{each}" for each in own),
        }


OLDER = """
import sys
import django
django.setup()
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
MigrationRecorder(connection).record_applied(sys.argv[1], "0001_initial")
connection.cursor().execute("CREATE TABLE issuer_settling (id bigint)")
"""


@pytest.mark.parametrize(
    "app", ["issuer", "design"]
)  # its own, and one of a site that it shares with
def test_an_issuer_of_earlier_days_does_not_start(tmp_path, app):
    with another_site(tmp_path) as environment:
        mine = {"ISSUER_TOKEN": TOKEN, "ISSUER_ORIGIN": ORIGIN}
        mine |= {"DJANGO_SETTINGS_MODULE": "surveys.issuer.site"}
        run = {"cwd": HOUSE, "env": environment | mine, "capture_output": True, "text": True}
        subprocess.run([sys.executable, "-c", OLDER, app], check=True, **run)
        begun = subprocess.run([sys.executable, "manage.py", "issuer"], timeout=PATIENCE, **run)
    assert begun.returncode == 1
    assert "of a version before 0.9" in begun.stderr


@pytest.mark.django_db
def test_here_is_no_key_of_an_issuer_elsewhere(apart):
    opened()
    assert not Key.objects.exists()


def test_nobody_without_the_token_has_a_verb_done(apart, settings):
    for token in ("", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x"):
        status, _ = post(settings, "verbs/make_keys", {"count": 1}, Authorization=token)
        assert status == 404
    own = {"Authorization": f"Bearer {TOKEN}"}
    assert post(settings, "verbs/settle", {}, **own)[0] == 404
    for body in ("", "{}", '{"count": "1"}', '{"count": 1, "more": 1}', "[" * 9000):
        assert post(settings, "verbs/make_keys", body, **own)[0] == 422
    assert post(settings, "../", {}, **own)[0] == 404


@pytest.mark.django_db
@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[" * 9000,
        b"\xff",
        b"{}",
        whole(loss=[0, 1]).encode(),
        whole(more=1).encode(),
        whole(blocks=[{"questions": ["nobody"], "name": "b", "channel": {}}]).encode(),
    ],
    ids=["nothing", "deep", "no text", "empty", "no loss", "more than it has", "who is not asked"],
)
def test_what_is_no_plan_is_named(document):
    with pytest.raises(Refused, match=r"^document: expected a Plan$"):
        services.open_plan(document)


def test_an_issuer_that_is_not_there_is_away(settings):
    settings.ISSUER_URL, settings.ISSUER_TOKEN = f"http://127.0.0.1:{free_port()}", TOKEN
    with pytest.raises(Away, match="ISSUER_URL: expected an issuer, got"):
        services.make_keys(1)


def test_an_issuer_needs_its_token(settings):
    settings.ISSUER_TOKEN = ""
    with pytest.raises(CommandError, match="ISSUER_TOKEN"):
        call_command("issuer")


def test_a_site_without_a_token_offers_no_verbs(client, settings):
    settings.ISSUER_TOKEN = ""
    for token in ("", "Bearer", "Bearer "):
        response = client.post("/issuer/verbs/make_keys", headers={"authorization": token})
        assert response.status_code == 404


def test_each_night_is_settled_once(monkeypatch, db):
    from surveys.issuer.management.commands import issuer

    days = []
    monkeypatch.setattr(tables, "settle", days.append)
    before = datetime.datetime.now(datetime.UTC).date()
    issuer.settle()
    assert days[0] in (before, datetime.datetime.now(datetime.UTC).date())
