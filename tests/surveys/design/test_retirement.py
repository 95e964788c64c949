"""A retired study takes no answer, has no wave and publishes nothing; what it held is erased,
what it said stays.
"""

import datetime
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection, transaction

from surveys.aggregation import selectors as tallies, services as aggregation
from surveys.aggregation.models import Batch, Tally
from surveys.demo.services import answer_as_browsers
from surveys.design import refusals, selectors, services
from surveys.design.models import Plan, Study
from surveys.design.refusals import CannotOpen
from surveys.intake import services as intake
from surveys.intake.models import OpenReport, Receipt
from surveys.intake.reports import Refused
from surveys.ledger import services as ledger
from surveys.ledger.models import Entry, Kind
from surveys.releases import services as releases
from surveys.releases.models import Release
from tests.conftest import NOW
from tests.costs import pure

BY = {"who": "ada", "now": NOW}
ONE = [{"copied": 1, "fair": 2, "often": 0}]


def retire(plan, because="the project ended"):
    return services.retire(study_id=plan.study_id, because=because, **BY)


def charge(plan, epsilon, statistic="a" * 64):
    return ledger.charge(
        budget_ids=[plan.study.budget_id],
        cost=pure(epsilon),
        statistic=statistic,
        reason="a test",
        mechanism="none",
        sensitivity="1",
        **BY,
    )


def test_retiring_closes_the_wave_and_the_budget_and_says_why_in_the_ledger(plan):
    study = retire(plan, "  the project ended ")
    plan.refresh_from_db()
    assert (study.retired_on, study.retired_because) == (NOW.date(), "the project ended")
    assert plan.closed_on == NOW.date()
    assert study.budget.retired_on == NOW.date()
    row = Entry.objects.get(budget=study.budget, kind=Kind.ACT, what="retired")
    assert (row.who, row.why) == ("ada", "the project ended")


def test_a_retired_study_takes_no_answer_and_its_form_says_that_it_has_closed(client, plan):
    retire(plan)
    with pytest.raises(Refused, match="has closed"):
        answer_as_browsers(plan, ONE, NOW.date())
    assert 'data-over="retired"' in client.get("/s/exam-honesty/").content.decode()
    assert not Receipt.objects.exists()


@pytest.mark.usefixtures("two_waves")
def test_a_retired_study_opens_no_wave_and_begins_none(plan):
    services.close_plan(plan_id=plan.pk, today=NOW.date())
    services.begin_wave(study_id=plan.study_id)
    retire(plan)
    with pytest.raises(CannotOpen, match="ended on 11 May 2026"):
        services.open_study(why="A test.", study_id=plan.study_id, **BY)
    with pytest.raises(CannotOpen, match="ended on 11 May 2026"):
        services.begin_wave(study_id=plan.study_id)


def test_a_retired_study_publishes_nothing_even_what_was_due(answered):
    plan = answered(30)
    services.close_plan(plan_id=plan.pk, today=NOW.date())
    aggregation.sweep_all(today=NOW.date())
    retire(plan)
    assert releases.publish_due(now=NOW) == []
    with pytest.raises(ledger.Retired):
        charge(plan, 1)
    assert not Release.objects.exists()


def test_what_was_published_stays(answered):
    plan = answered(30)
    services.close_plan(plan_id=plan.pk, today=NOW.date())
    aggregation.sweep_all(today=NOW.date())
    (release_id,) = releases.publish_due(now=NOW)
    numbers = Release.objects.get(pk=release_id).numbers
    retire(plan)
    erase()
    assert Release.objects.get(pk=release_id).numbers == numbers
    assert Entry.objects.filter(kind=Kind.CHARGE).count() == 1


def erase():
    return intake.erase_retired(), aggregation.erase_retired()


def test_reports_batches_and_counts_are_erased_and_how_many_there_were_is_not(answered):
    plan = answered(25)
    aggregation.sweep_all(today=NOW.date())
    answer_as_browsers(plan, ONE * 3, NOW.date())
    retire(plan)
    assert erase() == (3, 1)
    assert (OpenReport.objects.count(), Batch.objects.count(), Receipt.objects.count()) == (
        0,
        0,
        28,
    )
    tally = Tally.objects.get(plan=plan)
    assert (tally.counts, tally.reports, tally.batches) == ({}, 25, 1)
    assert tallies.received(plan) == 28


def test_erasing_twice_erases_nothing_more(answered):
    plan = answered(25)
    aggregation.sweep_all(today=NOW.date())
    retire(plan)
    erase()
    assert erase() == (0, 0)
    assert tallies.received(plan) == 25


def test_living_studies_keep_everything(answered):
    answered(25)
    aggregation.sweep_all(today=NOW.date())
    assert erase() == (0, 0)
    assert Batch.objects.count() == 1
    assert Tally.objects.get().counts


def test_a_sweep_that_comes_late_seals_nothing_of_a_retired_study(answered):
    plan = answered(25)
    retire(plan)
    assert aggregation.sweep_all(today=NOW.date()) == 0
    assert not Batch.objects.exists()


def test_the_database_itself_lets_go_of_batches_of_retired_studies_only(answered):
    plan = answered(25)
    aggregation.sweep_all(today=NOW.date())
    with pytest.raises(DatabaseError, match="a batch is sealed"), transaction.atomic():
        Batch.objects.all().delete()
    with pytest.raises(DatabaseError, match="a batch is sealed"), transaction.atomic():
        Batch.objects.update(size=1)
    retire(plan)
    with pytest.raises(DatabaseError, match="a batch is sealed"), transaction.atomic():
        Batch.objects.update(size=1)
    Batch.objects.all().delete()


@pytest.mark.engine("postgresql")
def test_postgresql_does_not_let_batches_be_truncated_either(answered):
    retire(answered(25))
    with (
        pytest.raises(DatabaseError, match="a batch is sealed"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("TRUNCATE aggregation_batch")


@pytest.mark.engine("sqlite")
@pytest.mark.parametrize(
    ("table", "message"),
    [("design_study", "is not replaced"), ("aggregation_batch", "a batch is sealed")],
)
def test_sqlite_does_not_let_rows_be_replaced_either(answered, table, message):
    retire(answered(25))
    answered_batch = Plan.objects.get()
    Batch.objects.create(plan=answered_batch, number=1, size=1, columns=b"", sealed_on=NOW.date())
    with (
        pytest.raises(DatabaseError, match=message),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}")  # noqa: S608


@pytest.mark.parametrize(
    "change",
    [
        {"retired_on": None},
        {"retired_on": NOW.date() + datetime.timedelta(1)},
        {"retired_because": "another"},
    ],
    ids=str,
)
def test_the_database_itself_keeps_a_retired_study_retired(plan, change):
    retire(plan)
    with pytest.raises(DatabaseError, match="stays retired"), transaction.atomic():
        Study.objects.filter(pk=plan.study_id).update(**change)


def test_the_database_itself_gives_a_retired_study_no_further_plan(plan):
    retire(plan)
    with pytest.raises(DatabaseError, match="stays retired"), transaction.atomic():
        Plan.objects.create(
            study=plan.study, wave=2, document="{}", digest="0" * 64, opened_on=NOW.date()
        )


def test_the_database_itself_keeps_a_study_that_has_opened(plan):
    with pytest.raises(DatabaseError, match="that has opened stays"), transaction.atomic():
        Study.objects.filter(pk=plan.study_id)._raw_delete("default")


def test_retiring_twice_changes_nothing(plan):
    retire(plan)
    rows = Entry.objects.count()
    assert retire(plan, "another reason").retired_because == "the project ended"
    assert Entry.objects.count() == rows


@pytest.mark.parametrize("because", ["", "  ", "x" * 201])
def test_a_retirement_needs_a_reason(plan, because):
    with pytest.raises(refusals.Refused, match="Say why in 1 to 200 characters"):
        retire(plan, because)
    plan.refresh_from_db()
    assert plan.is_open


def test_a_draft_is_deleted_and_not_retired(draft):
    with pytest.raises(refusals.Refused, match="has never opened"):
        services.retire(study_id=draft.pk, because="ended", **BY)


def test_a_study_retires_on_its_day_and_not_before(draft):
    day = NOW.date() + datetime.timedelta(days=2)
    Study.objects.filter(pk=draft.pk).update(retires_on=day)
    services.open_study(why="A test.", study_id=draft.pk, **BY)
    assert services.retire_due(now=NOW + datetime.timedelta(days=1)) == []
    assert services.retire_due(now=NOW + datetime.timedelta(days=2)) == [draft.pk]
    draft.refresh_from_db()
    assert (draft.retired_on, draft.retired_because) == (day, "the day of its retirement came")
    assert services.retire_due(now=NOW + datetime.timedelta(days=3)) == []


def test_no_answer_is_taken_on_the_day_of_retirement_even_if_no_worker_has_come_yet(draft):
    day = NOW.date() + datetime.timedelta(days=2)
    Study.objects.filter(pk=draft.pk).update(retires_on=day)
    plan = services.open_study(why="A test.", study_id=draft.pk, **BY)
    assert plan.takes_answers(NOW + datetime.timedelta(days=1))
    assert not plan.takes_answers(NOW + datetime.timedelta(days=2))
    with pytest.raises(Refused, match="has closed"):
        answer_as_browsers(plan, ONE, day)


@pytest.mark.parametrize(
    ("spent", "retires"), [("1.998", False), ("1.999", False), ("1.999000001", True), ("2", True)]
)
def test_a_study_retires_when_not_even_the_smallest_publication_can_be_paid(plan, spent, retires):
    charge(plan, Decimal(spent))
    assert services.retire_spent(now=NOW, is_unfinished=lambda study: False) == (
        [plan.study_id] if retires else []
    )
    plan.study.refresh_from_db()
    assert plan.study.is_retired is retires


def test_a_study_that_still_delivers_what_was_paid_for_is_not_retired_for_its_cap(plan):
    charge(plan, 2)
    assert services.retire_spent(now=NOW, is_unfinished=lambda study: study == plan.study) == []


def test_a_study_whose_waves_have_budgets_of_their_own_is_not_retired_for_the_cap_of_one(draft):
    Study.objects.filter(pk=draft.pk).update(unit="respondent-in-wave")
    plan = services.open_study(why="A test.", study_id=draft.pk, **BY)
    charge(plan, 2)
    assert services.retire_spent(now=NOW, is_unfinished=lambda study: False) == []


def test_a_study_whose_last_publication_used_the_cap_up_is_retired_by_the_schedule(draft):
    Study.objects.filter(pk=draft.pk).update(release_epsilon=Decimal(2))
    plan = services.open_study(why="A test.", study_id=draft.pk, **BY)
    answer_as_browsers(plan, ONE * 12, NOW.date())
    services.close_plan(plan_id=plan.pk, today=NOW.date())
    aggregation.sweep_all(today=NOW.date())
    assert releases.retire_spent(now=NOW) == []
    assert len(releases.publish_due(now=NOW)) == 1
    assert releases.retire_spent(now=NOW) == [draft.pk]


def test_a_study_that_paid_on_the_first_day_is_retired_after_its_last_publication_not_before(
    draft,
):
    terms = {
        "rule": "continual",
        "cap_delta": "0.000001",
        "release_epsilon": Decimal(2),
        "horizon": 3,
        "hours": 24,
    }
    Study.objects.filter(pk=draft.pk).update(**terms)
    plan = services.open_study(why="A test.", study_id=draft.pk, **BY)
    seen = []
    for day in range(3):
        now = NOW + datetime.timedelta(days=day)
        answer_as_browsers(plan, ONE * 12, now.date())
        aggregation.sweep_all(today=now.date())
        seen.append((len(releases.publish_due(now=now)), releases.retire_spent(now=now)))
    assert seen == [(1, []), (1, []), (1, [draft.pk])]


def test_windows_are_told_how_a_study_stands(draft):
    def state():
        return selectors.standings([Study.objects.get(pk=draft.pk)])[0].state

    seen = [state()]
    plan = services.open_study(why="A test.", study_id=draft.pk, **BY)
    seen.append(state())
    assert not selectors.is_retired(plan)
    assert selectors.ended_on(plan, NOW.date()) is None
    services.close_plan(plan_id=plan.pk, today=NOW.date())
    seen.append(state())
    retire(plan)
    seen.append(state())
    assert seen == ["draft", "collecting", "closed", "retired"]
    assert selectors.is_retired(plan)
    assert selectors.ended_on(plan, NOW.date()) == NOW.date()
