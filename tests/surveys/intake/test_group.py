"""Many reports in one transaction are answered as if they had come one by one."""

import datetime

import pytest
from django.db import DataError, InterfaceError, InternalError, OperationalError, connection
from django.test.utils import CaptureQueriesContext

from surveys.design import services as design
from surveys.intake import bulk, group, report_tables
from surveys.intake.group import Acceptance, Entry, accept_all
from surveys.intake.models import OpenReport, Receipt
from surveys.intake.reports import Report
from surveys.intake.services import settle
from tests.conftest import NOW, QUESTIONS, STUDY, TODAY

DAY = datetime.timedelta(days=1)


def entry(plan, number=0, copied=1, day=TODAY):
    return Entry(plan, Report(f"{number:032x}", [copied, [3], [number % 3]]), day)


def status(outcome):
    """Return the status that an outcome is answered with."""
    if isinstance(outcome, Acceptance):
        return 201 if outcome.is_new else 200
    return int(getattr(outcome, "status", 503))


def statuses(entries):
    return [status(each) for each in accept_all(entries)]


@pytest.fixture
def other(db):
    draft = design.draft_study(study={**STUDY, "slug": "other"}, questions=QUESTIONS)
    return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


def test_equal_ids_in_one_group_are_one_report_a_retry_and_a_conflict(plan):
    assert statuses([entry(plan), entry(plan), entry(plan, copied=0)]) == [201, 200, 409]
    assert OpenReport.objects.get().values == "[1,[3],[0]]"


def test_the_first_of_equal_ids_is_the_one_that_is_taken(plan):
    assert statuses([entry(plan, copied=0), entry(plan), entry(plan)]) == [201, 409, 409]
    assert OpenReport.objects.get().values == "[0,[3],[0]]"


def test_an_id_that_a_closed_plan_refused_is_free_for_another(plan, other):
    accept_all([entry(plan, 9)])
    design.close_plan(plan_id=plan.pk, today=TODAY)
    assert statuses([entry(plan), entry(other), entry(plan), entry(plan, 9)]) == [
        410,
        201,
        409,
        200,
    ]


def test_an_id_of_today_and_one_of_an_earlier_day_are_known(plan):
    accept_all([entry(plan, 1)])
    settle(today=TODAY + DAY)
    accept_all([entry(plan, 2, day=TODAY + DAY)])
    again = [entry(plan, number, day=TODAY + DAY) for number in (1, 2, 3)]
    assert statuses(again) == [200, 200, 201]
    assert [each.accepted_on for each in accept_all(again)] == [TODAY, TODAY + DAY, TODAY + DAY]
    assert statuses([entry(plan, 1, copied=0)]) == [409]


def test_each_report_has_its_own_day_at_midnight(draft):
    draft.closes_on = TODAY
    draft.save()
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    assert statuses([entry(plan, 1, day=TODAY + DAY), entry(plan, 2)]) == [410, 201]


def test_a_row_that_fails_fails_alone(plan, monkeypatch):
    sound = bulk.insert

    def poisoned(table, columns, rows):
        if table == report_tables.TABLE and any("[7,[3]" in row[1] for row in rows):
            raise DataError("a row that no database takes")
        return sound(table, columns, rows)

    monkeypatch.setattr(bulk, "insert", poisoned)
    entries = [entry(plan, number, copied=7 if number == 5 else 1) for number in range(13)]
    assert statuses(entries) == [201] * 5 + [503] + [201] * 7
    assert OpenReport.objects.count() == Receipt.objects.count() == 12


@pytest.mark.parametrize("error", [OperationalError, InterfaceError, InternalError])
def test_without_a_database_nothing_is_stored_and_it_is_not_asked_for_each(
    plan, monkeypatch, error
):
    accept_all([entry(plan)])
    asked = []

    def gone(rows):
        asked.append(rows)
        raise error("gone")

    monkeypatch.setattr(report_tables, "put", gone)
    assert statuses([entry(plan, number) for number in range(1, 9)]) == [503] * 8
    assert len(asked) == 1
    assert Receipt.objects.count() == 1


def test_an_id_that_another_process_claims_meanwhile_is_looked_up_again(plan, monkeypatch):
    accept_all([entry(plan, 1)])
    sound, looks = group._held, []

    def too_early(kept):
        looks.append(len(kept))
        return {} if len(looks) == 1 else sound(kept)

    monkeypatch.setattr(group, "_held", too_early)
    assert statuses([entry(plan, 0), entry(plan, 1), entry(plan, 2)]) == [201, 200, 201]
    assert len(looks) == 2
    assert OpenReport.objects.count() == 3


def test_what_is_stored_stands_in_the_order_of_digests_of_ids(plan):
    entries = [entry(plan, number) for number in range(40)]
    accept_all(entries)
    stored = list(OpenReport.objects.order_by("pk").values_list("values", flat=True))
    digest = {each.report.report_id: group._kept(each, b"k" * 32).id_digest for each in entries}
    ordered = sorted(entries, key=lambda each: digest[each.report.report_id])
    assert stored == [each.report.canonical_values for each in ordered]
    assert stored != [each.report.canonical_values for each in entries]


def test_a_group_asks_the_database_as_often_as_one_report(plan, other):
    accept_all([entry(plan, 1), entry(other, 2)])
    with CaptureQueriesContext(connection) as of_one:
        accept_all([entry(plan, 10)])
    with CaptureQueriesContext(connection) as of_many:
        accept_all([entry([plan, other][number % 2], number) for number in range(100, 200)])
    assert len(of_many) == len(of_one)
    assert sum("FOR SHARE" in each["sql"] for each in of_many) == (
        connection.vendor == "postgresql"
    )


def test_nothing_is_done_for_nobody(db, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert accept_all([]) == []
