"""Reports by way of a log, through kill -9 of doors and consumers: each is one receipt and is counted
once, whatever stands in the log twice.
"""

import contextlib
import subprocess
import sys

import pytest

from tests.brokers import cluster
from tests.doors import DOOR, HOUSE, served
from tests.journeys.site import Site, own_environment
from tests.journeys.test_door import begin_posts, ended
from tests.journeys.test_load import COUNT, MAKE
from tests.patience import PATIENCE, became

POSTS = 1500
STUCK = """
import threading, time
from surveys.intake import broker, logged
from surveys.intake.models import Receipt
from tests.patience import PATIENCE
sound, stop = broker.Reader.done, threading.Event()
def stick(self):
    if Receipt.objects.exists():  # markers come too
        print("stored", flush=True)
        time.sleep(PATIENCE)
    sound(self)
broker.Reader.done = stick
patience = threading.Timer(PATIENCE, stop.set)
patience.daemon = True
patience.start()
logged.consume(broker.Reader(broker.topic()), stop)
"""
CLOSE = """
import datetime
from surveys.design import services
from surveys.design.models import Plan
plan = Plan.objects.get(study__slug="load")
services.close_plan(plan_id=plan.pk, today=datetime.date.today())
print("true")
"""
CLOSE_MEANWHILE = """
import datetime, json, threading
from concurrent.futures import ThreadPoolExecutor
from django.db import OperationalError, connection
from surveys.design import services
from surveys.design.models import Plan
from surveys.intake import broker, group, logged
from tests.patience import PATIENCE
from tests.surveys.intake.test_group import entry

plan = Plan.objects.get(study__slug="load")
today = datetime.datetime.now(datetime.UTC).date()
impatient = {"postgresql": "SET lock_timeout = 500", "sqlite": "PRAGMA busy_timeout = 500"}
began, goes_on = threading.Event(), threading.Event()
sound, said = broker.Topic.append, []

def append(self, lines, day):
    began.set()
    goes_on.wait(PATIENCE)
    return sound(self, lines, day)

def post(number):
    try:
        outcome, = group.accept_all([entry(plan, number, day=today)], logged.append_all)
        return type(outcome).__name__
    finally:
        connection.close()

broker.Topic.append = append
with ThreadPoolExecutor(1) as threads:
    posting = threads.submit(post, 1)
    said.append(began.wait(PATIENCE))
    with connection.cursor() as cursor:
        cursor.execute(impatient[connection.vendor])
    try:
        services.close_plan(plan_id=plan.pk, today=today)
        said.append("closed")
    except OperationalError:
        said.append("waits")
    goes_on.set()
    said.append(posting.result(PATIENCE))
    connection.close()
    services.close_plan(plan_id=plan.pk, today=today)
    said.append(threads.submit(post, 2).result(PATIENCE))
broker.Topic.append = sound
print(json.dumps(said))
"""
SWEEP = """
import datetime, json
from surveys.aggregation import selectors, services
from surveys.design.models import Plan
plan = Plan.objects.get(study__slug="load")
swept = services.sweep_plan(plan, datetime.date.today())
print(json.dumps([swept, selectors.everything_is_sealed(plan)]))
"""


@pytest.fixture
def place(tmp_path, bare):
    """A site whose door has a log, and of which nothing runs yet; and its one Plan."""
    with cluster() as servers:
        more = {
            "CANDOR_REPORTS_AT_ONCE": "1000000",
            "REPORTS_LOG": f"kafka://{servers}/reports",
        }
        site = Site("", {**own_environment(tmp_path, like=bare), **more}, tmp_path / "log")
        yield site, site.python(MAKE)
        site.end()


@contextlib.contextmanager
def consumer(site):
    process = subprocess.Popen(
        [sys.executable, "manage.py", "take_from_log"], cwd=HOUSE, env=site.environment
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_nothing_is_lost_or_counted_twice_through_kills_of_doors_and_consumers(place):
    site, plan = place
    with served(site.environment, site.log, *DOOR) as door:
        posting = begin_posts(door.port, plan, POSTS)
        with site.begin(STUCK) as stuck:
            assert stuck.stdout.readline().strip() == "stored"
            stuck.kill()  # between the commit and the deletion
        before = site.python(COUNT)[0]
        assert before > 0
        door.kill_worker()
        with consumer(site) as first:
            became(lambda: site.python(COUNT)[0] > before)
            first.kill()
            first.wait(PATIENCE)
        found = ended(posting)
    assert set(found.last) <= {"202", "200"}
    assert sum(found.last.values()) == POSTS
    assert set(found.statuses) <= {"202", "200", "503"}
    with consumer(site), consumer(site):
        site.python(CLOSE)
        assert became(lambda: site.python(SWEEP)[1], pause=0.5)
    assert site.python(COUNT) == [POSTS, POSTS]


def test_a_closing_waits_for_what_the_log_is_about_to_acknowledge(place):
    """So that a marker comes after all that is answered 202."""
    site, _ = place
    assert site.python(CLOSE_MEANWHILE) == [True, "waits", "Logged", "Refused"]


def test_a_consumer_ends_when_told_and_says_what_it_lacks(place):
    site, _ = place
    with consumer(site) as process:
        process.terminate()
        assert process.wait(PATIENCE) in (0, -15)
    without = {**site.environment, "REPORTS_LOG": ""}
    done = subprocess.run(
        [sys.executable, "manage.py", "take_from_log"],
        cwd=HOUSE,
        env=without,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "REPORTS_LOG: expected kafka://" in done.stderr
