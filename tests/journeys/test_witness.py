"""What a witness beside the respondent sees: every request, storage, cookies, the console, history,
and what is left.

The same form is answered twice, by people whose answers and ways differ as much as they can.
Whatever can be seen of them must be alike, but for the message, which must be what chance makes of
the answers with the key of that browser.
"""

import json
from itertools import pairwise

import pytest

from tests.journeys.every_kind import GIVEN, QUESTIONS, every_kind, open_studies
from tests.journeys.respondent import visit
from tests.journeys.test_every_kind import ANSWERS, fill, shown

SLUG = "witnessed"
ONE = {**ANSWERS, "smoked": "Yes"}
OTHER = {
    "smoked": "No",
    "used": ["Prefer not to say"],
    "doctor": "Strongly disagree",
    "friends": "Strongly agree",
    "days": "0",
    "hours": "24",
    "born": ("December", "1999"),
}
TRUE = {
    "smoked": 1,
    "place": 2,
    "used": [0, 2],
    "doctor": 3,
    "friends": 2,
    "days": 12,
    "hours": 7,
    "born": (1984 - 1920) * 12 + 2,
}
OTHER_TRUE = {
    "smoked": 0,
    "place": 4,
    "used": [4],
    "doctor": 0,
    "friends": 4,
    "days": 0,
    "hours": 24,
    "born": (1999 - 1920) * 12 + 11,
}
# What this browser holds, without what differs by chance or by the clock.
HELD = """async () => {
  const without = (text) => text.replace(/[0-9a-f]{32,64}/g, 'hash').replace(/"answers":.*?}/, '"answers":{}');
  return {
    local: Object.entries({ ...localStorage }).map(([name, text]) => [without(name), without(text)]).sort(),
    session: { ...sessionStorage },
    databases: (await indexedDB.databases()).map(({ name }) => name),
    caches: await caches.keys(),
    cookie: document.cookie,
    state: history.state,
    length: history.length,
    title: document.title,
    name: window.name,
    address: location.pathname,
    fetched: performance.getEntriesByType('resource').map(({ name }) => name).sort(),
  };
}"""


@pytest.fixture(scope="module")
def link(site):
    return open_studies(site, every_kind(SLUG, chinese=True, picture=True))[SLUG]


@pytest.fixture(scope="module")
def given_link(site):
    return open_studies(site, every_kind("witnessed-given", questions=[*QUESTIONS, *GIVEN]))[
        "witnessed-given"
    ]


@pytest.fixture
def witness(chromium):
    """Return new respondents, each in a browser of their own."""
    found = []

    def new():
        found.append(visit(chromium))
        return found[-1]

    yield new
    for each in found:
        each.context.close()


def answer(guest, link, answers):
    """Answer to the last screen; return what could be seen of it at the end."""
    console = []
    guest.page.on("console", lambda message: console.append(message.text))
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").click()
    guest.page.locator("fieldset").first.wait_for()
    fetched = len(guest.requests)
    while not guest.page.get_by_role("heading", name="Ready to send").count():
        heading = guest.page.locator("h1").inner_text()
        for name in shown(guest):
            fill(guest, name, answers[name])
        guest.go_on()
        guest.page.wait_for_function(
            "(text) => document.querySelector('h1').innerText !== text", arg=heading
        )
    assert len(guest.requests) == fetched  # nothing is fetched once something has been asked
    return console


def seen(guest):
    session = guest.context.new_cdp_session(guest.page)
    history = session.send("Page.getNavigationHistory")["entries"]
    return {
        "held": guest.page.evaluate(HELD),
        "history": [(entry["url"], entry["title"]) for entry in history],
        "requests": sorted(
            (
                request.method,
                request.url,
                sorted(request.headers),
                request.headers.get("referer", ""),
            )
            for request in guest.requests
        ),
        "cookies": guest.context.cookies(),
        "complaints": guest.complaints + guest.violations,
    }


def test_two_people_with_nothing_in_common_look_alike_up_to_the_message(site, witness, link):
    found = []
    for answers, true in ((ONE, TRUE), (OTHER, OTHER_TRUE)):
        guest = witness()
        console = answer(guest, link, answers)
        before = seen(guest)
        message = guest.send()
        plan = guest.page.request.get(f"{site.base}/api/v1/studies/{SLUG}/plan").json()
        assert message["answers"] == guest.drawn(plan, *true.items())
        assert set(message) == {"plan", "report_id", "answers"}
        found.append((before, seen(guest), console))
    assert found[0] == found[1]
    assert found[0][1]["cookies"] == found[0][2] == found[0][1]["complaints"] == []


def test_what_is_shown_after_sending_goes_with_the_page(witness, link):
    guest = witness()
    answer(guest, link, ONE)
    guest.send()
    pairs = guest.page.locator("ol.send").inner_text()
    assert "Tobacco and Cannabis" in pairs
    guest.page.evaluate("document.querySelector('ol.send').remove()")
    left = guest.page.content().replace(guest.page.locator("pre").inner_html(), "")
    assert not [
        answer
        for answer in ("Cannabis", "Outside", "March 1984", "12 days", "7 hours")
        if answer in left
    ]
    guest.page.goto("about:blank")
    guest.page.go_back()
    guest.page.get_by_role("button", name="Start again for another person").click()
    guest.page.locator("[data-do=start]").wait_for()
    assert guest.page.locator("input:checked").count() == 0
    guest.page.locator("[data-do=start]").click()
    guest.page.locator("fieldset").first.wait_for()
    assert guest.page.locator("input:checked").count() == 0


ERRORS = {
    "the site is away": (None, "Your response waits a little"),
    "the study closed meanwhile": (410, "This study has closed"),
    "the site did not understand": (422, "The study did not accept your response"),
}

REPLY = json.dumps({"error": {"field": "plan", "message": "plan: no"}})


def send_now(guest):
    guest.page.get_by_role("button", name="Send my response").click()
    guest.page.get_by_role("button", name="Send now").click()


@pytest.mark.parametrize(("status", "heading"), ERRORS.values(), ids=ERRORS)
def test_when_sending_fails_nothing_more_is_told(witness, link, status, heading):
    found = []
    for answers in (ONE, OTHER):
        guest = witness()
        guest.page.route(
            "**/reports",
            lambda route: route.fulfill(status=status, body=REPLY) if status else route.abort(),
        )
        answer(guest, link, answers)
        send_now(guest)
        guest.page.get_by_role("heading", name=heading).wait_for()
        if status is None:
            guest.page.get_by_text("The last try: no answer").wait_for()
        guest.complaints.clear()  # Chromium's own line about the status
        # by the clock, which goes on
        guest.page.evaluate("document.querySelector('#when')?.remove()")
        shown = guest.page.locator("main").inner_text()
        found.append((seen(guest), shown))
        assert len(guest.bodies) == 1
    assert found[0] == found[1]


def test_with_something_sent_as_given_the_message_is_as_long_and_waits_on_no_disk(
    witness, given_link
):
    found = []
    for answers, earned in ((ONE, "100000"), (OTHER, "0")):
        guest = witness()
        guest.page.route("**/reports", lambda route: route.abort())
        answer(guest, given_link, {**answers, "earned": earned})
        send_now(guest)
        guest.page.get_by_text("The last try: no answer").wait_for()
        guest.complaints.clear()
        found.append(seen(guest))
        assert '"answers"' not in json.dumps(guest.page.evaluate("({ ...localStorage })"))
    assert found[0] == found[1]


def test_another_language_carries_nothing_over_and_fetches_nothing_but_its_page(witness, link):
    guest = witness()
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").click()
    fill(guest, "smoked", "Yes")
    guest.page.get_by_role("button", name="Back").click()
    guest.page.get_by_role("button", name="Continue").wait_for()
    guest.page.get_by_role("link", name="简体中文").click()
    guest.page.wait_for_url("**/zh-hans/**")
    guest.page.locator("[data-do=start]").click()
    guest.page.locator("fieldset").first.wait_for()
    assert guest.page.locator("input:checked").count() == 0
    assert guest.page.evaluate(HELD)["local"] == []
    assert guest.bodies == guest.complaints == guest.violations == []


def test_a_screen_that_was_passed_over_is_passed_over_on_the_way_back(witness, link):
    guest = witness()
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").click()
    fill(guest, "smoked", "No")
    guest.go_on()
    guest.page.get_by_text("Question 3 of 8").wait_for()
    guest.page.go_back()
    guest.page.get_by_text("Question 1 of 8").wait_for()
    fill(guest, "smoked", "Yes")
    guest.go_on()
    guest.page.get_by_text("Question 2 of 8").wait_for()
    guest.page.get_by_role("button", name="Back").click()
    guest.page.get_by_text("Question 1 of 8").wait_for()
    places = [
        entry["title"]
        for entry in guest.context.new_cdp_session(guest.page).send("Page.getNavigationHistory")[
            "entries"
        ]
    ]
    assert all(one == other for one, other in pairwise(places[2:]))


def test_the_witness_would_see_an_answer(witness, link):
    """A control: what a careless page would do is seen."""
    found = []
    for answers in (ONE, OTHER):
        guest = witness()
        answer(guest, link, answers)
        guest.page.evaluate("(text) => history.pushState({ text }, '')", answers["smoked"])
        found.append(seen(guest))
    assert found[0]["held"]["state"] != found[1]["held"]["state"]
    assert {**found[0], "held": 0} == {**found[1], "held": 0}
