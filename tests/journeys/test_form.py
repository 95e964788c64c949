"""The form, as a respondent meets it: on a phone, by keyboard, going back and forth, and when
something is wrong.
"""

import hashlib
import json
import re

import pytest

from tests.journeys.respondent import PHONE, visit

SLUG = "medicines-and-help"
CHOICES = ("Yes", "Agree", "Never")


def test_back_and_forth_never_throws_again(guest, link, plan):
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").click()
    for first in ("Yes", "No", "Yes", "No", "Yes"):
        guest.page.get_by_text("Question 1 of 3").wait_for()
        guest.choose(first)
        guest.go_on()
        guest.page.get_by_text("Question 2 of 3").wait_for()
        guest.page.get_by_role("button", name="Back").click()
    guest.page.get_by_text("Question 1 of 3").wait_for()
    guest.go_on()
    guest.choose("Agree")
    guest.go_on()
    guest.choose("Never")
    guest.go_on()
    guest.page.get_by_role("heading", name="Ready to send").wait_for()
    guest.page.get_by_text("Try it with someone else’s answer").click()
    for _ in range(5):
        guest.page.get_by_role("button", name="Randomise again").click()
    message = guest.send()
    # What is sent follows from the key and the last answers, whatever was answered in between.
    assert message["answers"] == guest.drawn(
        plan, ("borrowed", 1), ("would_know", 3), ("last_drink", 0)
    )


SMALL_PHONE = {"width": 360, "height": 740}
SEEN = """() => [...document.querySelector('main').querySelectorAll('*')]
  .filter((part) => part.checkVisibility() && part.getBoundingClientRect().top < innerHeight)
  .flatMap((part) => [...part.childNodes].filter((node) => node.nodeType === 3))
  .map((node) => node.textContent).join(' ')"""


def test_the_welcome_says_what_matters_before_the_fold(guest, link):
    guest.page.set_viewport_size(SMALL_PHONE)
    guest.page.goto(link)
    start = guest.page.get_by_role("button", name="Start")
    start.wait_for()
    box = start.bounding_box()
    assert box["y"] + box["height"] <= SMALL_PHONE["height"]
    assert len(guest.page.evaluate(SEEN).split()) <= 100
    seen = guest.page.locator("main").inner_text().replace("\u00a0", " ")
    assert "Blind guess: 50 in 100 right" in seen
    assert "From all that you send: at most 89 in 100 right" in seen
    assert "could learn your answers" in seen
    readers = guest.page.get_by_text("Readers of the results")
    assert not readers.is_visible()
    guest.page.get_by_text("Who could learn my real answer?").click()
    assert readers.is_visible()


def test_a_printed_welcome_has_all_of_it(guest, link):
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").wait_for()
    assert not guest.page.get_by_text("Readers of the results").first.is_visible()
    guest.page.emulate_media(media="print")
    for text in (
        "Readers of the results",
        "Of 100 people who answer",
        "compared that with what the study declared",
    ):
        assert guest.page.get_by_text(text).first.is_visible()


def test_everything_can_be_done_with_the_keyboard(guest, link, plan):
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").wait_for()
    press_until(guest, "Start")
    for question in plan["questions"]:
        guest.page.get_by_role("heading", name=question["text"]).wait_for()
        tab_to(guest, "input[type=radio]")
        guest.page.keyboard.press("Space")
        guest.page.keyboard.press("Enter")
    guest.page.get_by_role("heading", name="Ready to send").wait_for()
    press_until(guest, "Send my response")
    guest.page.get_by_role("heading", name="Sent").first.wait_for()
    assert len(guest.bodies) == 1


def tab_to(guest, selector):
    for _ in range(40):
        guest.page.keyboard.press("Tab")
        if guest.page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no {selector} within 40 tabs")


def press_until(guest, name):
    for _ in range(40):
        guest.page.keyboard.press("Tab")
        if guest.page.evaluate("document.activeElement.innerText ?? ''").strip().startswith(name):
            guest.page.keyboard.press("Enter")
            return
    raise AssertionError(f"no button {name} within 40 tabs")


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_needs_no_sideways_scrolling(chromium, link, width):
    guest = visit(chromium, {"width": width, "height": 700})
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").wait_for()
    screens = [fits(guest)]
    guest.page.get_by_role("button", name="Start").click()
    for number, choice in enumerate(CHOICES, start=1):
        guest.page.get_by_text(f"Question {number} of 3").wait_for()
        screens.append(fits(guest))
        guest.choose(choice)
        guest.go_on()
    guest.page.get_by_role("heading", name="Ready to send").wait_for()
    screens.append(fits(guest))
    guest.send()
    screens.append(fits(guest))
    guest.context.close()
    assert screens == [True] * 6


def fits(guest):
    return guest.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_page_carries_no_cookie_no_referrer_and_asks_nobody_else(guest, site, link):
    response = guest.page.goto(link)
    guest.answer(*CHOICES)
    guest.send()
    assert guest.context.cookies() == []
    assert {request.url.split("/")[2] for request in guest.requests} == {site.base.split("/")[2]}
    assert [request.url for request in guest.requests if "referer" in request.all_headers()] == []
    assert all("?" not in request.url for request in guest.requests)
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert response.headers["referrer-policy"] == "no-referrer"
    assert guest.violations == guest.complaints == []


def test_nothing_true_is_kept_in_the_browser(guest, link):
    guest.page.goto(link)
    guest.answer(*CHOICES)
    before = guest.page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, history.state, document.title])"
    )
    assert (
        before
        == '[{},{},{"place":4},"Ready to send · Medicines, alcohol and getting help · Candor"]'
    )
    guest.send(note=True)
    kept, session = guest.page.evaluate("[{...localStorage}, {...sessionStorage}]")
    assert session == {}
    [line] = json.loads(kept.pop("candor.statement"))
    assert kept == {}
    # Of an answer, nothing: which study, which day, and what it cost.
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


def test_a_report_the_server_could_not_take_waits_and_is_sent_unchanged(guest, link):
    guest.page.clock.install()
    guest.page.goto(link)
    guest.answer(*CHOICES)
    guest.stand_still()  # no try by the clock
    guest.page.route("**/reports", lambda route: route.abort())
    guest.page.get_by_role("button", name="Send my response").click()
    guest.page.get_by_role("heading", name="Not sent yet").wait_for()
    guest.page.unroute("**/reports")
    guest.page.reload()
    guest.page.get_by_role("heading", name="Sent. Thank you.").wait_for()
    assert len(guest.bodies) == 2
    assert guest.bodies[0] == guest.bodies[1]


def test_a_reload_asks_before_answers_are_lost(guest, link):
    asked = []
    guest.page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    guest.page.goto(link)
    guest.page.locator("[data-do=start]").click()
    guest.page.evaluate("location.reload()")  # nothing to lose yet
    guest.page.wait_for_load_state()
    guest.page.locator("[data-do=start]").click()
    guest.choose(CHOICES[0])
    guest.page.evaluate("location.reload()")
    guest.page.wait_for_timeout(500)
    assert asked == ["beforeunload"]
    guest.go_on()  # the page is as it was
    for choice in CHOICES[1:]:
        guest.choose(choice)
        guest.go_on()
    guest.send()
    guest.page.reload()
    guest.page.get_by_role("heading", name="Your answers were sent").wait_for()
    assert asked == ["beforeunload"]


def test_kept_answers_are_left_without_a_question(guest, link):
    asked = []
    guest.page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    guest.page.goto(link)
    guest.page.locator("#go-on-later").check()
    guest.page.locator("[data-do=start]").click()
    guest.choose(CHOICES[0])
    guest.go_on()
    guest.page.reload()
    guest.page.locator("[data-do=start]").wait_for()
    assert asked == []


def test_back_after_sending_says_that_it_was_sent_and_asks_nothing(guest, link, site):
    guest.page.goto(link)
    guest.answer(*CHOICES)
    guest.send()
    guest.page.go_back()
    guest.page.get_by_role("heading", name="Sent. Thank you.").wait_for()
    guest.page.go_back()
    guest.page.goto(f"{site.base}/my/")
    guest.page.go_back()
    guest.page.get_by_role("heading", name="Your answers were sent").wait_for()
    assert guest.page.evaluate("Object.keys(history.state).includes('sent')")
    guest.page.go_back()
    guest.page.get_by_role("heading", name="Your answers were sent").wait_for()
    assert guest.page.locator("main input").count() == 0
    guest.page.get_by_role("button", name="Start again for another person").click()
    guest.page.locator("[data-do=start]").click()
    assert guest.page.locator("main input:checked").count() == 0
    guest.page.goto("about:blank")
    guest.page.goto(link)  # the link is opened anew: by another person, perhaps
    guest.page.locator("[data-do=start]").wait_for()


def test_a_plan_that_the_link_does_not_name_is_refused(guest, link):
    guest.page.goto(link[:-2] + ("00" if link[-2:] != "00" else "11"))
    guest.page.get_by_role("heading", name="This is not the study your link names").wait_for()
    assert guest.page.locator("input").count() == 0


def test_a_plan_that_declares_less_than_its_channel_loses_is_refused_before_anything_is_asked(
    guest, site, plan
):
    plan = json.loads(json.dumps(plan))
    plan["questions"][0]["loss"] = [2, 1]
    forged = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    guest.page.route(
        "**/plan", lambda route: route.fulfill(body=forged, content_type="application/json")
    )
    guest.page.goto(f"{site.base}/s/{SLUG}/#{hashlib.sha256(forged.encode()).hexdigest()}")
    guest.page.get_by_role("heading", name="Your browser refuses to ask these questions").wait_for()
    assert guest.page.locator("input").count() == 0


def test_without_javascript_a_sentence_says_why_the_form_needs_it(chromium, link):
    context = chromium.new_context(java_script_enabled=False, viewport=PHONE)
    page = context.new_page()
    page.goto(link)
    reason = page.locator("noscript p")
    assert reason.is_visible()
    assert "A script on this device randomises your answers" in reason.inner_text()
    assert page.locator("input").count() == 0
    context.close()


def test_a_closed_study_says_so_before_it_asks(guest, site):
    guest.page.goto(f"{site.base}/s/health-and-habits/")
    guest.page.get_by_role("heading", name="This study has closed").wait_for()
    assert guest.page.locator("input").count() == 0


def test_the_receipt_can_be_looked_up(guest, site, link):
    guest.page.goto(link)
    guest.answer(*CHOICES)
    guest.send()
    receipt = guest.page.locator("output").inner_text()
    found = guest.page.request.get(f"{site.base}/api/v1/receipts/{receipt}").json()
    assert found["accepted"] is True


def test_the_minutes_on_the_welcome_are_those_of_the_words_on_the_way(guest, link):
    """200 words a minute, all that is visible without unfolding; 5 seconds an answer."""
    guest.page.goto(link)
    start = guest.page.get_by_role("button", name="Start")
    start.wait_for()
    main = guest.page.locator("main")
    said = int(re.search(r"about (\d+) minutes", main.inner_text())[1])
    words = len(main.inner_text().split())
    start.click()
    for number, choice in enumerate(("Yes", "Agree", "Never"), start=1):
        guest.page.get_by_text(f"Question {number} of 3").wait_for()
        words += len(main.inner_text().split())
        guest.choose(choice)
        guest.go_on()
    guest.page.get_by_role("heading", name="Ready to send").wait_for()
    words += len(main.inner_text().split())
    guest.send()
    words += len(main.inner_text().split())
    assert abs(said - (words / 200 + 3 / 12)) <= 1
