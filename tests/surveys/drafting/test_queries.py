"""A draft's page asks the database as often for thirty questions as for three."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from surveys.design import documents
from surveys.design.drafts import new_draft, save_translation
from surveys.people.models import Role
from tests.conftest import NOW
from tests.surveys.drafting.conftest import TEXTS, client_of

MAX_QUERIES = 14


def questions(count):
    kinds = [
        {"kind": "yes_no"},
        {"kind": "likert", "asked_if": "q1", "asked_if_answers": [1]},
        {"kind": "number", "least": 0, "most": 99, "unit": "days"},
    ]
    return [
        {
            "name": f"q{at}",
            "text": "Is it?",
            "label": f"It is {at}",
            "epsilon": "0.1",
            **kinds[at % 3 - 1],
        }
        for at in range(1, count + 1)
    ]


@pytest.mark.parametrize("whole", [False, True], ids=["incomplete", "could open"])
@pytest.mark.parametrize("count", [3, 30])
def test_a_draft_is_read_in_a_few_queries_and_composed_as_it_is_and_as_it_might_be_declined(
    db, monkeypatch, count, whole
):
    study = new_draft(texts=TEXTS, questions=questions(count))
    if not whole:
        save_translation(study_id=study.pk, language="zh-hans", content={}, who="ada", now=NOW)
    client, composed = client_of("olga", Role.OWNER, study), []
    compose = documents.compose
    monkeypatch.setattr(
        documents, "compose", lambda *parts: composed.append(parts) or compose(*parts)
    )
    client.get(reverse("drafting:build", args=[study.slug]))
    composed.clear()
    with CaptureQueriesContext(connection) as queries:
        response = client.get(reverse("drafting:build", args=[study.slug]))
    assert response.status_code == 200
    assert len(response.context["items"]) == count
    assert bool(response.context["problems"]) != whole
    assert len(queries) <= MAX_QUERIES
    assert len(composed) == 2
