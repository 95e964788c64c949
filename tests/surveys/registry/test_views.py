"""The public registry: what it says, to people and to machines, and to whom."""

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.test import Client

from surveys.design import documents
from surveys.design import queries as design
from surveys.design.models import Plan, Study
from surveys.ledger import queries as ledger
from surveys.releases import queries as releases
from tests.surveys.dashboard.small import STUDY, answer, close, open_small, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(db: None) -> Plan:
    plan = open_small()
    answer(plan)
    publish(plan)
    return plan


def document_of(client: Client, slug: str = "small") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(client.get(f"/registry/{slug}.json").content)
    return found


def fraction(pair: list[str]) -> Fraction:
    return Fraction(int(pair[0]), int(pair[1]))


@pytest.mark.parametrize(
    "path", ["/registry/", "/registry/?q=small&state=closed", "/registry/small/", "/registry/small.json"]
)
def test_strangers_get_no_cookie(client: Client, published: Plan, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert not response.cookies


def test_the_document_may_be_kept_for_a_minute_by_anyone(client: Client, published: Plan) -> None:
    response = client.get("/registry/small.json")
    assert response.headers["Content-Type"] == "application/json"
    assert set(response.headers["Cache-Control"].split(", ")) == {"public", "max-age=60"}
    assert "Cookie" not in response.headers.get("Vary", "")


def test_the_documents_ledger_is_the_ledger_exactly(client: Client, published: Plan) -> None:
    document = document_of(client)
    assert published.study.budget_id is not None
    account = ledger.account(published.study.budget_id)
    assert [Decimal(row["epsilon"]) for row in document["ledger"]] == [entry.epsilon for entry in account.entries]
    assert Decimal(document["ledger"][0]["total"]) == account.spent
    assert {name: Decimal(amount) for name, amount in document["central"].items()} == {
        "cap": account.cap, "spent": account.spent, "left": account.left,
    }  # fmt: skip


def test_the_documents_losses_are_the_plans_exactly(client: Client, published: Plan) -> None:
    document, content = document_of(client), published.content
    wave = document["waves"][0]
    assert document["format"] == "candor-registry/1"
    assert wave["plan"] == published.digest
    assert fraction(wave["loss"]) == fraction(document["local"]["loss"]) == documents.loss_of_plan(content)
    for shown, question in zip(wave["questions"], content["questions"], strict=True):
        assert fraction(shown["loss"]) == documents.loss_of_question(question)
        assert shown["channel"] == question["channel"]


def test_the_documents_releases_name_their_rows_and_plans(client: Client, published: Plan) -> None:
    release = releases.releases_of(published.study)[0]
    day = release.published_on.isoformat()
    assert document_of(client)["releases"] == [
        {"row": 1, "wave": 1, "plan": published.digest, "published_on": day, "answers": 120}
    ]


def test_the_document_holds_no_number_that_a_reader_could_round(client: Client, published: Plan) -> None:
    def floats(part: Any) -> list[float]:
        if isinstance(part, float):
            return [part]
        parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
        return [found for inner in parts for found in floats(inner)]

    assert floats(document_of(client)) == []


def test_results_for_members_are_counted_in_the_registry_but_not_shown(client: Client, published: Plan) -> None:
    page = client.get("/registry/small/").content.decode()
    assert "/results/small/" not in page
    assert "interval" not in json.dumps(document_of(client))


def test_odds_on_the_page_come_from_the_plans_integers(client: Client, published: Plan) -> None:
    keep, rest = published.content["questions"][0]["channel"]["weights"][1][::-1]
    own = round(100 * keep / (keep + rest))
    page = client.get("/registry/small/").content.decode()
    assert f"One hundred dots, {own} filled and {100 - own} rings" in page
    assert f'<span class="num">{own} : {100 - own}</span>' in page
    assert '<span class="num">73 : 27</span>' in client.get("/registry/").content.decode()


def test_odds_between_two_are_never_shown_for_more_choices(client: Client, published: Plan) -> None:
    odds = design.odds_of(published.content["questions"][1])[0]
    page = client.get("/registry/small/").content.decode()
    assert f"{odds.size} answers sent, own among them in {odds.own_of_hundred} of 100" in page


def test_one_persons_loss_is_rounded_up(client: Client, published: Plan) -> None:
    """ln of the exact product lies a hair below 1.5; it is shown as 1.50, never 1.49."""
    assert documents.loss_of_plan(published.content) < Fraction("4.4817")
    assert '<td data-head="One person, ε" class="n">1.50</td>' in client.get("/registry/").content.decode()


@pytest.mark.parametrize(
    ("query", "found"),
    [("", True), ("?q=SMALL", True), ("?q=aldermoor+small", True), ("?q=zebra", False), ("?state=collecting", True),
     ("?state=closed", False), ("?state=nonsense", True), ("?page=99", True)],
)  # fmt: skip
def test_studies_are_found_by_words_and_state(client: Client, published: Plan, query: str, found: bool) -> None:
    assert (f'href="/registry/{published.study.slug}/"' in client.get(f"/registry/{query}").content.decode()) == found


def test_a_closed_study_says_so(client: Client, published: Plan) -> None:
    close(published)
    assert STUDY["title"] in client.get("/registry/?state=closed").content.decode()
    assert document_of(client)["state"] == "closed"


def test_a_draft_is_not_in_the_registry(client: Client, db: None) -> None:
    Study.objects.create(**{**STUDY, "slug": "draft"})
    assert client.get("/registry/draft/").status_code == 404
    assert client.get("/registry/draft.json").status_code == 404
    assert "No study has opened yet" in client.get("/registry/").content.decode()
