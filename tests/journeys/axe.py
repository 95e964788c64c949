"""What axe-core has to say about a page: WCAG 2.2 A and AA, and its own best practices.

A page is looked at in the light, then once more in the dark for what colours can break: in the dark
nothing else differs, which tests/surveys/test_styles.py holds.
"""

from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).parent.parent.parent / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
LIGHT = {
    "runOnly": {"type": "tag", "values": TAGS},
    "rules": {"target-size": {"enabled": True}},
    "resultTypes": ["violations"],
}
OF_COLOURS = ("color-contrast", "link-in-text-block")  # axe's tag for them has one of AAA too
DARK = {"runOnly": {"type": "rule", "values": OF_COLOURS}, "resultTypes": ["violations"]}
RUN = """async (options) => {
  await Promise.allSettled(document.getAnimations().map((each) => each.finished));
  const { violations } = await axe.run(document, options);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => [id, html.slice(0, 300)]));
}"""


def complaints(page: Page) -> list[tuple[str, ...]]:
    """Return the address of the page, the scheme, the rule and the element of everything that axe
    finds.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE.read_text())
    found = [(page.url, "light", *each) for each in page.evaluate(RUN, LIGHT)]
    page.emulate_media(color_scheme="dark")
    found += [(page.url, "dark", *each) for each in page.evaluate(RUN, DARK)]
    page.emulate_media(color_scheme="light")
    return found


def too_wide(page: Page, width: int) -> list[str]:
    """Tell if a page scrolls sideways at this width, and what sticks out."""
    page.set_viewport_size({"width": width, "height": 800})
    wide: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    if wide <= 0:
        return []
    sticking: list[str] = page.evaluate(
        "[...document.querySelectorAll('main *')].filter((x) => x.getBoundingClientRect().right > "
        "innerWidth + 1)"
        ".slice(0, 3).map((x) => x.outerHTML.slice(0, 120))"
    )
    return [f"{page.url} at {width} px: {wide} px too wide: {sticking}"]
