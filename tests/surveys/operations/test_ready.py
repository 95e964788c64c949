"""All that the site works with: what is missing is named, to the log and to who holds the token."""

import contextlib
import datetime
import json

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from surveys.operations import backlog, database, ready, services
from tests.conftest import NOW
from tests.surveys.intake.test_reports import URL, body

WELL = backlog.Queue(answers=True)


@pytest.fixture(autouse=True)
def queue(monkeypatch):
    found = {"is": WELL}
    monkeypatch.setattr(backlog, "look", lambda: found["is"])
    monkeypatch.setattr(ready, "logged", {()})
    return found


@pytest.fixture
def well(db):
    services.live(now=NOW, sent=NOW)


def test_where_all_is_there_nothing_is_missing(well):
    assert ready.missing(NOW) == []


def test_each_thing_that_is_missing_is_named(well, queue, monkeypatch):
    queue["is"] = backlog.Queue(answers=False)
    assert ready.missing(NOW) == ["broker"]
    queue["is"] = WELL
    assert ready.missing(NOW + datetime.timedelta(minutes=3)) == ["worker", "scheduler"]
    MigrationRecorder.Migration.objects.filter(app="operations", name="0001_release_0_9").delete()
    assert ready.missing(NOW) == ["migrations"]

    def broken():
        raise DatabaseError("password=secret")

    with monkeypatch.context() as patched:
        patched.setattr(database.connection, "cursor", broken)
        assert ready.missing(NOW) == ["database"]


def test_a_scheduler_is_there_if_what_it_sent_waits(well, queue):
    later = NOW + datetime.timedelta(minutes=3)
    queue["is"] = backlog.Queue(answers=True, waiting=1, oldest=NOW, newest=later)
    assert ready.missing(later) == ["worker"]


def test_it_is_logged_when_it_changes_and_not_with_every_probe(well, queue, caplog):
    for answers in (True, False, False, True, True):
        queue["is"] = backlog.Queue(answers=answers)
        ready.missing(NOW)
    assert [(each.msg["event"], each.msg["missing"]) for each in caplog.records] == [
        ("not ready", ["broker"]),
        ("ready again", []),
    ]


@contextlib.contextmanager
def read_only():
    """Have the database refuse what writes, as a server in recovery does."""
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA query_only = ON")
        else:
            cursor.execute("SET TRANSACTION READ ONLY")
        try:
            yield
        finally:
            if connection.vendor == "sqlite":
                cursor.execute("PRAGMA query_only = OFF")
            transaction.set_rollback(True)


def test_a_database_that_takes_no_writes_is_named_and_pages_open_all_the_same(
    well, plan, client, admin_user
):
    with read_only():
        assert ready.missing(NOW) == ["database (read only)"]
        for page in (
            "/",
            "/registry/",
            "/registry/exam-honesty/",
            "/s/exam-honesty/",
            "/receipts/",
        ):
            assert client.get(page).status_code == 200, page
        assert client.get("/health/live").content == b"live"
    assert ready.missing(NOW) == []


def test_a_database_that_answers_and_stores_nothing_is_named(well, monkeypatch):
    """Its disk is full, say. It is asked to store a row every ten seconds at most."""
    now, asked = [1000.0], []

    def full(**_row):
        asked.append(now[0])
        raise DatabaseError("no space left on device")

    monkeypatch.setattr(database.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(database, "tried", {"at": float("-inf"), "well": True})
    with monkeypatch.context() as patched:
        patched.setattr(services.Sign.objects, "update_or_create", full)
        for _second in range(12):
            assert ready.missing(NOW) == ["database (read only)"]
            now[0] += 1
    assert asked == [1000, 1011]
    now[0] += 11
    assert ready.missing(NOW) == []
    assert services.Sign.objects.filter(name="written").exists()


def test_a_report_to_a_database_that_takes_no_writes_is_asked_to_come_again(plan, client, caplog):
    message = json.dumps(body(plan))
    with read_only():
        answer = client.post(URL, message, content_type="application/json")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "report not stored" in caplog.text
    assert client.post(URL, message, content_type="application/json").status_code == 201


@pytest.mark.redis
def test_a_broker_that_was_emptied_has_nothing_waiting_and_is_there(well, monkeypatch):
    """What is to be done stands in the database: the next look of the scheduler finds it."""
    monkeypatch.undo()
    from surveys.celery import app

    with app.connection_for_write() as broker:
        for _number in range(3):
            app.send_task("surveys.operations.tasks.ping", connection=broker, expires=60)
        assert backlog.look().waiting >= 3
        broker.default_channel.client.flushall()
    assert backlog.look() == backlog.Queue(answers=True)
    assert ready.missing(NOW) == []
    app.send_task("surveys.operations.tasks.ping")
    assert backlog.look().waiting == 1
