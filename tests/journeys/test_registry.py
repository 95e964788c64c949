"""A stranger in the registry: what a study may still spend takes one look, at its page and in
the list.
"""

import pytest
from playwright.sync_api import Browser, Page

from tests.journeys.respondent import PHONE
from tests.journeys.site import Site
from tests.journeys.test_accessibility import complaints

DESK = {"width": 1280, "height": 800}
STORY = (
    ".purpose",
    "#odds",
    ".array",
    "#spent",
    ".story .left",
    ".card .meter",
    ".burn",
    ".card .fold",
    "#not",
    ".files",
)


def lowest(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None, f"{selector} is not shown"
    return box["y"] + box["height"]


def test_how_much_a_study_may_still_spend_takes_one_look(chromium: Browser, site: Site) -> None:
    """Open the registry, read the row; or follow its one link, and read without scrolling."""
    page = chromium.new_page(viewport=DESK, base_url=site.base)  # type: ignore[arg-type]
    page.goto("/registry/")
    row = page.get_by_role("row", name="Health and habits")
    left = row.locator(".spending b").inner_text()
    assert left == "1.00 left"
    assert lowest(page, ".spending b") < DESK["height"]
    page.get_by_role("link", name="Health and habits").click()
    page.wait_for_load_state("networkidle")
    assert page.locator(".story .left b").inner_text() + " left" == left
    page.close()


def test_on_a_phone_the_first_study_and_what_it_has_left_need_no_scrolling(
    chromium: Browser, site: Site
) -> None:
    """All but one field of the search are folded there; on a desk none is."""
    page = chromium.new_page(viewport=PHONE, base_url=site.base)  # type: ignore[arg-type]
    page.goto("/registry/")
    assert lowest(page, ".spending b") < PHONE["height"]
    assert not page.locator("#state").is_visible()
    page.goto("/registry/?state=closed")
    assert page.locator("#state").is_visible()
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    page.goto("/registry/")
    assert page.locator("#state").is_visible()
    page.close()


@pytest.mark.parametrize(
    "slug", ["health-and-habits", "partners-and-drinking", "medicines-and-help"]
)
def test_a_study_s_story_fits_one_screen(chromium: Browser, site: Site, slug: str) -> None:
    page = chromium.new_page(viewport=DESK, base_url=site.base)  # type: ignore[arg-type]
    page.goto(f"/registry/{slug}/")
    page.wait_for_load_state("networkidle")
    below = [
        selector
        for selector in STORY
        if page.locator(selector).count() and lowest(page, selector) > DESK["height"]
    ]
    page.close()
    assert below == []


def test_every_state_of_the_registry_is_without_complaint(chromium: Browser, site: Site) -> None:
    context = chromium.new_context(viewport=PHONE, base_url=site.base)  # type: ignore[arg-type]
    page = context.new_page()
    found = []
    for address in (
        "/registry/",
        "/registry/?q=nothing+like+it",
        "/registry/?model=device&state=closed",
        "/registry/partners-and-drinking/",
        "/registry/medicines-and-help/",
    ):
        page.goto(address)
        page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
        page.wait_for_load_state("networkidle")
        found += complaints(page)
    context.close()
    assert found == []


@pytest.mark.parametrize("width", [320, 640])
def test_nothing_sticks_out_of_a_narrow_or_enlarged_page(
    chromium: Browser, site: Site, width: int
) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 640}, base_url=site.base)
    for address in ("/registry/", "/registry/partners-and-drinking/"):
        page.goto(address)
        page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    page.close()
