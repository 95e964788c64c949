"""What the site does for itself: checks the ledger once a day, and tells when its tasks were
sent.
"""

import datetime
import json

import pytest
from django.db import connection

from surveys import turns
from surveys.operations import backlog, checks, services, tasks
from surveys.operations.models import Event, Sign
from tests.conftest import NOW

HOUR = datetime.timedelta(hours=1)


def test_the_ledger_is_checked_once_a_day(plan):
    assert checks.verify_if_due(now=NOW).went_well
    assert checks.verify_if_due(now=NOW + 23 * HOUR) is None
    assert checks.verify_if_due(now=NOW + 24 * HOUR).went_well
    assert Event.objects.count() == 2


@pytest.mark.engine("sqlite")
def test_a_ledger_that_was_changed_is_an_error_and_an_event_that_names_the_row(plan, capsys):
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER ledger_entry_no_update")
        cursor.execute("UPDATE ledger_entry SET who = 'nobody' WHERE position = 2")
    event = checks.verify(now=NOW)
    assert not event.went_well
    assert "row 2: was changed" in event.said


def test_old_events_are_forgotten(db):
    for hour in range(services.KEPT + 5):
        services.note(kind="backup", went_well=True, said="", size=1, now=NOW + hour * HOUR)
    assert Event.objects.count() == services.KEPT
    assert Event.objects.last().at == NOW + 5 * HOUR


def test_every_task_says_when_it_was_sent_and_nothing_else():
    headers = {"task": "some"}
    turns.say_when(headers=headers)
    moment = backlog.sent_at(json.dumps({"headers": headers}).encode())
    assert abs(datetime.datetime.now(datetime.UTC) - moment) < datetime.timedelta(minutes=1)
    assert set(headers) == {"task", turns.SENT}


@pytest.mark.parametrize(
    "message",
    [None, b"", b"x", b"[]", b"{}", b'{"headers": {}}', b'{"headers": {"candor_sent": "x"}}'],
)
def test_a_task_without_its_moment_has_none(message):
    assert backlog.sent_at(message) is None


def test_a_broker_that_is_not_there_does_not_answer(settings, monkeypatch, tmp_path):
    from surveys.celery import app

    monkeypatch.setattr(app.conf, "broker_url", f"redis+socket://{tmp_path}/none.sock")
    assert not backlog.look().answers


def test_a_worker_notes_itself_and_the_scheduler(db):
    tasks.live.apply(headers={turns.SENT: NOW.timestamp()})
    assert Sign.objects.filter(name=services.WORKER).exists()
