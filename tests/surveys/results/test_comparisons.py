"""Compare groups and waves: free, from released numbers only, with words that claim no more than
the interval.
"""

import datetime
import html
import math
from dataclasses import replace

import pytest
from django.test import Client

from surveys.aggregation import services as aggregation
from surveys.charts.scales import Scale
from surveys.demo import services as demo
from surveys.design import services as design
from surveys.design.models import Plan
from surveys.ledger import selectors as ledger
from surveys.people.models import Role
from surveys.releases import selectors as releases
from surveys.releases.comparisons import Difference, Within
from surveys.results.comparisons import differences_of
from surveys.results.templatetags.numbers import interval
from tests.surveys.releases.conftest import QUESTIONS, STUDY
from tests.surveys.results.small import NOW, answer, close, open_small, publish
from tests.surveys.results.views.test_queries import (
    browser as sign_in,
    open_asked,  # a study where a table can be asked for
    publish as ask_and_publish,
)

pytestmark = pytest.mark.django_db


def text_of(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def raw(value: float | None, low: float, high: float) -> tuple[str, Difference]:
    share = Within(None if value is None else 0.5, 0.4, 0.6, None)
    return "Yes", Difference(value, low, high, share, share)


def test_a_difference_is_called_one_only_if_its_interval_leaves_0_out() -> None:
    rows = differences_of(
        "", "Arts", "Law", [raw(0.1, 0.02, 0.18), raw(0.1, -0.02, 0.22), raw(-0.1, -0.18, -0.02)]
    ).rows
    told = ["more often in Arts", "not distinguished", "more often in Law"]
    assert [row.words for row in rows] == told
    assert (rows[0].value, rows[0].low, rows[2].value) == ("+10.0", "+2.0", "−10.0")


def test_odds_ratios_have_their_intervals_and_end_at_a_thousand() -> None:
    answer, difference = raw(0.1, 0.02, 0.18)
    ratio = replace(difference, odds_ratio=(1.5, 1.08, math.inf))
    assert differences_of("", "", "", [(answer, ratio)]).rows[0].odds_ratio == "1.50, 1.08 to >1000"


def test_what_cannot_be_told_has_no_bar() -> None:
    row = differences_of("", "", "", [raw(None, -1.0, 1.0)]).rows[0]
    assert (row.value, row.one, row.odds_ratio) == ("", *["too few to say"] * 2)
    assert row.data == "<b>–</b>"
    assert interval(row.number, Scale(-1.0, 1.0))["row"] is None


def test_without_a_table_it_leads_to_asking_for_one(member: Client, published: Plan) -> None:
    page = text_of(member, "/studies/small/compare/")
    assert "needs a table of two questions" in page
    assert "Ask for a table" not in page  # a reader may not


def test_it_leads_to_asking_for_a_table_only_where_two_questions_make_one() -> None:
    for questions, is_offered in ((QUESTIONS[:2], True), (QUESTIONS[:1], False)):
        study = {**STUDY, "slug": f"of-{len(questions)}"}
        plan, _ = demo.ensure_study(study, questions, NOW)
        client = sign_in("mira", plan, role=Role.ANALYST)
        page = text_of(client, f"/studies/{plan.study.slug}/compare/")
        assert ("Ask for a table" in page) == is_offered
        asked = client.get(f"/studies/{plan.study.slug}/ask/crosstab/")
        assert (asked.status_code == 200) == is_offered


def test_looking_costs_nothing_and_draws_nothing() -> None:
    plan = open_asked()
    client = sign_in("mira", plan, role=Role.ANALYST)
    ask_and_publish(client, kind="crosstab", rows="copied", within="year", epsilon="0.2")
    before = (ledger.head(), len(releases.publications_of(plan.study)))
    page = text_of(client, f"/studies/{plan.study.slug}/compare/?one=0&other=4")
    assert (ledger.head(), len(releases.publications_of(plan.study))) == before
    assert "MOVER" in page
    assert "style=" not in page


def test_four_groups_or_more_are_drawn_towards_their_mean_beside() -> None:
    years = {"choices": "First\nSecond\nThird\nFourth\nFifth"}
    questions = [QUESTIONS[0], {**QUESTIONS[1], **years}]
    plan, _ = demo.ensure_study(STUDY, questions, NOW)
    truths = [{"copied": int(place % 3 == 0), "year": place % 5} for place in range(300)]
    demo.answer_as_browsers(plan, truths, NOW.date())
    aggregation.sweep_all(today=NOW.date())
    client = sign_in("mira", plan, role=Role.ANALYST)
    request = ask_and_publish(client, kind="crosstab", rows="copied", within="year", epsilon="1")
    before = ledger.head()
    drawn = "drawn towards the mean of all groups"
    page = text_of(client, f"/studies/{plan.study.slug}/compare/")
    assert "Copied: Yes, in each group" in page
    assert f"Fifth, {drawn}" in page
    assert "can hide a single group that really differs" in " ".join(page.split())
    address = f"/studies/{plan.study.slug}/releases/{request.release.entry.number}"
    assert text_of(client, f"{address}.csv").count(f'"Yes, {drawn}"') == 5
    page = text_of(client, f"{address}/")
    assert page.count(f"Yes, {drawn}") == 5
    assert "they can hide a single group" in page
    assert ledger.head() == before


def test_three_groups_are_compared_as_they_came() -> None:
    plan = open_asked()
    client = sign_in("mira", plan, role=Role.ANALYST)
    ask_and_publish(client, kind="crosstab", rows="copied", within="year", epsilon="0.2")
    page = text_of(client, f"/studies/{plan.study.slug}/compare/")
    assert "towards the mean" not in page


SHARES = "share0=30&share1=30&share2=40"


def weigh(client: Client, plan: Plan, shares: str) -> str:
    page = text_of(client, f"/studies/{plan.study.slug}/compare/?{shares}")
    return " ".join(page.split())


def test_a_population_that_is_known_weights_what_was_published_for_nothing() -> None:
    plan = open_asked()
    client = sign_in("mira", plan, role=Role.ANALYST)
    ask_and_publish(client, kind="crosstab", rows="copied", within="year", epsilon="1")
    before = (ledger.head(), len(releases.publications_of(plan.study)))
    assert "weighted to the population" not in weigh(client, plan, "")
    page = weigh(client, plan, SHARES)
    assert "Copied, weighted by Year" in page
    assert "Yes, weighted to the population" in page
    assert "post-stratification" in page
    assert 'value="40"' in page
    assert weigh(client, plan, "share0=3000&share1=3000&share2=4000").count("weighted by") == 2
    assert (ledger.head(), len(releases.publications_of(plan.study))) == before


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ("share0=30&share1=30", "they add up to 60."),
        ("share0=100", "Expected the shares of two groups or more."),
        ("share0=-30&share1=130", "It must be at least 0; it is -30."),
        ("share0=thirty&share1=70", "This must be a number."),
        ("share0=nan&share1=70", "This must be a number."),
    ],
)
def test_shares_that_are_no_population_are_named(shares: str, said: str) -> None:
    plan = open_asked()
    client = sign_in("mira", plan, role=Role.ANALYST)
    ask_and_publish(client, kind="crosstab", rows="copied", within="year", epsilon="1")
    page = weigh(client, plan, shares)
    assert said in page
    assert "Nothing was weighted" in page
    assert "weighted to the population" not in page


@pytest.mark.parametrize(
    "query", ["table=99&one=77&other=-3", "one=x&other=", "one=1&other=1", "wave=9&against=a"]
)
def test_an_address_that_names_no_group_shows_one_that_is_there(query: str) -> None:
    plan = open_asked()
    client = sign_in("mira", plan, role=Role.ANALYST)
    ask_and_publish(client, kind="crosstab", rows="copied", within="year", epsilon="0.2")
    assert client.get(f"/studies/{plan.study.slug}/compare/?{query}").status_code == 200


def test_two_waves_are_compared_question_by_question(client: Client, db: None) -> None:
    published = open_small(waves=2, draws="kept")
    answer(published)
    publish(published)
    member = sign_in("mira", published, role=Role.ANALYST)
    close(published)
    design.begin_wave(study_id=published.study_id)
    second = design.open_study(why="A test.", study_id=published.study_id, who="ada", now=NOW)
    demo.answer_as_browsers(second, [{"moon": 1, "agree": 0}] * 200, NOW.date())
    aggregation.sweep_all(today=NOW.date())
    publish(second, NOW + datetime.timedelta(hours=25))
    page = text_of(member, "/studies/small/compare/")
    assert "Share in wave 2 (200 responses) less share in wave 1 (120 responses)" in page
    assert "more often in wave 2" in page
    assert "their noise is separate" in page
