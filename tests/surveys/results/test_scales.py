"""A scale whose mean is wanted, from a browser to the pages: published as a mean on its points."""

import html
import re
from decimal import Decimal

import pytest
from django.test import Client

from surveys.aggregation import services as aggregation
from surveys.demo import services as demo
from surveys.design.models import Plan
from surveys.people.models import Role
from surveys.planning.population import population_of, rows_of, usual
from surveys.planning.rehearsal import Rehearsal
from surveys.releases.models import Release
from surveys.results.exports import FORMATS
from tests.surveys.results.small import NOW, STUDY, publish
from tests.surveys.results.test_serializers import validator
from tests.surveys.results.views.test_queries import browser as sign_in

pytestmark = pytest.mark.django_db
POINTS = ["Very bad", "Bad", "So-so", "Good", "Very good"]
SCALE = {
    "name": "mood",
    "kind": "number",
    "text": "How are you?",
    "label": "Mood",
    "choices": "\n".join(POINTS),
    "least": 1,
    "most": 5,
    "wanted": "mean",
    "epsilon": Decimal(1),
}
OTHER = {"name": "moon", "kind": "yes_no", "text": "To the Moon?", "label": "Moon"}


@pytest.fixture
def plan() -> Plan:
    plan, _ = demo.ensure_study({**STUDY, "slug": "moods"}, [OTHER, SCALE], NOW)
    truths = [{"moon": 0, "mood": (3, 4)[place % 2]} for place in range(400)]
    demo.answer_as_browsers(plan, truths, NOW.date())
    aggregation.sweep_all(today=NOW.date())
    publish(plan)
    return plan


def test_its_mean_is_published_on_its_points(plan: Plan) -> None:
    numbers = {each.name: each for each in Release.objects.get().content.questions}["mood"]
    assert numbers.kind == "mean"
    assert not numbers.choices
    assert numbers.mean is not None
    half = numbers.mean.estimate - numbers.mean.low
    assert 0 < half < 1
    assert abs(numbers.mean.estimate - 4.5) < 2.6 * half  # five standard errors


@pytest.mark.parametrize("page", ["", "over-time/", "methods/", "compare/", "collect/", "limits/"])
def test_every_page_says_it(plan: Plan, page: str) -> None:
    client = sign_in("mira", plan, role=Role.OWNER)
    answer = client.get(f"/studies/{plan.study.slug}/{page}")
    assert answer.status_code == 200
    text = " ".join(html.unescape(answer.content.decode()).split())
    if not page:
        assert re.search(r"on average\. (95% interval|Best estimate): \d", text)
        assert "1 = “Very bad”, 5 = “Very good”" in text


def test_the_registry_names_its_points(plan: Plan, client: Client) -> None:
    text = html.unescape(client.get(f"/registry/{plan.study.slug}/").content.decode())
    assert " · ".join(POINTS) in text
    document = client.get(f"/registry/{plan.study.slug}.json").json()
    validator("study-5").validate(document)


@pytest.mark.parametrize("suffix", sorted(FORMATS))
def test_files_have_its_mean(plan: Plan, suffix: str) -> None:
    client = sign_in("mira", plan, role=Role.OWNER)
    answer = client.get(f"/studies/{plan.study.slug}/export.{suffix}")
    assert answer.status_code == 200
    if suffix == "csv":
        assert b"mood" in answer.content


def test_a_rehearsal_assumes_shares_of_its_points(plan: Plan) -> None:
    mood = plan.content.question("mood")
    assert rows_of(mood) == POINTS
    population = population_of(
        plan.content, {each.name: usual(each) for each in plan.content.questions}
    )
    found = Rehearsal(plan.content, population).run(400)
    assert found.keys() == {"moon", "mood"}


def test_it_has_no_table_with_another_question(plan: Plan) -> None:
    client = sign_in("mira", plan, role=Role.OWNER)
    page = client.get(f"/studies/{plan.study.slug}/ask/").content.decode()
    assert "/ask/crosstab/" not in page
