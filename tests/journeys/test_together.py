"""Questions sent as one answer, by the pages alone: planned, drafted, opened, answered, swept,
published, read, exported, analysed; and joined and parted in the editor.
"""

import csv
import io
import json
import re

import pytest
from playwright.sync_api import expect

from tests.journeys.respondent import visit
from tests.journeys.test_accessibility import complaints
from tests.journeys.test_planning import signed_in, tab_to

DESKTOP, SMALL = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
TITLE, STUDY = "Sent as one", "/studies/sent-as-one/"
QUESTIONS = ("Have you copied?", "Have you lied?", "Were you caught?", "Were you late?")
# how many others answer, as browsers do
CROWD = 190
ANSWER = """
import datetime
from surveys.demo.services import answer_as_browsers
from surveys.design.models import Plan
plan = Plan.objects.get(study__slug="sent-as-one")
people = [dict(q1=at % 2, q2=at % 2, q3=int(at % 4 == 0), q4=0) for at in range({crowd})]
answer_as_browsers(plan, people, datetime.datetime.now(datetime.UTC).date())
print(1)
"""


@pytest.fixture(scope="module")
def researcher(chromium, site):
    page = signed_in(chromium, site, viewport=DESKTOP)
    yield page
    page.context.close()


@pytest.fixture(scope="module")
def link(researcher):
    """Plan four questions for 200 people, make the study, open it; return its link."""
    page = researcher
    page.goto("/plan/")
    for id, typed in (("n", "200"), ("many_1", "4")):
        tab_to(page, id)
        page.keyboard.press("Control+a")
        page.keyboard.type(typed)
    expect(page.locator("#why")).to_contain_text("Each person is asked 2 of 4, sent as one answer")
    expect(page.locator("#together")).to_have_text("2 × yes or no (2 ×)")
    page.get_by_role("link", name="Make this study").click()
    for id, typed in (
        ("id_title", TITLE),
        ("id_organisation", "Aldermoor"),
        ("id_purpose", "To try."),
        ("id_contact", "a@example.org"),
        *((f"id_q{at}-text", text) for at, text in enumerate(QUESTIONS, start=1)),
    ):
        page.locator(f"#{id}").fill(typed)
    page.get_by_role("button", name="Begin the draft").click()
    page.wait_for_url("**/launch/")
    expect(page.get_by_text("sent as one")).not_to_have_count(0)
    page.get_by_role("button", name="Open wave 1 permanently").click()
    return page.get_by_label("Link for respondents").input_value()


@pytest.fixture(scope="module")
def plan(link, researcher):
    return researcher.request.get("/api/v1/studies/sent-as-one/plan").json()


@pytest.fixture(scope="module")
def sent(link, plan, chromium):
    """Ten people answer in browsers of their own; return what left each."""
    found = []
    for _ in range(10):
        guest = visit(chromium, viewport=SMALL)
        guest.page.goto(link)
        guest.page.get_by_role("button", name="Start").wait_for()
        head = guest.page.locator(".head").inner_text()
        assert re.search(r"asked 2\sof\s4 questions; your device drew which", head)
        guest.answer("Yes", "No")
        message = guest.send()
        found.append((message, guest.bodies, guest.violations + guest.complaints))
        guest.context.close()
    return found


def test_one_value_leaves_a_device_and_nothing_else(sent, plan):
    names = [block["name"] for block in plan["blocks"]]
    assert len(names) == len(set(names)) == 2
    for message, bodies, complaints_found in sent:
        assert len(bodies) == 1
        assert complaints_found == []
        ((name, report),) = message["answers"].items()
        assert name in names
        assert all(0 <= cell < 4 for cell in report)


def test_it_is_published_with_intervals_exported_and_analysed(sent, researcher, site, tmp_path):
    site.python(ANSWER.format(crowd=CROWD))
    page = researcher
    page.goto(f"{STUDY}launch/")
    page.get_by_role("button", name="Close this wave…").click()
    page.get_by_role("button", name="Close wave 1 now").click()
    page.get_by_text("Wave 1 closed on").wait_for()
    releases = f"{site.base}/api/v1/studies/sent-as-one/releases"
    (published,) = site.wait_for(
        lambda: page.request.get(releases).json()["releases"], "nothing was published"
    )
    assert published["n"] == CROWD + len(sent)
    asked = [each["n"] for each in published["questions"]]
    assert asked[0] == asked[1]
    assert asked[2] == asked[3]
    assert asked[0] + asked[2] == CROWD + len(sent)
    page.goto(STUDY)
    text = " ".join(page.locator("main").inner_text().split())
    assert "people, whom devices picked at random" in text
    for question in published["questions"]:
        yes = question["choices"][1]
        low, high = yes["interval"]
        assert low < yes["estimate"] < high
        assert 100 * (high - low) / 2 < 30
    rows = list(csv.DictReader(io.StringIO(page.request.get(f"{STUDY}export.csv").text())))
    assert {row["question"] for row in rows} >= {"q1", "q2", "q3", "q4"}
    registered = page.request.get("/registry/sent-as-one.json").json()["waves"][0]["questions"]
    assert {each["sent_in"] for each in registered} == {"as_one_1", "as_one_2"}
    for address in ("methods/", "compare/", "limits/", "rehearse/", "over-time/"):
        assert page.goto(f"{STUDY}{address}").status == 200, address


def test_questions_are_joined_and_parted_in_the_editor_by_keyboard(researcher, site):
    page = researcher
    page.goto("/plan/?n=200&many=3&kind=single&choices=3")
    page.get_by_role("link", name="Make this study").click()
    for id, typed in (
        ("id_title", "Joined by hand"),
        ("id_organisation", "Aldermoor"),
        ("id_purpose", "To try."),
        ("id_contact", "a@example.org"),
        *((f"id_q{at}-text", f"Which {at}?") for at in range(1, 4)),
        *((f"id_q{at}-choices", "A\nB\nC") for at in range(1, 4)),
    ):
        page.locator(f"#{id}").fill(typed)
    page.get_by_role("button", name="Begin the draft").click()
    page.wait_for_url("**/launch/")
    page.goto("/studies/joined-by-hand/build/")
    page.locator("#together").focus()
    page.keyboard.press("Enter")
    for label in ("Which 1?", "Which 3?"):
        page.get_by_role("checkbox", name=label).focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Send these as one answer").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("sent as one answer with “Which 3?”")).to_be_visible()
    assert complaints(page) == []
    page.get_by_role("button", name="Send each separately").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("sent as one answer with “Which 3?”")).to_have_count(0)
    page.get_by_role("button", name="Send these as one answer").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose two questions or more")


def test_everybody_may_be_asked_everything_in_one_answer(researcher, chromium):
    page = researcher
    page.goto("/plan/?n=200&many=3&asked=3&epsilon=3")
    expect(page.locator("#why")).to_contain_text("Everyone is asked everything, some of it sent")
    page.get_by_role("link", name="Make this study").click()
    for id, typed in (
        ("id_title", "All in one"),
        ("id_organisation", "Aldermoor"),
        ("id_purpose", "To try."),
        ("id_contact", "a@example.org"),
        *((f"id_q{at}-text", text) for at, text in enumerate(QUESTIONS[:3], start=1)),
    ):
        page.locator(f"#{id}").fill(typed)
    page.get_by_role("button", name="Begin the draft").click()
    page.wait_for_url("**/launch/")
    if page.locator("#why").count():
        page.locator("#why").fill("Nobody’s answers: a test.")
    page.get_by_role("button", name="Open wave 1 permanently").click()
    link = page.get_by_label("Link for respondents").input_value()
    guest = visit(chromium, viewport=SMALL)
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").wait_for()
    assert "your device drew" not in guest.page.locator("main").inner_text()
    guest.answer("Yes", "No", "Yes")
    message = guest.send()
    assert list(message["answers"]) == ["as_one_1"]
    assert guest.complaints == []
    assert json.loads(guest.bodies[0]) == message
    guest.context.close()


def test_people_may_decline_at_a_tap_by_its_price_and_no_more_at_another(researcher):
    page = researcher
    page.goto("/plan/?n=1000&many=8")
    expect(page.locator("#declining")).to_contain_text("it is ± 11.0, without it ± 10.1")
    page.get_by_role("link", name="Offer it").click()
    expect(page.locator("#answer")).to_contain_text("± 11.0 points")
    tab_to(page, "n")
    page.keyboard.press("Control+a")
    page.keyboard.type("4000")
    expect(page.locator("#declining")).to_contain_text("it is ± 5.5, without it ± 5.0")
    expect(page.locator("#answer")).to_contain_text("± 5.5 points")
    page.get_by_role("link", name="Remove it").click()
    expect(page.locator("#answer")).to_contain_text("± 5.0 points")
    page.goto("/plan/?n=200&many=2")
    page.get_by_role("link", name="Make this study").click()
    for id, typed in (
        ("id_title", "To decline"),
        ("id_organisation", "Aldermoor"),
        ("id_purpose", "To try."),
        ("id_contact", "a@example.org"),
        *((f"id_q{at}-text", text) for at, text in enumerate(QUESTIONS[:2], start=1)),
    ):
        page.locator(f"#{id}").fill(typed)
    page.get_by_role("button", name="Begin the draft").click()
    page.wait_for_url("**/launch/")
    page.goto("/studies/to-decline/build/")
    said = page.locator("#declining")
    price = said.locator("span").first.inner_text()
    for taken, there in (("Offer it", "Remove it"), ("Remove it", "Offer it")):
        said.get_by_role("button", name=taken).click()
        expect(said.get_by_role("button", name=there)).to_be_focused()
        expect(said.get_by_role("button", name=taken)).to_have_count(0)
        assert said.locator("span").first.inner_text() == price
    said.get_by_role("button", name="Offer it").click()
    expect(page.frame_locator("#preview").get_by_role("button", name="Start")).to_be_visible()
    assert complaints(page) == []
