"""A study in a language that the site does not speak, from its catalogue to a receipt: each sentence
that a respondent reads is of that catalogue, and says its numbers in its plural forms.

The language is Hebrew by its tag, its direction and its three plural forms; its sentences are
English ones in brackets.
"""

import re

import pytest

from tests.journeys.axe import complaints
from tests.journeys.respondent import visit
from tests.journeys.site import running_site
from tests.words import HEBREW, po

OPEN = """
import datetime, json
from tests.conftest import STUDY
from surveys.design import services
from surveys.design.words import install
TEXTS = dict(title="מבחן", organisation="מכללה", purpose="למה")
now = datetime.datetime.now(datetime.UTC)
install(po=bytes.fromhex({po!r}), who="root", why="A test.", now=now)
study = services.draft_study(study=dict(STUDY, language="he", **TEXTS), questions=[
    dict(name="copied", kind="yes_no", text="העתקת?", label="העתקה"),
    dict(name="which", kind="single", text="מה?", label="מה", choices="א\\nב\\nג\\nד\\nה"),
    dict(name="ticks", kind="multiple", text="אילו?", label="אילו", choices="א\\nב\\nג"),
])
plan = services.open_study(why="A test.", study_id=study.pk, who="ada", now=now)
print(json.dumps(plan.digest))
"""
UNREVIEWED = "(This translation is not reviewed.)"  # in words that it cannot change


@pytest.fixture
def guest(folder, bare, chromium):
    with running_site(folder, bare) as site:
        digest = site.python(OPEN.format(po=po("he", HEBREW).hex()))
        guest = visit(chromium, bypass_csp=True)
        guest.page.goto(f"{site.base}/s/exam-honesty/#{digest}")
        yield guest
        guest.context.close()


def said(page):
    """Return what the page says that is in no brackets, and is not of the study."""
    own = re.sub(r"\S+@\S+", "", page.locator("main").inner_text()).replace(UNREVIEWED, "")
    for receipt in page.locator("main output").all_inner_texts():
        own = own.replace(receipt, "")
    while "⟦" in own:
        own, before = re.sub(r"⟦[^⟦⟧]*⟧[012]?", "", own), own
        assert own != before
    return re.findall(r"[A-Za-z]{3,}", own)


def test_a_form_is_answered_in_a_language_that_the_site_does_not_speak(guest):
    page = guest.page
    page.get_by_role("button", name="⟦Start⟧").wait_for()
    assert page.locator("html").get_attribute("lang") == "he"
    assert page.locator("html").get_attribute("dir") == "rtl"
    assert UNREVIEWED in page.locator("main").inner_text()
    assert said(page) == []
    assert complaints(page) == []
    page.get_by_role("button", name="⟦Start⟧").click()
    for choice in ("⟦Yes⟧", "א", "ב"):
        page.locator("label", has_text=choice).first.click()  # its letters stand in isolates
        assert said(page) == []
        assert page.locator("main [data-of]").count() == 0  # of each number one form is left
        if choice == "א":
            texts = page.locator("main").text_content()
            assert re.findall(r"4 others[^⟦⟧]*⟧(\d)", texts) == ["2"]
        page.get_by_role("button", name="⟦Continue⟧").click()
    page.get_by_role("heading", name="⟦Ready to send⟧").wait_for()
    assert said(page) == []
    page.locator("[data-do=send]").click()
    page.locator(".receipt output").wait_for()
    assert said(page) == []
    assert guest.complaints == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
