"""The whole job in a real browser: an admin asks, thirty people answer, the worker publishes, a
researcher reads.
"""

import json
import re

import pytest

from surveys.demo.answers import people_of_health as people
from tests.journeys.respondent import visit

DESKTOP = {"width": 1280, "height": 900}
PEOPLE = people()[:30]
STUDY = "/studies/moods-and-drugs/"
DRUGS = ("No", "Yes")
DEPRESSED = ("None", "Several days", "Most days", "Prefer not to say")


@pytest.fixture(scope="module")
def admin(site, chromium):
    context = chromium.new_context(viewport=DESKTOP, base_url=site.base)
    page = context.new_page()
    page.goto("/admin/")
    page.locator("#id_login").fill("admin")
    page.locator("#id_password").fill("demo-admin")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/admin/")
    yield page
    context.close()


@pytest.fixture(scope="module")
def link(admin):
    """Draft a study, set its terms, open it; return its link."""
    admin.goto("/studies/new/")
    admin.locator("#id_title").fill("Moods and drugs")
    admin.locator("#id_organisation").fill("Norrvik Institute")
    admin.locator("#id_purpose").fill("To learn whether the two go together.")
    admin.locator("#id_contact").fill("asks@example.org")
    admin.locator("main form .button").last.click()
    admin.wait_for_url("**/moods-and-drugs/build/")
    admin.goto(f"{STUDY}build/texts/")
    admin.locator("#id_cap").fill("1.5")
    admin.locator("#id_release_epsilon").fill("1.5")
    admin.locator("#id_smallest_batch").fill("30")
    admin.locator("#id_widest").fill("100")  # not what is tried here
    admin.get_by_role("button", name="Save", exact=True).click()
    question(admin, "drugs", "yes_no", "Have you ever tried a hard drug?", "2")
    down = "On how many days did you feel down?"
    question(admin, "depressed", "single", down, "3", "\n".join(DEPRESSED[:3]))
    admin.goto(f"{STUDY}launch/")
    admin.locator("#why").fill("Nobody’s answers: a test.")
    admin.get_by_role("button", name="Open wave 1 permanently").click()
    return admin.get_by_label("Link for respondents").input_value()


def question(page, name, kind, text, epsilon, choices=""):
    page.goto(f"{STUDY}build/add/?kind={kind}")
    page.get_by_text("More: condition, picture, matrix, names").click()
    page.locator("#id_name").fill(name)
    page.locator("#id_text").fill(text)
    page.locator("#id_label").fill(text[:40])
    page.locator("#id_epsilon").fill(epsilon)
    if choices:
        page.locator("#id_choices").fill(choices)
        page.locator("#id_may_decline").check()
    page.get_by_role("button", name="Save the question").click()
    page.wait_for_url(f"**/build/#edit-{name}")


@pytest.fixture(scope="module")
def plan(link, site, admin):
    response = admin.request.get(f"{site.base}/api/v1/studies/moods-and-drugs/plan")
    assert response.status == 200, link
    return response.json()


@pytest.fixture(scope="module")
def sent(link, plan, chromium):
    """Thirty people of the survey answer; return what each chose, what left their page, and what
    should have.
    """
    found = []
    for person in PEOPLE:
        guest = visit(chromium)
        guest.page.goto(link)
        chosen = {"drugs": person["hard_drugs"], "depressed": person["depressed"]}
        guest.answer(DRUGS[chosen["drugs"]], DEPRESSED[chosen["depressed"]])
        guest.send()
        found.append(
            (
                chosen,
                guest.bodies,
                guest.drawn(plan, *chosen.items()),
                guest.violations + guest.complaints,
            )
        )
        assert guest.context.cookies() == []
        guest.context.close()
    return found


def test_what_leaves_the_page_is_what_chance_made_and_nothing_else(sent, link):
    digest = link.partition("#")[2]
    for _, bodies, drawn, _ in sent:
        assert len(bodies) == 1
        message = json.loads(bodies[0])
        assert set(message) == {"plan", "report_id", "answers"}
        assert message["plan"] == digest
        assert re.fullmatch("[0-9a-f]{32}", message["report_id"])
        assert message["answers"] == drawn


def test_no_page_broke_its_content_security_policy_or_complained(sent):
    assert [complaint for *_, complaints in sent for complaint in complaints] == []


def test_the_worker_publishes_and_the_researcher_reads_estimates_with_intervals(
    sent, admin, site, chromium
):
    admin.goto(f"{STUDY}launch/")
    admin.get_by_role("button", name="Close this wave…").click()
    admin.get_by_role("button", name="Close wave 1 now").click()
    admin.get_by_text("Wave 1 closed on").wait_for()
    releases = f"{site.base}/api/v1/studies/moods-and-drugs/releases"
    published = site.wait_for(
        lambda: admin.request.get(releases).json()["releases"], "nothing was published"
    )
    assert [release["n"] for release in published] == [30]

    context = chromium.new_context(viewport=DESKTOP, base_url=site.base)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.locator("#id_login").fill("researcher")
    page.locator("#id_password").fill("demo-researcher")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/studies/")
    assert "Moods and drugs" not in page.content()
    assert page.goto("/studies/moods-and-drugs/").status == 404

    admin.goto("/studies/moods-and-drugs/people/")
    admin.locator("#id_name").fill("researcher")
    admin.get_by_role("button", name="Add to this study").click()
    admin.get_by_text("researcher is in the study now.").wait_for()
    page.goto("/studies/moods-and-drugs/")
    text = page.locator("main").inner_text()
    drugs = published[0]["questions"][0]["choices"][1]
    percent = f"{100 * drugs['estimate']:.1f}%".replace("-", "−")
    assert percent in text
    assert "30" in text
    page.goto("/registry/moods-and-drugs/")
    assert "1.50" in page.locator("main").inner_text()
    context.close()
