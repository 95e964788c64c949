"""The door's own process and the site's pages give the same answers to the same posts."""

import asyncio
import datetime
import json
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
from tests.surveys.intake.posted import JSON, PATH, Answer, Sent, mutated, post_all, stop_clock
from tests.surveys.intake.test_given import QUESTIONS as OF_GIVEN
from tests.surveys.intake.test_reports import body

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
    stop_clock(monkeypatch, posts)
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


def good(plan, number=0, **more):
    return Sent(
        plan.study.slug, json.dumps(body(plan, report_id=f"{number:032x}")).encode(), **more
    )


def statuses(answers):
    return [int(answer.status) for answer in answers]


def test_every_answer_has_the_headers_that_the_pages_have(door, client, plan):
    (answer,) = post_all(door, [good(plan)], 1)
    page = client.post(PATH.format(plan.study.slug), b"{}", content_type=JSON)
    said = {name.lower(): value for name, value in page.items()}
    # a page may be in either language, and its log lines have a number
    of_pages = {"vary", "content-language", "content-length", "x-request-id"}
    assert {name: value for name, value in said.items() if name not in of_pages} == answer.headers


def test_refusals_are_counted_though_no_middleware_sees_them(door, plan):
    sent = [good(plan, headers={"content-type": "text/plain"}), good(plan), Sent("nowhere", b"{}")]
    assert statuses(post_all(door, sent, 1)) == [415, 201, 404]
    assert [said[:2] for said in door.noted] == [(415, "Content-Type"), (404, "slug")]


def test_a_flood_from_one_network_is_slowed_and_only_the_proxy_s_word_is_taken(
    door, plan, settings
):
    settings.REPORTS_AT_ONCE = 2
    settings.BEHIND_PROXY, settings.ALLAUTH_TRUSTED_PROXY_COUNT = True, 1
    here = [
        good(plan, n, headers={"x-forwarded-for": f"198.51.100.{n}, 203.0.113.1"}) for n in range(3)
    ]
    there = good(plan, 9, headers={"x-forwarded-for": "203.0.113.1, 198.51.100.9"})
    answers = post_all(door, [*here, there], 1)
    assert statuses(answers) == [201, 201, 429, 201]
    assert answers[2].retries


def test_without_a_proxy_nobody_says_another_address(door, plan, settings):
    settings.REPORTS_AT_ONCE = 2
    sent = [good(plan, n, headers={"x-forwarded-for": f"198.51.100.{n}"}) for n in range(3)]
    assert statuses(post_all(door, sent, 1)) == [201, 201, 429]


def test_production_leads_a_plain_connection_to_the_secure_one(door, plan, settings):
    settings.SECURE_SSL_REDIRECT, settings.BEHIND_PROXY = True, True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    plain, secure = post_all(
        door, [good(plan), good(plan, headers={"x-forwarded-proto": "https"})], 1
    )
    assert statuses([plain, secure]) == [301, 201]
    assert plain.headers["location"] == f"https://testserver{PATH.format(plan.study.slug)}"


def test_a_body_that_is_late_is_not_waited_for(door, plan, monkeypatch):
    monkeypatch.setattr(rsgi, "DEADLINE", 5.0)
    slow, quick = post_all(door, [good(plan, 1, seconds=600.0), good(plan, 2)], 2)
    assert statuses([slow, quick]) == [408, 201]


def test_each_body_has_its_own_time(monkeypatch):
    monkeypatch.setattr(rsgi, "DEADLINE", 0.05)

    async def answers():
        asked = asyncio.Event()

        async def one(pause, ends):
            await asyncio.sleep(pause)
            try:
                return await rsgi.body_of(ends, 2)
            except rsgi.Elsewhere as other:
                return other.status

        async def here():
            return b"{}"

        async def gone():
            raise RuntimeError

        async def never():
            asked.set()
            await asyncio.Event().wait()

        found = await asyncio.gather(
            *map(one, (0, 0.02, 0.04, 0, 0), (never, never, never, here, gone))
        )
        asked.clear()
        left = asyncio.create_task(one(0, never))
        await asked.wait()
        left.cancel()  # by the server: whoever sent it has gone
        return found, (await asyncio.gather(left, return_exceptions=True))[0]

    found, left = asyncio.run(answers())
    assert found == [408, 408, 408, b"{}", 400]
    assert isinstance(left, asyncio.CancelledError)


def test_whatever_fails_is_asked_for_again_and_logged_by_its_kind(door, plan, monkeypatch, caplog):
    def fail(group):
        raise ZeroDivisionError("the report was [1,[3],[0]]")

    monkeypatch.setattr(posts, "answer_all", fail)
    (answer,) = post_all(door, [good(plan)], 1)
    assert (answer.status, answer.retries) == (503, True)
    assert "ZeroDivisionError" in caplog.text
    assert "[1,[3],[0]]" not in caplog.text + answer.body.decode()
