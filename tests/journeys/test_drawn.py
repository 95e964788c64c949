"""A study that asks each person two of its questions: the device draws which, once."""

import re

import pytest

from tests.journeys.every_kind import every_kind, open_studies
from tests.journeys.respondent import visit

QUESTIONS = [
    {"name": "smoked", "kind": "yes_no", "text": "Have you smoked?", "label": "Smoked"},
    {
        "name": "often",
        "kind": "yes_no",
        "text": "Every day?",
        "label": "Every day",
        "asked_if": "smoked",
        "asked_if_answers": [1],
    },
    {"name": "drank", "kind": "yes_no", "text": "Have you drunk?", "label": "Drank"},
    {"name": "slept", "kind": "yes_no", "text": "Did you sleep well?", "label": "Slept"},
    {"name": "walked", "kind": "yes_no", "text": "Did you walk?", "label": "Walked"},
    {
        "name": "region",
        "kind": "single",
        "protection": "publication",
        "text": "Where do you live?",
        "label": "Region",
        "choices": "North\nSouth",
    },
]


@pytest.fixture(scope="module")
def link(site):
    study = every_kind("drawn", questions=QUESTIONS)
    study["study"]["asked"] = 2
    return open_studies(site, study)["drawn"]


def said(page):
    """Return how many questions the welcome says are asked, of how many."""
    page.get_by_role("button", name="Start").wait_for()
    text = page.locator(".head").inner_text()
    return tuple(
        map(int, re.search(r"asked (\d+)\sof\s(\d+) questions; your device", text).groups())
    )


def drawn(page):
    """Return the texts of what is asked, having answered all with its first choice."""
    page.get_by_role("button", name="Start").click()
    found = []
    while True:
        page.locator("h1:has-text('Ready to send'), fieldset").first.wait_for()
        if page.get_by_role("heading", name="Ready to send").count():
            return found
        found.append(page.locator("h1").inner_text())
        page.locator("label.choice").first.click()
        page.get_by_role("button", name="Continue").click()
        page.wait_for_function(
            "(text) => document.querySelector('h1').innerText !== text", arg=found[-1]
        )


def test_a_reload_and_a_second_tab_ask_what_the_device_drew(chromium, link):
    guest = visit(chromium)
    guest.page.goto(link)
    asked, of = said(guest.page)
    assert of == 6
    first = drawn(guest.page)
    assert len(first) == asked
    assert "Where do you live?" in first  # which is sent as given, by everybody
    guest.page.reload()
    assert said(guest.page) == (asked, of)
    assert drawn(guest.page) == first
    other = guest.context.new_page()
    other.goto(link)
    assert said(other) == (asked, of)
    assert drawn(other) == first
    message = guest.send()
    names = {each["name"] for each in QUESTIONS if each["text"] in first}
    assert set(message["answers"]) == names
    assert guest.complaints == []
    guest.context.close()


def test_another_device_draws_for_itself_and_the_statement_lists_and_forgets_the_draw(
    chromium, link, site
):
    found = set()
    for _ in range(12):
        guest = visit(chromium)
        guest.page.goto(link)
        said(guest.page)
        found.add(guest.page.evaluate("localStorage.getItem('candor.drawn.drawn')"))
        if len(found) > 1:
            break
        guest.context.close()
    assert len(found) > 1  # all alike once in 6¹¹
    guest.page.goto(f"{site.base}/my/")
    guest.page.get_by_text("Which questions of “drawn” this device drew").wait_for()
    guest.page.get_by_role("button", name="Erase this draw").click()
    guest.page.get_by_text("The draw is erased.").wait_for()
    assert guest.page.evaluate("localStorage.getItem('candor.drawn.drawn')") is None
    guest.context.close()


def test_the_promise_is_about_all_that_a_person_sends_and_says_who_sees_the_draw(chromium, link):
    guest = visit(chromium)
    guest.page.goto(link)
    said(guest.page)
    promise = guest.page.locator('.promise [data-part="together"]').inner_text()
    assert re.search(r"From randomised answers: at most \d+\s+in\s+100 right", promise)
    text = guest.page.locator("main").text_content()
    assert "We can see which ones it picked" in " ".join(text.split())
    guest.context.close()
