"""A second wave of a study, opened by the site itself and answered in the browser of the first."""

import json

import pytest

from tests.journeys.every_kind import every_kind, open_studies
from tests.journeys.respondent import visit
from tests.journeys.test_every_kind import answer_screens, start

NEXT = """
import datetime, json
from decimal import Decimal
from surveys.design import services
from surveys.design.models import Study
now = datetime.datetime.now(datetime.UTC)
study = Study.objects.get(slug={slug!r})
services.close_plan(plan_id=study.plan.pk, today=now.date())
study = services.begin_wave(study_id=study.pk)
study.questions.filter(name__in={changed!r}).update(epsilon=Decimal("0.2"))
plan = services.open_study(why="A test.", study_id=study.pk, who="researcher", now=now)
print(json.dumps([plan.digest, json.loads(plan.document)]))
"""
DATABASES = "indexedDB.databases().then((found) => found.map(({ name }) => name))"
LINES = "JSON.parse(localStorage.getItem('candor.statement'))"
MARCH_1984 = (1984 - 1920) * 12 + 2
TRUE = (
    ("smoked", 0),
    ("place", 4),
    ("used", [0, 2]),
    ("doctor", 3),
    ("friends", 2),
    ("days", 12),
    ("hours", 7),
    ("born", MARCH_1984),
)


@pytest.fixture
def guest(chromium):
    found = visit(chromium)
    yield found
    found.context.close()


def in_waves(slug, waves, draws):
    """Return the study of every kind in so many waves, with less of a person's ε in each."""
    given = every_kind(slug)
    given["study"] |= {"waves": waves, "draws": draws, "release_epsilon": "0.6"}
    given["questions"] = [
        {**each, "epsilon": "0.3"} if each.get("protection") != "publication" else each
        for each in given["questions"]
    ]
    return given


def next_wave(site, slug, *changed):
    digest, plan = site.python(NEXT.format(slug=slug, changed=list(changed)))
    return f"{site.base}/s/{slug}/#{digest}", plan


def answered(guest, link):
    """Answer a wave; return its message and what the welcome said before."""
    guest.page.goto("about:blank")
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Start").wait_for()
    note = guest.page.locator("#before .note.chance")
    said = note.inner_text().replace("\xa0", " ") if note.count() else ""
    start(guest, link)
    answer_screens(guest, "No")
    return guest.send(note=True), said


def test_over_waves_the_same_answer_is_the_same_report_and_a_changed_channel_is_thrown_anew(
    guest, site
):
    slug = "in-waves"
    first, before = answered(guest, open_studies(site, in_waves(slug, 3, "kept"))[slug])
    key = guest.key()
    assert before == ""

    link, plan = next_wave(site, slug)
    second, said = answered(guest, link)
    assert plan["wave"] == 2
    assert second["answers"] == first["answers"]  # of every kind: who sees both learns nothing more
    assert (second["plan"], second["report_id"]) != (first["plan"], first["report_id"])
    assert "an earlier round of this study" in said
    assert "Its key is still here" in said
    assert "counted as a second person" not in said

    link, plan = next_wave(site, slug, "doctor")
    third, _ = answered(guest, link)
    assert third["answers"] == guest.drawn(plan, *TRUE, key=key)
    alike = {name for name in first["answers"] if third["answers"][name] == first["answers"][name]}
    assert alike >= set(first["answers"]) - {"doctor"}

    lines = guest.page.evaluate(LINES)
    assert [(line["wave"], line["again"], line["state"]) for line in lines] == [
        (1, False, "sent"),
        (2, True, "sent"),
        (3, True, "sent"),
    ]
    guest.page.goto(f"{site.base}/my/en/")
    page = guest.page.locator("#mine")
    page.locator("h2").first.wait_for()
    text = page.inner_text()
    assert "This device has sent 3 responses" in text
    assert ("round 2" in text, "round 3" in text, "round 1" in text) == (True, True, False)
    assert json.dumps(first["answers"]) not in text
    assert guest.violations == guest.complaints == []


def test_a_link_of_the_wave_before_is_told_so_and_asks_nothing(guest, site):
    slug = "in-two-waves"
    old = open_studies(site, in_waves(slug, 2, "fresh"))[slug]
    next_wave(site, slug)
    guest.page.goto(old)
    guest.page.get_by_role("heading", name="Your link is of an earlier round").wait_for()
    assert guest.page.locator("input").count() == 0


def test_where_draws_are_fresh_every_round_is_thrown_anew_and_no_key_is_kept_or_used(guest, site):
    slug = "in-fresh-waves"
    answered(guest, open_studies(site, in_waves(slug, 2, "fresh"))[slug])
    assert "This study plans 2 rounds" in guest.page.locator("#main").inner_text()
    link, plan = next_wave(site, slug)
    assert (plan["wave"], plan["waves"], plan["draws"]) == (2, 2, "fresh")
    old = guest.key()
    second, said = answered(guest, link)
    assert guest.key() != old
    assert second["answers"] == guest.drawn(plan, *TRUE)
    assert "Every answer is randomised again now" in said
    assert guest.page.evaluate(DATABASES) == []
    assert [line["again"] for line in guest.page.evaluate(LINES)] == [False, False]
    assert "later round" not in guest.page.locator("#main").inner_text()
    assert guest.violations == guest.complaints == []


def test_a_kept_key_goes_with_the_last_round(guest, site):
    slug = "in-kept-waves"
    answered(guest, open_studies(site, in_waves(slug, 2, "kept"))[slug])
    assert guest.page.evaluate(DATABASES) == ["candor"]
    link, _plan = next_wave(site, slug)
    answered(guest, link)
    assert guest.page.evaluate(DATABASES) == []
    assert "This was the last round" in guest.page.locator("#main").inner_text()
