"""A Plan at the address of its digest, which anyone may keep for good."""

import datetime
import hashlib

import pytest

from surveys.design import services as design

ADDRESS = "/api/v1/studies/exam-honesty/plans/{}"


def test_a_plan_is_served_at_its_digest_for_good(client, plan):
    found = client.get(ADDRESS.format(plan.digest))
    assert hashlib.sha256(found.content).hexdigest() == plan.digest
    assert found["Cache-Control"] == "public, max-age=31536000, immutable"
    assert found["ETag"] == f'"{plan.digest}"'
    assert not found.cookies
    again = client.get(ADDRESS.format(plan.digest), headers={"If-None-Match": found["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.usefixtures("two_waves")
def test_the_plan_of_an_earlier_wave_stays_where_it_was(client, plan, now):
    design.close_plan(plan_id=plan.pk, today=now.date())
    design.begin_wave(study_id=plan.study_id)
    later = now + datetime.timedelta(days=1)
    second = design.open_study(why="A test.", study_id=plan.study_id, who="ada", now=later)
    documents = {each.digest: each.document.encode() for each in (plan, second)}
    assert len(documents) == 2
    for digest, document in documents.items():
        assert client.get(ADDRESS.format(digest)).content == document


@pytest.mark.parametrize("method", ["get", "head"])
def test_no_plan_is_found_at_another_digest_or_under_another_study(client, plan, method):
    ask = getattr(client, method)
    for address in (ADDRESS.format("0" * 64), f"/api/v1/studies/another/plans/{plan.digest}"):
        tag = {"If-None-Match": f'"{address.rpartition("/")[2]}"'}
        answers = [ask(address), ask(address, headers=tag)]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert "immutable" not in answers[0].get("Cache-Control", "")
