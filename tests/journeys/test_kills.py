"""kill -9 at the worst moment: nothing lost, nothing twice, nothing unpaid."""

import contextlib
import os
import signal

import pytest

from tests.journeys.site import Site, own_environment, running_site

MAKE = """
import datetime, json
from tests.conftest import STUDY, QUESTIONS
from surveys.demo.services import answer_as_browsers
from surveys.design import services
from surveys.intake.models import OpenReport
today = datetime.date.today()
study = services.draft_study(study=STUDY, questions=QUESTIONS)
plan = services.open_study(why="A test.", study_id=study.pk, who="ada", now=datetime.datetime.now(datetime.UTC))
from django.db import transaction
with transaction.atomic():
    answer_as_browsers(plan, [{"copied": int(i % 3 == 0), "fair": i % 5, "often": i % 4} for i in range(3000)], today)
    services.close_plan(plan_id=plan.pk, today=today)
counts = {"copied": [0] * 2, "fair": [0] * 5, "often": [0] * 4}
for report in OpenReport.objects.values_list("values", flat=True):
    copied, fair, often = json.loads(report)
    for name, held in (("copied", [copied]), ("fair", fair), ("often", often)):
        for choice in held:
            counts[name][choice] += 1
print(json.dumps(counts))
"""
STUCK = """
import datetime, time
from surveys.aggregation import services as aggregation
from surveys.releases import services as releases
from {module} import {name} as victim
def stick(*args, **kwargs):
    print("in the middle", flush=True)
    time.sleep(600)
victim.{verb} = stick
now = datetime.datetime.now(datetime.UTC)
aggregation.sweep_all(today=now.date())
releases.publish_due(now=now)
"""
SWEEP = """
import datetime, json
from surveys.aggregation import services
print(json.dumps(services.sweep_all(today=datetime.date.today())))
"""
TALLY = """
import json
from surveys.aggregation.models import Tally
from surveys.intake.models import OpenReport
print(json.dumps([OpenReport.objects.count(), *Tally.objects.values_list("reports", "counts")]))
"""
PUBLISH = """
import datetime, json
from surveys.releases import services
services.publish_due(now=datetime.datetime.now(datetime.UTC))
print(json.dumps(None))
"""
PAID = """
import json
from surveys.ledger.models import Entry
from surveys.releases.models import Release, Request
releases = [release.numbers["n"] for release in Release.objects.all()]
print(json.dumps([Entry.charges.count(), Request.objects.count(), releases]))
"""


@pytest.fixture(scope="module")
def answered(tmp_path_factory, bare):
    """What a site has that got answers and did not sweep them, and what they come to."""
    folder = tmp_path_factory.mktemp("answered")
    site = Site("", own_environment(folder, like=bare), folder)
    counts = site.python(MAKE)
    site.end()
    return site, counts


@pytest.fixture
def quiet(folder, answered):
    """A site with answers to sweep, whose own worker does not look for them during the test."""
    with running_site(folder, answered[0], CANDOR_SWEEP_SECONDS="86400") as site:
        yield site


def kill_in_the_middle(site, module, name, verb):
    with site.begin(STUCK.format(module=module, name=name, verb=verb)) as process:
        assert process.stdout.readline().strip() == "in the middle"
        process.kill()


def test_a_worker_killed_in_a_sweep_and_in_a_release_changes_no_number(quiet, answered):
    _, by_hand = answered
    kill_in_the_middle(quiet, "surveys.aggregation.models", "Batch", "objects.create")
    assert quiet.python(TALLY)[0] == 3000
    assert quiet.python(SWEEP) == 3000
    assert quiet.python(TALLY) == [0, [3000, by_hand]]

    kill_in_the_middle(quiet, "surveys.releases.models", "Release", "save")
    assert quiet.python(PAID) == [0, 0, []]
    quiet.python(PUBLISH)
    quiet.python(PUBLISH)
    assert quiet.python(PAID) == [1, 1, [3000]]


def workers_of(site):
    """Process ids of the site's Celery workers, from their command lines and data folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with (
                open(f"/proc/{pid}/cmdline", "rb") as line,
                open(f"/proc/{pid}/environ", "rb") as environment,
            ):
                words, variables = line.read().split(b"\0"), environment.read()
        except OSError:
            continue
        if b"worker" in words and site.environment["CANDOR_DATA"].encode() in variables:
            found.append(int(pid))
    return found


def test_workers_that_keep_being_killed_still_end_with_the_right_numbers(folder, answered):
    made, by_hand = answered
    with running_site(folder, made, CANDOR_SWEEP_SECONDS="1") as site:
        for _ in range(5):
            victims = site.wait_for(lambda: workers_of(site), "no worker")
            for pid in victims:
                with contextlib.suppress(
                    ProcessLookupError
                ):  # it went with the one that was killed before it
                    os.kill(pid, signal.SIGKILL)
        site.wait_for(lambda: site.python(PAID)[2], "nothing was published")
        assert site.python(TALLY) == [0, [3000, by_hand]]
        assert site.python(PAID) == [1, 1, [3000]]
