"""A disk that is full: reports are asked to come again, pages open, and nothing needs a hand once
there is room.
"""

import pytest

from tests.surveys.operations.older import laid_out, said

FULL = """
import json
from django.db import connection
from django.test import Client
from surveys.design import selectors as design
from surveys.intake.models import OpenReport
client, before = Client(headers={"host": "localhost"}), OpenReport.objects.count()
plan = design.latest_plan("medicines-and-help")
def post(number):
    answers = plan.content.randomised(dict.fromkeys(plan.content.channels, 0))
    report = {"plan": plan.digest, "report_id": f"{number:032x}", "answers": answers}
    bodies.setdefault(number, json.dumps(report))
    url = f"/api/v1/studies/{plan.study.slug}/reports"
    return client.post(url, bodies[number], content_type="application/json")
bodies, statuses = {}, []
with connection.cursor() as cursor:
    cursor.execute("PRAGMA page_count")
    cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0] + 20}")
    while len(statuses) < 900 and statuses[-1:] != [503]:
        statuses.append((answer := post(len(statuses))).status_code)
    pages = [client.get(page).status_code for page in ("/", "/health/live", "/registry/")]
    cursor.execute("PRAGMA max_page_count = 1073741823")
again = post(len(statuses) - 1).status_code
stored = OpenReport.objects.count() - before
print(json.dumps([statuses[-1], answer["Retry-After"], sorted(set(statuses[:-1])), pages, again,
                  stored == len(statuses)]))
"""


@pytest.mark.engine("sqlite")
def test_reports_come_again_when_there_is_room(tmp_path):
    """The file may not grow: SQLite says then what it says of a disk without room."""
    site = laid_out(tmp_path)
    site.manage("migrate", "--verbosity", "0")
    assert said(site, FULL) == [503, "5", [201], [200, 200, 200], 201, True]
