"""Windows on a study whose devices draw what they ask: n stands beside each number."""

import pytest

from surveys.aggregation import selectors as aggregation, services as sweeps
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.people import services as people
from surveys.releases import selectors, services
from surveys.results.exports.rows import export_rows
from surveys.results.questions import results_of
from tests.conftest import NOW, TODAY

PEOPLE = 200


@pytest.fixture
def published(drawn):
    truth = {"copied": 1, "caught": 0, "fair": 2, "often": 1, "late": 0, "year": 1}
    answer_as_browsers(drawn, [truth] * PEOPLE, TODAY)
    design.close_plan(plan_id=drawn.pk, today=TODAY)
    sweeps.sweep_all(today=TODAY)
    drawn.refresh_from_db()
    services.publish_if_due(plan=drawn, now=NOW)
    return drawn


def asked(plan):
    names = [question.name for question in plan.content.questions]
    return {name: aggregation.reports_in(plan, 1, [name]) for name in names}


def test_results_exports_and_the_interface_say_how_many_were_asked(published, client):
    by_name = asked(published)
    assert by_name["late"] < PEOPLE == by_name["year"]
    (publication,) = selectors.publications_of(published.study)
    shown = results_of(publication.release)
    assert {each.question.name: each.n for each in shown} == by_name
    rows = export_rows([publication])
    assert {row.question: row.n for row in rows} == by_name
    document = client.get("/api/v1/studies/drawn/releases").json()
    (release,) = document["releases"]
    found = {one["name"]: one.get("n", release["n"]) for one in release["questions"]}
    assert found == by_name


def test_pages_say_it(published, client, researcher):
    people.share(study=published.study, user=researcher)
    client.force_login(researcher)
    page = client.get("/studies/drawn/").content.decode()
    late = asked(published)["late"]
    assert f"Asked of {late} of {PEOPLE} people, whom devices picked at random." in page
    registry = client.get("/registry/drawn/").content.decode()
    assert "Each device picks at random which 2–3 of the 5 randomised questions it asks" in registry
    welcome = client.get("/s/drawn/").content.decode()
    assert 'data-words="device-5 publication-1 drawn fresh-1-of-1"' in welcome
