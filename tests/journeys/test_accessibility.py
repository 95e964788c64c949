"""axe-core finds nothing to complain of, in both colour schemes, on a phone: pages that take
several steps to reach.
"""

from tests.journeys.axe import complaints
from tests.journeys.respondent import PHONE, visit


def test_the_pages_to_ask_for_more(chromium, site):
    context = chromium.new_context(viewport=PHONE, base_url=site.base, bypass_csp=True)
    page = context.new_page()
    page.goto("/accounts/login/?next=/studies/partners-and-drinking/")
    page.fill("#id_login", "researcher")
    page.fill("#id_password", "demo-researcher")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/studies/partners-and-drinking/")
    found = complaints(page)
    for address in page.eval_on_selector_all(
        ".listing a", "links => links.map((link) => link.href)"
    ):
        page.goto(address)
        found += complaints(page)
    for address in ("ask/", "ask/synthetic/", "ask/shares/"):
        page.goto(f"/studies/partners-and-drinking/{address}")
        found += complaints(page)
    page.fill("#id_epsilon", "0")
    with page.expect_navigation():
        page.get_by_role("button", name="See the budget it would use").click()
    found += complaints(page)
    page.get_by_label("Schooling").check()
    page.fill("#id_epsilon", "0.01")
    page.get_by_role("button", name="See the budget it would use").click()
    page.get_by_role("button", name="Publish, use").wait_for()
    found += complaints(page)
    context.close()
    assert found == []


def test_the_form_from_its_welcome_to_its_receipt(chromium, site):
    guest = visit(chromium, bypass_csp=True)
    guest.page.goto(f"{site.base}/s/medicines-and-help/")
    guest.page.get_by_role("button", name="Start").wait_for()
    found = complaints(guest.page)
    guest.page.get_by_role("button", name="Start").click()
    for number, choice in enumerate(("Yes", "Agree", "Never"), start=1):
        guest.page.get_by_text(f"Question {number} of 3").wait_for()
        found += complaints(guest.page)
        guest.choose(choice)
        guest.go_on()
    guest.page.get_by_role("heading", name="Ready to send").wait_for()
    found += complaints(guest.page)
    guest.send()
    found += complaints(guest.page)
    guest.context.close()
    assert found == []


def test_the_head_stands_on_one_line_and_in_forced_colours_only_the_current_page_is_marked(
    chromium, site
):
    context = chromium.new_context(base_url=site.base, forced_colors="active")
    page = context.new_page()
    page.goto("/accounts/login/?next=/studies/")
    page.fill("#id_login", "researcher")
    page.fill("#id_password", "demo-researcher")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("heading", name="Studies", level=1).wait_for()
    links = page.locator("header .nav a, header .nav button")
    assert (
        len(set(links.evaluate_all("all => all.map((each) => each.getBoundingClientRect().top)")))
        == 1
    )
    page.mouse.move(0, 400)
    lines = dict(
        links.evaluate_all(
            "all => all.map((each) => [each.innerText, getComputedStyle(each).borderBottomColor])"
        )
    )
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert {name for name, colour in lines.items() if colour != ground} == {"Studies"}
    context.close()
