"""Answers that are sent as given: what a report may say, what a refusal says, and what is kept
of it.
"""

import json

import pytest

from surveys.design import services as design
from surveys.intake.models import OpenReport, Receipt
from tests.conftest import NOW, STUDY

SECRET = 918273645  # stands for a value that no error may repeat
QUESTIONS = [
    {"name": "copied", "kind": "yes_no", "text": "Have you copied?", "label": "Copied"},
    {
        "name": "hours",
        "kind": "number",
        "text": "How many hours?",
        "label": "Hours",
        "least": -3,
        "most": 60,
    },
    {
        "name": "region",
        "kind": "single",
        "text": "Where?",
        "label": "Region",
        "choices": "North\nSouth",
    },
]
GIVEN = {"hours": "publication", "region": "publication"}
ID = "0f" * 16


@pytest.fixture
def given(db):
    questions = [
        {**question, "protection": GIVEN.get(question["name"], "device")} for question in QUESTIONS
    ]
    study = design.draft_study(study=STUDY, questions=questions)
    return design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)


def post(client, plan, **answers):
    body = {
        "plan": plan.digest,
        "report_id": ID,
        "answers": {"copied": 1, "hours": 7, "region": 1, **answers},
    }
    return client.post(
        "/api/v1/studies/exam-honesty/reports", json.dumps(body), content_type="application/json"
    )


@pytest.mark.parametrize("answers", [{"hours": -3}, {"hours": 60}, {"region": 0}])
def test_answers_within_their_bounds_are_taken(client, given, answers):
    assert post(client, given, **answers).status_code == 201
    assert OpenReport.objects.get().values == "[1]"


@pytest.mark.parametrize(
    ("answers", "field"),
    [
        *(
            ({"hours": value}, "hours")
            for value in (-4, 61, SECRET, -SECRET, 10**30, 7.0, "7", None, True, [7], {})
        ),
        *(({"region": value}, "region") for value in (-1, 2, SECRET, 0.0, "0", None, False, [0])),
        ({"copied": SECRET}, "copied"),
        ({"more": SECRET}, "more"),
    ],
    ids=str,
)
def test_others_are_refused_by_field_and_never_repeated(client, given, caplog, answers, field):
    response = post(client, given, **answers)
    assert response.status_code == 422
    assert response.json()["error"]["field"] == f"answers.{field}"
    assert str(SECRET) not in response.content.decode() + caplog.text
    assert not OpenReport.objects.exists()
    assert not Receipt.objects.exists()


def test_a_refusal_names_the_bounds(client, given):
    message = post(client, given, hours=SECRET).json()["error"]["message"]
    assert message == "answers.hours: expected an integer from -3 to 60, got another integer"


def test_the_same_again_is_one_report_and_another_answer_a_conflict(client, given):
    first = post(client, given)
    assert [
        first.status_code,
        post(client, given).status_code,
        post(client, given, hours=8).status_code,
    ] == [
        201,
        200,
        409,
    ]
    assert OpenReport.objects.count() == 1


def test_the_form_says_so_in_its_words_and_only_where_it_is_true(client, given):
    page = client.get("/s/exam-honesty/").content.decode()
    for words in (
        "not randomised",
        "Someone who steals the database and its key",
        "ε = ∞",
        "kept in this page only",
    ):
        assert words in page
    assert "form/full.js" in page
    assert 'data-words="device-1 publication-2 fresh-1-of-1"' in page


def test_a_form_without_such_questions_fetches_nothing_for_them(client, plan):
    page = client.get("/s/exam-honesty/").content.decode()
    assert "not randomised:" not in page.lower()
    assert "form/plain.js" in page
    assert 'data-words="device-3 fresh-1-of-1"' in page


def test_without_a_key_nothing_is_taken_and_the_sender_keeps_the_message(
    client, given, settings, caplog
):
    settings.PUBLICATION_KEYS = ()
    response = post(client, given, hours=7)
    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert "PUBLICATION_KEYS: expected one or more keys, got none" in caplog.text
    assert not OpenReport.objects.exists()
    assert not Receipt.objects.exists()


def test_a_form_that_changes_nothing_by_chance_claims_no_check_of_odds(client, db):
    questions = [{**question, "protection": "publication"} for question in QUESTIONS]
    study = design.draft_study(study=STUDY, questions=questions)
    design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
    page = client.get("/s/exam-honesty/").content.decode()
    for words in (
        "worked out for itself",
        "Odds checked",
        "randomised on this device",
        "which are yours",
    ):
        assert words not in page
    assert "Anyone who can read it knows it." in page
