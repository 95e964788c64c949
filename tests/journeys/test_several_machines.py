"""Two doors, pages, workers and schedulers on one database, one broker and a replica: what
docs/several-machines.md says, on one machine.
"""

import contextlib
import json
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import environ
import pytest

from tests.doors import DOOR, HOUSE, PAGES, served
from tests.journeys.site import Site, own_environment, prepared
from tests.journeys.test_load import COUNT, MAKE, posted
from tests.patience import PATIENCE
from tests.services import postgres, redis, standby

pytestmark = pytest.mark.engine("postgresql")
REPORTS = 80
CLOSE = """
import datetime
from surveys.design import services
from surveys.design.models import Plan
services.close_plan(plan_id=Plan.objects.get().pk, today=datetime.date.today())
print("true")
"""
SEALED = """
import json
from surveys.aggregation.selectors import batch_sizes, everything_is_sealed
from surveys.design.models import Plan
plan = Plan.objects.get()
print(json.dumps([everything_is_sealed(plan), sum(batch_sizes(plan))]))
"""


@pytest.fixture
def site(folder, tmp_path_factory):
    """A site with servers of its own, of which no program runs."""
    with ExitStack() as stack:
        server = stack.enter_context(postgres())
        like = prepared(tmp_path_factory.mktemp("several") / "prepared", server=server)
        own = own_environment(folder, like=like, server=server)
        copy = stack.enter_context(standby(environ.Env.db_url_config(server)["HOST"]))
        own |= {
            "READ_DATABASE_URL": f"{copy.rpartition('/')[0]}/{own['DATABASE_URL'].rpartition('/')[2]}",
            "REDIS_URL": stack.enter_context(redis()),
            "ALLOWED_HOSTS": "127.0.0.1",
            "CANDOR_SWEEP_SECONDS": "1",
            "CANDOR_REPORTS_AT_ONCE": "100000",
        }
        site = Site("", own, folder / "log")
        stack.callback(site.end)
        yield site


@contextlib.contextmanager
def machine(site: Site, name: str) -> Iterator[tuple[Site, Site]]:
    """Run a door, pages, a worker and a scheduler; yield the site by the door, and by the pages."""
    worker = ("surveys", "worker", "--concurrency", "1", "--without-gossip", "--without-mingle")
    beat = ("surveys.scheduler", "beat", "--schedule", str(site.log.with_name(name)), "--pidfile=")
    with ExitStack() as stack:
        log = stack.enter_context(site.log.open("ab"))
        for words in ((*worker, "--hostname", f"{name}@%h"), beat):
            command = [sys.executable, "-m", "celery", "--quiet", "-A", *words]
            process = subprocess.Popen(
                command, cwd=HOUSE, env=site.environment, stdout=log, stderr=log
            )
            stack.callback(process.wait, PATIENCE)
            stack.callback(process.terminate)
        yield tuple(
            replace(site, base=f"http://127.0.0.1:{stack.enter_context(running).port}")
            for running in (
                served(site.environment, site.log, *DOOR),
                served(site.environment, site.log, *PAGES),
            )
        )


def bodies(digest: str, numbers: range) -> list[str]:
    answers = {"copied": 1, "fair": [0], "often": [0]}
    return [
        json.dumps({"plan": digest, "report_id": f"{number:032x}", "answers": answers})
        for number in numbers
    ]


def test_each_report_counts_once_by_whichever_machine_and_one_of_two_is_enough(site):
    digest = site.python(MAKE)
    with machine(site, "one") as (door, pages):
        with machine(site, "other") as (other_door, other_pages):
            sent = bodies(digest, range(REPORTS // 2))
            found = posted(door.base, "load", sent[::2]) + posted(other_door.base, "load", sent)
            found += posted(door.base, "load", sent)
            assert Counter(status for status, _ in found) == {
                201: len(sent),
                200: len(sent) * 3 // 2,
            }
            assert len({receipt for _, receipt in found}) == len(sent)
            for each in (pages, other_pages):
                with urllib.request.urlopen(f"{each.base}/registry/", timeout=PATIENCE) as page:
                    assert "Exam honesty" in page.read().decode()
            site.manage("backup")
        late = posted(door.base, "load", bodies(digest, range(REPORTS // 2, REPORTS)))
        assert Counter(status for status, _ in late) == {201: REPORTS // 2}
        site.python(CLOSE)
        site.wait_for(lambda: site.python(SEALED)[0], "not all is sealed")
    assert site.python(SEALED) == [True, REPORTS]
    assert site.python(COUNT) == [REPORTS, REPORTS]
    site.manage("verify_ledger")
