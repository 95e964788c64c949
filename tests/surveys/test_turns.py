"""Any number of schedulers are as one, and any of them may be killed."""

import datetime
import threading

import pytest
from celery.app.trace import build_tracer
from django.conf import settings
from django.db import connection

from surveys.aggregation import services, tasks
from surveys.celery import app
from surveys.operations.models import Sign
from surveys.turns import takes_turn

SECOND = datetime.timedelta(seconds=1)


def done(name, **headers):
    """Do a task as a worker does that got it with these headers."""
    task = app.tasks[name]
    request = {"id": "1", "args": (), "kwargs": {}, "is_eager": False, **headers}
    return build_tracer(name, task, app=app, eager=True)("1", (), {}, request)


@pytest.fixture
def swept(monkeypatch):
    times = []
    monkeypatch.setattr(tasks.report_tables, "marked", lambda: times.append(1) or [])
    return times


def test_a_turn_is_taken_once_a_period(db, now):
    assert takes_turn(name="x", every=10, now=now)
    assert not takes_turn(name="x", every=10, now=now + 3 * SECOND)
    assert takes_turn(name="y", every=10, now=now + 3 * SECOND)
    assert takes_turn(name="x", every=10, now=now + 9.9 * SECOND)


def test_a_clock_that_was_put_back_is_not_waited_for(db, now):
    takes_turn(name="x", every=10, now=now)
    assert takes_turn(name="x", every=10, now=now - 86_400 * SECOND)


def test_of_two_schedulers_one_is_heard_in_each_period(db, swept):
    name = "surveys.aggregation.tasks.sweep_all"
    for _ in range(2):
        done(name, candor_every=10)
    assert len(swept) == 1
    Sign.objects.filter(name="aggregation.sweep_all").update(
        at=datetime.datetime.now(datetime.UTC) - 10 * SECOND
    )
    for _ in range(2):
        done(name, candor_every=10)
    assert len(swept) == 2


def test_what_an_older_scheduler_sends_is_done_as_ever(db, swept):
    for _ in range(2):
        done("surveys.aggregation.tasks.sweep_all")
    assert len(swept) == 2


def test_a_task_that_is_tried_again_has_its_turn_already(db, swept):
    name = "surveys.aggregation.tasks.sweep_all"
    done(name, candor_every=10)
    done(name, candor_every=10, retries=1)
    assert len(swept) == 2


def test_every_periodic_task_says_how_often_it_comes_and_its_name_has_room(db):
    app.loader.import_default_modules()
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert entry["options"]["headers"] == {"candor_every": int(entry["schedule"])}
        assert entry["task"] in app.tasks
        assert len(entry["task"].removeprefix("surveys.").replace(".tasks", "")) <= 30


@pytest.fixture
def committed(django_db_setup, django_db_blocker):
    """Let what a test writes be seen by other connections, and take it away afterwards."""
    with django_db_blocker.unblock():
        yield
        Sign.objects.all().delete()
        connection.close()


@pytest.mark.engine("postgresql")
def test_of_many_at_the_same_moment_one_takes_the_turn(committed, now):
    takes_turn(name="x", every=10, now=now - 60 * SECOND)
    barrier, taken = threading.Barrier(8), []

    def take():
        barrier.wait()
        taken.append(takes_turn(name="x", every=10, now=now))
        connection.close()

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [False] * 7 + [True]


def test_two_sweeps_of_all_at_once_seal_each_report_once(answered, today):
    plan = answered(20)
    assert services.sweep_all(today=today) + services.sweep_all(today=today) == 20
    assert services.sweep_plan(plan, today) == 0
