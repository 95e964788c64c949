"""The digest of what a report says: of use to who has its Plan's key, and to nobody once the
study has retired.
"""

import hashlib
import hmac
import json
from itertools import product

import pytest
from django.db import connection

from surveys.design import services as design
from surveys.encryption import open_sealed
from surveys.intake import digest_keys, services
from surveys.intake.models import DigestKey, Receipt, Settled
from tests.conftest import NOW, STUDY, TODAY

ID = "0f" * 16
QUESTIONS = [
    {
        "name": "copied",
        "kind": "yes_no",
        "text": "Have you copied?",
        "label": "Copied",
        "protection": "publication",
    },
    {
        "name": "earned",
        "kind": "number",
        "protection": "publication",
        "text": "How much did you earn?",
        "label": "Earned",
        "least": 0,
        "most": 9_999,
    },
]


@pytest.fixture
def given(db):
    study = design.draft_study(study=STUDY, questions=QUESTIONS)
    return design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)


def key_of(plan, today):
    return digest_keys.keys_of([plan], today)[plan.pk]


def post(client, plan, report_id=ID, earned=7_123):
    body = {"plan": plan.digest, "report_id": report_id, "answers": {"copied": 1, "earned": earned}}
    return client.post(
        "/api/v1/studies/exam-honesty/reports", json.dumps(body), content_type="application/json"
    )


def retire(plan):
    design.retire(study_id=plan.study_id, because="ended", who="ada", now=NOW)
    services.erase_retired()


def brute_force(keys):
    """Try every answer, digested as older versions did and under each key, against all that the
    database holds.
    """
    with connection.cursor() as cursor:
        held = set()
        for table in ("intake_receipt", "intake_settled", "intake_digestkey"):
            cursor.execute(f"SELECT * FROM {table}")  # noqa: S608
            held |= {
                bytes(one)
                for row in cursor.fetchall()
                for one in row
                if isinstance(one, bytes | memoryview)
            }
    keys = [*keys, *held]
    found = []
    for copied, earned in product((0, 1), range(10_000)):
        content = f'[{{"copied":{copied},"earned":{earned}}}]'
        plain = hashlib.sha256((ID + content).encode()).digest()
        if not held.isdisjoint([plain, *(hmac.digest(key, plain, "sha256") for key in keys)]):
            found.append((copied, earned))
    return found


def test_who_has_the_database_and_an_id_but_no_key_finds_no_answer(client, given):
    """0.7 s were enough for 200,000 answers to a number and a yes or no, when nothing was keyed."""
    post(client, given)
    key = open_sealed(
        bytes(DigestKey.objects.get().sealed), about=f"key of the receipts of plan {given.digest}"
    )
    assert brute_force([]) == []
    assert brute_force([key]) == [(1, 7_123)]  # so it would have been found


def test_nobody_finds_it_once_the_study_has_retired(client, given, settings):
    post(client, given)
    services.settle(today=NOW.date().replace(day=12))
    retire(given)
    assert not DigestKey.objects.exists()
    assert brute_force(settings.PUBLICATION_KEYS) == []


def test_a_retry_is_then_answered_without_looking_at_what_it_says_and_nothing_else_is_taken(
    client, given
):
    first = post(client, given)
    assert post(client, given, earned=5).status_code == 409
    retire(given)
    assert (post(client, given).status_code, post(client, given).json()) == (200, first.json())
    assert post(client, given, earned=5).status_code == 200
    assert post(client, given, report_id="ab" * 16).status_code == 410
    assert not DigestKey.objects.exists()  # no retry makes it again
    assert Receipt.objects.count() + Settled.objects.count() == 1


def test_an_id_of_another_plan_stays_a_conflict_after_retirement(
    client, given, plan_of_another_study
):
    services.accept_many(plan=plan_of_another_study, reports=[report()], today=TODAY)
    retire(given)
    assert post(client, given).status_code == 409


def test_every_plan_has_a_key_of_its_own(given, plan_of_another_study):
    assert key_of(given, TODAY) == key_of(given, TODAY)
    assert key_of(given, TODAY) != key_of(plan_of_another_study, TODAY)


def test_a_plan_that_has_closed_gets_no_key_any_more(given):
    design.close_plan(plan_id=given.pk, today=TODAY)
    assert key_of(given, TODAY) is None


def test_two_first_reports_make_one_key(given):
    first = key_of(given, TODAY)
    assert digest_keys._made(given, TODAY) == bytes(DigestKey.objects.get().sealed)
    assert key_of(given, TODAY) == first


def test_the_rows_hold_no_id_and_nothing_longer_than_a_digest(client, given):
    post(client, given)
    row = Receipt.objects.values().get()
    assert [len(bytes(row[name])) for name in ("id_digest", "content_digest")] == [32, 32]
    assert ID not in repr(row)


@pytest.fixture
def plan_of_another_study(db):
    study = design.draft_study(study={**STUDY, "slug": "another"}, questions=QUESTIONS)
    return design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)


def report():
    return services.Report(report_id=ID, values=[], given={"copied": 1, "earned": 7_123})
