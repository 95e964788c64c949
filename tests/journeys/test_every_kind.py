"""The form with a question of every kind: what it asks, what it sends, and what nobody beside it
can tell.
"""

import hashlib
import json
import re

import pytest
from playwright.sync_api import expect

from tests.journeys.every_kind import DATE, GIVEN, QUESTIONS, SCALE, every_kind, open_studies, png
from tests.journeys.respondent import visit
from tests.journeys.test_accessibility import complaints

LIMIT = 40_000
ANSWERS = {
    "place": "Outside",
    "used": ["Tobacco", "Cannabis"],
    "doctor": "Agree",
    "friends": "Neither",
    "days": "12",
    "hours": "7",
    "born": ("March", "1984"),
}


@pytest.fixture(scope="module")
def links(site):
    return open_studies(
        site,
        every_kind("every-kind", chinese=True, picture=True),
        every_kind("every-page", layout="page"),
        every_kind("retired", questions=QUESTIONS[:1], retired=True),
        every_kind("moved", questions=[DATE]),
        every_kind("mood", questions=[SCALE]),
        every_kind("largest", questions=[*QUESTIONS, *GIVEN], chinese=True),
    )


@pytest.fixture
def link(links):
    return links["every-kind"]


@pytest.fixture
def page_link(links):
    return links["every-page"]


@pytest.fixture
def guest(chromium):
    found = visit(chromium)
    yield found
    found.context.close()


def start(guest, link):
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").click()
    guest.page.locator("fieldset").first.wait_for()


def fill(guest, name, answer):
    field = guest.page.locator(f'[data-question="{name}"]')
    if isinstance(answer, tuple):
        for label, choice in zip(("Month", "Year"), answer, strict=True):
            field.get_by_label(label).select_option(choice)
    elif isinstance(answer, list):
        for option in answer:
            field.get_by_label(option, exact=True).check()
    elif answer.isdigit():
        field.locator(".input").fill(answer)
    else:
        field.get_by_label(answer, exact=True).check()


def answer_screens(guest, smoked, look=lambda: None, given=None):
    """Answer screen by screen until “Ready to send”, looking at each; what comes with an answer
    is answered too.
    """
    answers = {**ANSWERS, "smoked": smoked, **(given or {})}
    while not guest.page.get_by_role("heading", name="Ready to send").count():
        look()
        heading = guest.page.locator("h1").inner_text()
        done = set()
        while open_ := [name for name in shown(guest) if name not in done]:
            fill(guest, open_[0], answers[open_[0]])
            done.add(open_[0])
        guest.go_on()
        guest.page.wait_for_function(
            "(text) => document.querySelector('h1').innerText !== text", arg=heading
        )


def shown(guest):
    fields = guest.page.locator("[data-question]:visible")
    return fields.evaluate_all("fields => fields.map((field) => field.dataset.question)")


def asked(guest):
    return [(request.method, request.url, request.resource_type) for request in guest.requests]


def test_the_path_through_the_questions_shows_in_no_request_and_in_no_part_of_the_message(
    chromium, link
):
    seen = []
    for smoked in ("Yes", "No"):
        guest = visit(chromium)
        start(guest, link)
        before = len(guest.requests)
        answer_screens(guest, smoked)
        assert len(guest.requests) == before  # nothing is fetched once something has been asked
        message = guest.send()
        seen.append(
            (
                sorted(asked(guest)),
                {name: type(value) for name, value in message["answers"].items()},
            )
        )
        assert guest.complaints == guest.violations == []
        assert guest.context.cookies() == []
        guest.context.close()
    assert seen[0] == seen[1]
    assert list(seen[0][1]) == [question["name"] for question in QUESTIONS]


def test_what_is_not_asked_is_said_and_is_not_shown(guest, link):
    start(guest, link)
    fill(guest, "smoked", "No")
    guest.go_on()
    guest.page.get_by_text("Question 3 of 8").wait_for()
    assert "we skip question\xa02." in guest.page.locator("form").inner_text()
    guest.page.get_by_role("button", name="Back").click()
    fill(guest, "smoked", "Yes")
    guest.go_on()
    guest.page.get_by_text("Question 2 of 8").wait_for()
    assert guest.page.locator("label.choice").all_inner_texts() == [
        "At home",
        "At work",
        "Outside",
        "Prefer not to say",
    ]
    assert "we skip" not in guest.page.locator("form").inner_text()


def test_boxes_that_contradict_each_other_are_never_ticked_together(guest, link):
    start(guest, link)
    fill(guest, "smoked", "No")
    guest.go_on()
    ticked = guest.page.locator("input:checked + span")
    fill(guest, "used", ["Tobacco", "Cannabis"])
    assert ticked.all_inner_texts() == ["Tobacco", "Cannabis"]
    for alone in ("None of these", "Prefer not to say"):
        fill(guest, "used", [alone])
        assert ticked.all_inner_texts() == [alone]
    fill(guest, "used", ["Alcohol"])
    assert ticked.all_inner_texts() == ["Alcohol"]
    guest.page.get_by_label("Alcohol").uncheck()
    guest.go_on()
    assert (
        guest.page.get_by_role("alert")
        .inner_text()
        .startswith("Tick what is true of you, or “None of these”")
    )


def test_a_number_that_is_none_stays_to_be_mended_and_says_what_was_expected(guest, page_link):
    start(guest, page_link)
    field = guest.page.locator("#typed-days")
    error = guest.page.locator("#error-days")
    for typed in ("31", "-1", "1.5", "12e1", "twelve", " "):
        field.fill(typed)
        assert error.is_hidden()
        guest.page.keyboard.press("Enter")
        assert error.inner_text() == "Enter a whole number from 0 to 30 to continue."
        assert field.input_value() == typed
        assert field.get_attribute("aria-invalid") == "true"
        described = guest.page.locator('[data-question="days"]').get_attribute("aria-describedby")
        assert described == "error-days"
    field.fill("\uff11\uff12")  # as a Chinese keyboard writes it
    guest.page.keyboard.press("Enter")
    assert error.is_hidden()


def test_everything_of_every_kind_can_be_answered_with_the_keyboard(guest, link):
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").press("Enter")
    for keys in (["Space"], ["Tab", "Space"], ["Space"]):  # yes; where; the first box
        guest.page.locator("h1").wait_for()
        heading = guest.page.locator("h1").inner_text()
        tab_to(guest, "input")
        for key in keys[-1:]:
            guest.page.keyboard.press(key)
        guest.page.keyboard.press("Enter")
        guest.page.wait_for_function(
            "(text) => document.querySelector('h1').innerText !== text", arg=heading
        )
    for _ in range(2):  # rows of the matrix
        tab_to(guest, "input")
        guest.page.keyboard.press("ArrowDown")
    guest.page.keyboard.press("Enter")
    for number in ("7", "8"):
        guest.page.locator("#typed-days, #typed-hours").wait_for()
        tab_to(guest, ".input")
        guest.page.keyboard.type(number)
        guest.page.keyboard.press("Enter")
    guest.page.get_by_text("Question 8 of 8").wait_for()
    for key in ("M", "1"):
        tab_to(guest, "select")
        guest.page.keyboard.press(key)
    tab_to(guest, "button")
    guest.page.keyboard.press("Enter")
    guest.page.get_by_role("heading", name="Ready to send").wait_for()
    guest.page.get_by_role("button", name="Send my response").press("Enter")
    guest.page.get_by_role("button", name="Send now").press("Enter")
    guest.page.get_by_role("heading", name="Sent").first.wait_for()


def tab_to(guest, selector):
    for _ in range(20):
        guest.page.keyboard.press("Tab")
        if guest.page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no {selector} within 20 tabs")


def test_on_one_page_questions_come_and_go_with_the_answers_and_it_is_said(guest, page_link):
    start(guest, page_link)
    place = guest.page.locator('[data-question="place"]')
    assert place.is_hidden()
    fill(guest, "smoked", "Yes")
    assert place.is_visible()
    assert (
        guest.page.locator("#news").inner_text() == "New question: Where did you smoke most often?"
    )
    fill(guest, "smoked", "No")
    assert place.is_hidden()
    assert (
        guest.page.locator("#news").inner_text()
        == "A question is no longer asked: Where did you smoke most often?"
    )


def test_on_one_page_what_is_missing_is_listed_on_top_and_takes_the_focus(guest, page_link):
    start(guest, page_link)
    fill(guest, "days", "3")
    guest.go_on()
    assert guest.page.evaluate("document.activeElement.className").startswith("errors")
    missing = guest.page.locator(".errors a")
    assert missing.count() == 6  # of eight: one was answered, one is not asked
    fragment = guest.page.evaluate("location.hash")
    missing.nth(1).click()
    assert guest.page.evaluate("document.activeElement.name") == "used"
    assert guest.page.evaluate("location.hash") == fragment
    assert guest.page.locator("#typed-days").input_value() == "3"
    answer_screens(guest, "Yes")
    message = guest.send()
    assert list(message["answers"]) == [question["name"] for question in QUESTIONS]


def test_a_change_of_mind_leaves_no_question_open_behind_it(guest, page_link):
    start(guest, page_link)
    answer_screens(guest, "No")
    guest.page.get_by_role("button", name="Change an answer").click()
    fill(guest, "smoked", "Yes")
    guest.go_on()
    assert guest.page.locator(".errors a").all_inner_texts() == ["Where did you smoke most often?"]


def test_the_sample_throw_is_not_of_the_respondents_own_answer(chromium, link):
    """Whatever was answered, the same example is thrown: the first question's “Yes”."""
    for smoked in ("Yes", "No"):
        guest = visit(chromium)
        start(guest, link)
        answer_screens(guest, smoked)
        guest.page.get_by_text("Try it with someone else’s answer").click()
        card = guest.page.locator("#main details[open]").inner_text()
        assert "Say someone else answers question\xa01 with “Yes”." in card
        guest.context.close()


def test_pictures_are_fetched_and_checked_before_anything_is_asked(guest, link):
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").wait_for()
    pictures = [request.url for request in guest.requests if "/pictures/" in request.url]
    assert len(set(pictures)) == 1
    guest.page.get_by_role("button", name="Start").click()
    assert guest.page.get_by_role("img", name="Two stripes").evaluate(
        "canvas => [canvas.width, canvas.height]"
    ) == [
        40,
        20,
    ]
    pixel = "canvas => [...canvas.getContext('2d').getImageData(5, 5, 1, 1).data]"
    assert guest.page.get_by_role("img", name="Two stripes").evaluate(pixel) == [10, 91, 72, 255]


def test_a_picture_other_than_the_plans_is_refused(guest, link):
    guest.page.route(
        "**/pictures/*", lambda route: route.fulfill(body=png(41), content_type="image/png")
    )
    guest.page.goto(link)
    guest.page.get_by_role("heading", name="Your browser refuses to ask these questions").wait_for()
    assert guest.page.locator("input").count() == 0


def test_the_arithmetic_of_every_question_can_be_followed(guest, site, link):
    guest.page.goto(link)
    guest.page.locator("details.checked summary").click()
    plan = guest.page.request.get(f"{site.base}/api/v1/studies/every-kind/plan").json()
    facts = re.sub(r"\s+", " ", guest.page.locator("#facts").inner_text())
    for question in plan["questions"]:
        top, bottom = question["loss"]
        assert f"{top} \u2215 {bottom}" in facts
    assert "{} \u2215 {}".format(*plan["loss"]) in facts
    assert "2980.957987 to 1" in facts
    assert link.rpartition("#")[2] in facts.replace(" ", "")


def test_every_question_carries_its_odds_one_tap_below(guest, link):
    start(guest, link)
    chips, odds = [], []

    def look():
        chips.append(guest.page.locator(".chip summary").all_inner_texts())
        odds.append(guest.page.locator(".chip p").all_text_contents())

    answer_screens(guest, "Yes", look)
    assert [len(found) for found in chips] == [
        1
    ] * 7  # a matrix whose rows have the same odds says them once
    assert all("Randomised on this device" in found[0] for found in chips)
    assert all(re.search(r"\d", found[0]) for found in odds)
    assert not any(re.search(r"\d", found[0]) for found in chips)


def test_in_another_language_the_texts_are_its_own_and_the_fingerprint_goes_along(guest, link):
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").wait_for()
    guest.page.get_by_role("link", name="简体中文").click()
    guest.page.wait_for_url("**/s/every-kind/zh-hans/#*")
    assert guest.page.evaluate("location.hash") == "#" + link.rpartition("#")[2]
    guest.page.get_by_role("heading", name="各种习惯").wait_for()
    assert guest.page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == [
        "zh-hans",
        "ltr",
    ]
    said = guest.page.locator("main :is(h1, h2, p, th, td)").all_text_contents()
    # a plural that is not translated would come out as nothing
    assert all(text.strip() for text in said)
    guest.page.locator("[data-do=start]").click()
    guest.page.get_by_role("heading", name="上个月您抽过烟吗").wait_for()
    assert guest.page.locator("label.choice").all_inner_texts() == ["有", "没有"]
    assert guest.context.cookies() == []
    assert guest.complaints == guest.violations == []


def test_a_language_that_the_study_is_not_asked_in_is_said_and_the_others_are_offered(
    guest, site, link
):
    response = guest.page.goto(link.replace("/#", "/sw/#"))
    assert response.status == 404
    guest.page.get_by_role("heading", name="This study is not asked in that language").wait_for()
    guest.page.get_by_role("link", name="English").click()
    guest.page.get_by_role("heading", name="Habits of every kind").wait_for()
    assert guest.page.evaluate("location.hash") == "#" + link.rpartition("#")[2]


def test_axe_finds_nothing_on_any_screen(chromium, site, link, page_link):
    guest = visit(chromium, bypass_csp=True)
    found = []
    guest.page.goto(link)
    guest.page.locator("details.checked summary").click()
    found += complaints(guest.page)
    start(guest, link)
    guest.page.locator(".chip summary").click()
    fill(guest, "smoked", "No")
    guest.go_on()
    guest.page.get_by_text("Question 3 of 8").wait_for()  # says what was passed over
    found += complaints(guest.page)
    start(guest, page_link)
    guest.go_on()  # every kind, and what is missing
    found += complaints(guest.page)
    answer_screens(guest, "Yes")
    found += complaints(guest.page)
    for address in ("/s/none/", "/s/every-kind/fr/", "/s/retired/", "/s/every-kind/#00"):
        guest.page.goto(f"{site.base}{address}")
        guest.page.locator("h1").wait_for()
        found += complaints(guest.page)
    guest.context.close()
    assert found == []


WIDTHS = {
    "a narrow phone": (320, "100%", "ltr"),
    "a narrow phone, right to left": (320, "100%", "rtl"),
    "a phone, text twice as large": (390, "200%", "ltr"),
}


@pytest.mark.parametrize(("width", "text", "direction"), WIDTHS.values(), ids=WIDTHS)
def test_nothing_needs_scrolling_sideways(chromium, link, page_link, width, text, direction):
    guest = visit(chromium, {"width": width, "height": 800})
    guest.page.add_init_script(
        f"addEventListener('DOMContentLoaded', () => "
        f"{{ document.documentElement.style.fontSize = '{text}';"
        f" document.documentElement.dir = '{direction}'; }})"
    )
    wide = []

    def look():
        if not guest.page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            wide.append(guest.page.locator("h1").inner_text())

    guest.page.goto(link)
    guest.page.locator("details.checked summary").click()
    look()
    start(guest, link)
    look()
    start(guest, page_link)
    guest.go_on()
    answer_screens(guest, "Yes", look)
    look()
    guest.context.close()
    assert wide == []


def test_in_print_there_is_the_form_and_nothing_to_press(guest, page_link):
    start(guest, page_link)
    guest.page.emulate_media(media="print")
    assert guest.page.locator("button:visible").count() == 0
    assert guest.page.locator("fieldset:visible").count() == 7
    assert (
        guest.page.evaluate("getComputedStyle(document.body).backgroundColor")
        == "rgb(255, 255, 255)"
    )


def test_the_whole_page_is_below_its_limit(guest, links):
    sizes = {}
    guest.page.on(
        "response", lambda response: sizes.update({response.url: response.request.sizes()})
    )
    guest.page.goto(links["largest"])
    guest.page.get_by_role("button", name="Start").wait_for()
    bodies = {url: size["responseBodySize"] for url, size in sizes.items()}
    assert sum(bodies.values()) < LIMIT, bodies
    assert any(url.endswith("/form/full.js") for url in bodies)


def test_a_link_of_an_earlier_round_says_so(guest, site, link):
    """As a server would that has opened a new wave: the page names the Plans before."""
    old = "ab" * 32
    guest.page.route(
        "**/s/every-kind/",
        lambda route: route.fulfill(
            response=(page := route.fetch()),
            body=page.text().replace('data-earlier="', f'data-earlier="{old}'),
        ),
    )
    guest.page.goto(f"{site.base}/s/every-kind/#{old}")
    guest.page.get_by_role("heading", name="Your link is of an earlier round").wait_for()
    # no new link: only people who are trusted give one
    assert guest.page.locator("main a").count() == 0


def test_a_retired_study_says_so_before_it_asks(guest, links):
    guest.page.goto(links["retired"])
    guest.page.get_by_role("heading", name="This study has been retired").wait_for()
    assert guest.page.locator("input").count() == 0


def test_the_odds_picture_says_in_words_what_it_shows(guest, link):
    guest.page.goto(link)
    guest.page.get_by_text("How an answer is randomised").click()
    picture = guest.page.get_by_role("img", name=re.compile("A picture of 100 people"))
    assert (
        picture.get_attribute("aria-label") == "A picture of 100 people: 73 full dots and 27 rings."
    )


def test_the_message_is_what_the_plan_expects_and_is_accepted(guest, site, link):
    start(guest, link)
    answer_screens(guest, "Yes")
    message = guest.send()
    assert message["plan"] == link.rpartition("#")[2]
    receipt = guest.page.locator("output").inner_text()
    assert (
        guest.page.request.get(f"{site.base}/api/v1/receipts/{receipt}").json()["accepted"] is True
    )
    document = guest.page.request.get(f"{site.base}/api/v1/studies/every-kind/plan").body()
    assert hashlib.sha256(document).hexdigest() == message["plan"]
    plan = json.loads(document)
    assert list(message["answers"]) == [question["name"] for question in plan["questions"]]
    option, bit = message["answers"]["used"]
    assert 0 <= option < 5
    assert bit in (0, 1)


def test_a_date_is_asked_as_a_day_and_kept_as_its_week(guest, links):
    start(guest, links["moved"])
    field = guest.page.locator('[data-question="moved"]')
    day = field.get_by_label("Date")
    assert (day.get_attribute("min"), day.get_attribute("max")) == ("2000-11-13", "2025-10-19")
    day.fill("2025-10-20")
    guest.go_on()
    expect(field.get_by_role("alert")).to_contain_text("to October 19, 2025 to continue")
    day.fill("2024-02-29")
    guest.go_on()
    guest.page.get_by_role("button", name="Change an answer").click()
    expect(day).to_have_value("2024-02-26")  # the day itself was never kept
    guest.go_on()
    report = guest.send()["answers"]["moved"]
    assert type(report) is int
    assert guest.complaints == guest.violations == []


def test_a_scale_whose_mean_is_wanted_is_asked_in_words_and_sent_as_a_mark(guest, links):
    start(guest, links["mood"])
    field = guest.page.locator('[data-question="mood"]')
    assert field.get_by_role("radio").count() == 3
    guest.go_on()
    expect(field.get_by_role("alert")).to_be_visible()
    field.get_by_label("So-so").check()
    guest.go_on()
    guest.page.get_by_role("button", name="Change an answer").click()
    expect(field.get_by_label("So-so")).to_be_checked()
    guest.go_on()
    report = guest.send()["answers"]["mood"]
    assert type(report) is int
    assert guest.complaints == guest.violations == []
