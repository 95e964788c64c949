"""What a device remembers: receipts, the statement, keys for later waves, unfinished forms,
messages that wait.
"""

import hashlib
import json
import math
import re

import pytest

from tests.journeys.axe import complaints
from tests.journeys.conftest import QUIET
from tests.journeys.every_kind import every_kind, open_studies
from tests.journeys.respondent import Visit, visit
from tests.journeys.test_every_kind import answer_screens, start
from tests.patience import PATIENCE, became
from tests.services import find_chromium

SLUG = "remembered"
CHOICES = ("Yes", "Agree", "Never")
INDICES = (("borrowed", 1), ("would_know", 3), ("last_drink", 0))
SENT = "Sent. Thank you."
KEPT = "JSON.stringify({...localStorage})"
DATABASES = "indexedDB.databases().then((found) => found.map(({ name }) => name))"
FORBID = """
for (const name of ['localStorage', 'indexedDB'])
  Object.defineProperty(window, name, { get() { throw new DOMException('forbidden', 'SecurityError'); } });
"""


LIKE_THE_DEMO = """
import datetime, json
from surveys.design import services
from surveys.design.models import Study
demo = Study.objects.get(slug="medicines-and-help")
rows = [row for row in demo.questions.values() if row.pop("id") and row.pop("study_id")]
for row in rows:
    row.pop("position")
    row["epsilon"] = "0.8"
texts = {name: getattr(demo, name) for name in ("title", "organisation", "purpose", "contact")}
study = services.draft_study(
    study={**texts, "slug": "remembered", "waves": 3, "draws": "kept", "cap": "2", "release_epsilon": "0.5"},
    questions=rows,
)
if study.plan is None:
    now = datetime.datetime.now(datetime.UTC)
    services.open_study(study_id=study.pk, who="researcher", why="A test.", now=now)
print(json.dumps(study.plan.document))
"""


@pytest.fixture(scope="module")
def served(site):
    """The Plan of a study like the demo's, whose devices keep a key."""
    return site.python(LIKE_THE_DEMO).encode()


@pytest.fixture(scope="module")
def plan(served):
    return json.loads(served)


@pytest.fixture(scope="module")
def link(site, served):
    return f"{site.base}/s/{SLUG}/#{hashlib.sha256(served).hexdigest()}"


def visit_form(guest, link):
    # else the same address with its fingerprint would not be loaded again
    guest.page.goto("about:blank")
    guest.page.goto(link)
    guest.page.locator("[data-do=start]").wait_for()


def answer(guest, link, choices=CHOICES):
    visit_form(guest, link)
    guest.answer(*choices)
    return guest.send(note=True)


def kept(guest):
    return json.loads(guest.page.evaluate(KEPT))


def statement(guest, site):
    guest.page.goto(f"{site.base}/my/en/")
    guest.page.locator("#mine > :not(noscript)").first.wait_for()
    return guest.page.locator("#mine").inner_text()


def wait_until(guest, condition):
    """Playwright's own waiting evaluates text in the page, which its policy forbids."""
    # What the page asks of this process is answered while it waits for the page, not while it
    # sleeps.
    held = became(
        lambda: guest.page.evaluate(condition) or guest.page.wait_for_timeout(50), pause=0
    )
    assert held, f"{condition} after {PATIENCE:.0f} s"


# What was sent, and the receipt


def of_others(channel, chosen, kept):
    """Return how many of 100 would send it too with another answer; of the same, how many not."""
    if channel["kind"] == "table":
        row, other = channel["weights"][chosen], channel["weights"][1 - chosen]
        return round(100 * (other[chosen] / sum(other) if kept else 1 - row[chosen] / sum(row)))
    own, others = channel["keep"] / 2**32, channel["choices"] - 1
    return round(100 * ((channel["size"] - own) / others if kept else 1 - own))


def test_what_was_chosen_stands_beside_what_was_sent(guest, link, plan):
    message = answer(guest, link)
    pairs = guest.page.locator(".pair")
    assert [pairs.nth(i).locator(".stays b").inner_text() for i in range(3)] == list(CHOICES)
    for i, question in enumerate(plan["questions"]):
        value = message["answers"][question["name"]]
        sent = [
            question["choices"][choice]
            for choice in (value if isinstance(value, list) else [value])
        ]
        goes = pairs.nth(i).locator(".goes")
        assert goes.locator("b").inner_text() == "\n".join(sent)
        kept = CHOICES[i] in sent
        assert ("turned" in goes.get_attribute("class")) != kept
        fate = guest.page.locator(".fate").nth(i).inner_text()
        count = of_others(question["channel"], question["choices"].index(CHOICES[i]), kept)
        assert str(count) in fate.replace("100 people", "").replace("100\xa0people", "").split()
    guest.page.get_by_text("Details").click()
    # which would find the row again
    shown = {part: said for part, said in message.items() if part != "report_id"}
    assert json.loads(guest.page.locator("pre").inner_text()) == shown


def test_a_receipt_is_looked_up_with_one_press_and_stands_in_no_address(guest, link):
    addresses = []
    guest.context.on("request", lambda request: addresses.append(request.url))
    answer(guest, link)
    receipt = guest.page.locator("output").inner_text()
    with guest.context.expect_page() as opened:
        guest.page.get_by_role("button", name="Look it up").click()
    opened.value.get_by_role("heading", name="Accepted").wait_for()
    assert opened.value.url.endswith("/receipts/en/")
    assert opened.value.locator("output").inner_text() == receipt
    assert guest.page.get_by_role("heading", name="Sent. Thank you.").is_visible()
    assert not [url for url in addresses if receipt in url or receipt.replace("-", "") in url]
    assert guest.context.cookies() == []


def test_a_receipt_can_be_looked_up_without_scripts(chromium, site, guest, link):
    answer(guest, link)
    receipt = guest.page.locator("output").inner_text()
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.base}/receipts/en/")
    page.get_by_label("Receipt").fill(receipt.lower().replace("-", " "))
    page.get_by_role("button", name="Look it up").click()
    page.get_by_role("heading", name="Accepted").wait_for()
    context.close()


MARCH_1984 = (1984 - 1920) * 12 + 2
EVERY_KIND = (
    ("smoked", 0),
    ("place", 4),
    ("used", [0, 2]),
    ("doctor", 3),
    ("friends", 2),
    ("days", 12),
    ("hours", 7),
    ("born", MARCH_1984),
)
CHOSEN = {
    "Smoked": "No",
    "Place": "Not asked",
    "Used": "Tobacco and Cannabis",
    "Doctor": "Agree",
    "Friends": "Neither",
    "Days": "12 days",
    "Sleep": "7 hours",
    "Born": "March 1984",
}


@pytest.fixture(scope="module")
def kinds(site):
    return open_studies(site, every_kind("kinds-sent"))["kinds-sent"]


def test_questions_of_every_kind_are_shown_as_chosen_and_as_sent(chromium, site, kinds):
    guest = visit(chromium, bypass_csp=True)
    start(guest, kinds)
    answer_screens(guest, "No")
    message = guest.send()
    plan = guest.page.request.get(f"{site.base}/api/v1/studies/kinds-sent/plan").json()
    assert message["answers"] == guest.drawn(plan, *EVERY_KIND)
    items = guest.page.locator("ol.send > li").all()
    chosen = {
        item.locator("h3").inner_text(): item.locator(".stays b").inner_text() for item in items
    }
    assert chosen == CHOSEN
    fates = [item.locator(".fate").inner_text() for item in items]
    assert all(re.search("andomis|only a clue", fate) for fate in fates)
    assert "{" not in guest.page.locator("main").inner_text().replace(
        guest.page.locator("pre").inner_text(), ""
    )
    assert complaints(guest.page) == []
    guest.context.close()


# My privacy statement


def test_the_statement_says_what_was_spent_and_never_what_was_answered(guest, site, link, plan):
    message = answer(guest, link)
    [(name, text)] = kept(guest).items()
    [line] = json.loads(text)
    assert name == "candor.statement"
    assert set(line) == {
        "slug",
        "title",
        "wave",
        "digest",
        "day",
        "loss",
        "given",
        "again",
        "state",
    }
    assert (line["title"], line["state"], line["digest"]) == (
        plan["title"],
        "sent",
        message["plan"],
    )
    said = statement(guest, site)
    assert plan["title"] in said
    assert "This device has sent one response" in said
    assert not [choice for choice in (*CHOICES, message["report_id"]) if choice in said]
    assert guest.violations == guest.complaints == []


def test_the_statement_adds_up_and_tells_what_a_guess_becomes(guest, site, link, plan):
    for _ in range(2):
        answer(guest, link)
    said = statement(guest, site)
    loss = (int(plan["loss"][0]) / int(plan["loss"][1])) ** 2
    assert "This device has sent 2 responses" in said
    rows = guest.page.locator(".guess-table tbody tr")
    for i, before in enumerate((0.1, 0.5, 0.9)):
        after = before * loss / (1 - before + before * loss)
        # at most: never less
        bounds = (math.ceil(100 * parts * after) / parts for parts in (1, 10, 100, 1000))
        shown = next((f"{bound:g}" for bound in bounds if bound < 100), "100")
        assert rows.nth(i).locator("td").inner_text() == f"{shown}%"


def test_answering_twice_is_warned_of_on_this_device_with_what_it_costs(guest, link):
    answer(guest, link)
    visit_form(guest, link)
    note = guest.page.locator("#before .note")
    note.wait_for()
    text = note.inner_text().replace("\xa0", " ")
    assert "This device has answered these questions before" in text
    assert "counted as a second person" in text
    assert "Its key is still here" in text
    was, becomes = re.search(
        r"is right at most (\d+) times in 100\. After this one it is at most ([\d.]+)", text
    ).groups()
    assert 50 < int(was) < float(becomes) <= 100


def test_a_note_is_kept_only_if_asked_for_and_a_key_as_the_plan_says_with_its_risk_first(
    guest, site, link
):
    guest.page.goto(link)
    guest.answer(*CHOICES)
    said = guest.page.locator("#stays-here")
    assert said.inner_text().split("\n")[0] == "A key stays on this device for later rounds"
    assert said.locator("p").first.inner_text().startswith("Risk: someone with both this device")
    assert not guest.page.get_by_label("Keep a note on this device").is_checked()
    guest.send()
    assert kept(guest) == {}
    assert guest.page.evaluate(DATABASES) == ["candor"]
    assert "We saved a key on this device" in guest.page.locator("main").inner_text()
    assert "Keys for later rounds" in statement(guest, site)
    visit_form(guest, link)
    said = guest.page.locator("#before").inner_text()
    assert "A key of an earlier round is on this device" in said


def test_where_draws_are_fresh_no_key_stays_and_nothing_is_said_of_one(guest, site):
    demo = "medicines-and-help"
    plan = guest.page.request.get(f"{site.base}/api/v1/studies/{demo}/plan").body()
    guest.page.goto(f"{site.base}/s/{demo}/#{hashlib.sha256(plan).hexdigest()}")
    guest.answer(*CHOICES)
    assert "key" not in guest.page.locator("#stays-here").inner_text().lower()
    guest.send()
    assert kept(guest) == {}
    assert guest.page.evaluate(DATABASES) == []
    said = " ".join(guest.page.locator("main").inner_text().split())
    assert "later round" not in said
    # what can be concluded stands there all the same, with no note: e²/(1 + e²) is .881
    assert "From all that you send: at most 89 in 100 right" in said
    assert "The list is empty" in statement(guest, site)


def test_a_line_is_erased_after_it_was_said_what_follows_and_the_last_takes_the_key_along(
    guest, site, link
):
    for _ in range(2):
        answer(guest, link)
    statement(guest, site)
    for left in (1, 0):
        guest.page.get_by_text("Erase this line").first.click()
        guest.page.get_by_role("button", name="Erase it permanently").locator(
            "visible=true"
        ).first.click()
        guest.page.locator("#said").get_by_text("The line is erased.").wait_for(state="attached")
        wait_until(guest, f"document.querySelectorAll('.line').length === {left}")
        assert guest.page.evaluate(DATABASES) == (["candor"] if left else [])
    assert kept(guest) == {}


def test_everything_can_be_erased_with_the_keyboard(guest, site, link):
    answer(guest, link)
    waiting = {"plan": "e" * 64, "report_id": "1"}
    guest.page.evaluate(
        "(body) => localStorage.setItem(`candor.report.${body.plan}.1`, JSON.stringify(body))",
        waiting,
    )
    assert "at its time while the study’s page is open" in statement(guest, site)
    for name in ("Erase all data that this site keeps", "Erase all data permanently"):
        for _ in range(60):
            guest.page.keyboard.press("Tab")
            if (
                guest.page.evaluate("document.activeElement.innerText ?? ''")
                .strip()
                .startswith(name)
            ):
                break
        guest.page.keyboard.press("Enter")
    guest.page.get_by_text("The list is empty").wait_for()
    assert kept(guest) == {}
    assert guest.page.evaluate(DATABASES) == []
    assert guest.page.evaluate("document.activeElement.id") == "main"


def test_a_receipt_is_in_the_statement_only_if_it_is_put_there(guest, site, link):
    answer(guest, link)
    receipt = guest.page.locator("output").inner_text()
    assert receipt not in json.dumps(kept(guest))
    guest.page.get_by_role("button", name="Add the receipt to the note").click()
    assert receipt in statement(guest, site)
    with guest.context.expect_page() as opened:
        guest.page.get_by_role("button", name="Look it up").click()
    opened.value.get_by_role("heading", name="Accepted").wait_for()


# Later waves


@pytest.fixture
def second_wave(guest, site, plan):
    """Serve the study's second wave: the first question as it was, the second with other odds."""
    changed = json.loads(json.dumps(plan))
    changed["wave"] = 2
    for part in ("accounting", "counts"):  # which of kept keys a first wave's alone can have
        del changed["publication"][part]
    channel = changed["questions"][1]["channel"]
    channel["keep"] -= 1
    text = json.dumps(changed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def open_it():
        guest.page.route(
            "**/plan", lambda route: route.fulfill(body=text, content_type="application/json")
        )
        guest.page.route(
            f"**/s/{SLUG}/",
            lambda route: route.fulfill(
                response=(page := route.fetch()),
                body=page.text().replace("kept-1-of-3", "kept-2-of-3"),
            ),
        )
        reply = json.dumps({"receipt": "0000-0000-0000", "accepted_on": "2026-05-11"})
        guest.page.route("**/reports", lambda route: route.fulfill(status=201, body=reply))
        return f"{site.base}/s/{SLUG}/#{hashlib.sha256(text.encode()).hexdigest()}", changed

    return open_it


def test_an_answer_that_did_not_change_is_sent_as_before_and_a_changed_channel_is_thrown_anew(
    guest, link, plan, second_wave
):
    first = answer(guest, link)
    key = guest.key()
    assert first["answers"] == guest.drawn(plan, *INDICES, key=key)
    address, changed = second_wave()
    guest.page.goto(address)
    guest.page.locator("#before .note").get_by_text("an earlier round of this study").wait_for()
    guest.answer(*CHOICES)
    second = guest.send(note=True)
    assert second["answers"] == guest.drawn(changed, *INDICES, key=key)
    assert {name: second["answers"][name] for name in ("borrowed", "last_drink")} == {
        name: first["answers"][name] for name in ("borrowed", "last_drink")
    }
    assert second["report_id"] != first["report_id"]
    assert [line["again"] for line in json.loads(kept(guest)["candor.statement"])] == [False, True]


def test_another_answer_in_the_second_wave_is_a_throw_of_its_own(guest, link, second_wave):
    answer(guest, link)
    key = guest.key()
    address, changed = second_wave()
    guest.page.goto(address)
    guest.answer("No", *CHOICES[1:])
    message = guest.send()
    assert message["answers"] == guest.drawn(changed, ("borrowed", 0), *INDICES[1:], key=key)


def test_without_the_key_a_later_wave_is_thrown_anew(guest, link, second_wave):
    answer(guest, link)
    old = guest.key()
    guest.page.get_by_text("Erase the key", exact=True).click()
    guest.page.get_by_role("button", name="Erase the key permanently").click()
    guest.page.get_by_text("The key is erased.").wait_for()
    assert guest.page.evaluate(DATABASES) == []
    address, changed = second_wave()
    guest.page.goto(address)
    guest.page.locator("#before .note").get_by_text(
        "Every answer is randomised again now"
    ).wait_for()
    guest.answer(*CHOICES)
    message = guest.send()
    assert guest.key() != old
    assert message["answers"] == guest.drawn(changed, *INDICES)


def test_the_key_that_is_kept_cannot_be_read(guest, link):
    answer(guest, link)
    read = """new Promise((resolve) => {
      const request = indexedDB.open('candor');
      request.onsuccess = () => {
        const found = request.result.transaction('keys').objectStore('keys').getAll();
        found.onsuccess = () => {
          request.result.close();
          crypto.subtle.exportKey('raw', found.result[0]).then(() => resolve('read'), ({ name }) => resolve(name));
        };
      };
    })"""
    assert guest.page.evaluate(read) == "InvalidAccessError"


def test_two_tabs_that_keep_a_key_keep_the_same(guest, link, plan):
    other = guest.context.new_page()
    bodies = []
    other.on(
        "request", lambda request: bodies.append(request.post_data) if request.post_data else None
    )
    second = Visit(guest.context, other)
    for tab in (guest, second):
        tab.page.bring_to_front()
        tab.page.goto(link)
        tab.answer(*CHOICES)
    guest.page.bring_to_front()
    first = guest.send()
    other.bring_to_front()
    other.get_by_role("button", name="Send my response").click()
    other.get_by_role("heading", name=SENT).wait_for()
    assert json.loads(bodies[-1])["answers"] == first["answers"] == guest.drawn(plan, *INDICES)
    assert second.key() != guest.key()  # the second made one too, and did not use it


# An unfinished form


def begin(guest, link, tick):
    visit_form(guest, link)
    box = guest.page.get_by_label("Save my real answers here")
    box.wait_for()
    assert not box.is_checked()
    if tick:
        box.check()
    guest.page.locator("[data-do=start]").click()
    for number, choice in enumerate(CHOICES[:2], start=1):
        guest.page.get_by_text(f"Question {number} of 3").wait_for()
        guest.choose(choice)
        guest.go_on()
    guest.page.get_by_text("Question 3 of 3").wait_for()


def test_an_unfinished_form_is_kept_only_if_asked_for(guest, link):
    begin(guest, link, tick=False)
    assert kept(guest) == {}
    guest.page.reload()
    guest.page.locator("[data-do=start]").click()
    guest.page.get_by_text("Question 1 of 3").wait_for()
    assert guest.page.locator("input:checked").count() == 0


def test_an_unfinished_form_goes_on_where_it_stopped_and_is_erased_when_sent(guest, link, plan):
    begin(guest, link, tick=True)
    assert [name.partition(".")[2].partition(".")[0] for name in kept(guest)] == ["draft"]
    guest.page.reload()
    guest.page.locator("#keep").get_by_text("Your unfinished answers are on this device").wait_for()
    guest.page.locator("[data-do=start]").click()
    guest.page.get_by_text("Question 3 of 3").wait_for()
    guest.choose(CHOICES[2])
    guest.go_on()
    guest.page.get_by_role("heading", name="Ready to send").wait_for()
    message = guest.send()
    assert message["answers"] == guest.drawn(plan, *INDICES)
    assert kept(guest) == {}


def test_kept_answers_can_be_erased_where_they_are_said_and_on_the_statement(guest, site, link):
    for erase in ("Erase them now", "Erase these answers"):
        begin(guest, link, tick=True)
        if erase == "Erase these answers":
            assert "Unfinished answers" in statement(guest, site)
        else:
            guest.page.reload()
        guest.page.get_by_role("button", name=erase).click()
        wait_until(guest, "Object.keys(localStorage).length === 0")


def test_kept_answers_expire(guest, link):
    begin(guest, link, tick=True)
    guest.page.evaluate(
        """for (const [name, text] of Object.entries(localStorage))
             localStorage.setItem(name, JSON.stringify({ ...JSON.parse(text), until: '2026-01-01T00:00:00.000Z' }))"""
    )
    guest.page.reload()
    guest.page.get_by_label("Save my real answers here").wait_for()
    assert kept(guest) == {}


# No connection


def cut_before(route):
    route.abort()


def cut_after(route):
    route.fetch()  # it is taken, and the answer is lost
    route.abort()


def busy(route):
    route.fulfill(status=503, body="")


def garbled(route):
    route.fetch()
    route.fulfill(status=201, body="<html>")


@pytest.mark.parametrize(
    ("cut", "again"),
    [
        (cut_before, "online"),
        (cut_before, "reload"),
        (cut_after, "press"),
        (cut_after, "reload"),
        (busy, "press"),
        (garbled, "online"),
    ],
)
def test_a_message_cut_at_any_point_is_sent_again_unchanged_and_taken_once(
    guest, site, link, cut, again
):
    guest.page.clock.install()
    guest.page.goto(link)
    guest.answer(*CHOICES)
    guest.keep_note()
    guest.stand_still()  # no try by the clock
    guest.page.route("**/reports", cut)
    guest.page.get_by_role("button", name="Send my response").click()
    guest.page.get_by_role("heading", name="Not sent yet").wait_for()
    guest.page.unroute("**/reports")
    statuses = []
    guest.page.on(
        "response",
        lambda response: statuses.append(response.status) if "reports" in response.url else None,
    )
    if again == "online":
        guest.page.evaluate("dispatchEvent(new Event('online'))")
    elif again == "reload":
        guest.page.reload()
    else:
        guest.page.get_by_role("button", name="Try again now").click()
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert set(guest.bodies) == {guest.bodies[0]}
    assert statuses == [200 if cut in (cut_after, garbled) else 201]  # 200: it was taken before
    [line] = json.loads(kept(guest)["candor.statement"])
    assert line["state"] == "sent"


def test_a_device_that_comes_online_while_an_attempt_is_failing_tries_again_at_once(guest, link):
    """The clock stands still, so no try is one that was due."""
    guest.page.clock.install()
    guest.page.goto(link)
    guest.answer(*CHOICES)
    guest.stand_still()
    held = []
    guest.page.route("**/reports", lambda route: route.continue_() if held else held.append(route))
    with guest.page.expect_request("**/reports"):
        guest.page.get_by_role("button", name="Send my response").click()
    guest.page.evaluate("dispatchEvent(new Event('online'))")
    held[0].abort()
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert len(guest.bodies) == 2
    assert len(set(guest.bodies)) == 1


def test_while_the_page_is_open_it_tries_again_by_itself(guest, link):
    guest.page.clock.install()
    guest.page.goto(link)
    guest.answer(*CHOICES)
    guest.stand_still()
    guest.page.route("**/reports", busy)
    guest.page.get_by_role("button", name="Send my response").click()
    guest.page.get_by_text("the site answered 503").wait_for()
    for seconds in (5, 10):
        before = len(guest.bodies)
        guest.page.clock.run_for((seconds - 1) * 1000)
        assert len(guest.bodies) == before
        with guest.page.expect_response("**/reports"):
            guest.page.clock.run_for(1500)
    guest.page.unroute("**/reports")
    guest.page.clock.run_for(21_000)
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert len(guest.bodies) == 4
    assert len(set(guest.bodies)) == 1


def test_a_message_is_sent_when_the_browser_is_opened_again(chromium, folder, link):
    def browser():
        context = chromium.browser_type.launch_persistent_context(
            folder, executable_path=find_chromium(), args=QUIET
        )
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        bodies = []
        page.on(
            "request",
            lambda request: bodies.append(request.post_data) if request.post_data else None,
        )
        return Visit(context, page), bodies

    guest, lost = browser()
    guest.page.goto(link)
    guest.answer(*CHOICES)
    guest.page.route("**/reports", cut_after)
    guest.page.get_by_role("button", name="Send my response").click()
    guest.page.get_by_role("heading", name="Not sent yet").wait_for()
    guest.context.close()
    guest, sent = browser()
    guest.page.goto(link)
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert sent == lost
    assert guest.page.locator(".pair").count() == 0  # what was chosen was never stored
    guest.context.close()


def test_without_a_connection_nothing_is_asked(guest, link):
    guest.page.goto(link)
    guest.page.locator("[data-do=start]").wait_for()
    guest.page.route("**/plan", lambda route: route.abort())
    guest.page.reload()
    guest.page.get_by_role("heading", name="The questions could not be fetched").wait_for()


def test_the_questions_need_no_connection_once_they_are_here(guest, link):
    guest.page.clock.install()
    guest.page.goto(link)
    guest.page.locator("[data-do=start]").wait_for()
    guest.context.set_offline(True)
    guest.answer(*CHOICES)
    guest.page.get_by_role("button", name="Send my response").click()
    guest.page.get_by_role("heading", name="Not sent yet").wait_for()
    guest.stand_still()  # no try by the clock any more
    guest.context.set_offline(False)
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert guest.page.locator(".pair").count() == 3


def test_a_waiting_message_can_be_erased_and_the_statement_says_that_it_may_be_counted(
    guest, site, link
):
    guest.page.goto(link)
    guest.answer(*CHOICES)
    guest.keep_note()
    guest.page.route("**/reports", cut_after)
    guest.page.get_by_role("button", name="Send my response").click()
    guest.page.get_by_role("button", name="Erase it instead").click()
    guest.page.get_by_role("heading", name="Erased from this device").wait_for()
    assert list(kept(guest)) == ["candor.statement"]
    assert "It may be counted" in statement(guest, site)


# A browser that keeps nothing


def test_where_storage_is_forbidden_the_form_works_and_says_that_nothing_stays(
    guest, site, link, plan
):
    guest.context.add_init_script(FORBID)
    message = answer(guest, link)
    assert message["answers"] == guest.drawn(plan, *INDICES)
    assert "No key is kept on this device" in guest.page.locator("main").inner_text()
    assert guest.page.get_by_label("Save my real answers").count() == 0
    assert "This browser stores no data for this site" in statement(guest, site)
    assert guest.complaints == []


# Everyone can read it


def test_axe_finds_nothing_on_the_pages_of_afterwards(chromium, site, link):
    guest = visit(chromium, bypass_csp=True)
    answer(guest, link)
    guest.page.get_by_role("button", name="Add the receipt to the note").click()
    for fold in guest.page.locator("summary").all():
        fold.click()
    found = complaints(guest.page)
    visit_form(guest, link)
    guest.page.locator("#before .note").wait_for()
    found += complaints(guest.page)
    statement(guest, site)
    for fold in guest.page.locator("#mine summary").all():
        fold.click()
    found += complaints(guest.page)
    for typed in ("", "CN4F", "CN4F-7QKM-2XW9"):
        guest.page.goto(f"{site.base}/receipts/en/")
        guest.page.get_by_label("Receipt").fill(typed)
        with guest.page.expect_navigation():
            guest.page.get_by_role("button", name="Look it up").click()
        found += complaints(guest.page)
    guest.context.close()
    assert found == []


def test_a_narrow_phone_needs_no_sideways_scrolling(chromium, site, link):
    guest = visit(chromium, {"width": 320, "height": 640})
    answer(guest, link)
    guest.page.get_by_role("button", name="Add the receipt to the note").click()
    fits = "document.documentElement.scrollWidth <= innerWidth"
    found = [guest.page.evaluate(fits)]
    statement(guest, site)
    for fold in guest.page.locator("#mine summary").all():
        fold.click()
    found.append(guest.page.evaluate(fits))
    guest.page.goto(f"{site.base}/receipts/en/")
    found.append(guest.page.evaluate(fits))
    guest.context.close()
    assert found == [True] * 3


def test_the_statement_prints_its_list_and_no_buttons(guest, site, link, plan):
    answer(guest, link)
    statement(guest, site)
    guest.page.emulate_media(media="print")
    assert guest.page.get_by_role("button").count() == 0
    assert plan["title"] in guest.page.locator("#mine").inner_text()
