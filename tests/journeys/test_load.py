"""Many posts at once, to both ways of taking them, the pages of `manage.py up` and a door beside
them: each report counts once, whatever the order, and nobody sees a server error.
"""

import contextlib
import json
import random
import socket
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from surveys.plan.tickets import report_id
from tests import tickets
from tests.doors import DOOR, served
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
from surveys.intake.models import Receipt, Settled
plan = Plan.objects.get(study__slug="load")
both = Receipt.objects.filter(plan=plan).values("id_digest").union(Settled.objects.filter(plan=plan).values("id_digest"))
print(json.dumps([both.count(), received(plan)]))  # at midnight they move
"""


@pytest.fixture(params=["pages", "door"])
def way(request, site, tmp_path):
    """A way of taking reports, and its address."""
    with contextlib.ExitStack() as stack:
        base = site.base
        if request.param == "door":
            door = stack.enter_context(served(site.environment, tmp_path / "door.log", *DOOR))
            base = f"http://127.0.0.1:{door.port}"
        yield request.param, base


def test_forty_reports_posted_sixteen_times_each_are_forty_reports(site, way):
    slug, base = f"load-{way[0]}", way[1]
    first = REPORTS * (way[0] == "door")  # an id is taken once, whatever it is about
    digest = site.python(MAKE.replace("load", slug))
    bodies = [
        json.dumps(
            {
                "plan": digest,
                "report_id": f"{first + i:032x}",
                "answers": {"copied": i % 2, "fair": [i % 5], "often": [0]},
            }
        )
        for i in range(REPORTS)
    ] * (POSTS // REPORTS)
    random.Random(1).shuffle(bodies)

    found = posted(base, slug, bodies)
    assert Counter(status for status, _ in found) == {201: REPORTS, 200: POSTS - REPORTS}
    assert len({receipt for _, receipt in found}) == REPORTS
    assert site.python(COUNT.replace("load", slug)) == [REPORTS, REPORTS]


def posted(base, slug, bodies):
    """Post reports, so many at once; return the status and the receipt of each."""

    def post(body: str) -> tuple[int, str]:
        url = f"{base}/api/v1/studies/{slug}/reports"
        request = urllib.request.Request(url, body.encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                return response.status, json.loads(response.read())["receipt"]
        except urllib.error.HTTPError as error:
            return error.code, ""

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(post, bodies))


INVITE = """
import datetime, json, os
from msgspec import convert
from tests import tickets
from tests.conftest import STUDY, QUESTIONS
from surveys.design import services
from surveys.issuer import services as issuer
from surveys.plan.content import Invited
moduli, now = issuer.make_keys(2), datetime.datetime.now(datetime.UTC)
listed = {**STUDY, "slug": "listed", "is_invited": True}
study = services.draft_study(study=listed, questions=QUESTIONS)
part = convert(tickets.invited(moduli), Invited)
plan = services.open_study(why="A test.", study_id=study.pk, who="ada", now=now, invited=part)
issuer.open_plan(plan.document.encode())
codes = [tickets.new_code() for _ in range(40)]
people = [(os.urandom(16).hex(), at % 2, tickets.code_digest(code)) for at, code in enumerate(codes)]
issuer.invite(plan.digest, people)
print(json.dumps([plan.digest, moduli, codes]))
"""


def fetched(site, digest, moduli, codes):
    """Return the parts of reports of everybody who holds these codes."""
    for at, code in enumerate(codes):
        own = tickets.blind(moduli[at % 2], digest)
        asked = {
            "plan": digest,
            "stratum": at % 2,
            "code": code,
            "blinded": tickets.b64(own.blinded),
        }
        body = json.dumps(asked).encode()
        request = urllib.request.Request(
            f"{site.base}/issuer/tickets", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            signature = tickets.unb64(json.loads(response.read())["signature"])
        signed = tickets.finish(moduli[at % 2], own, signature)
        yield {
            "plan": digest,
            "report_id": report_id(own.message),
            "ticket": tickets.as_part(own.prefix, signed, at % 2),
        }


def test_forty_tickets_sent_sixteen_times_each_are_forty_reports(site, way):
    slug, base = f"listed-{way[0]}", way[1]
    digest, moduli, codes = site.python(INVITE.replace('"listed"', f'"{slug}"'))
    bodies = [
        json.dumps(report | {"answers": {"copied": time % 2, "fair": [3], "often": [0]}})
        for report in fetched(site, digest, moduli, codes)
        for time in range(POSTS // REPORTS)
    ]
    random.Random(1).shuffle(bodies)
    found = posted(base, slug, bodies)
    statuses = Counter(status for status, _ in found)
    assert statuses == {201: REPORTS, 200: 7 * REPORTS, 409: 8 * REPORTS}  # half say the other
    assert len({receipt for _, receipt in found if receipt}) == REPORTS
    assert site.python(COUNT.replace("load", slug)) == [REPORTS, REPORTS]


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
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(socket.create_connection(address)) for _ in said]
        for line, words in zip(lines, said, strict=True):
            line.sendall(words)
            line.setblocking(False)
        for line in lines:
            assert became(lambda line=line: has_ended(line))
