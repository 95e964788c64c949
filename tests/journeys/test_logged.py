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
from tests.patience import became

POSTS = 1500
STUCK = """
import threading, time
from surveys.intake import broker, logged
def stick(self):
    if self.ends:
        print("stored", flush=True)
        time.sleep(600)
broker.Reader.done = stick
logged.consume(broker.Reader(broker.topic()), threading.Event())
"""
CLOSE = """
import datetime
from surveys.design import services
from surveys.design.models import Plan
plan = Plan.objects.get(study__slug="load")
services.close_plan(plan_id=plan.pk, today=datetime.date.today())
print("true")
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
        process.wait()


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
            first.wait()
        found = ended(posting)
    assert set(found.last) <= {"202", "200"}
    assert sum(found.last.values()) == POSTS
    assert set(found.statuses) <= {"202", "200", "503"}
    with consumer(site), consumer(site):
        site.python(CLOSE)
        assert became(lambda: site.python(SWEEP)[1], pause=0.5)
    assert site.python(COUNT) == [POSTS, POSTS]


def test_a_consumer_ends_when_told_and_says_what_it_lacks(place):
    site, _ = place
    with consumer(site) as process:
        process.terminate()
        assert process.wait() in (0, -15)
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
