"""No page asks the database more often because a study has more questions or publications, or a
site more studies.
"""

import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from surveys.aggregation import services as aggregation
from surveys.demo import services as demo
from surveys.design import services as design
from surveys.design.models import Study
from surveys.people import services as people
from surveys.people.models import Role
from surveys.releases import selectors, services as releases
from tests.conftest import MORE, known_as

NOW = datetime.datetime(2026, 5, 11, 12, tzinfo=datetime.UTC)
KINDS: list[dict[str, Any]] = [
    {"kind": "yes_no"},
    {"kind": "likert"},
    {"kind": "number", "least": 0, "most": 20},
]
TERMS: dict[str, Any] = {
    "title": "Exam honesty",
    "organisation": "Brightwater College",
    "purpose": "To learn how common copying is.",
    "contact": "asks@example.org",
    "cap": Decimal(2),
    "release_epsilon": Decimal("0.5"),
    "rule": "every",
    "hours": 24,
    "smallest_batch": 10,
    "widest": 100,  # not what is asked here
    **MORE,
    "results": "public",
}
PAGES = {
    "draft": "/studies/draft/build/",
    "editor": "/studies/draft/build/questions/q0/",
    "texts": "/studies/draft/build/texts/",
    "launch": "/studies/draft/launch/",
    "planner": "/studies/draft/plan/",
    "list of studies": "/studies/",
    "results": "/studies/open/",
    "collect": "/studies/open/collect/",
    "over time": "/studies/open/over-time/",
    "compare": "/studies/open/compare/",
    "methods": "/studies/open/methods/",
    "ask": "/studies/open/ask/",
    "limits": "/studies/open/limits/",
    "registry": "/registry/open/",
    "registry for machines": "/registry/open.json",
    "form": "/s/open/",
}
LISTS = {
    "home": "/",
    "registry": "/registry/",
    "registry, found": "/registry/?q=copying&state=closed",
    "list of studies": "/studies/",
    "ledger": "/ledger/",
    "site limits": "/limits/",
    "health": "/health/",
    "plan": "/api/v1/studies/study-0/plan",
    "releases": "/api/v1/studies/study-0/releases",
}
MAX_OF_DRAFT = (
    14  # with the session, the user and the rights that every page asks for; its revision
)


def questions(count: int) -> list[dict[str, Any]]:
    return [
        {
            "name": f"q{at}",
            "text": f"Question {at}?",
            "label": f"Q{at}",
            "epsilon": Decimal("0.2"),
            **KINDS[at % len(KINDS)],
        }
        for at in range(count)
    ]


def open_studies(count: int, often: int, **terms: Any) -> None:
    """Open one study with so many questions and publish it so often, and leave another a draft."""
    draft = design.draft_study(study={**TERMS, "slug": "draft"}, questions=questions(count))
    plan, _created = demo.ensure_study({**TERMS, **terms, "slug": "open"}, questions(count), NOW)
    for day in range(often):
        demo.answer_as_browsers(plan, [dict.fromkeys(plan.content.channels, 0)] * 12, NOW.date())
        aggregation.sweep_all(today=NOW.date())
        at = NOW + datetime.timedelta(days=day)
        assert releases.publish_if_due(plan=plan, now=at) is not None
    for study in (draft, plan.study):
        people.share(study=study, user=known_as("olga"), role=Role.OWNER)


def queries_of_pages(count: int, often: int = 1, **terms: Any) -> dict[str, list[str]]:
    """Return what each page asks the database, of studies with so many questions, published so
    often.
    """
    found = {}
    with transaction.atomic():
        open_studies(count, often, **terms)
        client = Client()
        client.force_login(known_as("olga"))
        published, *_ = selectors.publications_of(Study.objects.get(slug="open"))
        release = {"release": f"/studies/open/releases/{published.number}/"}
        for page, address in (PAGES | release).items():
            client.get(address)  # what is remembered from then on is not asked again
            with CaptureQueriesContext(connection) as captured:
                response = client.get(address)
            assert response.status_code == 200, (page, response.status_code)
            found[page] = [query["sql"] for query in captured.captured_queries]
        transaction.set_rollback(True)
    return found


def queries_of_lists(client: Client) -> dict[str, int]:
    found = {}
    for page, address in LISTS.items():
        client.get(address)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200, page
        found[page] = len(captured)
    return found


@pytest.mark.django_db
def test_no_list_asks_more_often_of_a_site_with_more_studies():
    client, counts = Client(), {}
    client.force_login(known_as("root", is_admin=True))
    for at in range(12):
        study = {**TERMS, "slug": f"study-{at}", "title": f"Copying {at}"}
        plan, _created = demo.ensure_study(study, questions(1), NOW)
        answered = [dict.fromkeys(plan.content.channels, 0)] * 12
        demo.answer_as_browsers(plan, answered, NOW.date())
        if at % 2:
            design.close_plan(plan_id=plan.pk, today=NOW.date())
        aggregation.sweep_all(today=NOW.date())
        assert releases.publish_if_due(plan=plan, now=NOW) is not None
        design.draft_study(study={**study, "slug": f"draft-{at}"}, questions=questions(1))
        if at in (1, 11):
            counts[at] = queries_of_lists(client)
    growing = {page: (counts[1][page], counts[11][page]) for page in LISTS}
    assert {page: both for page, both in growing.items() if both[0] < both[1]} == {}


@pytest.mark.django_db
def test_no_page_asks_more_often_of_a_study_with_more_questions():
    few, many = queries_of_pages(3), queries_of_pages(30)
    growing = {page: (len(few[page]), len(many[page])) for page in few}
    assert {page: both for page, both in growing.items() if both[0] != both[1]} == {}
    assert len(many["draft"]) <= MAX_OF_DRAFT, "\n".join(many["draft"])


COURSE = {"rule": "continual", "horizon": 8, "cap_delta": "0.000001"}


@pytest.mark.django_db
@pytest.mark.parametrize("terms", [{}, COURSE], ids=["every", "continual"])
def test_no_page_asks_more_often_of_a_study_that_was_published_more_often(terms):
    few, many = (queries_of_pages(3, often, **terms) for often in (2, 5))
    growing = {page: (len(few[page]), len(many[page])) for page in few}
    assert {page: both for page, both in growing.items() if both[0] != both[1]} == {}
