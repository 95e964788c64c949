"""A researcher reads results and takes them along, by keyboard alone; every page of results for
everyone's eyes.
"""

import pyreadstat

from tests.journeys.respondent import PHONE
from tests.journeys.test_accessibility import complaints

NARROW = {"width": 320, "height": 640}
BEYOND = """[...document.querySelectorAll('body *')]
  .filter((each) => each.getBoundingClientRect().right > innerWidth)
  .map((each) => `${each.tagName} ${each.getAttribute('class') ?? ''} ${each.textContent.trim().slice(0, 40)}`)"""
STUDY, ASKED = "/studies/sleep-and-work/", "/studies/partners-and-drinking/"
PAGES = (
    "/studies/",
    "/studies/?q=nothing+is+called+this",
    STUDY,
    f"{STUDY}collect/",
    f"{STUDY}collect/poster/en/",
    f"{STUDY}collect/poster/zh-hans/",
    f"{STUDY}methods/",
    f"{STUDY}over-time/",
    f"{ASKED}compare/",
    f"{ASKED}collect/",
    "/results/sleep-and-work/",
    "/results/sleep-and-work/methods/",
    "/results/partners-and-drinking/compare/",
)


def signed_in(chromium, site, **settings):
    """The context and page of the demo's researcher."""
    context = chromium.new_context(base_url=site.base, **settings)
    page = context.new_page()
    page.goto("/accounts/login/?next=/studies/")
    page.fill("#id_login", "researcher")
    page.fill("#id_password", "demo-researcher")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.base}/studies/")
    return context, page


def tab_to(page, text, most=90):
    """Press Tab until what has the focus says this; return how often."""
    for times in range(1, most + 1):
        page.keyboard.press("Tab")
        said = page.evaluate("(document.activeElement?.textContent ?? '').trim()")
        if said == text:
            return times
    raise AssertionError(f"{text!r} is not reached in {most} steps")


def test_axe_finds_nothing_on_any_page_of_results(chromium, site):
    context, page = signed_in(chromium, site, viewport=PHONE, bypass_csp=True)
    found = []
    for address in PAGES:
        assert page.goto(address).url == f"{site.base}{address}", address
        for fold in page.locator("details.fold").all():
            fold.evaluate("fold => fold.open = true")
        found += complaints(page)
    context.close()
    assert found == []


def test_no_page_of_results_scrolls_sideways_on_the_narrowest_screen(chromium, site):
    context, page = signed_in(chromium, site, viewport=NARROW)
    wide = []
    for address in PAGES:
        page.goto(address)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide += [(address, each) for each in page.evaluate(BEYOND)]
    context.close()
    assert wide == []


OFF_PAPER = ".filter *, .no-print, .no-print *"
ON_PAPER = ("/promises/", "/registry/", "/registry/sleep-and-work/", "/results/sleep-and-work/")


def test_on_paper_every_fold_is_open(chromium, site):
    page = chromium.new_page(viewport={"width": 680, "height": 1000}, base_url=site.base)
    for address in ON_PAPER:
        page.goto(address)
        folded = f"main details:not([open], {OFF_PAPER}, details details) > :not(summary)"
        assert page.locator(folded).count()
        assert not page.locator(folded).first.is_visible(), address
        page.emulate_media(media="print")
        hidden = [each for each in page.locator(folded).all() if not each.is_visible()]
        assert hidden == [], address
        page.emulate_media(media="screen")
    page.close()


def test_by_keyboard_a_result_is_read_and_taken_to_spss(chromium, site, tmp_path):
    context, page = signed_in(chromium, site, accept_downloads=True)
    tab_to(page, "Sleep and work")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.base}{STUDY}")
    said = page.locator(".headline data").first.get_attribute("value")
    tab_to(page, "SPSS, with labels")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    path = tmp_path / "taken.sav"
    download.value.save_as(path)
    context.close()
    frame, meta = pyreadstat.read_sav(str(path))
    yes = frame[frame["item"] == 1001].iloc[0]
    assert f"{yes['estimate']:.1f}" == f"{100 * float(said):.1f}"
    assert meta.variable_value_labels["item"][1001].endswith(": Yes")
    assert any("randomised response" in note for note in meta.notes)


def test_the_fingerprint_is_copied_with_a_button_and_there_without_scripts(chromium, site):
    context, page = signed_in(chromium, site, permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{STUDY}collect/")
    link = page.input_value("#copy")
    page.get_by_role("button", name="Copy the link").click()
    page.get_by_role("button", name="Copied").wait_for()
    # to paste into
    page.evaluate("document.querySelector('main').append(document.createElement('textarea'))")
    page.focus("textarea")
    page.keyboard.press("Control+v")
    assert page.input_value("textarea") == link
    context.close()
    context, page = signed_in(chromium, site, java_script_enabled=False)
    page.goto(f"{STUDY}collect/")
    assert page.input_value("#copy") != ""
    assert page.get_by_role("button", name="Copy").count() == 0
    context.close()


def test_the_poster_is_one_sheet(chromium, site):
    context, page = signed_in(chromium, site)
    page.goto(f"{STUDY}collect/poster/zh-hans/")
    sheets = page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n")
    context.close()
    assert sheets == 1
