"""A draft is planned and rehearsed: by keyboard, without scripts, on a narrow screen, for axe in
both schemes.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.respondent import PHONE
from tests.journeys.site import Site
from tests.journeys.slow import slowed
from tests.journeys.test_accessibility import complaints

DRAFT = """
from decimal import Decimal
from surveys.design import services as design
from surveys.people import services as people
from surveys.people.models import Role, User
made = design.draft_study(
    study=dict(slug="to-plan", title="To plan", organisation="Aldermoor", purpose="To try.", contact="a@example.org",
               expected=1000),
    questions=[
        dict(name="q1", kind="yes_no", text="Have you?", label="Have you"),
        dict(name="q2", kind="likert", text="Is it fair?", label="It is fair", epsilon=Decimal("1.5")),
        dict(name="q3", kind="single", text="Where?", label="Where", choices="A\\nB\\nC", protection="publication"),
    ],
)
people.share(study=made, user=User.objects.get(username="researcher"), role=Role.OWNER)
print(1)
"""
PAGES = (
    "/plan/",
    "/plan/?n=40&half=4&many=2&kind=number&many=3&kind=single&choices=7&weight=decisive",
    "/plan/?n=abc&many=99",
    "/studies/new/?way=plan&many=1&many=1&kind=single&many=1&kind=number&kind=likert",
    "/studies/to-plan/plan/",
    "/studies/to-plan/rehearse/",
)


@pytest.fixture(scope="module")
def draft(site):
    site.python(DRAFT)
    return "/studies/to-plan/"


def signed_in(chromium, site, **options):
    context = chromium.new_context(base_url=site.base, **options)
    page = context.new_page()
    page.goto("/accounts/login/?next=/plan/")
    page.fill("#id_login", "researcher")
    page.fill("#id_password", "demo-researcher")
    page.press("#id_password", "Enter")
    page.wait_for_url("**/plan/")
    return page


def tab_to(page, id):
    """Press Tab until the focus is there; it is found within a page's worth of stops."""
    for _ in range(80):
        if page.evaluate("document.activeElement.id") == id:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"#{id} was never focused")


def test_from_a_blank_account_to_a_study_that_can_be_launched_in_three_clicks(chromium, site):
    """800 people, six questions, ± 4 wanted: what is typed is not clicked."""
    page = signed_in(chromium, site)  # which stands on the planner
    clicks = []
    page.expose_function("clicked", lambda: clicks.append(1))
    page.add_init_script("addEventListener('click', (e) => e.detail && window.clicked(), true)")
    page.goto("/plan/")
    for id, typed in (("n", "800"), ("many_1", "6"), ("half", "4")):
        tab_to(page, id)
        page.keyboard.press("Control+a")
        page.keyboard.type(typed)
    expect(page.locator("#refusal")).to_contain_text("± 4 is not reached")
    expect(page.locator("#why")).to_contain_text("Each person is asked 2 of 6")
    page.get_by_role("link", name="use ± 9.8").click()
    expect(page.locator("#refusal")).to_have_count(0)
    page.get_by_role("link", name="Make this study").click()
    page.wait_for_url("**/studies/new/**")
    tab_to(page, "id_title")
    page.keyboard.type("Planned in three clicks")
    for id, typed in (
        ("id_organisation", "Aldermoor"),
        ("id_purpose", "To try."),
        ("id_contact", "a@example.org"),
        *((f"id_q{at}-text", f"Have you done {at}?") for at in range(1, 7)),
    ):
        tab_to(page, id)
        page.keyboard.type(typed)
    page.get_by_role("button", name="Begin the draft").click()
    page.wait_for_url("**/launch/")
    expect(page.get_by_role("button", name="Open wave 1 permanently")).to_be_enabled()
    assert len(clicks) == 3
    page.context.close()


def test_the_plan_moves_with_the_slider_and_is_saved(chromium, site, draft):
    page = signed_in(chromium, site)
    refused = []
    page.on(
        "console", lambda message: refused.append(message.text) if message.type == "error" else None
    )
    page.goto(f"{draft}plan/")
    before = page.inner_text("#answer")
    tab_to(page, "n")
    page.keyboard.press("Control+a")
    page.keyboard.type("4000")
    expect(page.locator("#answer")).not_to_have_text(before)
    assert page.evaluate("document.activeElement.id") == "n", "the focus stays where one types"
    assert page.input_value("#n") == "4000"
    expect(page).to_have_url(re.compile("n=4000"))
    picture = page.locator("svg.halves .h2").first
    wide = picture.bounding_box()["width"]
    tab_to(page, "epsilon_slide")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#epsilon")).to_have_value("3")
    expect(page.locator("#safe")).to_contain_text("96 times in 100")
    assert page.evaluate("document.activeElement.id") == "epsilon_slide"
    assert picture.bounding_box()["width"] == pytest.approx(wide, rel=0.1), "the scale moves too"
    shared = page.url
    page.goto("/plan/")
    page.goto(shared)
    expect(page.locator("#epsilon")).to_have_value("3")
    page.get_by_role("button", name="Save this plan in the draft").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Save this plan in the draft?")).to_be_visible()
    page.get_by_role("button", name="Save it").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved in the draft")).to_be_visible()
    expect(page.locator("#n")).to_have_value("4000")
    assert [said for said in refused if not said.startswith(REPLACED)] == []
    page.context.close()


def test_what_is_chosen_before_the_script_has_come_is_worked_out_when_it_has(chromium, site):
    page = chromium.new_context(base_url=site.base, viewport=PHONE).new_page()
    waits = []
    page.route("**/candor/plan*.js", lambda route: waits.append(route))
    page.goto("/plan/?many=1&kind=yes_no", wait_until="commit")
    page.select_option("#kind_1", "single")
    expect(page.locator("#kind_1")).to_have_value("single")
    (script,) = waits
    script.continue_()
    expect(page.locator("#choices_1")).to_be_visible()
    page.goto("/plan/?n=800", wait_until="commit")
    page.locator("#n_slide").fill("400")
    waits[1].continue_()
    expect(page.locator("#n")).to_have_value("400")
    settled(page, n="400")
    page.context.close()


def test_a_stranger_plans_without_an_account(chromium, site):
    page = chromium.new_context(base_url=site.base, viewport=PHONE).new_page()
    page.goto("/")
    page.get_by_role("main").get_by_role("link", name="Plan a study").click()
    page.get_by_role("link", name="Other questions too").click()
    page.select_option("#kind_2", "single")
    expect(page.locator("#choices_2")).to_be_visible()
    page.select_option("#weight_2", "decisive")
    settled(page, weight="decisive")
    expect(page.get_by_role("rowheader", name="one of several choices, 5 choices")).to_be_visible()
    assert page.context.cookies() == []
    page.get_by_role("link", name="Make this study").click()
    page.wait_for_url("**/accounts/login/**")
    page.context.close()


# What htmx says of a request that a newer one replaces; of one that fails it says more.
REPLACED = ("htmx:afterRequest", "htmx:sendAbort")
# people, ±, ms between keys
TYPED = [(str(1500 + 37 * at), f"{5.5 + at / 10:.1f}", at * 25) for at in range(16)]


@pytest.fixture(scope="module")
def slow(site):
    with slowed(site.base) as base:
        yield Site(base, site.environment, site.log)


def settled(page: Page, **dials: str) -> None:
    """Wait until the answer to what was typed last stands there: the address of the page holds
    it.
    """
    for name, value in dials.items():
        expect(page).to_have_url(re.compile(rf"[?&]{name}={re.escape(value)}(&|$)"))


def test_what_is_typed_stays_on_a_slow_server(chromium, slow):
    """In 16 tries, quick ones and slow ones: with Tab, and with Enter before it. Four wait for
    their answers together.
    """
    page = signed_in(chromium, slow)
    pages = [page, *(page.context.new_page() for _ in range(3))]
    lost = []
    for tries in (TYPED[at : at + len(pages)] for at in range(0, len(TYPED), len(pages))):
        typed = [type_ahead(*each) for each in zip(pages, tries, strict=True)]
        for page, (answers, wanted, _), found in zip(pages, tries, typed, strict=True):
            settled(page, n=answers, half=wanted)
            left = (*values(page), page.evaluate("document.activeElement.id"))
            if (*found, *left) != (answers, wanted, answers, wanted, "half"):
                lost.append((*found, *left))
    page.context.close()
    assert lost == []


def type_ahead(page: Page, typed: tuple[str, str, int]) -> tuple[str, str]:
    """Type two numbers, the second while the first's answer is under way; return what stands
    there.
    """
    answers, wanted, delay = typed
    page.goto("/plan/")
    tab_to(page, "n")
    page.keyboard.press("Control+a")
    page.keyboard.type(answers, delay=delay)
    if delay % 50:
        page.keyboard.press("Enter")
    tab_to(page, "half")
    page.keyboard.type(wanted, delay=delay)
    return values(page)


def values(page: Page) -> tuple[str, str]:
    return page.input_value("#n"), page.input_value("#half")


def test_a_slider_that_is_tabbed_to_stands_where_its_number_was_typed(chromium, slow):
    page = signed_in(chromium, slow)
    page.goto("/plan/")
    page.locator("#n").fill("1500")
    page.keyboard.press("Tab")
    expect(page.locator("#n_slide")).to_be_focused()
    expect(page.locator("#n_slide")).to_have_value("1500")
    page.keyboard.press("ArrowRight")
    settled(page, n=page.locator("#n").input_value())
    assert float(page.locator("#n").input_value()) > 1500
    page.context.close()


def test_a_caret_a_slider_and_a_choice_keep_what_was_done_while_an_answer_was_under_way(
    chromium, slow
):
    page = signed_in(chromium, slow)
    page.goto("/plan/?n=800&epsilon=1")
    tab_to(page, "n")
    page.keyboard.press("Home")
    page.keyboard.type("1", delay=0)  # 1|800
    settled(page, n="1800")
    page.keyboard.type("2")
    assert page.input_value("#n") == "12800", "the caret stays"
    tab_to(page, "epsilon_slide")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert page.input_value("#epsilon") == "1.2", "the number moves with its slider at once"
    page.select_option("#kind_1", "single")  # while the slider's answer is under way
    # a field that only the answer brings
    expect(page.locator("#choices_1")).to_be_visible()
    tab_to(page, "choices_1")
    page.keyboard.press("Control+a")
    page.keyboard.type("7")
    page.keyboard.press("Tab")
    settled(page, n="12800", epsilon="1.2", kind="single", choices="7")
    page.context.close()


def test_a_rehearsal_shows_how_far_it_is_and_then_what_came_of_it(chromium, site, draft):
    page = signed_in(chromium, site)
    page.goto(f"{draft}rehearse/")
    tab_to(page, "id_runs")
    page.keyboard.type("100")
    tab_to(page, "begin")
    page.keyboard.press("Enter")
    page.locator("progress, #came").first.wait_for()
    expect(page.get_by_role("heading", name="Result of the simulation")).to_be_visible()
    covered = float(page.locator("#rehearsed .headline b").inner_text().rstrip("%"))
    assert covered > 85  # of 100 runs of 3 questions 95 in 100 hold: so few in 10⁹ runs once
    page.context.close()


def test_what_cannot_be_rehearsed_is_said_on_the_page_that_was_there(chromium, site, draft):
    page = signed_in(chromium, site)
    page.goto(f"{draft}rehearse/")
    page.fill("#id_people", "7")
    page.get_by_role("button", name="Simulate").click()
    page.get_by_role("heading", name="This cannot be simulated yet").wait_for()
    assert page.locator("h1").count() == 1
    expect(page.locator("#id_people")).to_have_value("7")
    page.fill("#id_people", "60")
    page.fill("#id_runs", "20")
    page.get_by_role("button", name="Simulate").click()
    page.get_by_role("heading", name="Result of the simulation").wait_for()
    assert page.locator("h1").count() == 1
    page.context.close()


def test_without_scripts_both_pages_work(chromium, site, draft):
    page = signed_in(chromium, site, java_script_enabled=False)
    page.goto(f"{draft}plan/")
    page.fill("#n", "2500")
    page.get_by_role("button", name="Work it out").click()
    expect(page.locator("#n")).to_have_value("2500")
    page.get_by_role("heading", name="points for what matters most").wait_for()
    assert "n=2500" in page.url
    page.goto(f"{draft}rehearse/")
    page.fill("#id_runs", "20")
    page.get_by_role("button", name="Simulate").click()
    page.get_by_role("heading", name="Result of the simulation").wait_for()
    page.context.close()


def test_axe_finds_nothing(chromium, site, draft):
    page = signed_in(chromium, site, viewport=PHONE, bypass_csp=True)
    found = []
    for address in PAGES:
        page.goto(address)
        found += complaints(page)
    page.fill("#id_runs", "20")
    page.get_by_role("button", name="Simulate").click()
    page.locator("#came").wait_for()
    found += complaints(page)
    page.context.close()
    assert found == []


def test_nothing_scrolls_sideways_on_a_narrow_screen(chromium, site, draft):
    page = signed_in(chromium, site, viewport={"width": 320, "height": 640})
    for address in PAGES:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") == 320, address
    page.context.close()
