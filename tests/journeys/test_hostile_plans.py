"""Plans that a hostile or broken site could serve, under the fingerprint of the link: refused
whole, or shown well.
"""

import hashlib
import json

import pytest

from tests.journeys.respondent import visit

SLUG = "medicines-and-help"
NARROW = {"width": 320, "height": 700}
WORD = 2**32


@pytest.fixture
def guest(chromium):
    found = visit(chromium, NARROW)
    yield found
    found.context.close()


@pytest.fixture
def plan(guest, site):
    return guest.page.request.get(f"{site.base}/api/v1/studies/{SLUG}/plan").json()


def serve(guest, site, plan):
    """Serve a Plan, and a page whose words are true of it; open the link that names it."""
    text = json.dumps(plan, ensure_ascii=False)
    of_one = "fresh-1-of-1"
    words = f'data-words="device-{len(plan["questions"])} {of_one}"'
    guest.page.route(
        "**/plan", lambda route: route.fulfill(body=text, content_type="application/json")
    )
    guest.page.route(
        f"**/s/{SLUG}/",
        lambda route: route.fulfill(
            response=(page := route.fetch()),
            body=page.text().replace(f'data-words="device-3 {of_one}"', words),
        ),
    )
    guest.page.goto(f"{site.base}/s/{SLUG}/#{hashlib.sha256(text.encode()).hexdigest()}")
    guest.page.locator("[data-do=start], .nothing").first.wait_for()


def many(plan, count):
    loss = {
        "channel": {"kind": "subset", "choices": 2, "size": 1, "keep": WORD // 2 + 1},
        "loss": [3, 2],
    }
    plan["questions"] = [{**plan["questions"][0], "name": f"q{i}", **loss} for i in range(count)]


def choices(plan, count):
    channel = {"kind": "subset", "choices": count, "size": 1, "keep": 2 * (WORD // (count + 1))}
    named = [f"Choice number {i}" for i in range(count)]
    plan["questions"][0].update(kind="single", choices=named, channel=channel, loss=[3, 1])


def likely(plan):
    """A table of 19 : 1, and a part that no table has: the page once read it, and said 51 of 100
    for 95.
    """
    channel = {"kind": "table", "weights": [[19, 1], [1, 19]], "keep": WORD // 100 * 51}
    plan["questions"][0].update(kind="yes_no", choices=["No", "Yes"], channel=channel, loss=[19, 1])


REFUSED = {
    "odds that the page would tell from a part that nothing verifies": likely,
    "questions without number": lambda plan: many(plan, 20_000),
    "choices beyond what the arithmetic is proved for": lambda plan: choices(plan, 1025),
    "a total loss above what this script asks for": lambda plan: plan.update(loss=[2981, 1]),
    "no title": lambda plan: plan.pop("title"),
    "a text that is an object": lambda plan: plan["questions"][1].update(text={"a": 1}),
    "a choice of nothing": lambda plan: plan["questions"][2]["choices"].__setitem__(0, " "),
    "a choice that turns the odds beside it": lambda plan: plan["questions"][0][
        "choices"
    ].__setitem__(1, "Yes\u202e"),
    "no texts in the page's language": lambda plan: plan.update(language="fr"),
}


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_asked_well_is_refused_whole(guest, site, plan, change):
    change(plan)
    serve(guest, site, plan)
    assert guest.page.locator("h1").inner_text() == "Your browser refuses to ask these questions"
    assert guest.page.locator("input, [data-do=start]").count() == 0
    assert guest.page.locator("details code").text_content()
    assert guest.bodies == guest.complaints == guest.violations == []


def test_texts_are_shown_as_texts_whatever_they_hold(guest, site, plan):
    title, text = (
        "<img src=x onerror=alert(1)>{name}",
        "<b>bold</b> {number} &amp; <script>window.bad = 1</script>",
    )
    plan["title"] = title
    plan["questions"][0].update(text=text, help="<a href='//example.org'>here</a>")
    serve(guest, site, plan)
    assert guest.page.locator("h1").inner_text() == title
    guest.page.get_by_role("button", name="Start").click()
    assert guest.page.locator("legend").inner_text() == text
    assert guest.page.locator("main img, main b, fieldset a, main script").count() == 0
    assert guest.page.evaluate("window.bad") is None
    assert guest.violations == guest.complaints == []


def long_texts(plan):
    plan.update(title="W" * 300, organisation="O" * 300, purpose="P" * 3000)
    plan["questions"][0].update(text="Q" * 2000, help="H" * 2000, label="L" * 400)
    plan["questions"][0]["choices"][1] = "Y" * 600


LONG = {
    "very long words": long_texts,
    "as many choices as there can be": lambda plan: choices(plan, 1024),
    "as many questions as there can be": lambda plan: many(plan, 100),
}


@pytest.mark.parametrize("change", LONG.values(), ids=LONG)
def test_what_is_long_still_fits_a_narrow_phone(guest, site, plan, change):
    change(plan)
    serve(guest, site, plan)
    for _ in range(2):
        assert guest.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
        guest.page.locator("main .button").last.click() if guest.page.locator(
            "[data-do=start]"
        ).count() else None
    assert guest.page.locator("[data-question]").count() == 1
    assert guest.violations == guest.complaints == []


def test_a_long_list_of_choices_opens_as_the_device_s_own(guest, site, plan):
    choices(plan, 1024)
    serve(guest, site, plan)
    guest.page.get_by_role("button", name="Start").click()
    listed = guest.page.get_by_label("Your answer")
    assert listed.locator("option").count() == 1025  # and none chosen
    assert guest.page.evaluate("document.documentElement.scrollHeight") < 4 * NARROW["height"]
    guest.page.get_by_role("button", name="Continue").click()
    assert (
        guest.page.locator(".error:visible")
        .inner_text()
        .startswith("Choose an answer to continue.")
    )
    listed.select_option(index=1001)
    guest.page.get_by_role("button", name="Continue").click()
    guest.page.get_by_role("button", name="Back").click()
    assert guest.page.get_by_label("Your answer").input_value() == "1000"
    assert guest.violations == guest.complaints == []


def test_a_text_from_right_to_left_does_not_turn_the_odds_beside_it(guest, site, plan):
    plan["questions"][0].update(text="هل نمت جيدا؟", choices=["لا", "نعم"])
    serve(guest, site, plan)
    guest.page.get_by_text("How an answer is randomised").click()
    assert "“\u2068نعم\u2069”" in guest.page.locator(".how").inner_text()
    guest.page.get_by_role("button", name="Start").click()
    legend, page = guest.page.locator("legend > *"), guest.page.viewport_size["width"]
    box = legend.evaluate(
        "(it) => { const range = document.createRange(); range.selectNodeContents(it);"
        " const { left, right } = range.getBoundingClientRect(); return [left, right]; }"
    )
    assert page - box[1] < box[0]  # it begins where its readers do
