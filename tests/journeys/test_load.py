"""Many posts at once: each report counts once, whatever the order, and nobody sees a server
error.
"""

import json
import random
import socket
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from tests.patience import PATIENCE, became

POSTS, AT_ONCE, REPORTS = 640, 16, 40

MAKE = """
import datetime, json
from tests.conftest import STUDY, QUESTIONS
from surveys.design import services
study = services.draft_study(study={**STUDY, "slug": "load"}, questions=QUESTIONS)
plan = services.open_study(why="A test.", study_id=study.pk, who="ada", now=datetime.datetime.now(datetime.UTC))
print(json.dumps(plan.digest))
"""
COUNT = """
import json
from surveys.design.models import Plan
from surveys.aggregation.selectors import received
from surveys.intake.models import Receipt
plan = Plan.objects.get(study__slug="load")
print(json.dumps([Receipt.objects.filter(plan=plan).count(), received(plan)]))
"""


def test_forty_reports_posted_sixteen_times_each_are_forty_reports(site):
    digest = site.python(MAKE)
    bodies = [
        json.dumps(
            {
                "plan": digest,
                "report_id": f"{i:032x}",
                "answers": {"copied": i % 2, "fair": [i % 5], "often": [0]},
            }
        )
        for i in range(REPORTS)
    ] * (POSTS // REPORTS)
    random.Random(1).shuffle(bodies)

    def post(body: str) -> tuple[int, str]:
        url = f"{site.base}/api/v1/studies/load/reports"
        request = urllib.request.Request(url, body.encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                return response.status, json.loads(response.read())["receipt"]
        except urllib.error.HTTPError as error:
            return error.code, ""

    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = list(threads.map(post, bodies))
    assert Counter(status for status, _ in found) == {201: REPORTS, 200: POSTS - REPORTS}
    assert len({receipt for _, receipt in found}) == REPORTS
    assert site.python(COUNT) == [REPORTS, REPORTS]


def has_ended(line):
    """Tell whether the other end has closed a line, whatever it said before."""
    try:
        while line.recv(4096):
            pass
    except BlockingIOError:
        return False
    return True


def test_who_says_nothing_holds_no_place(site):
    """So many lines are held open at once, and no more: silent ones are let go after ten
    seconds.
    """
    address = "127.0.0.1", int(site.environment["CANDOR_PORT"])
    said = (b"", b"GET / HT", b"PRI * HTTP/2.0", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    with ExitStack() as stack:
        lines = [stack.enter_context(socket.create_connection(address)) for _ in said]
        for line, words in zip(lines, said, strict=True):
            line.sendall(words)
            line.setblocking(False)
        for line in lines:
            assert became(lambda line=line: has_ended(line))
