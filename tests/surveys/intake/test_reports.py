"""POST /api/v1/studies/<slug>/reports: what is taken, what is refused, and what a refusal says."""

import datetime
import json
from types import SimpleNamespace

import pytest

from surveys.design import services as design
from surveys.design.models import GRACE
from surveys.intake import posts
from surveys.intake.models import OpenReport, Receipt
from surveys.intake.reports import Refused, Report
from surveys.intake.services import accept_many
from tests.conftest import NOW, STUDY

URL = "/api/v1/studies/exam-honesty/reports"
SECRET = 424242  # stands for a value that no error may repeat


def body(frozen, /, **changes):
    answers = {"copied": 1, "fair": [3], "often": [0]}
    return {"plan": frozen.digest, "report_id": "0f" * 16, "answers": answers, **changes}


def post(client, content, url=URL):
    raw = content if isinstance(content, bytes | str) else json.dumps(content)
    return client.post(url, raw, content_type="application/json")


def test_a_report_is_taken_and_answered_with_a_receipt(client, plan):
    response = post(client, body(plan))
    assert response.status_code == 201
    assert len(response.json()["receipt"]) == 14
    assert OpenReport.objects.get().values == "[1,[3],[0]]"


KINDS = [
    {"name": "ticks", "kind": "multiple", "text": "Which?", "label": "Ticks", "choices": "a\nb\nc"},
    {
        "name": "hours",
        "kind": "number",
        "text": "How many?",
        "label": "Hours",
        "least": 0,
        "most": 8,
    },
    {
        "name": "when",
        "kind": "month",
        "text": "When?",
        "label": "When",
        "least": 24000,
        "most": 24007,
        "wanted": "distribution",
    },
]


@pytest.fixture
def kinds(db):
    made = design.draft_study(study={**STUDY, "slug": "kinds"}, questions=KINDS)
    return design.open_study(why="A test.", study_id=made.pk, who="ada", now=NOW)


def post_kinds(client, frozen, **answers):
    said = {"ticks": [2, 1], "hours": 0, "when": 7, **answers}
    return post(client, body(frozen, answers=said), url="/api/v1/studies/kinds/reports")


def test_an_option_and_its_bit_and_reports_of_numbers_are_taken(client, kinds):
    assert post_kinds(client, kinds).status_code == 201
    assert OpenReport.objects.get().values == "[[2,1],0,7]"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        *(
            ("ticks", value, "expected an option from 0 to 2 and a bit, in a list")
            for value in (
                424242,
                [3, 1],
                [0, 2],
                [424242, 0],
                [0],
                [0, 1, 1],
                [0, True],
                [0.0, 1],
                ["0", 1],
                {"0": 1},
                None,
            )
        ),
        *(
            ("hours", value, "expected an integer from 0 to 8")
            for value in (424242, -1, [0], True, 1.0, "1", None)
        ),
        *(("when", value, "expected an integer from 0 to 7") for value in (24000, 8, [7], 7.0)),
    ],
    ids=str,
)
def test_what_no_channel_of_these_kinds_can_have_sent_is_refused_and_never_repeated(
    client, kinds, name, value, expected
):
    response = post_kinds(client, kinds, **{name: value})
    assert response.status_code == 422
    assert response.json()["error"]["field"] == f"answers.{name}"
    assert expected in response.json()["error"]["message"]
    assert not any(str(part) in response.content.decode() for part in (424242, 24000))


def test_the_same_report_again_is_the_same_receipt_and_counts_once(client, plan):
    first, second = post(client, body(plan)), post(client, body(plan))
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert OpenReport.objects.count() == Receipt.objects.count() == 1


def test_the_same_report_in_another_spelling_is_the_same(client, plan):
    post(client, body(plan))
    again = json.dumps(body(plan), indent=2, sort_keys=True)
    assert post(client, again).status_code == 200


def test_the_same_id_with_other_content_is_a_conflict(client, plan):
    post(client, body(plan))
    response = post(client, body(plan, answers={"copied": 0, "fair": [3], "often": [0]}))
    assert response.status_code == 409
    assert response.json()["error"]["field"] == "report_id"
    assert OpenReport.objects.count() == 1


def test_a_closed_study_takes_nothing_and_leaves_nothing(client, plan, today):
    design.close_plan(plan_id=plan.pk, today=today)
    response = post(client, body(plan))
    assert response.status_code == 410
    assert not OpenReport.objects.exists()
    assert not Receipt.objects.exists()


def test_a_retry_after_the_close_finds_its_receipt(client, plan, today):
    first = post(client, body(plan))
    design.close_plan(plan_id=plan.pk, today=today)
    again = post(client, body(plan))
    assert (again.status_code, again.json()) == (200, first.json())


def test_a_plan_nobody_knows_is_a_conflict(client, plan):
    response = post(client, body(plan, plan="ab" * 32))
    assert (response.status_code, response.json()["error"]["field"]) == (409, "plan")


def test_a_plan_of_another_study_is_a_conflict(client, plan):
    other = design.draft_study(
        study={
            "slug": "other",
            "title": "Other",
            "organisation": "o",
            "purpose": "p",
            "contact": "a@example.org",
        },
        questions=[{"name": "q", "text": "Q?", "label": "Q"}],
    )
    other_plan = design.open_study(why="A test.", study_id=other.pk, who="ada", now=NOW)
    assert post(client, body(plan, plan=other_plan.digest)).status_code == 409


def test_a_study_that_does_not_exist_is_not_found(client, plan):
    assert post(client, body(plan), url="/api/v1/studies/nowhere/reports").status_code == 404


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"plan": SECRET}, "plan"),
        ({"plan": "AB" * 32}, "plan"),
        ({"report_id": "short"}, "report_id"),
        ({"report_id": "0f" * 16 + "\n"}, "report_id"),
        ({"plan": "ab" * 32 + "\n"}, "plan"),
        ({"report_id": None}, "report_id"),
        ({"answers": [SECRET]}, "answers"),
        ({"answers": {}}, "answers.copied"),
        ({"answers": {"copied": 1, "fair": [3]}}, "answers.often"),
        ({"answers": {"copied": 2, "fair": [3], "often": [0]}}, "answers.copied"),
        ({"answers": {"copied": SECRET, "fair": [3], "often": [0]}}, "answers.copied"),
        ({"answers": {"copied": str(SECRET), "fair": [3], "often": [0]}}, "answers.copied"),
        ({"answers": {"copied": True, "fair": [3], "often": [0]}}, "answers.copied"),
        ({"answers": {"copied": 1.0, "fair": [3], "often": [0]}}, "answers.copied"),
        ({"answers": {"copied": 1, "fair": 3, "often": [0]}}, "answers.fair"),
        ({"answers": {"copied": 1, "fair": [SECRET], "often": [0]}}, "answers.fair"),
        ({"answers": {"copied": 1, "fair": [0, 1], "often": [0]}}, "answers.fair"),
        ({"answers": {"copied": 1, "fair": {"x": SECRET}, "often": [0]}}, "answers.fair"),
        ({"answers": {"copied": 1, "fair": None, "often": [0]}}, "answers.fair"),
        ({"answers": {"copied": 1, "fair": [3], "often": [0], "more": SECRET}}, "answers.more"),
        ({"comment": SECRET}, "comment"),
    ],
    ids=str,
)
def test_what_the_plan_does_not_allow_is_refused_by_field_and_never_repeated(
    client, plan, changes, field
):
    response = post(client, body(plan, **changes))
    assert response.status_code == 422
    assert response.json()["error"]["field"] == field
    assert str(SECRET) not in response.content.decode()
    assert not OpenReport.objects.exists()
    assert not Receipt.objects.exists()


@pytest.mark.parametrize("missing", ["plan", "report_id", "answers"])
def test_a_missing_part_is_named(client, plan, missing):
    content = body(plan)
    del content[missing]
    response = post(client, content)
    assert (response.status_code, response.json()["error"]["field"]) == (422, missing)


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"[]",
        b"null",
        b"7",
        b"\xff\xfe",
        b'{"plan": NaN}',
        b"[" * 50_000,
        b"1" * 5000,
        b'"text"',
    ],
    ids=lambda raw: repr(raw[:12]),
)
def test_what_is_no_report_at_all_is_refused_as_a_body(client, plan, raw):
    response = post(client, raw)
    assert (response.status_code, response.json()["error"]["field"]) == (422, "body")


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ('{"plan": "%p", "plan": "%p", "report_id": "%s", "answers": {}}', "plan"),
        (
            '{"report_id": "%s", "plan": "%p", "answers": {"copied": 1, "copied": 0, "fair": [1], '
            '"often": [1]}}',
            "copied",
        ),
        (
            '{"report_id": "%s", "plan": "%p", "answers": {"copied": {"deep": 1, "deep": 0}}}',
            "deep",
        ),
    ],
)
def test_a_key_that_stands_twice_is_refused_by_name(client, plan, raw, field):
    filled = raw.replace("%s", "ab" * 16).replace("%p", plan.digest)  # nothing else is wrong
    response = post(client, filled)
    assert (response.status_code, response.json()["error"]["field"]) == (422, field)


def test_a_megabyte_is_refused_without_being_read_whole(client, plan):
    response = post(client, json.dumps(body(plan, answers={"copied": "x" * 1_000_000})))
    assert (response.status_code, response.json()["error"]["field"]) == (422, "body")


def test_only_posts_are_taken(client, plan):
    assert client.get(URL).status_code == 405


def test_no_cookie_is_set_and_no_address_is_kept(client, plan):
    response = post(client, body(plan))
    assert not response.cookies
    columns = {f.name for model in (Receipt, OpenReport) for f in model._meta.get_fields()}
    of_the_report = {"values", "given", "stratum"}
    assert columns == {"id", "id_digest", "content_digest", "plan", "day", *of_the_report}
    assert OpenReport.objects.get().stratum is None


def test_nothing_about_a_report_is_logged(client, plan, caplog):
    post(client, body(plan))
    post(client, body(plan, answers={"copied": SECRET, "fair": [3], "often": [0]}))
    assert str(SECRET) not in caplog.text
    assert "0f0f" not in caplog.text


def test_a_database_that_fails_asks_to_try_again_and_says_nothing_of_the_report(
    client, plan, monkeypatch, caplog
):
    from django.db import OperationalError

    from surveys.intake import report_tables

    def fail(reports):
        raise OperationalError(f"DETAIL: Failing row contains ({reports[0][1]})")

    monkeypatch.setattr(report_tables, "put", fail)
    response = post(client, body(plan))
    assert response.status_code == 503
    assert response["Retry-After"]
    assert "[1,[3],[0]]" not in response.content.decode() + caplog.text
    assert "OperationalError" in caplog.text


def test_a_body_of_unknown_length_is_asked_for_again_with_its_length(client, plan):
    response = client.generic("POST", URL, b"", CONTENT_TYPE="application/json")
    assert (response.status_code, response.json()["error"]["field"]) == (411, "body")


def test_the_day_after_the_last_takes_nothing_even_if_nobody_closed_the_study(draft, today):
    draft.closes_on = today
    draft.save()
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    report = Report(report_id="0f" * 16, values=[1, [3], [0]])
    with pytest.raises(Refused, match="has closed"):
        accept_many(plan=plan, reports=[report], today=today + datetime.timedelta(days=1))
    assert accept_many(plan=plan, reports=[report], today=today)[0].is_new


def test_what_left_a_device_on_the_last_day_is_taken_in_the_hours_after(
    draft, client, today, monkeypatch
):
    draft.closes_on = today
    draft.save()
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    midnight = datetime.datetime.combine(today, datetime.time(), datetime.UTC)
    midnight += datetime.timedelta(days=1)

    class Clock(datetime.datetime):
        moment = midnight

        @classmethod
        def now(cls, tz=None):
            return cls.moment

    clock = SimpleNamespace(datetime=Clock, UTC=datetime.UTC)
    monkeypatch.setattr(posts, "datetime", clock)
    first = post(client, body(plan))
    assert (first.status_code, first.json()["accepted_on"]) == (201, today.isoformat())
    Clock.moment = midnight + GRACE
    assert post(client, body(plan)).status_code == 200
    assert post(client, body(plan, report_id="7" * 32)).status_code == 410
