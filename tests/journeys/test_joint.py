"""A study whose drawn questions are sent as one answer."""

import json

import pytest

from tests.journeys.every_kind import every_kind, open_studies
from tests.journeys.respondent import visit
from tests.journeys.test_drawn import QUESTIONS, drawn, said

SENT = ["smoked", "often", "drank"]


@pytest.fixture(scope="module")
def link(site):
    questions = [
        {**each, "together": "habits"} if each["name"] in SENT else each for each in QUESTIONS
    ]
    study = every_kind("joint", questions=questions)
    study["study"]["asked"] = 1
    return open_studies(site, study)["joint"]


def asked_together(chromium, link):
    """Return the first visitor whose device drew the questions that are sent as one."""
    while True:
        guest = visit(chromium)
        guest.page.goto(link)
        guest.page.get_by_role("button", name="Start").wait_for()
        if (
            json.loads(guest.page.evaluate("localStorage.getItem('candor.drawn.joint')"))["set"]
            == 0
        ):
            return guest
        guest.context.close()


def test_one_value_leaves_for_all_of_them_and_the_page_says_what_it_is(chromium, link):
    guest = asked_together(chromium, link)
    assert said(guest.page) == (4, 6)
    texts = drawn(guest.page)
    assert {"Have you smoked?", "Every day?", "Have you drunk?"} <= set(texts)
    guest.page.get_by_text("Try it with someone else’s answer").click()
    sample = guest.page.locator('[data-put="drawn"]').inner_text()
    assert " · " in sample
    card = " ".join(guest.page.locator("#main details[open]").inner_text().split())
    assert "Say someone else answers questions 1, 2, and 3 with “" in card
    guest.page.get_by_role("button", name="Randomise again").click()
    message = guest.send()
    assert set(message["answers"]) == {"habits", "region"}
    assert all(0 <= cell < 12 for cell in message["answers"]["habits"])
    shown = guest.page.locator("main").inner_text()
    assert "Yes · Yes · Yes" in shown
    assert guest.complaints == []
    guest.context.close()


def test_the_odds_of_a_question_are_those_of_the_combination(chromium, link):
    guest = asked_together(chromium, link)
    guest.page.get_by_role("button", name="Start").click()
    guest.page.locator(".chip summary").click()
    chip = " ".join(guest.page.locator(".chip").inner_text().split())
    assert "answers to questions 1, 2, and 3 are sent as one" in chip
    guest.context.close()


@pytest.fixture(scope="module")
def declining(site):
    own = {"kind": "yes_no", "together": "habits", "may_decline": True}
    texts = ("Have you smoked?", "Have you drunk?", "Have you gambled?")
    questions = [
        {**own, "name": f"q{at}", "text": text, "label": text} for at, text in enumerate(texts)
    ]
    region = next(each for each in QUESTIONS if each["name"] == "region")
    study = every_kind("declining", questions=[*questions, region])
    return open_studies(site, study)["declining"]


def test_one_answer_declines_all_that_is_sent_as_one_until_somebody_goes_back(chromium, declining):
    guest = visit(chromium)
    page = guest.page
    page.goto(declining)
    page.get_by_role("button", name="Start").click()
    page.get_by_text("Question 1 of 4").wait_for()
    said = "“Prefer not to say” skips questions 1, 2, and 3, which are sent as one answer."
    assert page.get_by_text(said).is_visible()
    guest.choose("Yes")
    guest.go_on()
    page.get_by_text("Question 2 of 4").wait_for()
    assert page.get_by_text(said).is_visible()
    guest.choose("Prefer not to say")
    guest.go_on()
    page.get_by_role("heading", name="Where do you live?").wait_for()
    skipped = page.get_by_text("Based on your answer we skip question 3.")
    assert "sends a randomised “Prefer not to say”" in skipped.inner_text().replace("\n", " ")
    assert not page.get_by_text(said).count(), "it is sent by itself"
    page.get_by_role("button", name="Back").click()
    page.get_by_text("Question 2 of 4").wait_for()
    guest.choose("No")
    guest.go_on()
    page.get_by_role("heading", name="Have you gambled?").wait_for()
    page.get_by_role("button", name="Back").click()
    page.get_by_text("Question 2 of 4").wait_for()
    guest.choose("Prefer not to say")
    guest.go_on()
    page.get_by_role("heading", name="Where do you live?").wait_for()
    guest.choose("North")
    guest.go_on()
    page.get_by_role("heading", name="Ready to send").wait_for()
    assert not page.get_by_text("is answered “Not asked”").count()
    assert guest.bodies == [], "nothing has left"
    message = guest.send()
    assert message["answers"].keys() == {"habits", "region"}
    assert all(0 <= cell <= 8 for cell in message["answers"]["habits"])
    told = page.locator("main ol > li").first.inner_text().split("\n")
    assert told[1:3] == ["You chose", "Prefer not to say"], (
        "of all three, whatever was chosen before"
    )
    assert guest.complaints == []
    guest.context.close()
