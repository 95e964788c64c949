"""A study of invited people at a real browser: a letter, a press that fetches a ticket, one answer."""

import json
import re

import pytest

from tests.journeys.axe import complaints
from tests.journeys.every_kind import QUESTIONS, every_kind
from tests.journeys.invited import listed
from tests.journeys.respondent import visit
from tests.journeys.test_memory import FORBID, kept

HELD, SENT = "Your response waits a little", "Sent. Thank you."
QUARTER = 900_000  # ms
NOW = 2_000_000_000_000  # 20 minutes and 13⅓ seconds before a quarter hour is one
FULL = """
from surveys.design.models import Plan
from surveys.intake.models import Counted
Counted.objects.create(plan=Plan.objects.get(digest={plan!r}), stratum=1, reports=1)
print("null")
"""
POSTED = """
window.posted = [];
const fetched = window.fetch;
window.fetch = (address, how) => {
  if (how?.method === 'POST') window.posted.push([address, Date.now(), how.body]);
  return fetched(address, how);
};
"""


@pytest.fixture(scope="module")
def studies(site):
    one = [QUESTIONS[0]]
    full = every_kind("invited-full", questions=one)
    full["study"]["stratum_closes_at"] = 1
    return listed(
        site,
        every_kind("invited", questions=one),
        every_kind("invited-late", questions=one) | {"invited": {"answers_from": "2033-05-20"}},
        every_kind("invited-whole", questions=one) | {"strata": [{"name": "", "people": 30}]},
        every_kind("invited-skips"),
        full,
    )


@pytest.fixture
def study(studies):
    return studies["invited"]


@pytest.fixture
def guest(chromium):
    found = new_guest(chromium)
    yield found
    found.context.close()


def new_guest(chromium, **settings):
    found = visit(chromium, **settings)
    found.context.add_init_script(POSTED)
    return found


def opened(guest, link):
    guest.page.clock.install()
    guest.page.clock.pause_at(NOW / 1000)
    again(guest, link)


def again(guest, link):
    guest.page.goto("about:blank")
    guest.page.goto(link)
    guest.page.locator("main h1[tabindex]").wait_for()


def press(guest, name):
    guest.page.get_by_role("button", name=name, exact=True).click()


def fetch(guest):
    press(guest, "Get my ticket")
    guest.page.get_by_role("heading", name="Your ticket is here").wait_for()


def answered(guest, choice="Yes"):
    press(guest, "Start")
    guest.choose(choice)
    guest.go_on()
    press(guest, "Send my response")
    guest.page.get_by_role("heading", name=HELD).wait_for()


def leave(guest, step=QUARTER):
    """Let the next moment come, and the second of the next minute in which a message leaves: its
    time to be answered is not let pass.
    """
    now, before = guest.page.evaluate("Date.now()"), len(posted(guest, "/reports"))
    guest.page.clock.run_for(step - now % step)
    for _second in range(61):
        if len(posted(guest, "/reports")) > before:
            return
        guest.page.clock.run_for(1000)
    raise AssertionError("no message left")


def posted(guest, place):
    return [each for each in guest.page.evaluate("window.posted") if place in each[0]]


def main(guest):
    return guest.page.locator("main").inner_text()


def test_a_letter_brings_a_ticket_by_a_press_and_the_ticket_one_answer(guest, study):
    letter = study.letter()
    before = study.fetched()
    opened(guest, letter.link)
    assert letter.code not in guest.page.url
    assert "counted with the 312 people of “Faculty of law”" in main(guest)
    assert "The organisers can find out whether you took part." in main(guest)
    assert guest.page.get_by_role("button", name="Start").count() == 0
    fetch(guest)
    assert study.fetched() == [before[0], before[1] + 1]
    (own,) = [value for name, value in kept(guest).items() if "ticket" in name]
    assert sorted(json.loads(own)) == ["prefix", "signature", "stratum", "title"]
    answered(guest)
    leave(guest)
    guest.page.get_by_role("heading", name=SENT).wait_for()
    report = json.loads(guest.bodies[-1])
    assert report["ticket"]["stratum"] == 1
    ((_, at, body),) = posted(guest, "/reports")
    assert 0 <= at % QUARTER < 61_000
    assert letter.code not in body
    assert report["ticket"]["signature"] not in main(guest)
    assert report["ticket"]["prefix"] not in guest.page.content()
    assert [name for name in kept(guest) if "ticket" in name] == []
    assert guest.page.evaluate("indexedDB.databases()") == []  # no key for later rounds
    assert guest.complaints == guest.violations == []


@pytest.mark.parametrize(
    "changed",
    [
        lambda link, plan: link.replace(plan, "0" * 64),  # of another Plan
        lambda link, plan: link.replace(plan, plan[:40]),  # cut by a mail program
        lambda link, plan: link.replace(f"#{plan}", "#"),
        lambda link, plan: f"{link}.",
        lambda link, _plan: link.replace("/invited/", "/health-and-habits/"),  # which has no list
        lambda link, _plan: link.replace("/invited/", "/invited/zh-hans/"),  # or no such language
        lambda link, _plan: link.replace("/invited/", "/not-there/"),
    ],
)
def test_a_letter_s_code_leaves_the_address_whatever_it_fits(guest, studies, changed):
    letter = studies["invited"].letter()
    guest.page.goto(changed(letter.link, studies["invited"].plan), wait_until="networkidle")
    assert letter.code not in guest.page.url
    assert guest.page.evaluate("history.state?.letter ?? null") is None
    assert guest.bodies == []


def test_a_letter_opened_without_a_line_keeps_its_code_for_a_reload_only(guest, study):
    letter = study.letter()
    guest.page.route("**/plan", lambda route: route.abort())
    opened(guest, letter.link)
    assert letter.code not in guest.page.url
    guest.page.unroute("**/plan")
    guest.page.reload()
    guest.page.get_by_role("button", name="Get my ticket").wait_for()


def test_a_scanner_that_opens_the_page_and_runs_its_scripts_burns_no_ticket(guest, study):
    letter = study.letter()
    before = study.fetched()
    opened(guest, letter.link)
    guest.page.clock.run_for(2 * QUARTER)
    guest.page.mouse.wheel(0, 4000)
    guest.page.reload()
    guest.page.get_by_role("button", name="Get my ticket").wait_for()
    assert guest.bodies == []
    assert study.fetched() == before
    assert kept(guest) == {}
    fetch(guest)  # a reload has not lost the letter either
    assert study.fetched() == [before[0], before[1] + 1]


def test_a_lost_answer_and_a_reload_go_on_with_the_same_bytes(guest, study):
    def lose(route):
        route.fetch()
        route.abort()

    letter = study.letter()
    before = study.fetched()
    opened(guest, letter.link)
    guest.page.route("**/issuer/tickets", lose)
    press(guest, "Get my ticket")
    guest.page.get_by_text("Press again: the same request is sent").wait_for()
    assert study.fetched() == [before[0], before[1] + 1]
    again(guest, study.link)  # without the letter even
    guest.page.unroute("**/issuer/tickets")
    assert "The ticket was asked for on this device, and has not come." in main(guest)
    fetch(guest)
    first, second = guest.bodies
    assert first == second
    assert study.fetched() == [before[0], before[1] + 1]


def test_what_is_posted_is_on_the_device_before_it_is_posted(guest, study):
    held = []
    opened(guest, study.letter().link)
    guest.page.route(
        "**/issuer/tickets", lambda route: (held.append(kept(guest)), route.continue_())
    )
    fetch(guest)
    (before,) = held
    (own,) = [json.loads(value) for name, value in before.items() if "ticket" in name]
    assert {"prefix", "factor", "blinded", "code"} < set(own)


def test_two_tabs_get_one_ticket(guest, study):
    letter = study.letter()
    opened(guest, letter.link)
    other = guest.context.new_page()
    sent = []
    other.on("request", lambda request: sent.append(request.post_data))
    other.goto(letter.link)
    press(guest, "Get my ticket")
    other.get_by_role("button", name="Get my ticket").click()
    for page in (guest.page, other):
        page.get_by_role("heading", name="Your ticket is here").wait_for()
    assert len({*guest.bodies, *filter(None, sent)}) == 1


def test_where_nothing_can_be_kept_the_ticket_is_a_file_and_comes_back_from_it(
    chromium, study, folder
):
    letter = study.letter()
    guest = new_guest(chromium)
    guest.context.add_init_script(FORBID)
    opened(guest, letter.link)
    fetch(guest)
    assert "This browser stores no data here" in main(guest)
    saved = save(guest, folder)
    assert letter.code not in saved.read_text()
    guest.context.close()

    guest = new_guest(chromium)
    opened(guest, study.link)
    assert "This study is by invitation" in main(guest)
    assert guest.page.get_by_role("button", name="Start").count() == 0
    bring(guest, folder, "other.json", json.dumps({"plan": study.plan, "stratum": 0}))
    guest.page.get_by_text("This file holds no ticket of this study.").wait_for()
    bring(guest, folder, "foreign.json", json.dumps({"plan": "0" * 64}))
    guest.page.get_by_text("This ticket is of another study").wait_for()
    bring(guest, folder, saved.name, saved.read_text())
    guest.page.get_by_role("heading", name="Your ticket is here").wait_for()
    assert guest.bodies == []
    answered(guest)
    leave(guest)
    guest.page.get_by_role("heading", name=SENT).wait_for()
    guest.context.close()


def save(guest, folder):
    with guest.page.expect_download() as found:
        press(guest, "Save it as a file")
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


def bring(guest, folder, name, text):
    path = folder / name
    path.write_text(text)
    guest.page.set_input_files("#ticket-file", path)


def test_a_second_answer_with_a_ticket_is_refused_and_it_is_said(chromium, study, folder):
    letter = study.letter()
    first, second = new_guest(chromium), new_guest(chromium)
    opened(first, letter.link)
    fetch(first)
    saved = save(first, folder)
    opened(second, study.link)
    bring(second, folder, saved.name, saved.read_text())
    second.page.get_by_role("heading", name="Your ticket is here").wait_for()
    for guest in (first, second):
        answered(guest)
        leave(guest)
        guest.page.get_by_role("heading", name=re.compile("Sent|did not accept")).wait_for()
    said = main(second)
    if "Sent" in said:  # chance made the same values of both: then it is the same message
        assert json.loads(first.bodies[-1]) == json.loads(second.bodies[-1])
    else:
        assert "this ticket was used before" in said
        assert [name for name in kept(second) if "ticket" in name or "report" in name] == []
    again(first, letter.link)
    press(first, "Get my ticket")
    first.page.get_by_text("A ticket was already fetched with your invitation").wait_for()
    first.context.close()
    second.context.close()


def test_a_letter_that_is_none_says_what_to_do(guest, study):
    opened(guest, f"{study.link}.1.{'A' * 22}")
    press(guest, "Get my ticket")
    guest.page.get_by_text("This letter brings no ticket").wait_for()
    for broken in ("", ".9." + "A" * 22, ".1.short", "." + "A" * 22):
        again(guest, study.link + broken)
        assert "This study is by invitation" in main(guest)
        assert "A" * 22 not in guest.page.url or broken == ""


def test_people_can_look_up_their_own_mark(guest, study):
    opened(guest, study.letter().link)
    press(guest, "Was my ticket fetched?")
    guest.page.get_by_text("No ticket was fetched with this invitation yet.").wait_for()
    fetch(guest)
    press(guest, "Was my ticket fetched?")
    guest.page.get_by_text("Yes: a ticket was fetched with this invitation.").wait_for()


def test_a_letter_of_another_person_on_the_same_device_gets_a_ticket_of_its_own(guest, study):
    opened(guest, study.letter().link)
    fetch(guest)
    before = study.fetched()
    again(guest, study.letter(stratum=0).link)
    guest.page.get_by_role("heading", name="Your ticket is here").wait_for()
    guest.page.get_by_text("This ticket is another person’s").click()
    with guest.page.expect_download():
        press(guest, "Save it as a file and take it off this device")
    assert "counted with the 40 people of “Faculty of arts”" in main(guest)
    fetch(guest)
    assert study.fetched() == [before[0] + 1, before[1]]


def test_in_two_phases_a_ticket_is_fetched_first_and_answers_come_from_a_day_on(guest, studies):
    study = studies["invited-late"]
    opened(guest, study.letter().link)
    fetch(guest)
    assert "Answers are taken from 20 May 2033 on (UTC)." in main(guest)
    assert guest.page.get_by_role("button", name="Start").count() == 0
    posts = len(guest.bodies)
    guest.page.clock.run_for(2 * QUARTER)
    assert len(guest.bodies) == posts
    guest.page.clock.pause_at(NOW / 1000 + 3 * 86_400)
    again(guest, study.link)
    answered(guest)


def test_of_a_group_that_is_full_nobody_fetches_a_ticket_in_vain(guest, studies):
    study = studies["invited-full"]
    letter, other = study.letter(), study.letter(stratum=0)
    study.site.python(FULL.format(plan=study.plan))
    opened(guest, letter.link)
    guest.page.get_by_text("As many of this group have answered as are asked.").wait_for()
    for name in ("Get my ticket", "Start"):
        assert guest.page.get_by_role("button", name=name, exact=True).count() == 0
    press(guest, "Was my ticket fetched?")
    guest.page.get_by_text("No ticket was fetched with this invitation yet.").wait_for()
    again(guest, other.link)
    fetch(guest)
    assert study.fetched() == [1, 0]


def test_a_list_that_is_one_is_named_by_its_size_alone(guest, studies):
    opened(guest, studies["invited-whole"].letter(stratum=0).link)
    assert "Your answer is counted with the 30 people on the list." in main(guest)


def test_by_keyboard_alone(guest, study):
    opened(guest, study.letter().link)

    def to(name):
        for _ in range(40):
            guest.page.keyboard.press("Tab")
            if guest.page.evaluate("document.activeElement.textContent").strip() == name:
                return guest.page.keyboard.press("Enter")
        raise AssertionError(f"{name}: not reached by 40 tabs")

    to("Get my ticket")
    guest.page.get_by_role("heading", name="Your ticket is here").wait_for()
    to("Start")
    guest.page.get_by_text("Question 1 of 1").wait_for()


def test_axe_finds_nothing_on_the_screens_of_invited_people(chromium, study):
    guest = new_guest(chromium, bypass_csp=True)
    again(guest, study.link)
    found = complaints(guest.page)
    again(guest, study.letter().link)
    found += complaints(guest.page)
    fetch(guest)
    found += complaints(guest.page)
    guest.context.close()
    assert found == []
