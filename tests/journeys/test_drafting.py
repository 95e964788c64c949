"""From a blank account to an open wave by keyboard alone; and axe has nothing to say on the way."""

import pytest

from tests.journeys.respondent import PHONE
from tests.journeys.test_accessibility import complaints

NARROW = {"width": 320, "height": 640}
SHOWS = (
    "address => document.getElementById('preview').contentWindow.location.href.endsWith(address)"
)
MAKE = (
    "from surveys.people.services import ensure_user;"
    "ensure_user(username='keys', password='demo-researcher'); print('null')"
)


def sign_in(context, name="researcher"):
    page = context.new_page()
    page.goto("/accounts/login/?next=/studies/new/")
    page.fill("#id_login", name)
    page.fill("#id_password", "demo-researcher")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/studies/new/")
    return page


def tab_to(page, selector, most=120):
    """Press Tab until the focus is there: what cannot be reached this way cannot be used by
    keys.
    """
    page.wait_for_load_state()  # or another page may come while it is asked
    for _ in range(most):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} is not reached by Tab on {page.url}")


def press(page, selector, key="Enter"):
    tab_to(page, selector)
    page.keyboard.press(key)


def type_into(page, selector, text):
    tab_to(page, selector)
    page.keyboard.type(text)


@pytest.fixture
def page(site, chromium, request):
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, base_url=site.base)
    blank = "blank_account" in request.node.name
    if blank:
        site.python(MAKE)
    page = sign_in(context, "keys" if blank else "researcher")
    page.trouble = []
    page.on(
        "console", lambda said: page.trouble.append(said.text) if said.type == "error" else None
    )
    yield page
    context.close()


def begin(page, title, *templates):
    press(page, "a[href='?way=template']")
    page.wait_for_url("**way=template")
    type_into(page, "#id_title", title)
    type_into(page, "#id_organisation", "Brightwater College")
    type_into(page, "#id_purpose", "To learn how common it is.")
    type_into(page, "#id_contact", "asks@example.org")
    for fold, template in templates:
        press(page, f"details:has([value={template}]) > summary") if fold else None
        press(page, f"[value={template}]", "Space")
    press(page, "main .button")
    page.wait_for_url("**/build/")


def test_from_a_blank_account_to_an_open_wave_with_the_keyboard_alone(page):
    begin(page, "Honesty at school", (False, "care_forgone"), (True, "exam"), (False, "assignment"))
    labels = page.locator(".questions h3")
    assert labels.count() == 3
    first = labels.nth(0).inner_text()
    press(page, "#down-care_forgone")
    page.locator("li:nth-child(2) #down-care_forgone:focus").wait_for()
    page.keyboard.press("Enter")
    page.locator("li:nth-child(3) #down-care_forgone:focus").wait_for()
    assert labels.nth(2).inner_text() == first
    press(page, "#edit-exam")
    page.wait_for_url("**/questions/exam/")
    type_into(page, "#id_help", "Any exam, in any subject.")
    press(page, "#question .row > .button:not(.plain)")
    page.wait_for_url("**/build/#edit-exam")
    press(page, "main a.button[href$='/launch/']")
    page.wait_for_url("**/launch/")
    if page.locator("#why").count():
        type_into(page, "#why", "A test.")
    press(page, "main .wide-button")
    page.get_by_label("Link for respondents").wait_for()
    assert "#" in page.get_by_label("Link for respondents").input_value()
    assert page.trouble == []


def test_the_preview_follows_without_taking_the_focus_or_a_step_of_the_way_back(page):
    begin(page, "Honesty at home", (False, "care_forgone"), (True, "exam"), (False, "assignment"))
    preview, asked = page.frame_locator("#preview"), page.locator(".questions h3")
    preview.get_by_role("button", name="Start").wait_for()
    steps = page.evaluate("history.length")
    for place in (2, 3):
        press(page, "#down-care_forgone")
        page.locator(f"li:nth-child({place}) #down-care_forgone:focus").wait_for()
        address = page.locator("[data-preview]").get_attribute("data-preview")
        page.wait_for_function(SHOWS, arg=address)
        preview.get_by_role("button", name="Start").wait_for()
        # as the form does when a question comes up
        preview.get_by_role("button", name="Start").evaluate("button => button.focus()")
        assert page.evaluate("document.activeElement.id") == "down-care_forgone"
    assert asked.count() == 3
    assert page.evaluate("history.length") == steps


def test_a_deleted_question_is_undone_by_key_where_the_focus_went(page):
    begin(page, "Second thoughts", (False, "care_forgone"), (True, "exam"))
    press(page, "button[formaction$='/exam/delete/']")
    page.locator("#undo:focus").wait_for()
    assert page.locator(".questions > li").count() == 1
    page.keyboard.press("Enter")
    page.locator(".questions > li:nth-child(2)").wait_for()
    assert page.trouble == []


def test_questions_are_dragged_by_their_grips(page):
    begin(page, "Dragged", (False, "care_forgone"), (True, "exam"), (False, "assignment"))
    grips = page.locator(".grip")
    grips.nth(2).hover()
    page.mouse.down()
    box = page.locator(".questions > li").nth(0).bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + box["height"] / 2 + 200, steps=5)
    page.mouse.move(box["x"] + 10, box["y"] + 5, steps=5)
    with page.expect_response("**/order/") as answer:
        page.mouse.up()
    assert answer.value.status == 200
    assert page.locator(".questions > li").nth(0).get_attribute("data-name") == "assignment"
    page.reload()
    assert page.locator(".questions > li").nth(0).get_attribute("data-name") == "assignment"


def test_odds_follow_what_is_typed(page):
    begin(page, "Odds", (False, "care_forgone"))
    page.goto(page.url.split("#")[0] + "questions/care_forgone/")
    page.locator("#odds .said").get_by_text("88").wait_for()  # all of a person's ε 2
    page.fill("#id_epsilon", "1")
    page.locator("#odds .said").get_by_text("73").wait_for()
    assert page.trouble == []


def test_the_preview_runs_the_real_form_and_neither_sends_nor_keeps_anything(page):
    begin(page, "Shown first", (False, "care_forgone"), (True, "drinking_days"))
    posted = []
    page.on(
        "request", lambda request: posted.append(request.url) if request.method == "POST" else None
    )
    phone = page.frame_locator("#preview")
    phone.get_by_role("button", name="Start").click()
    no, days = phone.get_by_text("No", exact=True), phone.get_by_role("textbox")
    no.or_(days).wait_for()  # a device draws which of the two it asks
    no.click() if no.is_visible() else days.fill("3")
    phone.get_by_role("button", name="Continue").click()
    phone.get_by_role("button", name="Send my response").click()
    phone.get_by_role("heading", name="nothing was sent").wait_for()
    assert posted == []
    assert page.evaluate("Object.keys(localStorage)") == []
    assert page.evaluate("indexedDB.databases().then((found) => found.length)") == 0


def test_axe_finds_nothing_on_the_drafts_pages(site, chromium):
    context = chromium.new_context(viewport=PHONE, base_url=site.base, bypass_csp=True)
    page = sign_in(context)
    begin(
        page,
        "Looked at by axe",
        (False, "low_interest"),
        (True, "exam"),
        (True, "drinking_days"),
    )
    base = page.url.split("#")[0]
    found, wide = [], []
    pages = [
        "build/",
        "build/texts/",
        "build/add/",
        "build/add/templates/",
        "build/questions/exam/",
        "build/import/",
    ]
    for name in (
        *pages,
        "build/zh-hans/",
        "launch/",
        "../new/",
        "../new/?way=template",
        "../new/?way=file",
    ):
        address = base.replace("build/", name)
        page.goto(address)
        page.wait_for_load_state("networkidle")
        found += [each for each in complaints(page) if each[2] != "frame-tested"]
        page.set_viewport_size(NARROW)
        if page.evaluate("document.documentElement.scrollWidth") > NARROW["width"]:
            wide.append(address)
        page.set_viewport_size(PHONE)
    page.goto(base + "questions/exam/")
    page.select_option("#id_kind", "single")
    page.get_by_role("button", name="Save the question").click()
    page.locator("#id_choices_error").wait_for()
    found += complaints(page)
    page.goto(base.replace("build/", "launch/"))
    if page.locator("#why").count():
        page.fill("#why", "A test.")
    page.get_by_role("button", name="permanently").click()
    page.get_by_label("Link for respondents").wait_for()
    found += complaints(page)
    with page.expect_navigation():
        page.get_by_role("button", name="Close this wave").click()
    found += complaints(page)
    context.close()
    assert (found, wide) == ([], [])


def test_a_draft_is_begun_once_however_often_the_button_is_pressed(page):
    page.goto("/studies/new/")
    for field, text in (
        ("title", "Pressed twice"),
        ("organisation", "College"),
        ("purpose", "To see."),
        ("contact", "a@b.org"),
    ):
        page.fill(f"#id_{field}", text)
    page.locator("main .button").dblclick()
    page.wait_for_url("**/build/")
    page.goto("/studies/?q=Pressed+twice")
    assert page.locator("main th a").count() == 1
    assert page.trouble == []


def test_what_was_typed_is_back_when_the_session_ended_before_it_was_saved(page, site):
    begin(page, "Ended early", (False, "care_forgone"))
    page.goto(f"{page.url.partition('#')[0]}questions/care_forgone/")
    page.fill("#id_text", "Have you gone without a doctor?")
    page.context.clear_cookies(name="sessionid")
    page.locator("#question .row > .button:not(.plain)").click()
    page.wait_for_url("**/accounts/login/**")
    page.fill("#id_login", "researcher")
    page.fill("#id_password", "demo-researcher")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/questions/care_forgone/")
    assert page.input_value("#id_text") == "Have you gone without a doctor?"
    page.get_by_text("from before is back.").wait_for()
    page.locator("#question .row > .button:not(.plain)").click()
    page.wait_for_url("**/build/**")
    assert page.locator(".questions h3").first.inner_text() == "Have you gone without a doctor?"
    kept = page.evaluate(
        "Object.keys(sessionStorage).filter((key) => key.startsWith('candor.typed.'))"
    )
    assert kept == []


def test_a_half_typed_question_survives_the_draft_and_a_save_elsewhere(page, site):
    begin(page, "Half typed", (False, "care_forgone"))
    build = page.url.partition("#")[0]
    page.goto(f"{build}add/")
    page.fill("#id_text", "Have you ever")
    page.goto(f"{build}questions/care_forgone/")
    page.fill("#id_help", "In the last twelve months.")
    page.goto(build)
    page.goto(f"{build}add/")
    assert page.input_value("#id_text") == "Have you ever"
    other = page.context.new_page()
    other.goto(f"{build}questions/care_forgone/")
    assert other.input_value("#id_help") == ""
    other.fill("#id_help", "Ever.")
    other.fill("#id_text", "Have you gone without a doctor?")
    other.locator("#question .row > .button:not(.plain)").click()
    other.wait_for_url("**/build/#**")
    page.goto(f"{build}questions/care_forgone/")
    page.get_by_text("from before is back.").wait_for()
    save = page.locator("#question .row > .button:not(.plain)")
    save.click()
    page.get_by_role("heading", name="Another save changed the same fields").wait_for()
    assert page.input_value("#id_text") == "Have you gone without a doctor?"
    page.get_by_label("Your text").check()
    save.click()
    page.wait_for_url("**/build/#**")
    page.goto(f"{build}questions/care_forgone/")
    assert page.input_value("#id_help") == "In the last twelve months."
    page.goto(f"{build}add/")
    assert page.input_value("#id_text") == "Have you ever"
    assert [each for each in page.trouble if "409" not in each] == []
