"""Many posts at once: each report counts once, whatever the order, and nobody sees a server
error.
"""

import json
import random
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.patience import PATIENCE

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
