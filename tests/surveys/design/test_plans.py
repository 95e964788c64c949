"""Opening freezes a Plan; nothing changes it, and nothing unsound becomes one."""

import datetime
import hashlib
import json
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from django.db import DatabaseError, connection, transaction

from dpengine.bounds import exp_above, exp_below
from surveys.design import models, services
from surveys.design.locks import lock_draft
from surveys.design.models import GRACE, Plan, Study
from surveys.design.refusals import CannotOpen
from surveys.ledger.models import Budget
from surveys.plan.content import PlanContent, Unsound
from surveys.plan.verification import MAXIMUM_TOTAL, verify
from tests.conftest import QUESTIONS, STUDY
from tests.plans import whole
from tests.vectors import load

DAY, SECOND = datetime.timedelta(days=1), datetime.timedelta(seconds=1)


def test_opening_freezes_the_draft_into_canonical_bytes(plan):
    content = json.loads(plan.document)
    assert plan.document == json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert plan.digest == hashlib.sha256(plan.document.encode()).hexdigest()
    assert [question["name"] for question in content["questions"]] == ["copied", "fair", "often"]


def test_a_plan_holds_only_objects_lists_strings_and_integers_that_every_reader_keeps(plan):
    def walk(value):
        assert isinstance(value, dict | list | str) or (
            type(value) is int and abs(value) < 2**53
        ), value
        for inner in (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
        ):
            walk(inner)

    walk(json.loads(plan.document))


def test_its_declared_losses_are_those_of_its_integers(plan):
    content = plan.content
    for question in content.questions:
        assert question.loss == question.channel.loss
    verify(content)


@pytest.mark.parametrize(
    "change",
    [{"document": "{}"}, {"digest": "0" * 64}, {"wave": 9}, {"opened_on": datetime.date.min}],
)
def test_the_database_itself_refuses_to_change_a_plan(plan, change):
    with pytest.raises(DatabaseError, match="a Plan is frozen"), transaction.atomic():
        Plan.objects.filter(pk=plan.pk).update(**change)


@pytest.mark.engine("sqlite")  # PostgreSQL has no REPLACE
@pytest.mark.parametrize("key", ["id", "rowid"])
@pytest.mark.parametrize("table", ["design_plan", "design_study", "ledger_budget"])
def test_no_row_is_pushed_out_by_another_that_takes_its_key(plan, now, table, key):
    """SQLite deletes the row in the way, and fires no trigger of a deletion."""
    other = services.draft_study(study={**STUDY, "slug": "other"}, questions=QUESTIONS)
    services.open_study(why="A test.", study_id=other.pk, who="ada", now=now)
    moved = f"UPDATE OR REPLACE {table} SET {key} = %s WHERE id = %s"  # noqa: S608
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("PRAGMA defer_foreign_keys = ON")
        ids = [pk for (pk,) in cursor.execute(f"SELECT id FROM {table} ORDER BY id")]  # noqa: S608
        with pytest.raises(DatabaseError, match=r"(stays|keeps)"):
            cursor.execute(moved, [ids[1], ids[0]])
        transaction.set_rollback(True)


def test_the_database_itself_refuses_to_delete_a_plan(plan):
    with pytest.raises(DatabaseError, match="a Plan is frozen"), transaction.atomic():
        Plan.objects.filter(pk=plan.pk)._raw_delete("default")


def test_it_is_served_byte_for_byte_with_its_digest(client, plan):
    response = client.get("/api/v1/studies/exam-honesty/plan")
    assert response.content == plan.document.encode()
    assert response["ETag"] == f'"{plan.digest}"'
    assert not response.cookies


def test_a_draft_has_no_plan_to_serve(client, draft):
    assert client.get("/api/v1/studies/exam-honesty/plan").status_code == 404
    assert client.get("/s/exam-honesty/").status_code == 404


@pytest.mark.parametrize("case", load("plans.json"), ids=lambda case: case["name"])
def test_it_agrees_with_the_browser_on_what_is_sound(case):
    if case["accepted"]:
        verify(case["plan"])
    else:
        with pytest.raises(Unsound):
            verify(case["plan"])


def test_a_study_opens_once(plan, now):
    with pytest.raises(CannotOpen, match="is open already"):
        services.open_study(why="A test.", study_id=plan.study_id, who="ada", now=now)


def test_a_study_without_questions_does_not_open(draft, now):
    draft.questions.all().delete()
    with pytest.raises(CannotOpen, match="Add a question first"):
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)
    assert not Budget.objects.exists()


def test_a_study_whose_last_day_is_past_does_not_open(draft, now, today):
    draft.closes_on = today - datetime.timedelta(days=1)
    draft.save()
    with pytest.raises(CannotOpen, match="last day of collecting is in the past"):
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)


def test_more_than_one_person_may_lose_in_all_does_not_open(draft, now):
    draft.questions.update(epsilon=Decimal(4))
    with pytest.raises(CannotOpen, match="browsers refuse more than 8"):
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)
    assert not Plan.objects.exists()
    assert not Budget.objects.exists()


def test_the_greatest_total_is_e_to_the_8_rounded_up():
    assert exp_above(Fraction(8)) <= MAXIMUM_TOTAL < exp_below(Fraction(8)) + Fraction(1, 10**9)


@pytest.mark.parametrize(("epsilon", "count"), [("4", 2), ("2", 4), ("1.6", 5)])
def test_eight_in_all_can_be_opened(draft, now, epsilon, count):
    """Each question's integers lose just less than its ε, so all of them less than e⁸."""
    kept = list(draft.questions.values_list("pk", flat=True))[:count]
    draft.questions.exclude(pk__in=kept).delete()
    for place in range(len(kept), count):
        question = draft.questions.get(pk=kept[0])
        question.pk, question.name, question.position = None, f"more{place}", place
        question.save()
    draft.questions.update(epsilon=Decimal(epsilon))
    plan = services.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)
    assert len(plan.content.questions) == count
    assert 7.99 < math.log(plan.content.loss) <= 8


def test_a_question_with_one_choice_does_not_open(draft, now):
    draft.questions.filter(name="often").update(choices="Never", may_decline=False)
    with pytest.raises(CannotOpen, match="choices must be 2 to 1,000, one a line, got 1"):
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)


def test_closing_twice_keeps_the_first_day(plan, today):
    services.close_plan(plan_id=plan.pk, today=today)
    later = services.close_plan(plan_id=plan.pk, today=today + datetime.timedelta(days=3))
    assert later.closed_on == today


def test_a_study_closes_by_itself_after_its_last_day(draft, now, today):
    draft.closes_on = today
    draft.save()
    plan = services.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)
    midnight = datetime.datetime.combine(today, datetime.time(), datetime.UTC) + DAY
    for moment in (now, midnight, midnight + GRACE - SECOND):
        assert services.close_due(now=moment) == []
    assert services.close_due(now=midnight + GRACE) == [plan.pk]
    plan.refresh_from_db()
    assert plan.closed_on == today + DAY


def test_a_wave_with_long_texts_closes_later(draft, now, today, monkeypatch):
    draft.closes_on = today
    draft.save()
    plan = services.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)
    monkeypatch.setattr(PlanContent, "minutes_between", 100)
    midnight = datetime.datetime.combine(today, datetime.time(), datetime.UTC) + DAY
    for closes, moment in ([], GRACE), ([plan.pk], datetime.timedelta(minutes=300)):
        assert services.close_due(now=midnight + moment - SECOND) == []
        assert services.close_due(now=midnight + moment) == closes


def test_a_plan_that_cannot_be_read_keeps_no_other_from_closing(db, now, today, monkeypatch):
    plans = []
    for name in ("a", "b"):
        study = {**STUDY, "slug": name, "title": name, "closes_on": today}
        draft = services.draft_study(study=study, questions=QUESTIONS)
        opened = services.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)
        plans.append(opened)
    read = models.plans.read

    def unreadable(document):
        if document == plans[0].document:
            raise ValueError("unknown part")
        return read(document)

    monkeypatch.setattr(models.plans, "read", unreadable)
    with pytest.raises(ValueError, match="unknown part"):
        services.close_due(now=now + 2 * DAY)
    assert list(Plan.objects.exclude(closed_on=None)) == [plans[1]]


def test_what_may_have_left_on_the_last_day_counts_for_it(draft, now, today):
    draft.closes_on = today
    draft.save()
    plan = services.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)
    midnight = datetime.datetime.combine(today, datetime.time(), datetime.UTC) + DAY
    assert plan.day_of(now) == today
    assert plan.day_of(midnight + GRACE - SECOND) == today
    assert plan.day_of(midnight + GRACE) == today + DAY
    assert plan.day_of(now - DAY) == today - DAY
    plan.closes_on = None
    assert plan.day_of(midnight) == today + DAY


@pytest.mark.parametrize("questions", [1, 40])
def test_whoever_finishes_before_midnight_is_in_time_however_long_their_message_waits(questions):
    long = {"text": "Why? " * 600, "choices": ["Yes", "No"], "name": "", "kind": "yes_no"}
    long["protection"] = "device"
    others = [long | {"asked_if": {"answers": [1], "question": ""}}] * (questions - 1)
    last = datetime.date(2026, 11, 28)
    plan = Plan(document=whole(questions=[long, *others]), closes_on=last)
    waits = datetime.timedelta(minutes=max(60, plan.content.minutes_between))
    assert (waits > datetime.timedelta(hours=3)) == (questions > 1)
    midnight = datetime.datetime.combine(last, datetime.time(), datetime.UTC) + DAY
    moment = (
        midnight + waits + datetime.timedelta(hours=1) - SECOND
    )  # an hour for what is sent again
    assert plan.day_of(moment) == last
    assert not plan.is_past_grace(moment)
    assert plan.is_past_grace(midnight + DAY)


@pytest.mark.usefixtures("two_waves")
def test_changing_means_a_new_wave_and_the_old_plan_stays(plan, now, today):
    with pytest.raises(CannotOpen, match="close it first"):
        services.begin_wave(study_id=plan.study_id)
    services.close_plan(plan_id=plan.pk, today=today)
    study = services.begin_wave(study_id=plan.study_id)
    study.questions.filter(name="copied").update(text="Have you ever copied?")
    second = services.open_study(why="A test.", study_id=study.pk, who="ada", now=now)
    assert (second.wave, second.digest != plan.digest) == (2, True)
    assert Plan.objects.get(wave=1).document == plan.document
    assert Budget.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cap": Decimal(7)}, r"The cap in the ledger is ε 2, and not what the draft's ε 7 makes"),
        ({"results": "members"}, "who reads the numbers: “everyone” since wave 1, and now “only"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("two_waves")
def test_a_new_wave_cannot_change_what_lasts(plan, now, today, change, message):
    services.close_plan(plan_id=plan.pk, today=today)
    study = services.begin_wave(study_id=plan.study_id)
    for name, value in change.items():
        setattr(study, name, value)
    study.save()
    with pytest.raises(CannotOpen, match=message):
        services.open_study(why="A test.", study_id=study.pk, who="ada", now=now)
    assert Budget.objects.count() == 1


@pytest.mark.parametrize("change", [{"slug": "elsewhere"}, {"budget": None}], ids=str)
def test_the_database_itself_keeps_a_study_at_its_address_and_its_budget(plan, change):
    with (
        pytest.raises(DatabaseError, match="keeps its budget and its address"),
        transaction.atomic(),
    ):
        Study.objects.filter(pk=plan.study_id).update(**change)


def test_what_has_closed_stays_closed(plan, today):
    services.close_plan(plan_id=plan.pk, today=today)
    with pytest.raises(DatabaseError, match="stays closed"), transaction.atomic():
        Plan.objects.update(closed_on=None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"release_epsilon": Decimal(0)}, "expected above 0 and at most"),
        ({"release_epsilon": Decimal(3)}, "must cost at most the cap of 2; it is 3"),
        ({"cap": Decimal(30)}, "at most the site’s limit of 8; it is 30"),
    ],
    ids=str,
)
def test_a_publication_that_could_never_be_paid_does_not_open(draft, now, change, message):
    for name, value in change.items():
        setattr(draft, name, value)
    draft.save()
    with pytest.raises(CannotOpen, match=message):
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=now)


def test_a_form_that_was_open_when_the_study_opened_is_not_saved(plan):
    with pytest.raises(CannotOpen, match="is open already"), transaction.atomic():
        lock_draft(study_id=plan.study_id)
