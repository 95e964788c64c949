"""The door's own process and the site's pages give the same answers to the same posts."""

import datetime
import os
import random
from collections import Counter

import pytest
from django.db import connections, transaction

from surveys.design import services as design
from surveys.intake import posts, rsgi
from surveys.intake.models import OpenReport, Receipt
from surveys.intake.rsgi import Door
from tests.conftest import NOW, QUESTIONS, STUDY
from tests.surveys.intake.posted import JSON, PATH, Answer, mutated, post_all
from tests.surveys.intake.test_given import QUESTIONS as OF_GIVEN

SEED = 15
COUNT = int(os.environ.get("CANDOR_MUTATED_POSTS", "1500"))  # 20,000 in tests/bench/door.py


def plans(**changes):
    """Return studies to report to: open, closed, and one whose answers are sent as given."""
    today = datetime.datetime.now(datetime.UTC).date()
    given = [{**each, "protection": "publication"} for each in OF_GIVEN[1:]] + OF_GIVEN[:1]
    made = {}
    for slug, questions in {"open": QUESTIONS, "given": given, "closed": QUESTIONS}.items():
        draft = design.draft_study(study={**STUDY, "slug": slug}, questions=questions)
        made[slug] = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    design.draft_study(study={**STUDY, "slug": "a-draft"}, questions=QUESTIONS)
    design.close_plan(plan_id=made["closed"].pk, today=today)
    usual = lambda chance: {"copied": chance.randrange(2), "fair": [3], "often": [0]}  # noqa: E731
    answers = {"open": usual, "closed": usual, "given": lambda chance: {
        "copied": chance.randrange(2), "hours": chance.randrange(-3, 61), "region": 1}}  # fmt: skip
    return {slug: {"plan": plan.digest, "answers": answers[slug]} for slug, plan in made.items()}


def by_the_page(client, sent):
    """Return how the pages answer: the reference."""
    named = {"HTTP_HOST": "testserver", "CONTENT_TYPE": JSON, "REMOTE_ADDR": "192.0.2.1"}
    for name, value in sent.headers.items():
        key = name.upper().replace("-", "_")
        named[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    named = {key: value for key, value in named.items() if value != "-"}
    named["CONTENT_LENGTH"] = str(len(sent.body)) if sent.says_length else ""
    named.setdefault("CONTENT_TYPE", "")
    response = client.generic(sent.method, PATH.format(sent.slug), sent.body, **named)
    is_ours = response["Content-Type"] == JSON
    return Answer(
        response.status_code,
        response.content if is_ours else b"",
        "Retry-After" in response,
        response.get("Allow", ""),
    )


@pytest.fixture
def door(db, monkeypatch):
    """A door whose thread commits to the transaction of this test; and all that it notes."""
    ours, answered = connections["default"], rsgi.answered
    ours.inc_thread_sharing()

    def answer_here(group):
        connections["default"] = ours
        try:
            return answered(group)
        finally:
            del connections["default"]

    monkeypatch.setattr(rsgi, "answered", answer_here)
    # it would find a transaction that is not its own
    monkeypatch.setattr(ours, "close_if_unusable_or_obsolete", lambda: None)
    noted = []
    made = Door(note=lambda *said: noted.append(said))
    made.noted = noted
    yield made
    ours.dec_thread_sharing()


def stored():
    """Return what is stored, without what depends on chance or a key."""
    receipts = Receipt.objects.values_list("pk", "plan_id", "day")
    reports = OpenReport.objects.values_list("plan_id", "values")
    return sorted((bytes(pk).hex(), *rest) for pk, *rest in receipts), sorted(reports)


def compared(door, client, sent, at_once=48):
    """Return how the door answers, and how the pages do where the door has never been; and what
    each of them stores.
    """
    with transaction.atomic():
        by_door, rows = post_all(door, sent, at_once), stored()
        transaction.set_rollback(True)
    posts.shelf.__init__()
    return by_door, [by_the_page(client, each) for each in sent], rows, stored()


def test_door_and_pages_answer_every_post_alike(door, client, settings):
    settings.REPORTS_AT_ONCE = 10**6
    sent = mutated(plans(), random.Random(SEED), COUNT)
    by_door, by_page, rows_of_door, rows_of_page = compared(door, client, sent)
    unlike = [
        (each, one, other)
        for each, one, other in zip(sent, by_door, by_page, strict=True)
        if one != other
    ]
    assert unlike == []
    assert rows_of_door == rows_of_page
    kinds = Counter(answer.status for answer in by_door)
    assert {200, 201, 400, 403, 404, 405, 409, 410, 411, 415, 422} <= set(kinds)
