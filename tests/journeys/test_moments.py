"""Where questions are passed over, a response leaves at set times, whichever way somebody went
and whatever happens.
"""

import json

import pytest

from tests.journeys.axe import complaints
from tests.journeys.every_kind import GIVEN, QUESTIONS, every_kind, open_studies
from tests.journeys.respondent import visit
from tests.journeys.test_every_kind import answer_screens, fill, start
from tests.journeys.test_memory import FORBID, busy, kept

HELD, SENT = "Your response waits a little", "Sent. Thank you."
MINUTES = 5  # of these eight questions: 60 s, 8 × 20 s, and one for every ten bytes of their words
STEP = MINUTES * 60_000
POSTED = """
window.posted = [];
const fetched = window.fetch;
window.fetch = (address, how) => {
  if (how?.method === 'POST') window.posted.push(performance.now());
  return fetched(address, how);
};
"""


@pytest.fixture(scope="module")
def links(site):
    return open_studies(
        site,
        every_kind("moments", chinese=True),
        every_kind("moments-given", questions=[*QUESTIONS, *GIVEN]),
        every_kind("moments-none", everybody=True),
    )


@pytest.fixture
def guest(chromium):
    found = new_guest(chromium)
    yield found
    found.context.close()


def new_guest(chromium, **settings):
    found = visit(chromium, **settings)
    found.context.add_init_script(POSTED)
    return found


def answered(guest, link, smoked="No", seconds=3, given=None):
    """Answer at so many seconds a screen, and press “Send”."""
    guest.page.clock.install()
    guest.page.clock.pause_at(2_000_000_000_000)
    start(guest, link)
    answer_screens(guest, smoked, lambda: guest.page.clock.run_for(1000 * seconds), given)
    guest.page.get_by_role("button", name="Send my response").click()
    guest.page.get_by_role("heading", name=HELD).wait_for()


def posted(guest):
    return guest.page.evaluate("window.posted")


def now(guest):
    return guest.page.evaluate("performance.now()")


def wait_until(guest, moment):
    guest.page.clock.run_for(moment - now(guest))


def test_which_way_somebody_went_does_not_show_in_when_the_message_leaves_nor_in_what_is_asked_for(
    chromium, links
):
    seen = []
    for smoked, seconds in (("Yes", 9), ("Yes", 3), ("No", 9), ("No", 3)):
        guest = new_guest(chromium)
        answered(guest, links["moments"], smoked, seconds)
        wait_until(guest, STEP + 500)
        guest.page.get_by_role("heading", name=SENT).wait_for()
        (at,) = posted(guest)
        seen.append(
            (round(at / 1000), len(guest.requests), list(json.loads(guest.bodies[0])["answers"]))
        )
        guest.context.close()
    assert seen == [(MINUTES * 60, seen[0][1], [question["name"] for question in QUESTIONS])] * 4


def test_nothing_leaves_while_it_waits_and_the_screen_says_when_it_will(guest, links):
    answered(guest, links["moments"])
    before = len(guest.requests)
    said = guest.page.locator("main").inner_text()
    assert "It leaves by itself in 5 minutes" in said
    assert "only every 5 minutes" in said
    assert (
        "Please leave this page open. If you close it, your response stays on this device" in said
    )
    assert guest.page.locator("a:not(.skip):visible").count() == 0
    guest.page.evaluate("dispatchEvent(new Event('online'))")
    wait_until(guest, STEP - 2_000)
    assert "It leaves by itself in 1 minute" in guest.page.locator("main").inner_text()
    assert (posted(guest), len(guest.requests)) == ([], before)
    wait_until(guest, STEP + 500)
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert guest.page.locator(".foot a:not(.skip):visible").count() > 0
    assert guest.complaints == guest.violations == []


def test_a_try_that_fails_is_tried_again_at_the_next_moment_and_not_when_the_line_comes_back(
    guest, links
):
    answered(guest, links["moments"])
    guest.page.route("**/reports", busy)
    wait_until(guest, STEP + 500)
    guest.page.get_by_text("The last try").wait_for()
    guest.page.unroute("**/reports")
    guest.page.evaluate("dispatchEvent(new Event('online'))")
    wait_until(guest, 2 * STEP - 500)
    assert len(posted(guest)) == 1
    assert "in 1 minute" in guest.page.locator("main").inner_text()
    wait_until(guest, 2 * STEP + 500)
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert [round(at / STEP, 2) for at in posted(guest)] == [1, 2]
    assert len(set(guest.bodies)) == 1


def test_a_device_that_wakes_late_takes_the_next_moment(guest, links):
    answered(guest, links["moments"])
    guest.page.clock.fast_forward(STEP)  # as when it is shut and opened again
    guest.page.wait_for_timeout(200)
    assert posted(guest) == []
    wait_until(guest, 2 * STEP + 500)
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert [round(at / STEP, 2) for at in posted(guest)] == [2]


def test_closing_the_page_keeps_the_message_until_a_moment_after_it_is_opened_again(guest, links):
    answered(guest, links["moments"], "Yes")
    (body,) = [value for name, value in kept(guest).items() if name.startswith("candor.report.")]
    guest.page.goto("about:blank")
    guest.page.goto(links["moments"])
    guest.page.get_by_role("heading", name=HELD).wait_for()
    assert guest.page.locator("a:not(.skip):visible").count() == 0
    assert "A response waited on this device." in guest.page.locator("main").inner_text()
    assert guest.bodies == []
    wait_until(guest, STEP + 500)
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert [round(at / STEP, 2) for at in posted(guest)] == [1]
    assert guest.bodies == [body]


def test_sending_now_is_a_button_of_its_own_that_says_what_it_gives_away(guest, links):
    answered(guest, links["moments"])
    button = guest.page.get_by_role("button", name="Send now")
    described = guest.page.locator(f"#{button.get_attribute('aria-describedby')}")
    assert "how long you took" in described.inner_text()
    button.click()
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert posted(guest)[0] < STEP
    wait_until(guest, STEP + 500)
    assert len(posted(guest)) == 1


def test_answers_sent_as_given_wait_in_the_page_and_it_says_so(guest, links):
    answered(guest, links["moments-given"], given={"earned": "1200"})
    assert not [name for name in kept(guest) if "report" in name]
    said = guest.page.locator("main").inner_text()
    assert "Please leave this page open." in said
    assert "closing this page erases it" in said
    wait_until(guest, 2 * STEP)
    guest.page.get_by_role("heading", name=SENT).wait_for()
    assert json.loads(guest.bodies[0])["answers"]["earned"] == 1200


def test_a_browser_that_keeps_nothing_says_to_leave_the_page_open(guest, links):
    guest.context.add_init_script(FORBID)
    answered(guest, links["moments"])
    assert "This browser keeps nothing here" in guest.page.locator("main").inner_text()
    wait_until(guest, STEP + 500)
    guest.page.get_by_role("heading", name=SENT).wait_for()


def test_where_everybody_is_asked_the_form_says_whom_a_question_is_for_and_nothing_waits(
    guest, links
):
    start(guest, links["moments-none"])
    fill(guest, "smoked", "No")
    guest.go_on()
    guest.page.get_by_text("Question 2 of 8").wait_for()
    form = guest.page.locator("form")
    assert "Only if you answered “Yes” to “Have you smoked in the last month?”" in form.inner_text()
    assert guest.page.locator("label.choice").all_inner_texts()[-1] == "Does not apply"
    answer_screens(guest, "No", given={"place": "Does not apply"})
    guest.page.get_by_role("button", name="Send my response").click()
    guest.page.get_by_role("heading", name=SENT).wait_for()
    pair = guest.page.locator("ol.send > li", has_text="Place")
    assert pair.locator(".stays").inner_text().split("\n") == ["You chose", "Does not apply"]


def test_axe_finds_nothing_on_the_screen_that_waits(chromium, links):
    guest = new_guest(chromium, bypass_csp=True)
    answered(guest, links["moments"])
    guest.page.clock.resume()  # axe waits by it
    found = complaints(guest.page)
    guest.context.close()
    assert found == []
