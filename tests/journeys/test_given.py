"""Answers that are sent as given: from the form to a release, and nowhere in the clear on the way.

Everybody gives the same number, which stands nowhere else. It is looked for in all that the site
leaves behind while answers wait, when they are sealed and after a release of them: every value of
every table, every byte of the data folder (database, write-ahead log, broker, keys aside), the
broker's memory, and the log.
"""

import contextlib
import json
import os
import subprocess
import urllib.error
import urllib.request

import environ
import pytest
import redis

from tests.journeys.respondent import visit
from tests.journeys.site import running_site

EARNED = 918_273_645
SPELLED = [
    str(EARNED).encode(),
    f"{EARNED:,}".encode(),
    f"{EARNED:x}".encode(),
    EARNED.to_bytes(8, "little"),
]
PEOPLE = 24
# A cap that the release does not reach: a worker retires what is spent within a minute, and erases
# its reports.
OPEN = """
import datetime, json
from decimal import Decimal
from tests.conftest import STUDY
from surveys.design import services
shared = {"protection": "publication"}
study = services.draft_study(study={**STUDY, "release_epsilon": Decimal("0.5"), "smallest_batch": 10, "widest": 100}, questions=[
    {"name": "copied", "kind": "yes_no", "text": "Have you copied?", "label": "Copied"},
    {"name": "earned", "kind": "number", "text": "How much did you earn?", "label": "Earned", "least": 0,
     "most": 2_000_000_000, "unit": "øre", **shared},
    {"name": "region", "kind": "single", "text": "Where?", "label": "Region", "choices": "North\\nSouth", **shared},
])
plan = services.open_study(why="A test.", study_id=study.pk, who="ada", now=datetime.datetime.now(datetime.UTC))
print(json.dumps(plan.digest))
"""
CLOSE = """
import datetime, json
from surveys.design import services
from surveys.design.models import Plan
services.close_plan(plan_id=Plan.objects.get().pk, today=datetime.datetime.now(datetime.UTC).date())
print(json.dumps(None))
"""
SWEEP = """
import datetime, json
from surveys.aggregation import services
print(json.dumps(services.sweep_all(today=datetime.datetime.now(datetime.UTC).date())))
"""
PUBLISH = """
import datetime, json
from surveys.releases import services
print(json.dumps(services.publish_due(now=datetime.datetime.now(datetime.UTC))))
"""
JOINT = """
import json
from surveys.aggregation import selectors
from surveys.design.models import Plan
print(json.dumps(sorted(selectors.joint(Plan.objects.get(), ["earned", "region"]).items())))
"""
PLANT = f"""
import json
from surveys.design.models import Plan
from surveys.intake import report_tables
planted = (Plan.objects.get(), "[1]", ({EARNED}).to_bytes(8, "little"), None)
try:
    report_tables.put([(planted[0].pk, *planted[1:])])
except report_tables.NoPlace:  # its table went when the Plan had closed and been swept
    report_tables.make_place(planted[0].pk)
    report_tables.put([(planted[0].pk, *planted[1:])])
print(json.dumps(None))
"""
TABLES = """
import json
from django.db import connection
found = {}
with connection.cursor() as cursor:
    for table in connection.introspection.table_names(cursor):
        cursor.execute(f'SELECT * FROM "{table}"')
        found[table] = [[v.hex() if isinstance(v := bytes(x) if isinstance(x, memoryview) else x, bytes) else str(v)
                         for x in row] for row in cursor.fetchall()]
print(json.dumps(found))
"""


@pytest.fixture
def site(folder, bare):
    """A site whose worker sweeps when it is told to: so that answers can be looked at while they
    wait.
    """
    with running_site(folder, bare, CANDOR_SWEEP_SECONDS="86400") as found:
        yield found


def post(site, digest, number):
    answers = {"copied": number % 2, "earned": EARNED, "region": number % 2}
    body = json.dumps({"plan": digest, "report_id": f"{number:032x}", "answers": answers}).encode()
    url = f"{site.base}/api/v1/studies/exam-honesty/reports"
    request = urllib.request.Request(url, body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        assert response.status == 201


def refused(site, digest):
    """Post the number where it does not belong: its refusal must not repeat it, to the sender or
    to the log.
    """
    for answers in (
        {"copied": EARNED, "earned": 1, "region": 0},
        {"copied": 0, "earned": -EARNED, "region": EARNED},
    ):
        body = json.dumps({"plan": digest, "report_id": "ab" * 16, "answers": answers}).encode()
        url = f"{site.base}/api/v1/studies/exam-honesty/reports"
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(
                urllib.request.Request(url, body, headers={"Content-Type": "application/json"})
            )
        assert refusal.value.code == 422
        assert str(EARNED) not in refusal.value.read().decode()


def found_in(site):
    """Return every place that holds the number, however spelled."""
    places = {}
    folder = site.environment["CANDOR_DATA"]
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with contextlib.suppress(OSError), open(path, "rb") as file:  # a socket, or gone
                places[path] = file.read()
    for table, rows in site.python(TABLES).items():
        places[f"table {table}"] = json.dumps(rows).encode()
        places[f"table {table}, bytes"] = b"|".join(
            bytes.fromhex(v) for row in rows for v in row if is_hex(v)
        )
    places |= broker(site)
    if "DATABASE_URL" in site.environment:
        places["dump"] = dump(site.environment["DATABASE_URL"])
    assert any("up.log" in place for place in places)
    return sorted(
        place for place, held in places.items() if any(spelling in held for spelling in SPELLED)
    )


def is_hex(value):
    return len(value) % 2 == 0 and all(letter in "0123456789abcdef" for letter in value)


def broker(site):
    """Return all that the broker remembers, results of tasks too."""
    url = site.python(
        "import json; from django.conf import settings; "
        "print(json.dumps(settings.CELERY_BROKER_URL))"
    )
    if url.startswith("redis+socket"):
        client = redis.Redis(unix_socket_path=url.removeprefix("redis+socket://"))
    else:
        client = redis.Redis.from_url(url)
    with client:
        held = {
            f"broker {key!r}": repr(held_by(client, key)).encode() for key in client.scan_iter()
        }
    assert not [place for place in held if "celery-task-meta" in place]
    return held


def held_by(client, key):
    """Return what a key holds, uncompressed."""
    readers = {b"string": client.get, b"hash": client.hgetall, b"set": client.smembers}
    ranges = {b"list": client.lrange, b"zset": client.zrange}
    kind = client.type(key)
    if kind == b"none":
        return None  # a task that ended meanwhile
    return ranges[kind](key, 0, -1) if kind in ranges else readers[kind](key)


def dump(url):
    config = environ.Env.db_url_config(url)
    command = ["pg_dump", "-h", config["HOST"], "-U", config["USER"], config["NAME"]]
    try:
        return subprocess.run(command, capture_output=True, check=True).stdout
    except FileNotFoundError:  # the tables were read one by one
        return b""


def test_no_answer_is_in_the_clear_in_anything_the_site_leaves_behind(site, chromium):
    digest = site.python(OPEN)
    for number in range(PEOPLE - 1):
        post(site, digest, number)
    refused(site, digest)
    guest = visit(chromium)
    ask_in_other_words(guest, site)
    guest.page.goto(f"{site.base}/s/exam-honesty/#{digest}")
    answer_at_a_browser(guest)
    assert guest.complaints == guest.violations == []
    guest.context.close()

    assert found_in(site) == []
    site.python(CLOSE)
    assert site.python(SWEEP) == PEOPLE
    assert found_in(site) == []
    counted = site.python(JOINT)
    assert {earned for (earned, _), _ in counted} == {EARNED}
    assert sum(people for _, people in counted) == PEOPLE
    assert len(site.python(PUBLISH)) == 1
    assert found_in(site) == []
    site.python(PLANT)
    assert "table intake_openreport, bytes" in found_in(site)  # so it would have been found


def ask_in_other_words(guest, site):
    """Serve a Plan that sends nothing as given to a page that says something is: no word of it
    would be true.
    """
    with urllib.request.urlopen(f"{site.base}/api/v1/studies/exam-honesty/plan") as response:
        plan = json.load(response)
    plan["questions"] = plan["questions"][:1]
    guest.page.route("**/plan", lambda route: route.fulfill(json=plan))
    guest.page.goto(f"{site.base}/s/exam-honesty/")
    guest.page.get_by_role("heading", name="Your browser refuses to ask these questions").wait_for()
    assert (
        "page: expected words for device-1 fresh-1-of-1; reload it, got device-1 publication-2 fresh-1-of-1"
        in guest.page.content()
    )
    guest.page.unroute("**/plan")


def text_of(page, selector):
    """Return a text as it reads: its numbers are held together by spaces that do not break."""
    return page.locator(selector).inner_text().replace("\xa0", " ")


def answer_at_a_browser(guest):
    """Answer by keyboard where there is a choice; try what is out of bounds; look at what the
    page says and keeps.
    """
    page = guest.page
    page.get_by_role("button", name="Start").wait_for()
    promise = page.locator("#promise").inner_text().replace("\xa0", " ")
    assert promise.startswith(
        "The research team can read your answers to questions 2 and 3. A court could"
    )
    assert "This does not cover questions 2 and 3." in text_of(page, ".promise .guesses")
    page.locator("summary", has_text="Who could learn my real answer?").press("Enter")
    # the worst comes first
    assert "They could learn all of your answers" in text_of(page, ".label tbody >> nth=0")
    label = text_of(page, ".label tbody >> nth=1")
    for who in ("The research team", "Someone who steals the database and its key", "A court"):
        assert who in label
    assert label.count("Yes, what you answered") == 1  # one answer for all three
    page.get_by_role("button", name="Start").press("Enter")
    guest.choose("Yes")
    guest.go_on()
    page.get_by_text("Not randomised: the research team can read this answer").wait_for()
    page.locator("#typed-earned").press_sequentially(str(3 * EARNED))
    page.keyboard.press("Enter")
    said = page.get_by_role("alert").inner_text()
    assert "Enter a whole number from 0 to 2000000000 to continue." in said
    assert str(3 * EARNED) not in said
    page.locator("#typed-earned").fill(str(EARNED))
    page.keyboard.press("Enter")
    page.get_by_text("Question 3 of 3").wait_for()
    page.go_back()
    page.locator("#typed-earned").fill("changed my mind")
    page.go_forward()  # which leaves the field without a word: what it shows must be what counts
    page.get_by_text("Question 2 of 3").wait_for()
    page.locator("#typed-earned").fill(str(EARNED))
    page.keyboard.press("Enter")
    page.get_by_text("Question 3 of 3").wait_for()
    page.get_by_text("Not randomised: the research team can read this answer").wait_for()
    page.keyboard.press("Shift+Tab")
    guest.choose("South")
    guest.go_on()
    page.get_by_role("heading", name="Ready to send").wait_for()
    assert text_of(page, ".reads").startswith(
        "Questions 2 and 3 are not randomised: your real answers are sent. "
        "The research team can read them."
    )
    page.route("**/reports", lambda route: route.abort())
    page.get_by_role("button", name="Send my response").click()
    page.get_by_role("heading", name="Not sent yet").wait_for()
    assert "kept in this page only" in page.locator("main").inner_text()
    kept = (
        "JSON.stringify([{...localStorage}, {...sessionStorage}, history.state, "
        "document.title, location.href])"
    )
    assert str(EARNED) not in page.evaluate(kept)
    assert page.evaluate("[Object.keys(localStorage), sessionStorage.length]") == [
        [],
        0,
    ]
    page.unroute("**/reports")
    guest.complaints.clear()  # the request that was cut off
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="Sent. Thank you.").wait_for()
    page.get_by_text("Details").click()
    sent = text_of(page, "main")
    assert f"{EARNED} øre" in sent
    assert "Questions 2 and 3: no limit on what they reveal (ε = ∞)" in sent
    assert guest.bodies[0] == guest.bodies[1]
    # which is printed and photographed
    assert json.loads(guest.bodies[1])["report_id"] not in page.content()
    assert json.loads(guest.bodies[1])["answers"]["earned"] == EARNED
    assert guest.context.cookies() == []
    assert all("?" not in request.url for request in guest.requests)
